"""The resources of a plan's steps on a device: actions, memory, events and graphs.

A step that steps on other streams wait for records an event directly after it. The event is reused
once the last wait has been issued: in CUDA, waits keep their meaning when an event is recorded
again (`cudaStreamWaitEvent`).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from math import prod
from typing import Any

import numpy as np

from ...dsl.diagnostics import fail
from ...interpreter.hardware import limits
from ..devices.device import Action, Device, DeviceView, Event, Graph, MappedView, Memory, Number, Passed, Stream
from ..plan.dtypes import itemsize, narrow, poison_byte
from ..plan.plan import (
    Alloc,
    AnyStep,
    Arg,
    Buffer,
    BufferView,
    Copy,
    Fill,
    Free,
    Launch,
    Plan,
    ScalarOf,
    ScalarValue,
    TensorMapOf,
    integers,
    triple,
)
from ..plan.storage import storage_bytes

WHOLE_DEVICE = 0
"""The stream of everything that no step puts on another one."""


class Pool:
    """The streams, events and graphs of one run; all are destroyed at the end, also after a
    failure.

    Attributes:
        streams: by number.
        created, destroyed: counts of `streams`, `events` and `graphs`.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.streams: dict[int, Stream] = {}
        self.created: Counter[str] = Counter()
        self.destroyed: Counter[str] = Counter()
        self._free: list[Event] = []
        self._made = ExitStack()

    def _created(self, kind: str, thing: Any, destroy: Callable[[Any], None]) -> Any:
        def gone() -> None:
            self.destroyed[kind] += 1
            destroy(thing)

        self.created[kind] += 1
        self._made.callback(gone)
        return thing

    def stream(self, number: int) -> Stream:
        if number not in self.streams:
            device = self.device
            self.streams[number] = self._created("streams", device.create_stream(), device.destroy_stream)
        return self.streams[number]

    def take(self) -> Event:
        """An event that is not in use."""
        if self._free:
            return self._free.pop()
        return self._created("events", self.device.create_event(), self.device.destroy_event)

    def give_back(self, *events: Event) -> None:
        """Makes events available for reuse: all waits for them have been issued."""
        self._free += events

    def capture(self, stream: Stream, actions: Sequence[Action]) -> Graph:
        """The graph of the work that `actions` issue to `stream`, and to others that join; a failed
        capture is released."""
        with ExitStack() as stack:
            stack.callback(self.device.abandon_capture, stream)
            self.device.begin_capture(stream)
            for action in actions:
                action()
            graph = self._created("graphs", self.device.end_capture(stream), self.device.destroy_graph)
            stack.pop_all()
        return graph

    def close(self) -> None:
        """Destroys everything, also when one destruction fails, and including what was never given
        back."""
        self.streams.clear()
        self._free = []
        self._made.close()


