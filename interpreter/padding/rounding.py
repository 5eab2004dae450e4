"""Round the iteration space of a structured op up to what its tile sizes divide.

Each operand becomes a masked gather of tile-multiple static shape, or, where its producer is itself a structured op, that
producer is rounded up too, so that `fuse` still finds it. Outside the domain a reduced operand holds what leaves the
reduction as it is (`identities`), or the update is masked there (`masking`). The result is cut
back by a `tensor.extract_slice`, which bufferization turns into a guarded write-back.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir import mlir
from ..ir.mlir import ir, tensor
from ..ir.structured import (
    Structure,
    dimension_of,
    dimensions_of,
    element_type,
    is_structured,
    largest,
    segments,
    shape_of,
    structure,
)
from ..session.rewriter import Rewriter
from . import gathers
from .gathers import Neutral
from .identities import fillings
from .masking import beyond, generalized, mask_update, runs_anywhere
from .piece_reads import assembled
from .pieces import Image, Piece, Window, makers, read_through, remove_dead


def absorb_pads(op: ir.Operation, *, starts: bool = False) -> list[str]:
    """Make a gather of every padding that `op` reads, so that the image is read where it lies; what was done, in words.

    A padding is what `pieces` says: of `tensor.pad`s, and of filled buffers that the image is copied into. One that only crops
    becomes a slice, which is a view. `starts`: also of a `tensor.pad` that an output starts from, where each tile then starts from
    a part of the gather.
    """
    done: list[str] = []
    inputs, outputs = segments(op)
    for position in range(inputs + outputs if starts else inputs):
        value = op.operands[position]
        piece, shape = read_through(value), shape_of(value)
        if position >= inputs and not _behind_pad(value):
            continue
        if piece is None or None in shape:
            continue
        with ir.InsertionPoint(op), op.location:
            op.operands[position] = _read(piece, value, [n or 0 for n in shape])
        passed = makers(value)
        view = isinstance(piece, Image) or (isinstance(piece, Window) and isinstance(piece.inside, Image))
        called = " and ".join(dict.fromkeys(_CALLED[maker.name] for maker in passed if maker.name in _CALLED))
        done.append(f"reads through {called}: " + ("a view of the image" if view else "the padding is a mask, not a copy"))
        remove_dead(passed)
    return list(dict.fromkeys(done))


_CALLED = {"tensor.pad": "tensor.pad", "tensor.insert_slice": "a filled buffer"}
"""What makes a padding, as remarks call it; a payload on memrefs has no `tensor.insert_slice`."""


def _read(piece: Piece, value: ir.Value, shape: Sequence[int]) -> ir.Value:
    if isinstance(piece, Image) and piece.value.type == value.type:
        return piece.value
    if isinstance(piece, Window) and isinstance(piece.inside, Image):
        return tensor.ExtractSliceOp(value.type, piece.inside.value, [], [], [], piece.offsets, shape, piece.strides).result
    return assembled(piece, shape, element_type(value))


def absorb_all_pads(module: ir.Module) -> None:
    """Read through the `tensor.pad`s that scheduled ops still read: those in loops, and those with a handle or a map."""
    with module.context:
        for op in mlir.operations(module.operation):
            if not is_structured(op) or gathers.is_gather(op) or not any(_behind_pad(value) for value in op.operands):
                continue
            in_loop = op.parent is not None and op.parent.operation.name != "func.func"
            if in_loop or any(name.startswith("weft.") for name in op.attributes):
                absorb_pads(op)


def _behind_pad(value: ir.Value) -> bool:
    return any(maker.name == "tensor.pad" for maker in makers(value))


def pad_extents(space: Structure, sizes: Sequence[int | None]) -> tuple[int | None, ...]:
    """The extents rounded up to multiples of the tile sizes; dynamic ones and untiled ones stay."""
    return tuple(
        n if n is None or size is None else -(-n // size) * size for n, size in zip(space.extents, sizes, strict=True)
    )


def pad(rewrite: Rewriter, op: ir.Operation, extents: Sequence[int | None]) -> ir.Operation:
    """Replace `op` (on tensors) by one with iteration space `extents`; return it. Tags move along.

    Where no filling of its inputs leaves a reduction as it is, its update is masked. Raises W0322 for a dynamic extent.
    """
    space = structure(op)
    if any(n is None for n in (*space.extents, *extents)):
        raise rewrite.error(
            "W0322", "a ragged tile needs static extents", payload=op, notes=(f"dimensions {space.spelled()}",),
            hint="choose tile sizes that divide the static dimensions, or leave them whole with `_`",
        )  # fmt: skip
    if not gathers.is_gather(op):
        absorb_pads(op)
    ragged = [d for d in range(space.rank) if extents[d] != space.extents[d]]
    reduced = [d for d in ragged if space.iterators[d] == "reduction"]
    anywhere = runs_anywhere(op)
    filled = fillings(op, space, reduced, _start(op.operands[space.inputs])) if reduced and anywhere else None
    neutral = (*(filled or [None] * space.inputs), *[None] * space.outputs)
    masked = ragged if not anywhere else reduced if filled is None else []
    if masked:
        op = generalized(op)
    with ir.InsertionPoint(op), op.location:
        operands = [
            _operand(rewrite, op, i, required_shape(space, i, shape_of(v), extents), neutral[i], filled is not None)
            for i, v in enumerate(op.operands)
        ]
        if masked and reduced:  # the masked update reads every output: one that the op only writes starts as 0
            operands = [v if _reads(op, i, space) else gathers.zeros(v) for i, v in enumerate(operands)]
        copy = op.clone().operation
    for i, value in enumerate(operands):
        copy.operands[i] = value
    for result, init in zip(copy.results, operands[space.inputs :], strict=True):
        result.set_type(init.type)
    _cut_back(op, copy)
    op.erase()
    if masked:
        mask_update(copy, beyond(space, extents, masked), keep=bool(reduced))
    return copy


def required_shape(
    space: Structure, position: int, shape: Sequence[int | None], extents: Sequence[int | None]
) -> tuple[int, ...]:
    """The shape operand `position` must have for the iteration space `extents`: never smaller than it is."""
    whole = [n or 0 for n in extents]
    out: list[int] = []
    for axis, expr in enumerate(space.maps[position].results):
        old = shape[axis] or 0
        d = dimension_of(expr)
        out.append(whole[d] if d is not None else max(old, largest(expr, whole) + 1))
    return tuple(out)


def _start(value: ir.Value) -> ir.Attribute | None:
    """The constant that an output starts with; None where it is not known to be one."""
    while (op := mlir.producer(value)) is not None and op.name == "tensor.extract_slice":
        value = op.operands[0]
    if op is None and value.owner.owner.operation.name == "scf.forall":
        loop = value.owner.owner.operation
        position = value.arg_number - (len(value.owner.arguments) - len(loop.results))
        return _start(list(loop.operands)[position - len(loop.results)]) if position >= 0 else None
    source = mlir.producer(op.operands[0]) if op is not None and op.name == "linalg.fill" else None
    return source.attributes["value"] if source is not None and source.name == "arith.constant" else None


def _operand(
    rewrite: Rewriter, op: ir.Operation, position: int, shape: tuple[int, ...], outside: Neutral, filled: bool
) -> ir.Value:
    value = op.operands[position]
    if not isinstance(value.type, ir.RankedTensorType) or shape == shape_of(value):
        return value
    space = structure(op)
    reduced = filled and any(
        space.iterators[d] == "reduction" for e in space.maps[position].results for d in dimensions_of(e)
    ) and _ragged_reduction(space, position, shape_of(value), shape)
    return pad_value(rewrite, value, shape, outside, must_hold=reduced, needed=_reads(op, position, space))


def _ragged_reduction(space: Structure, position: int, old: Sequence[int | None], new: Sequence[int]) -> bool:
    """Whether an axis that a reduction walks over was padded: then what stands outside matters."""
    for axis, expr in enumerate(space.maps[position].results):
        if old[axis] != new[axis] and any(space.iterators[d] == "reduction" for d in dimensions_of(expr)):
            return True
    return False


def _reads(op: ir.Operation, position: int, space: Structure) -> bool:
    """Whether the op reads the operand at all: an output that is only written needs no contents."""
    if position < space.inputs:
        return True
    body = op.regions[0].blocks[0]
    return any(True for _ in body.arguments[position].uses)


def pad_value(
    rewrite: Rewriter,
    value: ir.Value,
    shape: tuple[int, ...],
    outside: Neutral,
    *,
    must_hold: bool,
    needed: bool = True,
) -> ir.Value:
    """`value` with shape `shape`. `must_hold`: outside its old shape it has to be `outside`, not just anything."""
    kind, old = element_type(value), shape_of(value)
    producer = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if not needed or gathers.is_empty(value):
        return gathers.empty(shape, kind)
    if producer is not None and from_origin(producer) and shape_of(producer.operands[0]) == shape:
        return _held(producer.operands[0], producer, old, outside, must_hold)  # rounded up for another reader before
    if producer is None or not is_structured(producer) or _is_staged(producer):
        return gathers.gather(value, shape, outside)
    with ir.InsertionPoint(producer), producer.location:
        if gathers.is_gather(producer) and segments(producer)[0] == 0:
            return gathers.enlarge(producer, shape, outside)
        extents = _producer_extents(producer, value, shape)
        if extents is None:
            return gathers.gather(value, shape, outside)
    padded = pad(rewrite, producer, extents)
    return _held(padded.results[0], padded, old, outside, must_hold)


def _held(
    value: ir.Value, after: ir.Operation, old: Sequence[int | None], outside: Neutral, must_hold: bool
) -> ir.Value:
    """`value`, masked beyond the shape `old` (behind `after`) where it must be `outside` there and is not anyway."""
    maker = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if not must_hold or (maker is not None and _fills_with(maker, outside, element_type(value))):
        return value
    with ir.InsertionPoint.after(after), after.location:
        return gathers.masked(value, old, outside)


def from_origin(op: ir.Operation) -> bool:
    """Whether `op` is the slice of a tensor from its first element on, without gaps and of the same rank."""
    if op.name != "tensor.extract_slice":
        return False
    offsets = list(ir.DenseI64ArrayAttr(op.attributes["static_offsets"]))
    strides = list(ir.DenseI64ArrayAttr(op.attributes["static_strides"]))
    shape = shape_of(op.results[0])
    return not any(offsets) and all(s == 1 for s in strides) and None not in shape and len(shape) == len(offsets)


def uncut(value: ir.Value) -> ir.Value:
    """What a value is cut back from; itself if it is whole."""
    op = mlir.producer(value)
    return op.operands[0] if op is not None and from_origin(op) else value


def sliced(value: ir.Value) -> ir.Value:
    """What a value is a slice of; itself if it is none."""
    op = mlir.producer(value)
    return op.operands[0] if op is not None and op.name == "tensor.extract_slice" else value


def _is_staged(producer: ir.Operation) -> bool:
    """Whether the op fills a buffer in shared memory: that keeps its size, and what lies beyond it is masked."""
    for value in list(producer.operands)[segments(producer)[0] :]:
        if not isinstance(value.owner, ir.Block) and value.owner.operation.name == "bufferization.to_tensor":
            return ir.MemRefType(value.owner.operation.operands[0].type).memory_space is not None
    return False


def _producer_extents(producer: ir.Operation, value: ir.Value, shape: Sequence[int]) -> tuple[int | None, ...] | None:
    """The producer's iteration space that yields `shape`; None where it can't simply be rounded up."""
    if len(producer.results) != 1:
        return None
    space = structure(producer)
    indexing = space.maps[-1]
    if not indexing.is_projected_permutation or any(n is None for n in space.extents):
        return None
    extents = list(space.extents)
    for axis, expr in enumerate(indexing.results):
        d = dimension_of(expr)
        if d is None:
            return None
        extents[d] = shape[axis]
    return tuple(extents)


def _fills_with(op: ir.Operation, outside: Neutral, kind: ir.Type) -> bool:
    """Whether `op` is a fill with just that constant, so that its padding needs no mask."""
    if op.name != "linalg.fill" or isinstance(op.operands[0].owner, ir.Block):
        return False
    source = op.operands[0].owner.operation
    if source.name != "arith.constant":
        return False
    return source.attributes["value"] == gathers.attribute(outside, kind)


def _cut_back(op: ir.Operation, copy: ir.Operation) -> None:
    """Replace the uses of `op`'s results by the parts of `copy`'s that lie inside the old shapes."""
    with ir.InsertionPoint.after(copy), copy.location:
        for old, new in zip(op.results, copy.results, strict=True):
            if old.type == new.type:
                old.replace_all_uses_with(new)
                continue
            old.replace_all_uses_with(slice_of(new, [n or 0 for n in shape_of(old)], old.type))


def slice_of(value: ir.Value, shape: Sequence[int], kind: ir.Type) -> ir.Value:
    """The first `shape` elements of `value` along each dimension."""
    rank = len(shape)
    return tensor.ExtractSliceOp(kind, value, [], [], [], [0] * rank, list(shape), [1] * rank).result
