"""Attention in one kernel: right at any size and type by every witness, without a buffer of scores or needless traffic."""

from __future__ import annotations

import os
import random
import sys
from math import ceil
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "interpreter"))
from judging import assert_barriers_needed, expect_right  # pyright: ignore[reportMissingImports]
from scheduled import run_schedule

from weft.dsl.diagnostics import WeftError
from weft.pipeline import Choice, Planned, applied, planned
from weft.recipes.attention.payload import attended
from weft.runtime.cuda.nvrtc import ARCHITECTURES, compile_cubin
from weft.runtime.run.execution import RunOptions
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

SOAK = "WEFT_SOAK" in os.environ
TYPES = ("f32", "f16", "bf16")


def made(**settings: object) -> Planned:
    return planned(applied(Choice("attention", None, {name: str(value) for name, value in settings.items()}).open()))


def random_size(seed: int) -> dict[str, object]:
    r = random.Random(seed)
    d = r.choice((64, r.randint(1, 64), r.randint(65, 256)))
    n, m = (r.randint(1, 150) for _ in range(2))
    return {"b": r.randint(1, 2), "n": n, "m": m, "d": d, "type": TYPES[seed % 3], "causal": r.randint(0, 1)}


@pytest.mark.parametrize("seed", range(40 if SOAK else 4))
def test_random_sizes_and_types(seed: int) -> None:
    """On the simulator, as text, and as loops; without any of its barriers it is a race."""
    settings = random_size(seed)
    done = made(**settings)
    expect_right(done, seed, f"\n{settings}\n", native=True)
    if seed % 4 == 0:
        assert_barriers_needed(done, seed, f"\n{settings}\n")


@pytest.mark.parametrize("causal", [0, 1])
def test_against_f64(causal: int) -> None:
    done = made(b=1, n=100, m=100, d=40, causal=causal)
    r = np.random.default_rng(5)
    inputs = {name: r.standard_normal((1, 100, 40)).astype(np.float32) for name in "QKV"}
    (got,) = run_plan(done.plan, SimDevice(), inputs, text=done.applied.text).outputs.values()
    wanted = attended(np, {name: value.astype(np.float64) for name, value in inputs.items()}, causal)
    assert np.abs(got - wanted).max() < 1e-5 * np.abs(wanted).max()


def test_no_scores_in_memory() -> None:
    """Of global memory the plan has its arguments alone, and they are read as often as there are blocks of queries."""
    sizes = {"b": 2, "n": 150, "m": 130, "d": 64}
    report = run_schedule("attention", None, {name: str(n) for name, n in sizes.items()}, None, RunOptions("sim", 3)).report
    assert report.ok
    assert {b.name for b in made(**sizes).plan.buffers} == {"Q", "K", "V", "O"}
    blocks = ceil(sizes["n"] / 128)
    elements = {(one.buffer, one.kind): one.elements for one in report.traffic or ()}
    queries, keys = (sizes["b"] * sizes[axis] * sizes["d"] for axis in "nm")
    walked = blocks * keys
    assert elements == {("Q", "load"): queries, ("K", "load"): walked, ("V", "load"): walked, ("O", "store"): queries}


@pytest.mark.parametrize("d", [64, 128, 192, 256])
def test_nothing_spills(d: int) -> None:
    done = made(b=8, n=512, m=512, d=d)
    for chip in ARCHITECTURES:
        found = compile_cubin(done.cuda, chip)
        assert found.spill_bytes == 0, chip


def test_sizes_known_at_run_time() -> None:
    given = {"b": "?", "n": "?", "m": "?", "d": "24"}
    sizes = {"Q.0": "2", "Q.1": "70", "K.1": "45"}
    report = run_schedule("attention", None, given, None, RunOptions("sim", 3, sizes=sizes)).report
    assert report.ok and report.races == () and report.faults == (), report


def test_larger_heads_are_refused() -> None:
    with pytest.raises(WeftError, match="99 KiB"):
        made(d=257)
