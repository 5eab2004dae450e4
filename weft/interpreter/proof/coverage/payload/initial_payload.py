"""The payload at the start of a session. The location of an op that statements have rewritten leads
to the payload's op that it comes from, with its sizes and initial values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from itertools import takewhile

from .....dsl.records import record
from ....indices.linear import Formula, Linear, at_least, both, less
from ....indices.values import Values
from ....ir.affine_maps import dimension_of
from ....ir.copying import fill_constant, fill_value
from ....ir.functions import symbol
from ....ir.mlir import ancestors, ir, maker, operations, ops_of, producer
from ....ir.sizes import Axis, equal_sizes, form_of, size_origin
from ....ir.structured import Structure, body_of, subscripts
from ....memory.effects import accesses
from ....memory.layouts import kept_dimensions, mixed
from ....memory.views import way


@record
class Untouched:
    """The payload before the first statement.

    Args:
        functions: by name.
        places: the structured op at each location; None where several ops have that location, or
            none is known.
        nested: the access, branch or loop at each location: those inside loops of the payload, and
            loops that carry values. None where several have that location, or none is known.
        lowered: functions with `scf` loops in place of affine ones, each with its accesses and
            branches; computed on demand.
    """

    functions: dict[str, ir.Operation]
    places: dict[str, ir.Operation | None]
    nested: dict[str, ir.Operation | None]
    lowered: dict[ir.Operation, tuple[ir.Operation, dict[str, ir.Operation]]] = field(default_factory=dict, repr=False)
    _numbers: dict[ir.Operation, dict[ir.Value, int]] = field(default_factory=dict, repr=False)
    _varying: dict[ir.Operation, list[int]] = field(default_factory=dict, repr=False)
    _sizes: dict[ir.Operation, list[dict[Axis | int | ir.Value, None]]] = field(default_factory=dict, repr=False)

    def varying(self, function: ir.Operation) -> list[int]:
        """The numbers of a function's arguments with facts at run time: all but arrays of static sizes."""
        if function not in self._varying:
            kinds = [argument.type for argument in body_of(function).arguments]
            static = [isinstance(k, ir.ShapedType) and k.has_rank and k.has_static_shape for k in kinds]
            self._varying[function] = [n for n, one in enumerate(static) if not one]
        return self._varying[function]

    @classmethod
    def of(cls, module: ir.Module) -> Untouched:
        """Indexes a module once, so that statements need not search all of it."""
        functions = {symbol(f): f for f in operations(module.operation, "func.func") if len(f.regions[0].blocks) == 1}
        places: dict[str, ir.Operation | None] = {}
        nested: dict[str, ir.Operation | None] = {}
        for function in functions.values():
            for op in operations(function):
                dialect, _, name = op.name.partition(".")
                if dialect == "linalg" and len(op.regions):
                    where = str(op.location)
                    places[where] = op if where not in places and "unknown" not in where else None
                elif dialect in DIALECTS and name in NESTED and (op.parent.operation != function or name in _LOOPS):
                    where = str(op.location)
                    nested[where] = op if where not in nested and "unknown" not in where else None
        return cls(functions, places, nested)

    def same_sizes(self, value: ir.Value, axis: int) -> list[Axis | int | ir.Value]:
        """What is known to be equal to the size of an argument along an axis: axes of the
        function's arguments, numbers, and index values."""
        if (function := maker(value)) not in self._sizes:
            self._sizes[function] = equal_sizes(function)
        groups = (group for group in self._sizes[function] if (value, axis) in group)
        return list(next(groups, [(value, axis)]))

    def number(self, value: ir.Value) -> int:
        """The number of a value in its function, original or lowered. It identifies the value
        without a walk over the module, which the name in the text would require for each value."""
        block = value.owner if isinstance(value, ir.BlockArgument) else value.owner.operation.block
        function = next(op for op in (block.owner.operation, *ancestors(block.owner)) if op.name == "func.func")
        if function not in self._numbers:
            ops = list(operations(function))
            passed = (
                value for op in ops for region in op.regions for block in region.blocks for value in block.arguments
            )
            made = (value for op in ops for value in op.results)
            self._numbers[function] = {value: n for n, value in enumerate((*passed, *made))}
        return self._numbers[function][value]


