"""Adjacent accesses, joined into one: the four stores of an unrolled vector become the four lanes
of one store.

    write S[r, c]; write S[r, c + 1]; write S[r, c + 2]; write S[r, c + 3]   →   write S[r, c + lane], lane in 0 … 3

The elements are the same. No barrier and no other access of the buffer is between the joined
accesses, so every query has the same answer for each of them as for the joined access. The number
of pairs of four-lane accesses shrinks to a sixteenth.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from ...indices.linear import THREAD, Linear, Symbol
from ...indices.values import Values
from .model import Access, Barrier
from .places import Place
from .root_buffers import RootBuffer


def joined(accesses: Iterable[Access], barriers: Sequence[Barrier], values: Values) -> list[Access]:
    """The accesses, in program order, with adjacent accesses from one op of the payload joined."""
    rows: list[_Row] = []
    last: dict[RootBuffer, _Row] = {}
    for access in accesses:
        row = last.get(access.buffer)
        if row is None or not row.takes(access, barriers):
            row = _Row(access)
            rows.append(row)
        if access.buffer.anything:
            last.clear()
        last[access.buffer] = row
    return [row.access(values) for row in rows]


class _Row:
    """Accesses at a distance of `step` along one axis, the first of them `first`."""

    def __init__(self, first: Access) -> None:
        self.first, self.end = first, first.place
        self.axis, self.step, self.count = 0, 0, 1

    def takes(self, access: Access, barriers: Sequence[Barrier]) -> bool:
        """Whether the access is the next of the row; if so, adds it to the row."""
        found = self._offset(access)
        if found is None or any(_between(self.end, barrier.place, access.place) for barrier in barriers):
            return False
        axis, offset = found
        if self.count == 1:
            self.axis, self.step = axis, offset
        if not offset or axis != self.axis or offset != self.step * self.count:
            return False
        self.count, self.end = self.count + 1, access.place
        return True

    def _offset(self, access: Access) -> tuple[int, int] | None:
        """The axis and the distance from the first access to this one; None if the two are not in
        one row."""
        mine, its = self.first, access
        if (
            (mine.kind, mine.op) != (its.kind, its.op)
            or mine.place.steps != its.place.steps
            or mine.phase
            or mine.agent
        ):
            return None
        if mine.coordinates is None or its.coordinates is None:
            return None
        lanes = dict(zip(_lanes(its), _lanes(mine), strict=False))
        if [(s.low, s.high) for s in _lanes(mine)] != [(s.low, s.high) for s in lanes]:
            return None

        def renamed(form: Linear) -> Linear:
            return form.renamed(lambda symbol: lanes.get(symbol, symbol))

        moved = dataclasses.replace(its, coordinates=mine.coordinates, place=mine.place, when=its.when.changed(renamed))
        if any(getattr(moved, field.name) != getattr(mine, field.name) for field in dataclasses.fields(mine)):
            return None
        apart = [renamed(b) - a for a, b in zip(mine.coordinates, its.coordinates, strict=True)]
        along = [(axis, form.constant) for axis, form in enumerate(apart) if form.terms or form.constant]
        return along[0] if len(along) == 1 and not any(form.terms for form in apart) else None

    def access(self, values: Values) -> Access:
        """The access that joins all accesses of the row."""
        if self.count == 1 or self.first.coordinates is None:
            return self.first
        lane = Linear.of(values.fresh("lane", THREAD, 0, self.count - 1))
        coordinates = list(self.first.coordinates)
        coordinates[self.axis] = coordinates[self.axis] + lane * self.step
        return dataclasses.replace(self.first, coordinates=tuple(coordinates))


def _lanes(access: Access) -> list[Symbol]:
    symbols = (s for form in (*(access.coordinates or ()), access.when) for s in form.symbols())
    return list(dict.fromkeys(s for s in symbols if s.kind == "lane"))


def _between(start: Place, place: Place, end: Place) -> bool:
    """Whether a place is, or is nested, between `start` and `end`, which are both directly in one
    block."""
    depth = len(start.steps)
    if place.steps[:depth] != start.steps:
        return False
    position = place.steps[depth].position if len(place.steps) > depth else place.position
    return start.position < position < end.position
