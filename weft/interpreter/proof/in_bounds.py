"""Whether the indices of a kernel's loads and stores are inside of the memrefs that they access, by the bounds and
conditions around them. What is not shown may still be so: an index that is read from memory, a size that another one
    bounds."""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl.records import record
from ..indices.linear import Formula, Linear, at_least, either, less
from ..indices.values import KnownIndices
from ..ir.mlir import ancestors, ir, is_within, operations
from ..ir.refusing import describe
from ..memory.effects import accesses
from .solver import Naming, Solver, Unknown, points

_ELEMENTS = ("load", "store", "atomic_rmw")


@record
class IndexUse:
    """One index of a load or a store.

    Args:
        op: the op, and where it is.
        axis, size: along which axis of the memref, and its size; None: known at run time only.
        inside: whether it is shown to be in 0 … size-1.
    """

    op: str
    axis: int
    size: int | None
    inside: bool


def index_uses(kernel: ir.Operation) -> Iterator[IndexUse]:
    """Every index of an element, or of the elements of a vector, that the kernel loads or stores."""
    values, solver = KnownIndices(kernel.regions[0].blocks[0].operations[0].operation), Solver()
    for op in operations(kernel):
        dialect, _, name = op.name.partition(".")
        found = accesses(op) if dialect in ("memref", "vector") and name in _ELEMENTS else None
        if not found:
            continue
        access = found[0]
        memref = ir.MemRefType(access.value.type)
        indices = list(op.operands)[list(op.operands).index(access.value) + 1 :]
        moved = (op.results[0] if op.results else op.operands[0]).type
        width = moved.shape[-1] if dialect == "vector" else 1
        around = list(_guards(op, values))
        for axis, index in enumerate(indices):
            form, extent = values.linear(index), values.extent(access.value, axis)
            last = form + (width - 1 if axis == len(indices) - 1 else 0)
            inside = _never(solver, (either(less(form, Linear.of(0)), at_least(last, extent)), *around))
            yield IndexUse(
                describe(op), axis, None if memref.is_dynamic_dim(axis) else memref.get_dim_size(axis), inside
            )


def _guards(op: ir.Operation, values: KnownIndices) -> Iterator[Formula]:
    """What holds where the op is."""
    for around in ancestors(op):
        if around.name == "scf.if":
            condition = values.condition(around.operands[0])
            yield condition if _in_region(op, around, 0) else condition.negate()
        elif around.name == "scf.for":
            low, high, *_ = (values.linear(bound) for bound in around.operands)
            counter = values.linear(around.regions[0].blocks[0].arguments[0])
            yield from (at_least(counter, low), less(counter, high))


def _in_region(op: ir.Operation, around: ir.Operation, number: int) -> bool:
    return any(is_within(op, inner.operation) for block in around.regions[number].blocks for inner in block.operations)


def _never(solver: Solver, formulas: tuple[Formula, ...]) -> bool:
    naming = Naming("")
    try:
        return solver.is_empty(points(solver, (naming,), map(naming.formula, formulas))[1])
    except Unknown:
        return False
