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


@pytest.mark.parametrize("began", BEGUN)
@pytest.mark.parametrize(("tile", "part"), CUT)
def test_a_part_writes_what_lies_inside(tile: str, part: str, began: str, tmp_path: Path) -> None:
    body = SCHEDULE.format(tile=tile, part=part, began=BEGUN[began])
    assert verdict(PAYLOAD, body, tmp_path, 1, native=began == "in parts") == "right"


@pytest.mark.parametrize(("tile", "part"), CUT)
def test_what_no_map_distributes_is_refused_and_not_left_out(tile: str, part: str, tmp_path: Path) -> None:
    assert verdict(PAYLOAD, SCHEDULE.format(tile=tile, part=part, began=""), tmp_path, 1) == "W0351"
