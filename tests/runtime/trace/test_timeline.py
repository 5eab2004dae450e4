"""The timeline of a run: what is timed, what waits for what, what overlaps, and Chrome's format."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy_device import NumpyDevice
from runtime_programs import two_stream_plan, whole

from weft.dsl.diagnostics import WeftError
from weft.runtime.plan.plan import Alloc, AnyStep, Copy, Free, Launch
from weft.runtime.run.runner import run_plan
from weft.runtime.run.work import interleaved
from weft.runtime.trace.timeline import Timed, Timeline, chrome_trace, timeline

INPUTS = {"x": np.arange(8, dtype=np.float32), "factor": np.float32(3)}


class TickingDevice(NumpyDevice):
    """Every launch and copy takes a second."""

    def __init__(self, fail_at: int | None = None) -> None:
        super().__init__({"scale": self.tick}, fail_at)
        self.now = 0.0
        self.reached: dict[int, float] = {}

    def tick(self, source: np.ndarray, target: np.ndarray, factor: np.float32) -> None:
        target[...] = source * factor
        self.now += 1

    def record(self, event: int, stream: int) -> None:
        super().record(event, stream)
        self.reached[event] = self.now

    def elapsed(self, start: int, end: int) -> float | None:
        return self.reached[end] - self.reached[start]


def test_launches_and_copies_are_timed_on_their_streams() -> None:
    device = TickingDevice()
    result = run_plan(two_stream_plan(), device, INPUTS, text="kernels", trace=True)
    assert result.timeline == (
        Timed("scale", 1, 0, 0.0, 1.0),
        Timed("t → u", 3, 1, 1.0, 1.0),
        Timed("scale", 4, 0, 1.0, 2.0),
    )
    assert result.events_created == result.events_destroyed
    assert device.alive.total() == 0


def test_nobody_asked() -> None:
    assert run_plan(two_stream_plan(), TickingDevice(), INPUTS, text="kernels").timeline is None


def test_a_device_without_a_clock() -> None:
    device = NumpyDevice({"scale": lambda *_: None})
    assert run_plan(two_stream_plan(), device, INPUTS, text="kernels", trace=True).timeline is None


@pytest.mark.parametrize("fail_at", range(0, 60, 3))
def test_traced_runs_give_everything_back(fail_at: int) -> None:
    device = TickingDevice(fail_at)
    try:
        run_plan(two_stream_plan(), device, INPUTS, text="kernels", trace=True)
    except WeftError as error:
        assert error.diagnostics[0].message.startswith("made to fail")
    assert device.alive.total() == 0


def test_empty_grids_take_no_time() -> None:
    plan = two_stream_plan()
    steps = list(plan.steps)
    steps[4] = replace(steps[4], grid=(0, 1, 1))  # type: ignore[call-arg]
    result = run_plan(replace(plan, steps=tuple(steps)), TickingDevice(), INPUTS, text="kernels", trace=True)
    assert result.timeline is not None and result.timeline[-1].begin == result.timeline[-1].end


# ---- what it comes to ------------------------------------------------------------------------------------------------------


def do(stream: int, after: tuple[int, ...] = ()) -> Launch:
    return Launch(kernel="k", grid=(1, 1, 1), block=(1, 1, 1), stream=stream, after=after)


def shown(*bars: tuple[int, float, float]) -> Timeline:
    """Of bars as (stream, begin, end) in microseconds, on a GPU."""
    timed = [Timed(f"k{n}", n, stream, begin * 1e-6, end * 1e-6) for n, (stream, begin, end) in enumerate(bars)]
    return timeline([do(bar.stream) for bar in timed], timed, "GPU", "f", counted=False)


@pytest.mark.parametrize(
    ("bars", "makespan", "serial", "together"),
    [
        ([], 0, 0, 0),
        ([(0, 0, 10)], 10, 10, 0),
        ([(0, 0, 10), (0, 10, 20)], 20, 20, 0),  # one stream never overlaps itself
        ([(0, 0, 10), (0, 8, 20)], 20, 22, 0),
        ([(0, 0, 10), (1, 10, 20)], 20, 20, 0),
        ([(0, 5, 15), (1, 10, 25)], 20, 25, 5),
        ([(0, 0, 30), (1, 5, 10), (2, 8, 12), (1, 20, 25)], 30, 44, 12),
        ([(0, 0, 10), (0, 10, 20), (1, 0, 20)], 20, 40, 20),
        ([(0, 0, 10), (1, 5, 5)], 10, 10, 0),
    ],
)
def test_overlap(bars: list[tuple[int, float, float]], makespan: float, serial: float, together: float) -> None:
    found = shown(*bars).overlap
    assert [found.makespan * 1e6, found.serial * 1e6, found.shared * 1e6] == pytest.approx([makespan, serial, together])
    assert found.ratio == pytest.approx(together / makespan if makespan else 0)


def test_overlap_against_a_count_at_every_moment() -> None:
    draw = np.random.default_rng(0)
    for _ in range(50):
        bars = [(int(s), int(b), int(b + d)) for s, b, d in draw.integers(0, [4, 40, 9], (12, 3))]
        busy = [len({s for s, begin, end in bars if begin <= at < end}) for at in range(50)]
        assert shown(*bars).overlap.shared * 1e6 == pytest.approx(sum(n > 1 for n in busy))


@pytest.mark.parametrize(
    ("end", "unit", "text"),
    [(5e-7, "ns", "500 ns"), (1.234e-5, "µs", "12.3 µs"), (2.5e-3, "ms", "2.50 ms"), (0.75, "ms", "750 ms"), (12.0, "s", "12.0 s")],
)
def test_units(end: float, unit: str, text: str) -> None:
    one = timeline([do(0)], [Timed("k", 0, 0, 0.0, end)], "GPU", "f", counted=False)
    assert one.unit[1] == unit and one.time(end) == text


def test_what_waits_for_what() -> None:
    """Through allocations, which are not timed; what a stream's order says anyway is left out."""
    steps: list[AnyStep] = [
        do(0),
        Alloc(buffer="t", stream=1, after=(0,)),
        do(1),
        do(1),
        Copy(source=whole("t", 8), target=whole("u", 8), stream=2, after=(0, 3)),
        Free(buffer="t", stream=0, after=(3,)),
        do(0),
    ]
    timed = [Timed("k", n, steps[n].stream, n * 1.0, n + 1.0) for n in (0, 2, 3, 4, 6)]
    assert timeline(steps, timed, "GPU", "f", counted=False).waits == ((0, 2), (0, 4), (3, 4), (3, 6))


