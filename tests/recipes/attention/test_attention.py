"""Attention in one kernel: right at any size and type by every witness, without a buffer of scores or needless traffic."""

from __future__ import annotations

import os
import random
from math import ceil

import numpy as np
import pytest
from executors import expect_computed, expect_report
from judging import assert_barriers_needed, assert_lanes_needed, expect_right  # pyright: ignore[reportMissingImports]
from sass import COMPILED_FOR, whole
from scheduled import report_of, run_schedule

from weft.dsl.diagnostics import WeftError
from weft.pipeline import Choice, Planned, applied, planned
from weft.recipes.attention.payload import attended
from weft.runtime.cpu.reference import reference
from weft.runtime.cuda.nvrtc import compile_cubin
from weft.runtime.files.inputs import random_inputs, sized
from weft.runtime.host import functions
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


@pytest.mark.parametrize("seed", range(40) if SOAK else [16])
def test_random_sizes_and_types(seed: int) -> None:
    """On the simulator, as text, and as loops; without any of its barriers it is a race, without a lane of a shuffle
    divergent."""
    settings = random_size(seed)
    done = made(**settings)
    expect_right(done, seed, f"\n{settings}\n", native=True)
    if seed % 4 == 0:
        assert_barriers_needed(done, seed, f"\n{settings}\n")
        assert_lanes_needed(done, seed, f"\n{settings}\n", native=SOAK)


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
    done = made(**sizes)
    report = report_of(done.applied, 3)
    expect_report(report)
    assert {b.name for b in done.plan.buffers} == {"Q", "K", "V", "O"}
    blocks = ceil(sizes["n"] / 128)
    elements = {(one.buffer, one.kind): one.elements for one in report.traffic or ()}
    queries, keys = (sizes["b"] * sizes[axis] * sizes["d"] for axis in "nm")
    walked = blocks * keys
    assert elements == {("Q", "load"): queries, ("K", "load"): walked, ("V", "load"): walked, ("O", "store"): queries}


@pytest.mark.few(2)
@pytest.mark.parametrize(("type", "d", "stored"), [("f32", 64, 128), ("f32", 192, 128), ("f16", 64, 64), ("bf16", 128, 64)])
def test_accesses_of_16_bytes(type: str, d: int, stored: int) -> None:
    """Of global memory, in bits, as the machine executes them. Halves are stored four at a time, as they are rounded from f32."""
    counts = whole(made(b=2, n=256, m=256, d=d, type=type).cuda, "attention", "sm_90a")
    assert (set(counts.global_loads), set(counts.global_stores)) == ({128}, {stored})


@pytest.mark.parametrize(("type", "d", "loaded"), [("f32", 34, 32), ("f16", 36, 16)])
def test_rows_of_no_whole_vectors(type: str, d: int, loaded: int) -> None:
    counts = whole(made(b=2, n=128, m=64, d=d, type=type).cuda, "attention", "sm_90a")
    assert set(counts.global_loads) == {loaded}


@pytest.mark.few(2)
@pytest.mark.parametrize(("type", "d"), [("f32", 33), ("f32", 64), ("f16", 64), ("bf16", 128), ("f32", 192)])
def test_no_bank_conflicts(type: str, d: int) -> None:
    settings = {"b": "1", "n": "128", "m": "128", "d": str(d), "type": type}
    report = run_schedule("attention", None, settings, None, RunOptions("sim", 3)).report
    expect_report(report)
    assert {one.buffer for one in report.bank_conflicts or ()} > {"Q_shared", "K_shared", "V_shared", "powers"}
    assert not [one for one in report.bank_conflicts or () if one.conflicts]


def test_a_temporary_in_shared_memory_is_read_in_vectors() -> None:
    """Powers are computed by an op with a map, so that `vectorize` of the product behind it knows where `launch` puts them."""
    done = made(b=1, n=128, m=64)
    _, remarks, *_ = [step.remarks for step in done.applied.session.steps if step.text.startswith("vectorize [qk, pv, ")]
    assert list(remarks) == ["lhs: loaded 4 elements at once", "rhs: loaded 4 elements at once"]
    assert "(&powers_frag[j][0]) = *reinterpret_cast<const float4*>(&powers[0]" in done.cuda


@pytest.mark.few(1)
@pytest.mark.parametrize(("type", "d"), [("f16", 120), *(("f32", d) for d in (16, 64, 128, 192, 224, 256))])
def test_nothing_spills(type: str, d: int) -> None:
    done = made(b=8, n=512, m=512, d=d, type=type)
    for chip in COMPILED_FOR:
        found = compile_cubin(done.cuda, chip)
        assert found.spill_bytes == 0, chip


@pytest.mark.few(1)
@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize(("type", "d"), [("f32", 24), ("bf16", 40), ("f16", 33)])
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


def test_sequences_of_two_lengths_are_refused() -> None:
    """K and V have the same keys, which the host checks."""
    done = made(b="?", n="?", m="?", d=8)
    inputs = {name: np.ones((1, length, 8), np.float32) for name, length in (("Q", 5), ("K", 6), ("V", 7))}
    with pytest.raises(WeftError, match="axis 1 of `K` has 6 elements, and axis 1 of `V` has 7"):
        run_plan(done.plan, SimDevice(), inputs, text=done.applied.text)


def test_larger_heads_are_refused() -> None:
    with pytest.raises(WeftError, match="99 KiB"):
        made(d=257)
