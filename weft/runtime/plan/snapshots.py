"""Snapshots of buffers after launches, to compare with intermediate values of the payload: they
show errors that later launches hide.

A plan with snapshots copies a buffer that a launch has written into an additional output, directly
after the launch. A plan with one launch has none: its buffers are outputs, or are never read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from ...dsl.records import record
from .plan import AnyStep, Buffer, BufferView, Copy, Launch, Plan, views
from .resolve import fold

if TYPE_CHECKING:
    from .sizes import Size


@record
class Snapshot:
    """A buffer after a launch.

    Args:
        name: the name of the output that holds it.
        launch: the number of the launch among those of the plan, from 0.
        kernel: the kernel of that launch.
        buffer: the buffer that is copied.
        wanted: names of values of the payload; the buffer must equal one of them.
        other: names of further values that it may equal.
    """

    name: str
    launch: int
    kernel: str
    buffer: str
    wanted: tuple[str, ...]
    other: tuple[str, ...]


def with_snapshots(plan: Plan, snapshots: Sequence[Snapshot]) -> Plan:
    """The plan with a copy of each snapshot's buffer after its launch, on its stream; waits for the
    launch become waits for the copy."""
    if not snapshots:
        return plan
    buffers = {b.name: b for b in plan.buffers}
    added = [Buffer(s.name, buffers[s.buffer].dtype, buffers[s.buffer].shape, "output") for s in snapshots]
    steps: list[AnyStep] = []
    moved: dict[int, int] = {}
    launches = 0
    for number, step in enumerate(plan.steps):
        steps.append(replace(step, after=tuple(moved[n] for n in step.after)))
        if isinstance(step, Launch):
            for one in (s for s in snapshots if s.launch == launches):
                steps.append(
                    Copy(
                        source=_whole(buffers[one.buffer]),
                        target=_whole(replace(buffers[one.buffer], name=one.name)),
                        stream=step.stream,
                        in_version=step.in_version,
                    )
                )
            launches += 1
        moved[number] = len(steps) - 1
    return replace(plan, buffers=(*plan.buffers, *added), steps=tuple(steps))


def _whole(buffer: Buffer) -> BufferView:
    def times(inner: Size, size: Size) -> Size:
        return fold("mul", inner, size)

    strides = [*accumulate(reversed(buffer.shape[1:]), times, initial=1)] if buffer.shape else []
    return BufferView(buffer.name, 0, buffer.shape, tuple(reversed(strides)))


def touched(step: Launch) -> list[str | None]:
    """For each argument of a launch, the buffer of its window; None for a scalar."""
    shown = {place: view.buffer for place, view in views(step)}
    return [shown.get(f"args[{n}]", shown.get(f"args[{n}].tensor")) for n in range(len(step.args))]
