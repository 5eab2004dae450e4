"""The recipe histogram: right at any size by every witness, race-free, one read of each element, one atomic per block and bin."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest
from executors import expect_report
from judging import assert_barriers_needed, expect_right  # pyright: ignore[reportMissingImports]
from native_device import NativeDevice
from sass import COMPILED_FOR
from scheduled import run_schedule

from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.cuda.nvrtc import compile_cubin
from weft.runtime.run.execution import RunOptions
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

SOAK = "WEFT_SOAK" in os.environ


def made(**settings: object) -> Planned:
    return planned(applied(Choice("histogram", None, {name: str(value) for name, value in settings.items()}).open()))


@pytest.mark.parametrize("seed", range(40 if SOAK else 1))
def test_random_sizes(seed: int) -> None:
    """On the simulator, as text, and as loops; without any of its barriers it is a race; and against NumPy."""
    r = random.Random(seed)
    n = (r.randint(1, 300), r.randint(1, 40_000), 128 * r.randint(1, 300), r.randint(1, 5000))[seed % 4]
    bins = r.choice((1, 2, 3, 7, r.randint(1, 300), r.randint(300, 2000)))
    settings = {"n": n, "bins": bins, "threads": r.choice((128, 256, 512)), "items": r.choice((256, 1000, 4096, 16384))}
    done = made(**settings)
    expect_right(done, seed, f"\n{settings}\n", native=True)
    assert_barriers_needed(done, seed, f"\n{settings}\n")
    x = np.random.default_rng(seed).integers(-3, bins + 3, n).astype(np.int32)
    expected = np.bincount(x[(x >= 0) & (x < bins)], minlength=bins)
    for device, text in ((SimDevice(), done.applied.text), (NativeDevice(reverse=False), done.cuda)):
        ran = run_plan(done.plan, device, {"X": x, "H": np.full(bins, -1, np.int32)}, text=text)
        assert not ran.races and not ran.faults and np.array_equal(ran.outputs["H"], expected)


@pytest.mark.parametrize(("size", "bins"), [(1, 4), (1000, 256), (40_000, 5)])
def test_a_size_known_at_run_time(size: int, bins: int) -> None:
    given = {"n": "?", "bins": str(bins)}
    report = run_schedule("histogram", None, given, None, RunOptions("sim", 3, sizes={"X.0": str(size)})).report
    expect_report(report)


def test_traffic_and_resources() -> None:
    """Each element is read once, and each block adds to each bin once; nothing in local memory."""
    done = made(n=40_000)
    inputs = {"X": np.arange(40_000, dtype=np.int32) % 256, "H": np.zeros(256, np.int32)}
    ran = run_plan(done.plan, SimDevice(), inputs, text=done.applied.text)
    counted = {(kernel, use.kind, use.buffer): use.elements for kernel, use in ran.traffic or ()}
    assert counted[("histogram_1", "load", "X")] == 40_000
    assert counted[("histogram_1", "store", "H")] == 3 * 256
    for chip in COMPILED_FOR:
        found = compile_cubin(done.cuda, chip)
        assert (found.spill_bytes, *(one.stack_bytes for one in found.kernels.values())) == (0, 0, 0), chip
