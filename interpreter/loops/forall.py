"""Making a `scf.forall` without results, and finding one's way in it."""

from __future__ import annotations

from collections.abc import Sequence

from ..indices.arithmetic import Bound
from ..ir.mlir import ir, scf


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


def take_handles(source: ir.Operation, target: ir.Operation) -> None:
    """Move the `weft.*` attributes over."""
    for name in list(source.attributes):
        if name.startswith("weft."):
            target.attributes[name] = source.attributes[name]
            del source.attributes[name]
