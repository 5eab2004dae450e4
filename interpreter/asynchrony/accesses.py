"""Which memrefs an op reads and writes: a table by the op's name. Regions, calls and launches are `effects.py`'s business."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ..mlir import ir

AccessKind = Literal["read", "write", "alloc", "free"]

VIEWS = {
    "memref.assume_alignment", "memref.cast", "memref.collapse_shape", "memref.expand_shape",
    "memref.extract_strided_metadata", "memref.memory_space_cast", "memref.reinterpret_cast", "memref.reshape",
    "memref.subview", "memref.transpose", "memref.view",
}  # fmt: skip
"""Ops whose memref result shows the memory of their first operand."""

ALLOCATIONS = {"memref.alloc", "memref.alloca", "gpu.alloc"}

NO_ACCESS = {*VIEWS, "memref.dim", "memref.rank", "memref.get_global", "memref.prefetch"}

READS = {
    "memref.load": 0, "affine.load": 0, "affine.vector_load": 0, "vector.load": 0, "vector.maskedload": 0,
    "vector.gather": 0, "vector.transfer_read": 0, "gpu.subgroup_mma_load_matrix": 0, "nvgpu.ldmatrix": 0,
}  # fmt: skip
"""Ops that read one of their operands, by its position."""

WRITES = {
    "memref.store": 1, "affine.store": 1, "affine.vector_store": 1, "vector.store": 1,
    "vector.maskedstore": 0, "vector.scatter": 0, "vector.transfer_write": 1,
    "gpu.subgroup_mma_store_matrix": 1,
}  # fmt: skip
"""Ops that write one of their operands."""


def is_memref(value: ir.Value) -> bool:
    return isinstance(value.type, ir.MemRefType | ir.UnrankedMemRefType)


def is_pointer(value: ir.Value) -> bool:
    """A pointer of the LLVM dialect, or a struct that holds one: which memory is behind it is not known."""
    return "!llvm.ptr" in str(value.type)


def goes_through_pointers(op: ir.Operation) -> bool:
    """Whether `op` itself reads, writes or makes up a pointer."""
    return op.name.startswith("llvm.") and any(is_pointer(v) for v in (*op.operands, *op.results))


def accesses(op: ir.Operation) -> Iterator[tuple[AccessKind, ir.Value]]:
    """What `op` itself does to memrefs (not what its regions do). An op that is not known reads and writes all it gets."""
    name = op.name
    if name in NO_ACCESS:
        return
    if name in ALLOCATIONS:
        yield "alloc", op.results[0]
    elif name in ("memref.dealloc", "gpu.dealloc"):
        yield "free", op.operands[len(op.operands) - 1]
    elif name in READS:
        yield "read", op.operands[READS[name]]
    elif name in WRITES:
        yield "write", op.operands[WRITES[name]]
    elif name == "memref.copy":
        yield "read", op.operands[0]
        yield "write", op.operands[1]
    elif name == "gpu.memcpy":
        last = len(op.operands) - 1
        yield "write", op.operands[last - 1]
        yield "read", op.operands[last]
    elif name == "gpu.memset":
        yield "write", op.operands[len(op.operands) - 2]
    elif name.startswith("linalg.") and "operandSegmentSizes" in op.attributes:
        yield from _structured(op)
    elif name == "nvgpu.device_async_copy":
        memrefs = [v for v in op.operands if is_memref(v)]
        yield "write", memrefs[0]
        yield "read", memrefs[1]
    elif not _hands_on(op):
        for value in op.operands:
            if is_memref(value):
                yield "read", value
                yield "write", value


def _structured(op: ir.Operation) -> Iterator[tuple[AccessKind, ir.Value]]:
    """Inputs are read, outputs written; and read, if the body looks at what was there."""
    ins = next(iter(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])))
    operands = list(op.operands)
    inside = op.regions[0].blocks[0].arguments if len(op.regions) and len(op.regions[0].blocks) else ()
    for i, value in enumerate(operands):
        if not is_memref(value):
            continue
        if i < ins:
            yield "read", value
            continue
        yield "write", value
        if len(inside) <= i or any(True for _ in inside[i].uses):
            yield "read", value


def _hands_on(op: ir.Operation) -> bool:
    """Ops that only pass memrefs on: control flow and choices."""
    return op.name in (
        "arith.select", "scf.for", "scf.if", "scf.while", "scf.yield", "scf.condition", "affine.for", "affine.if",
        "affine.yield", "func.return", "gpu.return", "gpu.terminator", "memref.alloca_scope.return",
    )  # fmt: skip
