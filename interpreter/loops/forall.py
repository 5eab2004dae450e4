"""Making a `scf.forall`: an empty one, or one in the place of loops of any spelling, so that all are mapped the same way."""

from __future__ import annotations

from collections.abc import Sequence

from ..indices.arithmetic import Bound, known
from ..ir.mlir import ir, scf
from ..ir.structured import move_marks


def make_forall(
    lower: Sequence[Bound], upper: Sequence[Bound], step: Sequence[Bound], shared: Sequence[ir.Value] = ()
) -> ir.Operation:
    """An empty loop, at the ambient insertion point; its shared outputs start with `shared`."""
    loop = scf.ForallOp(list(lower), list(upper), list(step), list(shared)).operation
    block = loop.regions[0].blocks[0]
    if not list(block.operations):
        with ir.InsertionPoint(block):
            scf.InParallelOp()
    return loop


def end_of(forall: ir.Operation) -> ir.Operation:
    """The terminator, in front of which the body stands."""
    return list(forall.regions[0].blocks[0].operations)[-1].operation


def one_forall(
    nest: Sequence[ir.Operation], lower: Sequence[Bound], upper: Sequence[Bound], step: Sequence[Bound]
) -> ir.Operation:
    """A loop with these bounds, and the handles of the first, in the place of perfectly nested loops without results; index
    arithmetic that stands between them goes inside."""
    root = nest[0]
    with ir.InsertionPoint(root), root.location:
        forall = make_forall(lower, upper, step)
    move_marks(root, forall)
    end, arguments = end_of(forall), iter(forall.regions[0].blocks[0].arguments)
    for loop in nest:
        body = loop.regions[0].blocks[0]
        for variable in body.arguments:
            variable.replace_all_uses_with(next(arguments))
        for op in list(body.operations)[:-1]:
            if op.operation not in nest:
                op.operation.move_before(end)
    root.erase()
    return forall


def as_forall(loop: ir.Operation) -> ir.Operation:
    """Put a `scf.forall` in the place of a `scf.parallel` that reduces nothing; attributes (handles) come along."""
    rank = len(loop.regions[0].blocks[0].arguments)
    bounds = [known(o) for o in loop.operands]
    return one_forall([loop], bounds[:rank], bounds[rank : 2 * rank], bounds[2 * rank : 3 * rank])


def reduces_nothing(op: ir.Operation) -> bool:
    """Whether `op` is a `scf.parallel` without reductions."""
    return op.name == "scf.parallel" and not op.results
