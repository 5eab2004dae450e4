"""Fragments: the tiles of an op's operands in a thread's own arrays, loaded and stored as wide as
alignment allows.

A fragment has the order of its tile in memory (the dimension with stride 1 runs fastest, dimensions
of extent 1 are dropped), so that an access is wide on both sides; the op uses it through a view
with the tile's own shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ...buffers.elements import copy_per_thread, widest
from ...ir.functions import name_of, set_name
from ...ir.mlir import DYNAMIC, ahead_of, ir, memref
from ...memory.layouts import strided, transposed
from ...memory.views import root_memref
from ...tensors.levels import origin


def fragment(op: ir.Operation, position: int, *, read: bool, written: bool, name: str) -> str:
    """Puts the operand at `position` of `op` into a fragment, loaded before the op and stored after
    it. Returns a remark on the width of the accesses."""
    tile = op.operands[position]
    order = _memory_order(ir.MemRefType(tile.type))
    with ahead_of(op):
        outer = _permuted(tile, order)
        kind = ir.MemRefType(outer.type)
        kept = [axis for axis, extent in enumerate(kind.shape) if extent != 1] or [kind.rank - 1]
        own = memref.AllocOp(ir.MemRefType.get([kind.shape[a] for a in kept], kind.element_type), [], []).result
        set_name(own.owner, f"{(name_of(root_memref(tile)) or origin(tile) or name).removesuffix('_shared')}_frag")
        whole = ir.AffineMap.get_identity(kind.rank)
        maps = [whole, whole.get_submap(kept)]
        made: list[ir.Operation] = []
        if read:
            made.append(copy_per_thread(outer, own, maps))
        back = [order.index(axis) for axis in range(len(order))]
        op.operands[position] = _permuted(_expanded(own, kind.shape, kept), back)
    if written:
        with ir.InsertionPoint.after(op), op.location:
            made.append(copy_per_thread(own, outer, maps[::-1]))
    lanes = min(widest(one) for one in made)
    what = "loaded and stored" if read and written else "loaded" if read else "stored"
    how = f"{lanes} elements at once" if lanes > 1 else f"element by element ({_why_not(kind)})"
    return f"{name}: {what} {how}"


def _why_not(kind: ir.MemRefType) -> str:
    """The reason why accesses of a tile, in memory order, are not wide."""
    strides, _ = strided(kind)
    if all(extent == 1 for extent in kind.shape):
        return "a single one"
    return "alignment not proven" if strides[-1] == 1 else "they are not contiguous"


def _memory_order(kind: ir.MemRefType) -> list[int]:
    """The dimensions in descending order of stride, those of extent 1 first; the original order if
    a stride is unknown."""
    strides, _ = strided(kind)
    if DYNAMIC in strides:
        return list(range(kind.rank))
    return sorted(range(kind.rank), key=lambda axis: (kind.shape[axis] != 1, -strides[axis]))


def _permuted(value: ir.Value, order: Sequence[int]) -> ir.Value:
    return value if list(order) == sorted(order) else transposed(value, order)


def _expanded(own: ir.Value, shape: Sequence[int], kept: Sequence[int]) -> ir.Value:
    """The fragment with its dimensions of extent 1 restored."""
    if len(kept) == len(shape):
        return own
    kind = ir.MemRefType(own.type)
    ends = [*kept[:-1], len(shape) - 1]  # an axis is merged into the next kept one, or into the last
    groups = [list(range(first + 1, last + 1)) for first, last in pairwise([-1, *ends])]
    result = ir.MemRefType.get(list(shape), kind.element_type)
    return memref.ExpandShapeOp(result, own, groups, [], list(shape)).result
