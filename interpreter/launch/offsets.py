"""Offsets of subviews that are numbers, however they are written.

Upstream's `fold-memref-alias-ops` puts a subview of a subview together and works out its offsets; where they come to numbers, the
view's type should name one, too, and keeps its `offset: ?`: the verifier refuses what the pass has made.
"""

from __future__ import annotations

from ..buffers.views import retype, subview, takes_any_layout
from ..indices.ranges import range_of
from ..ir.mlir import ir, operations
from ..mapping.space import subview_parts


def settle_offsets(function: ir.Operation) -> None:
    """Make numbers of the offsets of subviews that can only be one number, and types of their layouts that say so."""
    for view in operations(function, "memref.subview"):
        offsets, sizes, strides = subview_parts(view)
        ranges = [range_of(offset) for offset in offsets]
        settled = [offset if low is None or low != high else low for offset, (low, high) in zip(offsets, ranges, strict=True)]
        if settled != offsets and takes_any_layout(view, strides=False):
            old = ir.MemRefType(view.results[0].type)
            with ir.InsertionPoint(view), view.location:
                made = subview(view.operands[0], [settled, sizes, strides], old)
            view.results[0].replace_all_uses_with(made)
            view.erase()
            retype(made, ir.MemRefType(made.type))
