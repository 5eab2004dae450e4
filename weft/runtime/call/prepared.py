"""A plan prepared for arrays of one layout on one stream: a call only supplies the addresses."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from ..devices.device import Graph, Stream
from ..plan.dtypes import itemsize
from ..plan.plan import Plan, integers
from ..plan.resolve import resolve
from ..run.runner import contents
from ..run.work import WHOLE_DEVICE, Action, Pool, Work
from .arrays import LIBRARIES
from .targets import CallDevice, Target

Numbers = Sequence[tuple[Any, ...]]
"""Scalars, each as a tuple of its type and its value."""


class Prepared:
    """A plan with its temporaries allocated, streams and events created, and launches bound, all of
    which each call reuses.

    Args:
        plan: with symbols for dynamic sizes.
        device: where it runs.
        shapes, scalars: their values.
        names: of the arrays, in the order of a call's addresses.
        stream: the caller's stream, on which the work begins and ends.
        free: scalars that each call supplies, in this order.

    Attributes:
        shapes, sizes: dimensions and bytes of each buffer, by name.
        at, given: the addresses of the last call, and its numbers for the free scalars.
        alive: objects that keep the memory of the last call's arrays alive.

    Errors: those of `resolve` and of the device. Nothing stays allocated then.
    """

    def __init__(
        self,
        plan: Plan,
        device: CallDevice,
        shapes: Mapping[str, tuple[int, ...]],
        scalars: Mapping[str, int | float | bool],
        names: Sequence[str],
        stream: Stream,
        free: Sequence[str] = (),
    ) -> None:
        self.at: Sequence[int] = ()
        self.given: Numbers = ()
        self._free = free
        fixed = resolve(plan, shapes, scalars)
        self.device = device
        self.pool = Pool(device)
        self.pool.streams[WHOLE_DEVICE] = stream
        self.work = Work(fixed, device, self.pool)
        self.shapes = {b.name: integers(b.shape) for b in fixed.buffers}
        self.sizes = {b.name: prod(self.shapes[b.name]) * itemsize(b.dtype) for b in fixed.buffers}
        moving: dict[str, Any] = {}
        self.alive: Sequence[object] = ()
        weakref.finalize(
            self, _give_back, self.pool, self.work, names
        ).atexit = False  # also if the rest of the constructor fails
        for buffer in fixed.buffers:
            if buffer.role == "constant":
                self.work.alloc(buffer)
                self.device.upload(self.work.memory[buffer.name], contents(buffer, {}), stream)
            elif buffer.role != "temp":
                moving[buffer.name] = self.work.memory[buffer.name] = self.device.adopt(0, self.sizes[buffer.name])
        self.actions: Sequence[Action] = self.work.again(poison=False)
        self._moving = [moving[name] for name in names]

    def run(self, addresses: Sequence[int], numbers: Numbers) -> None:
        """Issues all work to the stream, for these addresses and numbers. Calls must be serialized,
        since they share temporaries."""
        self._move(addresses, numbers)
        for action in self.actions:
            action()

    def capture(self, addresses: Sequence[int], numbers: Numbers) -> Graph:
        """Captures all work as one graph, for the arrays at these addresses and with these numbers."""
        self._move(addresses, numbers)
        return self.pool.capture(self.pool.stream(WHOLE_DEVICE), self.actions)

    def _move(self, addresses: Sequence[int], numbers: Numbers) -> None:
        if addresses != self.at:
            for memory, address in zip(self._moving, addresses, strict=True):
                memory.address = address
            self.at = addresses
        if numbers != self.given:
            values = {name: value for name, (_, value, *_) in zip(self._free, numbers, strict=True)}
            for (name, _), number in self.work.numbers.items():
                number.set(values[name])
            self.given = numbers


def _give_back(pool: Pool, work: Work, names: Sequence[str]) -> None:
    """Frees the memory, streams and events of the calls once nothing refers to them. Issued work
    still completes."""
    pool.close()
    for name in names:
        work.memory.pop(name, None)
    work.free_all()


class CapturedGraph:
    """A captured call: calling it repeats the call with the arrays and numbers of the capture, and
    returns its results.

    Args:
        kept: objects that must live as long as the graph.
    """

    def __init__(
        self, target: Target, prepared: Prepared, addresses: Sequence[int], numbers: Numbers, kept: object, results: Any
    ) -> None:
        self._target, self._prepared, self._kept, self.results = target, prepared, kept, results
        self._graph = prepared.capture(addresses, numbers)

    def __call__(self, stream: Any = None) -> Any:
        """Issues the graph to `stream`; to CuPy's current stream if None."""
        self._target.device.launch_graph(self._graph, self._target.stream(stream, LIBRARIES["cupy"]))
        return self.results
