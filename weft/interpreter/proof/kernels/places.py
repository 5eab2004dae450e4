"""The places of a kernel's ops: the regions and loops around them, their text order, and the waits
for asynchronous copies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ....dsl.records import record
from ...indices.linear import Formula, Linear, Symbol, at_least, both, settled

NOMINAL_TRIPS = 1024
"""The assumed trip count of a loop with an unknown trip count: barriers in such a loop are
expensive."""


@dataclass(eq=False)
class Loop:
    """A loop around accesses. `counter` counts its iterations from 0; `variable` is the loop
    variable, a form of the counter."""

    number: int
    counter: Symbol
    variable: Linear | None
    trips: int | None
    label: str

    @property
    def weight(self) -> int:
        return NOMINAL_TRIPS if self.trips is None else self.trips


@dataclass(eq=False)
class PlaceStep:
    """One level of a path: the position of the op in its block, the region of that op, and the
    conditions that hold inside."""

    position: int
    region: int
    guards: tuple[Formula, ...] = ()
    loop: Loop | None = None


@record(eq=False)
class Place:
    """The place of an op: the regions around it, outermost first, and its position in the innermost
    block."""

    steps: tuple[PlaceStep, ...]
    position: int

    def into(self, region: int, guards: tuple[Formula, ...] = (), loop: Loop | None = None) -> tuple[PlaceStep, ...]:
        """The path into a region of the op at this place."""
        return (*self.steps, PlaceStep(self.position, region, guards, loop))

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        return tuple(s.loop for s in self.steps if s.loop is not None)

    @property
    def guards(self) -> tuple[Formula, ...]:
        return tuple(g for s in self.steps for g in s.guards)

    @property
    def settled(self) -> bool:
        """Whether it is known when the place is reached."""
        return settled(s for g in self.guards for s in g.symbols())

    @property
    def order(self) -> tuple[int, ...]:
        """A sort key: the text order of places."""
        return (*tuple(n for s in self.steps for n in (s.position, s.region)), self.position)


@record(eq=False)
class Landing:
    """The place where a thread waits until an asynchronous copy has arrived.

    Args:
        place: the place of the wait.
        at: the loops around the wait, outermost first, in which the wait may be in another
            iteration than the copy. Each has the value of its counter at the wait, as a form of the
            copy's counters. In all other loops around both, the wait is in the copy's iteration.
    """

    place: Place
    at: tuple[tuple[Loop, Linear], ...] = ()

    @property
    def reached(self) -> Formula:
        """The condition that these iterations exist: the guards of the loops, and the upper bounds
        of their counters."""
        decided = {loop for loop, _ in self.at}
        guards = [
            guard.changed(self.there) for step in self.place.steps if step.loop in decided for guard in step.guards
        ]
        most = [(counter, loop.counter.high) for loop, counter in self.at]
        return both(*guards, *(at_least(Linear.of(high) - counter, 0) for counter, high in most if high is not None))

    def there(self, form: Linear) -> Linear:
        """A form of the counters of these loops, evaluated at these iterations."""
        counters = {loop.counter: counter for loop, counter in self.at}
        return form.replaced(lambda s: counters.get(s, Linear.of(s)))


@record(eq=False)
class GroupEvent:
    """The commit of a group, or (if `pending` is given) a wait until at most `pending` newer groups
    are pending."""

    place: Place
    pending: int | None = None
