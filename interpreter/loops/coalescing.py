"""Several dimensions as one: the index of the coalesced loop is taken apart again by division and remainder."""

from __future__ import annotations

from collections.abc import Sequence

from ..distribution.arithmetic import Sum, delinearise
from ..distribution.space import LoopDimension, loop_dimensions, product
from ..mlir import ir, scf


def coalesce(loop: ir.Operation) -> ir.Operation:
    """A `scf.forall` of one dimension in the place of one of several; on tensors, too. Its own handle is not carried over."""
    dimensions = loop_dimensions(loop)
    body = loop.regions[0].blocks[0]
    with ir.InsertionPoint(loop), loop.location:
        trips = [d.trips() for d in dimensions]
        total = product(trips)
        outputs = _outputs(loop)
        flat = scf.ForallOp([0], [total], [1], outputs).operation
    inside = flat.regions[0].blocks[0]
    for op in list(inside.operations):
        op.operation.erase()
    with ir.InsertionPoint(inside), loop.location:
        known = total if isinstance(total, int) else None
        indices = delinearise(Sum.of(inside.arguments[0], known), trips)
        for variable, dimension, index in zip(body.arguments, dimensions, indices, strict=False):
            variable.replace_all_uses_with(dimension.induction(index))
    for old, new in zip(list(body.arguments)[len(dimensions) :], list(inside.arguments)[1:], strict=True):
        old.replace_all_uses_with(new)
    for op in list(body.operations):
        operation = op.operation
        operation.detach_from_parent()
        ir.InsertionPoint(inside).insert(operation)
    for old, new in zip(loop.results, flat.results, strict=True):
        old.replace_all_uses_with(new)
    loop.erase()
    return flat


def _outputs(loop: ir.Operation) -> list[ir.Value]:
    segments = list(ir.DenseI32ArrayAttr(loop.attributes["operandSegmentSizes"]))
    return list(loop.operands)[sum(segments[:3]) :]


def spelled(dimensions: Sequence[LoopDimension]) -> str:
    """`4 × ? × 7`, for the step's report."""
    return " × ".join("?" if d.static_trips is None else str(d.static_trips) for d in dimensions)
