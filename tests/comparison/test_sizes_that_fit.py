"""Open sizes that depend on each other: reshapes, windows, computed sizes; each dimension gets one with which the others fit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from weft.comparison.comparison import compared
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.files.fitting_sizes import fitted
from weft.runtime.host.functions import signature


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was compared before."""
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path / "cache"))


RESHAPED = """
#id = affine_map<(i, j) -> (i, j)>
func.func @f(%A: tensor<?xf32>, %B: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %B, %c0 : tensor<?x4xf32>
  %R = tensor.expand_shape %A [[0, 1]] output_shape [%n, 4] : tensor<?xf32> into tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %S = linalg.add ins(%R, %B : tensor<?x4xf32>, tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %S : tensor<?x4xf32>
}
"""
EVERY_OTHER = """
func.func @f(%A: tensor<?xf32>, %B: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %B, %c0 : tensor<?xf32>
  %a = tensor.extract_slice %A[0] [%n] [2] : tensor<?xf32> to tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %S = linalg.add ins(%a, %B : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %S : tensor<?xf32>
}
"""
COMPUTED = """
func.func @f(%A: tensor<?xf32>, %B: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %m = tensor.dim %A, %c0 : tensor<?xf32>
  %n = arith.subi %m, %c2 : index
  %a = tensor.extract_slice %A[2] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %S = linalg.add ins(%a, %B : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %S : tensor<?xf32>
}
"""
SCHEDULE = """
schedule s() {
  let op = match linalg.add
  let (tiles, one) = tile op TILES
  map tiles to blocks(AXES)
  map one to threads(AXES)
  insert-barriers
  launch tiles
}
"""


def made(folder: Path, payload: str, rank: int) -> Planned:
    tiles, axes = ("[8, 4]", "y, x") if rank == 2 else ("[32]", "x")
    (folder / "p.mlir").write_text(payload)
    (folder / "s.weft").write_text('payload "p.mlir"' + SCHEDULE.replace("TILES", tiles).replace("AXES", axes))
    return planned(applied(Choice(str(folder / "s.weft")).open()))


def numbers(line: str) -> list[int]:
    return [int(n) for n in re.findall(r"(\d+)x(?:4x)?f32", line)]


def test_reshapes(tmp_path: Path) -> None:
    found = compared(made(tmp_path, RESHAPED, 2), None)
    assert [numbers(line) for line in found.equal] == [[4 * n, n] for n in (0, 1, 7, 9, 67)]


def test_windows(tmp_path: Path) -> None:
    """Every other element: there are twice as many, nearly."""
    found = compared(made(tmp_path, EVERY_OTHER, 1), None)
    pairs = [numbers(line) for line in found.equal]
    assert {b for _, b in pairs} == {0, 1, 31, 33, 67} and all(a >= 2 * b - 1 for a, b in pairs)


def test_computed_sizes(tmp_path: Path) -> None:
    found = compared(made(tmp_path, COMPUTED, 1), None)
    pairs = [numbers(line) for line in found.equal]
    assert [69, 67] in pairs and [2, 0] in pairs and all(a == b + 2 for a, b in pairs)


def test_sizes_of_a_convolution() -> None:
    """Of which the kernel's sizes are known, and those of the result computed: this was built without a comparison."""
    choice = Choice("igemm_bias_relu", settings=dict.fromkeys("nhwck", "?"))
    found = compared(planned(applied(choice.open())), None)
    assert found.unchecked is None and len(found.equal) > 3


def test_what_fits_everywhere_stays() -> None:
    made = planned(applied(Choice("naive", settings=dict.fromkeys("mnk", "?")).open()))
    of = fitted(signature(made.applied.payload), made.plan, 67)
    assert [argument.shape for argument in of.arguments] == [(67, 67), (67, 67)]
