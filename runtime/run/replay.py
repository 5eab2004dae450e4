"""A plan's device work once more, and once more: issued from the host each time, or captured into a graph and replayed."""

from __future__ import annotations

import time
from collections.abc import Sequence

from .actions import Action
from .device import Device, Graph, Replayed
from .pool import Pool

WHOLE_DEVICE = 0
"""The stream that everything runs on which no step orders otherwise."""


class Replay:
    """All that one run takes, worked out.

    Args:
        pool: has the plan's streams, and the events, of which these are kept.
        actions: in order. Their memory must stay.
    """

    def __init__(self, device: Device, pool: Pool, actions: Sequence[Action]) -> None:
        self.device = device
        self.pool = pool
        self.actions = actions
        self.first = pool.streams[WHOLE_DEVICE]
        self.others = [stream for number, stream in pool.streams.items() if number != WHOLE_DEVICE]
        self.fork, *self.joins = [pool.take() for _ in (None, *self.others)]
        self.graph: Graph | None = None

    def issue(self) -> None:
        """All streams start behind the first one, and it ends behind all of them."""
        record, wait = self.device.record, self.device.wait
        if self.others:
            record(self.fork, self.first)
        for stream in self.others:
            wait(stream, self.fork)
        for action in self.actions:
            action()
        for stream, event in zip(self.others, self.joins, strict=True):
            record(event, stream)
            wait(self.first, event)

    def capture(self) -> None:
        """Make a graph of it. Nothing is done yet."""
        self.graph = self.pool.capture(self.first, self.issue)

    def start(self) -> Sequence[Replayed]:
        """Launch the graph, or issue everything. What a simulator found when it launched the graph."""
        if self.graph is not None:
            return self.device.launch_graph(self.graph, self.first)
        self.issue()
        return ()

    def measure(self, times: int) -> list[tuple[float, float]]:
        """For each of so many runs, its seconds (by the device's clock, or the caller's where it keeps no time), and how long the
        host took to issue it."""
        if not times:
            return []
        start, end = self.pool.take(), self.pool.take()
        found: list[tuple[float, float]] = []
        for _ in range(times):
            begun = time.perf_counter()
            self.device.record(start, self.first)
            issuing = time.perf_counter()
            self.start()
            issued = time.perf_counter() - issuing
            self.device.record(end, self.first)
            self.device.synchronize()
            mine = time.perf_counter() - begun
            theirs = self.device.elapsed(start, end)
            found.append((mine if theirs is None else theirs, issued))
        return found
