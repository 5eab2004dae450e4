"""Several dimensions as one: the index of the coalesced loop is taken apart again by division and remainder."""

from __future__ import annotations

from collections.abc import Sequence

from ..indices.arithmetic import Bound, Sum, conjunction, delinearise
from ..indices.guards import inside as inside_of
from ..indices.ranges import largest
from ..ir.mlir import ir, scf
from ..mapping.space import LoopDimension, loop_dimensions, product
from .forall import end_of, make_forall


def coalesce(loop: ir.Operation) -> ir.Operation:
    """A `scf.forall` of one dimension in the place of one of several; on tensors, too. Its own handle is not carried over.

    Where trip counts are known only at run time, but not above a number (the strips of a loop that is cut), that number stands for
    them, and the body is guarded: divisions by constants, and as many iterations as threads can be made for.
    """
    dimensions = loop_dimensions(loop)
    body = loop.regions[0].blocks[0]
    with ir.InsertionPoint(loop), loop.location:
        trips = [d.trips() for d in dimensions]
        box = _box(loop, trips)
        total = product(box)
        flat = make_forall([0], [total], [1], _outputs(loop))
    inside, end = flat.regions[0].blocks[0], end_of(flat)
    with ir.InsertionPoint(end), loop.location:
        known = total if isinstance(total, int) else None
        indices = delinearise(Sum.of(inside.arguments[0], known), box)
        for variable, dimension, index in zip(body.arguments, dimensions, indices, strict=False):
            variable.replace_all_uses_with(dimension.induction(index))
        larger = [(i, n) for i, n, extent in zip(indices, trips, box, strict=True) if extent != n]
        inner = [c for i, n in larger for c in inside_of(i, n)]
        target = _guarded(inner) if inner else end
    for old, new in zip(list(body.arguments)[len(dimensions) :], list(inside.arguments)[1:], strict=True):
        old.replace_all_uses_with(new)
    *ops, terminator = [op.operation for op in body.operations]
    for op in ops:
        op.move_before(target)
    terminator.move_before(end)
    end.erase()
    for old, new in zip(loop.results, flat.results, strict=True):
        old.replace_all_uses_with(new)
    loop.erase()
    return flat


def _box(loop: ir.Operation, trips: Sequence[Bound]) -> list[Bound]:
    """Extents that the indices are taken apart by: numbers, if each trip count has a greatest one."""
    most = [largest(n) for n in trips]
    if loop.results or all(isinstance(n, int) for n in trips) or None in most:
        return list(trips)
    return [n for n in most if n is not None]


def _guarded(conditions: Sequence[ir.Value]) -> ir.Operation:
    """Where the body goes if the box has more iterations than the loop: in front of the end of a guard."""
    guard = scf.IfOp(conjunction(conditions))
    with ir.InsertionPoint(guard.then_block):
        return scf.YieldOp([]).operation


def _outputs(loop: ir.Operation) -> list[ir.Value]:
    segments = list(ir.DenseI32ArrayAttr(loop.attributes["operandSegmentSizes"]))
    return list(loop.operands)[sum(segments[:3]) :]


def spelled(dimensions: Sequence[LoopDimension]) -> str:
    """`4 × ? × 7`, for the step's report."""
    return " × ".join("?" if d.static_trips is None else str(d.static_trips) for d in dimensions)
