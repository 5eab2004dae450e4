"""What a runner calls, again and again, to have a plan's device work done: everything about a step worked out once.

The memory must stay where it is as long as the actions are used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from ..plan.dtypes import narrow
from ..plan.plan import Alloc, AnyStep, Arg, BufferView, Copy, Fill, Free, Launch, Plan, ScalarValue
from ..simulator.report import LaunchReport
from .device import Device, Event, Memory, Stream, View
from .issue import Command
from .pool import Pool

Action = Callable[[], object]


class Actions:
    """The actions of one plan's steps, on a device, on these streams."""

    def __init__(self, plan: Plan, device: Device, streams: Mapping[int, Stream]) -> None:
        self.plan = plan
        self.device = device
        self.streams = streams
        self.dtypes = {b.name: b.dtype for b in plan.buffers}
        self.kernels = {k.name: k for k in plan.kernels}

    def of(self, step: AnyStep, memory: Mapping[str, Memory]) -> Callable[[], LaunchReport | None] | None:
        """What does a copy, a fill or a launch; None for one of nothing, and for memory that comes and goes."""
        stream = self.streams[step.stream]
        match step:
            case Alloc() | Free():
                return None
            case Copy():
                return self.device.copier(self._view(step.target, memory), self._view(step.source, memory), stream)
            case Fill():
                return self.device.filler(self._view(step.target, memory), scalar(step.value), stream)
            case Launch():
                return None if 0 in step.grid else self._launch(step, memory, stream)

    def _launch(
        self, step: Launch, memory: Mapping[str, Memory], stream: Stream
    ) -> Callable[[], LaunchReport | None]:
        args = [self._argument(a, memory) for a in step.args]
        kernel, grid, block = self.kernels[step.kernel], triple(step.grid), triple(step.block)
        return self.device.launcher(kernel, grid, block, int(step.shared_bytes), args, stream)  # type: ignore[arg-type]

    def _argument(self, arg: Arg, memory: Mapping[str, Memory]) -> View | np.generic:
        return scalar(arg) if isinstance(arg, ScalarValue) else self._view(arg, memory)

    def _view(self, view: BufferView, memory: Mapping[str, Memory]) -> View:
        shape, strides = integers(view.shape), integers(view.strides)
        return View(memory[view.buffer], view.buffer, self.dtypes[view.buffer], int(view.offset), shape, strides)  # type: ignore[arg-type]

    def replayed(self, commands: Sequence[Command], memory: Mapping[str, Memory], pool: Pool) -> list[Action]:
        """All of the commands but allocating and freeing, to be called in order, as often as one likes.

        Args:
            memory: of all buffers, temporaries too.
            pool: has the events, which are then used by nobody else.
        """
        events: dict[int, Event] = {}
        free: list[Event] = []
        found: list[Action] = []
        for command in commands:
            match command.action:
                case "do":
                    action = self.of(self.plan.steps[command.step], memory)
                    found += [action] if action is not None else []
                case "record":
                    event = events[command.step] = free.pop() if free else pool.take()
                    found.append(partial(self.device.record, event, self.streams[command.stream]))
                case "wait":
                    found.append(partial(self.device.wait, self.streams[command.stream], events[command.step]))
                case "release":
                    free.append(events.pop(command.step))
        return found


def scalar(arg: ScalarValue) -> np.generic:
    return narrow(np.array([arg.value]), arg.dtype)[0]


def integers(sizes: Sequence[object]) -> tuple[int, ...]:
    return tuple(int(s) for s in sizes)  # type: ignore[call-overload]


def triple(sizes: Sequence[object]) -> tuple[int, int, int]:
    x, y, z = integers(sizes)
    return x, y, z
