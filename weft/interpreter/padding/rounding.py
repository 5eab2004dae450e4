"""Rounds the iteration space of a structured op up to multiples of its tile sizes.

Each operand becomes a masked load of a static shape that is a multiple of the tile. If its producer
is itself a structured op, that producer is rounded up instead, so that `fuse` still finds it.
Outside the domain, a reduced operand has a value that leaves the reduction unchanged
(`identities`), or the update is masked (`masking`). The result is cropped by a
`tensor.extract_slice`, which bufferization turns into a guarded write-back.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dsl.diagnostics import fail
from ..indices.arithmetic import ceildiv, value_of
from ..ir.cloning import is_named
from ..ir.copying import fill_constant
from ..ir.mlir import DYNAMIC, ahead_of, ancestors, attributes, has_parent, ir, made_by, operations, producer, users
from ..ir.reshapes import larger_source, reshaped_alike
from ..ir.sizes import SizeForm, emitted, form_of, forms_of, iterations_of, sizes_of
from ..ir.structured import (
    Structure,
    body_of,
    dimension_of,
    dimensions_of,
    element_type,
    empty,
    from_origin,
    is_empty,
    is_read,
    is_structured,
    loop_inits,
    loop_outputs,
    part_of,
    replace,
    segments,
    shape_of,
    sliced,
    structure,
)
from ..reductions.identities import Identity, attribute, fillings
from . import masked_loads
from .masked_loads import UNKNOWN_TILES, assembled, reaches
from .masking import beyond, generalized, mask_update, runs_anywhere
from .provenance import Image, Provenance, StridedWindow, derived_from_pad, makers, read_through, remove_dead
from .scattered_inputs import load_scattered


def absorb_pads(op: ir.Operation, *, starts: bool = False) -> list[str]:
    """Makes a masked load of every padding that `op` reads, so that the image is read in place;
    returns remarks.

    Paddings are those of `provenance`: `tensor.pad`s, and filled buffers into which the image is
    copied. A padding that only crops becomes a slice, which is a view. `starts`: includes a
    `tensor.pad` that is the initial value of an output; each tile then starts from a part of the
    masked load.
    """
    done: list[str] = []
    inputs, outputs = segments(op)
    for position in range(inputs + outputs if starts else inputs):
        value = op.operands[position]
        piece = read_through(value)
        if piece is None or (position >= inputs and not derived_from_pad(value)):
            continue
        with ahead_of(op):
            op.operands[position] = _read(piece, value, sizes_of(value))
        passed = makers(value)
        view = isinstance(piece, Image) or (isinstance(piece, StridedWindow) and isinstance(piece.inside, Image))
        called = " and ".join(dict.fromkeys(_CALLED[maker.name] for maker in passed if maker.name in _CALLED))
        done.append(
            f"reads through {called}: " + ("a view of the image" if view else "the padding is a mask, not a copy")
        )
        remove_dead(passed)
    return list(dict.fromkeys(done))


_CALLED = {"tensor.pad": "tensor.pad", "tensor.insert_slice": "a filled buffer"}
"""The op behind a padding, for remarks; a payload on memrefs has no `tensor.insert_slice`."""


def _read(piece: Provenance, value: ir.Value, shape: Sequence[int | ir.Value]) -> ir.Value:
    if isinstance(piece, Image) and piece.value.type == value.type:
        return piece.value
    if isinstance(piece, StridedWindow) and isinstance(piece.inside, Image):
        return part_of(piece.inside.value, shape, piece.offsets, piece.strides)
    return assembled(piece, shape, element_type(value))


def absorb_all_pads(module: ir.Module) -> None:
    """Reads through the `tensor.pad`s that scheduled ops still read: those in loops, and those with
    a handle or a map."""
    for op in operations(module.operation):
        if not is_structured(op) or masked_loads.is_masked_load(op) or not any(map(derived_from_pad, op.operands)):
            continue
        if not has_parent(op, "func.func") or "weft.map" in op.attributes:
            absorb_pads(op)


def pad_extents(space: Structure, sizes: Sequence[int | None]) -> tuple[int | None, ...]:
    """The extents rounded up to multiples of the tile sizes; untiled ones are unchanged. An extent
    known only at run time becomes `UNKNOWN_TILES` tiles, if these have more than one iteration."""
    ends = zip(space.extents, sizes, strict=True)
    return tuple(_rounded(n, size) if size is not None and (n is not None or size > 1) else n for n, size in ends)


def _rounded(extent: int | None, size: int) -> int:
    return UNKNOWN_TILES * size if extent is None else -(-extent // size) * size


def pad(op: ir.Operation, extents: Sequence[int | None]) -> ir.Operation:
    """Replaces `op` (on tensors) by one with iteration space `extents`; returns it. Tags are moved
    to it.

    If no values of its inputs outside the domain leave a reduction unchanged, its update is masked.
    """
    space = structure(op)
    if not masked_loads.is_masked_load(op):
        absorb_pads(op)
    ragged = [d for d in range(space.rank) if extents[d] != space.extents[d]]
    load_scattered(op, space, dict.fromkeys(ragged))
    space = structure(op)
    reduced = [d for d in ragged if space.iterators[d] == "reduction"]
    anywhere = runs_anywhere(op)
    filled = fillings(op, space, reduced, start_of(op.operands[space.inputs])) if reduced and anywhere else None
    identities = (*(filled or [None] * space.inputs), *[None] * space.outputs)
    masked = ragged if not anywhere else reduced if filled is None else []
    if masked:
        op = generalized(op)
    with ahead_of(op):
        iterations, whole = iterations_of(op, space), [sizes_of(result) for result in op.results]
        shapes = [required_shape(space, i, v, extents) for i, v in enumerate(op.operands)]
        stay = stay_as_they_are(op, shapes)
        operands = [
            _operand(op, i, required_shape(space, i, v, extents), identities[i], filled is not None, stay)
            for i, v in enumerate(op.operands)  # evaluated one at a time: others may replace the origin of its sizes
        ]
        if masked and reduced:  # the masked update reads every output: one that the op only writes starts as 0
            operands = [v if _reads(op, i, space) else masked_loads.zeros(v) for i, v in enumerate(operands)]
        copy = op.clone().operation
    for i, operand in enumerate(operands):
        copy.operands[i] = operand
    for result, init in zip(copy.results, operands[space.inputs :], strict=True):
        result.set_type(init.type)
    with ir.InsertionPoint.after(copy), copy.location:  # the part inside replaces the op
        ends = zip(op.results, copy.results, whole, strict=True)
        inside = [new if old.type == new.type else part_of(new, sizes) for old, new, sizes in ends]
    replace(op, inside)
    if masked:
        mask_update(copy, beyond(iterations, extents, masked), keep=bool(reduced))
    return copy


def required_shape(
    space: Structure, position: int, operand: ir.Value, extents: Sequence[int | None]
) -> tuple[SizeForm, ...]:
    """The shape required of the operand at `position` for the iteration space `extents`: never
    smaller than its own. A size known only at run time grows by the amount by which other
    dimensions of its subscript are rounded up, at most."""
    from ..indices.algebra import Algebra, LaunchShape
    from ..indices.linear import Linear, Symbol

    whole, shape = [n or 0 for n in extents], shape_of(operand)
    out: list[SizeForm] = []
    beyond = [_excess(old, new) for old, new in zip(space.extents, extents, strict=True)]
    indices = [Linear.of(Symbol(f"d{d}", "parameter", low=0, high=n - 1)) for d, n in enumerate(whole)]
    further = [Linear.of(Symbol(f"d{d}", "parameter", low=0, high=n)) for d, n in enumerate(beyond)]
    algebra = Algebra(LaunchShape())
    forms = algebra.affine_map(space.maps[position], indices)
    reach = algebra.affine_map(space.maps[position], further)
    for axis, (expr, form) in enumerate(zip(space.maps[position].results, forms, strict=True)):
        old = shape[axis] or 0
        d, last = dimension_of(expr), form.bounds()[1]
        if any(extents[used] is None for used in dimensions_of(expr)):
            low, high = reach[axis].bounds()  # the rounded part extends by this much along the axis
            out.append(form_of(operand, axis) + ((high or 0) - (low or 0)))
        else:
            out.append(whole[d] if d is not None else max(old, (last or 0) + 1))
    return tuple(out)


def _excess(old: int | None, new: int | None) -> int:
    """The largest number of iterations by which a dimension is rounded up."""
    if new is None:
        return 0
    return new // UNKNOWN_TILES - 1 if old is None else new - old


def start_of(value: ir.Value) -> ir.Attribute | None:
    """The constant that an output starts with; None where it is not known to be one."""
    value = sliced(value)
    if isinstance(value.owner, ir.Block):
        loop = value.owner.owner.operation
        outputs = loop_outputs(loop) if loop.name == "scf.forall" else []
        return start_of(loop_inits(loop)[outputs.index(value)]) if value in outputs else None
    return fill_constant(producer(value))


def _operand(
    op: ir.Operation,
    position: int,
    forms: tuple[SizeForm, ...],
    outside: Identity,
    filled: bool,
    stay: Sequence[ir.Operation],
) -> ir.Value:
    """An operand of the shape `forms`. `filled`: beyond its own shape it must have the value
    `outside`, because a reduction reads it there; otherwise it may be arbitrary. `stay`: see
    `stay_as_they_are`."""
    value, space = op.operands[position], structure(op)
    numbers = tuple(n if isinstance(n, int) else None for n in forms)
    if not isinstance(value.type, ir.RankedTensorType) or list(forms) == forms_of(value):
        return value
    shape = [emitted(form) for form in forms]
    if numbers == shape_of(value):  # open sizes, beyond which it must extend
        return masked_loads.gather(value, shape, outside)
    must_hold = filled and any(  # an axis that a reduction reads is padded: then the value outside matters
        old != new and any(space.iterators[d] == "reduction" for d in dimensions_of(e))
        for e, old, new in zip(space.maps[position].results, shape_of(value), numbers, strict=True)
    )
    if not _reads(op, position, space):
        return empty(shape, element_type(value))
    return _enlarged(value, numbers, shape, outside, must_hold, stay)


def _enlarged(
    value: ir.Value,
    numbers: Sequence[int | None],
    shape: Sequence[int | ir.Value],
    outside: Identity,
    must_hold: bool,
    stay: Sequence[ir.Operation],
) -> ir.Value:
    """`value` with a larger shape; its producer is enlarged if possible. `must_hold`: beyond its
    own shape it must have the value `outside`."""
    old, maker = sizes_of(value), producer(value)
    if is_empty(value):
        return empty(shape, element_type(value))
    if (
        maker is not None
        and from_origin(maker)
        and shape_of(maker.operands[0]) == numbers
        and (made_by(maker.operands[0], "scf.forall") is None or all(isinstance(n, int) for n in old))
    ):
        return _held(maker.operands[0], maker, old, outside, must_hold)  # rounded up for another reader before
    if maker is not None and (source := larger_source(maker, numbers)) is not None:
        with ahead_of(maker):
            larger = _enlarged(maker.operands[0], source, source, outside, must_hold, stay)
            return reshaped_alike(larger, maker, [n or 0 for n in numbers])
    if maker is None or not is_structured(maker) or _is_staged(maker) or _has_own_kernel(maker):
        return masked_loads.gather(value, shape, outside)
    result = ir.OpResult(value).result_number
    loads = maker in stay or (masked_loads.is_masked_load(maker) and not segments(maker)[0])
    extents = None if loads else _producer_extents(maker, result, numbers)
    if extents is None:
        with ahead_of(maker):
            return masked_loads.gather(value, shape, outside)
    padded = pad(maker, extents)
    return _held(padded.results[result], padded, old, outside, must_hold)


def _reads(op: ir.Operation, position: int, space: Structure) -> bool:
    return position < space.inputs or is_read(op, position)


def _held(
    value: ir.Value, after: ir.Operation, old: Sequence[int | ir.Value], outside: Identity, must_hold: bool
) -> ir.Value:
    """`value`, masked beyond the shape `old` if it must be `outside` there and is not already; the
    mask is emitted after the op `after`."""
    maker = producer(value)
    filling = fill_constant(maker)
    if not must_hold or (filling is not None and filling == attribute(outside, element_type(value))):
        return value
    with ir.InsertionPoint.after(after), after.location:
        return masked_loads.masked(value, old, outside)


def _has_own_kernel(maker: ir.Operation) -> bool:
    """Whether an op of a function gets a kernel of its own, because no handle names it, so that no
    statement can `fuse` it. Its result then keeps its size, and the kernels that read it check
    their indices. Ops that only move elements, or fill, are read through instead."""
    simple = len(body_of(maker).operations) == 1 or masked_loads.is_masked_load(maker)
    return has_parent(maker, "func.func") and not simple and not is_named(maker)


def _is_staged(maker: ir.Operation) -> bool:
    """Whether the op fills a buffer in shared memory: that keeps its size, and elements beyond it
    are masked."""
    makers = (made_by(value, "bufferization.to_tensor") for value in list(maker.operands)[segments(maker)[0] :])
    return any(op is not None and ir.MemRefType(op.operands[0].type).memory_space is not None for op in makers)


def stay_as_they_are(op: ir.Operation, shapes: Sequence[Sequence[SizeForm]]) -> list[ir.Operation]:
    """The producers of several results that are not rounded up when the operands of `op` get these
    shapes.

    The number of tiles would be known only at run time for other readers of such a producer, which
    is refused (`expect_sizes`). So if one of its sizes is known only at run time, it is rounded up
    only if `op` alone reads its results, all of them from one iteration space.
    """
    wanted: dict[ir.Operation, list[tuple[int | None, ...] | None]] = {}
    for operand, shape in zip(op.operands, shapes, strict=True):
        maker = producer(operand)
        if maker is not None and len(maker.results) > 1 and is_structured(maker) and None in shape_of(operand):
            numbers = [n if isinstance(n, int) else None for n in shape]
            wanted.setdefault(maker, []).append(_producer_extents(maker, ir.OpResult(operand).result_number, numbers))
    return [
        maker
        for maker, spaces in wanted.items()
        if len({*spaces}) > 1 or any(user != op for result in maker.results for user in users(result))
    ]


def _producer_extents(maker: ir.Operation, result: int, shape: Sequence[int | None]) -> tuple[int | None, ...] | None:
    """The producer's iteration space for which that result has `shape`; None if rounding up does
    not give it."""
    space = structure(maker)
    indexing = space.maps[space.inputs + result]
    if not indexing.is_projected_permutation:
        return None
    new = {dimension_of(e): n for e, n in zip(indexing.results, shape, strict=True)}
    return None if None in new else tuple(new.get(d) or n for d, n in enumerate(space.extents))


_NOTED = "weft.extent"
"""Marks an op that keeps an extent while upstream rewrites the ops around it: no other reference
survives that."""


def expect_sizes(shape: Sequence[int | None], op: ir.Operation) -> None:
    """Refuses a shape that contains the placeholder of a run-time size, if that would be taken for
    an actual size. If all sizes around the op are constant, the number is the payload's own. Raises
    W0322."""
    if any(n is not None and n and n % UNKNOWN_TILES == 0 for n in shape) and _has_open_sizes(op):
        raise fail(
            "W0322",
            "this was rounded up for the tiles of an op that reads it, and how many those are is known only at run"
            " time",
            "`fuse` it into the loop over these tiles, or tile and launch it before the op that reads it is tiled",
        )


def _has_open_sizes(op: ir.Operation) -> bool:
    (*_, root) = op, *ancestors(op)
    blocks = (block for each in operations(root) for region in each.regions for block in region.blocks)
    arguments = (argument for block in blocks for argument in block.arguments)
    return any(None in shape_of(v) for v in (*arguments, *(r for each in operations(root) for r in each.results)))


def note_iterations(op: ir.Operation, space: Structure, extents: Sequence[int | None]) -> bool:
    """Records the iterations in dimensions that are rounded up from a run-time extent; returns
    whether all of their tiles are whole."""
    whole = True
    with ahead_of(op):
        for d, count in enumerate(iterations_of(op, space)):
            full = extents[d]
            if space.extents[d] is None and full is not None and count is not None:
                given = {"dimension": ir.IntegerAttr.get(ir.IndexType.get(), d)}
                ir.Operation.create(_NOTED, operands=[count], attributes=given)
                whole = whole and reaches(count, full)
    return whole


def bound_loops(
    module: ir.Module, loops: Sequence[ir.Operation], space: Structure, sizes: Sequence[int | None]
) -> None:
    """Gives loops over tiles the recorded bounds, in place: one `scf.forall` of parallel
    dimensions, one `scf.for` for each reduction, in this order."""
    noted: dict[int, ir.Value] = {}
    for op in operations(module.operation, _NOTED):
        noted[ir.IntegerAttr(op.attributes["dimension"]).value] = op.operands[0]
        op.erase()
    if not noted:
        return
    tiled = [d for d, size in enumerate(sizes) if size]
    parallel = [d for d in tiled if space.iterators[d] == "parallel"]
    each = [*([parallel] if parallel else []), *([d] for d in tiled if d not in parallel)]
    for loop, dimensions in zip(loops, each, strict=True):
        if loop.name == "scf.for":
            loop.operands[1] = noted.get(dimensions[0], loop.operands[1])
        elif any(d in noted for d in dimensions):
            with ir.InsertionPoint(loop):
                ends = [value_of(ceildiv(noted[d], sizes[d] or 1)) if d in noted else None for d in dimensions]
            _bound(loop, ends)


def _bound(loop: ir.Operation, ends: Sequence[ir.Value | None]) -> None:
    given, operands = attributes(loop), list(loop.operands)
    known = list(ir.DenseI64ArrayAttr(given["staticUpperBound"]))
    sizes = list(ir.DenseI32ArrayAttr(given["operandSegmentSizes"]))
    there = iter(operands[sizes[0] : sizes[0] + sizes[1]])
    before = [next(there) if n == DYNAMIC else None for n in known]
    values = [found for end, old in zip(ends, before, strict=True) if (found := end or old) is not None]
    upper = [n if end is None else DYNAMIC for n, end in zip(known, ends, strict=True)]
    given["staticUpperBound"] = ir.DenseI64ArrayAttr.get(upper)
    given["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([sizes[0], len(values), *sizes[2:]])
    operands[sizes[0] : sizes[0] + sizes[1]] = values
    with ir.InsertionPoint(loop):
        made = ir.Operation.create(
            "scf.forall", [r.type for r in loop.results], operands, given, regions=1, loc=loop.location
        )
    body_of(loop).append_to(made.regions[0])
    replace(loop, list(made.results))
