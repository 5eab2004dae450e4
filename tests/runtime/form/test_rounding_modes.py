"""An op that asks for a rounding mode of its own is refused by everything that rounds to nearest."""

from __future__ import annotations

import numpy as np
import pytest
from contexts import one_context

from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir import mlir
from weft.runtime.cpu.reference import reference
from weft.runtime.cuda.module import emit
from weft.runtime.form.rounding import MODES
from weft.runtime.simulator.kernel import SimKernel

OPS = {
    "arith.addf": "arith.addf %a, %a {} : f32", "arith.mulf": "arith.mulf %a, %a {} : f32",
    "arith.divf": "arith.divf %a, %a {} : f32",
    "math.fma": "math.fma %a, %a, %a {} : f32", "arith.truncf": "arith.truncf %a {} : f32 to f16",
}  # fmt: skip
KERNEL = """gpu.module @m {{ gpu.func @k(%x: memref<4xf32>, %y: memref<4x{kind}>) kernel {{
  %i = gpu.thread_id x
  %a = memref.load %x[%i] : memref<4xf32>
  %r = {op}
  memref.store %r, %y[%i] : memref<4x{kind}>
  gpu.return }} }}"""
PAYLOAD = "func.func @f(%a: f32) -> {kind} {{\n  %r = {op}\n  return %r : {kind}\n}}"


def code(make) -> str | None:
    try:
        make()
    except WeftError as error:
        return error.diagnostics[0].code
    return None


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("mode", MODES)
def test_only_to_nearest_is_taken(op: str, mode: str) -> None:
    spelled = {"op": OPS[op].format(mode), "kind": "f16" if op == "arith.truncf" else "f32"}
    kernel = mlir.parse(KERNEL.format(**spelled), one_context())
    payload = mlir.parse(PAYLOAD.format(**spelled), one_context())
    nearest = mode == "to_nearest_even"
    assert code(lambda: emit(kernel)) == (None if nearest else "W0503")
    assert code(lambda: SimKernel(next(mlir.operations(kernel.operation, "gpu.func")))) == (None if nearest else "W0750")
    assert code(lambda: reference(payload, None, {"arg0": np.full((), 1, np.float32)})) == (None if nearest else "W0802")
