"""Whole programs that `weft:rest` schedules, changed before their kernels are made: what is proven of a change computes the same.

The programs are those that a proof compares expression by expression: fused producers, concatenations, padding, slices, gathers.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from coverage_mutations import CHANGES, COPIES, ELEMENTS, SUBSCRIPTS, copies, mutants, opened
from test_coverage_mutants import expect_equal

ID = "affine_map<(i, j) -> (i, j)>"
BOTH = 'iterator_types = ["parallel", "parallel"]'
PIECES = f"""
func.func @pieces(%x: tensor<5x6xi32>, %y: tensor<5x3xi32>) -> (tensor<5x15xi32>, tensor<5xi32>) {{
  %two = arith.constant 2 : i32
  %zero = arith.constant 0 : i32
  %c = tensor.concat dim(1) %x, %y, %x : (tensor<5x6xi32>, tensor<5x3xi32>, tensor<5x6xi32>) -> tensor<5x15xi32>
  %e = tensor.empty() : tensor<5x15xi32>
  %r = linalg.generic {{indexing_maps = [{ID}, {ID}], {BOTH}}} ins(%c : tensor<5x15xi32>) outs(%e : tensor<5x15xi32>) {{
  ^bb0(%u: i32, %o: i32):
    %t = arith.subi %u, %two : i32
    linalg.yield %t : i32
  }} -> tensor<5x15xi32>
  %i = tensor.empty() : tensor<5xi32>
  %f = linalg.fill ins(%zero : i32) outs(%i : tensor<5xi32>) -> tensor<5xi32>
  %s = linalg.reduce {{ arith.addi }} ins(%c : tensor<5x15xi32>) outs(%f : tensor<5xi32>) dimensions = [1]
  return %r, %s : tensor<5x15xi32>, tensor<5xi32>
}}"""
FUSED = f"""
#row = affine_map<(i, j) -> (j)>
func.func @fused(%x: tensor<8x9xi32>, %y: tensor<9xi32>, %z: tensor<4x9xi32>) -> (tensor<9x4xi32>, tensor<4xi32>) {{
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %p = tensor.extract_slice %x[1, 0] [4, 9] [2, 1] : tensor<8x9xi32> to tensor<4x9xi32>
  %e = tensor.empty() : tensor<4x9xi32>
  %d = linalg.generic {{indexing_maps = [{ID}, #row, {ID}], {BOTH}}}
      ins(%p, %y : tensor<4x9xi32>, tensor<9xi32>) outs(%e : tensor<4x9xi32>) {{
  ^bb0(%u: i32, %v: i32, %o: i32):
    %t = arith.subi %u, %v : i32
    linalg.yield %t : i32
  }} -> tensor<4x9xi32>
  %m = linalg.generic {{indexing_maps = [{ID}, {ID}, {ID}], {BOTH}}}
      ins(%d, %z : tensor<4x9xi32>, tensor<4x9xi32>) outs(%e : tensor<4x9xi32>) {{
  ^bb0(%u: i32, %v: i32, %o: i32):
    %t = arith.subi %u, %v : i32
    linalg.yield %t : i32
  }} -> tensor<4x9xi32>
  %q = tensor.empty() : tensor<9x4xi32>
  %r = linalg.transpose ins(%m : tensor<4x9xi32>) outs(%q : tensor<9x4xi32>) permutation = [1, 0]
  %i = tensor.empty() : tensor<4xi32>
  %f = linalg.fill ins(%zero : i32) outs(%i : tensor<4xi32>) -> tensor<4xi32>
  %s = linalg.reduce {{ arith.addi }} ins(%m : tensor<4x9xi32>) outs(%f : tensor<4xi32>) dimensions = [1]
  return %r, %s : tensor<9x4xi32>, tensor<4xi32>
}}"""
GATHERED = f"""
#row = affine_map<(i, j) -> (i)>
func.func @gathered(%table: tensor<7x5xi32>, %at: tensor<6xi32>, %z: tensor<8x6xi32>) -> (tensor<6x5xi32>, tensor<8xi32>) {{
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<6x5xi32>
  %r = linalg.generic {{indexing_maps = [#row, {ID}], {BOTH}}} ins(%at : tensor<6xi32>) outs(%e : tensor<6x5xi32>) {{
  ^bb0(%u: i32, %o: i32):
    %large = arith.cmpi sgt, %u, %zero : i32
    %i = linalg.index 0 : index
    %five = arith.constant 5 : index
    %three = arith.constant 3 : index
    %times = arith.muli %i, %five : index
    %more = arith.addi %times, %three : index
    %which = arith.select %large, %more, %times : index
    %rows = arith.constant 7 : index
    %row = arith.remui %which, %rows : index
    %column = linalg.index 1 : index
    %v = tensor.extract %table[%row, %column] : tensor<7x5xi32>
    linalg.yield %v : i32
  }} -> tensor<6x5xi32>
  %p = tensor.pad %r low[1, 0] high[1, 1] {{
  ^bb0(%i: index, %j: index):
    %two = arith.constant 2 : i32
    tensor.yield %two : i32
  }} : tensor<6x5xi32> to tensor<8x6xi32>
  %n = tensor.empty() : tensor<8xi32>
  %f = linalg.fill ins(%zero : i32) outs(%n : tensor<8xi32>) -> tensor<8xi32>
  %s = linalg.generic {{indexing_maps = [{ID}, {ID}, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%p, %z : tensor<8x6xi32>, tensor<8x6xi32>) outs(%f : tensor<8xi32>) {{
  ^bb0(%u: i32, %v: i32, %o: i32):
    %m = arith.muli %u, %v : i32
    %t = arith.addi %o, %m : i32
    linalg.yield %t : i32
  }} -> tensor<8xi32>
  return %r, %s : tensor<6x5xi32>, tensor<8xi32>
}}"""
SPREAD = """
func.func @spread(%x: tensor<8x4xi32>, %y: tensor<8x8xi32>) -> tensor<8xi32> {
  %zero = arith.constant 0 : i32
  %s = tensor.insert_slice %x into %y[0, 1] [8, 4] [1, 2] : tensor<8x4xi32> into tensor<8x8xi32>
  %r = tensor.empty() : tensor<8xi32>
  %i = linalg.fill ins(%zero : i32) outs(%r : tensor<8xi32>) -> tensor<8xi32>
  %t = linalg.reduce { arith.addi } ins(%s : tensor<8x8xi32>) outs(%i : tensor<8xi32>) dimensions = [1]
  return %t : tensor<8xi32>
}"""
PROGRAMS = {
    "a concatenation": PIECES,
    "fused producers": FUSED,
    "a gather, padded": GATHERED,
    "an insertion at a stride": SPREAD,
}
REST = 'payload "p.mlir"\ninclude "weft:rest"\nschedule s() {\n  rest()\n}\n'
SOAK = "WEFT_SOAK" in os.environ
FEW = 2
"""Mutants of a program and a kind of change in `make test`."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_proven_of_a_whole_program_is_equal(name: str, tmp_path: Path) -> None:
    for file, text in (("p.mlir", PROGRAMS[name]), ("s.weft", REST)):
        (tmp_path / file).write_text(text)
    session, done = opened(str(tmp_path / "s.weft"), {})
    made = [
        *copies(session, {**COPIES, **ELEMENTS, **SUBSCRIPTS}),
        *((where, each, None) for where, each in mutants(session, CHANGES)),
    ]
    random.Random(name).shuffle(made)
    kinds = {each[0].split(":")[0] for each in made}
    few = [each for kind in sorted(kinds) for each in [m for m in made if m[0].startswith(kind)][:FEW]]
    assert expect_equal(session, done, made if SOAK else few) >= 3
