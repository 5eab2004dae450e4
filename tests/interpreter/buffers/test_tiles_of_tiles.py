"""Maps nested in each other: what one thread fills and another looks at is shared, and waited for."""

from __future__ import annotations

from pathlib import Path

import pytest
from judged import program

from weft.dsl.diagnostics import Source
from weft.interpreter.hardware.lanes import BARRIERS
from weft.verify import verify_source


def twice(*shape: int) -> str:
    t = f"tensor<{'x'.join(map(str, shape))}xf32>"
    return f"""\
func.func @twice(%x: {t}) -> {t} {{
  %e = tensor.empty() : {t}
  %y = linalg.add ins(%x, %x : {t}, {t}) outs(%e : {t}) -> {t}
  return %y : {t}
}}
"""


CHAIN = """\
func.func @chain(%x: tensor<MxNxf32>) -> tensor<MxNxf32> {
  %e = tensor.empty() : tensor<MxNxf32>
  %y = linalg.exp ins(%x : tensor<MxNxf32>) outs(%e : tensor<MxNxf32>) -> tensor<MxNxf32>
  %z = linalg.add ins(%y, %x : tensor<MxNxf32>, tensor<MxNxf32>) outs(%e : tensor<MxNxf32>) -> tensor<MxNxf32>
  return %z : tensor<MxNxf32>
}
"""
ROWS = """\
let op = match linalg.add
let (tiles, tile) = tile op [{rows}, _]
map tiles to blocks(x)
let (each, row) = tile tile [1, _]
map each to {outer}
{inner}
insert-barriers
verify-sync
launch tiles
"""
ELEMENTS = "map row to {}".format
AGAIN = "let (more, part) = tile row [_, 3]\nmap more to {}\nmap part to {}".format
FUSED = """\
let exp = match linalg.exp
let add = match linalg.add
let (tiles, tile) = tile add [{rows}, _]
fuse exp into tiles
map tiles to blocks(x)
let (each, row) = tile tile [1, _]
fuse exp into each
map each to {outer}
map row to {reader}
map exp to {writer}
insert-barriers
verify-sync
launch tiles
"""


@pytest.mark.parametrize(
    ("shape", "rows", "outer", "inner", "barriers"),
    [  # the elements of a ragged tile's rows go to threads other than those of the rows
        ((3, 2), 2, "warps(x)", ELEMENTS("lanes cyclic"), 0),
        ((3, 2), 2, "threads(y)", ELEMENTS("threads(x: 4)"), 0),
        ((9, 40), 4, "warps(x: 2) cyclic", ELEMENTS("lanes block"), 0),
        ((9, 5), 4, "threads(x: 3) block", ELEMENTS("threads(y: 2) block-cyclic(2)"), 0),
        ((9, 7), 4, "threads(z: 2) cyclic", AGAIN("threads(y: 2) cyclic", "threads(x: 2) cyclic"), 1),
        ((9, 7), 4, "threads(z: 4)", AGAIN("threads(x)", "threads(y: 5)"), 1),
        ((50, 100), 7, "warps(x)", ELEMENTS("lanes cyclic"), 0),
    ],
    ids=str,
)
def test_ragged_rows(shape: tuple[int, int], rows: int, outer: str, inner: str, barriers: int, tmp_path: Path) -> None:
    made = program(tmp_path, twice(*shape), ROWS.format(rows=rows, outer=outer, inner=inner))
    assert not made.wrong() and not made.wrong(native=True)
    assert verify_source(Source("module.mlir", made.module)).ok
    assert sum(map(made.module.count, BARRIERS)) == barriers and "in shared memory" in str(made.remarks)


@pytest.mark.few()
@pytest.mark.parametrize("shape", ["64x100", "13x5"])
@pytest.mark.parametrize(
    ("outer", "writer", "reader", "barriers"),
    [  # a row of each warp's: behind a barrier where the lanes look at each other's elements, and none where they do not
        ("warps(x)", "lanes block", "lanes cyclic", 1),
        ("warps(x)", "lanes cyclic", "lanes cyclic", 0),
        ("warps(x: 2) cyclic", "lanes cyclic", "lanes block", 1),
        ("warps(x: 3) block", "lanes cyclic", "lanes cyclic", 0),
        ("threads(y)", "threads(x: 8) cyclic", "threads(x: 8) block", 1),
        ("threads(y: 3) block-cyclic(2)", "threads(x: 8) block", "threads(x: 8) block", 0),
    ],
    ids=str,
)
def test_rows_that_an_inner_map_shares(
    shape: str, outer: str, writer: str, reader: str, barriers: int, tmp_path: Path
) -> None:
    payload = CHAIN.replace("MxN", shape)
    made = program(tmp_path, payload, FUSED.format(rows=4, outer=outer, writer=writer, reader=reader))
    assert not made.wrong() and not made.wrong(native=True)
    assert verify_source(Source("module.mlir", made.module)).ok
    alike = shape == "13x5"  # a row has fewer elements than there are lanes: all distributions are the same
    assert sum(map(made.module.count, BARRIERS)) == (0 if alike else barriers)


SUMS = """\
func.func @f(%x: tensor<MxK xf32>, %start: tensor<Mxf32>) -> tensor<Mxf32> {
  %s = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
                       iterator_types = ["parallel", "reduction"]} ins(%x : tensor<MxK xf32>) outs(%start : tensor<Mxf32>) {
  ^bb0(%a: f32, %acc: f32):
    %t = arith.addf %acc, %a : f32
    linalg.yield %t : f32
  } -> tensor<Mxf32>
  %e = tensor.empty() : tensor<Mxf32>
  %y = linalg.exp ins(%s : tensor<Mxf32>) outs(%e : tensor<Mxf32>) -> tensor<Mxf32>
  return %y : tensor<Mxf32>
}
""".replace("K x", "Kx")
RAGGED_SUMS = """\
let sum = match linalg.generic
let exp = match linalg.exp
let (tiles, tile) = tile exp [4]
fuse sum into tiles
map tiles to blocks(x)
{steps}
let (outer, part) = tile {op} [{size}, _]
map outer to warps(x: 3)
let (inner, one) = tile part [3, _]
map inner to lanes
let (each, e) = tile tile [3]
map each to warps(x: 3)
map e to lanes
insert-barriers
verify-sync
launch tiles
"""


@pytest.mark.few()
@pytest.mark.parametrize("rows", [4, 7, 13])
@pytest.mark.parametrize("size", [2, 3, 4, 7])
@pytest.mark.parametrize("stepwise", [False, True], ids=["whole rows", "parts of rows"])
def test_ragged_tiles_in_ragged_tiles_are_updated_in_place(rows: int, size: int, stepwise: bool, tmp_path: Path) -> None:
    """Also where what a sum starts with happens to be as long as a tile: that is read elsewhere, not at the tile's place."""
    steps = "let (k, step) = tile sum [_, 2]" if stepwise else ""
    body = RAGGED_SUMS.format(steps=steps, op="step" if stepwise else "sum", size=size)
    made = program(tmp_path, SUMS.replace("M", str(rows)).replace("K", "5"), body)
    assert not made.wrong()
    assert not made.wrong(native=True)
