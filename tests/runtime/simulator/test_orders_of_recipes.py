"""What the recipes `hopper` and `igemm_hopper` make is right whoever goes on first, groups and boxes: 32 orders, 16,000 in a soak
(`WEFT_SOAK`)."""

from __future__ import annotations

import os
import time

import ml_dtypes
import numpy as np
import pytest
from group_kernels import kernel

from weft.pipeline import Choice, applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs, sized
from weft.runtime.host.functions import signature
from weft.runtime.run.compare import compare
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

EACH = 1000 if "WEFT_SOAK" in os.environ else 2
SMALL = {"m": 64, "n": 64, "bm": 64, "bn": 64}
VARIANTS: dict[str, dict[str, int]] = {
    "one stage": {**SMALL, "k": 192, "stages": 1}, "two stages": {**SMALL, "k": 320, "stages": 2},
    "three stages": {**SMALL, "k": 320, "stages": 3}, "four stages": {**SMALL, "k": 320, "stages": 4},
    "fewer steps than stages": {**SMALL, "k": 128, "stages": 4}, "ragged": {**SMALL, "m": 40, "n": 56, "k": 200, "stages": 2},
    "two consumers": {**SMALL, "m": 128, "bm": 128, "k": 256, "stages": 3},
    "two pieces of rows": {**SMALL, "m": 128, "bm": 128, "gm": 128, "k": 192, "stages": 2},
    "tiles in turn": {**SMALL, "m": 128, "k": 128, "stages": 3, "blocks": 1},
    "ragged tiles in turn, two consumers": {**SMALL, "m": 200, "bm": 128, "k": 72, "stages": 3, "blocks": 1},
}  # fmt: skip


@pytest.mark.few(4)
@pytest.mark.parametrize("name", VARIANTS)
def test_no_alarm(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    settings = VARIANTS[name]
    done = applied(Choice("hopper", None, {key: str(value) for key, value in settings.items()}).open())
    made, draw = kernel(done.text), np.random.default_rng(0)
    m, n, k = (settings[size] for size in "mnk")
    a, b = (draw.integers(-4, 5, shape).astype(ml_dtypes.bfloat16) for shape in ((m, k), (k, n)))
    expected = a.astype(np.float32) @ b.astype(np.float32)
    assert made.known_block is not None and made.known_grid is not None
    start = time.perf_counter()
    for order in range(EACH):
        c = np.full((m, n), np.nan, np.float32)
        report = made.launch(made.known_grid, made.known_block, [a, b, c], order=order)
        assert report.clean, (order, report.races, report.faults)
        assert np.array_equal(c, expected), order
    if EACH > 2:
        with capsys.disabled():
            print(f"\n{name}: {EACH} orders, {time.perf_counter() - start:.0f} s")


PIXELS = {"n": 1, "h": 6, "w": 7, "c": 64, "k": 64, "bm": 64, "bn": 64}
OTHERS: dict[str, tuple[str, dict[str, object]]] = {
    "a cluster": ("hopper", {**SMALL, "m": 128, "k": 192, "stages": 2, "cluster": 2}),
    "bytes": ("hopper", {**SMALL, "k": 256, "stages": 2, "type": "i8"}),
    "pixels": ("igemm_hopper", {**PIXELS, "r": 1, "stages": 2}),
    "pixels, four stages": ("igemm_hopper", {**PIXELS, "r": 2, "s": 2, "stages": 4, "k": 56}),
    "pixels, two consumers": ("igemm_hopper", {**PIXELS, "n": 2, "h": 9, "bm": 128, "stages": 3, "s": 1}),
    "a cluster shares pixels": ("igemm_hopper", {**PIXELS, "k": 128, "r": 1, "stages": 2, "cluster": 2, "group": 1}),
}


@pytest.mark.few(3)
@pytest.mark.parametrize("name", OTHERS)
def test_no_alarm_of_whole_plans(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    recipe, settings = OTHERS[name]
    done = planned(applied(Choice(recipe, None, {key: str(value) for key, value in settings.items()}).open()))
    payload = signature(done.applied.payload)
    arrays = random_inputs(sized(payload, {}, done.plan.agreements, None), 1)
    wanted = reference(done.applied.payload, None, dict(arrays))
    first, start = None, time.perf_counter()
    for order in range(EACH):
        ran = run_plan(done.plan, SimDevice(order=order), arrays, text=done.applied.located_text)
        assert not ran.races and not ran.faults, (order, ran.races, ran.faults)
        first = first or ran
        assert all(np.array_equal(first.outputs[one], ran.outputs[one]) for one in first.outputs), order
    assert first is not None and compare(payload, first.outputs, wanted, rounded=done.plan.rounded).ok
    if EACH > 2:
        with capsys.disabled():
            print(f"\n{name}: {EACH} orders, {time.perf_counter() - start:.0f} s")
