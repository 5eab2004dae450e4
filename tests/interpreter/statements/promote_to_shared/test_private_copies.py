"""`promote-to-shared` of what a loop combines into atomically: right and race-free, whatever the combiner and its type, and its
barriers are needed by both witnesses."""

from __future__ import annotations

from pathlib import Path

import pytest
from judged import codes, program, refusal
from judging import assert_barriers_needed  # pyright: ignore[reportMissingImports]

UPDATES = """\
func.func @f(%x: memref<{n}xi32>, %v: memref<{n}x{type}>, %h: memref<4x8x{type}>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant {n} : index
  %three = arith.constant 3 : i32
  %seven = arith.constant 7 : i32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {{
    %a = memref.load %x[%i] : memref<{n}xi32>
    %b = arith.andi %a, %three : i32
    %c = arith.andi %a, %seven : i32
    %row = arith.index_cast %b : i32 to index
    %col = arith.index_cast %c : i32 to index
    %term = memref.load %v[%i] : memref<{n}x{type}>
    memref.atomic_rmw {by} %term, %h[%row, %col] : ({type}, memref<4x8x{type}>) -> {type}
    scf.reduce
  }}
  return
}}
"""
PRIVATE = """\
let each = match scf.parallel
let (parts, part) = tile each [64]
map parts to blocks(x)
map part to threads(x: 32) cyclic
let (copy, clear, merge) = promote-to-shared part.h {options}
map clear to threads(*) cyclic
map merge to threads(*) cyclic
insert-barriers
launch parts"""


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("by", "type", "options"),
    [("addi", "i32", ""), ("addi", "i64", "pad 1"), ("addf", "f32", "transpose pad 1"), ("addf", "f64", ""),
     ("maxs", "i32", "transpose"), ("mins", "i64", ""), ("andi", "i32", "vector 4"), ("ori", "i32", "swizzle 32"),
     ("xori", "i32", ""), ("xori", "i64", ""), ("maxu", "i32", ""), ("minu", "i64", ""), ("ori", "i64", "")],
)  # fmt: skip
def test_combiners(by: str, type: str, options: str, tmp_path: Path) -> None:
    made = program(tmp_path, UPDATES.format(by=by, type=type, n=201), PRIVATE.format(options=options))
    assert not made.wrong() and not made.wrong(native=True)
    assert "(&h_shared" in made.cuda and "h_shared[" in made.cuda
    assert_barriers_needed(made.ready, 0, by)


@pytest.mark.parametrize(("by", "type"), [("muli", "i32"), ("maximumf", "f32"), ("mulf", "f32"), ("minnumf", "f64")])
def test_what_the_hardware_does_not_combine(by: str, type: str, tmp_path: Path) -> None:
    """The private copy is made; the text is refused, as it is of the buffer in global memory."""
    assert codes(refusal(tmp_path, UPDATES.format(by=by, type=type, n=201), PRIVATE.format(options=""))) == ["W0503"]
