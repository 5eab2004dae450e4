"""The elements of a buffer that a payload loop accesses, in the threads' registers while the loop
runs.

    before: for k: C[i, j] = C[i, j] + A[i, k] · B[k, j]
    after:  c = C[i, j];  for k: c = c + A[i, k] · B[k, j];  C[i, j] = c

The elements are an array of the thread, read before the loop if the loop needs the previous
contents, and written back after it. If loops over threads are inside the loop, each of their
iterations has a tile; a copy of these loops fills the tiles before the loop, another one writes
them back after it:

    before: for k: forall (i): C[i] = …
    after:  forall (i): c[i] = C[i];  for k: forall (i): c[i] = …;  forall (i): C[i] = c[i]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....dsl.diagnostics import fail
from ...buffers.elements import VECTOR, most_lanes
from ...buffers.loop_tiles import LoopTile, WriteBack, move_to, read_into, tile_of, users_of
from ...buffers.temporaries import REGISTERS, iteration
from ...buffers.tiles import ThreadTile, clone_nest, is_distributed, is_in_thread, thread_nest
from ...indices.arithmetic import value_of
from ...ir.mlir import ahead_of, ancestors, i64, ir, is_within, memref, move_in_front, ops_of, producer
from ...ir.refusing import describe
from ...ir.structured import SEQUENTIAL, body_of
from ...loops.forall import end_of, without_affine_loops
from ...mapping.mapping import loop_dimensions, mapping_of, nested_maps
from ...memory.layouts import subview
from ...memory.names import free_name
from ...memory.views import root_memref
from ...parallel.collisions import expect_apart
from ...session.statement import Rewriter
from .accumulators import affordable, is_fixed


def keep_tile(rewrite: Rewriter, name: str, inner: ir.Operation, loop: ir.Operation) -> ir.Operation:
    """Keeps the elements of the buffer `name` that `loop` accesses, which is `inner` or encloses
    it; returns the array. Raises W0330, W0332, W0382 to W0387, W0468."""
    runs_here = loop.name in SEQUENTIAL or (loop.name == "scf.forall" and mapping_of(loop) is None)
    if not runs_here or not is_within(inner, loop):
        what = f"is not around {describe(inner)}" if runs_here else "is not a loop that one thread runs alone"
        raise rewrite.error(
            "W0382",
            f"{describe(loop)} {what}",
            loop,
            "name a loop without a map, of the payload (`scf.for`, `affine.for`) or over a tile",
            at="loop" if loop != inner else "operand",
        )
    with rewrite.placing(loop, at="operand"):
        users_of(inner, name)
    loop = without_affine_loops(loop)
    with rewrite.placing(loop, at="operand"):
        users = users_of(loop, name)
        nest = _threads_inside(loop, name, [op for op, _ in users])
        tile = tile_of(loop, name, users, nest)
        made = producer(root_memref(tile.buffer))
        if made is not None and REGISTERS in made.attributes:
            raise fail(
                "W0395",
                f"`{name}` is kept in registers already",
                "delete this `promote-to-registers`, or name another buffer",
            )
        kind = ir.MemRefType.get(tile.shape, ir.MemRefType(tile.buffer.type).element_type)
        rewrite.remark(f"each thread keeps {affordable(kind)} in registers")
        alloc = _in_nest(tile, kind, nest) if nest else _in_thread(tile, kind)
    alloc.attributes[REGISTERS] = ir.UnitAttr.get()
    alloc.attributes["weft.name"] = ir.StringAttr.get(free_name(loop, f"{name}_tile"))
    if tile.written is not None:
        expect_apart(rewrite, loop, name)
    done = ["read before the loop"] * tile.read + ["written back after it"] * (tile.written is not None)
    rewrite.remark(", ".join(done))
    return alloc


def _in_thread(tile: LoopTile, kind: ir.MemRefType) -> ir.Operation:
    """Allocates and uses the array for a loop that one thread runs."""
    loop = tile.indices.loop
    with ahead_of(loop):
        alloc = memref.AllocOp(kind, [], [])
        if tile.read:
            _read(tile, alloc.result)
    move_to(tile, alloc.result)
    if tile.written is not None:
        with ir.InsertionPoint.after(loop), loop.location:
            WriteBack(tile, alloc.result, tile.written).emit_in_thread()
    return alloc.operation


def _in_nest(tile: LoopTile, kind: ir.MemRefType, nest: Sequence[ir.Operation]) -> ir.Operation:
    """Allocates and uses the tiles for a loop with loops over threads inside: one for each of their
    iterations, which `launch` converts into arrays."""
    loop = tile.indices.loop
    for bound in [bound for one in nest for bound in one.operands]:
        move_in_front(bound, loop)  # the copies have the same bounds
    pairs = [pair for one in nest for pair in zip(body_of(one).arguments, loop_dimensions(one), strict=True)]
    most = [dimension.most_trips or 0 for _, dimension in pairs]
    with ahead_of(loop):
        alloc = memref.AllocOp(ir.MemRefType.get([*most, *kind.shape], kind.element_type), [], [])
    with ir.InsertionPoint.at_block_begin(body_of(nest[-1])), loop.location:
        starts = [value_of(iteration(variable, dimension)) for variable, dimension in pairs]
        sizes = [*[1] * len(pairs), *kind.shape]
        view = subview(alloc.result, [[*starts, *[0] * kind.rank], sizes, [1] * len(sizes)], kind)
    move_to(tile, view)
    own = ThreadTile(ir.OpResult(view).owner, tuple(nest))
    if tile.read:
        _in_copy(own, loop, tile, lambda mine: _read(tile, mine))
    if (written := tile.written) is not None:
        following = ops_of(loop.block)
        next_op = following[following.index(loop) + 1]
        _in_copy(own, next_op, tile, lambda mine: WriteBack(tile, mine, written).emit_in_thread())
    return alloc.operation


def _read(tile: LoopTile, view: ir.Value) -> None:
    read_into(tile, view).attributes[VECTOR] = i64(most_lanes(ir.MemRefType(view.type).element_type))


def _in_copy(own: ThreadTile, before: ir.Operation, tile: LoopTile, emit: Callable[[ir.Value], None]) -> None:
    """Emits, in a copy of the loops over threads, the code that `emit` makes for the tile of each
    iteration."""
    copy = clone_nest(own, before)
    before_and_now = ([v for one in nest for v in body_of(one).arguments] for nest in (own.nest, copy.nest))
    variables = dict(zip(*before_and_now, strict=True))
    with ir.InsertionPoint(end_of(copy.nest[-1])), tile.indices.loop.location, tile.indices.rebound(variables):
        emit(copy.view.results[0])


def _threads_inside(loop: ir.Operation, name: str, users: Sequence[ir.Operation]) -> tuple[ir.Operation, ...]:
    """The loops over threads inside the loop that contain all accesses of the buffer; empty if one
    thread runs the loop. Raises W0332 and W0383 to W0385."""
    around = len(thread_nest(loop))
    nests = [thread_nest(op)[around:] for op in users]
    nest, inside = nests[0], next(nested_maps(loop), None)
    if (other := next((op for op, its in zip(users, nests, strict=True) if its != nest), None)) is not None:
        raise fail(
            "W0384",
            f"`{name}` is accessed in other loops over threads, or outside: {describe(users[0])}, {describe(other)}",
            "name a loop in which one loop over threads accesses it, or let `promote-to-shared` stage it",
        )
    if not any(map(is_distributed, nest)):
        if inside is not None:
            raise fail(
                "W0385",
                f"`{inside[1]}` on {describe(inside[0])} hands iterations to threads, and `{name}` is"
                f" accessed around it",
                "name a loop that one thread runs; `promote-to-shared` stages what threads share",
            )
        if not is_in_thread(loop):
            why = "no loop over threads is around the loop, so that every thread would keep the same"
            raise fail("W0385", why, "`map` a loop around it to threads")
        return ()
    between = [op for op in ancestors(nest[-1]) if is_within(op, nest[0]) and op not in nest]
    between += [op for op in ancestors(nest[0]) if is_within(op, loop) and op.name != "scf.for" and op != loop]
    if between:
        raise fail(
            "W0385",
            f"{describe(between[0])} is between the loops that determine the owner thread",
            "nest the loops over `threads`, with only sequential loops between them",
        )
    for one in nest:
        if not all(is_fixed(bound, loop) for bound in one.operands):
            raise fail(
                "W0383",
                f"the number of iterations of {describe(one)} changes within the loop, and so do the owners",
                "name an inner loop that one thread runs: `promote-to-registers … across LOOP`",
            )
        if any(dimension.most_trips is None for dimension in loop_dimensions(one)):
            hint = "`tile` it with static sizes, and map the loop over a tile"
            raise fail(
                "W0332", f"{describe(one)} has no known number of iterations, and each has a part of `{name}`", hint
            )
    return nest
