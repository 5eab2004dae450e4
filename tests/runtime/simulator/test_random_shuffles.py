"""Random kernels with shuffles: simulator, text and CPU agree, and where lanes decide the proof and the simulator find it."""

from __future__ import annotations

import os

import numpy as np
import pytest
from contexts import one_context
from native_device import NativeDevice
from random_shuffles import WARPS, RandomShuffles

from weft.interpreter.ir import mlir
from weft.interpreter.proof.kernels.kernels import kernel_uses, model_of
from weft.interpreter.proof.races.proof import Findings
from weft.runtime.cpu.device import CpuDevice
from weft.runtime.cuda.module import emit
from weft.runtime.devices.device import Device
from weft.runtime.host.host import make_plan
from weft.runtime.run.runner import RunResult, run_plan
from weft.runtime.simulator.device import SimDevice

SEEDS = range(300 if "WEFT_SOAK" in os.environ else 4)
GIVEN = np.random.default_rng(1).integers(-1000, 1000, 32 * WARPS).astype(np.int32)


def run(module: mlir.ir.Module, device: Device) -> RunResult:
    text = emit(module) if device.wants == "cuda" else str(module)
    return run_plan(make_plan(module), device, {"A": GIVEN.copy(), "B": GIVEN.copy()}, text=text)


def refused(module: mlir.ir.Module) -> set[str]:
    """The codes that the proof gives."""
    return {one.code for use in kernel_uses(module) for one in Findings(model_of(use)).diagnostics()}


@pytest.mark.parametrize("seed", SEEDS)
def test_all_who_run_it_agree(seed: int) -> None:
    module = mlir.parse(RandomShuffles(seed).module(), one_context())
    assert not refused(module)
    wanted = run(module, SimDevice())
    assert not wanted.races and not wanted.faults
    for device in (CpuDevice(2), *([NativeDevice("quick")] if seed % 3 == 0 else [])):
        assert np.array_equal(run(module, device).outputs["B"], wanted.outputs["B"])


def test_where_lanes_decide() -> None:
    """Whatever the simulator finds the proof refuses; in most of the kernels there is something."""
    found = 0
    for seed in SEEDS:
        module = mlir.parse(RandomShuffles(seed).module(torn=True), one_context())
        faults = {fault.kind for fault in run(module, SimDevice()).faults or ()}
        assert faults <= {"divergent barrier"} and refused(module) <= {"W0603"}
        assert not faults or refused(module)
        found += bool(faults)
    assert found >= len(SEEDS) // 2
