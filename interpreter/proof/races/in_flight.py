"""What meets an asynchronous copy on its way: accesses of its elements between its begin and the wait at which it has arrived, by
any thread, its own included. No barrier helps there; a later use, more waiting, or one more buffer does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...indices.linear import FALSE, TRUE, Formula, Linear, both, either, equal, less
from ..kernels.model import Access, KernelModel
from ..kernels.places import Landing, Loop
from ..solver import Solver, Unknown
from .phases import meeting
from .relations import PairClass


@dataclass(eq=False)
class Meeting(PairClass):
    """Instances of a copy's access (`first`) and of another one that comes before the copy has arrived."""

    def _different_threads(self) -> Formula:
        early: Formula = TRUE
        for landing in reversed(self.first.landings):
            reached = self.x.formula(landing.reached)
            early = either(both(reached, self._before(landing)), both(reached.negate(), early))
        return early

    def _before(self, landing: Landing) -> Formula:
        """`second` comes before the wait."""
        decided = {loop for loop, _ in landing.at}
        if self.loop is not None and self.loop in landing.place.loops and self.loop not in decided:
            return FALSE  # it is in a later iteration of what holds the copy and its wait
        before: Formula = TRUE if meeting(self.second.place, landing.place)[1] < 0 else FALSE
        for loop, at in reversed(landing.at):
            if loop in self.second.place.loops:
                mine, theirs = self.x.form(at), self.y.form(Linear.of(loop.counter))
                before = either(less(theirs, mine), both(equal(theirs, mine), before))
        return before


def meetings(model: KernelModel, solver: Solver | None = None) -> Iterator[Meeting]:
    """The ways in which an access may meet a copy in flight; all that is not known to be impossible."""
    solver = solver or model.solver
    for copy in model.accesses:
        for other in model.accesses if copy.phase == "begins" else ():
            if other.phase == "ended" or "write" not in (copy.kind, other.kind) or not model.may_meet(copy, other):
                continue
            loops, order = meeting(copy.place, other.place)
            levels = [*range(len(loops)), *([len(loops)] if order < 0 else ())]
            for level in levels:
                found = Meeting(model, copy, other, loops, level, level < len(loops), solver)
                try:
                    if found.collide():
                        yield found
                except Unknown:
                    found.unknown = True
                    yield found


def follow(first: Access, second: Access) -> bool:
    """Whether the first of two accesses can be over when the second begins: those that begin are not, and those that have ended did
    not begin there."""
    return first.phase != "begins" and second.phase != "ended"


def loops_of_copies(model: KernelModel) -> set[Loop]:
    """The loops around what begins or has ended: whether something comes before or behind it, their iterations tell."""
    return {loop for access in model.accesses if access.phase for loop in access.place.loops}
