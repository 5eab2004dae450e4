"""Proof, from the surrounding bounds and conditions, that the indices of a kernel's loads and
stores are inside the memrefs that they access. An index without a proof may still be inside: for
example one that is read from memory, or one that is below another size than the memref's."""

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
        op: the op, with its location.
        axis, size: the indexed axis of the memref and its size; None: known only at run time.
        inside: whether the index is proven to be in 0 … size-1.
    """

    op: str
    axis: int
    size: int | None
    inside: bool


def index_uses(kernel: ir.Operation) -> Iterator[IndexUse]:
    """Yields every index with which the kernel loads or stores an element or a vector."""
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
    """Yields the conditions that hold at the op, from the branches and loops around it."""
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
