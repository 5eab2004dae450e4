"""The kernels of a module, and the names by which the host plan, the CUDA text and the simulator all know them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from ..dsl.diagnostics import fail
from ..interpreter import mlir
from ..interpreter.mlir import ir
from .cuda.abi import STATIC_SHARED_LIMIT
from .dtypes import itemsize
from .functions import array_type, symbol

ALIGNMENT = 16
"""Bytes that each shared array is aligned to."""


@dataclass(frozen=True)
class KernelFunction:
    """A `gpu.func … kernel`.

    `symbol` is `gpu_module::function`; `name` is its name in the CUDA text and in the plan: the function's own, or
    `gpu_module_function` where several `gpu.module`s have a kernel of that name.
    """

    op: ir.Operation
    symbol: str
    name: str


def kernel_functions(module: ir.Module) -> list[KernelFunction]:
    """All kernels of the module, in its order."""
    found: list[tuple[str, str, ir.Operation]] = []
    for container in mlir.operations(module.operation, "gpu.module"):
        outer = ir.StringAttr(container.attributes["sym_name"]).value
        for function in mlir.operations(container, "gpu.func"):
            if "gpu.kernel" in function.attributes or "kernel" in function.attributes:
                found.append((outer, ir.StringAttr(function.attributes["sym_name"]).value, function))
    uses = Counter(name for _, name, _ in found)
    return [
        KernelFunction(op, f"{outer}::{name}", name if uses[name] == 1 else f"{outer}_{name}")
        for outer, name, op in found
    ]


def shared_memory(kernel: ir.Operation) -> tuple[int, int]:
    """Bytes of shared memory that a kernel declares, and how many of them a launch of its CUDA text must pass."""
    declared = 0
    for value in _shared_buffers(kernel):
        type_ = ir.MemRefType(value.type)
        dtype, shape = array_type(type_, f"shared memory of @{symbol(kernel)}")
        if shape is None or None in shape:
            raise fail("W0733", f"shared memory of @{symbol(kernel)} has a dynamic shape: {type_}")
        declared += -(-prod(s for s in shape if s is not None) * itemsize(dtype) // ALIGNMENT) * ALIGNMENT
    return declared, declared if declared > STATIC_SHARED_LIMIT else 0


def _shared_buffers(kernel: ir.Operation) -> Iterator[ir.Value]:
    """Workgroup attributions, and allocations in the workgroup's address space."""
    inputs = len(ir.FunctionType(ir.TypeAttr(kernel.attributes["function_type"]).value).inputs)
    count = (
        ir.IntegerAttr(kernel.attributes["workgroup_attributions"]).value
        if "workgroup_attributions" in kernel.attributes
        else 0
    )
    yield from list(kernel.regions[0].blocks[0].arguments)[inputs : inputs + count]
    for op in mlir.operations(kernel, "memref.alloc", "memref.alloca"):
        if "workgroup" in str(ir.MemRefType(op.results[0].type).memory_space):
            yield op.results[0]
