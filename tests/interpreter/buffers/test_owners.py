"""Temporaries that ops cut in different ways stay in registers where all agree on whose each element is; else in shared memory."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from judging import assert_barriers_needed, expect_right, scheduled

SOAK = "WEFT_SOAK" in os.environ

PAYLOAD = """\
#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @f(%x: tensor<{m}x64xf32>) -> tensor<{m}x64xf32> {{
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<{m}x64xf32>
  %r = tensor.empty() : tensor<{m}xf32>
  %t = linalg.generic {{indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]}}
      ins(%x : tensor<{m}x64xf32>) outs(%e : tensor<{m}x64xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %a, %a : f32
    linalg.yield %v : f32
  }} -> tensor<{m}x64xf32>
  %m0 = linalg.fill ins(%least : f32) outs(%r : tensor<{m}xf32>) -> tensor<{m}xf32>
  %m = linalg.reduce {{ arith.maximumf }} ins(%t : tensor<{m}x64xf32>) outs(%m0 : tensor<{m}xf32>) dimensions = [1]
  %y = linalg.generic {{indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}}
      ins(%t, %m : tensor<{m}x64xf32>, tensor<{m}xf32>) outs(%e : tensor<{m}x64xf32>) {{
  ^bb0(%a: f32, %c: f32, %o: f32):
    %v = arith.subf %a, %c : f32
    linalg.yield %v : f32
  }} -> tensor<{m}x64xf32>
  return %y : tensor<{m}x64xf32>
}}
"""


def cut(op: str, number: int, sizes: list[str], lanes: str) -> list[str]:
    """Statements that cut an op for two warps, into pieces of these sizes one in the other, and for lanes."""
    lines = [f"let (w{number}, p{number}_0) = tile {op} [16]", f"map w{number} to warps(x)"]
    for depth, size in enumerate(sizes):
        lines += [f"let (l{number}_{depth}, p{number}_{depth + 1}) = tile p{number}_{depth} [{size}]"]
        lines += [f"map l{number}_{depth} to {lanes if depth == len(sizes) - 1 else 'registers'}"]
    return lines


def body(element: list[str], result: list[str], vector: int) -> str:
    """`element` and `result`: how the first op and the last one are cut; the reduction takes vectors of so many columns."""
    lines = ["let t = match linalg.generic #0", "let y = match linalg.generic #1", "let m = match linalg.reduce"]
    lines += ["let m0 = match linalg.fill", "let (blocks, own) = tile y [32]"]
    lines += ["foreach op in [m, m0, t] {", "fuse op into blocks", "}", "map blocks to blocks(x)"]
    lines += [*cut("t", 0, element, "lanes(y: 8, x: 4)"), *cut("own", 1, result, "lanes(y: 8, x: 4)")]
    lines += [*cut("m0", 2, ["8", "1"], "lanes(y: 8)"), *cut("m", 3, ["8", "1"], "lanes(y: 8)")]
    lines += [f"map p3_2 to lanes(x: 4) cyclic vector {vector}", "insert-barriers", "verify-sync", "launch blocks"]
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(60 if SOAK else 2))
def test_ops_that_agree_keep_all_in_registers(seed: int, tmp_path: Path) -> None:
    """Pieces are nested in any way; four lanes share a row, in vectors of some columns."""
    r = random.Random(seed)
    vector = r.choice((1, 2, 4))
    row = f"1, {vector}"
    ways = [[f"8, {4 * vector}", row], [f"16, {4 * vector}", f"8, {4 * vector}", row], ["8, 64", f"8, {4 * vector}", row]]
    ways += [["16, 32", f"8, {4 * vector}", row]]
    payload, schedule = PAYLOAD.format(m=r.choice((32, 64, 50))), body(r.choice(ways), r.choice(ways), vector)
    made = scheduled(payload, schedule, tmp_path)
    assert "__shared__" not in made.cuda and "__syncthreads" not in made.cuda, schedule
    assert made.cuda.count("__shfl_xor_sync") == 2, schedule
    expect_right(made, seed, schedule, native=True)


def test_ops_that_do_not_agree_meet_in_shared_memory(tmp_path: Path) -> None:
    """The reduction takes other columns than the op that makes them."""
    schedule = body(["8, 8", "1, 2"], ["8, 8", "1, 2"], 4)
    made = scheduled(PAYLOAD.format(m=64), schedule, tmp_path)
    assert "__shared__" in made.cuda
    expect_right(made, 3, schedule, native=True)
    assert_barriers_needed(made, 3, schedule)
