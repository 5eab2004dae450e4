"""The kernels of a module, and the names by which the host plan, the CUDA text and the simulator all know them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from ...dsl.diagnostics import fail
from ...interpreter.ir import mlir
from ...interpreter.ir.clone import UNPROVEN
from ...interpreter.ir.functions import inputs_of, symbol, workgroup_buffers
from ...interpreter.ir.mlir import ir
from ...interpreter.memory.spaces import is_shared
from ..cuda.abi import STATIC_SHARED_LIMIT
from ..cuda.module import kernel_functions as kernels_by_symbol
from ..cuda.module import kernel_names
from ..plan.dtypes import itemsize
from .functions import array_type

ALIGNMENT = 16
"""Bytes that each shared array is aligned to."""


@dataclass(frozen=True)
class KernelFunction:
    """A `gpu.func … kernel`.

    `symbol` is `gpu_module::function`; `name` is its name in the CUDA text and in the plan.
    """

    op: ir.Operation
    symbol: str
    name: str


def kernel_functions(module: ir.Module) -> list[KernelFunction]:
    """All kernels of the module, in its order."""
    names = kernel_names(module)
    return [KernelFunction(op, symbol, names[symbol]) for symbol, op in kernels_by_symbol(module)]


def shared_memory(kernel: ir.Operation) -> tuple[int, int]:
    """Bytes of shared memory that a kernel declares, and how many of them a launch of its CUDA text must pass."""
    sizes: list[int] = []
    for value in _shared_buffers(kernel):
        type_ = ir.MemRefType(value.type)
        dtype, shape = array_type(type_, f"shared memory of @{symbol(kernel)}")
        if shape is None or None in shape:
            raise fail("W0733", f"shared memory of @{symbol(kernel)} has a dynamic shape: {type_}")
        sizes.append(prod(s for s in shape if s is not None) * itemsize(dtype))
    aligned = sum(-(-size // ALIGNMENT) * ALIGNMENT for size in sizes)
    return (aligned, aligned) if aligned > STATIC_SHARED_LIMIT else (sum(sizes), 0)


def unproven(kernel: ir.Operation) -> str | None:
    """Why a kernel is not proven race-free; None if it is, or was never asked."""
    return ir.StringAttr(kernel.attributes[UNPROVEN]).value if UNPROVEN in kernel.attributes else None


def _shared_buffers(kernel: ir.Operation) -> Iterator[ir.Value]:
    """Workgroup attributions, and allocations in the workgroup's address space."""
    inputs = inputs_of(kernel)
    yield from list(kernel.regions[0].blocks[0].arguments)[inputs : inputs + workgroup_buffers(kernel)]
    for op in mlir.operations(kernel, "memref.alloc", "memref.alloca"):
        if is_shared(op.results[0].type):
            yield op.results[0]
