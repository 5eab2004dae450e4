"""Which buffers an op reads and writes by itself, its regions left to the ops in them."""

from __future__ import annotations

from ..distribution.space import indexing_maps
from ..mlir import ir

_LOADS = ("memref.load", "affine.load", "vector.load", "vector.transfer_read", "vector.maskedload", "memref.copy")
_STORES = ("memref.store", "affine.store", "vector.store")


def reads(op: ir.Operation) -> list[ir.Value]:
    """The memrefs that an op reads."""
    if op.name in _LOADS:
        return [op.operands[0]]
    if indexing_maps(op) is not None:
        return [operand for operand in op.operands if isinstance(operand.type, ir.MemRefType)]
    return []


def writes(op: ir.Operation) -> list[ir.Value]:
    """The memrefs that an op writes: of an op that is not known, all that it takes."""
    operands = list(op.operands)
    if op.name in _STORES or op.name in ("memref.copy", "vector.transfer_write"):
        return operands[1:2]
    if op.name in _LOADS or _only_looks(op):
        return []
    if indexing_maps(op) is not None:
        terminator = list(op.regions[0].blocks[0].operations)[-1]
        operands = operands[len(operands) - len(terminator.operands) :]
    return [operand for operand in operands if isinstance(operand.type, ir.MemRefType)]


def _only_looks(op: ir.Operation) -> bool:
    """Views, sizes, and control flow, whose effects are those of the ops inside."""
    views = (
        "subview",
        "cast",
        "reinterpret_cast",
        "collapse_shape",
        "expand_shape",
        "transpose",
        "dim",
        "assume_alignment",
    )
    return op.name in {f"memref.{name}" for name in views} or op.name.startswith(("scf.", "affine.for", "affine.if"))
