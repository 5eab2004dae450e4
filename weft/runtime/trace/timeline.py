"""The begin and end of each launch and copy of a run, by stream; their overlap; and Chrome's trace
format.

`chrome://tracing` and https://ui.perfetto.dev show the trace: a row per stream (the Trace Event
Format, "complete events", and a "flow" for each dependence between streams). `svg.py` draws it,
`text.py` lays it out in characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from ...dsl.records import record
from ..plan.plan import AnyStep, Launch

UNITS = ((1e-6, 1e9, "ns"), (1e-3, 1e6, "µs"), (1.0, 1e3, "ms"), (float("inf"), 1.0, "s"))
"""Units of time: (limit in seconds below which it is used, units per second, name)."""


@record
class Timed:
    """One step of a plan. `begin` and `end` are in seconds since the run's first; `step` is its
    number."""

    name: str
    step: int
    stream: int
    begin: float
    end: float


@record
class Overlap:
    """The gain from several streams.

    Args:
        makespan: the time from the beginning of the first step to the end of the last one.
        serial: the sum of all steps' times.
        shared: the time during which at least two streams were busy.
    """

    makespan: float
    serial: float
    shared: float

    @property
    def ratio(self) -> float:
        """The fraction of the makespan in which at least two streams were busy."""
        return self.shared / self.makespan if self.makespan > 0 else 0.0

    @property
    def gain(self) -> float:
        """The ratio of the serial time to the makespan."""
        return self.serial / self.makespan if self.makespan > 0 else 1.0


@record
class Timeline:
    """The data of a picture of a run.

    Args:
        device, entry: the device, and the host function.
        timed: launches and copies with their measured times, in the order in which they began.
        bars: the same with the times as they are drawn.
        launches: the numbers of the steps that are launches.
        waits: pairs of step numbers: the second waits for the first, which is on another stream.
        counted: the times are of a simulator, which runs one step after another; drawn steps have
            length one, and begin as soon as their stream and their events permit.
    """

    device: str
    entry: str
    timed: tuple[Timed, ...]
    bars: tuple[Timed, ...]
    launches: frozenset[int] = frozenset()
    waits: tuple[tuple[int, int], ...] = ()
    counted: bool = False

    @property
    def streams(self) -> tuple[int, ...]:
        return tuple(sorted({bar.stream for bar in self.bars}))

    @cached_property
    def begin(self) -> float:
        return min((bar.begin for bar in self.bars), default=0.0)

    @cached_property
    def end(self) -> float:
        return max((bar.end for bar in self.bars), default=0.0)

    @cached_property
    def shared(self) -> tuple[tuple[float, float], ...]:
        """The spans in which at least two streams are busy."""
        return tuple(_shared(self.bars))

    @cached_property
    def overlap(self) -> Overlap:
        together = sum(end - begin for begin, end in self.shared)
        return Overlap(self.end - self.begin, sum(bar.end - bar.begin for bar in self.bars), together)

    @property
    def unit(self) -> tuple[float, str]:
        """The number of units per second, and the name of the unit."""
        if self.counted:
            return 1.0, "steps"
        return next((factor, name) for below, factor, name in UNITS if self.end - self.begin < below)

    def time(self, seconds: float) -> str:
        """`12.3 µs`; `1 step`."""
        factor, name = self.unit
        if self.counted:
            return f"{seconds:.0f} {name if seconds != 1 else 'step'}"
        return f"{seconds * factor:#.3g} {name}" if abs(seconds * factor) < 99.95 else f"{seconds * factor:.0f} {name}"

    def summary(self) -> tuple[str, str, str]:
        """The makespan, the serial time, and the overlap."""
        found = self.overlap
        return (
            f"makespan {self.time(found.makespan)}",
            f"one after the other {self.time(found.serial)}, {found.gain:.2f}×",
            f"overlap {found.ratio:.0%}: two or more streams busy for {self.time(found.shared)}",
        )

    @property
    def note(self) -> str:
        """An explanation of the times."""
        if self.counted:
            return "What the streams allow, each step counted as one: the simulator has no clock, and does one step at a time."
        return "By the device's events: a bar begins when its stream gets to it, even if the host has yet to issue it."


def timeline(steps: Sequence[AnyStep], timed: Sequence[Timed], device: str, entry: str, *, counted: bool) -> Timeline:
    """The timeline of measured steps with their dependences; `counted`: in steps instead of
    seconds."""
    bars = _counted(steps, timed) if counted else timed
    launches = frozenset(number for number, step in enumerate(steps) if isinstance(step, Launch))
    waits = tuple(_waits(steps, {t.step for t in timed}))
    return Timeline(device, entry, tuple(timed), tuple(bars), launches, waits, counted)


def _counted(steps: Sequence[AnyStep], timed: Iterable[Timed]) -> list[Timed]:
    """Each timed step takes one unit, all others none, and each begins as soon as its stream and
    its events permit."""
    found: list[Timed] = []
    by_step = {t.step: t for t in timed}
    last: dict[int, int] = {}
    done: list[int] = []
    for number, step in enumerate(steps):
        begin = max((last.get(step.stream, 0), *(done[earlier] for earlier in step.after)))
        bar = by_step.get(number)
        last[step.stream] = end = begin + (bar is not None)
        done.append(end)
        if bar is not None:
            found.append(Timed(bar.name, number, bar.stream, float(begin), float(end)))
    return sorted(found, key=lambda t: t.begin)


def _waits(steps: Sequence[AnyStep], timed: set[int]) -> Iterator[tuple[int, int]]:
    """The dependences of each timed step on other streams, through steps that are not timed
    (allocations)."""
    awaited: list[
        frozenset[int]
    ] = []  # by step, the timed steps that it, or a later one on its stream, has to wait for
    last: dict[int, frozenset[int]] = {}
    for number, step in enumerate(steps):
        ahead = last.get(step.stream, frozenset()).union(*(awaited[earlier] for earlier in step.after))
        if number in timed:
            yield from ((earlier, number) for earlier in sorted(ahead) if steps[earlier].stream != step.stream)
            ahead = frozenset({number})
        awaited.append(ahead)
        last[step.stream] = ahead


def _shared(bars: Sequence[Timed]) -> Iterator[tuple[float, float]]:
    """Spans in which two or more streams are busy; bars of one stream that overlap count once."""
    lasting = [bar for bar in bars if bar.end > bar.begin]
    changes = sorted((time, delta, bar.stream) for bar in lasting for time, delta in ((bar.begin, 1), (bar.end, -1)))
    busy: dict[int, int] = {}
    since: float | None = None
    for position, (time, delta, stream) in enumerate(changes):
        busy[stream] = busy.get(stream, 0) + delta
        if not busy[stream]:
            del busy[stream]
        if position + 1 < len(changes) and changes[position + 1][0] == time:
            continue
        if len(busy) > 1 and since is None:
            since = time
        elif len(busy) <= 1 and since is not None:
            yield since, time
            since = None


# ---- Chrome's trace format -----------------------------------------------------------------------


def chrome_trace(shown: Timeline) -> dict[str, Any]:
    """A trace of one process, the device, with a thread for each stream, with the measured times."""
    streams = sorted({t.stream for t in shown.timed})
    names = [_named("process_name", 0, f"{shown.device}: @{shown.entry}")]
    names += [_named("thread_name", stream, f"stream {stream}") for stream in streams]
    by_step = {t.step: t for t in shown.timed}
    flows = [end for number, (first, second) in enumerate(shown.waits) for end in _flow(number, by_step, first, second)]
    clock = "the host's, while the simulator did one step at a time" if shown.counted else "the device's events"
    events = [*names, *(_event(t) for t in shown.timed), *flows]
    return {"displayTimeUnit": "ms", "otherData": {"clock": clock}, "traceEvents": events}


def _named(what: str, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": 0, "tid": thread, "args": {"name": name}}


def _event(timed: Timed) -> dict[str, Any]:
    return {
        "ph": "X",
        "name": timed.name,
        "pid": 0,
        "tid": timed.stream,
        "ts": _microseconds(timed.begin),
        "dur": _microseconds(timed.end - timed.begin),
        "args": {"step": timed.step},
    }


def _flow(number: int, by_step: Mapping[int, Timed], first: int, second: int) -> Iterator[dict[str, Any]]:
    """An arrow from one step's end to another's begin; it starts inside the first, since viewers
    require that."""
    source, target = by_step[first], by_step[second]
    common = {"cat": "wait", "name": "waits for", "id": number, "pid": 0}
    inside = max(_microseconds(source.begin), _microseconds(source.end - 1e-9))
    yield {"ph": "s", **common, "tid": source.stream, "ts": inside}
    yield {"ph": "f", "bp": "e", **common, "tid": target.stream, "ts": _microseconds(target.begin)}


def _microseconds(seconds: float) -> float:
    return round(seconds * 1e6, 3)
