"""The phase of each arrival, load and wait, from loop counters.

The barriers of a ring are used in rotation: if the index in the ring is `i mod n`, each barrier was
used `i div n` times before. If the index is no remainder, each iteration of the loops that it does
not depend on uses the same barrier once more. That is a guess: its consequences (arrivals in each
phase, order of completion) are proven, and no proof succeeds if the guess is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import islpy as isl

from ...indices.linear import THREAD, Floor, Formula, Linear, Symbol, both, either, equal
from ..kernels.places import Loop, Place
from ..kernels.signals import Ring, Signal
from ..solver import Naming
from .instances import PARAM, Instances, Point, VagueError

BLOCK, BARRIER, PHASE = (Symbol(name, "lane", THREAD) for name in ("block", "barrier", "phase"))
LATER = (0, -1)
"""Phases after its own round that a wait may be for: a refill waits for the previous phase."""


def point_of(signal: Signal) -> Point:
    """The execution point of a signal."""
    return Point(signal.place, signal.op, signal.when)


def phases(signals: Sequence[Signal], instances: Instances) -> dict[Signal, Linear]:
    """The phase of each signal except the inits. Raises VagueError, Unknown."""
    out: dict[Signal, Linear] = {}
    for ring in dict.fromkeys(signal.ring for signal in signals):
        mine = [s for s in signals if s.ring is ring and s.kind != "init"]
        size = _taken(ring, mine)
        turns = {s: turn(s.index, s.place, size, _passed(s, mine, size)) for s in mine}
        if (vague := next((s for s, at in turns.items() if at is None), None)) is not None:
            raise VagueError(vague.op)
        known = {s: at for s, at in turns.items() if at is not None}
        lows = {s: _low(s, at, instances) for s, at in known.items()}
        first = _first(lows)
        arrivals = {s: (at - first).floordiv(size) for s, at in known.items() if s.kind == "arrive"}
        for signal, at in known.items():
            begins = dict.fromkeys((first, 0, lows[signal] or 0))
            laps = [(at - begin).floordiv(size) for begin in begins]
            if signal.kind == "wait":
                out[signal] = _awaited(signal, laps, instances)
            elif signal.kind == "load":
                out[signal] = _loaded(signal, laps, arrivals, instances)
            else:
                out[signal] = arrivals[signal]
    return out


def _taken(ring: Ring, signals: Sequence[Signal]) -> int:
    """The number of barriers of a ring that are used in rotation: all, or n if all indices are
    remainders by a smaller number n."""
    divisors = [
        {t.divisor for t, c in s.index.terms.items() if isinstance(t, Floor) and c == -t.divisor} for s in signals
    ]
    common = set.intersection(*divisors) if divisors else set()
    return min((n for n in common if n <= ring.size), default=ring.size)


def _low(signal: Signal, at: Linear, instances: Instances) -> int | None:
    """The smallest round in which the signal is executed; None where unknown."""
    low = at.bounds()[0]
    if low is None or not signal.place.guards:
        return low
    turns = instances.relation(
        point_of(signal), (PHASE,), lambda x, y: [equal(Linear.of(y(PHASE)), x.form(at))]
    ).range()
    least = instances.solver.ask(lambda: turns.project_out(PARAM, 0, turns.dim(PARAM)).dim_min_val(0))
    return least.to_python() if least.is_int() else low


def _first(lows: dict[Signal, int | None]) -> int:
    """The number of the first use of the ring: the smallest of all arrivals, or 0 where unknown."""
    said = [low for signal, low in lows.items() if signal.kind == "arrive"]
    known = [low for low in said if low is not None]
    return min(known, default=0) if len(known) == len(said) else 0


def _passed(signal: Signal, signals: Sequence[Signal], size: int) -> int:
    """The number of rounds of the ring in an iteration of the loops around a signal that always
    uses the same barrier, such as a load of the first tiles of a pass. The signals in a loop
    inside, which use the other barriers, determine it."""
    if not signal.index.is_constant or signal.kind == "wait":
        return 1
    found = 1
    for other in signals:
        loops, inner = other.place.loops, other.place.loops[len(signal.place.loops) :]
        if loops[: len(signal.place.loops)] == signal.place.loops and len(inner) == 1 and other.index.symbols():
            found = max(found, (inner[0].trips or size) // size)
    return found


def turn(index: Linear, place: Place, size: int, passed: int = 1) -> Linear | None:
    """The number of uses of the ring before this one, which is congruent to `index` modulo the
    ring's size. `passed`: as `_passed` computes it, for a signal that always uses the same
    barrier."""
    running, lap, laps = index, Linear.of(0), passed
    floors = [t for t, c in index.terms.items() if isinstance(t, Floor) and t.divisor == size and c == -size]
    if floors:
        running = index + Linear({floors[0]: size}, 0)
        lap = running.floordiv(size)
        if running - lap * size != index:
            return None
        laps = (lap.bounds()[1] or 0) + 1
    inside = {symbol for symbol in running.symbols() if symbol.kind == "loop"}
    levels = [loop.counter in inside for loop in place.loops]
    first = levels.index(True) if True in levels else len(levels)
    last = len(levels) - levels[::-1].index(True) if True in levels else first
    if not all(levels[first:last]):
        return None
    outer, inner = place.loops[:first], place.loops[last:]
    if outer and inside:
        low, high = running.bounds()
        if low is None or high is None or not 0 <= low < size or (high - low + 1) % size:
            return None  # a pass of the inner loops ends in the middle of the ring
        laps = (high - low + 1) // size
    for loops, times in ((outer, laps), (inner, 1)):
        counted = _counted(place, loops)
        if counted is None:
            return None
        if loops is outer:
            lap = counted * times + lap
        elif inner:
            lap = lap * (_trips(place, inner) or 0) + counted
            if _trips(place, inner) is None:
                return None
    return lap * size + (index if floors else running)


def _counted(place: Place, loops: Sequence[Loop]) -> Linear | None:
    """The number of earlier iterations of the innermost of some loops."""
    out = Linear.of(0)
    for number, loop in enumerate(loops):
        trips = _trips(place, loops[number : number + 1]) if number else 1
        if trips is None:
            return None
        out = out * trips + Linear.of(loop.counter)
    return out


def _trips(place: Place, loops: Sequence[Loop]) -> int | None:
    """The product of the loops' trip counts; None if one is unknown, or iterations are skipped."""
    out = 1
    for step in place.steps:
        if step.loop in loops and step.loop is not None:
            if step.guards or step.loop.trips is None:
                return None
            out *= step.loop.trips
    return out


