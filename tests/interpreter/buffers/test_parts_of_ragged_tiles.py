"""Tiles that stick out of a tensor, cut again into parts that lie in registers: a part may begin where its tile's rows have ended,
however small it is; and what the tile began with is not lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from judging import verdict

PAYLOAD = """\
func.func @f(%a: tensor<6x5xf32>, %b: tensor<5x100xf32>) -> tensor<6x100xf32> {
  %start = arith.constant 0.5 : f32
  %empty = tensor.empty() : tensor<6x100xf32>
  %init = linalg.fill ins(%start : f32) outs(%empty : tensor<6x100xf32>) -> tensor<6x100xf32>
  %c = linalg.matmul ins(%a, %b : tensor<6x5xf32>, tensor<5x100xf32>) outs(%init : tensor<6x100xf32>) -> tensor<6x100xf32>
  return %c : tensor<6x100xf32>
}
"""
SCHEDULE = """\
  let gemm = match linalg.matmul
  let init = match linalg.fill
  let (tiles, t) = tile gemm {tile}
  fuse init into tiles
  map tiles to blocks(y, x)
  let (parts, part) = tile t {part}
  map parts to threads(y, x)
{began}
  promote-to-registers part.acc
  insert-barriers
  launch tiles
"""
BEGUN = {
    "in parts": "  fuse init into parts",
    "by a map": "  map init to threads(*) cyclic",
}
CUT = [("[1, 32]", "[1, 1]"), ("[1, 32]", "[1, 2]"), ("[8, 32]", "[1, 1]"), ("[8, 32]", "[2, 4]"), ("[4, 48]", "[4, 3]")]


@pytest.mark.few()
@pytest.mark.parametrize("began", BEGUN)
@pytest.mark.parametrize(("tile", "part"), CUT)
def test_a_part_writes_what_lies_inside(tile: str, part: str, began: str, tmp_path: Path) -> None:
    body = SCHEDULE.format(tile=tile, part=part, began=BEGUN[began])
    assert verdict(PAYLOAD, body, tmp_path, 1, native=began == "in parts") == "right"


@pytest.mark.parametrize(("tile", "part"), CUT)
def test_what_no_map_distributes_is_refused_and_not_left_out(tile: str, part: str, tmp_path: Path) -> None:
    assert verdict(PAYLOAD, SCHEDULE.format(tile=tile, part=part, began=""), tmp_path, 1) == "W0351"


ELEMENTS = """\
func.func @f(%x: tensor<SIZExf32>) -> tensor<SIZExf32> {
  DIM
  %e = tensor.empty(OPEN) : tensor<SIZExf32>
  %r = linalg.exp ins(%x : tensor<SIZExf32>) outs(%e : tensor<SIZExf32>) -> tensor<SIZExf32>
  return %r : tensor<SIZExf32>
}
"""
EXTENT = "%c0 = arith.constant 0 : index\n  %n = tensor.dim %x, %c0 : tensor<?xf32>"
THRICE = """\
  let op = match linalg.exp
  let (tiles, t) = tile op [{}]
  map tiles to blocks(x)
  let (parts, part) = tile t [{}]
  map parts to threads(x)
  let (pieces, piece) = tile part [{}]
  promote-to-registers piece.out0
  launch tiles
"""


@pytest.mark.few()
@pytest.mark.parametrize("cut", [(100, 10, 3), (32, 10, 4), (30, 7, 2)])
@pytest.mark.parametrize("size", ["?", "95"])
def test_a_piece_ends_with_its_part_and_with_the_whole(size: str, cut: tuple[int, int, int], tmp_path: Path) -> None:
    """Of a size that ends inside a part, and of one that is open: both ends cut what is written."""
    payload = ELEMENTS.replace("SIZE", size)
    payload = payload.replace("DIM", EXTENT if size == "?" else "").replace("OPEN", "%n" if size == "?" else "")
    shapes = [(95,), (200,)] if size == "?" else ()
    assert verdict(payload, THRICE.format(*cut), tmp_path, 1, native=cut[1] == 10, shapes=shapes) == "right"
