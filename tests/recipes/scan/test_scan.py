"""The recipe `scan`: right at any size and type by every witness, of NaN and infinities, too; as fast as three passes of memory."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest
from executors import expect_report
from judging import assert_barriers_needed, assert_lanes_needed, expect_right  # pyright: ignore[reportMissingImports]
from sass import COMPILED_FOR
from scheduled import run_schedule

from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.cuda.nvrtc import compile_cubin
from weft.runtime.plan.dtypes import itemsize
from weft.runtime.predict.chips import CHIPS
from weft.runtime.predict.prediction import predict
from weft.runtime.run.execution import RunOptions
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

SOAK = "WEFT_SOAK" in os.environ
TYPES = ("f32", "f16", "bf16")


def made(**settings: object) -> Planned:
    return planned(applied(Choice("scan", None, {name: str(value) for name, value in settings.items()}).open()))


def random_size(seed: int) -> dict[str, object]:
    """By one block, and in parts: a single element, fewer than a block has threads, odd ones, whole vectors."""
    r = random.Random(seed)
    n = (r.choice((1, r.randint(2, 40))), r.randint(8193, 60_000), 8 * r.randint(1025, 20_000), r.randint(41, 8192))[seed % 4]
    return {"n": n, "type": TYPES[seed % 3], "threads": r.choice((64, 128, 256))}


@pytest.mark.parametrize("seed", range(40 if SOAK else 1))
def test_random_sizes_and_types(seed: int) -> None:
    """On the simulator, as text, and as loops; without any of its barriers it is a race, without a lane of a shuffle
    divergent."""
    settings = random_size(seed)
    done = made(**settings)
    expect_right(done, seed, f"\n{settings}\n", native=True, whole=True)
    assert_barriers_needed(done, seed, f"\n{settings}\n")
    assert_lanes_needed(done, seed, f"\n{settings}\n", native=SOAK)


@pytest.mark.parametrize("n", [1000, 20_001])
def test_infinities_and_nan(n: int) -> None:
    """What stands behind them is what a loop makes of it, and nothing before them is."""
    x = np.random.default_rng(3).standard_normal(n).astype(np.float32)
    x[n // 2], x[n // 2 + 7], x[-3] = np.inf, -np.inf, np.nan
    done = made(n=n)
    (got,) = run_plan(done.plan, SimDevice(), {"X": x}, text=done.applied.text).outputs.values()
    with np.errstate(invalid="ignore"):
        wanted = np.cumsum(x.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-3)


@pytest.mark.few(2)
@pytest.mark.parametrize(("settings", "n"), [({}, 30_001), ({}, 5000), ({}, 3), ({"type": "bf16"}, 12_000)])
def test_a_size_known_at_run_time(settings: dict[str, object], n: int) -> None:
    given = {"n": "?", **{name: str(value) for name, value in settings.items()}}
    report = run_schedule("scan", None, given, None, RunOptions("sim", 3, sizes={"X.0": str(n)})).report
    expect_report(report)


@pytest.mark.few(2)
@pytest.mark.parametrize("type", TYPES)
def test_as_fast_as_memory(type: str) -> None:
    """Two reads of each element in all, and one write; nothing in local memory on any chip."""
    done = made(n=2**26, type=type)
    for chip in COMPILED_FOR:
        found = compile_cubin(done.cuda, chip)
        assert (found.spill_bytes, *(one.stack_bytes for one in found.kernels.values())) == (0,) * 5, chip
    chip = CHIPS["h200"]
    seconds = sum(one.seconds for one in predict(done.plan, done.cuda, chip).kernels)
    assert seconds < 1.1 * 3 * 2**26 * itemsize(type) / (chip.dram * chip.dram_share) + 4 * chip.launch


@pytest.mark.few(2)
@pytest.mark.parametrize("settings", [{"n": 4096}, {"n": 30_000}, {"n": 20_001}, {"n": 16_384, "type": "f16"}], ids=str)
def test_each_element_is_read_by_two_kernels_at_most(settings: dict[str, object]) -> None:
    n = settings["n"]
    given = {name: str(value) for name, value in settings.items()}
    report = run_schedule("scan", None, given, None, RunOptions("sim", 3)).report
    assert report.ok and not [access for access in report.bank_conflicts or () if access.conflicts], report
    for one in report.traffic or ():
        if one.buffer in ("X", "Y"):
            assert one.elements == n, one
