"""Programs that the recipes have never seen: each schedule is applied to its payload, run, and judged by four witnesses.

The oracle is the untouched payload, JIT-compiled. The simulator runs the scheduled module and looks for races; g++ runs the
emitted CUDA text, forwards and with the threads of each block in reverse order; the launches are JIT-compiled as loops.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from executors import expect_computed, expect_equal, expect_report
from native_device import NativeDevice

from weft.execution import run_applied
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.cuda.nvrtc import ARCHITECTURES, compile_cubin
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.run.execution import RunOptions
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

HERE = Path(__file__).parent
PROGRAMS = sorted(path.stem for path in HERE.glob("*.weft"))


CHIPS = [ARCHITECTURES if "WEFT_SOAK" in os.environ else (ARCHITECTURES[i % len(ARCHITECTURES)],) for i in range(len(PROGRAMS))]
"""Of each program: one, and each a quarter of them; all in a soak."""


@cache
def ready(name: str) -> Planned:
    return planned(applied(Choice(str(HERE / f"{name}.weft"), None, {}).open()))


@cache
def expected(name: str) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Inputs, and what the payload makes of them."""
    payload, entry = ready(name).applied.payload, ready(name).plan.entry
    inputs = random_inputs(functions.signature(payload, entry), 7)
    return inputs, reference(payload, entry, inputs)


@pytest.mark.parametrize("name", PROGRAMS)
def test_simulated(name: str) -> None:
    report = run_applied(ready(name).applied, None, RunOptions("sim", 1), SimDevice()).report
    expect_report(report)
    assert report.races == ()
    assert report.faults == ()
    assert report.max_rel_error is not None
    assert report.streams_created == report.streams_destroyed


@pytest.mark.few(10)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
def test_text(name: str, backwards: bool) -> None:
    done, (inputs, wanted) = ready(name), expected(name)
    result = run_plan(done.plan, NativeDevice(reverse=backwards), inputs, text=done.cuda)
    expect_computed("the text by g++", result, functions.signature(done.applied.payload, done.plan.entry), wanted)


@pytest.mark.few(10)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_was_made_computes_what_the_payload_does(name: str) -> None:
    """Its launches as loops, compiled for the CPU: nothing of the simulator."""
    done, (inputs, wanted) = ready(name), expected(name)
    got = reference(done.applied.module, done.plan.entry, inputs)
    assert "gpu.launch_func" in done.applied.text and wanted.keys() == got.keys()
    for output, array in wanted.items():
        expect_equal("the launches as loops", output, got[output], array, allowed=4e-5)


@pytest.mark.few(8)
@pytest.mark.parametrize(("name", "chips"), list(zip(PROGRAMS, CHIPS, strict=True)), ids=PROGRAMS)
def test_registers_suffice(name: str, chips: tuple[str, ...]) -> None:
    for arch in chips:
        for kernel, used in compile_cubin(ready(name).cuda, arch).kernels.items():
            assert (used.spill_bytes, used.stack_bytes) == (0, 0), (kernel, arch, used)
