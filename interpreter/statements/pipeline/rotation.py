"""The rotation of a loop by one iteration: its copies run ahead, through registers, into the other one of two buffers.

Upstream's `memref.multibuffer` gives an allocation several buffers, but none of its users a different one; its
`nvgpu.pipeline_shared_memory_copies` needs asynchronous copies, which sm_75 lacks and which transpose nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ...buffers.staging import ATTRIBUTE
from ...buffers.views import users
from ...indices.arithmetic import Sum, known
from ...indices.ranges import range_of
from ...ir.mlir import DYNAMIC, affine, arith, ir, linalg, memref, operations
from ...ir.structured import body_of
from ...mapping.owned import when
from ...memory.strides import strided
from .found import Pipelined, StagedCopy

STAGES = 2
_HANDLE = "weft.h"


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
        _drop(copy)
    return [buffer.owner.operation for buffer in buffers]


def _two_tiles(copy: StagedCopy) -> ir.Value:
    """The shared buffer with a leading dimension 2, in the old one's place and with its handles."""
    kind = ir.MemRefType(copy.alloc.results[0].type)
    doubled = ir.MemRefType.get([STAGES, *kind.shape], kind.element_type, memory_space=kind.memory_space)
    with ir.InsertionPoint(copy.alloc), copy.alloc.location:
        made = memref.AllocOp(doubled, [], [])
    for name in copy.alloc.attributes:
        if name not in made.operation.attributes:
            made.operation.attributes[name] = copy.alloc.attributes[name]
    return made.result


def _own_tile(copy: StagedCopy) -> ir.Value:
    """The tile that is on its way: `weft.staging` makes it registers at launch."""
    kind = ir.MemRefType(copy.target.type)
    with ir.InsertionPoint(copy.alloc), copy.alloc.location:
        tile = memref.AllocOp(ir.MemRefType.get(copy.shape, kind.element_type), [], [])
    tile.operation.attributes[ATTRIBUTE] = ir.UnitAttr.get()
    if "weft.name" in copy.alloc.attributes:
        name = ir.StringAttr(copy.alloc.attributes["weft.name"]).value.removesuffix("_shared")
        tile.operation.attributes["weft.name"] = ir.StringAttr.get(f"{name}_next")
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
    counter, operands = ir.AffineExpr.get_dim(0), [k]
    if isinstance(lower, int):
        counter = counter - lower
    else:
        counter, operands = counter - ir.AffineExpr.get_dim(1), [k, lower]
    parity = ir.AffineExpr.get_mod(ir.AffineExpr.get_floor_div(counter, found.step) + ahead, STAGES)
    return affine.AffineApplyOp(ir.AffineMap.get(len(operands), 0, [parity]), operands).result


def _clone_needs(copy: StagedCopy, loop: ir.Operation, k: ir.Value) -> dict[ir.Value, ir.Value]:
    """Compute again, for iteration `k`, what the copy takes from the loop's body: old value → new one."""
    copies = {body_of(loop).arguments[0]: k}
    for op in copy.needs:
        made = op.clone(ir.InsertionPoint.current).operation
        _replace_operands(made, copies)
        copies.update(zip(op.results, made.results, strict=True))
    return copies


def _clone_copy(copy: StagedCopy, taken: dict[ir.Value, ir.Value], target: ir.Value, *, keep_handles: bool) -> None:
    with copy.op.location:
        made = copy.op.clone(ir.InsertionPoint.current).operation
    for op in operations(made):
        _replace_operands(op, taken)
    made.operands[len(made.operands) - 1] = target
    if not keep_handles:
        _drop_handles(made)


def _drop_handles(op: ir.Operation) -> None:
    for name in [name for name in op.attributes if name.startswith(_HANDLE)]:
        del op.attributes[name]


def _replace_operands(op: ir.Operation, copies: dict[ir.Value, ir.Value]) -> None:
    for position, operand in enumerate(op.operands):
        if operand in copies:
            op.operands[position] = copies[operand]


def _slot(buffer: ir.Value, number: ir.Value | int) -> ir.Value:
    """One of the two tiles of a buffer, as a buffer of its own."""
    kind = ir.MemRefType(buffer.type)
    strides, _ = strided(kind)
    static = number if isinstance(number, int) else DYNAMIC
    offset = static * strides[0] if isinstance(number, int) else DYNAMIC
    layout = ir.StridedLayoutAttr.get(offset, strides[1:])
    tile = ir.MemRefType.get(kind.shape[1:], kind.element_type, layout, kind.memory_space)
    zeros = [0] * (kind.rank - 1)
    dynamic = [] if isinstance(number, int) else [number]
    sizes, steps = [1, *kind.shape[1:]], [1] * kind.rank
    return memref.SubViewOp(tile, buffer, dynamic, [], [], [static, *zeros], sizes, steps).result


def _seen(copy: StagedCopy, slot: ir.Value) -> ir.Value:
    """What the copy writes of one of the two tiles."""
    return reduce(lambda seen, view: _view_of(view, seen), copy.views, slot)


def _view_of(view: ir.Operation, source: ir.Value) -> ir.Value:
    """The same view of another buffer, which starts elsewhere."""
    made = view.clone(ir.InsertionPoint.current).operation
    made.operands[0] = source
    _drop_handles(made)
    made.results[0].set_type(_moved(ir.MemRefType(view.results[0].type), ir.MemRefType(source.type)))
    return made.results[0]


def _moved(kind: ir.MemRefType, source: ir.MemRefType) -> ir.MemRefType:
    """A view's type, of a buffer that starts where nobody knows (or where it did, if the buffer starts at 0)."""
    strides, offset = strided(kind)
    start = strided(source)[1]
    return ir.MemRefType.get(
        kind.shape,
        kind.element_type,
        ir.StridedLayoutAttr.get(DYNAMIC if start else offset, strides),
        kind.memory_space,
    )


def _redirect(loop: ir.Operation, copy: StagedCopy, buffer: ir.Value, parity: ir.Value, first: ir.Operation) -> None:
    """Everything in the loop but the copy sees the tile of the iteration at hand."""
    inside = set(operations(loop))

    def move(old: ir.Value, new: ir.Value) -> None:
        for user in users(old):
            if user == copy.op:
                continue
            if user not in inside:
                if user.name != "memref.dealloc":
                    with ir.InsertionPoint(first):
                        move(user.results[0], _view_of(user, new))
                continue
            for position, operand in enumerate(user.operands):
                if operand == old:
                    user.operands[position] = new
            if user.results and isinstance(user.results[0].type, ir.MemRefType):
                _retype(user.results[0], new)

    with ir.InsertionPoint(first):
        slot = _slot(buffer, parity)
    move(copy.alloc.results[0], slot)


def _retype(view: ir.Value, source: ir.Value) -> None:
    """A view inside the loop, and the views of it, get types that follow from their buffer's."""
    view.set_type(_moved(ir.MemRefType(view.type), ir.MemRefType(source.type)))
    for user in users(view):
        if user.results and isinstance(user.results[0].type, ir.MemRefType):
            _retype(user.results[0], view)


def _drop(copy: StagedCopy) -> None:
    """Erase the old buffer and its views."""

    def drop(value: ir.Value) -> None:
        for user in users(value):
            if user.results:
                drop(user.results[0])
            user.erase()

    drop(copy.alloc.results[0])
    copy.alloc.erase()
