"""Loops that carry a buffer around unchanged: after bufferization the iteration argument is the buffer itself."""

from __future__ import annotations

from ..ir.mlir import ir, operations, scf
from ..ir.structured import body_of, loop_inits, loop_outputs, replace, yielded


def drop_carried_buffers(module: ir.Module) -> None:
    """Rebuild every `scf.for` that yields an iteration argument as it came, without that argument. Attributes stay.

    Upstream's canonicalization does the same, but deletes one-trip loops, and the handles on them, along the way.
    """
    for loop in reversed(list(operations(module.operation, "scf.for"))):
        if _unchanged(loop):
            _rebuild(loop)


def _unchanged(loop: ir.Operation) -> list[int]:
    """Positions of iteration arguments that every iteration passes on as they are."""
    kept = zip(yielded(loop), loop_outputs(loop), loop_inits(loop), strict=True)
    return [i for i, (value, argument, init) in enumerate(kept) if value in (argument, init)]


def _rebuild(loop: ir.Operation) -> None:
    gone, inits, arguments, body = _unchanged(loop), loop_inits(loop), loop_outputs(loop), body_of(loop)
    kept = [i for i in range(len(inits)) if i not in gone]
    for i in gone:
        arguments[i].replace_all_uses_with(inits[i])
    values = [yielded(loop)[i] for i in kept]
    with ir.InsertionPoint(loop):
        new = scf.ForOp(loop.operands[0], loop.operands[1], loop.operands[2], [inits[i] for i in kept])
    for name in loop.attributes:
        new.operation.attributes[name] = loop.attributes[name]
    for old, made in zip([body.arguments[0], *(arguments[i] for i in kept)], new.body.arguments, strict=True):
        old.replace_all_uses_with(made)
    *ops, terminator = list(body.operations)
    terminator.operation.erase()
    for op in ops:
        new.body.append(op.operation)
    with ir.InsertionPoint(new.body):
        scf.YieldOp(values)
    results = iter(new.results)
    replace(loop, [inits[i] if i in gone else next(results) for i in range(len(inits))])
