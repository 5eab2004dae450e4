"""`scf.parallel` → `scf.forall`, so that loops of either spelling are mapped the same way."""

from __future__ import annotations

from ..indices.arithmetic import known
from ..ir.mlir import ir, scf
from ..ir.structured import copy_marks


def as_forall(loop: ir.Operation) -> ir.Operation:
    """Put a `scf.forall` in the place of a `scf.parallel` that reduces nothing; attributes (handles) come along."""
    body = loop.regions[0].blocks[0]
    rank = len(body.arguments)
    bounds = [known(o) for o in list(loop.operands)[: 3 * rank]]
    with ir.InsertionPoint(loop), loop.location:
        forall = scf.ForallOp(bounds[:rank], bounds[rank : 2 * rank], bounds[2 * rank :], []).operation
    copy_marks(loop, forall)
    inside = forall.regions[0].blocks[0]
    if not list(inside.operations):
        with ir.InsertionPoint(inside), loop.location:
            scf.InParallelOp()
    end = list(inside.operations)[-1].operation
    for old, new in zip(body.arguments, inside.arguments, strict=True):
        old.replace_all_uses_with(new)
    for op in list(body.operations)[:-1]:
        op.operation.move_before(end)
    loop.erase()
    return forall


def reduces_nothing(op: ir.Operation) -> bool:
    """Whether `op` is a `scf.parallel` without reductions."""
    return op.name == "scf.parallel" and not op.results
