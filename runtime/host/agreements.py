"""Which sizes of a payload's arguments have to agree: those that are one dimension of an op, such as the k of a product."""

from __future__ import annotations

from collections.abc import Iterator

from ...interpreter.ir.cloning import clone_module
from ...interpreter.ir.mlir import ahead_of, ir, operations
from ...interpreter.ir.sizes import dimension_behind, size_of
from ...interpreter.ir.structured import is_structured, structure
from ..plan.plan import Agreement, DimOf, Size
from .functions import argument_names, entry_function


def agreements(payload: ir.Module, entry: str | None) -> tuple[Agreement, ...]:
    """The pairs of sizes that agree for the payload to mean something, where one of them at least is known at run time alone."""
    module = clone_module(payload)
    with module.context, ir.Location.unknown():
        function = entry_function(module, entry)
        found = [a for op in operations(function) if is_structured(op) for a in _of(op, function)]
    return tuple(dict.fromkeys(found))


def _of(op: ir.Operation, function: ir.Operation) -> Iterator[Agreement]:
    space, first = structure(op), dict[int, Size]()
    with ahead_of(op):
        for operand, indexing in zip(op.operands, space.maps, strict=True):
            for axis, expr in enumerate(indexing.results):
                if not isinstance(expr, ir.AffineDimExpr):
                    continue
                size, d = _size(size_of(operand, axis), function), ir.AffineDimExpr(expr).position
                if size is not None and size != first.setdefault(d, size):
                    yield Agreement(first[d], size, op.name)


def _size(size: int | ir.Value, function: ir.Operation) -> Size | None:
    """A size as the plan has it; None where it is none of an argument's."""
    if isinstance(size, int):
        return size
    found = dimension_behind(size)
    if found is None or not isinstance(found[0].owner, ir.Block) or found[0].owner != function.regions[0].blocks[0]:
        return None
    return DimOf(argument_names(function)[ir.BlockArgument(found[0]).arg_number], found[1])
