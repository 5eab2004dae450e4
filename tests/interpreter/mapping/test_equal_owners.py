"""Two maps give an element to one thread, however they are written, where each processor has one iteration at most."""

from __future__ import annotations

from pathlib import Path

import pytest
from judged import codes, program, refusal

PAYLOAD = """\
func.func @f(%A: tensor<64x32xf32>, %B: tensor<32x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%A, %B : tensor<64x32xf32>, tensor<32x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.exp ins(%c : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
"""
SCHEDULE = """\
let mm = match linalg.matmul
let z = match linalg.fill
let act = match linalg.exp
let (tiles, t) = tile act [8, 16]
fuse mm into tiles
fuse z into tiles
map tiles to blocks(y, x)
let (k, step) = tile mm [_, _, 16]
let (lanes, one) = tile step [1, 1]
map lanes to threads(y, x)
promote-to-registers one.acc across k
FINISH
insert-barriers
launch tiles"""
TILED = "let (ends, end) = tile t [1, 1]\nmap ends to "


@pytest.mark.parametrize(
    "to", ["threads(y, x)", "threads(y: 8, x: 16)", "threads(y: 8, x: 16) cyclic", "threads(y, x: 16)"]
)
def test_the_end_of_a_tile_is_of_the_thread_that_has_it(to: str, tmp_path: Path) -> None:
    made = program(tmp_path, PAYLOAD, SCHEDULE.replace("FINISH", TILED + to))
    assert "__shared__" not in made.cuda
    assert not made.wrong()
    assert not made.wrong(native=True)


@pytest.mark.parametrize("to", ["threads(x, y)", "threads(x: 16, y: 16)", "threads(x: 16, y: 16) cyclic"])
def test_other_owners_are_told_apart(to: str, tmp_path: Path) -> None:
    square = SCHEDULE.replace("[8, 16]", "[16, 16]").replace("FINISH", TILED + to)
    assert codes(refusal(tmp_path, PAYLOAD, square)) == ["W0380"]


def test_the_hint_names_the_map_that_the_others_have(tmp_path: Path) -> None:
    said = refusal(tmp_path, PAYLOAD, SCHEDULE.replace("FINISH", "map t to threads(y: 8, x: 16)"))
    assert codes(said) == ["W0380"] and "by [1, 1], and map that loop like the other: `threads(y, x)`" in said
