"""Views and index arithmetic that a loop does not change, moved in front of it."""

from __future__ import annotations

from ...ir.mlir import ir, producer
from ...ir.nesting import is_within, move_in_front
from ...memory.effects import is_pure
from ...memory.views import is_view


def depends_on_loop(value: ir.Value, loop: ir.Operation) -> bool:
    """Whether a pure computation uses a variable of the loop, or of a sequential loop inside it."""
    if isinstance(value.owner, ir.Block):
        owner = value.owner.owner
        return owner is not None and owner.operation.name == "scf.for" and is_within(owner.operation, loop)
    op = value.owner.operation
    return is_within(op, loop) and any(depends_on_loop(operand, loop) for operand in op.operands)


def hoist(value: ir.Value, loop: ir.Operation) -> ir.Value:
    """Move the views behind `value` in front of the loop, as far as nothing inside the loop is needed for them.

    Returns the view nearest to `value` that stands outside the loop now (or the buffer itself).
    """
    chain = [value]
    while (view := producer(chain[-1])) is not None and is_view(view):
        chain.append(view.operands[0])
    outside = chain[-1]
    for nearer in reversed(chain[:-1]):
        if not _movable(nearer, loop):
            break
        move_in_front(nearer, loop)
        outside = nearer
    return outside


def _movable(value: ir.Value, loop: ir.Operation) -> bool:
    if isinstance(value.owner, ir.Block):
        owner = value.owner.owner
        return owner is None or not is_within(owner.operation, loop)
    op = value.owner.operation
    if not is_within(op, loop):
        return True
    return is_pure(op) and all(_movable(o, loop) for o in op.operands)
