"""When each launch and copy of a run began and ended, on which stream; what overlapped; in Chrome's format, too.

`chrome://tracing` and https://ui.perfetto.dev show it: a row per stream (the Trace Event Format, "complete events", and
a "flow" for each dependence between streams). `timeline_svg.py` draws it, `timeline_text.py` lays it out in characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from ...dsl.records import record
from ..plan.plan import AnyStep, Launch

UNITS = ((1e-6, 1e9, "ns"), (1e-3, 1e6, "µs"), (1.0, 1e3, "ms"), (float("inf"), 1.0, "s"))
"""Times below the first are shown in the third; the second is how many of them are a second."""


@record
class Timed:
    """One step of a plan. `begin` and `end` are in seconds since the run's first; `step` is its number."""

    name: str
    step: int
    stream: int
    begin: float
    end: float


@record
class Overlap:
    """What streams won.

    Args:
        makespan: from the first step's begin to the last one's end.
        serial: all steps one after the other.
        shared: how long at least two streams were busy.
    """

    makespan: float
    serial: float
    shared: float

    @property
    def ratio(self) -> float:
        """The part of the makespan in which at least two streams were busy."""
        return self.shared / self.makespan if self.makespan > 0 else 0.0

    @property
    def gain(self) -> float:
        """How much longer the steps would take one after the other."""
        return self.serial / self.makespan if self.makespan > 0 else 1.0


@record
class Timeline:
    """What a picture of a run shows.

    Args:
        device, entry: where it ran, and which host function.
        timed: launches and copies with the times that were taken, in the order in which they began.
        bars: the same, as they are drawn.
        launches: the numbers of those steps which are launches.
        waits: pairs of step numbers: the second waits for the first, which is on another stream.
        counted: a simulator took the times, which do one step after another; as it is drawn each counts as one, and
            begins as soon as its stream and its events allow.
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
        """How many units a second is, and what the unit is called."""
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
        """How long it took, how long one after the other, and how much of it overlapped."""
        found = self.overlap
        return (
            f"makespan {self.time(found.makespan)}",
            f"one after the other {self.time(found.serial)}, {found.gain:.2f}×",
            f"overlap {found.ratio:.0%}: two or more streams busy for {self.time(found.shared)}",
        )

    @property
    def note(self) -> str:
        """What the times are."""
        if self.counted:
            return "What the streams allow, each step counted as one: the simulator has no clock, and does one step at a time."
        return "By the device's events: a bar begins when its stream gets to it, even if the host has yet to issue it."


def timeline(steps: Sequence[AnyStep], timed: Sequence[Timed], device: str, entry: str, *, counted: bool) -> Timeline:
    """What was timed, with what waits for what; `counted`: in steps instead of seconds."""
    bars = _counted(steps, timed) if counted else timed
    launches = frozenset(number for number, step in enumerate(steps) if isinstance(step, Launch))
    waits = tuple(_waits(steps, {t.step for t in timed}))
    return Timeline(device, entry, tuple(timed), tuple(bars), launches, waits, counted)


def _counted(steps: Sequence[AnyStep], timed: Iterable[Timed]) -> list[Timed]:
    """Every timed step takes one, all others nothing, and each begins as soon as its stream and its events allow."""
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
    """What each timed step waits for on other streams, looking through steps that are not timed (allocations)."""
    behind: list[frozenset[int]] = []  # the timed steps that a step, or what follows it, has to wait for
    last: dict[int, frozenset[int]] = {}
    for number, step in enumerate(steps):
        ahead = last.get(step.stream, frozenset()).union(*(behind[earlier] for earlier in step.after))
        if number in timed:
            yield from ((earlier, number) for earlier in sorted(ahead) if steps[earlier].stream != step.stream)
            ahead = frozenset({number})
        behind.append(ahead)
        last[step.stream] = ahead


def _shared(bars: Sequence[Timed]) -> Iterator[tuple[float, float]]:
    """Where two streams or more are busy; a stream that two of its bars claim at once is one stream."""
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
    """A trace of one process, the device, with a thread for each stream: the times as they were taken."""
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
    """An arrow from one step's end to another's begin; it starts inside the first, or viewers don't find that."""
    source, target = by_step[first], by_step[second]
    common = {"cat": "wait", "name": "waits for", "id": number, "pid": 0}
    inside = max(_microseconds(source.begin), _microseconds(source.end - 1e-9))
    yield {"ph": "s", **common, "tid": source.stream, "ts": inside}
    yield {"ph": "f", "bp": "e", **common, "tid": target.stream, "ts": _microseconds(target.begin)}


def _microseconds(seconds: float) -> float:
    return round(seconds * 1e6, 3)
