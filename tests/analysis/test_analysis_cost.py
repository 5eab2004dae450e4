"""What the analysis may cost: processor time, the best of a few runs. `benchmarks/analysis.py` shows more."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from analysis import analysed, staged

from weft.interpreter import mlir

RUNS = 3


@pytest.mark.parametrize(("buffers", "seconds"), [(2, 0.05), (20, 2.0)], ids=["staged matmul", "20 staged buffers"])
def test_cost(buffers: int, seconds: float) -> None:
    module = mlir.parse(staged(buffers), mlir.context())
    (kernel,) = mlir.operations(module.operation, "gpu.func")
    taken: list[float] = []
    for _ in range(RUNS):
        start = time.process_time()
        _, barriers = analysed(kernel)
        taken.append(time.process_time() - start)
        assert barriers == 2
    assert min(taken) < seconds
