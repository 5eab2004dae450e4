"""The rotation of a loop: its copies run ahead, through registers into the other one of two
buffers, or as asynchronous copies into the next one of n.

Upstream's `memref.multibuffer` gives an allocation several buffers, but lets all of its users use
the same one; its `nvgpu.pipeline_shared_memory_copies` overwrites its own stages, and supports
neither transposition nor masks.

    asynchronous copies, in 3 stages:
        copy tile 0 → buffer 0; group
        if there is a tile 1 { copy it → buffer 1 }; group
        for k
            wait until 1 group is pending: tile k has arrived
            if there is a tile k + 2 { copy it → its buffer }; group
            compute with the buffer of tile k

Each iteration commits a group, possibly an empty one, so that the number of pending groups
determines the tile that has arrived. The buffer of tile k + 2 is that of tile k - 1, which all
threads have read before the single barrier after the wait.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from ...buffers import tensor_copies
from ...buffers.asynchronous_copies import ASYNCHRONOUS, commit
from ...buffers.owners.arrays import STAGE
from ...buffers.views import rebased, retype
from ...indices.arithmetic import index_of, known, value_of
from ...indices.values import range_of
from ...ir.cloning import clone_with, replace_operands
from ...ir.copying import copy_to
from ...ir.functions import name_of, set_name
from ...ir.mlir import affine, ahead_of, arith, ir, memref, nvgpu, operations, users
from ...ir.structured import body_of, copy_marks, drop_handles
from ...mapping.processors import when
from ...memory.layouts import strided, subview
from .pipelined_copies import Pipelined, StagedCopy

Ahead = Callable[[Pipelined, Sequence["ir.Value"], int, "ir.Operation"], None]
"""A function that lets copies run ahead. It gets the loop, the buffers, the number of tiles in
each, and the first op of the original body."""


def rotate(found: Pipelined, stages: int, ahead: Ahead) -> list[ir.Operation]:
    """Rewrites the loop in place. Returns the buffers, with `stages` tiles each; every handle keeps
    its op."""
    loop = found.loop
    first = body_of(loop).operations[0].operation
    with loop.location:
        buffers = [several_tiles(copy.alloc, stages) for copy in found.copies]
        with ir.InsertionPoint(first):
            here = buffer_number(found, stages)
        for copy, buffer in zip(found.copies, buffers, strict=True):
            redirect(loop, copy.alloc, buffer, here, first, but=copy.op)
        ahead(found, buffers, stages, first)
    for copy in found.copies:
        copy.op.erase()
        drop(copy.alloc)
    return [buffer.owner.operation for buffer in buffers]


def several_tiles(alloc: ir.Operation, stages: int) -> ir.Value:
    """The shared buffer with a leading dimension of stages, at the place of the old buffer and with
    its handles."""
    kind = ir.MemRefType(alloc.results[0].type)
    several = ir.MemRefType.get([stages, *kind.shape], kind.element_type, memory_space=kind.memory_space)
    with ahead_of(alloc):
        made = memref.AllocOp(several, [], [])
    copy_marks(alloc, made.operation)
    return made.result


def _own_tile(copy: StagedCopy) -> ir.Value:
    """The tile in flight: `weft.register_stage` lets `launch` put it into registers."""
    kind = ir.MemRefType(copy.target.type)
    with ahead_of(copy.alloc):
        tile = memref.AllocOp(ir.MemRefType.get(copy.shape, kind.element_type), [], [])
    tile.operation.attributes[STAGE] = ir.UnitAttr.get()
    name = name_of(copy.alloc.results[0])
    set_name(tile, name and f"{name.removesuffix('_shared')}_next")
    return tile.result


def before_the_loop(found: Pipelined, stage: int, copies: Callable[[ir.Value], object]) -> None:
    """Copies tile `stage`, at the insertion point, unless the loop has no such iteration. `copies`
    builds the copies, given the loop variable."""
    lower, upper = found.loop.operands[0], found.loop.operands[1]
    first, least = known(lower), range_of(upper)[0]
    ahead = stage * found.step
    k = value_of(index_of(lower) + ahead) if ahead else lower
    there = isinstance(first, int) and least is not None and least > first + ahead
    with when(*[] if there else [arith.CmpIOp(arith.CmpIPredicate.slt, k, upper).result]):
        copies(k)


def copies_of(
    found: Pipelined, buffers: Sequence[ir.Value], k: ir.Value, number: ir.Value | int, *, keep_handles: bool
) -> list[ir.Operation]:
    """The copies of iteration `k`, at the insertion point, into tile `number` of the buffers."""
    made = []
    for copy, buffer in zip(found.copies, buffers, strict=True):
        taken = _clone_needs(copy, found.loop, k)
        made.append(_clone_copy(copy, taken, seen(copy, slot(buffer, number)), keep_handles=keep_handles))
    return made


def through_registers(found: Pipelined, buffers: Sequence[ir.Value], stages: int, first: ir.Operation) -> None:
    """Replaces the copies by reads of the next tile into registers, which are written to the other
    buffer at the end of the body."""
    loop, body = found.loop, body_of(found.loop)
    tiles = [_own_tile(copy) for copy in found.copies]
    with ir.InsertionPoint(loop):
        before_the_loop(found, 0, lambda k: copies_of(found, buffers, k, 0, keep_handles=False))
    with ir.InsertionPoint(found.copies[0].op):
        next_one, more = following(found, 1)
        with when(more):
            for copy, tile in zip(found.copies, tiles, strict=True):
                _clone_copy(copy, _clone_needs(copy, loop, next_one), tile, keep_handles=True)
    with ir.InsertionPoint(body.operations[-1]), when(more):
        other = buffer_number(found, stages, ahead=1)
        for copy, buffer, tile in zip(found.copies, buffers, tiles, strict=True):
            with copy.op.location:
                drain = copy_to(seen(copy, slot(buffer, other)), tile)
            drain.attributes["weft.map"] = copy.op.attributes["weft.map"]


def asynchronously(found: Pipelined, buffers: Sequence[ir.Value], stages: int, first: ir.Operation) -> None:
    """Waits, at the start of the body, for the tile of the current iteration, and starts the copies
    of the tile `stages` - 1 ahead.

    Upstream's wait names a group, here the last one before the loop; the number of newer groups
    that may be pending is decisive.
    """

    def started(k: ir.Value, number: ir.Value | int, *, keep_handles: bool) -> None:
        for copy in copies_of(found, buffers, k, number, keep_handles=keep_handles):
            copy.attributes[ASYNCHRONOUS] = ir.UnitAttr.get()

    with ir.InsertionPoint(found.loop):
        for stage in range(stages - 1):
            before_the_loop(found, stage, lambda k, stage=stage: started(k, stage, keep_handles=False))
            group = commit()
    with ir.InsertionPoint(first):
        nvgpu.DeviceAsyncWaitOp(group, numGroups=stages - 2)
        next_one, more = following(found, stages - 1)
        with when(more):
            started(next_one, buffer_number(found, stages, ahead=stages - 1), keep_handles=True)
        commit()


def following(found: Pipelined, iterations: int) -> tuple[ir.Value, ir.Value]:
    """The loop variable `iterations` iterations ahead, and the condition that this iteration
    exists."""
    following = value_of(index_of(body_of(found.loop).arguments[0]) + (iterations * found.step))
    return following, arith.CmpIOp(arith.CmpIPredicate.slt, following, found.loop.operands[1]).result


def buffer_number(found: Pipelined, stages: int, ahead: int = 0) -> ir.Value:
    """The number of a tile's buffer, ((k - lower) / step + ahead) mod stages: affine, so that the
    analysis distinguishes the buffers."""
    if found.by_tensor_maps:  # their barriers keep counting when the loop starts again
        return tensor_copies.turn(
            tensor_copies.iteration_count(found.loop, body_of(found.loop).arguments[0]), stages, ahead
        )
    k, lower = body_of(found.loop).arguments[0], known(found.loop.operands[0])
    fixed = isinstance(lower, int)
    counter = ir.AffineExpr.get_dim(0) - (lower if fixed else ir.AffineExpr.get_dim(1))
    operands = [k] if fixed else [k, lower]
    turns = ir.AffineExpr.get_mod(ir.AffineExpr.get_floor_div(counter, found.step) + ahead, stages)
    return affine.AffineApplyOp(ir.AffineMap.get(len(operands), 0, [turns]), operands).result


def _clone_needs(copy: StagedCopy, loop: ir.Operation, k: ir.Value) -> dict[ir.Value, ir.Value]:
    """Recomputes, for iteration `k`, the copy's operands from the loop's body; returns new values
    by old ones."""
    copies = {body_of(loop).arguments[0]: k}
    for op in copy.needs:
        clone_with(op, copies)
    return copies


def _clone_copy(
    copy: StagedCopy, taken: dict[ir.Value, ir.Value], target: ir.Value, *, keep_handles: bool
) -> ir.Operation:
    with copy.op.location:
        made = clone_with(copy.op, taken)
    made.operands[len(made.operands) - 1] = target
    if not keep_handles:
        drop_handles(made)
    return made


def slot(buffer: ir.Value, number: ir.Value | int) -> ir.Value:
    """One tile of a buffer, as a buffer of its own."""
    kind = ir.MemRefType(buffer.type)
    layout = ir.StridedLayoutAttr.get(0, strided(kind)[0][1:])
    tile = ir.MemRefType.get(kind.shape[1:], kind.element_type, layout, kind.memory_space)
    sizes = [1, *kind.shape[1:]]
    return subview(buffer, [[number, *[0] * (kind.rank - 1)], sizes, [1] * kind.rank], tile)


def seen(copy: StagedCopy, tile: ir.Value) -> ir.Value:
    """The part of a tile that the copy writes."""
    return reduce(lambda source, view: rebased(view, source), copy.views, tile)


def redirect(
    loop: ir.Operation, alloc: ir.Operation, buffer: ir.Value, number: ir.Value, first: ir.Operation, *,
    but: ir.Operation | None = None,
) -> None:  # fmt: skip
    """Lets everything in the loop except that copy use the tile of the current iteration."""
    inside = set(operations(loop))
    seeing = inside.difference([but] if but is not None else [])

    def move(old: ir.Value, new: ir.Value) -> None:
        for user in dict.fromkeys(users(old)):  # a user that reads it twice is rewritten once
            if user in seeing:
                replace_operands(user, {old: new})
            elif user not in inside and user.name != "memref.dealloc":
                with ir.InsertionPoint(first):
                    move(user.results[0], rebased(user, new))

    with ir.InsertionPoint(first):
        tile = slot(buffer, number)
    move(alloc.results[0], tile)
    retype(tile, ir.MemRefType(tile.type))


def drop(op: ir.Operation) -> None:
    """Erases an op and all users of its results: an old buffer."""
    for result in op.results:
        for user in users(result):
            drop(user)
    op.erase()
