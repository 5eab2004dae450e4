"""Where ops of a kernel stand: the regions and loops around them, their order in the text, and waits for asynchronous copies."""

from __future__ import annotations

from dataclasses import dataclass

from ...indices.linear import Formula, Linear, Symbol, both, settled

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


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
class Landing:
    """Where a thread waits until an asynchronous copy has arrived.

    Args:
        place: of the wait.
        loop: the loop around it whose iteration the copy decides; None: the wait is in the same one of all loops around both.
        counter: that loop's counter in that iteration, as a form of the copy's counters.
    """

    place: Place
    loop: Loop | None = None
    counter: Linear | None = None

    @property
    def reached(self) -> Formula:
        """When there is that iteration."""
        steps = [step for step in self.place.steps if step.loop is self.loop and step.loop is not None]
        return both(*(guard.changed(self.there) for step in steps for guard in step.guards))

    def there(self, form: Linear) -> Linear:
        """A form of the loop's counter in that iteration."""
        loop, counter = self.loop, self.counter
        if loop is None or counter is None:
            return form
        return form.replaced(lambda s: counter if s is loop.counter else Linear.of(s))
