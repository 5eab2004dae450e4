"""Loops over threads that cut a temporary in different ways, and whether each element has the same threads in both."""

from __future__ import annotations

import pytest

from weft.interpreter.buffers.owners.arrays import own_array_of
from weft.interpreter.buffers.owners.digits import Unowned
from weft.interpreter.ir.mlir import context, ir, operations, parse


def nest(loop: str, offset: str, space: str) -> str:
    """A loop over threads, an iteration of which fills four elements from `offset` on."""
    return f"""
    scf.forall {loop} {{
      %o = affine.apply affine_map<{offset}
      %v = memref.subview %t[%o] [4] [1] : memref<64xf32> to memref<4xf32, strided<[1], offset: ?>>
      linalg.fill ins(%c : f32) outs(%v : memref<4xf32, strided<[1], offset: ?>>)
    }} {{weft.map = {{space = {space}}}}}"""


FIRST = nest("(%i) in (16)", "(i) -> (i * 4)>(%i)", '"threads", axes = ["x"], counts = array<i64: -1>')
BY_ROWS = '"threads", axes = ["x"], counts = array<i64: 16>'
BY_AXES = '"threads", axes = ["y", "x"], counts = array<i64: -1, -1>'
ALL = '"threads", all'
PAIRS = "(i, j) -> (i * 16 + j * 4)>(%i, %j)"
CASES = {
    "counted row by row": (nest("(%i, %j) in (4, 4)", PAIRS, BY_ROWS), ""),
    "at most as many": (nest("(%i) in (%w)", "(i) -> (i * 4)>(%i)", BY_ROWS), ""),
    "the digits exchanged": (nest("(%i, %j) in (4, 4)", "(i, j) -> (i * 4 + j * 16)>(%i, %j)", BY_ROWS), "cut in two ways"),
    "rows of a length that a run knows": (nest("(%i, %j) in (4, %n)", PAIRS, BY_ROWS), "only at run time"),
    "other threads": (nest("(%i, %j) in (4, 4)", PAIRS, BY_AXES), "cut in two ways"),
    "all threads by their number": (nest("(%i) in (16)", "(i) -> (i * 4)>(%i)", ALL), "cut in two ways"),
    "more threads that read it": (nest("(%j, %i) in (2, 16)", "(j, i) -> (i * 4)>(%j, %i)", BY_AXES), "only some of the threads"),
    "from the end": (nest("(%i) in (16)", "(i) -> (60 - i * 4)>(%i)", BY_ROWS), "each other's parts"),
    "a neighbor's half": (nest("(%i) in (15)", "(i) -> (i * 4 + 2)>(%i)", BY_ROWS), "each other's parts"),
    "a part of it": (nest("(%i) in (8)", "(i) -> (i * 4)>(%i)", BY_ROWS), "leave elements out"),
}


@pytest.mark.parametrize("case", CASES)
def test_owners_of_tiles(case: str) -> None:
    second, why = CASES[case]
    text = f"""func.func @f(%m: index, %c: f32) {{
      %w = affine.min affine_map<(d) -> (16, d)>(%m)
      %n = affine.min affine_map<(d) -> (4, d)>(%m)
      scf.forall (%b) in (4) {{
        %t = memref.alloc() : memref<64xf32>{FIRST}{second}
      }} {{weft.map = {{space = "blocks", axes = ["x"], counts = array<i64: -1>}}}}
      return
    }}"""
    module = parse(text, context())
    alloc = next(operations(module.operation, "memref.alloc"))
    with module.context, alloc.location:
        if why:
            with pytest.raises(Unowned, match=why):
                own_array_of(alloc)
            assert next(operations(module.operation, "memref.alloc")) == alloc
        else:
            assert ir.MemRefType(own_array_of(alloc).value.type).shape == [4]
            assert next(operations(module.operation, "memref.alloc"), None) is None
