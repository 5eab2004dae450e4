"""Views and index arithmetic that a loop does not change, moved in front of it."""

from __future__ import annotations

from ..distribution.views import VIEWS
from ..mlir import ir, producer

_PURE = ("arith.", "affine.apply", "affine.min", "affine.max", "memref.dim", *VIEWS)


def depends_on_loop(value: ir.Value, loop: ir.Operation) -> bool:
    """Whether a pure computation uses a variable of the loop, or of a sequential loop inside it."""
    if isinstance(value.owner, ir.Block):
        owner = value.owner.owner
        return owner is not None and owner.operation.name == "scf.for" and _inside(owner.operation, loop)
    op = value.owner.operation
    return _inside(op, loop) and any(depends_on_loop(operand, loop) for operand in op.operands)


def hoist(value: ir.Value, loop: ir.Operation) -> ir.Value:
    """Move the views behind `value` in front of the loop, as far as nothing inside the loop is needed for them.

    Returns the view nearest to `value` that stands outside the loop now (or the buffer itself).
    """
    chain = [value]
    while (view := producer(chain[-1])) is not None and view.name in VIEWS:
        chain.append(view.operands[0])
    outside = chain[-1]
    for nearer in reversed(chain[:-1]):
        if not _movable(nearer, loop):
            break
        _move(nearer, loop)
        outside = nearer
    return outside


def _inside(op: ir.Operation, loop: ir.Operation) -> bool:
    while op != loop and (parent := op.parent) is not None:
        op = parent.operation
    return op == loop


def _movable(value: ir.Value, loop: ir.Operation) -> bool:
    if isinstance(value.owner, ir.Block):
        owner = value.owner.owner
        return owner is None or not _inside(owner.operation, loop)
    op = value.owner.operation
    if not _inside(op, loop):
        return True
    return op.name.startswith(_PURE) and not op.regions and all(_movable(o, loop) for o in op.operands)


def _move(value: ir.Value, loop: ir.Operation) -> None:
    op = producer(value)
    if op is None or not _inside(op, loop):
        return
    for operand in op.operands:
        _move(operand, loop)
    op.move_before(loop)