DIALECTS = ("memref", "affine", "scf")
_LOOPS = ("for", "parallel")
NESTED = ("load", "store", "atomic_rmw", "if", *_LOOPS)
"""Accesses of single elements, which identify loops of a payload, branches, and loops; in these
dialects."""


def start_of(op: ir.Operation, value: ir.Value) -> ir.Attribute | None:
    """The constant with which an output is filled before the op; None if a buffer has other writes
    in between, or is not filled."""
    made = producer(value)
    if isinstance(value.type, ir.MemRefType):
        for before in reversed(list(takewhile(lambda each: each != op, ops_of(op.block)))):
            found, whole = accesses(before), list(way(value))
            if found is None or any(each.changes and set(whole) & set(way(each.value)) for each in found):
                made = before if fill_value(before) is not None and before.operands[-1] == value else None
                break
    return fill_constant(made)


def extents_of(values: Values, op: ir.Operation, space: Structure) -> list[Linear | None]:
    """The extents of an op's dimensions, each from the first operand that is indexed by the
    dimension alone; None where there is no such operand."""
    found: list[Linear | None] = [None] * space.rank
    for operand, axis, expression in subscripts(op, space.maps):
        if (d := dimension_of(expression)) is not None and found[d] is None:
            found[d] = size(values, operand, axis)
    return found


def fits_of(values: Values, op: ir.Operation, space: Structure, maps: Sequence[Sequence[Linear]]) -> Formula:
    """The condition that composed subscripts, such as `2*i + k`, are inside their operands.

    Args:
        maps: the values of the op's indexing maps.
    """
    forms = (form for at in maps for form in at)
    subscripted = zip(subscripts(op, space.maps), forms, strict=True)
    sized = ((form, size(values, *of)) for (*of, expr), form in subscripted if dimension_of(expr) is None)
    return both(*(part for form, n in sized for part in (at_least(form, 0), less(form, n))))


def size(values: Values, value: ir.Value, axis: int) -> Linear:
    """A size of a tensor or memref, as a form."""
    found = size_origin(value, axis)
    if not isinstance(found, tuple):
        return values.number(found)
    made = producer(found[0])
    if made is not None and made.name in ("memref.subview", "tensor.extract_slice"):  # of lower rank
        sizes = mixed(made, "static_offsets", "static_sizes", "static_strides")[1]
        kept = kept_dimensions(list(ir.DenseI64ArrayAttr(made.attributes["static_sizes"])), found[0].type)
        return values.number(sizes[kept[found[1]]])
    form = form_of(*found)  # of a padding, the source's size
    if isinstance(form, int):
        return Linear.of(form)
    is_derived = (form.tensor, form.axis) != found
    own = size(values, form.tensor, form.axis) if is_derived else values.extent(form.tensor, form.axis)
    return own + form.plus


def joined(values: Values, at: Sequence[Linear], sizes: Sequence[Linear]) -> Linear:
    """The number with these digits, the most significant first."""
    out = at[0] if at else Linear.of(0)
    for place, n in zip(at[1:], sizes[1:], strict=True):
        out = values.product(out, n) + place
    return out


def digits(values: Values, number: Linear, sizes: Sequence[Linear]) -> list[Linear]:
    """A number below the product of `sizes` as digits, the most significant first."""
    ones, out = next((axis for axis, n in enumerate(sizes) if n != Linear.of(1)), len(sizes) - 1), list[Linear]()
    for n in reversed(sizes[ones + 1 :]):
        out.append(values.operate("mod", number, n))
        number = values.operate("floordiv", number, n)
    return [*[Linear.of(0)] * ones, number, *reversed(out)] if sizes else []
