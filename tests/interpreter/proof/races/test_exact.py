"""Kernels that are right, each of which needs one thing to be understood; and the same with one thing wrong."""

from __future__ import annotations

import pytest
from kernel_text import WORKGROUP, model
from proven import expect_no_conflict

from weft.interpreter.proof.kernels.model import KernelModel
from weft.interpreter.proof.races.conflicts import conflicts, conflicts_between_blocks
from weft.interpreter.proof.races.uninitialized_reads import unwritten_reads

ROW = f"memref<32xf32, {WORKGROUP}>"
TRANSFER = f"%k = {{}} : vector<4xi1>\nvector.transfer_write %v, %S[%o], %k{{}} : vector<4xf32>, {ROW}"
STORE = f"%k = {{}} : vector<4xi1>\nvector.maskedstore %S[%o], %k, %v : {ROW}, vector<4xi1>, vector<4xf32>"
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
        (TRANSFER.format("vector.create_mask %c4", " {in_bounds = [true]}"), []),
        (TRANSFER.format("vector.create_mask %three", " {in_bounds = [true]}"), [False]),
        (TRANSFER.format("vector.create_mask %three", ""), [True]),
        (STORE.format("vector.constant_mask [4]"), []),
        (STORE.format("vector.constant_mask [2]"), [False]),
        (STORE.format("arith.constant dense<true>"), [True]),
        (f"%p = arith.constant dense<0.0> : vector<3xf32>\nvector.store %p, %S[%o] : {ROW}, vector<3xf32>", [False]),
    ],
)
def test_vectors_through_shared_memory(write: str, missing: list[bool]) -> None:
    """`missing`: whether each unwritten read is only assumed."""
    made = vectors(write)
    expect_no_conflict(conflicts(made))
    assert [r.assumed for r in unwritten_reads(made)] == missing


@pytest.mark.parametrize(("size", "left"), [("4 - (d0 mod 2) * 3", 0), ("4", 1)])
def test_leading_lanes_of_a_ragged_row(size: str, left: int) -> None:
    """Rows of five elements, by threads that take four of them: the second thread of a row has one left."""
    body = f"""%q = affine.apply affine_map<(d0) -> ((d0 floordiv 2) * 5 + (d0 mod 2) * 4)>(%tx)
    %n = affine.apply affine_map<(d0) -> ({size})>(%tx)
    %k = vector.create_mask %n : vector<4xi1>
    %v = arith.constant dense<0.0> : vector<4xf32>
    vector.maskedstore %A[%q], %k, %v : memref<64xf32>, vector<4xi1>, vector<4xf32>"""
    found = conflicts(model(body, "%A: memref<64xf32>", f"%S: {ROW}", SMALL))
    assert [c.assumed for c in found] == [False] * left


TURNS = """%A0 = memref.subview %A[0] [32] [1] : memref<64xf32> to memref<32xf32, strided<[1]>>
    %B0 = memref.subview %A[32] [32] [1] : memref<64xf32> to memref<32xf32, strided<[1], offset: 32>>
    %p0 = memref.cast %A0 : memref<32xf32, strided<[1]>> to PART
    %q0 = memref.cast %B0 : memref<32xf32, strided<[1], offset: 32>> to PART
    %n = arith.xori %tx, %c1 : index
    %r:2 = scf.for %i = %c0 to %COUNT step %c1 iter_args(%p = %p0, %q = %q0) -> (PART, PART) {
      %x = memref.load %p[%n] : PART
      memref.store %x, %q[%tx] : PART
      BETWEEN
      scf.yield YIELDS : PART, PART
    }
    BEHIND
    """


@pytest.mark.parametrize(
    ("count", "yields", "between", "behind", "proven"),
    [
        ("c8", "%q, %p", "gpu.barrier", "", []),
        ("c8", "%q, %p", "", "", [True, True]),
        ("c8", "%p, %q", "", "", []),
        ("c8", "%q, %q0", "gpu.barrier", "", [False, False]),
        ("c8", "%p, %p", "gpu.barrier", "", [False, False]),  # the second is not one of two in turn
        ("c1", "%q, %p", "", "memref.store %zero, %r#0[%tx] : PART", []),
        ("c1", "%q, %p", "", "memref.store %zero, %r#0[%n] : PART", [True]),
        ("c1", "%q, %p", "", "memref.store %zero, %r#1[%tx] : PART", [True]),
    ],
)  # fmt: skip
def test_buffers_that_take_turns(count: str, yields: str, between: str, behind: str, proven: list[bool]) -> None:
    body = TURNS.replace("COUNT", count).replace("YIELDS", yields).replace("BETWEEN", between).replace("BEHIND", behind)
    body = body.replace("PART", "memref<32xf32, strided<[1], offset: ?>>")
    found = conflicts(model(body, "%A: memref<64xf32>", f"%S: {ROW}", SMALL))
    assert [not c.assumed for c in found] == proven


def test_a_buffer_that_a_branch_chooses() -> None:
    body = """%half = arith.cmpi ult, %tx, %c4 : index
    %b = scf.if %half -> (memref<64xf32>) { scf.yield %A : memref<64xf32> } else { scf.yield %B : memref<64xf32> }
    %i = arith.remui %tx, %c4 : index
    memref.store %zero, %b[%i] : memref<64xf32>"""
    for text, assumed in ((body, []), (body.replace("ult, %tx, %c4", "ult, %tx, %c2"), [False])):
        found = conflicts(model(text, "%A: memref<64xf32>, %B: memref<64xf32>", f"%S: {ROW}", SMALL))
        assert [c.assumed for c in found] == assumed


SWITCH = """%w = affine.apply affine_map<(d0) -> (BY)>(%tx)
    scf.index_switch %w
    case 0 { memref.store %zero, %S[%tx] : ROW
      BARRIER
      scf.yield }
    case 1 { memref.store %zero, %S[%c4] : ROW
      scf.yield }
    default { memref.store %zero, %S[%c8] : ROW }""".replace("ROW", ROW)


@pytest.mark.parametrize(
    ("by", "barrier", "found", "divergent"),
    [
        ("d0 floordiv 8", "gpu.barrier", [], 0),  # all threads take case 0
        ("d0 mod 2", "gpu.barrier", [False] * 2, 1),  # even ones take case 0, which meets the other in element 4
        ("d0", "", [False], 0),  # case 1 has one thread, the default six
    ],
)
def test_cases(by: str, barrier: str, found: list[bool], divergent: int) -> None:
    made = model(SWITCH.replace("BY", by).replace("BARRIER", barrier), "%A: memref<64xf32>", f"%S: {ROW}", SMALL)
    assert [c.assumed for c in conflicts(made)] == found
    assert len(made.divergent) == divergent


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
    expect_no_conflict(conflicts(model(body, "%A: memref<1024xf32>", sizes=sizes)))
    expect_no_conflict(conflicts_between_blocks(model(body, "%A: memref<1024xf32>", sizes=sizes)))
    assert conflicts(model(body.replace("(16, 16)", "(16, 15)"), "%A: memref<1024xf32>", sizes=sizes))
