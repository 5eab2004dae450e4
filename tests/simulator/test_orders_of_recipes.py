"""What the recipe `hopper` makes is right whoever goes on first, groups and boxes: 20 orders, 10,000 in a soak (`WEFT_SOAK`)."""

from __future__ import annotations

import os
import time

import ml_dtypes
import numpy as np
import pytest
from group_kernels import kernel

from weft.pipeline import Choice, applied

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
