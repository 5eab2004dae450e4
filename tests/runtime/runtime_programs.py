"""Small modules and plans that several tests of the runtime share."""

from __future__ import annotations

from contexts import one_context

from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir
from weft.runtime.plan.plan import (
    Alloc,
    Buffer,
    BufferView,
    Copy,
    Free,
    KernelEntry,
    Launch,
    Param,
    Plan,
    Scalar,
    ScalarOf,
    ScalarValue,
)


def parse(text: str) -> ir.Module:
    return mlir.parse(text, one_context())


def host(function: str, kernels: str = "") -> ir.Module:
    """A module with gpu functions `kernels` in a gpu.module @kernels."""
    return parse(f"module attributes {{gpu.container_module}} {{ {function}\n gpu.module @kernels {{ {kernels} }} }}")


def launch(kernel: str, args: str, grid: str = "%c1, %c1, %c1", block: str = "%c1, %c1, %c1") -> str:
    return f"gpu.launch_func @kernels::@{kernel} blocks in ({grid}) threads in ({block}) args({args})"


COPY_KERNEL = """gpu.func @copy(%a: memref<8xf32>, %b: memref<8xf32>) kernel {
  %x = gpu.thread_id x
  %v = memref.load %a[%x] : memref<8xf32>
  memref.store %v, %b[%x] : memref<8xf32>
  gpu.return }"""


def whole(name: str, *shape: int) -> BufferView:
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    return BufferView(name, 0, shape, tuple(strides[: len(shape)]))


def two_stream_plan() -> Plan:
    """y = 3 * x through a temporary, on two streams: a launch, a copy that waits for it, a launch that waits for the copy."""
    param = Param("v", "f32", (8,), (1,))
    return Plan(
        "f",
        (
            Buffer("x", "f32", (8,), "input"),
            Buffer("y", "f32", (8,), "output"),
            Buffer("t", "f32", (8,), "temp"),
            Buffer("u", "f32", (8,), "temp"),
        ),
        (Scalar("factor", "f32"),),
        (
            Alloc(buffer="t"),
            Launch(
                kernel="scale",
                grid=(1, 1, 1),
                block=(8, 1, 1),
                args=(whole("x", 8), whole("t", 8), ScalarValue("f32", ScalarOf("factor"))),
            ),
            Alloc(buffer="u", stream=1),
            Copy(source=whole("t", 8), target=whole("u", 8), stream=1, after=(1,)),
            Launch(
                kernel="scale",
                grid=(1, 1, 1),
                block=(8, 1, 1),
                args=(whole("u", 8), whole("y", 8), ScalarValue("f32", 1.0)),
                after=(3,),
            ),
            Free(buffer="t"),
            Free(buffer="u"),
        ),
        (KernelEntry("scale", "g::scale", (param, param, Param("factor", "f32")), 128, 0),),
    )
