"""gpu: ids, sizes, the barrier, printf."""

from __future__ import annotations

import json

from ....interpreter.ir.mlir import ir
from ...kernel_form import axis_of, refuse
from ..kernel import KernelWriter, Lanes, writes
from ..values.expression import Expr, name
from ..values.integers import literal
from ..values.ranges import Range

BLOCK_LIMIT = (1024, 1024, 64)
GRID_LIMIT = ((1 << 31) - 1, 65535, 65535)


@writes("gpu.thread_id", "gpu.block_id", "gpu.block_dim", "gpu.grid_dim")
def place(kernel: KernelWriter, op: ir.Operation) -> Lanes:
    """`tx`, `by`, …: of a thread or a block, declared once at the top, 0 where there is only one; the sizes of block and grid."""
    word, asked = op.name[4:].split("_")
    in_block, axis = op.name in ("gpu.thread_id", "gpu.block_dim"), axis_of(op)
    sizes, limit = (kernel.block, BLOCK_LIMIT[axis]) if in_block else (kernel.grid, GRID_LIMIT[axis])
    letter = "xyz"[axis]
    if asked == "dim":
        size = Expr(f"(int){word}Dim.{letter}", "int", 11, Range(1, limit), atom=True)
        return (size if sizes is None else literal(sizes[axis]),)
    known, variable = Range(0, (sizes[axis] if sizes else limit) - 1), f"{word[0]}{letter}"
    if known.value == 0:
        return (literal(0),)
    kernel.head.setdefault(variable, f"const int {variable} = {word}Idx.{letter};")
    return (name(variable, "int", known),)


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
