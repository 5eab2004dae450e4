"""Memrefs as ops and types show them, before any index is evaluated: where they come from, their memory and their layout."""

from __future__ import annotations

from typing import Literal

from ..layouts import strided
from ..mlir import DYNAMIC, ir

Space = Literal["workgroup", "global", "private"]

ALLOCATIONS = {"memref.alloc", "memref.alloca", "gpu.alloc"}
SHARED_ROOTS = {"memref.get_global", "gpu.dynamic_shared_memory"}


def memref_sources(value: ir.Value) -> list[ir.Value]:
    """The memrefs that `value` is made of: operands of a view, what a loop carries, what the arms of an `scf.if` yield."""
    if isinstance(value.owner, ir.Block):
        owner, number = value.owner.owner.operation, ir.BlockArgument(value).arg_number
        if owner.name in ("scf.for", "affine.for") and number > 0:
            first = len(owner.operands) - (len(value.owner.arguments) - 1)
            return [owner.operands[first + number - 1], _last(value.owner).operands[number - 1]]
        if owner.name != "scf.while":
            return []
        ends = [_last(block) for region in owner.regions for block in region.blocks]
        return [v for end in (owner, *ends) for v in end.operands if isinstance(v.type, ir.MemRefType)]
    op = value.owner.operation
    if op.name in ALLOCATIONS or op.name in SHARED_ROOTS:
        return []
    sources = [v for v in op.operands if isinstance(v.type, ir.MemRefType)]
    if op.name in ("memref.subview", "memref.cast", "memref.reinterpret_cast", "memref.view"):
        sources = sources[:1]
    for region in op.regions:
        for block in region.blocks:
            sources += [v for v in _last(block).operands if isinstance(v.type, ir.MemRefType)]
    return sources


def hands_on(value: ir.Value) -> bool:
    """Whether `value` is one of its `memref_sources`, whole and unchanged: carried by a loop, or yielded by a branch."""
    owner = value.owner
    name = owner.owner.operation.name if isinstance(owner, ir.Block) else owner.operation.name
    return name in ("scf.for", "affine.for", "scf.if")


def _last(block: ir.Block) -> ir.Operation:
    return block.operations[len(block.operations) - 1].operation


def memory_space(kind: ir.MemRefType) -> Space:
    """`#gpu.address_space<…>` or NVVM's numbers (3 shared, 5 local)."""
    text = str(kind.memory_space)
    if "workgroup" in text or text.startswith("3"):
        return "workgroup"
    return "private" if "private" in text or text.startswith("5") else "global"


def kept_dimensions(sizes: list[int], result: ir.MemRefType) -> list[int]:
    """Which dimensions of a subview its (perhaps rank-reduced) result keeps; the others have size 1."""
    kept: list[int] = []
    for dimension, size in enumerate(sizes):
        position = len(kept)
        if position == result.rank:
            break
        wanted = DYNAMIC if result.is_dynamic_dim(position) else result.get_dim_size(position)
        if size == wanted:
            kept.append(dimension)
    return kept


def static_strides(kind: ir.MemRefType, *, offset_counts: bool = True) -> tuple[int, ...] | None:
    if any(kind.is_dynamic_dim(d) for d in range(1, kind.rank)):
        return None
    strides, offset = strided(kind)
    if any(s == DYNAMIC or s <= 0 for s in strides) or (offset_counts and offset != 0):
        return None
    return tuple(strides)


def element_bytes(kind: ir.Type) -> int | None:
    """The bytes of an element in memory; None for a type of which that is not known."""
    if isinstance(kind, ir.IndexType):
        return 8
    if isinstance(kind, ir.VectorType):
        inner = element_bytes(kind.element_type)
        count = 1
        for extent in kind.shape:
            count *= extent
        return None if inner is None else inner * count
    width = getattr(kind, "width", None)
    return None if width is None else -(-width // 8)


def value_name(value: ir.Value) -> str:
    if not isinstance(value.owner, ir.Block) and "weft.name" in value.owner.operation.attributes:
        return ir.StringAttr(value.owner.operation.attributes["weft.name"]).value
    return value.get_name(use_local_scope=True).lstrip("%")
