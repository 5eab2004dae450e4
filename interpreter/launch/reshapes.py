"""Reshapes of buffers: the same elements under other sizes.

Upstream's `fold-memref-alias-ops` turns an access through `memref.collapse_shape` into divisions and remainders of its subscripts.
Where the buffer lies in one piece, none are needed: the view is the buffer with other sizes and strides. Of `memref.expand_shape`
that pass makes `affine.linearize_index`es: sums, which the rooms behind take as `affine.apply`s.
"""

from __future__ import annotations

from ..ir.mlir import ir, memref, operations
from ..memory.strides import is_plain, strided


def keep_reshapes(function: ir.Operation) -> None:
    """Make a `memref.reinterpret_cast` of each reshape of a static buffer without gaps that puts dimensions together.

    One that takes a dimension apart needs no division, and upstream's folding leaves less to read.
    """
    for op in operations(function, "memref.collapse_shape"):
        if not becomes_a_cast(op):
            continue
        made = ir.MemRefType(op.results[0].type)
        strides, _ = strided(made)
        with ir.InsertionPoint(op), op.location:
            view = memref.ReinterpretCastOp(made, op.operands[0], [], [], [], [0], list(made.shape), list(strides))
        op.results[0].replace_all_uses_with(view.result)
        op.erase()


def becomes_a_cast(view: ir.Operation) -> bool:
    """Whether a view is a reshape that needs no division."""
    return view.name == "memref.collapse_shape" and _in_one_piece(view.operands[0].type) and _in_one_piece(view.results[0].type)


def _in_one_piece(kind: ir.Type) -> bool:
    """Whether a memref has static sizes and no layout."""
    return isinstance(kind, ir.MemRefType) and kind.has_static_shape and is_plain(kind)
