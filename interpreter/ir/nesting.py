"""Which op stands in which, and moving index arithmetic out of a loop."""

from __future__ import annotations

from collections.abc import Iterator

from .functions import maker
from .mlir import ir, producer


def ancestors(op: ir.Operation | ir.OpView) -> Iterator[ir.Operation]:
    """The ops that `op` stands in, the innermost first."""
    while (parent := op.operation.parent) is not None:
        op = parent.operation
        yield op


def stands_in(op: ir.Operation, *names: str) -> bool:
    """Whether `op` stands directly in an op of one of these names."""
    return any(around.name in names for around in list(ancestors(op))[:1])


def users(value: ir.Value) -> list[ir.Operation]:
    """The ops that take a value, once for each time that they do."""
    return [use.owner.operation for use in value.uses]


def is_used(*values: ir.Value) -> bool:
    """Whether an op takes one of the values."""
    return any(True for value in values for _ in value.uses)


def children(op: ir.Operation) -> list[ir.Operation]:
    """The ops directly inside an op, in program order."""
    return [inner.operation for region in op.regions for block in region.blocks for inner in block.operations]


def child_of(outer: ir.Operation, op: ir.Operation) -> ir.Operation | None:
    """The op directly in the body of `outer` that is `op` or holds it."""
    chain = [op, *ancestors(op)]
    return chain[chain.index(outer) - 1] if outer in chain[1:] else None


def is_within(op: ir.Operation, ancestor: ir.Operation) -> bool:
    """Whether `op` is nested in `ancestor` (or is it)."""
    return op == ancestor or ancestor in ancestors(op)


def made_within(value: ir.Value, ancestor: ir.Operation) -> bool:
    """Whether an op in `ancestor`, or a block of it, makes `value`."""
    return is_within(maker(value), ancestor)


def move_in_front(value: ir.Value, loop: ir.Operation) -> None:
    """Move the (pure) computation of a value in front of the loop that it stands in; nothing where it stands outside."""
    op = producer(value)
    if op is None or op == loop or not is_within(op, loop):
        return
    for operand in op.operands:
        move_in_front(operand, loop)
    op.move_before(loop)
