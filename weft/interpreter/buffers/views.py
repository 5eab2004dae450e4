"""Views of a buffer: the temporary at their root, the types that follow from a new type of the
buffer, and preparations for upstream's folding."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..hardware.ampere.copies import COPY
from ..hardware.ampere.fragments import LDMATRIX
from ..indices.arithmetic import Bound
from ..indices.values import range_of, unchanged
from ..ir.functions import name_of, set_name
from ..ir.mlir import DYNAMIC, ahead_of, ancestors, ir, is_used, made_by, memref, operations, producer, users
from ..ir.sizes import product_of, sizes_of
from ..ir.structured import drop_handles, dynamic_and_static, parts_of, replace
from ..memory.effects import accesses
from ..memory.layouts import is_plain, strided, subview, subview_type, transposed
from ..memory.views import VIEWS, is_own_array, is_view, root_memref

_BLOCKS = ("scf.forall", "scf.parallel", "gpu.func", "gpu.launch")


def is_temporary(buffer: ir.Value) -> bool:
    """Whether a block or a thread allocated the buffer, in no particular memory."""
    op = made_by(buffer, "memref.alloc")
    if op is None or ir.MemRefType(buffer.type).memory_space is not None:
        return False
    return any(around.name in _BLOCKS for around in ancestors(op))  # host allocations are global memory


def in_own_array(value: ir.Value) -> bool:
    """Whether a memref is, or will be, a thread-private array or a part of one."""
    base = root_memref(value)
    return is_temporary(base) or is_own_array(base)


def own_array(alloc: ir.Operation, kind: ir.MemRefType) -> ir.Value:
    """A thread-private array at the place of `alloc`, with its name."""
    with ahead_of(alloc):
        return named_like(alloc, memref.AllocaOp(kind, [], []).result)


def named_like(alloc: ir.Operation, made: ir.Value) -> ir.Value:
    """Gives the replacement of a buffer the buffer's name."""
    set_name(ir.OpResult(made).owner, name_of(alloc.results[0]))
    return made


def permutation_of(transpose: ir.Operation) -> list[int]:
    """The permutation of a transpose: dimension d of the result is dimension `permutation[d]` of
    the source."""
    return [result.position for result in ir.AffineMapAttr(transpose.attributes["permutation"]).value.results]


def drop_dead_view(value: ir.Value) -> None:
    """Erases a view without users, then its source if that is a view without other users, and so
    on."""
    op = producer(value)
    if op is not None and is_view(op) and not is_used(value):
        source = op.operands[0]
        op.erase()
        drop_dead_view(source)


def all_users(buffer: ir.Value) -> Iterator[ir.Operation]:
    """The users of a buffer and of its views, including the views."""
    for user in users(buffer):
        yield user
        if is_view(user):
            yield from all_users(user.results[0])


def retype(value: ir.Value, kind: ir.MemRefType) -> None:
    """Gives a buffer another type, and its views the types that follow from it."""
    value.set_type(kind)
    for user in users(value):
        if is_view(user) and VIEWS[user.name] != "bytes":
            retype(user.results[0], _view_type(user, kind))


def rebased(view: ir.Operation, source: ir.Value) -> ir.Value:
    """A copy of a view on another buffer, at the insertion point."""
    made = view.clone(ir.InsertionPoint.current).operation
    made.operands[0] = source
    drop_handles(made)
    made.results[0].set_type(_view_type(made, ir.MemRefType(source.type)))
    return made.results[0]


def _view_type(view: ir.Operation, source: ir.MemRefType) -> ir.MemRefType:
    old = ir.MemRefType(view.results[0].type)
    layout = source.layout if VIEWS[view.name] == "same" and old.shape == source.shape else old.layout
    if view.name == "memref.subview":
        return subview_type(parts_of(view), old, source)
    if view.name in ("memref.collapse_shape", "memref.expand_shape"):
        before, after = ([math.prod(kind.shape[axis + 1 :]) for axis in range(kind.rank)] for kind in (source, old))
        strides, offset = strided(source)
        in_one_piece = source.has_static_shape and strides == before
        kept = after if in_one_piece else strided(old)[0]
        layout = None if is_plain(source) else ir.StridedLayoutAttr.get(offset, kept)
    elif view.name == "memref.transpose":
        strides, offset = strided(source)
        layout = ir.StridedLayoutAttr.get(offset, [strides[axis] for axis in permutation_of(view)])
    return ir.MemRefType.get(old.shape, old.element_type, layout, source.memory_space)


_SUBSCRIPTED = ("memref.load", "memref.store", "vector.load", "vector.store", COPY, LDMATRIX)
_ANY_LAYOUT = ("linalg.", "memref.copy", "memref.dim", *_SUBSCRIPTED, *VIEWS)


