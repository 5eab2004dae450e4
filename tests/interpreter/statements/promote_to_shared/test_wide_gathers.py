"""Ragged copies into shared memory: which of them load n elements under one guard."""

from __future__ import annotations

from pathlib import Path

import pytest
from scheduled import session_of

SCHEDULE = """payload "case.mlir"
schedule case() {
  let gemm = match linalg.matmul
  let init = match? linalg.fill
  let (tiles, tile_mm) = tile gemm [32, 32]
  fuse init into tiles
  map init to threads(*) cyclic
  map tiles to blocks(y, x)
  let (k, step) = tile tile_mm [_, _, 16]
  let (a, copy_a) = promote-to-shared step.lhs
  let (b, copy_b) = promote-to-shared step.rhs
  map copy_a to threads(*) cyclic vector 4
  map copy_b to threads(*) cyclic vector 4
  let (lanes, one) = tile step [1, 1]
  map lanes to threads(y: 8, x: 32) cyclic
  insert-barriers
  launch tiles
}
"""


FILLED = """%zero = arith.constant 0.0 : f32
      %empty = tensor.empty() : C
      %init = linalg.fill ins(%zero : f32) outs(%empty : C) -> C"""


@pytest.mark.few(3)
@pytest.mark.parametrize("filled", [True, False], ids=["from zeros", "added to an argument"])  # which reads -0.0 along the sum
@pytest.mark.parametrize(
    ("m", "n", "k", "wide"),
    [
        (50, 40, 20, [True, True]),  # rows of 20 and 40 elements: multiples of four
        (50, 41, 20, [True, False]),
        (50, 40, 21, [False, True]),
        (50, 42, 22, [False, False]),
    ],
)
def test_loads_are_wide_where_all_elements_are_inside_together(
    tmp_path: Path, filled: bool, m: int, n: int, k: int, wide: list[bool]
) -> None:
    a, b, c = f"tensor<{m}x{k}xf32>", f"tensor<{k}x{n}xf32>", f"tensor<{m}x{n}xf32>"
    arguments = f"%A: {a}, %B: {b}" if filled else f"%A: {a}, %B: {b}, %init: {c}"
    (tmp_path / "case.mlir").write_text(f"""func.func @mm({arguments}) -> {c} {{
      {FILLED.replace("C", c) if filled else ""}
      %C = linalg.matmul ins(%A, %B : {a}, {b}) outs(%init : {c}) -> {c}
      return %C : {c} }}""")
    (tmp_path / "case.weft").write_text(SCHEDULE)
    session = session_of(tmp_path / "case.weft")
    steps = []
    while (step := session.step()) is not None:
        steps.append(step)
    said = [r for r in steps[-1].remarks if "loads" in r]
    assert ["loads 4-wide under one guard" in r for r in said] == wide
    assert steps[-1].ir.count("vector.load") == sum(wide)
