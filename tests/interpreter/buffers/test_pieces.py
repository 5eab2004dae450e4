"""Tiles of a thread in several pieces: right by every witness, and in registers. 2 random ones in a test run, 150 in a soak."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
import sass
from judging import assert_barriers_needed, expect_right, scheduled
from test_random_register_tiles import contraction

COUNT = 150 if "WEFT_SOAK" in os.environ else 2


def product(m: int, n: int, k: int) -> str:
    return f"""func.func @f(%A: tensor<{m}x{k}xf32>, %B: tensor<{k}x{n}xf32>) -> tensor<{m}x{n}xf32> {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{m}x{n}xf32>
  %c = linalg.fill ins(%z : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %p = linalg.matmul ins(%A, %B : tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>) outs(%c : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  return %p : tensor<{m}x{n}xf32>
}}
"""


HEAD = """let gemm = match linalg.matmul
  let init = match linalg.fill
  let (tiles, tile_mm) = tile gemm [{bm}, {bn}]
  fuse init into tiles
  map tiles to blocks(y, x)
  let (k, step) = tile tile_mm [_, _, 8]
  let (a, copy_a) = promote-to-shared step.lhs transpose pad 4
  let (b, copy_b) = promote-to-shared step.rhs
  map copy_a to threads(*) cyclic vector 4
  map copy_b to threads(*) cyclic vector 4
  let (kk, slice) = tile step [_, _, 1]
"""
TAIL = """
  promote-to-registers micro.acc across k
  vectorize micro
  unroll kk
  pipeline k stages {stages}
  insert-barriers
  verify-sync
  launch tiles"""
IN_WARPS = """let (warps, warp_mm) = tile slice [64, 32]
  map warps to warps(y, x)
  let (pieces, piece) = tile warp_mm [32, 16]
  map pieces to registers
  let (lanes, micro) = tile piece [4, 4]
  let lane = coalesce lanes
  map lane to lanes"""
PLACES = {
    "between warps and lanes": IN_WARPS,
    "around threads": """let (pieces, piece) = tile slice [32, 32]
  map pieces to registers
  let (lanes, micro) = tile piece [4, 4]
  map lanes to threads(y, x)""",
    "around warps": """let (pieces, piece) = tile slice [64, 32]
  map pieces to registers
  let (warps, warp_mm) = tile piece [32, 16]
  map warps to warps(y, x)
  let (lanes, micro) = tile warp_mm [4, 4]
  let lane = coalesce lanes
  map lane to lanes""",
    "in a thread": """let (lanes, thread_mm) = tile slice [16, 8]
  map lanes to threads(y, x)
  let (pieces, micro) = tile thread_mm [8, 4]
  map pieces to registers""",
    "twice": """let (rows, row) = tile slice [64, _]
  map rows to registers
  let (columns, piece) = tile row [_, 32]
  map columns to registers
  let (lanes, micro) = tile piece [8, 4]
  map lanes to threads(y, x)""",
}


@pytest.mark.few()
@pytest.mark.parametrize("size", [(128, 64, 32), (150, 90, 21), (128, 61, 8)], ids=str)
@pytest.mark.parametrize("place", PLACES)
def test_pieces(place: str, size: tuple[int, int, int], tmp_path: Path) -> None:
    stages = 1 + sum(size) % 2
    body = HEAD.format(bm=128, bn=64) + PLACES[place] + TAIL.format(stages=stages)
    made = scheduled(product(*size), body, tmp_path)
    expect_right(made, 1, body, native=True)
    if place == "between warps and lanes":
        assert_barriers_needed(made, 1, body)
    for chip in ("sm_80", "sm_90a"):
        used = sass.resources(made.cuda, "f", chip)
        assert used.spill_bytes == used.stack_bytes == 0, used


def test_each_part_of_an_operand_is_read_once_and_without_conflicts(tmp_path: Path) -> None:
    """Two accesses of 16 bytes for 8 rows, two for 8 columns; neighbouring lanes read neighbours."""
    made = scheduled(product(128, 64, 32), HEAD.format(bm=128, bn=64) + IN_WARPS + TAIL.format(stages=1), tmp_path)
    assert "float acc[2][2][4][4];" in made.cuda
    loop = sass.product_loop(made.cuda, "f", "sm_90a")
    assert loop.shared_loads == {128: 8 * 4} and loop.ffma == 8 * 64, loop


@pytest.mark.parametrize("seed", range(COUNT))
def test_random_pieces(seed: int, tmp_path: Path) -> None:
    r = random.Random(7000 + seed)
    tm, tn, rows, columns = r.choice([1, 2, 4]), r.choice([1, 2, 4, 5]), r.randint(1, 4), r.randint(1, 6)
    down, across, bk = r.randint(1, 3), r.randint(1, 3), r.choice([3, 4, 8])
    piece = tm * rows, tn * columns
    bm, bn = piece[0] * down, piece[1] * across
    m, n, k = (r.randint(1, 2 * edge + 5) if r.random() < 0.5 else edge * r.randint(1, 2) for edge in (bm, bn, bk))
    payload = contraction(r, m, n, k)
    relu = payload.count("linalg.generic") > 1
    lines = ["let init = match? linalg.fill", f"let g = match linalg.generic{' #0' * relu}"]
    if relu:
        lines += [f"let last = match linalg.generic #1\nlet (tiles, shown) = tile last [{bm}, {bn}]\nfuse g into tiles"]
    else:
        lines += [f"let (tiles, inner) = tile g [{bm}, {bn}]"]
    lines += ["fuse init into tiles\nmap tiles to blocks(y, x)", f"let (k, step) = tile {'g' if relu else 'inner'} [_, _, {bk}]"]
    staged = [operand for operand in ("lhs", "rhs") if r.random() < 0.7]
    for operand in staged:
        lines += [f"let (s_{operand}, c_{operand}) = promote-to-shared step.{operand}{r.choice(['', ' transpose pad 1'])}"]
        lines += [f"map c_{operand} to threads(*) cyclic"]
    lines += ["let (kk, slice) = tile step [_, _, 1]", *own("slice", piece, (tm, tn), "")]
    if relu:
        lines += own("shown", piece, (tm, tn), "2")
    lines += ["promote-to-registers micro.acc across k", *["vectorize micro"] * (len(staged) // 2), *r.choice([[], ["unroll kk"]])]
    body = "\n".join([*lines, "insert-barriers\nverify-sync\nlaunch tiles"])
    made = scheduled(payload, body, tmp_path)
    expect_right(made, seed, f"\n{payload}\n{body}", native=True)
    assert_barriers_needed(made, seed, f"{payload}\n{body}")


def own(op: str, piece: tuple[int, int], tile: tuple[int, int], suffix: str) -> list[str]:
    """Cut an op into pieces and hand them out."""
    return [
        f"let (pieces{suffix}, piece{suffix}) = tile {op} [{piece[0]}, {piece[1]}]",
        f"map pieces{suffix} to registers",
        f"let (lanes{suffix}, micro{suffix}) = tile piece{suffix} [{tile[0]}, {tile[1]}]",
        f"map lanes{suffix} to threads(y, x)",
    ]
