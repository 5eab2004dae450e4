"""Short loops around an index that is taken apart are unrolled: then what a loop further out does not change can be hoisted.

A thread that copies rows r, r + 64 of a tile has a loop of two iterations inside the loop over k. Both rows' places in the image
are the same in every step; as two pieces of code they stand in front of the loop over k, once.
"""

from __future__ import annotations

from ...gathers import clone_mapped
from ...mlir import arith, ir, operations, producer
from ..arithmetic import constant_of
from .linear import DELINEARIZE

MOST_TRIPS = 8


def unroll_divisions(function: ir.Operation) -> bool:
    """Unroll loops of at most `MOST_TRIPS` iterations, inside of other loops, whose counter is in an index that is taken apart.

    Returns whether there were any.
    """
    found = False
    while (loop := _short_loop(function)) is not None:
        _unroll(loop)
        found = True
    return found


def _short_loop(function: ir.Operation) -> ir.Operation | None:
    for op in operations(function, DELINEARIZE):
        variables = _variables(op.operands[0])
        loop = enclosing_loop(op)
        while loop is not None:
            around = enclosing_loop(loop)
            if loop.regions[0].blocks[0].arguments[0] in variables and around is not None and _is_short(loop):
                return loop
            loop = around
    return None


def enclosing_loop(op: ir.Operation) -> ir.Operation | None:
    """The nearest `scf.for` around."""
    parent = op.parent
    while parent is not None and parent.operation.name != "scf.for":
        parent = parent.operation.parent
    return None if parent is None else parent.operation


def _variables(value: ir.Value) -> set[ir.Value]:
    """All block arguments that an index is computed from."""
    op = producer(value)
    if op is None:
        return {value}
    return set().union(*(_variables(operand) for operand in op.operands)) if len(op.operands) else set()


def trips_of(loop: ir.Operation) -> range | None:
    """The values of the loop's counter, where its bounds and step are numbers."""
    bounds = [constant_of(loop.operands[i]) for i in range(3)]
    low, high, step = bounds
    return None if low is None or high is None or step is None or step < 1 else range(low, high, step)


def _is_short(loop: ir.Operation) -> bool:
    trips = trips_of(loop)
    return trips is not None and len(trips) <= MOST_TRIPS and not len(loop.results)


def _unroll(loop: ir.Operation) -> None:
    body = loop.regions[0].blocks[0]
    inside = [op.operation for op in body.operations][:-1]
    for number in trips_of(loop) or ():
        with ir.InsertionPoint(loop), loop.location:
            mapping = {body.arguments[0]: arith.ConstantOp(ir.IndexType.get(), number).result}
            for op in inside:
                clone_mapped(op, mapping, [])
    loop.erase()
