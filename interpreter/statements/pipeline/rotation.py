"""The rotation of a loop by one iteration: its copies run ahead, through registers, into the other one of two buffers.

Upstream's `memref.multibuffer` gives an allocation several buffers, but none of its users a different one; its
`nvgpu.pipeline_shared_memory_copies` needs asynchronous copies, which sm_75 lacks and which transpose nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ...buffers.temporaries import ATTRIBUTE
from ...buffers.views import rebased, retype, subview
from ...indices.arithmetic import Sum, known
from ...indices.values import range_of
from ...ir.cloning import clone_with, replace_operands
from ...ir.functions import name_of, set_name
from ...ir.mlir import affine, ahead_of, arith, ir, linalg, memref, operations, users
from ...ir.structured import body_of, copy_marks, drop_handles
from ...mapping.processors import when
from ...memory.layouts import strided
from .found import Pipelined, StagedCopy

STAGES = 2


def rotate(found: Pipelined) -> list[ir.Operation]:
    """Rewrite the loop in place. Returns the buffers, two tiles each; every handle names what it named before."""
    loop = found.loop
    first = body_of(loop).operations[0].operation
    with loop.location:
        buffers = [_two_tiles(copy) for copy in found.copies]
        tiles = [_own_tile(copy) for copy in found.copies]
        _before_the_loop(found, buffers)
        with ir.InsertionPoint(first):
            here = _parity(found)
        for copy, buffer in zip(found.copies, buffers, strict=True):
            _redirect(loop, copy, buffer, here, first)
        _in_the_loop(found, buffers, tiles)
    for copy in found.copies:
        copy.op.erase()
        _drop(copy.alloc.results[0])
        copy.alloc.erase()
    return [buffer.owner.operation for buffer in buffers]


def _two_tiles(copy: StagedCopy) -> ir.Value:
    """The shared buffer with a leading dimension 2, in the old one's place and with its handles."""
    kind = ir.MemRefType(copy.alloc.results[0].type)
    doubled = ir.MemRefType.get([STAGES, *kind.shape], kind.element_type, memory_space=kind.memory_space)
    with ahead_of(copy.alloc):
        made = memref.AllocOp(doubled, [], [])
    copy_marks(copy.alloc, made.operation)
    return made.result


def _own_tile(copy: StagedCopy) -> ir.Value:
    """The tile that is on its way: `weft.register_stage` makes it registers at launch."""
    kind = ir.MemRefType(copy.target.type)
    with ahead_of(copy.alloc):
        tile = memref.AllocOp(ir.MemRefType.get(copy.shape, kind.element_type), [], [])
    tile.operation.attributes[ATTRIBUTE] = ir.UnitAttr.get()
    name = name_of(copy.alloc.results[0])
    set_name(tile, name and f"{name.removesuffix('_shared')}_next")
    return tile.result


def _before_the_loop(found: Pipelined, buffers: Sequence[ir.Value]) -> None:
    """Tile 0 goes to buffer 0, unless the loop has no iteration at all."""
    loop = found.loop
    lower, upper = loop.operands[0], loop.operands[1]
    first, last = known(lower), range_of(upper)[0]
    runs = isinstance(first, int) and last is not None and last > first

    def copies() -> None:
        for copy, buffer in zip(found.copies, buffers, strict=True):
            taken = _clone_needs(copy, loop, lower)
            _clone_copy(copy, taken, _seen(copy, _slot(buffer, 0)), keep_handles=False)

    with ir.InsertionPoint(loop):
        if runs:
            return copies()
        with when(arith.CmpIOp(arith.CmpIPredicate.slt, lower, upper).result):
            copies()


