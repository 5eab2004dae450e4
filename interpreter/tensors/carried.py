"""Loops that carry a buffer around unchanged: after bufferization the iteration argument is the buffer itself."""

from __future__ import annotations

from ..ir import mlir
from ..ir.mlir import ir, scf
from .fusing import loop_inits


def drop_carried_buffers(module: ir.Module) -> None:
    """Rebuild every `scf.for` that yields an iteration argument as it came, without that argument. Attributes stay.

    Upstream's canonicalization does the same, but deletes one-trip loops, and the handles on them, along the way.
    """
    with module.context, ir.Location.unknown():
        for loop in reversed(list(mlir.operations(module.operation, "scf.for"))):
            if _unchanged(loop):
                _rebuild(loop)


def _unchanged(loop: ir.Operation) -> list[int]:
    """Positions of iteration arguments that every iteration passes on as they are."""
    body = loop.regions[0].blocks[0]
    yielded = list(body.operations[len(body.operations) - 1].operation.operands)
    arguments = list(body.arguments)[1:]
    inits = loop_inits(loop)
    return [i for i, v in enumerate(yielded) if v == arguments[i] or v == inits[i]]


def _rebuild(loop: ir.Operation) -> None:
    gone = _unchanged(loop)
    inits = loop_inits(loop)
    kept = [i for i in range(len(inits)) if i not in gone]
    body = loop.regions[0].blocks[0]
    for i in gone:
        body.arguments[1 + i].replace_all_uses_with(inits[i])
        loop.results[i].replace_all_uses_with(inits[i])
    terminator = body.operations[len(body.operations) - 1].operation
    values = [terminator.operands[i] for i in kept]
    with ir.InsertionPoint(loop):
        new = scf.ForOp(loop.operands[0], loop.operands[1], loop.operands[2], [inits[i] for i in kept])
    for name in loop.attributes:
        new.operation.attributes[name] = loop.attributes[name]
    target = new.regions[0].blocks[0]
    for old, made in zip([body.arguments[0], *(body.arguments[1 + i] for i in kept)], target.arguments, strict=True):
        old.replace_all_uses_with(made)
    terminator.erase()
    for op in list(body.operations):
        target.append(op.operation)
    with ir.InsertionPoint(target):
        scf.YieldOp(values)
    for i, result in zip(kept, new.results, strict=True):
        loop.results[i].replace_all_uses_with(result)
    loop.erase()
