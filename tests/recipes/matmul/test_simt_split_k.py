"""The recipe `simt_split_k`: right and race-free whatever parts the sum is cut into, one buffer of partial sums, no spills."""

from __future__ import annotations

import os
from math import ceil

import numpy as np
import pytest
import sass
from executors import expect_report
from native_device import NativeDevice
from scheduled import run_schedule
from test_matmul import BARRIER, races_of_text, races_simulated, without_barrier

from weft.dsl.diagnostics import Source
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.cuda.nvrtc import ARCHITECTURES
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.run.execution import RunOptions
from weft.runtime.run.runner import run_plan
from weft.verify import verify_source

SOAK = "WEFT_SOAK" in os.environ
SIZES = ((130, 70, 300), (256, 128, 256), (1, 1, 40), (127, 129, 65))


def made(m: int, n: int, k: int, **settings: str) -> Planned:
    given = {"m": str(m), "n": str(n), "k": str(k), **settings}
    return planned(applied(Choice("simt_split_k", None, given).open()))


@pytest.mark.few(3)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("parts", [2, 4, 8])
def test_parts_of_the_sum(size: tuple[int, int, int], parts: int) -> None:
    m, n, k = size
    dtype = "f64" if (m + parts) % 3 == 0 else "f32"
    settings = {"m": str(m), "n": str(n), "k": str(k), "parts": str(parts), "type": dtype}
    report = run_schedule("simt_split_k", None, settings, None, RunOptions("sim", 3)).report
    expect_report(report)
    assert not [c for c in report.bank_conflicts or () if c.kind == "load" and c.conflicts]
    length = ceil(k / parts / 16) * 16
    temporaries = [b.shape for b in made(m, n, k, parts=str(parts), type=dtype).plan.buffers if b.role == "temp"]
    assert temporaries == [(ceil(k / length), m, n)]


def test_the_text_on_the_cpu() -> None:
    done = made(130, 70, 300)
    arrays = random_inputs(functions.signature(done.applied.payload, done.plan.entry), 4)
    for reverse in (False, True):
        got = run_plan(done.plan, NativeDevice(reverse=reverse), arrays, text=done.cuda).outputs["C"]
        np.testing.assert_allclose(got, arrays["A"] @ arrays["B"], rtol=1e-4, atol=1e-4)


def test_one_barrier_a_step_and_it_is_needed() -> None:
    done = made(20, 12, 70, parts="2")
    (barrier,) = BARRIER.finditer(done.cuda)
    assert verify_source(Source("whole.mlir", str(done.applied.module))).ok
    assert races_of_text(done, done.cuda) == []
    less = without_barrier(done.applied.module, 0)
    assert not verify_source(Source("less.mlir", less)).ok
    assert races_simulated(done, less)
    assert races_of_text(done, done.cuda[: barrier.start()] + done.cuda[barrier.end() :])


@pytest.mark.parametrize("chip", ARCHITECTURES if SOAK else ("sm_80", "sm_90a"))
def test_machine_code(chip: str) -> None:
    """1024³ in tiles of 128x128 are 64: in two parts they are 128 blocks."""
    for size in ((1024, 1024, 1024), (1000, 777, 333)) if SOAK or chip == "sm_80" else ((1000, 777, 333),):
        done = made(*size, parts="2")
        if size[0] == 1024:
            assert [launch.grid for launch in done.plan.launches] == [(8, 8, 2), (4096, 1, 1)]
        for kernel in ("matmul", "matmul_1"):
            used = sass.resources(done.cuda, kernel, chip)
            assert used.spill_bytes == used.stack_bytes == 0, used
