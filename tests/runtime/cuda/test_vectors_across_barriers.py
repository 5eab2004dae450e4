"""A vector that is loaded before a barrier and stored behind it: one access on each side, and the barrier between them."""

from __future__ import annotations

import numpy as np
import pytest
from contexts import one_context
from native import run_native

from weft.interpreter.ir import mlir
from weft.runtime.cuda.module import emit
from weft.runtime.simulator.kernel import SimKernel

KERNEL = """\
gpu.module @m {{
  gpu.func @turn(%A: memref<64x{kind}>) workgroup(%s: memref<64x{kind}, 3>) kernel
      attributes {{known_block_size = array<i32: 16, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %here = affine.apply affine_map<(t) -> (t * 4)>(%t)
    %next = affine.apply affine_map<(t) -> ((t * 4 + 4) mod 64)>(%t)
    {body}
    gpu.return
  }}
}}
"""
LOAD = "%v = vector.load {0} : {1}, vector<4x{kind}>"
STORE = "vector.store %v, {0} : {1}, vector<4x{kind}>"
GLOBAL, SHARED = "memref<64x{kind}>", "memref<64x{kind}, 3>"
BODIES = {
    "in place": [LOAD.format("%A[%here]", GLOBAL, kind="{kind}"), "gpu.barrier", STORE.format("%A[%next]", GLOBAL, kind="{kind}")],
    "through shared memory": [
        LOAD.format("%A[%here]", GLOBAL, kind="{kind}"), STORE.format("%s[%next]", SHARED, kind="{kind}"), "gpu.barrier",
        LOAD.replace("%v", "%w").format("%s[%here]", SHARED, kind="{kind}"), "gpu.barrier",
        STORE.replace("%v", "%w").format("%A[%here]", GLOBAL, kind="{kind}"),
    ],
    "stored in a loop": [
        LOAD.format("%A[%here]", GLOBAL, kind="{kind}"), "scf.for %i = %c0 to %c1 step %c1 {{", "gpu.barrier",
        STORE.format("%A[%next]", GLOBAL, kind="{kind}"), "}}",
    ],
}  # fmt: skip


@pytest.mark.few()
@pytest.mark.parametrize(("kind", "dtype"), [("f32", np.float32), ("f16", np.float16), ("i8", np.int8), ("f64", np.float64)])
@pytest.mark.parametrize("case", BODIES)
def test_a_vector_waits(case: str, kind: str, dtype: type) -> None:
    body = "\n    ".join(BODIES[case]).format(kind=kind)
    module = mlir.parse(KERNEL.format(kind=kind, body=body), one_context())
    text = emit(module)
    for run in ("simulator", "text"):
        a = np.arange(64).astype(dtype)
        if run == "text":
            run_native(text, "turn", (1,), (16,), [a])
        else:
            (kernel,) = mlir.operations(module.operation, "gpu.func")
            report = SimKernel(kernel).launch((1, 1, 1), (16, 1, 1), [a])
            assert not report.races and not report.faults
        assert (a == np.roll(np.arange(64), 4).astype(dtype)).all(), run
