"""Programs that the recipes have never seen: each schedule is applied to its payload, run, and judged by three witnesses.

The oracle is the untouched payload, JIT-compiled. The simulator runs the scheduled module and looks for races; g++ runs the
emitted CUDA text, forwards and with the threads of each block in reverse order.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from native_device import NativeDevice
from scheduled import run_schedule

from weft.pipeline import Choice, applied, planned
from weft.runtime.cuda.nvrtc import ARCHITECTURES, compile_cubin
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.reference.reference import reference
from weft.runtime.run.compare import compare
from weft.runtime.run.execution import RunOptions
from weft.runtime.run.runner import run_plan

HERE = Path(__file__).parent
PROGRAMS = sorted(path.stem for path in HERE.glob("*.weft"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_simulated(name: str) -> None:
    report = run_schedule(str(HERE / f"{name}.weft"), None, {}, None, RunOptions("sim", 1)).report
    assert report.ok, report
    assert report.races == ()
    assert report.faults == ()
    assert report.max_rel_error is not None
    assert report.streams_created == report.streams_destroyed


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
def test_text(name: str, backwards: bool) -> None:
    done = applied(Choice(str(HERE / f"{name}.weft"), None, {}).open())
    ready = planned(done)
    signature = functions.signature(done.payload, ready.plan.entry)
    inputs = random_inputs(signature, 7)
    result = run_plan(ready.plan, NativeDevice(reverse=backwards), inputs, text=ready.cuda)
    expected = reference(done.payload, ready.plan.entry, inputs)
    compared = compare(signature, result.outputs, expected)
    assert compared.ok, compared


@pytest.mark.parametrize("name", PROGRAMS)
def test_registers_suffice(name: str) -> None:
    text = planned(applied(Choice(str(HERE / f"{name}.weft"), None, {}).open())).cuda
    for arch in ARCHITECTURES:
        for kernel, used in compile_cubin(text, arch).kernels.items():
            assert (used.spill_bytes, used.stack_bytes) == (0, 0), (kernel, arch, used)
