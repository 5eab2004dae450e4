"""Where ops of a kernel stand: the regions and loops around them, their order in the text, and waits for asynchronous
copies."""

from __future__ import annotations

from dataclasses import dataclass

from ....dsl.records import record
from ...indices.linear import Formula, Linear, Symbol, at_least, both, settled

NOMINAL_TRIPS = 1024
"""How often a loop is taken to run whose trip count is not known: barriers in it are dear."""


@dataclass(eq=False)
class Loop:
    """A loop around accesses. `counter` counts its iterations from 0; `variable` is the loop variable, a form of it."""

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
    """One level of a path: which op of the block (`position`), which of its regions, and what holds inside."""

    position: int
    region: int
    guards: tuple[Formula, ...] = ()
    loop: Loop | None = None


@record(eq=False)
class Place:
    """Where an op stands: the regions around it, outermost first, and its position in the innermost block."""

    steps: tuple[PlaceStep, ...]
    position: int

    def into(self, region: int, guards: tuple[Formula, ...] = (), loop: Loop | None = None) -> tuple[PlaceStep, ...]:
        """The way into a region of what stands here."""
        return (*self.steps, PlaceStep(self.position, region, guards, loop))

    @property
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
        """Text order of places."""
        return (*tuple(n for s in self.steps for n in (s.position, s.region)), self.position)


@record(eq=False)
class Landing:
    """Where a thread waits until an asynchronous copy has arrived.

    Args:
        place: of the wait.
        at: loops around it, outermost first, whose iterations the copy decides: each with its counter there, as a form
            of the copy's counters. Of all other loops around both, the wait is in the same iteration.
    """

    place: Place
    at: tuple[tuple[Loop, Linear], ...] = ()

    @property
    def reached(self) -> Formula:
        """When there are those iterations: what the loops' conditions leave out says how many there are at most."""
        decided = {loop for loop, _ in self.at}
        guards = [
            guard.changed(self.there) for step in self.place.steps if step.loop in decided for guard in step.guards
        ]
        most = [(counter, loop.counter.high) for loop, counter in self.at]
        return both(*guards, *(at_least(Linear.of(high) - counter, 0) for counter, high in most if high is not None))

    def there(self, form: Linear) -> Linear:
        """A form of those loops' counters in those iterations."""
        counters = {loop.counter: counter for loop, counter in self.at}
        return form.replaced(lambda s: counters.get(s, Linear.of(s)))


@record(eq=False)
class GroupEvent:
    """A group is committed, or (`pending` is given) waited for until at most that many newer ones are pending."""

    place: Place
    pending: int | None = None