def phases_at(signal: Signal, phase: Linear, instances: Instances) -> isl.Map:
    """Instances → (block, barrier, phase)."""
    said = ((BLOCK, signal.block), (BARRIER, signal.index), (PHASE, phase))
    return instances.relation(
        point_of(signal),
        (BLOCK, BARRIER, PHASE),
        lambda x, y: [equal(Linear.of(y(symbol)), x.form(form)) for symbol, form in said],
    )


def of_one_barrier(a: Signal, b: Signal, x: Naming, y: Naming) -> list[Formula]:
    """The condition that two signals are at one barrier of one block."""
    return [equal(x.form(p), y.form(q)) for p, q in ((a.block, b.block), (a.index, b.index))]


def _loaded(load: Signal, laps: Sequence[Linear], arrivals: Mapping[Signal, Linear], instances: Instances) -> Linear:
    """The phase in which the bytes of a load count: the first of `laps` in which every instance of
    the load has an arrival at its barrier; `laps[0]` if there is none."""
    ask = instances.solver.ask
    there = [ask(phases_at(arrival, phase, instances).range) for arrival, phase in arrivals.items()]
    for phase in laps:
        left = ask(phases_at(load, phase, instances).range)
        for some in there:
            left = ask(lambda a=left, b=some: a.subtract(b))
        if instances.is_empty(left):
            return phase
    return laps[0]


def _awaited(wait: Signal, laps: Sequence[Linear], instances: Instances) -> Linear:
    """The phase that a wait waits for: the first, among those of its own round and of earlier
    rounds, that always has the awaited parity. If none has, the most likely phase."""
    ways = [lap + later for lap in laps for later in LATER]
    for phase in ways:
        if instances.is_empty(instances.of(point_of(wait), lambda x, phase=phase: mismatch(wait, phase, x))):
            return phase
    return ways[0]


def mismatch(wait: Signal, phase: Linear, naming: Naming) -> Iterable[Formula]:
    """The condition that a wait is for another parity than that of a phase."""
    even = equal(phase.modulo(2), Linear.of(0))
    return [naming.formula(either(both(wait.odd, even), both(wait.odd.negate(), even.negate())))]
