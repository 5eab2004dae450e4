"""The tiles that iterations of loops over threads access of a block's buffer, and copies of the
loops that own them.

Loops over threads may nest (warps, and lanes inside them): a part is then a tile of a tile, and its
owner the whole nest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...dsl.records import record
from ..hardware.ampere.fragments import instruction_of
from ..hardware.limits import OF_A_THREAD, WARP
from ..ir.affine_maps import dimension_of
from ..ir.element_sizes import element_bytes
from ..ir.mlir import ancestors, child_of, children, ir, is_used, is_within, operations, producer, users
from ..ir.refusing import Remark, describe, location_text
from ..ir.structured import body_of, drop_handles, is_structured, structure
from ..mapping.keys import structural_key
from ..mapping.mapping import (
    AS_MANY_AS_ITERATIONS,
    LoopDimension,
    Mapped,
    Mapping,
    enclosing_maps,
    handed_out,
    loop_dimensions,
    mapping_of,
    trip_counts,
)
from ..memory.views import root_memref
from ..reductions.scans import is_scan
from .views import all_users, is_temporary


@record
class ThreadTile:
    """The part of a buffer that an iteration of a nest of loops over threads accesses.

    Args:
        view: the `memref.subview` of the part, directly in the innermost loop.
        nest: the loops, outermost first.
    """

    view: ir.Operation
    nest: tuple[ir.Operation, ...]

    @property
    def kind(self) -> ir.MemRefType:
        return ir.MemRefType(self.view.results[0].type)

    def views(self, buffer: ir.Value) -> list[ir.Operation]:
        """The subviews from a buffer to the tile, outermost first."""
        found = [self.view]
        while found[0].operands[0] != buffer:
            found.insert(0, found[0].operands[0].owner.operation)
        return found

    def pieces(self, buffer: ir.Value) -> list[tuple[ir.Value, LoopDimension]]:
        """The variables and dimensions of the loops over registers between the buffer and the tile:
        a thread has a tile in each of their iterations. A dimension of a single iteration counts if
        instructions of tensor cores take tiles of the buffer."""
        around = list(ancestors(buffer.owner))
        mine = [loop for loop in self.nest if loop not in around and not is_distributed(loop)]
        pairs = [pair for loop in mine for pair in zip(body_of(loop).arguments, loop_dimensions(loop), strict=True)]
        in_fragments = any(instruction_of(user) is not None for user in all_users(buffer))
        return [(variable, dimension) for variable, dimension in pairs if in_fragments or dimension.static_trips != 1]

    @property
    def innermost(self) -> ir.Block:
        """The body of the innermost loop."""
        return body_of(self.nest[-1])

    @property
    def structural_key(self) -> str:
        """A key that is equal for two tiles with the same elements in the same iteration of their
        nests."""
        return structural_key(self.view.results[0], *self.nest)


def thread_nest(op: ir.Operation) -> tuple[ir.Operation, ...]:
    """The mapped loops around an op that distribute over threads, warps or lanes, and those over a
    thread's registers; outermost first."""
    return tuple(reversed([loop for loop, mapping in enclosing_maps(op) if mapping.space != "blocks"]))


def is_distributed(loop: ir.Operation) -> bool:
    """Whether a map distributes the iterations of a loop to different processors."""
    mapping = mapping_of(loop)
    return mapping is not None and mapping.distributes


def is_in_thread(op: ir.Operation) -> bool:
    """Whether an op is in a loop over threads."""
    return any(map(is_distributed, thread_nest(op)))


def tiles_of(buffer: ir.Value, within: ir.Operation | None = None) -> list[ThreadTile]:
    """The tiles that loops over threads take of a buffer; only those in `within`, if given."""
    inside = None if within is None else set(operations(within, "memref.subview"))
    return [tile for tile, _ in _leaves(buffer) if tile is not None and (inside is None or tile.view in inside)]


def whole_users(buffer: ir.Value) -> list[ir.Operation]:
    """The users of a buffer, or of a view of it, that do not take a tile in a loop over threads."""
    return [op for tile, op in _leaves(buffer) if tile is None]


def is_handed_out(value: ir.Value) -> bool:
    """Whether a memref is (a part of) a temporary that becomes shared memory, because an op with a
    map distributes its elements."""
    base = root_memref(value)
    maps = map(mapping_of, whole_users(base)) if is_temporary(base) else ()
    return any(mapping is not None and mapping.distributes for mapping in maps)


def _leaves(buffer: ir.Value) -> Iterator[tuple[ThreadTile | None, ir.Operation]]:
    for user in users(buffer):
        nest = thread_nest(user)
        if user.name != "memref.subview" or not nest:
            yield None, user
            continue
        inner = users(user.results[0])
        if inner and all(u.name == "memref.subview" and len(thread_nest(u)) > len(nest) for u in inner):
            yield from _leaves(user.results[0])  # only partitioned further, by loops nested deeper
        else:
            yield ThreadTile(user, nest) if any(map(is_distributed, nest)) else None, user


def one_each(loop: ir.Operation) -> bool:
    """Whether no processor gets more than one iteration of a mapped loop."""
    mapping = mapping_of(loop)
    if mapping is None or mapping.dist is None:
        return True
    trips = trip_counts(Mapped(loop, mapping))
    if mapping.dist == "block-cyclic" and mapping.chunk != 1 and not mapping.every:
        return all(n == 1 for n in trips)  # a chunk goes to one processor, however many processors there are
    counts = zip(mapping.counts, trips, strict=False)
    return not mapping.every and all(count == -1 or (n is not None and 0 < n <= count) for count, n in counts)


