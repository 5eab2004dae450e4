"""Windows that move with the iterations of a loop: `iv * stride + offset`. In which iterations do two of them meet?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...ir.mlir import ir
from .events import Event
from .tokens import constant, trip_count
from .windows import Window

WALKED = 64
"""Loops of at most so many iterations are walked one by one (`control_flow.py`); of others each stands for many."""

MOST_MEETINGS = 64


@dataclass(frozen=True)
class _Placed:
    """A window as it is in iteration `turn` of a loop (of the iterations `around` it): shifted by `stride * turn`."""

    window: Window
    loop: ir.Operation | None = None
    stride: int = 0
    turn: int = 0
    around: tuple[int, ...] = ()


def apart(first: Event, one: Window, second: Event, other: Window) -> bool:
    """Whether two windows into one buffer certainly share no element, in the iterations in which the two events happen."""
    if one.part is None and other.part is None:
        return one.disjoint(other)
    here, there = _placed(first, one), _placed(second, other)
    if here is None or there is None:
        return False
    if here.loop is None and there.loop is None:
        return here.window.disjoint(there.window)
    if here.loop is None or there.loop is None or here.loop != there.loop or here.stride != there.stride:
        return False
    if here.around == there.around and here.turn == there.turn:
        return here.window.disjoint(there.window)
    return _never_meet(here, there, same=here.around != there.around)


def _never_meet(here: _Placed, there: _Placed, same: bool) -> bool:
    """Whether two windows are apart in any two iterations; `same`: in the same one, too."""
    mine, theirs, stride = here.window.extent, there.window.extent, abs(here.stride)
    if mine is None or theirs is None or not stride:
        return here.window.disjoint(there.window)
    nearest, farthest = -((theirs[1] - mine[0]) // stride), (mine[1] - theirs[0]) // stride
    if farthest - nearest >= MOST_MEETINGS:
        return False
    shifted = (replace(there.window, offset=there.window.offset + k * stride) for k in range(nearest, farthest + 1) if k or same)
    return all(here.window.disjoint(window) for window in shifted)


def _placed(event: Event, window: Window) -> _Placed | None:
    part = window.part
    if part is None:
        return _Placed(window)
    if not part.iteration or part.dims is None:
        return None
    loop = part.iteration[0].owner.owner.operation
    if loop not in event.loops:  # it runs inside of the event, or its iterations are over
        return None
    depth = event.loops.index(loop)
    first, _, step = (constant(v) or 0 for v in list(loop.operands)[:3])
    still = Window(window.buffer, part.offset + part.factor * first, part.dims)
    stride, turn = part.factor * step, event.path[depth]
    trips = trip_count(loop)
    if trips is not None and trips <= WALKED:
        return _Placed(replace(still, offset=still.offset + stride * turn))
    return _Placed(still, loop, stride, turn, event.path[:depth])
