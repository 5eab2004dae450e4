"""The state of a multiprocessor while clocks are counted: warps, schedulers, and the counts."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

from ..pipes import SCHEDULERS
from ..repeats import Repeats
from ..signals import MemoryBarrier
from ..tracks import Track

STAGGER = 400
"""Clocks from the start of a block to the start of the next one on its multiprocessor."""
NEVER = float("inf")

Counts = defaultdict[Any, float]


@dataclass
class Clocks:
    """The counts of one multiprocessor until the end of its last block.

    Args:
        issued: instruction index → how often it was issued.
        lost: clocks of schedulers without an issued instruction, by reason.
        busy: clocks for which each pipe was occupied; for pipes with a part per scheduler, the sum
            over all four.
        moved: bytes from and to L2.
    """

    clocks: float = 0.0
    issued: Counts = field(default_factory=lambda: defaultdict(float))
    lost: Counts = field(default_factory=lambda: defaultdict(float))
    busy: Counts = field(default_factory=lambda: defaultdict(float))
    moved: Counts = field(default_factory=lambda: defaultdict(float))

    @property
    def counts(self) -> tuple[Counts, ...]:
        """All counts except the clocks themselves."""
        return self.issued, self.lost, self.busy, self.moved

    def copied(self) -> tuple[Counts, ...]:
        """A copy of the current counts."""
        return tuple(one.copy() for one in self.counts)

    def wait(self, why: str, clocks: float) -> None:
        """Adds clocks, if `clocks` is positive, in which no scheduler issues an instruction."""
        self.lost[why] += max(clocks, 0) * SCHEDULERS
        self.clocks += max(clocks, 0)

    def add(self, other: Clocks, times: float) -> None:
        """Adds the counts of another multiprocessor, `times` times."""
        self.clocks += other.clocks * times
        for mine, more in zip(self.counts, other.counts, strict=True):
            for key, number in more.items():
                mine[key] += number * times

    def repeat(self, since: tuple[Counts, ...], times: float) -> None:
        """Adds the difference of the counts to those of `since`, `times` times."""
        for mine, before in zip(self.counts, since, strict=True):
            for key in list(mine):
                mine[key] += (mine[key] - before[key]) * times


class Warp:
    """A warp: its position, the clock from which it is ready, and the reason why not earlier.

    Args:
        number: index among all warps of the trace.
        block: index of its block.
        track: the instructions that it executes.
        repeats: the repeating stretches of the track.
        order: how many blocks of its multiprocessor begin before its own.
        unit: index of its multiprocessor.
        start: the clock at which the first block begins.

    Attributes:
        meetings: how often it has arrived at its cluster's barrier.
        seen: memory barrier → the last phase that it has waited for.
        waiting: the block barrier at which it waits: number of participating threads times 16, plus
            the barrier's number; 0: the whole block; None: it does not wait.
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
    """A quarter of a multiprocessor: its warps, its part of the pipes, its queue of memory
    instructions."""

    def __init__(self, warps: list[Warp]) -> None:
        self.warps = warps
        self.last = warps[0]
        self.queue: deque[float] = deque()
        self.line: list[Warp] = []
        self.pipes: dict[str, float] = dict.fromkeys(("fma", "alu", "tensor", "fp64", "special"), 0.0)
        self.next = 0.0
        self.idle: tuple[float, list[str]] | None = None
