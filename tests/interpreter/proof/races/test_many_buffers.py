"""Kernels with many staged buffers are still analysed exactly. What that costs: `benchmarks/analysis.py`."""

from __future__ import annotations

import sys

import pytest
from places import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

from analysis import analysed, staged

from weft.interpreter.ir import mlir


@pytest.mark.parametrize("buffers", [2, 20])
def test_two_barriers_for_any_number_of_buffers(buffers: int) -> None:
    module = mlir.parse(staged(buffers), mlir.context())
    (kernel,) = mlir.operations(module.operation, "gpu.func")
    _, barriers = analysed(kernel)
    assert barriers == 2
