"""The streams, events and graphs of one run: made once, used again and again, all destroyed at the end, whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack

from .device import Device, Event, Graph, Stream


class Pool:
    """Streams by number, and events.

    Attributes:
        created, destroyed: how many streams; `events_created`, `events_destroyed`, `graphs_created` and
            `graphs_destroyed`: how many of those.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.streams: dict[int, Stream] = {}
        self.created = self.destroyed = 0
        self.events_created = self.events_destroyed = 0
        self.graphs_created = self.graphs_destroyed = 0
        self._graphs: list[Graph] = []
        self._free: list[Event] = []
        self._all: list[Event] = []

    def open(self, numbers: Iterable[int]) -> None:
        """Make a stream for each number."""
        for number in numbers:
            self.streams[number] = self.device.create_stream()
            self.created += 1

    def take(self) -> Event:
        """An event that nobody has."""
        if self._free:
            return self._free.pop()
        event = self.device.create_event()
        self.events_created += 1
        self._all.append(event)
        return event

    def give_back(self, event: Event) -> None:
        """Nobody waits for it any more, who has not been told to already."""
        self._free.append(event)

    def capture(self, stream: Stream, issue: Callable[[], None]) -> Graph:
        """The graph of what `issue` issues to `stream`, and to others that it joins. If that fails, nothing is left of it."""
        with ExitStack() as stack:
            stack.callback(self.device.abandon_capture, stream)
            self.device.begin_capture(stream)
            issue()
            graph = self.device.end_capture(stream)
            self._graphs.append(graph)
            self.graphs_created += 1
            stack.pop_all()
        return graph

    def close(self) -> None:
        """Destroy everything, also what comes after something that fails, and what was never given back."""
        with ExitStack() as stack:
            for graph in self._graphs:
                stack.callback(self._destroy_graph, graph)
            for stream in self.streams.values():
                stack.callback(self._destroy_stream, stream)
            for event in self._all:
                stack.callback(self._destroy_event, event)
            self.streams.clear()
            self._all, self._free, self._graphs = [], [], []

    def _destroy_graph(self, graph: Graph) -> None:
        self.graphs_destroyed += 1
        self.device.destroy_graph(graph)

    def _destroy_stream(self, stream: Stream) -> None:
        self.destroyed += 1
        self.device.destroy_stream(stream)

    def _destroy_event(self, event: Event) -> None:
        self.events_destroyed += 1
        self.device.destroy_event(event)
