"""Parallel loops in another form: several dimensions as one; a loop over strips, and one over the iterations of a strip."""

from __future__ import annotations

from collections.abc import Sequence

from ..indices.arithmetic import Bound, Sum, ceildiv, conjunction, delinearise, minimum
from ..indices.arithmetic import inside as inside_of
from ..indices.ranges import largest
from ..ir.mlir import children, ir, scf
from ..ir.structured import loop_inits, replace
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
        flat = make_forall([0], [total], [1], loop_inits(loop))
    inside, end = flat.regions[0].blocks[0], end_of(flat)
    with ir.InsertionPoint(end), loop.location:
        known = total if isinstance(total, int) else None
        indices = delinearise(Sum.of(inside.arguments[0], known), box)
        for variable, dimension, index in zip(body.arguments, dimensions, indices, strict=False):
            variable.replace_all_uses_with(dimension.induction(index))
        larger = [(i, n) for i, n, extent in zip(indices, trips, box, strict=True) if extent != n]
        inner = [c for i, n in larger for c in inside_of(i, n)]
        target = end
        if inner:  # the box has more iterations than the loop
            guard = scf.IfOp(conjunction(inner))
            with ir.InsertionPoint(guard.then_block):
                target = scf.YieldOp([]).operation
    for old, new in zip(list(body.arguments)[len(dimensions) :], list(inside.arguments)[1:], strict=True):
        old.replace_all_uses_with(new)
    *ops, terminator = children(loop)
    for op in ops:
        op.move_before(target)
    terminator.move_before(end)
    end.erase()
    replace(loop, flat.results)
    return flat


def _box(loop: ir.Operation, trips: Sequence[Bound]) -> list[Bound]:
    """Extents that the indices are taken apart by: numbers, if each trip count has a greatest one."""
    most = [largest(n) for n in trips]
    if loop.results or all(isinstance(n, int) for n in trips) or None in most:
        return list(trips)
    return [n for n in most if n is not None]


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
        strips = zip(trips, starts, sizes, strict=True)
        inner_trips = [  # a strip's size, or what is left at the end
            n if not size else size if isinstance(n, int) and n % size == 0 else minimum(Sum.of(n) + start.times(-1), size)
            for n, start, size in strips
        ]
        inner = make_forall([0] * len(dimensions), inner_trips, [1] * len(dimensions))
    points = inner.regions[0].blocks[0]
    with ir.InsertionPoint(end_of(inner)), loop.location:
        for variable, argument, start, dimension in zip(
            body.arguments, points.arguments, starts, dimensions, strict=True
        ):
            variable.replace_all_uses_with(dimension.induction(start + Sum.of(argument)))
    for op in children(loop)[:-1]:
        op.move_before(end_of(inner))
    loop.erase()
    return outer, inner


def spelled(dimensions: Sequence[LoopDimension]) -> str:
    """`4 × ? × 7`, for the step's report."""
    return " × ".join("?" if d.static_trips is None else str(d.static_trips) for d in dimensions)
