"""What is proven of an address: that an n-wide access there is aligned."""

from __future__ import annotations

from ..indices.ranges import divisible
from ..ir.mlir import ir, producer
from ..ir.structured import place_of
from ..mapping.space import DYNAMIC, subview_offsets
from ..memory.layouts import strided
from .folding import becomes_a_cast
from .views import permutation_of

_FOLDED = ("memref.cast", "memref.transpose", "memref.subview", "memref.expand_shape", "memref.collapse_shape")


def aligned_rows(memref: ir.Value, lanes: int) -> bool:
    """Whether each `memref[i, j, …, lanes * u]` is the start of `lanes` aligned consecutive elements.

    Allocations and kernel arguments are taken as aligned to 16 bytes, as every device allocator and `cudaMalloc` give.
    """
    if not isinstance(memref.type, ir.MemRefType) or memref.type.rank == 0:
        return False
    strides, _ = strided(memref.type)
    outer = [s for s, extent in zip(strides[:-1], memref.type.shape[:-1], strict=True) if extent != 1]
    if strides[-1] != 1 or any(s == DYNAMIC or s % lanes for s in outer):
        return False
    return _in_a_row(memref, memref.type.rank - 1, lanes) and _offset_divisible(memref, lanes)


def _in_a_row(memref: ir.Value, axis: int, lanes: int) -> bool:
    """Whether `lanes` neighbours along an axis (of unit stride) of a view lie along the last axis of what is left once the views
    are folded. A column of one element per row has unit stride, too; but an access of several elements would leave its row."""
    view = producer(memref)
    if view is None or view.name not in _FOLDED or becomes_a_cast(view):
        return axis == ir.MemRefType(memref.type).rank - 1
    source, kind = ir.MemRefType(view.operands[0].type), ir.MemRefType(memref.type)
    if view.name == "memref.transpose":
        return _in_a_row(view.operands[0], permutation_of(view)[axis], lanes)
    if view.name == "memref.cast":
        return _in_a_row(view.operands[0], axis, lanes)
    if view.name == "memref.subview":
        sizes = place_of(view)[1]
        kept = range(source.rank) if source.rank == kind.rank else [d for d, size in enumerate(sizes) if size != 1]
        seen = [d for d in range(kind.rank) if source.rank == kind.rank or kind.shape[d] != 1]
        return axis in seen and len(kept) == len(seen) and _in_a_row(view.operands[0], kept[seen.index(axis)], lanes)
    groups = [[ir.IntegerAttr(d).value for d in ir.ArrayAttr(g)] for g in ir.ArrayAttr(view.attributes["reassociation"])]
    if view.name == "memref.expand_shape":
        group = next(n for n, digits in enumerate(groups) if axis in digits)
        inner = groups[group][groups[group].index(axis) + 1 :]
        return all(kind.shape[d] == 1 for d in inner) and _in_a_row(view.operands[0], group, lanes)
    digits = [d for d in groups[axis] if source.shape[d] != 1]
    whole = bool(digits) and source.shape[digits[-1]] != DYNAMIC and source.shape[digits[-1]] % lanes == 0
    return whole and _in_a_row(view.operands[0], digits[-1], lanes)


def _offset_divisible(memref: ir.Value, lanes: int) -> bool:
    _, offset = strided(memref.type)
    if offset != DYNAMIC:
        return offset % lanes == 0
    owner = producer(memref)
    if owner is None:
        return False
    if owner.name in ("memref.cast", "memref.transpose", "memref.expand_shape", "memref.collapse_shape"):
        return _offset_divisible(owner.operands[0], lanes)
    if owner.name != "memref.subview":
        return False
    source = owner.operands[0]
    parts = zip(subview_offsets(owner), strided(source.type)[0], strict=True)
    return _offset_divisible(source, lanes) and all(
        divisible(offset, lanes) or (stride != DYNAMIC and stride % lanes == 0) for offset, stride in parts
    )
