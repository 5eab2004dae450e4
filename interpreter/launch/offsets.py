"""Offsets of subviews that are numbers, however they are written.

Upstream's `fold-memref-alias-ops` puts a subview of a subview together and works out its offsets; where they come to numbers, the
view's type should name one, too, and keeps its `offset: ?`: the verifier refuses what the pass has made.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ..buffers.views import users
from ..indices.ranges import range_of
from ..ir.mlir import DYNAMIC, ir, memref, operations
from ..mapping.space import subview_offsets
from ..memory.strides import strided

_MOVED = ("memref.subview", "memref.transpose", "memref.expand_shape", "memref.collapse_shape")
"""Views whose types say where they begin, as it follows from where their source does."""
_INDIFFERENT = ("linalg.", "memref.load", "memref.store", "memref.copy", "memref.dim", "memref.cast", "vector.load", "vector.store")


def settle_offsets(function: ir.Operation) -> None:
    """Make numbers of the offsets of subviews that can only be one number, and types of their layouts that say so."""
    for view in operations(function, "memref.subview"):
        numbers = [_number(start) for start in subview_offsets(view)]
        static = list(ir.DenseI64ArrayAttr(view.attributes["static_offsets"]))
        if any(s == DYNAMIC and n is not None for s, n in zip(static, numbers, strict=True)) and _may_move(view):
            _settle(view, static, numbers)


def _number(start: int | ir.Value) -> int | None:
    least, greatest = range_of(start)
    return least if least == greatest else None


def _may_move(view: ir.Operation) -> bool:
    """Whether everybody who takes the view takes it with another offset in its type, too."""
    return all(
        user.name.startswith(_INDIFFERENT) or (user.name in _MOVED and _may_move(user)) for user in users(view.results[0])
    )


def _settle(view: ir.Operation, static: Sequence[int], numbers: Sequence[int | None]) -> None:
    segments = list(ir.DenseI32ArrayAttr(view.attributes["operandSegmentSizes"]))
    values = list(view.operands)
    starts, sizes, steps = (values[a:b] for a, b in itertools.pairwise(itertools.accumulate(segments)))
    moving = iter(starts)
    dynamic = [(next(moving), number) for s, number in zip(static, numbers, strict=True) if s == DYNAMIC]
    known = [DYNAMIC if n is None else n for n in numbers]
    fixed = (list(ir.DenseI64ArrayAttr(view.attributes[key])) for key in ("static_sizes", "static_strides"))
    kind = _moved(view.results[0].type, offset_after(known, ir.MemRefType(view.operands[0].type)))
    left = [start for start, number in dynamic if number is None]
    with ir.InsertionPoint(view), view.location:
        made = memref.SubViewOp(kind, view.operands[0], left, sizes, steps, known, *fixed)
    view.results[0].replace_all_uses_with(made.result)
    view.erase()
    _follow(made.result)


def _follow(source: ir.Value) -> None:
    """Say in the types of a buffer's views where they begin, after its own has come to say so."""
    kind = ir.MemRefType(source.type)
    for user in users(source):
        if user.name in _MOVED:
            offset = strided(kind)[1]
            if user.name == "memref.subview":
                offset = offset_after(list(ir.DenseI64ArrayAttr(user.attributes["static_offsets"])), kind)
            user.results[0].set_type(_moved(user.results[0].type, offset))
            _follow(user.results[0])


def _moved(kind: ir.Type, offset: int) -> ir.MemRefType:
    """The type of the same view, beginning somewhere else."""
    assert isinstance(kind, ir.MemRefType)
    layout = ir.StridedLayoutAttr.get(offset, strided(kind)[0])
    return ir.MemRefType.get(kind.shape, kind.element_type, layout, kind.memory_space)


def offset_after(starts: Sequence[int], source: ir.MemRefType) -> int:
    """Where a subview of `source` starts, as upstream infers it: a number if its offsets are numbers."""
    strides, offset = strided(source)
    for start, stride in zip(starts, strides, strict=True):
        if DYNAMIC in (start, stride, offset):
            return DYNAMIC
        offset += start * stride
    return offset
