"""Whose turn it is in a cluster, and when what is under way ends: drawn from a seed, or as a `Ranking` says.

In order, or in reverse, each runs until it waits. Of other seeds half draw each time; the others draw who (and what)
goes first, for a while, which finds what needs a thread that is slow.
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
"""In one of so many turns an operation ends although somebody could go on, or who goes first is drawn anew."""


class Ranked(Protocol):
    """Who has more of that goes on before others."""

    first: float


Agent = TypeVar("Agent", bound=Ranked)
Started = TypeVar("Started", bound=Ranked)


class GroupTurns:
    """Those of a cluster.

    Args:
        seed: 0 (forward), 1 (reverse) or a number behind.
        number: the cluster's.

    Attributes:
        count: how many there were.
        running: who has it.
    """

    def __init__(self, seed: int, number: int, ranking: Ranking | None) -> None:
        self.policy, self.ranking, self.count = seed, ranking, 0
        self.random = np.random.default_rng((seed, number))
        self.ranked = ranking is not None or (seed > 1 and bool(self.random.integers(2)))
        self.running: Ranked | None = None

    @property
    def pauses(self) -> bool:
        """Whether others may go on before an arrival, or a wait."""
        return self.policy > 1

    def next(self, able: Sequence[Agent], flying: Sequence[Started]) -> Agent | Started:
        """Who goes on, or what ends."""
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
        """What a warp group has of it."""
        return self._drawn() if self.ranking is None else self.ranking.rank(number)

    def of_arm(self, number: int, of: int) -> float:
        """Likewise a part of the group that is running."""
        if self.ranking is None or self.running is None:
            return self._drawn()
        return self.running.first + self.ranking.arm(number, of)

    def of_started(self) -> float:
        """Likewise what was started."""
        return self._drawn() if self.ranking is None else self.ranking.rank(STARTED)

    def ends_at_once(self) -> bool:
        """Whether what begins is over as soon."""
        return not self.ranked and (self.policy == 1 or (self.policy > 1 and bool(self.random.integers(2))))

    def _drawn(self) -> float:
        return self.random.random() if self.ranked else 0.0


def _first(one: Ranked) -> float:
    return one.first


Steps = Generator["Waiting | None", None, None]


class Waiting(Protocol):
    """What a coroutine waits for.

    Attributes:
        releases: those who wait go on once it is said what is wrong.
    """

    releases: ClassVar[bool]

    def ready(self) -> bool: ...

    def stuck(self) -> Iterator[Fault]:
        """What is wrong if it never comes."""
        ...


@dataclass(eq=False)
class Coroutine:
    """A group, or some lanes of it, that go through a part of the kernel; `first`: as `Ranked`."""

    steps: Steps
    first: float = 0.0
    waits: Waiting | None = None
    done: bool = False


@record(eq=False)
class Joined:
    """The end of other coroutines."""

    releases: ClassVar[bool] = False
    parts: Sequence[Coroutine]

    def ready(self) -> bool:
        return all(part.done for part in self.parts)

    def stuck(self) -> Iterator[Fault]:
        return iter(())
