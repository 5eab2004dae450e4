"""Copies and fills: `linalg.copy` and `linalg.fill`, created at the insertion point, `linalg.copy` in place of
`memref.copy`; and the value of any op that fills."""

from __future__ import annotations

from .affine_maps import dimension_of
from .cloning import is_named
from .mlir import ahead_of, ir, linalg, made_by, operations
from .structured import body_of, copy_marks, is_parallel_op, segments, structure, yielded


def copy_to(target: ir.Value, source: ir.Value) -> ir.Operation:
    """Copies a tensor to another one, or to a memref. (Upstream's function evaluates the body in
    Python, and takes ten times as long.)"""
    results = [target.type] if isinstance(target.type, ir.RankedTensorType) else []
    cast = ir.Attribute.parse("#linalg.type_fn<cast_signed>", target.context)
    made = linalg.CopyOp(results, [source], [target], cast=cast).operation
    linalg.fill_builtin_region(made)
    return made


def fill_with(target: ir.Value, value: ir.Value) -> ir.Operation:
    """Fills a tensor, or a memref, with a scalar."""
    results = [target.type] if isinstance(target.type, ir.RankedTensorType) else []
    made = linalg.FillOp(results, [value], [target]).operation
    linalg.fill_builtin_region(made)
    return made


def fill_value(op: ir.Operation) -> ir.Value | None:
    """The value that a structured op writes to all elements of its only output: of a `linalg.fill`,
    or of a `linalg.generic` that does the same; None for another op."""
    if op.name != "linalg.generic":
        return op.operands[0] if op.name == "linalg.fill" else None
    inputs, outputs = segments(op)
    body = body_of(op)
    if outputs != 1 or inputs > 1 or len(body.operations) != 1:
        return None
    space = structure(op)
    written = {dimension_of(e) for e in space.maps[-1].results}
    if written != set(range(space.rank)) or len(space.maps[-1].results) != space.rank:
        return None
    (value,), arguments = yielded(op), list(body.arguments)
    if value not in arguments:
        return None if inputs else value
    number = arguments.index(value)
    return op.operands[number] if number < inputs and not isinstance(op.operands[number].type, ir.ShapedType) else None


def fill_constant(op: ir.Operation | None) -> ir.Attribute | None:
    """The constant that an op writes to all elements of its only output; None for another op."""
    value = None if op is None else fill_value(op)
    made = None if value is None else made_by(value, "arith.constant")
    return None if made is None else made.attributes["value"]


def copies_to_linalg(root: ir.Operation) -> None:
    """`memref.copy` → `linalg.copy`, which has a lowering to loops."""
    for copy in operations(root, "memref.copy"):
        with ahead_of(copy):
            made = copy_to(copy.operands[1], copy.operands[0])
        copy_marks(copy, made)
        copy.erase()


def moved_axes(op: ir.Operation) -> tuple[int, ...] | None:
    """For an op that only repeats elements or exchanges axes, and that no handle names: for each
    axis of the input, the axis of the result. None for any other op."""
    if not is_parallel_op(op) or segments(op) != (1, 1) or is_named(op) or "weft.map" in op.attributes:
        return None
    if not isinstance(op.operands[0].type, ir.ShapedType) or yielded(op) != [body_of(op).arguments[0]]:
        return None
    read, written = ([dimension_of(e) for e in m.results] for m in structure(op).maps)
    if None in read or sorted(map(str, written)) != sorted(map(str, range(structure(op).rank))):
        return None
    return tuple(written.index(d) for d in read)
