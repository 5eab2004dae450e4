"""Copies of ops that take other values than these do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .mlir import ir, operations
from .structured import replace


def replace_operands(op: ir.Operation, by: Mapping[ir.Value, ir.Value]) -> None:
    """Let an op, and the ops in it, take other values in the place of those in `by`."""
    for inner in operations(op):
        for position, operand in enumerate(inner.operands):
            if operand in by:
                inner.operands[position] = by[operand]


def clone_with(op: ir.Operation, copies: dict[ir.Value, ir.Value]) -> ir.Operation:
    """A copy of an op at the insertion point, of the copies of what it takes; its results join them."""
    copy = op.clone(ir.InsertionPoint.current).operation
    replace_operands(copy, copies)
    copies.update(zip(op.results, copy.results, strict=True))
    return copy


def index_dimension(op: ir.Operation) -> int:
    """Which dimension's index a `linalg.index` is."""
    return ir.IntegerAttr(op.attributes["dim"]).value


def clone_body(block: ir.Block, arguments: Sequence[ir.Value], indices: Sequence[ir.Value] = ()) -> list[ir.Value]:
    """Clone a body at the insertion point, with values for its arguments and its `linalg.index`es; the values that it yields."""
    return clone_until(block, dict(zip(block.arguments, arguments, strict=False)), indices)


def clone_until(
    block: ir.Block, copies: dict[ir.Value, ir.Value], indices: Sequence[ir.Value] = (), end: ir.Operation | None = None
) -> list[ir.Value]:
    """Clone the ops of a block in front of `end`, or of its last one, but those whose copies are there; what that op takes."""
    *ops, last = (inner.operation for inner in block.operations)
    for op in ops:
        if end is not None and op == end:
            last = op
            break
        if op.name == "linalg.index" and indices:
            copies[op.results[0]] = indices[index_dimension(op)]
        elif not op.results or op.results[0] not in copies:
            made = clone_with(op, copies)
            for index in operations(made, "linalg.index") if indices else ():
                replace(index, [indices[index_dimension(index)]])
    return [copies.get(v, v) for v in last.operands]
