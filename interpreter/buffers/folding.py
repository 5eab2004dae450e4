"""Views of a kernel, made such that upstream's `fold-memref-alias-ops` folds them into the accesses."""

from __future__ import annotations

from ..indices.ranges import range_of
from ..ir.mlir import ir, made_by, memref, operations
from ..ir.structured import replace
from ..mapping.space import subview_parts
from ..memory.layouts import is_plain, strided, transposed
from .views import permutation_of, retype, subview, takes_any_layout


def keep_reshapes(function: ir.Operation) -> None:
    """Make a `memref.reinterpret_cast` of each reshape of a static buffer without gaps that puts dimensions together.

    Folded, `memref.collapse_shape` becomes divisions and remainders of subscripts; where the buffer lies in one piece, the view is
    the buffer with other sizes and strides. `memref.expand_shape`, which takes a dimension apart, becomes sums.
    """
    for op in operations(function, "memref.collapse_shape"):
        if becomes_a_cast(op):
            made = ir.MemRefType(op.results[0].type)
            strides, _ = strided(made)
            with ir.InsertionPoint(op), op.location:
                view = memref.ReinterpretCastOp(made, op.operands[0], [], [], [], [0], list(made.shape), list(strides))
            replace(op, [view.result])


def becomes_a_cast(view: ir.Operation) -> bool:
    """Whether a view is a reshape that needs no division."""
    ends = (view.operands[0].type, view.results[0].type)
    return view.name == "memref.collapse_shape" and all(is_plain(k) and ir.MemRefType(k).has_static_shape for k in ends)


def settle_offsets(function: ir.Operation) -> None:
    """Make numbers of the offsets of subviews that can only be one number, and types of their layouts that say so.

    Folding puts a subview of a subview together and works out its offsets; where they come to numbers, the view's type should name
    one, too, and keeps its `offset: ?`: the verifier refuses what the pass has made.
    """
    for view in operations(function, "memref.subview"):
        offsets, sizes, strides = subview_parts(view)
        ranges = [range_of(offset) for offset in offsets]
        settled = [offset if low is None or low != high else low for offset, (low, high) in zip(offsets, ranges, strict=True)]
        if settled != offsets and takes_any_layout(view, strides=False):
            with ir.InsertionPoint(view), view.location:
                made = subview(view.operands[0], [settled, sizes, strides], ir.MemRefType(view.results[0].type))
            replace(view, [made])
            retype(made, ir.MemRefType(made.type))


def sink_transposes(function: ir.Operation) -> None:
    """A subview of a transposed buffer → the transpose of a subview: the transposes end up next to the accesses.

    There they cancel each other before an access is folded into the other views: a wide access needs unit stride throughout.
    """
    for view in operations(function, "memref.subview"):
        turned = made_by(view.operands[0], "memref.transpose")
        kind = ir.MemRefType(view.results[0].type)
        if turned is not None and kind.rank == ir.MemRefType(view.operands[0].type).rank:
            order = permutation_of(turned)
            back = [order.index(axis) for axis in range(len(order))]
            straight = ir.MemRefType.get([kind.shape[d] for d in back], kind.element_type, None, kind.memory_space)
            with ir.InsertionPoint(view), view.location:
                cut = subview(turned.operands[0], [[part[d] for d in back] for part in subview_parts(view)], straight)
                made = transposed(cut, order)
            replace(view, [made])
            retype(made, ir.MemRefType(made.type))


def fold_transposes(function: ir.Operation) -> bool:
    """Loads and stores through a transpose, the one view that upstream does not fold → permuted subscripts. False where there was
    none."""
    folded = False
    for access in operations(function, "memref.load", "memref.store", "vector.load", "vector.store"):
        buffer = int(access.name.endswith("store"))
        while (view := made_by(access.operands[buffer], "memref.transpose")) is not None:
            subscripts = list(access.operands)[buffer + 1 :]
            access.operands[buffer] = view.operands[0]
            for subscript, position in zip(subscripts, permutation_of(view), strict=True):
                access.operands[buffer + 1 + position] = subscript
            folded = True
    return folded
