"""Copies between a block's temporary and global memory inherit the map of the loop that owns the
temporary's tiles.

A ragged tile is computed whole in a temporary of static size, and then written back under a guard.
That copy has no map: each thread copies the part of the temporary that it wrote (or, for a copy
into it, that it will read). If the IR does not show the part, the threads share the copy, element
by element.

Guards are hoisted as far out as their index is known, and accesses are as wide as is proven. If
each element of an 8x8 part had its own guard, the compiler would compute 64 conditions and 64
addresses in advance, and keep them in more registers than the part itself takes. So the guard of a
row is around the whole row. If the rows of the buffer, and the extent, are multiples of n, a group
of n elements is inside the extent as a whole.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

from ...dsl.diagnostics import fail
from ...dsl.records import record
from ..hardware.lanes import BARRIER
from ..indices.arithmetic import Bound, delinearise, index_of, inside, value_of
from ..indices.linear import Linear
from ..indices.values import divisible
from ..ir.affine_maps import dimension_of, single_dimensions
from ..ir.copying import copies_to_linalg
from ..ir.mlir import ahead_of, children, ir, made_by, operations, ops_of, producer, users
from ..ir.refusing import Remark, describe
from ..ir.structured import WRITEBACK, body_of, element_type, is_parallel_op, place_of, shape_of, structure
from ..loops.forall import end_of, make_forall
from ..mapping.keys import structural_key
from ..mapping.mapping import (
    AS_MANY_AS_ITERATIONS,
    ATTRIBUTE,
    Mapped,
    Mapping,
    enclosing_maps,
    extents,
    mapping_of,
    most_trips,
    nested_maps,
    subview_offsets,
    subview_sizes,
)
from ..mapping.processors import loop_over, when
from ..memory.effects import is_pure, read, written
from ..memory.views import is_own_array, root_memref
from ..outlining.kernel import Outlined
from .elements import VECTOR, StructuredOp, emit, forwarded, most_lanes
from .temporaries import REGISTERS
from .tiles import ThreadTile, clone_nest, is_distributed, thread_nest, tiles_of
from .views import drop_dead_view, is_temporary
from .wide_accesses import aligned_rows
from .widths import widths


@record
class Part:
    """The elements [offset, offset + size) of the temporary that a copy has as operand `number`.

    Args:
        tile: the view of just these elements; None if they are addressed in the temporary itself.
        offsets: the part's first element, per axis of the temporary.
        sizes: its extents.
    """

    copy: StructuredOp
    number: int
    tile: ir.Value | None
    offsets: Sequence[Linear]
    sizes: Sequence[Bound]

    @property
    def order(self) -> list[int]:
        """The dimension of the copy that indexes each axis of the temporary."""
        return single_dimensions(self.copy.maps[self.number])

    def emit(self, bounds: Sequence[Bound], most_lanes: int = 1) -> None:
        """Emits the copy of the part within the copy's extents `bounds`, in accesses of up to
        `most_lanes` elements."""
        lanes = most_lanes
        while lanes > 1 and not self._wide(bounds, lanes):
            lanes //= 2
        steps = [*[1] * (len(self.sizes) - 1), lanes]

        def nest(axis: int, local: tuple[Linear, ...], guards: list[ir.Value]) -> None:
            if axis == len(self.sizes):
                indices = [Linear.of()] * len(self.order)
                for position, offset, index in zip(self.order, self.offsets, local, strict=True):
                    indices[position] = offset + index
                with when(*guards):
                    instead = (
                        {self.number: (self.tile, [value_of(e) for e in local])} if self.tile is not None else None
                    )
                    return emit(self.copy, indices, lanes, instead)
            size, step, bound = self.sizes[axis], steps[axis], bounds[self.order[axis]]
            trips = size // step if isinstance(size, int) else size

            def inner(trip: Linear, outside: list[ir.Value]) -> None:
                index = trip * step
                nest(axis + 1, (*local, index), [*outside, *inside(self.offsets[axis] + index, bound)])

            if trips == 1:
                return inner(Linear.of(), guards)
            with when(*guards):
                loop_over(trips, lambda trip: inner(trip, []))

        nest(0, (), [])

    def _wide(self, bounds: Sequence[Bound], lanes: int) -> bool:
        """Whether `lanes` adjacent elements of the part are adjacent in every buffer, aligned, and
        in bounds together."""
        size, last = self.sizes[-1], self.order[-1]
        if self.tile is None or last != self.copy.maps[self.number].n_dims - 1:
            return False
        if not isinstance(size, int) or size % lanes or not divisible(bounds[last], lanes):
            return False
        others = [n for n in range(len(self.copy.operands)) if n != self.number]
        others = [n for n in others if n in self.copy.output_numbers() or self.copy.used(n)]
        return aligned_rows(self.tile, lanes) and all(self.copy.wide(n, lanes) for n in others)


def inherit_maps(kernel: Outlined) -> list[Remark]:
    """Gives every unmapped copy of a temporary a loop with its owner's map. Returns remarks."""
    for copy in _unmapped_copies(kernel.root):
        if copy.name == "memref.copy" and structural_key(copy.operands[0]) == structural_key(copy.operands[1]):
            copy.erase()  # bufferization writes a tile back onto itself
        elif copy.name == "memref.copy":
            copies_to_linalg(copy)
    remarks = [_inherit(kernel.root, copy) for copy in _unmapped_copies(kernel.root)]
    return [remark for remark in remarks if remark]


