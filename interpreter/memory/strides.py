"""Strides and offset of a memref type: the one place that asks upstream for them, and the one refusal of types that have none."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.mlir import ir, memref
from ..session.rewriter import refuse


def strided(kind: ir.Type, at: ir.Operation | ir.OpView | None = None, what: str | None = None) -> tuple[list[int], int]:
    """Strides and offset of a memref type, `DYNAMIC` where they are not static.

    Args:
        at: the op that the memref belongs to, for the diagnostic; `what`: what the memref is, if it has a name.

    Raises:
        WeftError: W0398 for a layout that no strides express, such as `affine_map<(i) -> (i floordiv 4, i mod 4)>`.
    """
    try:
        strides, offset = ir.MemRefType(kind).get_strides_and_offset()
    except RuntimeError as error:
        message = f"the layout of {kind} has no strides" if what is None else f"{what} is {kind}: its layout has no strides"
        hint = "write the layout as `strided<[8, 1]>`, or leave it out: upstream's `normalize-memrefs` does that"
        raise refuse("W0398", message, at, hint=hint) from error
    return list(strides), offset


def transposed(value: ir.Value, order: Sequence[int]) -> ir.Value:
    """The buffer with its dimensions in this order, at the insertion point."""
    kind = ir.MemRefType(value.type)
    strides, offset = strided(kind)
    layout = ir.StridedLayoutAttr.get(offset, [strides[axis] for axis in order])
    seen = ir.MemRefType.get([kind.shape[axis] for axis in order], kind.element_type, layout, kind.memory_space)
    return memref.TransposeOp(seen, value, ir.AffineMapAttr.get(ir.AffineMap.get_permutation(list(order)))).result


def is_plain(kind: ir.Type) -> bool:
    """Whether a type is that of a memref without a layout: row by row from its first element on, whatever its sizes."""
    if not isinstance(kind, ir.MemRefType):
        return False
    return kind.layout == ir.AffineMapAttr.get(ir.AffineMap.get_identity(kind.rank, kind.context))
