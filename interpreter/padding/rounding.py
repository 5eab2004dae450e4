"""Round the iteration space of a structured op up to what its tile sizes divide.

Each operand becomes a masked load of tile-multiple static shape, or, where its producer is itself a structured op, that
producer is rounded up too, so that `fuse` still finds it. Outside the domain a reduced operand holds what leaves the
reduction as it is (`identities`), or the update is masked there (`masking`). The result is cut
back by a `tensor.extract_slice`, which bufferization turns into a guarded write-back.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.mlir import ahead_of, ir, made_by, operations, producer, stands_in
from ..ir.structured import (
    Structure,
    dimension_of,
    dimensions_of,
    element_type,
    extents_of,
    from_origin,
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
from ..session.rewriter import refuse
from . import masked_loads
from .identities import beyond, fillings, generalized, mask_update, runs_anywhere
from .masked_loads import Identity, assembled
from .provenance import Image, Provenance, StridedWindow, behind_pad, makers, read_through, remove_dead


def absorb_pads(op: ir.Operation, *, starts: bool = False) -> list[str]:
    """Make a masked load of every padding that `op` reads, so that the image is read in place; what was done, in words.

    A padding is what `provenance` says: of `tensor.pad`s, and of filled buffers that the image is copied into. One that only crops
    becomes a slice, which is a view. `starts`: also of a `tensor.pad` that an output starts from, where each tile then starts from
    a part of the masked load.
    """
    done: list[str] = []
    inputs, outputs = segments(op)
    for position in range(inputs + outputs if starts else inputs):
        value = op.operands[position]
        piece, shape = read_through(value), shape_of(value)
        if position >= inputs and not behind_pad(value):
            continue
        if piece is None or None in shape:
            continue
        with ahead_of(op):
            op.operands[position] = _read(piece, value, extents_of(value))
        passed = makers(value)
        view = isinstance(piece, Image) or (isinstance(piece, StridedWindow) and isinstance(piece.inside, Image))
        called = " and ".join(dict.fromkeys(_CALLED[maker.name] for maker in passed if maker.name in _CALLED))
        done.append(
            f"reads through {called}: " + ("a view of the image" if view else "the padding is a mask, not a copy")
        )
        remove_dead(passed)
    return list(dict.fromkeys(done))


_CALLED = {"tensor.pad": "tensor.pad", "tensor.insert_slice": "a filled buffer"}
"""What makes a padding, as remarks call it; a payload on memrefs has no `tensor.insert_slice`."""


def _read(piece: Provenance, value: ir.Value, shape: Sequence[int]) -> ir.Value:
    if isinstance(piece, Image) and piece.value.type == value.type:
        return piece.value
    if isinstance(piece, StridedWindow) and isinstance(piece.inside, Image):
        return part_of(piece.inside.value, shape, piece.offsets, piece.strides)
    return assembled(piece, shape, element_type(value))


def absorb_all_pads(module: ir.Module) -> None:
    """Read through the `tensor.pad`s that scheduled ops still read: those in loops, and those with a handle or a map."""
    for op in operations(module.operation):
        if not is_structured(op) or masked_loads.is_masked_load(op) or not any(map(behind_pad, op.operands)):
            continue
        if not stands_in(op, "func.func") or any(name.startswith("weft.") for name in op.attributes):
            absorb_pads(op)


def pad_extents(space: Structure, sizes: Sequence[int | None]) -> tuple[int | None, ...]:
    """The extents rounded up to multiples of the tile sizes; dynamic ones and untiled ones stay."""
    return tuple(
        n if n is None or size is None else -(-n // size) * size for n, size in zip(space.extents, sizes, strict=True)
    )


def pad(op: ir.Operation, extents: Sequence[int | None]) -> ir.Operation:
    """Replace `op` (on tensors) by one with iteration space `extents`; return it. Tags move along.

    Where no filling of its inputs leaves a reduction as it is, its update is masked. Raises W0322 for a dynamic extent.
    """
    space = structure(op)
    if any(n is None for n in (*space.extents, *extents)):
        raise refuse(
            "W0322", "a ragged tile needs static extents", op,
            "choose tile sizes that divide the static dimensions, or leave them whole with `_`", f"dimensions {space.spelled()}",
        )  # fmt: skip
    if not masked_loads.is_masked_load(op):
        absorb_pads(op)
    ragged = [d for d in range(space.rank) if extents[d] != space.extents[d]]
    reduced = [d for d in ragged if space.iterators[d] == "reduction"]
    anywhere = runs_anywhere(op)
    filled = fillings(op, space, reduced, _start(op.operands[space.inputs])) if reduced and anywhere else None
    identities = (*(filled or [None] * space.inputs), *[None] * space.outputs)
    masked = ragged if not anywhere else reduced if filled is None else []
    if masked:
        op = generalized(op)
    with ahead_of(op):
        operands = [
            _operand(op, i, required_shape(space, i, shape_of(v), extents), identities[i], filled is not None)
            for i, v in enumerate(op.operands)
        ]
        if masked and reduced:  # the masked update reads every output: one that the op only writes starts as 0
            operands = [v if _reads(op, i, space) else masked_loads.zeros(v) for i, v in enumerate(operands)]
        copy = op.clone().operation
    for i, value in enumerate(operands):
        copy.operands[i] = value
    for result, init in zip(copy.results, operands[space.inputs :], strict=True):
        result.set_type(init.type)
    with ir.InsertionPoint.after(copy), copy.location:  # the part that lies inside takes the place of the op
        ends = zip(op.results, copy.results, strict=True)
        inside = [new if old.type == new.type else part_of(new, extents_of(old)) for old, new in ends]
    replace(op, inside)
    if masked:
        mask_update(copy, beyond(space, extents, masked), keep=bool(reduced))
    return copy


def required_shape(
    space: Structure, position: int, shape: Sequence[int | None], extents: Sequence[int | None]
) -> tuple[int, ...]:
    """The shape operand `position` must have for the iteration space `extents`: never smaller than it is."""
    from ..indices.algebra import Algebra, LaunchShape
    from ..indices.linear import Linear, Symbol

    whole = [n or 0 for n in extents]
    out: list[int] = []
    indices = [Linear.of(Symbol(f"d{d}", "parameter", low=0, high=n - 1)) for d, n in enumerate(whole)]
    forms = Algebra(LaunchShape()).affine_map(space.maps[position], indices)
    for axis, (expr, form) in enumerate(zip(space.maps[position].results, forms, strict=True)):
        old = shape[axis] or 0
        d, last = dimension_of(expr), form.bounds()[1]
        out.append(whole[d] if d is not None else max(old, (last or 0) + 1))
    return tuple(out)


def _start(value: ir.Value) -> ir.Attribute | None:
    """The constant that an output starts with; None where it is not known to be one."""
    value = sliced(value)
    if isinstance(value.owner, ir.Block):
        loop = value.owner.owner.operation
        outputs = loop_outputs(loop) if loop.name == "scf.forall" else []
        return _start(loop_inits(loop)[outputs.index(value)]) if value in outputs else None
    op = producer(value)
    return _filling(op) if op is not None else None


def _filling(op: ir.Operation) -> ir.Attribute | None:
    """The constant that an op fills its output with."""
    source = made_by(op.operands[0], "arith.constant") if op.name == "linalg.fill" else None
    return None if source is None else source.attributes["value"]


def _operand(op: ir.Operation, position: int, shape: tuple[int, ...], outside: Identity, filled: bool) -> ir.Value:
    """An operand with shape `shape`. `filled`: where a reduction walks over it, it has to be `outside` there, not just anything."""
    value, space = op.operands[position], structure(op)
    if not isinstance(value.type, ir.RankedTensorType) or shape == shape_of(value):
        return value
    must_hold = filled and any(  # an axis that a reduction walks over is padded: then what stands outside matters
        old != new and any(space.iterators[d] == "reduction" for d in dimensions_of(e))
        for e, old, new in zip(space.maps[position].results, shape_of(value), shape, strict=True)
    )
    old, maker = shape_of(value), producer(value)
    if not _reads(op, position, space) or masked_loads.is_empty(value):
        return masked_loads.empty(shape, element_type(value))
    if maker is not None and from_origin(maker) and shape_of(maker.operands[0]) == shape:
        return _held(maker.operands[0], maker, old, outside, must_hold)  # rounded up for another reader before
    if maker is None or not is_structured(maker) or _is_staged(maker):
        return masked_loads.gather(value, shape, outside)
    extents = None if masked_loads.is_masked_load(maker) and not segments(maker)[0] else _producer_extents(maker, shape)
    if extents is None:
        with ahead_of(maker):
            return masked_loads.gather(value, shape, outside)
    padded = pad(maker, extents)
    return _held(padded.results[0], padded, old, outside, must_hold)


def _reads(op: ir.Operation, position: int, space: Structure) -> bool:
    return position < space.inputs or is_read(op, position)


def _held(
    value: ir.Value, after: ir.Operation, old: Sequence[int | None], outside: Identity, must_hold: bool
) -> ir.Value:
    """`value`, masked beyond the shape `old` (behind `after`) where it must be `outside` there and is not anyway."""
    maker = producer(value)
    filling = None if maker is None else _filling(maker)
    if not must_hold or (filling is not None and filling == masked_loads.attribute(outside, element_type(value))):
        return value
    with ir.InsertionPoint.after(after), after.location:
        return masked_loads.masked(value, old, outside)


def _is_staged(maker: ir.Operation) -> bool:
    """Whether the op fills a buffer in shared memory: that keeps its size, and what lies beyond it is masked."""
    makers = (made_by(value, "bufferization.to_tensor") for value in list(maker.operands)[segments(maker)[0] :])
    return any(op is not None and ir.MemRefType(op.operands[0].type).memory_space is not None for op in makers)


def _producer_extents(maker: ir.Operation, shape: Sequence[int]) -> tuple[int | None, ...] | None:
    """The producer's iteration space that yields `shape`; None where it can't simply be rounded up."""
    space = structure(maker)
    indexing = space.maps[-1]
    if len(maker.results) != 1 or not indexing.is_projected_permutation or None in space.extents:
        return None
    new = {dimension_of(e): n for e, n in zip(indexing.results, shape, strict=True)}
    return None if None in new else tuple(new.get(d, n) for d, n in enumerate(space.extents))