def _unmapped_copies(root: ir.Operation) -> list[ir.Operation]:
    """Copies without a map, and ops marked as write-backs, that are outside of loops over threads,
    or in loops over threads that distribute their iterations further."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> None:
        mapping = mapping_of(op)
        copies = op.name in ("memref.copy", "linalg.copy") or WRITEBACK in op.attributes
        if mapping is None and copies and not all(map(is_own_array, written(op))):
            found.append(op)
            return
        if mapping is None or mapping.space == "blocks" or any(nested_maps(op)):
            for inner in children(op):
                visit(inner)

    visit(root)
    return found


@record
class _Owner:
    """The ops that access the elements of a temporary nearest to a copy of it.

    Args:
        mapped: the mapped loops that are around the accessing op, but not around the copy,
            outermost first; then that op, if it has a map of its own.
    """

    mapped: tuple[ir.Operation, ...]

    @property
    def loops(self) -> tuple[ir.Operation, ...]:
        return tuple(op for op in self.mapped if op.name == "scf.forall")

    @property
    def op(self) -> ir.Operation | None:
        return None if self.mapped[-1].name == "scf.forall" else self.mapped[-1]

    def __str__(self) -> str:
        return ", then ".join(str(mapping_of(op)) for op in self.mapped)


def _inherit(root: ir.Operation, copy: ir.Operation) -> Remark | None:
    if not is_parallel_op(copy):
        raise fail(
            "W0357",
            f"{describe(copy)} is marked as a write-back, and only an op without reductions can be one",
            "the mark is for what `bufferize` makes: tile the op, and map its loop",
        )
    found = _followed(root, copy)
    if found is None:
        return None
    number, temporary, owner = found
    structured = StructuredOp.of(copy)
    direct = _stored_directly(owner, copy, structured, number, temporary)
    if direct is not None:
        return direct
    with copy.location:
        if not _walks(structured, number) or not (
            _copy_tiles(owner, copy, structured, number, temporary)
            if owner.op is None
            else _copy_elements(owner, owner.op, copy, structured, number, temporary)
        ):
            return _share_out(copy, owner)
    remark = Remark.of("{} is done by the threads that own its temporary: {}", copy, owner)
    operands = list(copy.operands)
    copy.erase()
    for operand in operands:
        drop_dead_view(operand)
    return remark


def _stored_directly(
    owner: _Owner, copy: ir.Operation, structured: StructuredOp, number: int, temporary: ir.Value
) -> Remark | None:
    """Makes the op that fills a temporary which only the copy reads store directly to the copy's
    target: under the copy's guards, without the temporary. Returns a remark; None if another op
    accesses the temporary, or the op reads what the copy writes."""
    op, out = owner.op, structured.output_numbers().start
    if op is None or owner.loops or number >= out or forwarded(structured) != number or not _walks(structured, number):
        return None
    walked, mapping, made = _walked(owner, op, temporary), mapping_of(op), StructuredOp.of(op)
    if (
        walked is None
        or mapping is None
        or not is_parallel_op(op)
        or made.outputs != 1
        or made.operands[-1] != temporary
    ):
        return None
    if made.used(len(made.operands) - 1) or made.atomic is not None or made.asynchronous is not None:
        return None
    view, target = structured.operands[number], structured.operands[out]
    own = {op, copy, *([] if view == temporary else [view.owner.operation])}
    inputs = {root_memref(memref) for one in operations(op) for memref in read(one)}
    if any(user not in own for user in (*users(temporary), *users(view))) or root_memref(target) in inputs:
        return None
    if op.block != copy.block:
        return None
    siblings = ops_of(op.block)
    between = siblings[siblings.index(op) + 1 : siblings.index(copy)]
    if not all(
        is_pure(one) or one.name == BARRIER for one in between
    ):  # a barrier: the proof covers what is emitted here
        return None
    order, space, _ = walked
    of_copy = dict(zip(single_dimensions(structured.maps[number]), order, strict=True))  # its dimension → the op's
    reached = [dimension_of(e) for e in structured.maps[out].results]
    if None in reached:
        return None
    place = ir.AffineMap.get(len(space), 0, [ir.AffineDimExpr.get(of_copy[d]) for d in reached if d is not None])
    direct = dataclasses.replace(made, operands=(*made.operands[:-1], target), maps=(*made.maps[:-1], place))
    bounds = {of_copy[d]: bound for d, bound in enumerate(extents(copy))}
    for one in between:
        if one.name != BARRIER:
            one.move_before(op)  # the target and its guards
    lanes = mapping.vector if divisible(bounds[len(space) - 1], mapping.vector) else 1
    with copy.location, ahead_of(op):

        def store(at: Sequence[Linear]) -> None:
            with when(*(guard for d, index in enumerate(at) for guard in inside(index, bounds[d]))):
                emit(direct, at, lanes)

        def unit(first: Sequence[Linear]) -> None:
            if lanes == mapping.vector:
                return store(first)
            loop_over(mapping.vector, lambda e: store([*first[:-1], first[-1] + e]))

        _over_units(mapping, space, unit)
        remark = Remark.of("{} stores under the guards of {}, without a temporary: {}", op, copy, owner)
        if lanes > 1:
            remark = Remark.of("{}; {}", remark, widths(op, direct, lanes))
    copy.erase()
    op.erase()
    for value in (view, target):
        drop_dead_view(value)
    if not [user for user in users(temporary) if user.name != "memref.dealloc"]:
        for user in users(temporary):
            user.erase()
        temporary.owner.operation.erase()
    return remark


def _over_units(mapping: Mapping, space: Sequence[int], body: Callable[[Sequence[Linear]], None]) -> None:
    """Emits a loop, with the map of an op, over the units of its iterations; `body` gets the first
    index of a unit."""
    units = [*space[:-1], *(extent // mapping.vector for extent in space[-1:])]
    row = mapping.every or len(mapping.axes) != len(units)
    trips = [math.prod(units)] if row else units
    loop = make_forall([0] * len(trips), trips, [1] * len(trips))
    loop.attributes[ATTRIBUTE] = dataclasses.replace(mapping, vector=1).attribute()
    with ir.InsertionPoint(end_of(loop)):
        counters = [index_of(i, e) for i, e in zip(body_of(loop).arguments, trips, strict=True)]
        at = delinearise(counters[0], units) if row else counters
        body([*at[:-1], *(index * mapping.vector for index in at[-1:])])


def _share_out(copy: ir.Operation, owner: _Owner) -> Remark:
    """Distributes a copy with unknown owners: all threads of the block share it, or, inside a loop
    over threads, those along the owner's first axis there. The temporary is then shared, and needs
    a barrier."""
    outermost = next(filter(is_distributed, owner.mapped))
    first = mapping_of(outermost)
    assert first is not None
    mapping = Mapping("threads", every=True, dist="cyclic")
    if not first.every and any(m.space != "blocks" and m.distributes for _, m in enclosing_maps(copy)):
        trips = most_trips(Mapped(outermost, first))
        count = first.counts[0] if first.counts[0] != AS_MANY_AS_ITERATIONS else trips[0]
        if count is None:
            raise fail(
                "W0357",
                f"the part of its temporary that {describe(copy)} copies is not known, and the number of threads"
                f" that could share the copy is known only at run time: `{owner}`",
                f"give the map a count, such as `{first.space}({first.axes[0]}: 128) cyclic`; or `tile` by sizes that"
                f" divide the result, and there is no copy",
            )
        mapping = Mapping(first.space, first.axes[:1], (count,), dist="cyclic")
    copy.attributes[ATTRIBUTE] = mapping.attribute()
    return Remark.of("{} is shared out: {}", copy, mapping)


def _followed(root: ir.Operation, copy: ir.Operation) -> tuple[int, ir.Value, _Owner] | None:
    """The owner that a copy follows, with the number of the operand and the buffer. The owner is
    the nearest distributed op that accesses the temporary, or if there is none, the target: before
    the copy, if the copy reads the buffer; after the copy, if it writes it."""
    order, inputs = list(operations(root)), StructuredOp.of(copy).output_numbers().start
    here, around = order.index(copy), {op for op, _ in enclosing_maps(copy)}
    bases = list(enumerate(map(root_memref, copy.operands)))
    for number, base in [one for one in bases if is_temporary(one[1])] or bases[inputs:]:
        writes = number < inputs
        for op in reversed(order[:here]) if writes else order[here + 1 :]:
            if base in map(root_memref, written(op) if writes else [*read(op), *written(op)]):
                outer = [o for o, mapping in enclosing_maps(op) if o not in around and mapping.space != "blocks"]
                mapped = (*reversed(outer), *([op] if mapping_of(op) is not None else []))
                if any(map(is_distributed, mapped)):
                    return number, base, _Owner(mapped)
    return None


def _walks(structured: StructuredOp, number: int) -> bool:
    """Whether the copy accesses each element of an operand once, beginning with the first element of
    the buffer."""
    view = made_by(structured.operands[number], "memref.subview")
    return structured.maps[number].is_permutation and (view is None or all(o == 0 for o in subview_offsets(view)))


def _copy_tiles(owner: _Owner, copy: ir.Operation, structured: StructuredOp, number: int, temporary: ir.Value) -> bool:
    """Emits a nest of loops like the owner's in which each iteration copies the tile of the
    temporary that it owns; False if the loops do not determine the tile."""
    tiles = [tile for tile in tiles_of(temporary, owner.mapped[0]) if tile.view.block == tile.innermost]
    if not tiles or len({t.structural_key for t in tiles}) != 1:
        return False
    around = len(thread_nest(owner.mapped[0]))
    tile = clone_nest(ThreadTile(tiles[0].view, tiles[0].nest[around:]), copy)
    with ir.InsertionPoint(end_of(tile.nest[-1])):
        offsets, sizes = _offsets_in(temporary, tile.view), subview_sizes(tile.view)
        kept = producer(temporary)  # wide if `promote-to-registers` made it, or `vectorize` its owner's ops
        asked = (v for op in operations(owner.mapped[0]) if VECTOR in op.attributes for v in op.operands)
        wide = (kept is not None and REGISTERS in kept.attributes) or temporary in map(root_memref, asked)
        lanes = most_lanes(element_type(temporary)) if wide else 1
        Part(structured, number, tile.view.results[0], offsets, sizes).emit(extents(copy), lanes)
    return True


def _offsets_in(buffer: ir.Value, view: ir.Operation) -> list[Linear]:
    """The offsets in a buffer of a tile (of a tile …) of it."""
    source = view.operands[0]
    here = [
        index_of(offset, extent - size + 1 if extent and isinstance(size, int) else None)
        for offset, extent, size in zip(subview_offsets(view), shape_of(source), subview_sizes(view), strict=True)
    ]
    outer = producer(source)
    if source == buffer or outer is None:
        return here
    return [a + b for a, b in zip(_offsets_in(buffer, outer), here, strict=True)]


def _copy_elements(
    owner: _Owner, op: ir.Operation, copy: ir.Operation, structured: StructuredOp, number: int, temporary: ir.Value
) -> bool:
    """Emits a loop over the iterations of the op that fills the temporary (or its tile), with its
    map; an iteration copies the elements that it wrote. False if the op does not show these."""
    mapping = mapping_of(op)
    walked = _walked(owner, op, temporary)
    if walked is None or mapping is None:
        return False
    order, space, view = walked
    lanes = [1] * len(space)
    if mapping.vector > 1:
        lanes[-1] = mapping.vector
    place, starts = ir.InsertionPoint(copy), [Linear.of()] * len(order)
    if view is not None:
        tile = clone_nest(ThreadTile(view, owner.loops), copy)
        place = ir.InsertionPoint(end_of(tile.nest[-1]))
        with place:
            starts = _offsets_in(temporary, tile.view)

    def unit(at: Sequence[Linear]) -> None:
        offsets = [start + at[d] for start, d in zip(starts, order, strict=True)]
        Part(structured, number, None, offsets, [lanes[d] for d in order]).emit(extents(copy))

    with place:
        _over_units(mapping, space, unit)
    return True


def _walked(
    owner: _Owner, op: ir.Operation, temporary: ir.Value
) -> tuple[list[int], list[int], ir.Operation | None] | None:
    """For each dimension of the temporary, the dimension of the owner's op that indexes it; the
    extents of that op; and the tile that it accesses (None: the whole temporary). None unless the
    op accesses each element of the temporary, or of a tile, once."""
    structured = StructuredOp.of(op)
    space = [extent for extent in structure(op).extents if extent is not None]
    for number, operand in reversed(list(enumerate(structured.operands))):
        indexing = structured.maps[number]
        if root_memref(operand) != temporary or not indexing.is_permutation or indexing.n_dims != len(space):
            continue
        view = producer(operand) if operand != temporary else None
        if (view is None and not owner.loops) or (view is not None and owner.loops and _cuts(view, temporary, owner)):
            return single_dimensions(indexing), space, view
    return None


def _cuts(view: ir.Operation, temporary: ir.Value, owner: _Owner) -> bool:
    """Whether a view is a tile of the temporary, or a tile of such a tile: taken in the innermost
    of the owner's loops, and contiguous along all axes."""
    inside, current = view.block == body_of(owner.loops[-1]), view.results[0]
    while inside and current != temporary and (made := producer(current)) is not None:
        kinds = {ir.MemRefType(value.type).rank for value in (made.operands[0], current)}
        inside = made.name == "memref.subview" and len(kinds) == 1 and set(place_of(made)[2]) <= {1}
        current = made.operands[0]
    return inside
