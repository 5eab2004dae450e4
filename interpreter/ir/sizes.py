"""Sizes of tensors and of iteration spaces: numbers, or where they are known at run time only, the index values that say so."""

from __future__ import annotations

from .affine_maps import dimension_of
from .mlir import arith, constant_of, ir, made_by, memref, producer, tensor
from .structured import (
    Structure,
    is_structured,
    loop_inits,
    loop_outputs,
    parts_of,
    place_of,
    segments,
    shape_of,
)


def sizes_of(value: ir.Value) -> list[int | ir.Value]:
    """The sizes of a tensor: numbers, or index values that are there where it is; a `tensor.dim` is made at the insertion point
    where what it came from does not say."""
    return [size_of(value, axis) if n is None else n for axis, n in enumerate(shape_of(value))]


def size_of(value: ir.Value, axis: int) -> int | ir.Value:
    """One of `sizes_of`."""
    number = shape_of(value)[axis]
    if number is not None:
        return number
    maker = producer(value)
    if maker is None:
        loop = None if not isinstance(value.owner, ir.Block) else value.owner.owner
        outputs = loop_outputs(loop.operation) if loop is not None and loop.operation.name in _LOOPS else []
        if loop is not None and value in outputs:
            return size_of(loop_inits(loop.operation)[outputs.index(value)], axis)
    elif isinstance(maker.opview, tensor.EmptyOp):
        return list(maker.operands)[[n is None for n in shape_of(value)[:axis]].count(True)]
    elif maker.name == "tensor.extract_slice" and len(place_of(maker)[0]) == len(shape_of(value)):
        return parts_of(maker)[1][axis]
    elif maker.name in _LOOPS:
        return size_of(loop_inits(maker)[list(maker.results).index(value)], axis)
    elif is_structured(maker) and isinstance(value.type, ir.RankedTensorType):
        return size_of(list(maker.operands)[segments(maker)[0] + list(maker.results).index(value)], axis)
    made = memref.DimOp if isinstance(value.type, ir.MemRefType) else tensor.DimOp
    return made(value, arith.constant(ir.IndexType.get(), axis)).result


_LOOPS = ("scf.forall", "scf.for")


def iterations_of(op: ir.Operation, space: Structure) -> list[int | ir.Value | None]:
    """The extents of an op's iteration space; values for those that are known at run time alone. None where no operand has it."""
    found: list[int | ir.Value | None] = list(space.extents)
    for operand, indexing in zip(op.operands, space.maps, strict=True):
        for axis, expr in enumerate(indexing.results):
            d = dimension_of(expr)
            if d is not None and found[d] is None:
                found[d] = size_of(operand, axis)
    return found


def dimension_behind(size: int | ir.Value) -> tuple[ir.Value, int] | None:
    """The tensor or memref, and its axis, whose size this is; None where it is none's."""
    asked = None if isinstance(size, int) else made_by(size, "tensor.dim", "memref.dim")
    axis = None if asked is None else constant_of(asked.operands[1])
    return None if asked is None or axis is None else (asked.operands[0], axis)
