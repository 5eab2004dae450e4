"""Guarded write-back: loops over padded results are rebuilt to write the unpadded results.

After ragged tiling, a `scf.forall` produces a tensor with a shape that is a multiple of the tile,
of which a `tensor.extract_slice` keeps the real part. Here the loop gets the real tensor as its
shared output instead; each tile is computed in full, and only the part inside is inserted: `min(16,
1000 - i)` rows. No padded result ever exists in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..indices.algebra import at_or_above, trips_of
from ..indices.arithmetic import constant_of, known, value_of
from ..indices.linear import NOTHING, Floor, Linear, Symbol
from ..indices.values import KnownIndices, divisible
from ..ir.cloning import index_dimension
from ..ir.copying import copy_to, fill_value, fill_with
from ..ir.mlir import affine, ir, made_by, made_within, maker, operations, producer, users
from ..ir.sizes import same_size, sizes_of
from ..ir.structured import (
    element_type,
    empty,
    from_origin,
    insert,
    is_empty,
    loop_inits,
    loop_outputs,
    move_marks,
    part_of,
    parts_of,
    replace,
    shape_of,
    sliced,
    structure,
)
from ..mapping.mapping import loop_dimensions
from ..padding import masked_loads
from .destinations import ahead, written_over
from .staged_results import MERGE


def guard_writebacks(module: ir.Module) -> None:
    """Clips every `scf.forall` of the module with a padded result that is cut back, innermost
    first."""
    for loop in reversed(list(operations(module.operation, "scf.forall"))):
        if any(_cut(result) for result in loop.results):
            _guard(loop)


def _cut(result: ir.Value) -> ir.Operation | None:
    """The slice from the origin that is the only use of a loop's result, of sizes that are known
    before the loop; None for any other use."""
    taken, loop = users(result), producer(result)
    if loop is None or len(taken) != 1 or not from_origin(taken[0]):
        return None
    sizes = parts_of(taken[0])[1]
    return taken[0] if all(isinstance(size, int) or ahead(loop, size) for size in sizes) else None


def _guard(loop: ir.Operation, places: Sequence[ir.Value | None] = ()) -> None:
    """Rebuilds the loop with shared outputs of the real shapes. `places`: for a loop over parts of
    a tile, the destinations of its results."""
    inits, cuts = loop_inits(loop), [_cut(r) for r in loop.results]
    with ir.InsertionPoint(loop):
        shapes = [None if cut is None else sizes_of(cut.results[0]) for cut in cuts]
    sources = [
        None if shape is None else _source(loop, output, shape)
        for output, shape in zip(loop_outputs(loop), shapes, strict=True)
    ]
    with ir.InsertionPoint(loop):
        starts = list(inits)
        for n, (init, shape, source) in enumerate(zip(inits, shapes, sources, strict=True)):
            if places and (place := places[n]) is not None:
                starts[n] = _begun(init, place, shape)
            elif source is not None:
                starts[n] = source
            elif shape is not None:
                nothing = is_empty(init)
                starts[n] = empty(shape, element_type(init)) if nothing else part_of(init, shape)
    new = rebuilt(loop, starts)
    for output, init, shape, source in zip(loop_outputs(new), inits, shapes, sources, strict=True):
        if shape is not None:
            _guard_output(output, init, shape, source, nested=bool(places))
    for result, made, cut in zip(loop.results, new.results, cuts, strict=True):
        if cut is None:
            result.replace_all_uses_with(made)
        else:
            replace(cut, [made])
    loop.erase()


def _begun(init: ir.Value, place: ir.Value, shape: Sequence[int | ir.Value] | None) -> ir.Value:
    """The destination of a result. If an op has computed the loop's initial contents, the
    destination gets them: a fill is repeated there."""
    made = producer(init)
    if shape is None or is_empty(init) or made is None or made.name == "tensor.extract_slice":
        return place
    if (filling := fill_value(made)) is None:
        return copy_to(place, part_of(init, shape)).results[0]
    with made.location:
        fill = fill_with(place, filling)
    move_marks(made, fill)
    return fill.results[0]


def _source(loop: ir.Operation, output: ir.Value, shape: Sequence[int | ir.Value]) -> ir.Value | None:
    """The source of the accumulators of `output`: the real tensor that the loop updates in place;
    None if there is none."""
    images = (read.operands[0] for read in _read_in_place(output))
    return next((i for i in images if not made_within(i, loop) and _is_of(i, shape, loop)), None)


def _is_of(image: ir.Value, shape: Sequence[int | ir.Value], loop: ir.Operation) -> bool:
    """Whether an image has this shape; sizes known only at run time must come from the same
    dimension."""
    if len(shape_of(image)) != len(shape):
        return False
    with ir.InsertionPoint(loop):
        return all(same_size(a, b) for a, b in zip(sizes_of(image), shape, strict=True))


def _read_in_place(output: ir.Value, around: Sequence[list[ir.Value | int]] = ()) -> list[ir.Operation]:
    """The reads from which tiles of `output` start, if they read an image exactly where the tile is
    inserted; loops over parts of a tile are included. `around`: the offsets of the tiles of outer
    loops."""
    found: list[ir.Operation] = []
    for insertion in users(output):
        if insertion.name != "tensor.parallel_insert_slice" or insertion.operands[1] != output:
            continue
        places = (*around, parts_of(insertion)[0])
        for op, position in written_over(sliced(insertion.operands[0])):
            if masked_loads.is_masked_load(op):
                found += [read for read in operations(op, "tensor.extract") if _reads_at(read, op, places)]
            elif op.name == "scf.forall":
                found += _read_in_place(loop_outputs(op)[position - len(op.operands)], places)
    return found


def _reads_at(read: ir.Operation, gather: ir.Operation, places: Sequence[list[ir.Value | int]]) -> bool:
    """Whether a masked load reads, for its element i, the element at the sum of the offsets
    `places` and i."""
    values = KnownIndices()
    own = [values.opaque(NOTHING) for _ in range(structure(gather).rank)]
    for op in operations(gather, "linalg.index"):
        values.bind(op.results[0], own[index_dimension(op)])
    indices = [values.linear(index) for index in list(read.operands)[1:]]
    if any(len(place) != len(indices) for place in places):
        return False
    for wanted, index, *offsets in zip(own, indices, *places, strict=True):
        for offset in offsets:
            wanted = wanted + values.number(offset)
        if wanted != index:
            return False
    return True


def rebuilt(loop: ir.Operation, starts: Sequence[ir.Value]) -> ir.Operation:
    """A copy of the loop with shared outputs that start from `starts`; its body still inserts whole
    tiles."""
    copy = loop.clone(ip=ir.InsertionPoint(loop)).operation
    offset = len(copy.operands) - len(starts)
    for i, (start, output) in enumerate(zip(starts, loop_outputs(copy), strict=True)):
        copy.operands[offset + i] = start
        copy.results[i].set_type(start.type)
        output.set_type(start.type)
    return copy


def _guard_output(
    output: ir.Value, init: ir.Value, shape: Sequence[int | ir.Value], source: ir.Value | None, *, nested: bool
) -> None:
    """Makes reads of `output` masked, and clips insertions into it."""
    reads = _read_in_place(output)
    for op in [op for op in users(output) if op.name == "tensor.extract_slice"]:
        with ir.InsertionPoint(op):  # an empty output has no contents to read
            if is_empty(init):
                made = empty(sizes_of(op.results[0]), element_type(output))
            else:
                made = _gathered(op, output, shape)
        replace(op, [made])
    for op in [op for op in users(output) if op.name == "tensor.parallel_insert_slice"]:
        _guard_insertion(op, shape, shape_of(init) if nested else None)
    # only accumulators: any other read of that tensor means its initial contents
    for op in reads if source is not None else ():
        if op.operands[0] == source:
            op.operands[0] = output


def _gathered(part: ir.Operation, image: ir.Value, shape: Sequence[int | ir.Value]) -> ir.Value:
    """The tile that a slice takes of an image; elements beyond `shape` are arbitrary."""
    offsets = [value_of(offset) for offset in parts_of(part)[0]]
    plus = ir.AffineMap.get(2, 0, [ir.AffineDimExpr.get(0) + ir.AffineDimExpr.get(1)])

    def element(at: Iterator[ir.Value], _: list[ir.Value]) -> ir.Value:
        where = [affine.AffineApplyOp(plus, [index, offset]).result for index, offset in zip(at, offsets, strict=True)]
        return masked_loads.read_at(image, where, masked_loads.within(where, shape, [-1 for _ in shape]), None)

    return masked_loads.computed(sizes_of(part.results[0]), element_type(image), element)


def _guard_insertion(op: ir.Operation, shape: Sequence[int | ir.Value], tile: Sequence[int | None] | None) -> None:
    """Clips an insertion: `insert %t[16, 16] at (i, j)` → `insert %t[0:min(16, 1000 - i), …]`, at
    the same place.

    `tile`: the extents of the enclosing tile, of which an inner loop takes parts; such a part may
    begin after the end of the tile's rows, even if its size divides them.
    """
    made, output, end = producer(op.operands[0]), op.operands[1], op.parent.operation
    merge = made if made is not None and _is_merge(made) else None
    loop = made if made is not None and made.name == "scf.forall" and _takes_on(made) else None
    with ir.InsertionPoint(merge or loop or end):
        offsets = [value_of(offset) for offset in parts_of(op)[0]]
        sizes = parts_of(op)[1]  # for parts clipped by an enclosing tile these are values by now
        if tile is None:
            inside = inside_of(offsets, sizes, shape)
        else:
            inside = [
                size
                if isinstance(extent, int) and extent == whole
                else _at_least_none(_remaining(offset, size, extent))
                for offset, size, extent, whole in zip(offsets, sizes, shape, tile, strict=True)
            ]
        there = part_of(output, inside, offsets) if merge or loop else None
    if merge is not None:  # only the part inside is copied, into the clipped destination
        with ir.InsertionPoint(merge):
            part = copy_to(there, part_of(merge.operands[0], inside))
        move_marks(merge, part)
    else:
        with ir.InsertionPoint(end):
            part = part_of(op.operands[0], inside)
    with ir.InsertionPoint(op):
        insert(part, output, offsets, inside)
    op.erase()
    if merge is not None:
        merge.erase()
    elif loop is not None:
        _guard(loop, [there if _cut(result) == producer(part) else None for result in loop.results])


def _is_merge(op: ir.Operation) -> bool:
    """Whether the op moves a result to its destination (`staged_results.py`)."""
    return MERGE in op.attributes and len(users(op.results[0])) == 1


def _takes_on(loop: ir.Operation) -> bool:
    """Whether a copy in the loop, or in an inner loop, moves the inserted result to its
    destination."""
    insertions = [
        user for output in loop_outputs(loop) for user in users(output) if user.name == "tensor.parallel_insert_slice"
    ]
    inserted = [producer(insertion.operands[0]) for insertion in insertions]
    return any(op is not None and (_is_merge(op) or (op.name == "scf.forall" and _takes_on(op))) for op in inserted)


def _at_least_none(size: ir.Value) -> ir.Value:
    none = ir.AffineMap.get(1, 0, [ir.AffineConstantExpr.get(0), ir.AffineDimExpr.get(0)])
    return affine.AffineMaxOp(none, [size]).result


def inside_of(
    offsets: Sequence[ir.Value], sizes: Sequence[int | ir.Value], shape: Sequence[int | ir.Value]
) -> list[int | ir.Value]:
    """For each dimension, how much of a tile of `sizes` at `offsets` is inside `shape`; values are
    made at the insertion point. If the loops cover more than `shape`, because the payload itself
    takes only a part of their result, some tiles are entirely outside."""
    return [_inside(offset, size, extent) for offset, size, extent in zip(offsets, sizes, shape, strict=True)]


def _inside(offset: ir.Value, size: int | ir.Value, extent: int | ir.Value) -> int | ir.Value:
    fits = isinstance(size, int) and _divides(size, extent) and _multiple_of(offset, size)
    return size if fits and _begins_below(offset, extent) else _remaining(offset, size, extent)


def _begins_below(offset: ir.Value, extent: int | ir.Value) -> bool:
    """Whether `offset` is proven to be below `extent` in every iteration of the loops of which it
    is a sum of multiples of indices."""
    values, apply = KnownIndices(), made_by(offset, "affine.apply")
    last: dict[Symbol, Linear] = {}
    for index in [offset] if apply is None else apply.operands:
        loop = maker(index)
        if producer(index) is None and loop.name == "scf.forall":
            own = loop_dimensions(loop)[ir.BlockArgument(index).arg_number]
            low, high, step = (values.number(known(bound)) for bound in (own.lower, own.upper, own.step))
            if (trips := trips_of(low, high, step)) is None:
                return False
            counter = values.fresh("loop", NOTHING, 0)
            values.bind(index, low + Linear.of(counter) * step.constant)
            last[counter] = trips - 1
    form = values.linear(offset)
    for term, factor in form.terms.items():  # the last iteration must have the largest offset
        if isinstance(term, Floor) or term.made is not None or (term in last and factor < 0):
            return False
    return at_or_above(values.number(extent) - form.put(last), 1)


def _divides(size: int, extent: int | ir.Value) -> bool:
    return size == 1 or divisible(extent, size)


def _multiple_of(offset: ir.Value, size: int) -> bool:
    """Whether an offset is a loop index times the tile size: then tiles that divide the extent, and
    begin below it, are inside."""
    number, apply = constant_of(offset), made_by(offset, "affine.apply")
    if apply is not None:  # of its own loop only: a tile within a tile may begin after the end of its row
        return list(apply.attributes["map"].value.results) == [ir.AffineDimExpr.get(0) * size]
    return number % size == 0 if number is not None else size == 1 and producer(offset) is None


def _remaining(offset: ir.Value, size: int | ir.Value, extent: int | ir.Value) -> ir.Value:
    """The size `min(size, extent - offset)`."""
    values: list[ir.Value] = []

    def term(one: int | ir.Value) -> ir.AffineExpr:
        if isinstance(one, int):
            return ir.AffineConstantExpr.get(one)
        values.append(one)
        return ir.AffineDimExpr.get(len(values) - 1)

    bounds = [term(size), term(extent) - term(offset)]
    return affine.AffineMinOp(ir.AffineMap.get(len(values), 0, bounds), values).result
