"""`memref.transpose`, the one view that upstream's `fold-memref-alias-ops` does not fold."""

from __future__ import annotations

from ..buffers.views import permutation_of, retype, subview
from ..ir.mlir import ir, memref, operations, producer
from ..mapping.space import subview_parts
from ..memory.strides import strided


def sink_transposes(function: ir.Operation) -> None:
    """A subview of a transposed buffer → the transpose of a subview: the transposes end up next to the accesses.

    There they cancel each other before an access is folded into the other views: a wide access needs unit stride throughout.
    """
    with function.context:
        for view in operations(function, "memref.subview"):
            turned = producer(view.operands[0])
            kind, source = ir.MemRefType(view.results[0].type), ir.MemRefType(view.operands[0].type)
            if turned is None or turned.name != "memref.transpose" or kind.rank != source.rank:
                continue
            order = permutation_of(turned)
            back = [order.index(axis) for axis in range(len(order))]
            straight = ir.MemRefType.get([kind.shape[d] for d in back], kind.element_type, None, kind.memory_space)
            with ir.InsertionPoint(view), view.location:
                cut = subview(turned.operands[0], [[part[d] for d in back] for part in subview_parts(view)], straight)
                strides, offset = strided(cut.type)
                layout = ir.StridedLayoutAttr.get(offset, [strides[axis] for axis in order])
                seen = ir.MemRefType.get(kind.shape, kind.element_type, layout, kind.memory_space)
                made = memref.TransposeOp(seen, cut, turned.attributes["permutation"])
            view.results[0].replace_all_uses_with(made.result)
            view.erase()
            retype(made.result, seen)


def fold_transposes(function: ir.Operation) -> bool:
    """Loads and stores through a transpose → permuted subscripts. False where there was none."""
    folded = False
    for access in operations(function, "memref.load", "memref.store", "vector.load", "vector.store"):
        buffer = int(access.name.endswith("store"))
        while (view := producer(access.operands[buffer])) is not None and view.name == "memref.transpose":
            subscripts = list(access.operands)[buffer + 1 :]
            access.operands[buffer] = view.operands[0]
            for subscript, position in zip(subscripts, permutation_of(view), strict=True):
                access.operands[buffer + 1 + position] = subscript
            folded = True
    return folded
