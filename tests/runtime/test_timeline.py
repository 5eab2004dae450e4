"""The timeline of a run, and its file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy_device import NumpyDevice
from runtime_programs import two_stream_plan

from weft.dsl.diagnostics import WeftError
from weft.runtime.runner import run_plan
from weft.runtime.timeline import Timed, chrome_trace

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


def test_chrome_trace() -> None:
    found = chrome_trace([Timed("left", 1, 0, 0.0, 2e-6), Timed("right", 2, 3, 1e-6, 4e-6)], "GPU", "main")
    names = [(e["tid"], e["args"]["name"]) for e in found["traceEvents"] if e["ph"] == "M"]
    assert names == [(0, "GPU: @main"), (0, "stream 0"), (3, "stream 3")]
    spans = [(e["name"], e["tid"], e["ts"], e["dur"]) for e in found["traceEvents"] if e["ph"] == "X"]
    assert spans == [("left", 0, 0.0, 2.0), ("right", 3, 1.0, 3.0)]


def test_the_command_line_writes_it(tmp_path: Path) -> None:
    from weft.cli import run

    examples = Path(__file__).parents[1] / "statements" / "examples"
    arguments = ["run", str(examples / "async-fork.weft"), "--target", "sim", "--reference", "none", "--json"]
    assert run([*arguments, "--trace", str(tmp_path / "t.json")]) == 0
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert {e["name"]: e["tid"] for e in events if e["ph"] == "X"} == {"left": 0, "right": 1, "sum": 1}
    assert run([*arguments, "--trace", str(tmp_path / "missing" / "t.json")]) == 1
