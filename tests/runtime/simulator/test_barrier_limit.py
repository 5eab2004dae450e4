"""A race check refuses what it cannot tell apart, rather than going wrong silently."""

from __future__ import annotations

import numpy as np
import pytest

from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir import mlir
from weft.runtime.simulator.kernel import SimKernel
from weft.runtime.simulator.machine.shadow import KeyLayout

KERNEL = """
gpu.module @m {
  gpu.func @k(%a: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 40 : index
    %t = gpu.thread_id x
    scf.for %i = %c0 to %n step %c1 {
      %v = memref.load %a[%t] : memref<64xf32>
      memref.store %v, %a[%t] : memref<64xf32>
      gpu.barrier
    }
    gpu.return
  }
}
"""


def test_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    module = mlir.parse(KERNEL, mlir.context())
    kernel = SimKernel(next(mlir.operations(module.operation, "gpu.func")))
    few = KeyLayout(30, 28, 0)  # five bits are left for 32 intervals
    monkeypatch.setattr("weft.runtime.simulator.kernel.KeyLayout", lambda *sizes: few)
    with pytest.raises(WeftError, match="W0757"):
        kernel.launch((1, 1, 1), (64, 1, 1), [np.zeros(64, np.float32)])
    kernel.launch((1, 1, 1), (64, 1, 1), [np.zeros(64, np.float32)], check=False)
