"""gpu: ids, sizes, the barrier, printf."""

from __future__ import annotations

import json

from ....interpreter.ir.mlir import ir
from ...kernel_form import axis_of, refuse
from ..expression import Expr, binary
from ..integers import add, literal, multiply
from ..kernel import Kernel
from ..ranges import Range
from ..registry import writes

BLOCK_LIMIT = (1024, 1024, 64)
GRID_LIMIT = ((1 << 31) - 1, 65535, 65535)
WARP = 32


def _thread(kernel: Kernel, axis: int) -> Expr:
    count = kernel.block[axis] if kernel.block else None
    return kernel.processor(f"t{'xyz'[axis]}", f"threadIdx.{'xyz'[axis]}", count, BLOCK_LIMIT[axis])


def _block(kernel: Kernel, axis: int) -> Expr:
    count = kernel.grid[axis] if kernel.grid else None
    return kernel.processor(f"b{'xyz'[axis]}", f"blockIdx.{'xyz'[axis]}", count, GRID_LIMIT[axis])


def _size(builtin: str, known: tuple[int, int, int] | None, axis: int, limits: tuple[int, int, int]) -> Expr:
    if known is not None:
        return literal(known[axis])
    return Expr(f"(int){builtin}.{'xyz'[axis]}", "int", 11, Range(1, limits[axis]), atom=True)


def _block_size(kernel: Kernel, axis: int) -> Expr:
    return _size("blockDim", kernel.block, axis, BLOCK_LIMIT)


@writes("gpu.thread_id")
def thread_id(kernel: Kernel, op: ir.Operation) -> None:
    kernel.values[op.results[0]] = _thread(kernel, axis_of(op))


@writes("gpu.block_id")
def block_id(kernel: Kernel, op: ir.Operation) -> None:
    kernel.values[op.results[0]] = _block(kernel, axis_of(op))


@writes("gpu.block_dim")
def block_dim(kernel: Kernel, op: ir.Operation) -> None:
    kernel.values[op.results[0]] = _block_size(kernel, axis_of(op))


@writes("gpu.grid_dim")
def grid_dim(kernel: Kernel, op: ir.Operation) -> None:
    kernel.values[op.results[0]] = _size("gridDim", kernel.grid, axis_of(op), GRID_LIMIT)


@writes("gpu.global_id")
def global_id(kernel: Kernel, op: ir.Operation) -> None:
    axis = axis_of(op)
    made = add(multiply(_block(kernel, axis), _block_size(kernel, axis)), _thread(kernel, axis))
    kernel.bind(op.results[0], made)


def _linear_thread(kernel: Kernel) -> Expr:
    x, y, z = (_thread(kernel, axis) for axis in range(3))
    width, height = _block_size(kernel, 0), _block_size(kernel, 1)
    total = add(x, multiply(width, add(y, multiply(height, z))))
    limit = kernel.block[0] * kernel.block[1] * kernel.block[2] if kernel.block else 1024
    return total.typed("int", Range(0, limit - 1)) if total.type == "int" else total


@writes("gpu.lane_id")
def lane_id(kernel: Kernel, op: ir.Operation) -> None:
    made = binary("%", _linear_thread(kernel), literal(WARP), "int", Range(0, WARP - 1))
    kernel.bind(op.results[0], made, "lane")


@writes("gpu.subgroup_id")
def subgroup_id(kernel: Kernel, op: ir.Operation) -> None:
    thread = _linear_thread(kernel)
    high = thread.range.high if thread.range else 1023
    kernel.bind(op.results[0], binary("/", thread, literal(WARP), "int", Range(0, high // WARP)), "warp")


@writes("gpu.subgroup_size")
def subgroup_size(kernel: Kernel, op: ir.Operation) -> None:
    kernel.values[op.results[0]] = literal(WARP)


@writes("gpu.num_subgroups")
def num_subgroups(kernel: Kernel, op: ir.Operation) -> None:
    x, y, z = (_block_size(kernel, axis) for axis in range(3))
    threads = add(multiply(multiply(x, y), z), literal(WARP - 1))
    kernel.bind(op.results[0], binary("/", threads, literal(WARP), "int", Range(1, 32)), "warps")


@writes("gpu.barrier")
def barrier(kernel: Kernel, op: ir.Operation) -> None:
    """`__syncthreads` orders all memory; a barrier whose fence covers less asks for less."""
    if "scope" in op.attributes and "workgroup" not in str(op.attributes["scope"]):
        raise refuse("W0503", f"gpu.barrier of scope {op.attributes['scope']}", op)
    kernel.flush()
    kernel.line("__syncthreads();")


@writes("gpu.printf")
def printf(kernel: Kernel, op: ir.Operation) -> None:
    text = json.dumps(ir.StringAttr(op.attributes["format"]).value)
    arguments = [kernel.expr(v) for v in op.operands]
    kernel.flush()
    kernel.line(f"printf({', '.join([text, *(a.text for a in arguments)])});")
