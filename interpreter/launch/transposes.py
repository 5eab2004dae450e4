"""`memref.transpose`, the one view that upstream's `fold-memref-alias-ops` does not fold."""

from __future__ import annotations

from collections.abc import Sequence

from ..buffers.views import permutation_of, retype
from ..ir.mlir import ir, memref, operations, producer
from ..memory.strides import strided
from .offsets import offset_after


def sink_transposes(function: ir.Operation) -> None:
    """A subview of a transposed buffer → the transpose of a subview: the transposes end up next to the accesses.

    There they cancel each other before an access is folded into the other views: a wide access needs unit stride throughout.
    """
    with function.context:
        for view in operations(function, "memref.subview"):
            turned = producer(view.operands[0])
            source, result = view.operands[0].type, view.results[0].type
            if turned is not None and turned.name == "memref.transpose" and _rank(source) == _rank(result):
                _sink(view, turned)


def _rank(kind: ir.Type) -> int:
    return kind.rank if isinstance(kind, ir.MemRefType) else -1


def _sink(view: ir.Operation, turned: ir.Operation) -> None:
    order = permutation_of(turned)
    back = [order.index(axis) for axis in range(len(order))]
    kind = view.results[0].type
    assert isinstance(kind, ir.MemRefType)
    strides, _ = strided(kind)
    parts = [_permuted(view, key, number, back) for number, key in enumerate(_STATIC)]
    offset = offset_after(parts[0][1], ir.MemRefType(turned.operands[0].type))

    def laid_out(axes: Sequence[int]) -> ir.MemRefType:
        layout = ir.StridedLayoutAttr.get(offset, [strides[d] for d in axes])
        return ir.MemRefType.get([kind.shape[d] for d in axes], kind.element_type, layout, kind.memory_space)

    straight, as_seen = laid_out(back), laid_out(range(kind.rank))
    with ir.InsertionPoint(view), view.location:
        cut = memref.SubViewOp(
            straight, turned.operands[0], *[dynamic for dynamic, _ in parts], *[static for _, static in parts]
        )
        made = memref.TransposeOp(as_seen, cut.result, turned.attributes["permutation"])
    view.results[0].replace_all_uses_with(made.result)
    view.erase()
    retype(made.result, as_seen)


_STATIC = ("static_offsets", "static_sizes", "static_strides")


def _permuted(view: ir.Operation, key: str, segment: int, back: list[int]) -> tuple[list[ir.Value], list[int]]:
    """The dynamic values and the static numbers of a subview's offsets, sizes or strides, in another order."""
    numbers = list(ir.DenseI64ArrayAttr(view.attributes[key]))
    segments = list(ir.DenseI32ArrayAttr(view.attributes["operandSegmentSizes"]))
    first = sum(segments[: segment + 1])
    values = iter(list(view.operands)[first : first + segments[segment + 1]])
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset() if segment != 1 else ir.ShapedType.get_dynamic_size()
    mixed = [next(values) if number == dynamic else number for number in numbers]
    turned = [mixed[d] for d in back]
    return [m for m in turned if not isinstance(m, int)], [m if isinstance(m, int) else dynamic for m in turned]


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
