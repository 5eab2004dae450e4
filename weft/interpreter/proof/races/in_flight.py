"""Pairs of accesses, each with a begin and an end, and the ways in which one can follow the other.

Every search for conflicts uses the enumeration `pairs_of`. It pairs each access with every access,
including itself, whichever agents make them. An ordinary access begins and ends at its op. An
asynchronous copy begins at its op and ends at the wait where it has arrived; in between it is in
flight. Each way of a pair falls under one of two cases:

- the second access comes after the end of the first: a barrier has to separate them (`ways`);
- the second access begins while the first is in flight, or at the same time (`meetings`): no
barrier helps; a later use, more waiting, or one more buffer does. Accesses by the copy's own thread
conflict with it as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ...indices.linear import FALSE, TRUE, Formula, Linear, both, either, equal, less
from ..kernels.model import Access, KernelModel
from ..kernels.places import Landing, Loop
from ..solver import Solver, Unknown
from .phases import meeting
from .relations import PairClass


@dataclass(eq=False)
class Meeting(PairClass):
    """Instances of a copy's access (`first`), and of another access that begins before the copy has
    arrived.

    Args:
        at_once: both are instances of one op in one iteration, by two threads.
    """

    at_once: bool = field(default=False, kw_only=True)

    def collide(self) -> bool:
        """Whether there are collisions, in any iterations; no barrier separates them. Records one
        of them as `known`. Raises Unknown."""
        names, parts = self._described
        self.known = self.example(self.solver.point(names, parts, names))
        return self.known is not None

    def _different_threads(self) -> Formula:
        if self.at_once:
            return super()._different_threads()
        early: Formula = TRUE
        for landing in reversed(self.first.landings):
            reached = self.x.formula(landing.reached)
            early = either(both(reached, self._before(landing)), both(reached.negate(), early))
        return early

    def _before(self, landing: Landing) -> Formula:
        """The condition that `second` comes before the wait."""
        decided = {loop for loop, _ in landing.at}
        if self.loop is not None and self.loop in landing.place.loops and self.loop not in decided:
            return FALSE  # `second` is in a later iteration of the loop that holds the copy and its wait
        before: Formula = TRUE if meeting(self.second.place, landing.place)[1] < 0 else FALSE
        for loop, at in reversed(landing.at):
            if loop in self.second.place.loops:
                mine, theirs = self.x.form(at), self.y.form(Linear.of(loop.counter))
                before = either(less(theirs, mine), both(equal(theirs, mine), before))
        return before


def meetings(model: KernelModel, solver: Solver | None = None) -> Iterator[Meeting]:
    """The ways in which an access may conflict with a copy in flight, except those that are proven
    impossible."""
    solver = solver or model.solver
    for a, b in pairs_of(model):
        for copy, other in ((a, b), (b, a))[: 1 if a is b else 2]:
            if copy.phase != "begins":
                continue
            loops, order = meeting(copy.place, other.place)
            same = order < 0 or (
                order == 0 and copy is a
            )  # two accesses at the same op conflict in one way, not in two
            for level in [*range(len(loops)), *([len(loops)] if same else ())]:
                carried = level < len(loops)
                found = Meeting(model, copy, other, loops, level, carried, solver, at_once=not carried and order == 0)
                try:
                    if found.collide():
                        yield found
                except Unknown:
                    found.unknown = True
                    yield found


def pairs_of(model: KernelModel) -> Iterator[tuple[Access, Access]]:
    """The pairs of accesses, at their begins, that may touch the same memory, at least one of them
    a write."""
    begin = [access for access in model.accesses if access.phase != "ended"]
    for number, a in enumerate(begin):
        for b in begin[number:]:
            together = a.atomic is not None and a.atomic == b.atomic
            if "write" in (a.kind, b.kind) and not together and model.may_meet(a, b):
                yield a, b


def over_and_begun(model: KernelModel) -> Iterator[tuple[Access, Access]]:
    """The pairs of `pairs_of`, each with one access at its end and the other access at its begin."""
    ends: dict[int, list[Access]] = {}
    for access in model.accesses:
        if access.phase == "ended":
            ends.setdefault(access.flight, []).append(access)
    for a, b in pairs_of(model):
        if not (a.phase or b.phase):
            yield a, b
            continue
        yield from ((end, b) for end in (ends.get(a.flight, ()) if a.phase else (a,)))
        if a is not b:
            yield from ((end, a) for end in (ends.get(b.flight, ()) if b.phase else (b,)))


def ways(first: Access, second: Access, shared: Iterable[Loop]) -> Iterator[Way]:
    """The orders in which instances of the two accesses can follow each other, each with the loop
    that carries it (None: the same iteration). The earlier access must be one that can be over when
    the later one begins: an access of phase `begins` is not over at its place, and one of phase
    `ended` did not begin there."""
    for loop in (None, *shared):
        for a, b in ((first, second), (second, first))[: 1 if loop is None or first is second else 2]:
            if a.phase != "begins" and b.phase != "ended":
                yield a, b, loop


Way = tuple[Access, Access, "Loop | None"]


def loops_of_copies(model: KernelModel) -> set[Loop]:
    """The loops around the begins and ends of asynchronous accesses: their iterations decide
    whether an access comes before or after these points."""
    return {loop for access in model.accesses if access.phase for loop in access.place.loops}
