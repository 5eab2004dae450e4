"""Layouts and elements of memrefs, as their types show them."""

from __future__ import annotations

from ..ir.functions import argument_attributes, maker
from ..ir.mlir import DYNAMIC, ir
from .strides import strided


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
    """What users call a memref: its `weft.name`, or as MLIR prints it."""
    attributes = argument_attributes(value) if isinstance(value.owner, ir.Block) else maker(value).attributes
    if "weft.name" in attributes:
        return ir.StringAttr(attributes["weft.name"]).value
    return value.get_name(use_local_scope=True).lstrip("%")
