"""The barriers that are certain to separate two places, derived from positions in the text alone.

Most queries about barriers are answered here, without ISL. If every execution of an access passes
through the block of ops that holds a barrier, then the barrier separates the access from everything
after the barrier. In a loop, it also separates the access from accesses in other iterations, if the
barrier is executed in between.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from ...indices.linear import Formula
from ..kernels.model import Barrier
from ..kernels.places import Loop, Place, PlaceStep


def meeting(a: Place, b: Place) -> tuple[tuple[Loop, ...], int]:
    """The loops around both places; and the order of the places within one iteration of all these
    loops: -1: `a` first, 1: `b` first, 0: the same op, or an unknown order."""
    loops: list[Loop] = []
    for s, t in zip(a.steps, b.steps, strict=False):
        if s.position != t.position:
            return tuple(loops), -1 if s.position < t.position else 1
        if s.loop is not t.loop:  # one loop modelled as two, in unknown order (`signals/steps.py`)
            return tuple(loops), 0
        if s.loop is not None:
            loops.append(s.loop)
        if s.region != t.region:
            return tuple(loops), -1 if s.region < t.region else 1
    depth = min(len(a.steps), len(b.steps))
    p, q = position_at(a, depth), position_at(b, depth)
    return tuple(loops), (p > q) - (p < q)


def position_at(place: Place, depth: int) -> int:
    """The position, in the block of ops `depth` regions down, of the op at the place, or of the op
    that contains it."""
    return place.steps[depth].position if depth < len(place.steps) else place.position


Steps = tuple[PlaceStep, ...]


class Row(list[Barrier]):
    """The barriers of one block of ops that order one kind of memory for all threads, in text
    order. Nothing is added after the first question."""

    def __init__(self) -> None:
        super().__init__()
        self._before: dict[Place, int] = {}

    def before(self, place: Place) -> int:
        """The number of barriers before the op that contains the place in their block."""
        if place not in self._before:
            position = position_at(place, len(self[0].place.steps))
            self._before[place] = bisect_left(self, position, key=lambda barrier: barrier.place.position)
        return self._before[place]


def pieces(rows: Iterable[Row], first: Place, second: Place) -> Iterator[list[Barrier]]:
    """The rows of barriers, cut at the two places into pieces. All barriers of a piece separate the
    same instances."""
    for row in rows:
        cuts = sorted({0, row.before(first), row.before(second), len(row)})
        yield from (row[start:end] for start, end in pairwise(cuts))


def is_sure(barrier: Barrier, first: Place, second: Place, carried: Loop | None) -> bool:
    """Whether a barrier that orders the memory of two accesses separates all their instances: the
    test of `Phases.sure`, for one barrier."""
    steps, position = barrier.place.steps, barrier.place.position
    passed, passes = first.steps[: len(steps)] == steps, second.steps[: len(steps)] == steps
    after = passed and position >= position_at(first, len(steps))
    before = passes and position < position_at(second, len(steps))
    if barrier.narrow or carried is not None:
        return not barrier.narrow and carried in barrier.place.loops and (after or before)
    return after and before if passed and passes else after or before


class Phases:
    """Barriers, grouped by the blocks of ops that contain them."""

    def __init__(self, barriers: Iterable[Barrier]) -> None:
        self.barriers = tuple(barriers)
        self._rows: dict[str, dict[Steps, Row]] = {}
        self._chains: dict[tuple[str, Steps], list[Row]] = {}

    def rows(self, space: str) -> dict[Steps, Row]:
        """The rows that order this memory, by the steps to their block."""
        if space not in self._rows:
            made = self._rows[space] = {}
            for barrier in sorted(self.barriers, key=lambda barrier: barrier.place.position):
                if space in barrier.spaces and not barrier.narrow:
                    made.setdefault(barrier.place.steps, Row()).append(barrier)
        return self._rows[space]

    def _around(self, place: Place, space: str) -> list[Row]:
        """The rows in the blocks around the place: every thread that reaches the place passes
        through these blocks."""
        key = space, place.steps
        if key not in self._chains:
            rows = self.rows(space)
            depths = range(len(place.steps) + 1) if rows else ()
            self._chains[key] = [rows[place.steps[:d]] for d in depths if place.steps[:d] in rows]
        return self._chains[key]

    def sure(self, first: Place, second: Place, space: str, carried: Loop | None) -> Iterator[Sequence[Barrier]]:
        """Yields barriers, each of which separates all instances of two accesses to this memory.
        `carried`: the loop in which `second` is in a later iteration than `first`; None: both are
        in the same iteration of all loops around them that hold barriers."""
        for row in self._around(first, space):
            around = row[0].place
            if carried is None:
                common = around.steps == second.steps[: len(around.steps)]
                yield row[row.before(first) : row.before(second) if common else None]
            elif carried in around.loops:
                yield row[row.before(first) :]
        for row in self._around(second, space):
            around = row[0].place
            if around.steps != first.steps[: len(around.steps)] if carried is None else carried in around.loops:
                yield row[: row.before(second)]

    def separate(self, first: Place, second: Place, space: str, carried: Loop | None) -> bool:
        """Whether some barrier is sure to separate all instances."""
        return any(self.sure(first, second, space, carried))


def executed_if(place: Place, executed: Iterable[tuple[Place, int]]) -> list[Formula]:
    """The conditions under which an instance at `place` is executed, without those that follow from
    the execution of other instances. Each of these is given by its place, and by the number of
    loops around both in which it is in the same iteration."""
    implied: set[PlaceStep] = set()
    for other, same in executed:
        depth = 0
        for mine, theirs in zip(place.steps, other.steps, strict=False):
            depth += mine.loop is not None
            if mine is not theirs or depth > same:
                break
            implied.add(mine)
    return [guard for step in place.steps if step not in implied for guard in step.guards]
