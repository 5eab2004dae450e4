"""Chains of every view op: the proof, NumPy and, where it knows the ops, the simulator agree on who touches what.

40 kernels in a test run, 4,000 in a soak (`WEFT_SOAK`).
"""

from __future__ import annotations

import os
from collections import Counter

import numpy as np
import pytest
from contexts import one_context
from view_chains import SHARED, Maker, collide

from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir import mlir
from weft.interpreter.memory.views import VIEWS
from weft.interpreter.proof.kernels.kernels import kernel_model
from weft.interpreter.proof.races.conflicts import conflicts
from weft.runtime.simulator.kernel import SimKernel

BATCHES, KERNELS = (40, 100) if "WEFT_SOAK" in os.environ else (1, 40)
NOT_IN_KERNELS = {"bufferization.to_buffer", "bufferization.to_tensor", "nvgpu.tma.create.descriptor"}
NO_MEMREFS = {"nvgpu.warpgroup.generate.descriptor"}
DTYPES = {"f32": np.float32, "i8": np.int8}


def simulated(kernel: Maker, module: mlir.ir.Module) -> bool | None:
    """Whether the simulator sees a race; None where it does not know an op."""
    arrays = [np.zeros(3, np.float32), np.zeros(1, np.int32), np.zeros(2, np.int32)]
    if kernel.root.space != SHARED:
        arrays.append(np.zeros(kernel.root.shape, DTYPES[kernel.root.element]))
    try:
        function = SimKernel(next(mlir.operations(module.operation, "gpu.func")))
    except WeftError:
        return None
    return bool(function.launch((1, 1, 1), (12, 1, 1), arrays).races)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_both_witnesses_agree(batch: int) -> None:
    counts: Counter[str] = Counter()
    used: set[str] = set()
    for seed in range(batch * KERNELS, (batch + 1) * KERNELS):
        kernel = Maker(seed, used)
        where = f"seed {seed}\n{kernel.text}"
        module = mlir.parse(kernel.text, one_context())
        found = conflicts(kernel_model(next(mlir.operations(module.operation, "gpu.func"))))
        expected = collide(kernel)
        definite = any(not c.assumed for c in found)
        assert bool(found) or not expected, f"a race is missed: {where}"
        assert expected or not definite, f"a race that is none is called definite: {where}"
        if kernel.exact:
            assert bool(found) == expected, f"what is affine is not decided: {where}"
        races = simulated(kernel, module)
        assert races in (None, expected), f"the simulator and NumPy differ: {where}"
        counts["racy"] += expected
        counts["decided"] += kernel.exact
        counts["simulated"] += races is not None
        counts["atomic"] += kernel.atomic
    assert used == set(VIEWS) - NOT_IN_KERNELS - NO_MEMREFS | {"memref.atomic_rmw"}, "every view is tried"
    assert KERNELS / 4 < counts["racy"] < KERNELS
    assert counts["decided"] > KERNELS / 2 and counts["simulated"] > KERNELS / 5, counts
    print(counts)
