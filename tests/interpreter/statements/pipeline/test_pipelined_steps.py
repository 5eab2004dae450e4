"""A pipelined loop whose bounds are known only at run time: no step, one, and several, with and without its barrier."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scheduled import session_of

from weft.interpreter.ir import mlir
from weft.runtime.devices.report import LaunchReport
from weft.runtime.simulator.kernel import SimKernel

HERE = Path(__file__).parent


def launched(steps: int, first: int, *, barrier: bool) -> tuple[LaunchReport, np.ndarray, np.ndarray]:
    session = session_of(HERE / "steps.weft")
    session.run()
    module = session.module
    barriers = list(mlir.operations(module.operation, "gpu.barrier"))
    assert len(barriers) == 1
    if not barrier:
        barriers[0].erase()
    kernel = next(mlir.operations(module.operation, "gpu.func"))
    x = np.arange(32 * (first + 8 * steps), dtype=np.float32).reshape(32, -1) % 7
    y = np.zeros(32, np.float32)
    report = SimKernel(kernel).launch((2, 1, 1), (16, 1, 1), [x, y, first])
    return report, y, x[:, first:].sum(axis=1)


@pytest.mark.parametrize("first", [0, 8])
@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_any_number_of_steps(steps: int, first: int) -> None:
    report, got, expected = launched(steps, first, barrier=True)
    assert not report.races
    assert not report.faults
    np.testing.assert_array_equal(got, expected)


def test_the_barrier_is_needed() -> None:
    report, _, _ = launched(5, 0, barrier=False)
    assert {race.kind for race in report.races} >= {"RAW"}
