"""Attention by tensor cores: right at any size by every witness; scores in registers alone; what the machine executes."""

from __future__ import annotations

import os
import random
from math import ceil

import numpy as np
import pytest
from executors import expect_computed, expect_report
from judging import assert_barriers_needed, expect_right  # pyright: ignore[reportMissingImports]
from sass import COMPILED_FOR, whole
from scheduled import report_of, run_schedule

from weft.dsl.diagnostics import WeftError
from weft.pipeline import Choice, Planned, applied, planned
from weft.recipes.attention.payload import attended
from weft.runtime.cpu.reference import reference
from weft.runtime.cuda.nvrtc import compile_cubin
from weft.runtime.files.inputs import random_inputs, sized
from weft.runtime.host import functions
from weft.runtime.plan.dtypes import narrow, widen
from weft.runtime.run.execution import RunOptions
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

SOAK = "WEFT_SOAK" in os.environ
RECIPE = "attention_tensor"


def made(**settings: object) -> Planned:
    return planned(applied(Choice(RECIPE, None, {name: str(value) for name, value in settings.items()}).open()))


def random_size(seed: int) -> dict[str, object]:
    r = random.Random(seed)
    d = r.choice((64, r.randint(1, 64), r.randint(65, 256)))
    n, m = (r.randint(1, 150) for _ in range(2))
    kind, causal = ("f16", "bf16")[seed % 2], r.randint(0, 1)
    chosen: dict[str, object] = {"b": r.randint(1, 2), "n": n, "m": m, "d": d, "type": kind, "causal": causal}
    if r.random() < 0.3:
        chosen |= {"stages": r.choice((1, 3)), "bm": 16, "wm": 16, "bn": 16}
    return chosen


@pytest.mark.parametrize("seed", range(40) if SOAK else [32])
def test_random_sizes(seed: int) -> None:
    """On the simulator, as text, and as loops; without any of its barriers it is a race."""
    settings = random_size(seed)
    done = made(**settings)
    expect_right(done, seed, f"\n{settings}\n", native=True)
    if seed % 2 == 0:
        assert_barriers_needed(done, seed, f"\n{settings}\n")


@pytest.mark.few()
@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize(("type", "allowed"), [("f16", 1e-3), ("bf16", 8e-3)])
def test_against_f64(type: str, allowed: float, causal: int) -> None:
    """Powers and results are rounded, to 11 bits and to 8; sums are not."""
    done = made(b=1, n=100, m=100, d=40, type=type, causal=causal)
    r = np.random.default_rng(5)
    inputs = {name: narrow(r.standard_normal((1, 100, 40)).astype(np.float32), type) for name in "QKV"}
    (got,) = run_plan(done.plan, SimDevice(), inputs, text=done.applied.text).outputs.values()
    wanted = attended(np, {name: widen(value, type).astype(np.float64) for name, value in inputs.items()}, causal)
    assert np.abs(widen(got, type) - wanted).max() < allowed * np.abs(wanted).max()


def test_scores_are_nowhere_but_in_registers() -> None:
    """The plan has its arguments alone, which are read as often as there are blocks of queries; a block has three tiles."""
    sizes = {"b": 2, "n": 150, "m": 130, "d": 64}
    done = made(**sizes)
    report = report_of(done.applied, 3)
    expect_report(report)
    assert {b.name for b in done.plan.buffers} == {"Q", "K", "V", "O"}
    (kernel,) = done.plan.kernels
    row = 2 * (sizes["d"] + 8)
    assert kernel.shared_bytes == row * (64 + 2 * (64 + 64))
    blocks = ceil(sizes["n"] / 64)
    elements = {(one.buffer, one.kind): one.elements for one in report.traffic or ()}
    queries, keys = (sizes["b"] * sizes[axis] * sizes["d"] for axis in "nm")
    walked = blocks * keys
    assert elements == {("Q", "load"): queries, ("K", "load"): walked, ("V", "load"): walked, ("O", "store"): queries}


@pytest.mark.parametrize("m", [256, 250])
@pytest.mark.few(1)
def test_one_barrier_a_step(m: int) -> None:
    done = made(b=1, n=128, m=m)
    assert done.cuda.count("__syncthreads") == 1
    assert report_of(done.applied, 3).barriers == 4


@pytest.mark.parametrize(("type", "d", "m"), [("bf16", 64, 512), ("f16", 128, 500), ("bf16", 96, "?")])
@pytest.mark.few(1)
def test_what_the_machine_executes(type: str, d: int, m: int | str) -> None:
    """Products of tensor cores, matrices by `ldmatrix`, copies of 16 bytes past the registers."""
    counts = whole(made(b=2, n=512, m=m, d=d, type=type).cuda, "attention", "sm_80")
    names = {name.split(".")[0] for name in counts.by_mnemonic}
    assert {"HMMA", "LDSM", "LDGSTS", "SHFL", "MUFU"} <= names
    assert set(counts.global_stores) == {32}
    assert not counts.shared_stores.keys() - {128}


@pytest.mark.few(1)
@pytest.mark.parametrize(("type", "d"), [("f16", 64), ("bf16", 128), ("bf16", 192), ("f16", 256)])
def test_no_bank_conflicts(type: str, d: int) -> None:
    settings = {"b": "1", "n": "128", "m": "128", "d": str(d), "type": type}
    report = run_schedule(RECIPE, None, settings, None, RunOptions("sim", 3)).report
    expect_report(report)
    assert {one.buffer for one in report.bank_conflicts or ()} == {"Q_shared", "K_shared", "V_shared"}
    assert not [one for one in report.bank_conflicts or () if one.conflicts]


@pytest.mark.few(1)
@pytest.mark.parametrize(("type", "d"), [("bf16", 16), ("bf16", 64), ("f16", 120), ("bf16", 128), ("f16", 192), ("bf16", 256)])
def test_nothing_spills(type: str, d: int) -> None:
    done = made(b=8, n=512, m=500, d=d, type=type, causal=1)
    for chip in COMPILED_FOR:
        found = compile_cubin(done.cuda, chip)
        assert found.spill_bytes == 0, chip


@pytest.mark.parametrize(("type", "d", "causal"), [("bf16", 40, 0), ("f16", 33, 1)])
@pytest.mark.few(1)
def test_sizes_known_at_run_time(type: str, d: int, causal: int) -> None:
    """One kernel, run at several sizes: of less than a tile, of whole ones, of some."""
    done = made(b="?", n="?", m="?", d=d, type=type, causal=causal)
    signature = functions.signature(done.applied.payload, done.plan.entry)
    for b, n, m in ((1, 1, 1), (2, 70, 45), (1, 128, 64), (1, 130, 200)):
        asked = {"Q.0": str(b), "Q.1": str(n), "K.1": str(m)}
        inputs = random_inputs(sized(signature, asked, done.plan.agreements), 3)
        result = run_plan(done.plan, SimDevice(), inputs, text=done.applied.text)
        wanted = reference(done.applied.payload, None, inputs)
        expect_computed("the simulator", result, signature, wanted, shown=f"\nb={b}, n={n}, m={m}")


def test_larger_heads_are_refused() -> None:
    with pytest.raises(WeftError, match="99 KiB"):
        made(d=257)
