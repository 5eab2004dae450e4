"""Kernels that are right, each of which needs one thing to be understood; and the same with one thing wrong."""

from __future__ import annotations

import pytest
from kernel_text import WORKGROUP, model

from weft.interpreter.analysis import KernelModel, conflicts, conflicts_between_blocks
from weft.interpreter.analysis.injective import shared_digits
from weft.interpreter.analysis.linear import NOTHING, THREAD, Linear, Symbol
from weft.interpreter.analysis.unwritten import unwritten_reads

ROW = f"memref<32xf32, {WORKGROUP}>"
SMALL = "known_block_size = array<i32: 8, 1, 1>, known_grid_size = array<i32: 1, 1, 1>"


def vectors(write: str, read: str = "") -> KernelModel:
    """Eight threads write four elements each, and then read those of the thread after the next."""
    body = f"""%o = affine.apply affine_map<(d0) -> (d0 * 4)>(%tx)
    %m = affine.apply affine_map<(d0) -> ((d0 * 4 + 8) mod 32)>(%tx)
    %three = arith.constant 3 : index
    %v = arith.constant dense<0.0> : vector<4xf32>
    {write}
    gpu.barrier
    {read or f"%w = vector.load %S[%m] : {ROW}, vector<4xf32>"}"""
    return model(body, "%A: memref<64xf32>", f"%S: {ROW}", SMALL)


@pytest.mark.parametrize(
    ("write", "missing"),
    [
        (f"vector.transfer_write %v, %S[%o] {{in_bounds = [true]}} : vector<4xf32>, {ROW}", []),
        (f"vector.store %v, %S[%o] : {ROW}, vector<4xf32>", []),
        (f"%k = vector.create_mask %three : vector<4xi1>\nvector.transfer_write %v, %S[%o], %k : vector<4xf32>, {ROW}", [True]),
        (f"%p = vector.constant dense<0.0> : vector<3xf32>\nvector.store %p, %S[%o] : {ROW}, vector<3xf32>", [False]),
    ],
)
def test_vectors_through_shared_memory(write: str, missing: list[bool]) -> None:
    """`missing`: whether each unwritten read is only assumed."""
    made = vectors(write.replace("vector.constant", "arith.constant"))
    assert conflicts(made) == []
    assert [r.assumed for r in unwritten_reads(made)] == missing


FLAT = """%n1 = memref.dim %A, %c1 : memref<?x?x?xf32>
%n2 = memref.dim %A, %c2 : memref<?x?x?xf32>
%n0 = memref.dim %A, %c0 : memref<?x?x?xf32>
%area = arith.muli %n1, %n2 : index
%size = arith.muli %area, %n0 : index
%first = affine.apply affine_map<(d0) -> (d0 * 2)>(%tx)
scf.for %i = %first to %size step %c16 {
  %last = affine.min affine_map<(d0)[s0] -> (s0, d0 + COUNT)>(%i)[%size]
  scf.for %e = %i to %last step %c1 {
    PARTS
    %old = memref.load %A[%x, %y, %z] : memref<?x?x?xf32>
    memref.store %old, %A[%x, %y, %z] : memref<?x?x?xf32>
  }
}"""
DIVIDED = """%z = arith.remsi %e, %n2 : index
%q = arith.divsi %e, %n2 : index
%y = arith.remsi %q, %n1 : index
%x = arith.divsi %q, %n1 : index"""
DELINEARIZED = "%x, %y, %z = affine.delinearize_index %e into (%n0, %n1, %n2) : index, index, index"


@pytest.mark.parametrize(
    ("parts", "count", "right"),
    [
        (DIVIDED, 2, True),
        (DELINEARIZED, 2, True),
        (DIVIDED, 3, False),
        (DELINEARIZED, 3, False),
        (DIVIDED.replace("%y = arith.remsi %q", "%y = arith.remsi %e"), 2, False),
    ],
)
def test_elements_of_dynamic_sizes(parts: str, count: int, right: bool) -> None:
    """An element's number is known by its digits, whatever their sizes are."""
    body = FLAT.replace("COUNT", str(count)).replace("PARTS", parts)
    made = model(body, "%A: memref<?x?x?xf32>", f"%S: {ROW}", SMALL)
    assert bool(conflicts(made)) is not right


def test_linearized_digits() -> None:
    body = """%i = affine.linearize_index [%ty, %tx] by (16, 16) : index
    %l = affine.linearize_index disjoint [%by, %i] by (4, 256) : index
    memref.store %zero, %A[%l] : memref<1024xf32>"""
    sizes = "known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 1, 4, 1>"
    assert conflicts(model(body, "%A: memref<1024xf32>", sizes=sizes)) == []
    assert conflicts_between_blocks(model(body, "%A: memref<1024xf32>", sizes=sizes)) == []
    assert conflicts(model(body.replace("(16, 16)", "(16, 15)"), "%A: memref<1024xf32>", sizes=sizes))


def test_digits_of_two_forms() -> None:
    t = Symbol("t", "thread", THREAD, 0, 7)
    i, j = (Symbol(name, "loop", NOTHING, 0, 3) for name in "ij")
    free = Symbol("f", "opaque", THREAD)

    def form(unit: int, of: Symbol, constant: int = 0) -> Linear:
        return Linear({t: unit, of: 1}, constant)

    assert shared_digits(form(4, i), form(4, j)) == {t}
    assert shared_digits(form(4, i), form(4, i)) == {t, i}
    for p, q in (
        (form(3, i), form(3, j)),  # a digit carries
        (form(4, i), form(4, j, 1)),  # shifted
        (form(4, i), form(8, j)),  # other units
        (form(-4, i), form(4, j)),
        (Linear({free: 8, t: 1}, 0), Linear({free: 8, t: 1}, 5)),  # nothing is known of the least value
    ):
        assert shared_digits(p, q) == set()
