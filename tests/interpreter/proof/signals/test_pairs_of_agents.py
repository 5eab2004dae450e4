"""Pairs of agents on one tile: the proof and the simulator against an enumeration.

`WEFT_SOAK=1` asks of 3000 kernels in place of a few, from `WEFT_SEED` on.
"""

from __future__ import annotations

import os
from collections import Counter

import ml_dtypes
import numpy as np
import pytest
from contexts import one_context
from random_agents import Kernel, random_agents

from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir
from weft.interpreter.proof.kernels.kernels import kernel_model
from weft.interpreter.proof.races.proof import Findings
from weft.runtime.simulator.kernel import Order, SimKernel

FIRST = int(os.environ.get("WEFT_SEED", "0"))
BATCH = 30
KERNELS = 3000 if "WEFT_SOAK" in os.environ else 30
ORDERS: tuple[Order, ...] = ("forward", 1)


def objections(function: ir.Operation) -> set[str]:
    """What the simulator finds between accesses."""
    found: set[str] = set()
    made = SimKernel(function)
    for order in ORDERS:
        arrays = [np.zeros((64, 64), ml_dtypes.bfloat16) for _ in range(3)]
        report = made.launch((1, 1, 1), (128, 1, 1), arrays, order=order)
        found |= {race.kind for race in report.races}
        found |= {fault.kind for fault in report.faults if fault.kind == "missing proxy fence"}
    return found


def compare(seed: int) -> str:
    """Fails where a witness is wrong. The simulator takes copies by threads, or agents that wait for each other, and not both."""
    kernel: Kernel = random_agents(seed)
    text, racy = kernel.text(), kernel.racy()
    told = f"seed {seed}: {racy}\n{text}"
    module = mlir.parse(text, one_context())
    function = next(mlir.operations(module.operation, "gpu.func"))
    conflicts = Findings(kernel_model(function)).conflicts
    assert bool(conflicts) == racy, f"the proof: {conflicts}; {told}"
    if not any(step.kind == "copy" for step in kernel.steps):
        found = objections(function)
        assert bool(found) == racy, f"the simulator: {found}; {told}"
    return "racy" if racy else "right"


@pytest.mark.parametrize("start", range(FIRST, FIRST + KERNELS, BATCH))
def test_all_witnesses_agree(start: int) -> None:
    found = Counter(map(compare, range(start, start + BATCH)))
    assert found["racy"] and found["right"], "the sample must hold kernels of both kinds"
