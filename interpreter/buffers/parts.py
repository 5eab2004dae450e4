"""A thread copies its part of a temporary: guards stand as far out as their index is known, accesses are as wide as is proven.

A part of 8x8 elements under a guard each is 64 conditions and 64 addresses, which the compiler computes ahead and keeps: more
registers than the part itself. So the guard of a row stands around the row, and where rows of the buffer are multiples of n, and
the extent is one, n elements are inside together, or outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..indices.arithmetic import Bound, Sum, inside
from ..indices.ranges import divisible
from ..ir.mlir import ir
from ..mapping.processors import loop_over, when
from .elements import StructuredOp, emit
from .wide_accesses import aligned_rows


@dataclass(frozen=True)
class Part:
    """The elements [offset, offset + size) of the temporary that a copy has as operand `number`.

    Args:
        tile: the view that takes just these elements; None where they are addressed in the temporary itself.
        offsets: where the part begins, per axis of the temporary.
        sizes: its extents.
    """

    copy: StructuredOp
    number: int
    tile: ir.Value | None
    offsets: Sequence[Sum]
    sizes: Sequence[Bound]

    @property
    def order(self) -> list[int]:
        """The dimension of the copy that walks each axis of the temporary."""
        return [r.position for r in self.copy.maps[self.number].results if isinstance(r, ir.AffineDimExpr)]

    def emit(self, bounds: Sequence[Bound], most_lanes: int = 1) -> None:
        """Copy the part as far as the copy's extents `bounds` reach, in accesses of up to `most_lanes` elements."""
        lanes = most_lanes
        while lanes > 1 and not self._wide(bounds, lanes):
            lanes //= 2
        steps = [*[1] * (len(self.sizes) - 1), lanes]

        def nest(axis: int, local: tuple[Sum, ...], guards: list[ir.Value]) -> None:
            if axis == len(self.sizes):
                with when(*guards):
                    return self._element(local, lanes)
            size, step, bound = self.sizes[axis], steps[axis], bounds[self.order[axis]]
            trips = size // step if isinstance(size, int) else size

            def inner(trip: Sum, outside: list[ir.Value]) -> None:
                index = trip.times(step)
                nest(axis + 1, (*local, index), [*outside, *inside(self.offsets[axis] + index, bound)])

            if trips == 1:
                return inner(Sum(), guards)
            with when(*guards):
                loop_over(trips, lambda trip: inner(trip, []))

        nest(0, (), [])

    def _wide(self, bounds: Sequence[Bound], lanes: int) -> bool:
        """Whether `lanes` neighbours in the part are neighbours in every buffer, aligned, and inside all together."""
        size, last = self.sizes[-1], self.order[-1]
        if self.tile is None or last != self.copy.maps[self.number].n_dims - 1:
            return False
        if not isinstance(size, int) or size % lanes or not divisible(bounds[last], lanes):
            return False
        others = [n for n in range(len(self.copy.operands)) if n != self.number]
        others = [n for n in others if n in self.copy.output_numbers() or self.copy.used(n)]
        return aligned_rows(self.tile, lanes) and all(self.copy.wide(n, lanes) for n in others)

    def _element(self, local: tuple[Sum, ...], lanes: int) -> None:
        indices = [Sum()] * len(self.order)
        for position, offset, index in zip(self.order, self.offsets, local, strict=True):
            indices[position] = offset + index
        instead = {self.number: (self.tile, [e.emit() for e in local])} if self.tile is not None else None
        emit(self.copy, indices, lanes, instead)
