"""Loops over a thread's own array get a trip count that is a number, so that the array can live in registers.

A ragged tile is copied back by `for i < min(4, 10 - 4 * t)`. Such a loop cannot be unrolled, and an array that it indexes goes to
local memory, which no count of spills shows. With a guard inside, `for i < 4 { if i < min(…) }`, it can.
"""

from __future__ import annotations

from ..indices.arithmetic import constant_of
from ..ir.mlir import arith, ir, operations, producer, scf

MOST_TRIPS = 64
"""Longer loops are not unrolled anyway."""


def fix_trip_counts(function: ir.Operation) -> None:
    """Give loops from 0 to `affine.min(constant, …)` around accesses of private memory the constant as their bound."""
    for loop in reversed(list(operations(function, "scf.for"))):
        most = _most_trips(loop)
        if most is not None and most <= MOST_TRIPS and _touches_private(loop):
            _guard(loop, most)


def _most_trips(loop: ir.Operation) -> int | None:
    """The smallest constant that a loop's upper bound is the minimum of, for a plain loop from 0 by 1."""
    if len(loop.results) or constant_of(loop.operands[0]) != 0 or constant_of(loop.operands[2]) != 1:
        return None
    bound = producer(loop.operands[1])
    if bound is None or bound.name != "affine.min":
        return None
    constants = [
        r.value
        for r in ir.AffineMapAttr(bound.attributes["map"]).value.results
        if isinstance(r, ir.AffineConstantExpr)
    ]
    return min(constants, default=None)


def _touches_private(loop: ir.Operation) -> bool:
    for op in operations(loop, "memref.load", "memref.store"):
        root = producer(op.operands[int(op.name == "memref.store")])
        if root is not None and root.name == "memref.alloca":
            return True
    return False


def _guard(loop: ir.Operation, most: int) -> None:
    body = loop.regions[0].blocks[0]
    inside = [op.operation for op in body.operations][:-1]
    limit = loop.operands[1]
    with ir.InsertionPoint(loop), loop.location:
        loop.operands[1] = arith.ConstantOp(ir.IndexType.get(), most).result
    with ir.InsertionPoint.at_block_begin(body), loop.location:
        here = arith.cmpi(arith.CmpIPredicate.slt, body.arguments[0], limit)
        choice = scf.IfOp(here)
        with ir.InsertionPoint(choice.then_block):
            scf.YieldOp([])
    terminator = choice.then_block.operations[0]
    for op in inside:
        op.move_before(terminator)