def kept_elements(alloc: ir.Operation, threads: int | None) -> tuple[int, str]:
    """The number of elements of a temporary that each thread keeps. It keeps them if it makes all
    accesses to them: all ops that access the temporary have the same map, and access it in the
    order in which the map distributes elements. Otherwise, or if these are too many for a thread, 0
    and the reason.

    `threads`: the number of threads in a block, None if it is not known.
    """
    walks = {_walk(op, alloc.results[0]): op for op in users(alloc.results[0])}
    if None in walks:
        return 0, str(walked_otherwise(walks[None]))
    if len(walks) != 1:
        ways = [f"`{mapping_of(op)}` on {describe(op)}" for op in walks.values()]
        return 0, f"ops access it in different orders, {' and '.join(ways[:2])}" if ways else "no op accesses it"
    ((mapping, _),) = (walk for walk in walks if walk is not None)
    kept = slots_of(next(iter(walks.values())), threads)
    if kept is None or mapping.dist is None or min(mapping.counts, default=0) < 0:
        return (
            0,
            f"the part of it that `{mapping}` gives a thread is not known: the map needs counts and a distribution",
        )
    around = {one.space for _, one in enclosing_maps(alloc)}
    if mapping.space == "lanes" and threads != WARP and "warps" not in around:
        return 0, f"`{mapping}` fills it in one warp, and others of the block read it: map the loop around it to warps"
    kind = ir.MemRefType(alloc.results[0].type).element_type
    if (size := kept * element_bytes(kind)) > OF_A_THREAD:
        much = f"`{mapping}` gives each thread {kept} elements of {kind}, {size} bytes"
        return 0, f"{much}, and it keeps at most {OF_A_THREAD}"
    return kept, ""


def walked_otherwise(user: ir.Operation) -> Remark:
    """A remark on the accesses of a buffer by an op without a distributing map; the op is named as
    in the payload, or by its location."""
    reached = [user, *(all_users(user.results[0]) if user.name == "memref.subview" else ())]
    named = next((op for op in reached if is_structured(op) and location_text(op.location) != "unknown"), None)
    how = (
        "takes tiles of it, in a loop" if user.name == "memref.subview" and thread_nest(user) else "accesses all of it"
    )
    if named is None:
        return Remark(f"the op at {{}} {how}", (user.location,))
    return Remark.of(f"{{}} {how}", named)


def slots_of(op: ir.Operation, threads: int | None) -> int | None:
    """The largest number of an op's elements that are distributed to one thread; None if that is
    known only at run time. `threads`: the number of threads in a block."""
    mapping, extents = mapping_of(op), [structure(op).extents[d] for d in handed_out(op)]
    if mapping is None or None in extents:
        return None
    units, slots = [n or 0 for n in extents], mapping.vector
    units[-1:] = [-(-n // mapping.vector) for n in units[-1:]]
    if mapping.every or len(mapping.axes) < len(units):
        units = [math.prod(units)]
    for trips, count in zip(units, (threads,) if mapping.every else mapping.counts, strict=False):
        count = trips if count == AS_MANY_AS_ITERATIONS else count
        if count is None or count < 0:
            return None
        chunk = chunk_of(trips, count, mapping)
        slots *= max(-(-trips // max(count * chunk, 1)), 1) * chunk
    return slots


def chunk_of(trips: int, count: int, mapping: Mapping) -> int:
    """The number of adjacent iterations that a processor takes, if `count` processors share `trips`
    iterations."""
    if mapping.dist == "block-cyclic":
        return mapping.chunk or 1
    return max(-(-trips // count), 1) if mapping.dist == "block" else 1


def _walk(op: ir.Operation, buffer: ir.Value) -> tuple[Mapping, tuple[int | None, ...]] | None:
    """The map of an op, and the extents that it distributes, if it accesses the whole buffer row by
    row; else None."""
    mapping = mapping_of(op)
    if mapping is None or not mapping.distributes or not is_structured(op) or is_scan(op):
        return None
    space, handed = structure(op), handed_out(op)
    wide = [d for d in range(space.rank) if space.extents[d] != 1]
    for operand, walked in zip(op.operands, space.maps, strict=True):
        dimensions = [dimension_of(e) for e in walked.results]
        if operand == buffer and (None in dimensions or [d for d in dimensions if d in wide] != wide):
            return None
    return (mapping, tuple(space.extents[d] for d in wide)) if set(wide) <= set(handed) else None


def clone_nest(tile: ThreadTile, before: ir.Operation) -> ThreadTile:
    """A copy of the tile's loops before an op; each of its iterations takes the tile and does
    nothing else.

    Index arithmetic for the tile's address that comes later is moved up, before the copy.
    """
    outer = tile.nest[0]
    order = list(operations(outer))
    clone = outer.clone(ir.InsertionPoint(before)).operation
    copies = list(operations(clone))
    nest = tuple(copies[order.index(loop)] for loop in tile.nest)
    view = copies[order.index(tile.view)]
    for loop in reversed(nest):
        drop_handles(loop)
        for op in children(loop)[-2::-1]:
            if op not in (view, *nest) and not is_used(*op.results):
                op.erase()
    for op in operations(clone):
        for operand in op.operands:
            _lift(operand, clone)
    return ThreadTile(view, nest)


def _lift(value: ir.Value, before: ir.Operation) -> None:
    """Moves the ops that compute a value before the op that needs it, unless they precede it (or
    are inside of it)."""
    op = producer(value)
    if op is None or is_within(op, before):
        return
    here = child_of(op.block.owner.operation, before)
    if here is not None and op.is_before_in_block(here):
        return
    for operand in op.operands:
        _lift(operand, here or before)
    op.move_before(here or before)
