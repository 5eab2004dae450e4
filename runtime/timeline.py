"""When each launch and copy of a run began and ended, on which stream; and the same in Chrome's trace format.

`chrome://tracing` and https://ui.perfetto.dev show it: a row per stream (the Trace Event Format, "complete events").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Timed:
    """One step of a plan. `begin` and `end` are in seconds since the run's first; `step` is its number."""

    name: str
    step: int
    stream: int
    begin: float
    end: float


def chrome_trace(timeline: Sequence[Timed], device: str, entry: str) -> dict[str, Any]:
    """A trace of one process, the device, with a thread for each stream."""
    streams = sorted({t.stream for t in timeline})
    names = [_named("process_name", 0, f"{device}: @{entry}")]
    names += [_named("thread_name", stream, f"stream {stream}") for stream in streams]
    return {"displayTimeUnit": "ms", "traceEvents": [*names, *(_event(t) for t in timeline)]}


def _named(what: str, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": 0, "tid": thread, "args": {"name": name}}


def _event(timed: Timed) -> dict[str, Any]:
    return {
        "ph": "X",
        "name": timed.name,
        "pid": 0,
        "tid": timed.stream,
        "ts": round(timed.begin * 1e6, 3),
        "dur": round((timed.end - timed.begin) * 1e6, 3),
        "args": {"step": timed.step},
    }