class Work:
    """The work of one plan's steps, on a device, with its memory.

    Args:
        order: in which the steps are issued; it must respect streams and events. None: the plan's
            order.

    Attributes:
        memory: of the buffers that are allocated, by name.
        storage: what temporaries share, once one is allocated.
        numbers: scalars that the plan leaves open, by name and type.
    """

    def __init__(self, plan: Plan, device: Device, pool: Pool, order: Sequence[int] | None = None) -> None:
        self.plan, self.device, self.pool = plan, device, pool
        self.order = range(len(plan.steps)) if order is None else order
        self.buffers = {b.name: b for b in plan.buffers}
        self.kernels = {k.name: k for k in plan.kernels}
        self.memory: dict[str, Memory] = {}
        self.storage: Memory | None = None
        self.numbers: dict[tuple[str, str], Number] = {}
        self._check_shared()

    def _check_shared(self) -> None:
        """Raises W0726 for too much shared memory, before anything is launched."""
        for step in self.plan.steps:
            if not isinstance(step, Launch) or 0 in step.grid:
                continue
            needed = self.kernels[step.kernel].shared_bytes + integers([step.shared_bytes])[0]
            if needed > self.device.most_shared:
                message = f"a block of `{step.kernel}` needs {needed} bytes of shared memory"
                hint = (
                    f"`tile` by smaller sizes, `pipeline` with fewer `stages`, or take a chip that has as much:"
                    f" {limits.chips_with(needed)}"
                )
                raise fail("W0726", f"{message}, and {self.device.name} has {self.device.most_shared}", hint=hint)

    # ---- memory ----------------------------------------------------------------------------------

    def alloc(self, buffer: Buffer, poison: Stream | None = None) -> None:
        """Allocates memory for a buffer, and fills it with poison if a stream for that is given.

        A temporary that the plan never frees keeps its memory from an earlier run of the steps.
        """
        if buffer.name not in self.memory:
            count = prod(integers(buffer.shape))
            if buffer.place is None:
                self.memory[buffer.name] = self.device.alloc(buffer.name, buffer.dtype, count)
            else:
                if self.storage is None:
                    narrowest = min((b.dtype for b in self.plan.buffers if b.role == "temp"), key=itemsize)
                    size = storage_bytes(self.plan) // itemsize(narrowest)
                    self.storage = self.device.alloc("temporaries", narrowest, size)
                part = self.device.part(self.storage, buffer.name, buffer.dtype, count, buffer.place)
                self.memory[buffer.name] = part
        if poison is not None:
            self.device.poison(self.memory[buffer.name], poison_byte(buffer.dtype), poison)

    def free(self, name: str) -> None:
        self.device.free(self.memory.pop(name))

    def free_all(self) -> None:
        """Frees all memory, also when one free fails."""
        with ExitStack() as stack:
            if self.storage is not None:
                stack.callback(self.device.free, self.storage)
                self.storage = None
            for name in self.memory:
                stack.callback(self.free, name)

    # ---- steps -----------------------------------------------------------------------------------

    def once(self, *, poison: bool) -> Iterator[tuple[int | None, Action]]:
        """The actions of one run of the steps, including allocations and frees; each must be called
        before the next is requested. Each has its step's number, None for events. `poison`: fill
        allocated memory with poison."""
        last_wait = {earlier: i for i in self.order for earlier in self._awaited(self.plan.steps[i])}
        events: dict[int, Event] = {}
        for i in self.order:
            step = self.plan.steps[i]
            stream = self.pool.stream(step.stream)
            awaited = self._awaited(step)
            for earlier in awaited:
                yield None, partial(self.device.wait, stream, events[earlier])
            self.pool.give_back(*(events.pop(earlier) for earlier in awaited if last_wait[earlier] == i))
            match step:
                case Alloc():
                    yield i, partial(self.alloc, self.buffers[step.buffer], stream if poison else None)
                case Free():
                    yield i, partial(self.free, step.buffer)
                case _ if (action := self.of(step, stream)) is not None:
                    yield i, action
            if i in last_wait:
                events[i] = self.pool.take()
                yield None, partial(self.device.record, events[i], stream)

    def _awaited(self, step: AnyStep) -> list[int]:
        """The steps on other streams that it waits for with events; those on its own stream are
        done before."""
        return [earlier for earlier in dict.fromkeys(step.after) if self.plan.steps[earlier].stream != step.stream]

    def again(self, *, poison: bool) -> list[Action]:
        """The actions of a run of the steps, in order, to be called repeatedly. Temporaries are
        allocated now, and stay. All streams begin after the first one, which ends after all of
        them."""
        first, record, wait = self.pool.stream(WHOLE_DEVICE), self.device.record, self.device.wait
        for step in self.plan.steps:
            if isinstance(step, Alloc):
                self.alloc(self.buffers[step.buffer], first if poison else None)
        others = [stream for number, stream in self.pool.streams.items() if number != WHOLE_DEVICE]
        fork, *joins = [self.pool.take() for _ in (None, *others)]
        found: list[Action] = [partial(record, fork, first)] if others else []
        found += [partial(wait, stream, fork) for stream in others]
        for number, action in self.once(poison=False):
            if number is None or not isinstance(self.plan.steps[number], Alloc | Free):
                found.append(action)
        for stream, event in zip(others, joins, strict=True):
            found += [partial(record, event, stream), partial(wait, first, event)]
        return found

    def of(self, step: AnyStep, stream: Stream) -> Action | None:
        """The prepared action of a copy, a fill or a launch; None for an empty launch. The memory
        must keep its address while the action is in use."""
        match step:
            case Copy():
                return self.device.copier(self._view(step.target), self._view(step.source), stream)
            case Fill():
                return self.device.filler(self._view(step.target), scalar(step.value), stream)
            case Launch() if 0 not in step.grid:
                args = list(map(self._argument, step.args))
                if self.device.wants == "cuda":
                    args += map(np.int64, integers(step.reciprocals))
                (shared,) = integers([step.shared_bytes])
                kernel, grid = self.kernels[step.kernel], triple(step.grid)
                launched = kernel.text_grid(grid) if self.device.wants == "cuda" else grid
                return self.device.launcher(kernel, launched, triple(step.block), shared, args, stream)
        return None

    def _argument(self, arg: Arg) -> Passed:
        if isinstance(arg, TensorMapOf):
            return MappedView(self._view(arg.tensor), arg.layout)
        if not isinstance(arg, ScalarValue):
            return self._view(arg)
        if not isinstance(arg.value, ScalarOf):
            return scalar(arg)
        return self.numbers.setdefault((arg.value.name, arg.dtype), Number(arg.dtype))

    def _view(self, view: BufferView) -> DeviceView:
        name, (offset,) = view.buffer, integers([view.offset])
        dtype = self.buffers[name].dtype
        return DeviceView(self.memory[name], name, dtype, offset, integers(view.shape), integers(view.strides))


def scalar(arg: ScalarValue) -> np.generic:
    return narrow(np.array([arg.value]), arg.dtype)[0]


def interleaved(steps: Sequence[AnyStep], seed: int) -> list[int]:
    """The numbers of the steps in one legal order, chosen by `seed`.

    With an odd seed, a stream runs on as long as it can; with an even one, the stream is drawn
    again at every step.
    """
    draw = random.Random(seed)
    queues: dict[int, list[int]] = {}
    for i in reversed(range(len(steps))):
        queues.setdefault(steps[i].stream, []).append(i)
    waiters: dict[int, list[int]] = {}
    missing = [0] * len(steps)
    for i, step in enumerate(steps):
        for earlier in set(step.after):
            missing[i] += 1
            waiters.setdefault(earlier, []).append(i)
    ready = [stream for stream, queue in sorted(queues.items()) if not missing[queue[-1]]]
    order: list[int] = []
    while ready:
        at = len(ready) - 1 if seed % 2 and order else draw.randrange(len(ready))
        stream = ready.pop(at)
        number = queues[stream].pop()
        order.append(number)
        woken = []
        for waiter in waiters.get(number, ()):
            missing[waiter] -= 1
            queue = queues[steps[waiter].stream]
            if not missing[waiter] and queue[-1] == waiter and steps[waiter].stream != stream:
                woken.append(steps[waiter].stream)
        draw.shuffle(woken)
        ready += woken
        if queues[stream] and not missing[queues[stream][-1]]:
            ready.append(stream)
    return order
