"""Windows that move with the iterations of a loop: `iv * stride + offset`. In which iterations do two of them meet?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...ir.mlir import ir
from ..forms.linear import Linear, Symbol
from .events import Event
from .tokens import trip_count
from .windows import Window

WALKED = 64
"""Loops of at most so many iterations are walked one by one (`control_flow.py`); of others each stands for many."""

MOST_MEETINGS = 64


@dataclass(frozen=True)
class _Placed:
    """A window as it is in iteration `turn` of a loop (of the iterations `around` it): shifted by `stride * turn`."""

    window: Window
    counter: Symbol | None = None
    stride: int = 0
    turn: int = 0
    around: tuple[int, ...] = ()


def apart(
    first: Event, one: Window, second: Event, other: Window, counters: Mapping[Symbol, ir.Operation]
) -> bool:
    """Whether two windows into one buffer certainly share no element, in the iterations in which the two events happen.

    Args:
        counters: the loops whose iterations the symbols in windows count.
    """
    here, there = _placed(first, one, counters), _placed(second, other, counters)
    if here is None or there is None:
        return False
    if here.counter is not there.counter or here.stride != there.stride:
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


def _placed(event: Event, window: Window, counters: Mapping[Symbol, ir.Operation]) -> _Placed | None:
    part = window.part
    if part is None:
        return _Placed(window)
    if part.start is None or part.dims is None:
        return None
    turns: dict[Symbol, int] = {}
    for symbol in part.start.symbols():
        loop = counters[symbol]
        if loop not in event.loops:  # it runs inside of the event, or its iterations are over
            return None
        trips = trip_count(loop)
        if trips is not None and trips <= WALKED:
            turns[symbol] = event.path[event.loops.index(loop)]
    start = part.start.replaced(lambda symbol: Linear.of(turns.get(symbol, symbol)))
    still = Window(window.buffer, start.constant, part.dims)
    if start.is_constant:
        return _Placed(still)
    counter, *others = start.terms
    if others or not isinstance(counter, Symbol):
        return None
    depth = event.loops.index(counters[counter])
    return _Placed(still, counter, start.terms[counter], event.path[depth], event.path[:depth])
