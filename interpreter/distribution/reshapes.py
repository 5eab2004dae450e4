"""Reshapes of whole buffers: the same elements under other sizes.

Upstream's `fold-memref-alias-ops` turns an access through `memref.collapse_shape` into divisions and remainders of its subscripts.
Where the buffer lies in one piece, none are needed: the view is the buffer with other sizes and strides.
"""

from __future__ import annotations

from ..mlir import ir, memref, operations


def keep_reshapes(function: ir.Operation) -> None:
    """Make a `memref.reinterpret_cast` of each reshape of a static buffer without gaps that puts dimensions together.

    One that takes a dimension apart needs no division, and upstream's folding leaves less to read.
    """
    for op in operations(function, "memref.collapse_shape"):
        source, made = op.operands[0].type, op.results[0].type
        if not (_in_one_piece(source) and _in_one_piece(made)):
            continue
        assert isinstance(made, ir.MemRefType)
        strides, _ = made.get_strides_and_offset()
        with ir.InsertionPoint(op), op.location:
            view = memref.ReinterpretCastOp(made, op.operands[0], [], [], [], [0], list(made.shape), list(strides))
        op.results[0].replace_all_uses_with(view.result)
        op.erase()


def _in_one_piece(kind: ir.Type) -> bool:
    """Whether a memref has static sizes and no layout."""
    return (
        isinstance(kind, ir.MemRefType)
        and kind.has_static_shape
        and kind.layout == ir.AffineMapAttr.get(ir.AffineMap.get_identity(kind.rank))
    )
