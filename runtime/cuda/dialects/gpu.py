"""gpu: ids, sizes, the barrier, printf."""

from __future__ import annotations

import json

from ....interpreter.ir.mlir import ir
from ...kernel_form import axis_of, refuse
from ..kernel import Kernel
from ..registry import writes
from ..values.expression import Expr, binary
from ..values.integers import add, literal, multiply
from ..values.ranges import Range

BLOCK_LIMIT = (1024, 1024, 64)
GRID_LIMIT = ((1 << 31) - 1, 65535, 65535)
WARP = 32


def _place(kernel: Kernel, word: str, axis: int) -> Expr:
    """`tx`, `by`, …: of a `thread` or a `block`."""
    sizes, limits = (kernel.block, BLOCK_LIMIT) if word == "thread" else (kernel.grid, GRID_LIMIT)
    letter = "xyz"[axis]
    return kernel.processor(f"{word[0]}{letter}", f"{word}Idx.{letter}", sizes[axis] if sizes else None, limits[axis])


def _size(kernel: Kernel, word: str, axis: int) -> Expr:
    """Of the `block` or the `grid`."""
    sizes, limits = (kernel.block, BLOCK_LIMIT) if word == "block" else (kernel.grid, GRID_LIMIT)
    if sizes is not None:
        return literal(sizes[axis])
    return Expr(f"(int){word}Dim.{'xyz'[axis]}", "int", 11, Range(1, limits[axis]), atom=True)


@writes("gpu.thread_id", "gpu.block_id")
def place(kernel: Kernel, op: ir.Operation) -> None:
    kernel.values[op.results[0]] = _place(kernel, op.name[4:-3], axis_of(op))


@writes("gpu.block_dim", "gpu.grid_dim")
def size(kernel: Kernel, op: ir.Operation) -> None:
    kernel.values[op.results[0]] = _size(kernel, op.name[4:-4], axis_of(op))


@writes("gpu.global_id")
def global_id(kernel: Kernel, op: ir.Operation) -> None:
    axis = axis_of(op)
    made = add(multiply(_place(kernel, "block", axis), _size(kernel, "block", axis)), _place(kernel, "thread", axis))
    kernel.bind(op.results[0], made)


def _linear_thread(kernel: Kernel) -> Expr:
    x, y, z = (_place(kernel, "thread", axis) for axis in range(3))
    width, height = _size(kernel, "block", 0), _size(kernel, "block", 1)
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
    x, y, z = (_size(kernel, "block", axis) for axis in range(3))
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