def takes_any_layout(view: ir.Operation, *, strides: bool) -> bool:
    """Whether every user of the view also accepts another offset, and with `strides` other strides."""

    def indifferent(user: ir.Operation) -> bool:
        if not is_view(user):
            return user.name.startswith(_ANY_LAYOUT)
        same = len(ir.MemRefType(user.operands[0].type).shape) == len(ir.MemRefType(user.results[0].type).shape)
        changes = strides and (not same or VIEWS[user.name] == "reshape")
        return VIEWS[user.name] in _FOLLOWING and not changes and takes_any_layout(user, strides=strides)

    return all(indifferent(user) for user in users(view.results[0]))


_FOLLOWING = ("same", "subview", "transpose", "reshape")
"""Views with an offset in their type that follows from that of their source."""


def keep_reshapes(function: ir.Operation) -> None:
    """Replaces each reshape that collapses dimensions of a contiguous buffer by a
    `memref.reinterpret_cast`.

    Folded, `memref.collapse_shape` becomes divisions and remainders of subscripts; if the buffer is
    contiguous, the view is the buffer with other sizes and strides. `memref.expand_shape`, which
    splits a dimension, becomes sums.
    """
    for op in operations(function, "memref.collapse_shape"):
        if becomes_a_cast(op):
            with ahead_of(op):
                sizes = sizes_of(op.results[0])
                strides = [product_of(sizes[axis + 1 :]) for axis in range(len(sizes))]
                view = memref.ReinterpretCastOp(
                    op.results[0].type, op.operands[0], *dynamic_and_static([0], sizes, strides)
                )
            replace(op, [view.result])


def becomes_a_cast(view: ir.Operation) -> bool:
    """Whether a view is a reshape that needs no division."""
    ends = (view.operands[0].type, view.results[0].type)
    return view.name == "memref.collapse_shape" and all(map(is_plain, ends))


def fold_constant_offsets(function: ir.Operation) -> None:
    """Replaces offsets of subviews that can have a single value by constants, and updates the
    types.

    Folding composes a subview of a subview, and computes its offsets. If they become constants, the
    type of the view should have a static offset, too, but upstream keeps `offset: ?`, so that the
    verifier rejects the result of upstream's own pass.
    """
    views = list(operations(function, "memref.subview"))
    with unchanged(function):
        found = [[_single(offset) for offset in parts_of(view)[0]] for view in views]
    for view, known in zip(views, found, strict=True):
        if not any(isinstance(offset, int) for offset in known):
            continue
        offsets, sizes, strides = parts_of(view)
        whole = ir.MemRefType(view.operands[0].type).shape
        for axis, (low, count, step, room) in enumerate(zip(known, sizes, strides, whole, strict=True)):
            reach = (count - 1) * step if isinstance(count, int) and isinstance(step, int) else 0
            if (
                low is not None and DYNAMIC != room <= low + reach
            ):  # out of bounds: in code that a condition keeps from running
                known[axis] = None
        settled = [offset if low is None else low for offset, low in zip(offsets, known, strict=True)]
        if settled != offsets and takes_any_layout(view, strides=False):
            with ahead_of(view):
                made = subview(view.operands[0], [settled, sizes, strides], ir.MemRefType(view.results[0].type))
            replace(view, [made])
            retype(made, ir.MemRefType(made.type))


def _single(offset: Bound) -> int | None:
    """The only value that an offset can have; None if it can have several, or is a constant
    already."""
    low, high = (None, None) if isinstance(offset, int) else range_of(offset)
    return low if low == high else None


def sink_transposes(function: ir.Operation) -> None:
    """A subview of a transposed buffer → the transpose of a subview: transposes move next to the
    accesses.

    There they cancel, before the other views are folded into the access: a wide access needs unit
    stride in all views.
    """
    for view in operations(function, "memref.subview"):
        turned = made_by(view.operands[0], "memref.transpose")
        kind = ir.MemRefType(view.results[0].type)
        if turned is not None and kind.rank == ir.MemRefType(view.operands[0].type).rank:
            order = permutation_of(turned)
            back = [order.index(axis) for axis in range(len(order))]
            straight = ir.MemRefType.get([kind.shape[d] for d in back], kind.element_type, None, kind.memory_space)
            with ahead_of(view):
                cut = subview(turned.operands[0], [[part[d] for d in back] for part in parts_of(view)], straight)
                made = transposed(cut, order)
            replace(view, [made])
            retype(made, ir.MemRefType(made.type))


def fold_transposes(function: ir.Operation) -> bool:
    """Loads and stores through a transpose, the only view that upstream does not fold → permuted
    subscripts. Returns False if there was none."""
    folded = False
    for access in operations(function, *_SUBSCRIPTED):
        for first in [effect.first for effect in accesses(access) or ()]:
            while (view := made_by(access.operands[first - 1], "memref.transpose")) is not None:
                permutation = permutation_of(view)
                subscripts = list(access.operands)[first : first + len(permutation)]
                access.operands[first - 1] = view.operands[0]
                for subscript, position in zip(subscripts, permutation, strict=True):
                    access.operands[first + position] = subscript
                folded = True
    return folded
