"""`map act like product`: each thread finishes the elements that it has."""

from __future__ import annotations

from pathlib import Path

import pytest
from places import ROOT
from scheduled import run_schedule

from weft.pipeline import Choice, applied, planned
from weft.runtime.run.execution import RunOptions

RECIPES = ROOT / "weft" / "recipes"


def kernels(schedule: str, **settings: str) -> str:
    return planned(applied(Choice(schedule, settings=settings).open())).cuda


def rewritten(tmp_path: Path, name: str, *lines: tuple[str, str]) -> str:
    """A recipe with other lines."""
    text = (RECIPES / name).read_text()
    for old, new in lines:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / Path(name).name
    path.write_text(text)
    return str(path)


BY_LANES = """schedule by_lanes(op: handle) {
  let (pieces, piece) = tile op [16, 8]
  map pieces to registers
  let (halves, half) = tile piece [8, 8]
  map halves to registers
  let (pairs, pair) = tile half [1, 2]
  let lanes = coalesce pairs
  map lanes to lanes
  return pair
}
"""
OF_WARP = """
  let (around, of_warp) = tile rounding [wm, wn]
  map around to warps(y, x)
  let pair = by_lanes(of_warp)
"""
BY_PIECES = """schedule by_pieces(op: handle, gm: int) {
  let (groups, of_group) = tile op [gm, _]
  map groups to warpgroups(y)
  let (pieces, piece) = tile of_group [64, _]
  map pieces to registers
  let (quarters, quarter) = tile piece [16, _]
  map quarters to quarters
  let pair = by_lanes(quarter)
  return pair
}
"""


@pytest.mark.parametrize("sizes", [{"m": "192", "n": "128"}, {"m": "200", "n": "136"}])
def test_by_warps_as_tile_by_tile(tmp_path: Path, sizes: dict[str, str]) -> None:
    """As with loops over the fragments of `mma`; also with ragged tiles."""
    rewritten(
        tmp_path,
        "parts/by_warps.weft",
        ("schedule by_warps", f"{BY_LANES}schedule by_warps"),
        ("  map rounding like product\n", OF_WARP),
        ("vectorize rounding", "vectorize pair"),
        ('include "summed.weft"', 'include "weft:parts/summed"'),
    )
    mine = rewritten(tmp_path, "matmul/tensor.weft", ("weft:parts/by_warps", "by_warps.weft"))
    settings = {**sizes, "k": "64", "rounded": "1", "type": "f16"}
    assert kernels(mine, **settings) == kernels("tensor", **settings)


PARTS = {
    "whole": {"rounded": "1", "store": "0"},
    "parts": {"rounded": "1", "store": "32"},
    "parts of sums": {"rounded": "0", "store": "64"},
    "parts of two pieces": {"rounded": "1", "store": "32", "gm": "128", "bn": "64"},
    "narrow parts": {"rounded": "0", "store": "8", "bn": "64"},
}


@pytest.mark.parametrize("name", PARTS)
def test_by_warp_groups_as_tile_by_tile(tmp_path: Path, name: str) -> None:
    """As with loops over the pieces of `mma`; also part by part, in a loop over `registers`."""
    rewritten(
        tmp_path,
        "parts/by_groups.weft",
        ("schedule by_groups", f"{BY_LANES}{BY_PIECES}schedule by_groups"),
        ("map part like product", "let pair = by_pieces(part, gm)"),
        ("vectorize part", "vectorize pair"),
        ('include "in_tiles.weft"', 'include "weft:parts/in_tiles"'),
    )
    mine = rewritten(tmp_path, "matmul/hopper.weft", ("weft:parts/by_groups", "by_groups.weft"))
    settings = {"m": "256", "n": "256", "k": "128", **PARTS[name]}
    assert kernels(mine, **settings) == kernels("hopper", **settings)


CHAIN = """
#all = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
#column = affine_map<(i, j) -> (j)>
func.func @f(%a: tensor<40x24xf32>, %b: tensor<24x36xf32>, %bias: tensor<36xf32>) -> tensor<RESULT> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40x36xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<40x36xf32>) -> tensor<40x36xf32>
  %c = linalg.matmul ins(%a, %b : tensor<40x24xf32>, tensor<24x36xf32>) outs(%init : tensor<40x36xf32>) -> tensor<40x36xf32>
  %biased = linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%c, %bias : tensor<40x36xf32>, tensor<36xf32>) outs(%e : tensor<40x36xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<40x36xf32>
  %act = linalg.tanh ins(%biased : tensor<40x36xf32>) outs(%e : tensor<40x36xf32>) -> tensor<40x36xf32>
  return %act : tensor<40x36xf32>
}
""".replace("RESULT", "40x36xf32")
LANES = {
    "threads in rows and columns": "let (lanes, one) = tile step [4, 4]\n  map lanes to threads(y, x)",
    "lanes in a row in warps": "let (warps, of_warp) = tile step [8, 16]\n  map warps to warps(y, x)\n"
    "  let (tiles, one) = tile of_warp [2, 2]\n  let flat = coalesce tiles\n  map flat to lanes",
    "several elements of each": "let (lanes, one) = tile step [4, 4]\n  map lanes to threads(y: 2, x: 2) cyclic",
    "one axis for both": "let (lanes, one) = tile step [4, 4]\n  map lanes to threads(x)",
}


@pytest.mark.parametrize("name", LANES)
@pytest.mark.parametrize("registers", [True, False])
def test_epilogues_of_scalar_products(tmp_path: Path, name: str, registers: bool) -> None:
    """Each op of a chain, before and after it is bufferized, in ragged tiles."""
    registers = registers and "cyclic" not in LANES[name]  # an accumulator in registers has one tile per thread
    (tmp_path / "p.mlir").write_text(CHAIN)
    promoted = "promote-to-registers one.acc across k"
    (tmp_path / "s.weft").write_text(f"""
    payload "p.mlir"
    schedule s() {{
      let gemm = match contraction
      let init = match fill of gemm.acc
      let biased = match elementwise consumer of gemm
      let act = match elementwise consumer of biased
      let (blocks, tile) = tile act [16, 16]
      fuse biased into blocks
      fuse gemm into blocks
      fuse init into blocks
      map blocks to blocks(y, x)
      let (k, step) = tile gemm [_, _, 8]
      {LANES[name]}
      map tile like one
      {promoted if registers else "map init like one"}
      map biased like one
      insert-barriers
      launch blocks
    }}
    """)
    done = run_schedule(str(tmp_path / "s.weft"), None, {}, None, RunOptions("sim"))
    assert done.report.ok and not done.report.races
    assert [k.shared_bytes for k in done.report.kernels] == [0] or not registers
