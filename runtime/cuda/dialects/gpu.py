"""gpu: ids, sizes, the barrier, printf."""

from __future__ import annotations

import json

from ....interpreter.ir.mlir import ir
from ...kernel_form import axis_of, refuse
from ..kernel import KernelWriter
from ..registry import writes
from ..values.expression import Expr
from ..values.integers import literal
from ..values.ranges import Range

BLOCK_LIMIT = (1024, 1024, 64)
GRID_LIMIT = ((1 << 31) - 1, 65535, 65535)


def _place(kernel: KernelWriter, word: str, axis: int) -> Expr:
    """`tx`, `by`, …: of a `thread` or a `block`."""
    sizes, limits = (kernel.block, BLOCK_LIMIT) if word == "thread" else (kernel.grid, GRID_LIMIT)
    letter = "xyz"[axis]
    return kernel.processor(f"{word[0]}{letter}", f"{word}Idx.{letter}", sizes[axis] if sizes else None, limits[axis])


def _size(kernel: KernelWriter, word: str, axis: int) -> Expr:
    """Of the `block` or the `grid`."""
    sizes, limits = (kernel.block, BLOCK_LIMIT) if word == "block" else (kernel.grid, GRID_LIMIT)
    if sizes is not None:
        return literal(sizes[axis])
    return Expr(f"(int){word}Dim.{'xyz'[axis]}", "int", 11, Range(1, limits[axis]), atom=True)


@writes("gpu.thread_id", "gpu.block_id")
def place(kernel: KernelWriter, op: ir.Operation) -> None:
    kernel.values[op.results[0]] = (_place(kernel, op.name[4:-3], axis_of(op)),)


@writes("gpu.block_dim", "gpu.grid_dim")
def size(kernel: KernelWriter, op: ir.Operation) -> None:
    kernel.values[op.results[0]] = (_size(kernel, op.name[4:-4], axis_of(op)),)


@writes("gpu.barrier")
def barrier(kernel: KernelWriter, op: ir.Operation) -> None:
    """`__syncthreads` orders all memory; a barrier whose fence covers less asks for less."""
    if "scope" in op.attributes and "workgroup" not in str(op.attributes["scope"]):
        raise refuse("W0503", f"gpu.barrier of scope {op.attributes['scope']}", op)
    kernel.flush()
    kernel.line("__syncthreads();")


@writes("gpu.printf")
def printf(kernel: KernelWriter, op: ir.Operation) -> None:
    text = json.dumps(ir.StringAttr(op.attributes["format"]).value)
    arguments = [kernel.expr(v) for v in op.operands]
    kernel.flush()
    kernel.line(f"printf({', '.join([text, *(a.text for a in arguments)])});")
