"""Graphs on a test's device that does everything when it is told: what is issued while a stream captures is done later.

The rules are those of CUDA's stream capture: a stream that waits for an event of the capture joins it, the streams' order and
the events become the graph's edges, and every stream must be joined to the first before the capture ends.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from weft.dsl.diagnostics import fail
from weft.runtime.devices.device import DeviceView, Number, Replayed
from weft.runtime.devices.report import LaunchReport, Race
from weft.runtime.plan.plan import KernelEntry


@dataclass(frozen=True)
class Node:
    """One thing to do once the nodes `after` are done; it was captured on `stream`. `kernel`: the name of what is launched."""

    call: Callable[[], LaunchReport | None]
    after: frozenset[int]
    stream: Hashable
    kernel: str | None = None


@dataclass(eq=False)
class Recorded:
    """A graph: its nodes, in an order in which they may be done."""

    nodes: tuple[Node, ...]
    destroyed: bool = False

    def order(self, seed: int | None) -> list[int]:
        """The nodes as they were captured, or in any order that their edges allow, as `seed` says."""
        if seed is None:
            return list(range(len(self.nodes)))
        draw = random.Random(seed)
        missing = [len(node.after) for node in self.nodes]
        behind: list[list[int]] = [[] for _ in self.nodes]
        for number, node in enumerate(self.nodes):
            for earlier in node.after:
                behind[earlier].append(number)
        ready = [number for number, count in enumerate(missing) if not count]
        order: list[int] = []
        while ready:
            number = ready.pop(draw.randrange(len(ready)))
            order.append(number)
            for later in behind[number]:
                missing[later] -= 1
                if not missing[later]:
                    ready.append(later)
        return order


@dataclass
class Capture:
    """A capture under way.

    Args:
        fronts: by stream of the capture, the nodes that what comes next on it waits for.
        marks: by event that was recorded in it, the nodes that it stands for.
    """

    origin: Hashable
    nodes: list[Node] = field(default_factory=list)
    fronts: dict[Hashable, frozenset[int]] = field(default_factory=dict)
    marks: dict[Hashable, frozenset[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.fronts[self.origin] = frozenset()

    def add(self, stream: Hashable, call: Callable[[], LaunchReport | None], kernel: str | None) -> None:
        number = len(self.nodes)
        self.nodes.append(Node(call, self.fronts[stream], stream, kernel))
        self.fronts[stream] = frozenset({number})

    def wait(self, stream: Hashable, event: Hashable) -> None:
        self.fronts[stream] = self.fronts.get(stream, frozenset()) | self.marks[event]

    def end(self) -> Recorded:
        """The graph. W0724 where a stream was not joined."""
        reached, found = list(self.fronts[self.origin]), set(self.fronts[self.origin])
        while reached:
            new = self.nodes[reached.pop()].after - found
            found |= new
            reached += new
        lost = set(range(len(self.nodes))) - found
        if lost:
            raise fail("W0724", f"{len(lost)} of {len(self.nodes)} captured steps are on streams that nothing joins")
        return Recorded(tuple(self.nodes))


class Capturing:
    """Base of such devices: what they need beside `launch`, `copy` and `fill`, which do it at once.

    Attributes:
        capture: the capture under way.
        graphs: how many graphs there are.
        order: a seed: a graph is done in any order that its edges allow; None: as it was captured.
        unordered: what a device that looks found on different streams.
    """

    capture: Capture | None = None
    graphs: int = 0
    order: int | None = None

    @property
    def unordered(self) -> Sequence[Race]:
        return ()

    def launch(self, *what: Any) -> LaunchReport | None:
        raise NotImplementedError

    def copy(self, target: DeviceView, source: DeviceView, stream: Any) -> None:
        raise NotImplementedError

    def fill(self, target: DeviceView, value: np.generic, stream: Any) -> None:
        raise NotImplementedError

    # ---- device work, now or later -------------------------------------------------------------------------------------

    def launcher(
        self,
        kernel: KernelEntry,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared_bytes: int,
        args: Sequence[DeviceView | Number | np.generic],
        stream: Any,
    ) -> Callable[[], LaunchReport | None]:
        do = partial(self.launch, kernel, grid, block, shared_bytes, args, stream)
        return partial(self._issue, stream, do, kernel.name)

    def copier(self, target: DeviceView, source: DeviceView, stream: Any) -> Callable[[], None]:
        return partial(self._issue, stream, partial(self.copy, target, source, stream))

    def filler(self, target: DeviceView, value: np.generic, stream: Any) -> Callable[[], None]:
        return partial(self._issue, stream, partial(self.fill, target, value, stream))

    def _issue(self, stream: Any, do: Callable[[], Any], kernel: str | None = None) -> Any:
        if self.capture is not None and stream in self.capture.fronts:
            self.capture.add(stream, do, kernel)
            return None
        return do()

    # ---- capture -------------------------------------------------------------------------------------------------------

    def record_captured(self, event: Any, stream: Any) -> bool:
        """Whether `event` was recorded in a capture."""
        if self.capture is None or stream not in self.capture.fronts:
            return False
        self.capture.marks[event] = self.capture.fronts[stream]
        return True

    def wait_captured(self, stream: Any, event: Any) -> bool:
        """Whether `stream` waits in a capture; it joins one that the event is from."""
        if self.capture is None:
            return False
        if event in self.capture.marks:
            self.capture.wait(stream, event)
            return True
        if stream in self.capture.fronts:
            raise fail("W0724", "a stream that is captured waits for an event from outside the capture")
        return False

    def expect_no_capture(self, what: str) -> None:
        """Refuse what a graph cannot hold."""
        if self.capture is not None:
            raise fail("W0724", f"{what} is nothing that a graph can hold")

    def begin_capture(self, stream: Any) -> None:
        self.expect_no_capture("a second capture")
        self.capture = Capture(stream)

    def end_capture(self, stream: Any) -> Recorded:
        if self.capture is None or self.capture.origin != stream:
            raise fail("W0724", "a capture is ended where none was begun")
        made, self.capture = self.capture, None
        graph = made.end()
        self.graphs += 1
        return graph

    def abandon_capture(self, stream: Any) -> None:
        self.capture = None

    def launch_graph(self, graph: Recorded, stream: Any) -> Sequence[Replayed]:
        if graph.destroyed:
            raise fail("W0724", "a graph is launched after it was destroyed")
        found: list[Replayed] = []
        for number in graph.order(self.order):
            node = graph.nodes[number]
            report = node.call()
            if report is not None and node.kernel is not None:
                found.append((node.kernel, report))
        return found

    def destroy_graph(self, graph: Recorded) -> None:
        if graph.destroyed:
            raise fail("W0724", "a graph is destroyed twice")
        graph.destroyed = True
        self.graphs -= 1
