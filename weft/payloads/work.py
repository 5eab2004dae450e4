"""The number of arithmetic operations of a payload, from its iteration spaces; independent of its
kernels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..interpreter.indices.arithmetic import trip_count
from ..interpreter.ir.affine_maps import dimension_of
from ..interpreter.ir.functions import inputs_of
from ..interpreter.ir.mlir import children, entries, ir
from ..interpreter.ir.sizes import argument_dimension, form_of
from ..interpreter.ir.structured import Structure, element_type, is_structured, shape_of, structure, subscripts
from ..interpreter.memory.effects import combiner
from ..interpreter.memory.table import ATOMIC
from ..runtime.form.kernel_form import named
from ..runtime.host.functions import argument_names, callee_of, entry_function

OPERATIONS: dict[str, int] = dict.fromkeys(named(arith="addf subf mulf divf addi subi muli"), 1)
OPERATIONS |= {**dict.fromkeys(("math.fma", "vector.fma", "complex.add", "complex.sub"), 2), "complex.mul": 6}
"""The number of operations of one execution of an op on scalars, as they are counted for the rate
of a GPU. Comparisons, conversions and math functions count as none."""
UPDATES = frozenset({"addf", "addi", "mulf", "muli"})
"""The kinds of `memref.atomic_rmw` that count as one operation."""
NONE = frozenset(
    {"arith", "math", "affine", "scf", "func", "tensor", "memref", "bufferization", "index", "ub", "vector"}
)
"""Dialects with ops that count as no arithmetic: they move, compare or convert numbers, or control
execution. For other dialects the number of operations is unknown."""
NEITHER = frozenset(f"linalg.{name}" for name in ("index", "yield"))
UNCOUNTED = frozenset(f"vector.{name}" for name in ("contract", "multi_reduction", "outerproduct", "reduction", "scan"))

Shapes = Mapping[str, Sequence[int]]


class _UnknownError(Exception):
    """The number of executions depends on data, or is not known."""


def operations_of(payload: ir.Module, entry: str | None, shapes: Shapes) -> int | None:
    """The arithmetic operations on numbers in one execution of a function; None if unknown, for
    example because the number of executions of an op depends on data or on the indices of other
    loops.

    Args:
        payload: the unscheduled module.
        entry: the function; None: the only public one.
        shapes: the shapes of its arguments by name, for sizes that the payload leaves open.
    """
    function = entry_function(payload, entry)
    given = [shapes.get(name) for name in argument_names(function)][: inputs_of(function)]
    try:
        return _of_function(function, given)
    except (_UnknownError, RecursionError):
        return None


def _of_function(function: ir.Operation, given: Sequence[Sequence[int] | None]) -> int:
    if len(function.regions[0].blocks) != 1:  # a declaration, or control flow by branches
        raise _UnknownError
    return sum(_done(op, given) for op in children(function))


def _done(op: ir.Operation, given: Sequence[Sequence[int] | None]) -> int:
    if is_structured(op):
        space = structure(op)
        return math.prod(_extent(op, space, d, given) for d in range(space.rank)) * _inside(op, given)
    if op.name in OPERATIONS:
        result = op.results[0]
        if str(element_type(result)) in ("index", "i1"):
            return 0
        elements = math.prod(n or 0 for n in shape_of(result)) if isinstance(result.type, ir.ShapedType) else 1
        return OPERATIONS[op.name] * elements
    if op.name == "func.call":
        if (function := callee_of(op)[0]) is None:
            raise _UnknownError
        return _of_function(function, [None] * inputs_of(function))
    if op.name == ATOMIC:
        return int(combiner(op) in UPDATES)
    if op.name in UNCOUNTED or (op.name not in NEITHER and op.name.partition(".")[0] not in NONE):
        raise _UnknownError
    if not op.regions or not (inside := _inside(op, given)):
        return 0
    # The number of executions of a loop's body.
    found = trip_count(op)
    if op.name in ("affine.for", "affine.parallel"):
        found = _affine_trips(op)
    if found is None:
        raise _UnknownError
    return found * inside


def _inside(op: ir.Operation, given: Sequence[Sequence[int] | None]) -> int:
    return sum(_done(inner, given) for inner in children(op))


def _extent(op: ir.Operation, space: Structure, dimension: int, given: Sequence[Sequence[int] | None]) -> int:
    for operand, axis, expression in subscripts(op, space.maps):
        if dimension_of(expression) == dimension:
            form = form_of(operand, axis)
            if isinstance(form, int):
                return form
            if (found := argument_dimension(form.tensor, form.axis)) is not None:
                shape = given[ir.BlockArgument(found[0]).arg_number]
                if shape is not None:
                    return shape[found[1]] + form.plus
    raise _UnknownError


def _affine_trips(op: ir.Operation) -> int | None:
    names = ("lowerBoundMap", "upperBoundMap") if op.name == "affine.for" else ("lowerBoundsMap", "upperBoundsMap")
    low, high = (list(ir.AffineMapAttr(op.attributes[name]).value.results) for name in names)
    numbers = [e.value if isinstance(e, ir.AffineConstantExpr) else None for e in (*low, *high)]
    if None in numbers or len(low) != len(high):
        return None
    steps = [op.attributes["step"]] if "step" in op.attributes else entries(op.attributes["steps"])
    each = [ir.IntegerAttr(step).value for step in steps]
    pairs = zip(numbers[: len(low)], numbers[len(low) :], each, strict=True)
    return math.prod(
        max(0, -((first - end) // step)) for first, end, step in pairs if first is not None and end is not None
    )
