"""Which op stands in which, and moving index arithmetic out of a loop."""

from __future__ import annotations

from .mlir import ir, producer


def is_within(op: ir.Operation, ancestor: ir.Operation) -> bool:
    """Whether `op` is nested in `ancestor` (or is it)."""
    while op != ancestor and (parent := op.parent) is not None:
        op = parent.operation
    return op == ancestor


def move_in_front(value: ir.Value, loop: ir.Operation) -> None:
    """Move the (pure) computation of a value in front of the loop that it stands in; nothing where it stands outside."""
    op = producer(value)
    if op is None or op == loop or not is_within(op, loop):
        return
    for operand in op.operands:
        move_in_front(operand, loop)
    op.move_before(loop)
