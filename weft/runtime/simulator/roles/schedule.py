"""Schedules of a cluster, from a seed or a `Ranking`: which warp group runs next, and when
operations complete.

Seed 0 is program order, seed 1 the reverse: each group runs until it waits. Half of the other seeds
draw at every decision. The other half draw a priority order that holds for some time, which finds
bugs that occur only if a thread is slow.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar

import numpy as np

from ....dsl.records import record
from ...devices.report import Fault
from .clocks import STARTED, Ranking

SOMETIMES = 16
"""Once in this many decisions, an operation completes early, or a priority is drawn anew."""


class Ranked(Protocol):
    """An agent with a priority; the highest runs first."""

    first: float


Agent = TypeVar("Agent", bound=Ranked)
Started = TypeVar("Started", bound=Ranked)


class GroupSchedule:
    """Scheduling decisions of a cluster.

    Args:
        seed: 0 (forward), 1 (reverse), or 2 and more (random).
        number: the number of the cluster.

    Attributes:
        count: the number of decisions so far.
        running: the agent chosen last.
    """

    def __init__(self, seed: int, number: int, ranking: Ranking | None) -> None:
        self.policy, self.ranking, self.count = seed, ranking, 0
        self.random = np.random.default_rng((seed, number))
        self.ranked = ranking is not None or (seed > 1 and bool(self.random.integers(2)))
        self.running: Ranked | None = None

    @property
    def pauses(self) -> bool:
        """Whether other groups may run before an arrival or a wait."""
        return self.policy > 1

    def next(self, able: Sequence[Agent], flying: Sequence[Started]) -> Agent | Started:
        """The agent that runs next, or the operation that completes."""
        self.count += 1
        those = *able, *flying
        if self.ranking is not None:
            found = max(those, key=_first)
            if self.count in self.ranking.dropped:
                found.first = -float(self.count)
                found = max(those, key=_first)
        elif self.ranked:
            found = max(those, key=_first)
            if self.random.integers(SOMETIMES) == 0:
                found.first = self.random.random()
        else:
            ends = flying and (not able or (self.policy > 1 and self.random.integers(SOMETIMES) == 0))
            of = flying if ends else able
            found = of[int(self.random.integers(len(of))) if self.policy > 1 else (len(of) - 1) * self.policy]
        self.running = found
        return found

    def of_agent(self, number: int) -> float:
        """Priority of a warp group."""
        return self._drawn() if self.ranking is None else self.ranking.rank(number)

    def of_arm(self, number: int, of: int) -> float:
        """Priority of an arm of the running group."""
        if self.ranking is None or self.running is None:
            return self._drawn()
        return self.running.first + self.ranking.arm(number, of)

    def of_started(self) -> float:
        """Priority of an operation that was just issued."""
        return self._drawn() if self.ranking is None else self.ranking.rank(STARTED)

    def ends_at_once(self) -> bool:
        """Whether an operation completes as soon as it begins."""
        return not self.ranked and (self.policy == 1 or (self.policy > 1 and bool(self.random.integers(2))))

    def _drawn(self) -> float:
        return self.random.random() if self.ranked else 0.0


def _first(one: Ranked) -> float:
    return one.first


Steps = Generator["Waiting | None", None, None]


class Waiting(Protocol):
    """The condition that a coroutine waits for.

    Attributes:
        releases: its lanes proceed after its fault has been reported.
    """

    releases: ClassVar[bool]

    def ready(self) -> bool: ...

    def stuck(self) -> Iterator[Fault]:
        """The faults to report if the condition never becomes true."""
        ...


@dataclass(eq=False)
class Coroutine:
    """A warp group, or some of its lanes, that executes a part of the kernel. `first`: as in
    `Ranked`."""

    steps: Steps
    first: float = 0.0
    waits: Waiting | None = None
    done: bool = False


@record(eq=False)
class Joined:
    """Completion of other coroutines."""

    releases: ClassVar[bool] = False
    parts: Sequence[Coroutine]

    def ready(self) -> bool:
        return all(part.done for part in self.parts)

    def stuck(self) -> Iterator[Fault]:
        return iter(())
