"""Unordered accesses to one buffer, and uses of freed memory, found during the walk of a history.

Windows may move with the iterations of a loop (`iv * stride + offset`): `apart` determines the
iterations in which two windows overlap.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from ....dsl.records import record
from ...indices.arithmetic import trip_count
from ...indices.linear import Linear, Symbol
from ...ir.mlir import ancestors, ir, maker, producer
from ...memory.effects import accesses, shows_memory
from ...memory.views import way
from ..races.footprints import Footprints, Meeting
from .effects import Effect
from .events import LOOPS, Event, Touched, bits
from .history import History
from .windows import Aliasing, HostBuffer, Window

WALKED = 64
"""The most iterations for which a loop is walked iteration by iteration (`history.py`); in a longer
loop, one walked iteration represents many."""

MOST_MEETINGS = 64


@record
class _Placed:
    """A window in one iteration of a loop, shifted by `stride * iteration`. `around`: the
    iterations of the loops around that loop."""

    window: Window
    counter: Symbol | None = None
    stride: int = 0
    iteration: int = 0
    around: tuple[int, ...] = ()


def apart(first: Event, one: Window, second: Event, other: Window, counters: Mapping[Symbol, ir.Operation]) -> bool:
    """Whether two windows of one buffer certainly share no element, in the iterations in which the
    two events happen.

    Args:
        counters: the loop of each counter symbol in the windows.
    """
    here, there = _placed(first, one, counters), _placed(second, other, counters)
    if here is None or there is None:
        return False
    if here.counter is not there.counter or here.stride != there.stride:
        return False
    mine, theirs, stride, same = here.window.extent, there.window.extent, abs(here.stride), here.around == there.around
    if (same and here.iteration == there.iteration) or mine is None or theirs is None or not stride:
        return here.window.disjoint(there.window)
    nearest, farthest = -((theirs[1] - mine[0]) // stride), (mine[1] - theirs[0]) // stride
    if farthest - nearest >= MOST_MEETINGS:
        return False
    steps = (k * stride for k in range(nearest, farthest + 1) if k or not same)
    shifted = (replace(there.window, offset=there.window.offset + step) for step in steps)
    return all(here.window.disjoint(window) for window in shifted)


def _placed(event: Event, window: Window, counters: Mapping[Symbol, ir.Operation]) -> _Placed | None:
    part = window.part
    if part is None:
        return _Placed(window)
    if part.start is None or part.dims is None:
        return None
    iterations: dict[Symbol, int] = {}
    for symbol in part.start.symbols():
        loop = counters[symbol]
        if loop not in event.loops:  # the loop is inside the event, or has ended
            return None
        trips = trip_count(loop)
        if trips is not None and trips <= WALKED:
            iterations[symbol] = event.path[event.loops.index(loop)]
    start = part.start.replaced(lambda symbol: Linear.of(iterations.get(symbol, symbol)))
    still = Window(window.buffer, start.constant, part.dims)
    if start.is_constant:
        return _Placed(still)
    counter, *others = start.terms
    if others or not isinstance(counter, Symbol):
        return None
    depth = event.loops.index(counters[counter])
    return _Placed(still, counter, start.terms[counter], event.path[depth], event.path[:depth])


Hazard = Literal["RAW", "WAR", "WAW"]
FaultKind = Literal["unordered", "host", "used after free", "freed twice", "freed in use"]
Place = tuple[HostBuffer, tuple[int, ...] | None]
"""A buffer, and the iterations in which it was allocated; None: any iterations (a loop carries it)."""


@record
class MemoryFault:
    """Two events on one buffer: the second is not ordered after the first, or must never follow it
    (a use after a free).

    Args:
        assumed: it is not proven that the two events touch the same memory.
    """

    kind: FaultKind
    hazard: Hazard | None
    first: Event
    second: Event
    done: Effect
    wanted: Effect
    assumed: bool


@dataclass(eq=False)
class MemoryOrder:
    """Finds unordered memory accesses. Pass `watch` to a `History`.

    Args:
        may_alias: arguments of the function (and globals that are not constant) may overlap, unless
            they are marked otherwise.
    """

    may_alias: bool = False
    faults: list[MemoryFault] = field(default_factory=list)
    history: History = field(init=False)
    _touched: defaultdict[Place, Touched] = field(default_factory=lambda: defaultdict(Touched))
    _places: defaultdict[HostBuffer, set[Place]] = field(default_factory=lambda: defaultdict(set))
    _unknown: list[Place] = field(default_factory=list)
    _outside: list[Place] = field(default_factory=list)
    _reported: set[tuple[str, ir.Operation, ir.Operation]] = field(default_factory=set)
    _events: list[dict[Place, list[Effect]]] = field(default_factory=list)
    _chosen: list[frozenset[HostBuffer]] = field(default_factory=list)

    @cached_property
    def _aliasing(self) -> Aliasing:
        return Aliasing(self.history.effects.module)

    @cached_property
    def _footprints(self) -> Footprints:
        return Footprints(self.history.effects.module)

    def watch(self, history: History, event: Event, done: int) -> int:
        """Checks `event` against all earlier events. Returns, as bits, those with a reported
        conflict with `event`: they count as done from now on, so that they are not reported
        again."""
        self.history = history
        mine = self._located(event)
        self._events.append(mine)
        self._chosen.append(self._chosen_memory(event))
        extra = 0
        for place, effects in mine.items():
            changes = any(e.changes for e in effects)
            for other in self._related(place):
                seen = self._touched[other]
                for number in bits(seen.freed):
                    self._after_free(number, other, event, place)
                pending = seen.before(changes=changes) & ~(done | extra) & ~seen.freed
                while pending:
                    number = pending.bit_length() - 1
                    pending ^= 1 << number
                    if self._unordered(number, other, event, place):
                        extra |= 1 << number
                        if self._happens(number, event):  # the events before it are then ordered too
                            extra |= self.history.done[number]
                        pending &= ~extra
        for place, effects in mine.items():
            if place not in self._places[place[0]]:
                self._places[place[0]].add(place)
                kind = place[0].kind
                if kind != "allocation":
                    (self._unknown if kind == "unknown" else self._outside).append(place)
            changes, frees = any(e.changes for e in effects), any(e.kind == "free" for e in effects)
            self._touched[place].enter(1 << event.number, changes=changes, frees=frees)
        return extra

    def _happens(self, number: int, event: Event) -> bool:
        """Whether the earlier event happens whenever `event` does."""
        earlier = self.history.events[number]
        return earlier.when <= event.when and not earlier.may_not_run

    # ---- which memory ------------------------------------------------------------------------------------------------

    def _located(self, event: Event) -> dict[Place, list[Effect]]:
        carried = any(
            maker(at).name in (*LOOPS, "scf.while") for v in event.op.operands if shows_memory(v) for at in way(v)
        )
        found: dict[Place, list[Effect]] = {}
        for effect in event.effects:
            found.setdefault((effect.buffer, self._iteration(effect.buffer, event, carried)), []).append(effect)
        return found

    def _chosen_memory(self, event: Event) -> frozenset[HostBuffer]:
        """The buffers of which an operand of the event may be a view, but need not be: the operand
        is a select, or a value that a loop carries."""
        shown = [self.history.effects.host.windows(v) for v in event.op.operands if shows_memory(v)]
        return frozenset(w.buffer for windows in shown if len(windows) > 1 for w in windows)

    def _iteration(self, buffer: HostBuffer, event: Event, carried: bool) -> tuple[int, ...] | None:
        if buffer.kind != "allocation" or isinstance(buffer.key, str):
            return ()
        made = producer(buffer.key)
        around = sum(op.name in LOOPS for op in ancestors(made)) if made is not None else 0
        if not around:
            return ()
        return None if carried or len(event.path) < around else event.path[:around]

    def _related(self, place: Place) -> list[Place]:
        """The places that may be the same memory as `place`."""
        buffer, iteration = place
        if buffer.kind == "unknown":
            return list(self._touched)
        mine = [p for p in self._places[buffer] if None in (p[1], iteration) or p[1] == iteration]
        mine += self._unknown
        if self.may_alias and self._aliasing.may_alias(buffer):
            mine += [p for p in self._outside if p[0] != buffer and self._aliasing.may_alias(p[0])]
        return mine

    # ---- pairs -------------------------------------------------------------------------------------------------------

    def _after_free(self, number: int, other: Place, event: Event, place: Place) -> None:
        first = self.history.events[number]
        if first.excludes(event):
            return
        freeing = next(e for e in self._events[number][other] if e.kind == "free")
        wanted = sorted(self._events[event.number][place], key=lambda e: e.kind != "free")[0]
        if wanted.kind == "alloc":
            return
        kind: FaultKind = "freed twice" if wanted.kind == "free" else "used after free"
        assumed = self._assumed(number, other, event, place)
        self._report(MemoryFault(kind, None, first, event, freeing, wanted, assumed))

    def _unordered(self, number: int, other: Place, event: Event, place: Place) -> bool:
        first = self.history.events[number]
        if first.excludes(event):
            return False
        same = place[0] == other[0]
        counters = self.history.effects.host.counters
        for a in self._events[number][other]:
            for b in self._events[event.number][place]:
                if a.commutes(b) or (same and b.kind != "free" and apart(first, a.window, event, b.window, counters)):
                    continue
                meeting = self._meeting(first, a, event, b) if same else "together"
                if meeting == "apart":
                    continue
                hazard: Hazard = "WAR" if not a.changes else "WAW" if b.changes else "RAW"
                kind: FaultKind = "unordered" if event.on_device else "host"
                if b.kind == "free":
                    kind = "freed in use"
                assumed = self._assumed(number, other, event, place) or not self._certain(a.window, b.window)
                assumed = assumed or meeting == "unknown"
                self._report(MemoryFault(kind, hazard, first, event, a, b, assumed))
                return True
        return False

    def _meeting(self, first: Event, a: Effect, second: Event, b: Effect) -> Meeting:
        """Whether the elements that the two events touch overlap, according to their footprints."""
        if {"alloc", "free"} & {a.kind, b.kind} or any(self.history.effects.opaque(e.op) for e in (first, second)):
            return "together"
        return self._footprints.meet(first.op, a.changes, second.op, b.changes, a.buffer.key)

    def _assumed(self, number: int, other: Place, event: Event, place: Place) -> bool:
        """Whether it is unproven that the two events touch the same memory."""
        if place != other or place[1] is None or place[0].kind == "unknown":
            return True
        if any(self.history.effects.opaque(op) or _may_free(op) for op in (self.history.events[number].op, event.op)):
            return True
        return other[0] in self._chosen[number] or place[0] in self._chosen[event.number]

    def _certain(self, one: Window, other: Window) -> bool:
        """Whether two windows, not proven disjoint, are known to share elements."""
        if one.part is None and other.part is None:
            return True
        whole = one.buffer.key
        dims = None if isinstance(whole, str) else self.history.effects.host.windows(whole)[0].dims
        return any(w.part is None and w.dims in (None, dims) for w in (one, other))

    def _report(self, fault: MemoryFault) -> None:
        key = (fault.kind, fault.first.op, fault.second.op)
        if key not in self._reported:
            self._reported.add(key)
            self.faults.append(fault)


def _may_free(op: ir.Operation) -> bool:
    """Whether the op frees memory depending on a run-time condition."""
    return any(a.kind == "free" and not a.certain for a in accesses(op) or ())
