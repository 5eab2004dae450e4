"""Values of the host program: integers folded as far as they are known, affine maps, and windows into buffers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial, reduce

from ..plan.plan import Apply, BufferView, Operator, Size
from ..plan.resolve import apply


def fold(operator: Operator, left: Size, right: Size) -> Size:
    """`operator(left, right)`: a number if both are, else an expression, without the neutral ones."""
    if isinstance(left, int) and isinstance(right, int):
        return apply(operator, left, right)
    if operator == "add" and 0 in (left, right):
        return right if left == 0 else left
    if operator == "mul" and 0 in (left, right):
        return 0
    if operator == "mul" and 1 in (left, right):
        return right if left == 1 else left
    if operator in ("floordiv", "ceildiv", "div") and right == 1:
        return left
    if operator == "sub" and right == 0:
        return left
    return Apply(operator, left, right)


def product(sizes: Sequence[Size]) -> Size:
    return reduce(partial(fold, "mul"), sizes, 1)


def row_major(shape: Sequence[Size]) -> tuple[Size, ...]:
    """The strides of a contiguous buffer."""
    return tuple(product(shape[i + 1 :]) for i in range(len(shape)))


def subview(view: BufferView, offsets: Sequence[Size], sizes: Sequence[Size], strides: Sequence[Size]) -> BufferView:
    """`memref.subview`, before rank reduction."""
    offset = view.offset
    for start, stride in zip(offsets, view.strides, strict=True):
        offset = fold("add", offset, fold("mul", start, stride))
    stepped = tuple(fold("mul", step, stride) for step, stride in zip(strides, view.strides, strict=True))
    return BufferView(view.buffer, offset, tuple(sizes), stepped)


def reduce_rank(view: BufferView, shape: Sequence[int | None], strides: Sequence[int | None]) -> BufferView | None:
    """`view` without unit dimensions, so that it has `shape` and `strides` (None: any); None if that cannot be."""

    def fits(size: Size, wanted: int | None) -> bool:
        return wanted is None or not isinstance(size, int) or size == wanted

    for kept in itertools.combinations(range(len(view.shape)), len(shape)):
        dropped = set(range(len(view.shape))) - set(kept)
        if (
            all(view.shape[i] == 1 for i in dropped)
            and all(fits(view.shape[i], s) for i, s in zip(kept, shape, strict=True))
            and all(fits(view.strides[i], s) for i, s in zip(kept, strides, strict=True))
        ):
            kept_shape, kept_strides = tuple(view.shape[i] for i in kept), tuple(view.strides[i] for i in kept)
            return BufferView(view.buffer, view.offset, kept_shape, kept_strides)
    return None