def test_steps_are_counted_where_there_is_no_clock() -> None:
    """Whatever the simulator's order was: each begins as soon as its stream and its events allow."""
    steps = [do(0), do(1), do(1, (0,)), do(0), do(2, (2, 3))]
    for seed in range(6):
        order = interleaved(steps, seed)
        timed = [Timed("k", n, steps[n].stream, at * 1.0, at + 0.5) for at, n in enumerate(order)]
        found = timeline(steps, timed, "simulator", "f", counted=True)
        assert {bar.step: (bar.begin, bar.end) for bar in found.bars} == {0: (0, 1), 1: (0, 1), 2: (1, 2), 3: (1, 2), 4: (2, 3)}
        assert found.summary() == (
            "makespan 3 steps",
            "one after the other 5 steps, 1.67×",
            "overlap 67%: two or more streams busy for 2 steps",
        )


def test_chrome_trace() -> None:
    timed = [Timed("left", 0, 0, 0.0, 2e-6), Timed("right", 1, 3, 1e-6, 4e-6), Timed("last", 2, 0, 4e-6, 5e-6)]
    found = chrome_trace(timeline([do(0), do(3), do(0, (1,))], timed, "GPU", "main", counted=False))
    names = [(e["tid"], e["args"]["name"]) for e in found["traceEvents"] if e["ph"] == "M"]
    assert names == [(0, "GPU: @main"), (0, "stream 0"), (3, "stream 3")]
    spans = [(e["name"], e["tid"], e["ts"], e["dur"]) for e in found["traceEvents"] if e["ph"] == "X"]
    assert spans == [("left", 0, 0.0, 2.0), ("right", 3, 1.0, 3.0), ("last", 0, 4.0, 1.0)]
    flows = [(e["ph"], e["id"], e["tid"], e["ts"]) for e in found["traceEvents"] if e["ph"] in "sf"]
    assert flows == [("s", 0, 3, 3.999), ("f", 0, 0, 4.0)]


def test_the_trace_of_a_simulator_has_the_times_that_were_taken() -> None:
    timed = [Timed("b", 1, 1, 0.0, 2e-6), Timed("a", 0, 0, 2e-6, 5e-6)]
    found = chrome_trace(timeline([do(0), do(1)], timed, "simulator", "f", counted=True))
    assert [(e["name"], e["ts"], e["dur"]) for e in found["traceEvents"] if e["ph"] == "X"] == [("b", 0, 2), ("a", 2, 3)]
    assert "one step at a time" in found["otherData"]["clock"]
