"""One loop as two: a loop over strips of iterations, and one over the iterations of a strip. Each is then mapped by itself."""

from __future__ import annotations

from collections.abc import Sequence

from ..indices.arithmetic import Bound, Sum, ceildiv, minimum
from ..ir.mlir import ir
from ..mapping.space import loop_dimensions
from .forall import end_of, make_forall


def cut(loop: ir.Operation, sizes: Sequence[int | None]) -> tuple[ir.Operation, ir.Operation]:
    """Tile a `scf.forall` without results: the loop over strips, and the one inside. No size: a dimension stays inside, whole.

    The last strip ends at the loop's own bound; where the size divides, the inner trip count is the size, a number.
    """
    dimensions = loop_dimensions(loop)
    body = loop.regions[0].blocks[0]
    cuts = [position for position, size in enumerate(sizes) if size]
    with ir.InsertionPoint(loop), loop.location:
        trips = [d.trips() for d in dimensions]
        counts: list[Bound] = [ceildiv(trips[p], sizes[p] or 1) for p in cuts]
        outer = make_forall([0] * len(cuts), counts, [1] * len(cuts))
    strip = outer.regions[0].blocks[0]
    starts = [Sum()] * len(dimensions)
    for argument, position in zip(strip.arguments, cuts, strict=True):
        starts[position] = Sum.of(argument).times(sizes[position] or 1)
    with ir.InsertionPoint(end_of(outer)), loop.location:
        inner_trips = [_strip(trip, start, size) for trip, start, size in zip(trips, starts, sizes, strict=True)]
        inner = make_forall([0] * len(dimensions), inner_trips, [1] * len(dimensions))
    points = inner.regions[0].blocks[0]
    with ir.InsertionPoint(end_of(inner)), loop.location:
        for variable, argument, start, dimension in zip(
            body.arguments, points.arguments, starts, dimensions, strict=True
        ):
            variable.replace_all_uses_with(dimension.induction(start + Sum.of(argument)))
    end = end_of(inner)
    for op in list(body.operations)[:-1]:
        op.operation.move_before(end)
    loop.erase()
    return outer, inner


def _strip(trips: Bound, start: Sum, size: int | None) -> Bound:
    """How many iterations a strip has: its size, or what is left at the end."""
    if not size:
        return trips
    if isinstance(trips, int) and trips % size == 0:
        return size
    return minimum(Sum.of(trips) + start.times(-1), size)
