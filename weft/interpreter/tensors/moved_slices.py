"""Slices through ops that only move elements: the ops of a loop read the source, with other maps.

%b = linalg.broadcast ins(%p) … dimensions = [1]     in the loop: %t = tensor.extract_slice %p[i] [1]
in a loop: tensor.extract_slice %b[i, 0] [1, 64]  →               read by the map (d0, d1) -> (d0)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from ..ir.copying import moved_axes
from ..ir.mlir import ahead_of, ir, is_within, operations, ops_of, tensor, users
from ..ir.refusing import describe
from ..ir.structured import (
    body_of,
    dimension_of,
    is_structured,
    part_of,
    parts_of,
    segments,
    shape_of,
    structure,
)
from ..memory.views import root_memref
from ..padding.masking import generalized
from ..session.rewriter import Rewriter
from .fusing import fuse_masked_loads


def read_sources(value: ir.Value, loop: ir.Operation) -> list[str]:
    """Lets `loop` read `value` directly where it reads the result of an op that only moves elements
    of `value`. Returns descriptions of these ops."""
    followed: list[str] = []
    for op in dict.fromkeys(users(value)):
        axes = None if is_within(op, loop) else moved_axes(op)
        if axes is None:
            continue
        result = op.results[0]
        followed += read_sources(result, loop)
        if any(is_within(user, loop) for user in users(result)) and _can_read(result, axes, loop):
            followed.insert(0, describe(op))
            _read(result, value, axes, loop)
            if not users(result):
                op.erase()
    return followed


def movers_of(op: ir.Operation) -> list[ir.Operation]:
    """The ops after an op on memrefs that only move the elements it writes, and in turn the ops
    that move these; the last ones first."""
    after = takewhile(lambda each: each != op, reversed(ops_of(op.block)))
    found, written = list[ir.Operation](), {root_memref(value) for value in list(op.operands)[segments(op)[0] :]}
    for one in reversed([*after]):
        if is_structured(one) and moved_axes(one) is not None and root_memref(one.operands[0]) in written:
            found.insert(0, one)
            written.add(root_memref(one.operands[1]))
    return found


def read_repeated(rewrite: Rewriter) -> None:
    """Lets loops on tensors read the sources of broadcasts of functions, with remarks; masked loads
    among these are computed tile by tile."""
    for function in [f for f in operations(rewrite.module.operation, "func.func") if f.regions[0].blocks]:
        loops, followed = dict[ir.Operation, None](), list[str]()
        for op in reversed(ops_of(body_of(function))):
            axes = moved_axes(op) if len(op.results) else None
            if axes is None or len(axes) == len(shape_of(op.results[0])):
                continue
            readers = users(op.results[0])
            for loop in [each for each in ops_of(body_of(function)) if each.name in ("scf.forall", "scf.for")]:
                if any(is_within(user, loop) for user in readers) and _can_read(op.results[0], axes, loop):
                    _read(op.results[0], op.operands[0], axes, loop)
                    followed.append(describe(op))
                    loops.setdefault(loop)
            if not users(op.results[0]):
                op.erase()
        for loop in [rewrite.new_handle(each) for each in loops]:
            fuse_masked_loads(rewrite, loop)
            del rewrite.find(loop).attributes[loop.tag]
        for what in dict.fromkeys(followed):
            rewrite.remark(f"reads through {what}")


def _can_read(value: ir.Value, axes: Sequence[int], loop: ir.Operation) -> bool:
    """Whether all ops of the loop that read `value` can read its source instead."""
    return all(_is_reader(user, value, axes, loop) for user in users(value) if is_within(user, loop))


def _is_reader(op: ir.Operation, value: ir.Value, axes: Sequence[int], loop: ir.Operation) -> bool:
    if isinstance(op.opview, tensor.ExtractOp):
        return True
    if isinstance(op.opview, tensor.ExtractSliceOp):
        offsets, _, strides = parts_of(op)
        whole = len(offsets) == len(shape_of(op.results[0])) and set(strides) <= {1}
        return whole and _can_read(op.results[0], axes, loop)
    if not is_structured(op) or (moved_axes(op) is not None and len(axes) == len(shape_of(value))):
        return False
    space, operands = structure(op), list(op.operands)
    if value in operands[space.inputs :]:
        return False
    kept = {dimension_of(e) for v, m in zip(operands, space.maps, strict=True) if v != value for e in m.results}
    read = {dimension_of(m.results[a]) for v, m in zip(operands, space.maps, strict=True) if v == value for a in axes}
    return kept | read >= set(range(space.rank))


def _read(value: ir.Value, source: ir.Value, axes: Sequence[int], loop: ir.Operation) -> None:
    """Replaces `value` by `source` where the loop reads it."""
    while (op := next((user for user in users(value) if is_within(user, loop)), None)) is not None:
        if isinstance(op.opview, tensor.ExtractOp):
            at = list(op.operands)[1:]
            with ahead_of(op):
                made = tensor.ExtractOp(source, [at[a] for a in axes]).result
            op.results[0].replace_all_uses_with(made)
            op.erase()
        elif isinstance(op.opview, tensor.ExtractSliceOp):
            offsets, sizes, _ = parts_of(op)
            with ahead_of(op):
                part = part_of(source, [sizes[a] for a in axes], [offsets[a] for a in axes])
            _read(op.results[0], part, axes, loop)
            op.erase()
        else:
            _read_by_map(generalized(op), value, source, axes)


def _read_by_map(op: ir.Operation, value: ir.Value, source: ir.Value, axes: Sequence[int]) -> None:
    """Lets a `linalg.generic` read the source of `value` by a map of its own."""
    space = structure(op)
    maps = list(space.maps)
    for n, operand in enumerate(list(op.operands)[: space.inputs]):
        if operand == value:
            op.operands[n] = source
            maps[n] = ir.AffineMap.get(space.rank, 0, [maps[n].results[a] for a in axes])
    op.attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps])