def _in_the_loop(found: Pipelined, buffers: Sequence[ir.Value], tiles: Sequence[ir.Value]) -> None:
    """Where the copies stood, the next tile is read; at the end of the body it is written to the other buffer."""
    loop, body = found.loop, body_of(found.loop)
    with ir.InsertionPoint(found.copies[0].op):
        following = (Sum.of(body.arguments[0]) + Sum(found.step)).emit()
        more = arith.CmpIOp(arith.CmpIPredicate.slt, following, loop.operands[1]).result
        with when(more):
            for copy, tile in zip(found.copies, tiles, strict=True):
                _clone_copy(copy, _clone_needs(copy, loop, following), tile, keep_handles=True)
    with ir.InsertionPoint(body.operations[-1]), when(more):
        other = _parity(found, ahead=1)
        for copy, buffer, tile in zip(found.copies, buffers, tiles, strict=True):
            with copy.op.location:
                drain = linalg.copy(tile, outs=[_seen(copy, _slot(buffer, other))]).owner
            drain.attributes["weft.map"] = copy.op.attributes["weft.map"]


def _parity(found: Pipelined, ahead: int = 0) -> ir.Value:
    """((k - lower) / step + ahead) mod 2: affine, so that the analysis tells the two buffers apart."""
    k, lower = body_of(found.loop).arguments[0], known(found.loop.operands[0])
    fixed = isinstance(lower, int)
    counter = ir.AffineExpr.get_dim(0) - (lower if fixed else ir.AffineExpr.get_dim(1))
    operands = [k] if fixed else [k, lower]
    parity = ir.AffineExpr.get_mod(ir.AffineExpr.get_floor_div(counter, found.step) + ahead, STAGES)
    return affine.AffineApplyOp(ir.AffineMap.get(len(operands), 0, [parity]), operands).result


def _clone_needs(copy: StagedCopy, loop: ir.Operation, k: ir.Value) -> dict[ir.Value, ir.Value]:
    """Compute again, for iteration `k`, what the copy takes from the loop's body: old value → new one."""
    copies = {body_of(loop).arguments[0]: k}
    for op in copy.needs:
        clone_with(op, copies)
    return copies


def _clone_copy(copy: StagedCopy, taken: dict[ir.Value, ir.Value], target: ir.Value, *, keep_handles: bool) -> None:
    with copy.op.location:
        made = clone_with(copy.op, taken)
    made.operands[len(made.operands) - 1] = target
    if not keep_handles:
        drop_handles(made)


def _slot(buffer: ir.Value, number: ir.Value | int) -> ir.Value:
    """One of the two tiles of a buffer, as a buffer of its own."""
    kind = ir.MemRefType(buffer.type)
    layout = ir.StridedLayoutAttr.get(0, strided(kind)[0][1:])
    tile = ir.MemRefType.get(kind.shape[1:], kind.element_type, layout, kind.memory_space)
    sizes = [1, *kind.shape[1:]]
    return subview(buffer, [[number, *[0] * (kind.rank - 1)], sizes, [1] * kind.rank], tile)


def _seen(copy: StagedCopy, slot: ir.Value) -> ir.Value:
    """What the copy writes of one of the two tiles."""
    return reduce(lambda seen, view: rebased(view, seen), copy.views, slot)


def _redirect(loop: ir.Operation, copy: StagedCopy, buffer: ir.Value, parity: ir.Value, first: ir.Operation) -> None:
    """Everything in the loop but the copy sees the tile of the iteration at hand."""
    inside = set(operations(loop))

    def move(old: ir.Value, new: ir.Value) -> None:
        for user in users(old):
            if user in inside and user != copy.op:
                replace_operands(user, {old: new})
            elif user not in inside and user.name != "memref.dealloc":
                with ir.InsertionPoint(first):
                    move(user.results[0], rebased(user, new))

    with ir.InsertionPoint(first):
        slot = _slot(buffer, parity)
    move(copy.alloc.results[0], slot)
    retype(slot, ir.MemRefType(slot.type))


def _drop(value: ir.Value) -> None:
    """Erase all that looks at the old buffer."""
    for user in users(value):
        for result in user.results:
            _drop(result)
        user.erase()
