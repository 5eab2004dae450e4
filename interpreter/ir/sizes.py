"""Sizes of tensors and of iteration spaces: numbers, or where they are known at run time only, the index values that say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from .affine_maps import dimension_of
from .mlir import DYNAMIC, affine, arith, constant_of, ir, made_by, memref, producer, tensor
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
    elif maker.name.endswith(".expand_shape"):
        sizes, given = list(ir.DenseI64ArrayAttr(maker.attributes["static_output_shape"])), list(maker.operands)[1:]
        return given[sizes[:axis].count(DYNAMIC)]
    elif maker.name.endswith(".collapse_shape"):
        together = ir.ArrayAttr(ir.ArrayAttr(maker.attributes["reassociation"])[axis])
        return product_of([size_of(maker.operands[0], ir.IntegerAttr(a).value) for a in together])
    elif (form := form_of(value, axis)) != OpenSize(value, axis):
        return emitted(form)
    elif maker.name in _LOOPS:
        return size_of(loop_inits(maker)[list(maker.results).index(value)], axis)
    elif is_structured(maker) and isinstance(value.type, ir.RankedTensorType):
        return size_of(list(maker.operands)[segments(maker)[0] + list(maker.results).index(value)], axis)
    made = memref.DimOp if isinstance(value.type, ir.MemRefType) else tensor.DimOp
    return made(value, arith.constant(ir.IndexType.get(), axis)).result


_LOOPS = ("scf.forall", "scf.for")


def product_of(sizes: Sequence[int | ir.Value]) -> int | ir.Value:
    """How many elements there are of these sizes; made at the insertion point where that is no number."""

    def times(a: int | ir.Value, b: int | ir.Value) -> int | ir.Value:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if 1 in (a, b):
            return b if a == 1 else a
        return arith.muli(*(arith.constant(ir.IndexType.get(), n) if isinstance(n, int) else n for n in (a, b)))

    return reduce(times, sizes, 1)


def same_size(a: int | ir.Value, b: int | ir.Value) -> bool:
    """Whether two sizes are known to be the same."""
    if isinstance(a, int) or isinstance(b, int):
        return isinstance(a, int) and isinstance(b, int) and a == b
    return a == b or (dimension_behind(a) is not None and dimension_behind(a) == dimension_behind(b))


@dataclass(frozen=True)
class OpenSize:
    """The size of a tensor along an axis, which is known at run time only, plus a number."""

    tensor: ir.Value
    axis: int
    plus: int = 0

    def __add__(self, number: int) -> OpenSize:
        return replace(self, plus=self.plus + number)

    def __sub__(self, number: int) -> OpenSize:
        return self + -number


SizeForm = int | OpenSize
"""A size as far as it is known when the schedule is applied: those of a tensor and of its paddings can be compared."""


def form_of(value: ir.Value, axis: int) -> SizeForm:
    """The size of a tensor along an axis, by that of what it is a padding or a cast of."""
    number, op = shape_of(value)[axis], producer(value)
    if number is not None:
        return number
    if op is None:
        return OpenSize(value, axis)
    if isinstance(op.opview, tensor.CastOp) and isinstance(op.operands[0].type, ir.RankedTensorType):
        return form_of(op.operands[0], axis)
    if isinstance(op.opview, tensor.PadOp):
        low, high = (pad_widths(op, side)[axis] for side in ("low", "high"))
        if low is not None and high is not None:
            return form_of(op.operands[0], axis) + (low + high)
    return OpenSize(value, axis)


def forms_of(value: ir.Value) -> list[SizeForm]:
    """The sizes of a tensor as forms."""
    return [form_of(value, axis) for axis in range(len(shape_of(value)))]


def extent_forms(op: ir.Operation, space: Structure) -> list[SizeForm]:
    """The extents of an op's iteration space as forms, each by the first operand that has it; 0 where none has."""
    found: dict[int, SizeForm] = {}
    for operand, indexing in zip(op.operands, space.maps, strict=True):
        for axis, expr in enumerate(indexing.results):
            if (d := dimension_of(expr)) is not None:
                found.setdefault(d, form_of(operand, axis))
    return [found.get(d, 0) for d in range(space.rank)]


def difference(a: SizeForm, b: SizeForm) -> int | None:
    """`a - b`, where that is known."""
    if isinstance(a, int) or isinstance(b, int):
        return a - b if isinstance(a, int) and isinstance(b, int) else None
    return a.plus - b.plus if (a.tensor, a.axis) == (b.tensor, b.axis) else None


def emitted(form: SizeForm) -> int | ir.Value:
    """What the form stands for; made at the insertion point where that is no number."""
    if isinstance(form, int):
        return form
    size = size_of(form.tensor, form.axis)
    if isinstance(size, int) or not form.plus:
        return size + form.plus if isinstance(size, int) else size
    return affine.AffineApplyOp(ir.AffineMap.get(1, 0, [ir.AffineDimExpr.get(0) + form.plus]), [size]).result


def pad_widths(op: ir.Operation, side: str) -> list[int | None]:
    """How many elements a `tensor.pad` puts in front of each axis ("low") or behind it ("high"); None where that is not a known
    number."""
    _, low, _ = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    values = iter(list(op.operands)[1 if side == "low" else 1 + low :])
    return [constant_of(next(values)) if n == DYNAMIC else n for n in ir.DenseI64ArrayAttr(op.attributes[f"static_{side}"])]


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
