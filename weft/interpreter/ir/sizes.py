"""Sizes of tensors and of iteration spaces: numbers, or, if known only at run time, index values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import TypeAlias

from ...dsl.records import record
from .affine_maps import dimension_of
from .mlir import (
    DYNAMIC,
    affine,
    ancestors,
    arith,
    constant_of,
    ir,
    made_by,
    maker,
    memref,
    operations,
    producer,
    tensor,
)
from .reshapes import groups_of
from .structured import (
    Structure,
    is_structured,
    loop_inits,
    loop_outputs,
    parts_of,
    place_of,
    segments,
    shape_of,
    structure,
    subscripts,
)


def sizes_of(value: ir.Value) -> list[int | ir.Value]:
    """The sizes of a tensor: numbers, or index values that dominate its definition; a `tensor.dim`
    is created at the insertion point if no other value gives the size."""
    return [size_of(value, axis) if n is None else n for axis, n in enumerate(shape_of(value))]


def size_of(value: ir.Value, axis: int) -> int | ir.Value:
    """The size of a tensor along an axis, as in `sizes_of`."""
    found = size_origin(value, axis)
    if not isinstance(found, tuple):
        return found
    value, axis = found
    source = producer(value)
    if source is not None and source.name.endswith(".collapse_shape"):
        return product_of([size_of(source.operands[0], inner) for inner in groups_of(source)[axis]])
    if (form := form_of(value, axis)) != OpenSize(value, axis):
        return emitted(form)
    made = memref.DimOp if isinstance(value.type, ir.MemRefType) else tensor.DimOp
    return made(value, arith.constant(ir.IndexType.get(), axis)).result


Axis: TypeAlias = "tuple[ir.Value, int]"
"""A size, as an axis of a tensor or memref."""


def size_origin(value: ir.Value, axis: int) -> int | ir.Value | Axis:
    """The origin of a size: a number, an index value that dominates the tensor, or an axis of the
    tensor it is derived from."""
    number = shape_of(value)[axis]
    if number is not None:
        return number
    made = producer(value)
    if made is None:
        loop = None if not isinstance(value.owner, ir.Block) else value.owner.owner
        outputs = loop_outputs(loop.operation) if loop is not None and loop.operation.name in _LOOPS else []
        if loop is not None and value in outputs:
            return size_origin(loop_inits(loop.operation)[outputs.index(value)], axis)
    elif isinstance(made.opview, (tensor.EmptyOp, memref.AllocOp)):
        return list(made.operands)[[n is None for n in shape_of(value)[:axis]].count(True)]
    elif isinstance(made.opview, (tensor.ExtractSliceOp, memref.SubViewOp, memref.ReinterpretCastOp)):
        if len(place_of(made)[1]) == len(shape_of(value)):
            return parts_of(made)[1][axis]
    elif isinstance(made.opview, memref.CastOp) and isinstance(made.operands[0].type, ir.MemRefType):
        return size_origin(made.operands[0], axis)
    elif made.name.endswith(".expand_shape"):
        sizes, given = list(ir.DenseI64ArrayAttr(made.attributes["static_output_shape"])), list(made.operands)[1:]
        return given[sizes[:axis].count(DYNAMIC)]
    elif made.name.endswith(".collapse_shape") and len(group := groups_of(made)[axis]) == 1:
        return size_origin(made.operands[0], group[0])
    elif isinstance(made.opview, tensor.InsertSliceOp):
        return size_origin(made.operands[1], axis)
    elif isinstance(made.opview, tensor.ConcatOp) and ir.IntegerAttr(made.attributes["dim"]).value != axis:
        return size_origin(made.operands[0], axis)
    elif made.name in _LOOPS:
        return size_origin(loop_inits(made)[list(made.results).index(value)], axis)
    elif is_structured(made) and isinstance(value.type, ir.RankedTensorType):
        return size_origin(list(made.operands)[segments(made)[0] + list(made.results).index(value)], axis)
    return value, axis


_LOOPS = ("scf.forall", "scf.for")


def product_of(sizes: Sequence[int | ir.Value]) -> int | ir.Value:
    """The number of elements of these sizes; if not constant, computed at the insertion point."""

    def times(a: int | ir.Value, b: int | ir.Value) -> int | ir.Value:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if 1 in (a, b):
            return b if a == 1 else a
        return arith.muli(*(arith.constant(ir.IndexType.get(), n) if isinstance(n, int) else n for n in (a, b)))

    return reduce(times, sizes, 1)


def same_size(a: int | ir.Value, b: int | ir.Value) -> bool:
    """Whether two sizes are known to be equal: numbers, sizes of one tensor, products of such."""
    numbers = [n if isinstance(n, int) else constant_of(n) for n in (a, b)]
    if isinstance(a, int) or isinstance(b, int) or None not in numbers:
        return numbers[0] is not None and numbers[0] == numbers[1]
    if a == b or (measured_dimension(a) is not None and measured_dimension(a) == measured_dimension(b)):
        return True
    one, other = (made_by(n, "arith.muli") for n in (a, b))
    return one is not None and other is not None and all(map(same_size, one.operands, other.operands))


@record
class OpenSize:
    """The size of a tensor along an axis, known only at run time, plus a constant."""

    tensor: ir.Value
    axis: int
    plus: int = 0

    def __add__(self, number: int) -> OpenSize:
        return replace(self, plus=self.plus + number)

    def __sub__(self, number: int) -> OpenSize:
        return self + -number


SizeForm = int | OpenSize
"""A size as known when the schedule is applied: sizes of a tensor and of its paddings can be
compared."""


def form_of(value: ir.Value, axis: int) -> SizeForm:
    """The size of a tensor along an axis, in terms of the tensor that it pads or casts."""
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
    """The extents of an op's iteration space as forms, each by the first operand that has it; 0 if
    none has."""
    found: dict[int, SizeForm] = {}
    for operand, axis, expr in subscripts(op, space.maps):
        if (d := dimension_of(expr)) is not None:
            found.setdefault(d, form_of(operand, axis))
    return [found.get(d, 0) for d in range(space.rank)]


def difference(a: SizeForm, b: SizeForm) -> int | None:
    """`a - b`, if known."""
    if isinstance(a, int) or isinstance(b, int):
        return a - b if isinstance(a, int) and isinstance(b, int) else None
    return a.plus - b.plus if (a.tensor, a.axis) == (b.tensor, b.axis) else None


def emitted(form: SizeForm) -> int | ir.Value:
    """The value of the form; if not constant, computed at the insertion point."""
    if isinstance(form, int):
        return form
    size = size_of(form.tensor, form.axis)
    if isinstance(size, int) or not form.plus:
        return size + form.plus if isinstance(size, int) else size
    return affine.AffineApplyOp(ir.AffineMap.get(1, 0, [ir.AffineDimExpr.get(0) + form.plus]), [size]).result


def pad_widths(op: ir.Operation, side: str) -> list[int | None]:
    """The widths by which a `tensor.pad` pads each axis at its beginning ("low") or end ("high");
    None where not constant."""
    _, low, _ = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    values = iter(list(op.operands)[1 if side == "low" else 1 + low :])
    return [
        constant_of(next(values)) if n == DYNAMIC else n for n in ir.DenseI64ArrayAttr(op.attributes[f"static_{side}"])
    ]


def iterations_of(op: ir.Operation, space: Structure) -> list[int | ir.Value | None]:
    """The extents of an op's iteration space; index values where known only at run time. None if no
    operand has the dimension."""
    found: list[int | ir.Value | None] = list(space.extents)
    for operand, axis, expr in subscripts(op, space.maps):
        d = dimension_of(expr)
        if d is not None and found[d] is None:
            found[d] = size_of(operand, axis)
    return found


def measured_dimension(size: int | ir.Value) -> tuple[ir.Value, int] | None:
    """The tensor or memref, and the axis, of which this is the size; else None. (An op may request
    an axis that its operand does not have: such a size is undefined.)"""
    asked = None if isinstance(size, int) else made_by(size, "tensor.dim", "memref.dim")
    axis = None if asked is None else constant_of(asked.operands[1])
    if asked is None or axis is None:
        return None
    shaped = ir.ShapedType(asked.operands[0].type)
    return (asked.operands[0], axis) if shaped.has_rank and axis in range(shaped.rank) else None


def argument_dimension(value: ir.Value, axis: int) -> Axis | None:
    """The argument of a function, and the axis, of which this is the size."""
    found = size_origin(value, axis)
    form = form_of(*found) if isinstance(found, tuple) else found
    if isinstance(form, OpenSize) and not form.plus and (form.tensor, form.axis) != found:  # of a padding, or a cast
        return argument_dimension(form.tensor, form.axis)
    if isinstance(found, ir.Value) and (asked := measured_dimension(found)) is not None:
        return asked if asked == (value, axis) else argument_dimension(*asked)
    of_function = (
        isinstance(found, tuple) and isinstance(found[0].owner, ir.Block) and maker(found[0]).name == "func.func"
    )
    return found if isinstance(found, tuple) and of_function else None


def same_sizes(start: Axis) -> list[Axis]:
    """The axes of a function's arguments that must have the size of this one; it comes first."""
    groups = (group for group in equal_sizes(maker(start[0])) if start in group)
    return list(dict.fromkeys((start, *(size for size in next(groups, ()) if isinstance(size, tuple)))))


def equal_sizes(function: ir.Operation) -> list[dict[Axis | int | ir.Value, None]]:
    """Groups of sizes that must be equal, because ops index them by the same dimension: axes of a
    function's arguments, numbers, and index values."""
    groups: list[dict[Axis | int | ir.Value, None]] = []
    for op in operations(function):
        if is_structured(op) and not any(around.name in MAY_NOT_RUN for around in ancestors(op)):
            space = structure(op)
            dimensions: list[dict[Axis | int | ir.Value, None]] = [{} for _ in range(space.rank)]
            for operand, axis, expr in subscripts(op, space.maps):
                if (d := dimension_of(expr)) is not None:
                    found = argument_dimension(operand, axis)
                    found = size_origin(operand, axis) if found is None else found
                    if not isinstance(found, tuple) or found[0].owner == function.regions[0].blocks[0]:
                        dimensions[d][found] = None
            for made in dimensions:
                joined = [group for group in groups if not made.keys().isdisjoint(group)]
                groups = [group for group in groups if group not in joined] + [reduce(or_, (*joined, made))]
    return groups


MAY_NOT_RUN = frozenset({"scf.if", "scf.while", "scf.index_switch"})
"""Ops with bodies that may never be executed, and so imply nothing about sizes."""
