"""What a multiprocessor is made of while its clocks are counted: warps, schedulers, and the counts."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

from ..pipes import SCHEDULERS
from ..repeats import Repeats
from ..signals import MemoryBarrier
from ..tracks import Track

STAGGER = 400
"""Clocks that a block begins after the one before it on its multiprocessor."""
NEVER = float("inf")

Counts = defaultdict[Any, float]


@dataclass
class Clocks:
    """What one multiprocessor did until its last block had ended.

    Args:
        issued: by its number, how often each instruction of the program was issued.
        lost: clocks of schedulers in which nothing was issued, by why.
        busy: clocks of pipes; where each scheduler has its part of one, of all four.
        moved: bytes from and to L2.
    """

    clocks: float = 0.0
    issued: Counts = field(default_factory=lambda: defaultdict(float))
    lost: Counts = field(default_factory=lambda: defaultdict(float))
    busy: Counts = field(default_factory=lambda: defaultdict(float))
    moved: Counts = field(default_factory=lambda: defaultdict(float))

    @property
    def counts(self) -> tuple[Counts, ...]:
        """All that is counted."""
        return self.issued, self.lost, self.busy, self.moved

    def copied(self) -> tuple[Counts, ...]:
        """What was counted so far."""
        return tuple(one.copy() for one in self.counts)

    def wait(self, why: str, clocks: float) -> None:
        """So many clocks more, if any, in which nothing is issued."""
        self.lost[why] += max(clocks, 0) * SCHEDULERS
        self.clocks += max(clocks, 0)

    def add(self, other: Clocks, times: float) -> None:
        """Add what another one did, so many times."""
        self.clocks += other.clocks * times
        for mine, more in zip(self.counts, other.counts, strict=True):
            for key, number in more.items():
                mine[key] += number * times

    def repeat(self, since: tuple[Counts, ...], times: float) -> None:
        """Count once more, so many times, what was counted since then."""
        for mine, before in zip(self.counts, since, strict=True):
            for key in list(mine):
                mine[key] += (mine[key] - before[key]) * times


class Warp:
    """A warp: where it stands, from when on it may go on, and why not before.

    Args:
        block: which block it is of; `order`: how many of its processor's begin before; `start`: when the first does.
        unit: on which of the multiprocessors it is.

    Attributes:
        meetings: how often it has arrived to meet its cluster.
        seen: of memory barriers, the last phase that it has waited for.
        waiting: the barrier of the block at which it waits: of how many threads, times 16, and its number; 0: of all.
    """

    def __init__(
        self, number: int, block: int, track: Track, repeats: Repeats, order: int, unit: int, start: float
    ) -> None:
        self.number, self.block, self.track, self.repeats, self.unit = number, block, track, repeats, unit
        self.at = self.meetings = 0
        self.seen: dict[MemoryBarrier, int] = {}
        self.ready = start + order * STAGGER
        self.why = "start"
        self.boards = [(0.0, "latency")] * 6
        self.copied = 0.0
        self.groups: list[float] = []
        self.batches: list[float] = []
        self.waiting: int | None = None
        self.ended = not track.code
        if self.ended:
            self.ready = NEVER


class Scheduler:
    """A quarter of a multiprocessor: its warps, its part of the pipes, its queue of memory instructions."""

    def __init__(self, warps: list[Warp]) -> None:
        self.warps = warps
        self.last = warps[0]
        self.queue: deque[float] = deque()
        self.line: list[Warp] = []
        self.pipes: dict[str, float] = dict.fromkeys(("fma", "alu", "tensor", "fp64", "special"), 0.0)
        self.next = 0.0
        self.idle: tuple[float, list[str]] | None = None
