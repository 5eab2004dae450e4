"""An op that is mapped over the elements of a ragged tile stores where its result goes, under the guards of the tile's write-back:
no temporary, no copy. Where something else needs the temporary, it stays."""

from __future__ import annotations

import re

import numpy as np
import pytest

from weft.dsl.diagnostics import Source, WeftError
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice


def made(schedule: str, payload: str) -> Planned:
    return planned(applied(Choice("", text=Source("s.weft", schedule), program=Source("p.mlir", payload)).open()))


def expect_right(one: Planned, shapes: dict[str, tuple[int, ...]]) -> None:
    random = np.random.default_rng(0)
    arrays = {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    ran = run_plan(one.plan, SimDevice(), {k: v.copy() for k, v in arrays.items()}, text=one.applied.located_text)
    assert not ran.races and not ran.faults
    expected = reference(one.applied.payload, None, {k: v.copy() for k, v in arrays.items()})
    for name, value in expected.items():
        assert np.allclose(ran.outputs[name], value, rtol=1e-5, atol=1e-5), name


def scheduled(tiles: str, blocks: str, mapped: str, more: str = "") -> str:
    return f"""schedule s() {{
  let op = match linalg.generic
{more}  let (tiles, tile) = tile op [{tiles}]
  map tiles to blocks({blocks})
  map tile to {mapped}
  insert-barriers
  launch tiles
}}
"""


def sum_of(shape: str, out: str = "(i, j) -> (i, j)", result: str = "") -> str:
    """x + y[j], stored by the map `out`."""
    _, columns = shape.split("x")
    result = result or shape
    return f"""func.func @f(%x: tensor<{shape}xf32>, %y: tensor<{columns}xf32>) -> tensor<{result}xf32> {{
  %e = tensor.empty() : tensor<{result}xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<{out}>],
                       iterator_types = ["parallel", "parallel"]}}
      ins(%x, %y : tensor<{shape}xf32>, tensor<{columns}xf32>) outs(%e : tensor<{result}xf32>) {{
  ^bb0(%a: f32, %b: f32, %c: f32):
    %u = arith.addf %a, %b : f32
    linalg.yield %u : f32
  }} -> tensor<{result}xf32>
  return %r : tensor<{result}xf32>
}}
"""


MAPS = {
    "a thread for each": ("8, 32", "threads(y, x)"),
    "a thread for several": ("8, 32", "threads(y: 4, x: 8) cyclic"),
    "row by row": ("8, 32", "threads(x: 48) cyclic"),
    "row by row, in blocks": ("8, 30", "threads(x: 32) block"),
    "vectors": ("8, 64", "threads(y: 8, x: 16) vector 4"),
    "vectors row by row": ("8, 32", "threads(x: 16) cyclic vector 4"),
    "chunks": ("8, 32", "threads(x: 16) block-cyclic(3)"),
    "lanes": ("2, 64", "lanes cyclic vector 2"),
    "rows alone are ragged": ("8, _", "threads(x: 32) cyclic"),
}


@pytest.mark.few(5)
@pytest.mark.parametrize("shape", ["19x68", "19x67"])
@pytest.mark.parametrize("way", MAPS)
def test_an_op_stores_under_the_guards(way: str, shape: str) -> None:
    sizes, mapped = MAPS[way]
    one = made(scheduled(sizes, "x" if "_" in sizes else "y, x", mapped), sum_of(shape))
    assert "__shared__" not in one.cuda and not re.search(r"float \w+\[", one.cuda), one.cuda
    wide = re.search(r"float[24]\*>\(&result", one.cuda)
    assert bool(wide) == ("vector" in mapped and shape == "19x68"), one.cuda
    conditions = re.findall(r"\bif \((.*)\)", one.cuda)
    assert len(conditions) == len(set(conditions)), one.cuda  # under an equal one there is no guard
    rows, columns = map(int, shape.split("x"))
    expect_right(one, {"x": (rows, columns), "y": (columns,)})


def test_a_result_that_is_stored_transposed() -> None:
    one = made(scheduled("8, 32", "y, x", "threads(y, x)"), sum_of("19x67", "(i, j) -> (j, i)", "67x19"))
    assert "__shared__" not in one.cuda
    expect_right(one, {"x": (19, 67), "y": (67,)})


def test_open_sizes() -> None:
    payload = sum_of("?x?").replace("%e = tensor.empty()", """%c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n)""")  # fmt: skip
    one = made(scheduled("8, 32", "y, x", "threads(y, x)"), payload)
    assert "__shared__" not in one.cuda
    expect_right(one, {"x": (19, 67), "y": (67,)})


def test_inputs_that_are_staged() -> None:
    staged = "  let (xs, copy) = promote-to-shared tile.in0\n  map copy to threads(*) cyclic\n"
    text = scheduled("8, 32", "y, x", "threads(y: 8, x: 16) cyclic").replace("  map tile to", staged + "  map tile to")
    one = made(text, sum_of("19x67"))
    assert len(re.findall("__shared__", one.cuda)) == 1  # the copy of x
    expect_right(one, {"x": (19, 67), "y": (67,)})


def test_what_another_op_reads_stays_in_a_temporary() -> None:
    """The first op's result is read by other threads than make it; the second's is stored directly."""
    payload = """func.func @f(%x: tensor<70xf32>) -> tensor<70xf32> {
  %e = tensor.empty() : tensor<70xf32>
  %p = linalg.exp ins(%x : tensor<70xf32>) outs(%e : tensor<70xf32>) -> tensor<70xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 1)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%p : tensor<70xf32>) outs(%e : tensor<70xf32>) {
  ^bb0(%a: f32, %c: f32):
    %u = arith.negf %a : f32
    linalg.yield %u : f32
  } -> tensor<70xf32>
  return %q : tensor<70xf32>
}
"""
    fused = "  let p = match linalg.exp\n"
    inside = "  fuse p into tiles\n  map p to threads(x: 16) block\n  map tiles"
    one = made(scheduled("32", "x", "threads(x: 16) cyclic", fused).replace("  map tiles", inside), payload)
    assert len(re.findall("__shared__", one.cuda)) == 1
    expect_right(one, {"x": (70,)})


@pytest.mark.parametrize("at", ["i", "69 - i", "i floordiv 2"])
def test_what_is_read_where_the_result_goes(at: str) -> None:
    """x[i] = f(x[69 - i]): what an iteration reads is another one's."""
    payload = f"""func.func @f(%x: memref<70xf32>) {{
  linalg.generic {{indexing_maps = [affine_map<(i) -> ({at})>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
      ins(%x : memref<70xf32>) outs(%x : memref<70xf32>) {{
  ^bb0(%a: f32, %c: f32):
    %u = arith.addf %a, %a : f32
    linalg.yield %u : f32
  }}
  return
}}
"""
    text = scheduled("96", "x", "threads(x: 32) cyclic")
    if at != "i":
        with pytest.raises(WeftError, match="W0396"):
            made(text, payload)
    else:
        expect_right(made(text, payload), {"x": (70,)})


@pytest.mark.parametrize("at", ["i", "69 - i"])
def test_what_is_read_where_a_copy_goes(at: str) -> None:
    """All is read before the first element is stored: the temporary stays."""
    payload = f"""func.func @f(%x: memref<70xf32>) {{
  %t = bufferization.to_tensor %x restrict writable : memref<70xf32> to tensor<70xf32>
  %e = tensor.empty() : tensor<70xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> ({at})>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
      ins(%t : tensor<70xf32>) outs(%e : tensor<70xf32>) {{
  ^bb0(%a: f32, %c: f32):
    %u = arith.addf %a, %a : f32
    linalg.yield %u : f32
  }} -> tensor<70xf32>
  bufferization.materialize_in_destination %r in restrict writable %x : (tensor<70xf32>, memref<70xf32>) -> ()
  return
}}
"""
    expect_right(made(scheduled("96", "x", "threads(x: 32) cyclic"), payload), {"x": (70,)})
