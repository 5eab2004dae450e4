"""Ops that one thread does alone, inside a loop over threads: as wide as is aligned, else element by element."""

from __future__ import annotations

from ..indices.arithmetic import Sum
from ..ir.mlir import ir
from ..ir.structured import ATOMIC, is_parallel_op, structure
from ..mapping.owned import loop_over
from ..mapping.space import extents
from .elements import StructuredOp, emit_unit
from .views import base_of

VECTOR = "weft.vector"
"""On an op without a map: how many elements an access of it may have."""


def is_alone(op: ir.Operation) -> bool:
    marked = VECTOR in op.attributes or ATOMIC in op.attributes
    return marked and op.name.startswith("linalg.") and "weft.map" not in op.attributes


def goes_along(op: ir.Operation) -> bool:
    """Whether an op meets each element of its result once, and walks all its operands in the order of its own dimensions: there is
    nothing to keep for later, and accesses are as wide as memory allows."""
    if not is_parallel_op(op):
        return False
    places = [[r.position for r in m.results if isinstance(r, ir.AffineDimExpr)] for m in structure(op).maps]
    return all(place == sorted(place) for place in places)


def widest(op: ir.Operation) -> int:
    """How many elements the op's accesses of memory have at once, on at least one side: 1 where no alignment is proven, or nothing
    asks for more."""
    if VECTOR not in op.attributes:
        return 1
    structured = StructuredOp.of(op)
    space = structure(op).extents
    last = space[-1] if space else None
    lanes = ir.IntegerAttr(op.attributes[VECTOR]).value
    while lanes > 1:
        if last is not None and last % lanes == 0 and _wide_in_memory(structured, lanes):
            return lanes
        lanes //= 2
    return 1


def _wide_in_memory(op: StructuredOp, lanes: int) -> bool:
    numbers = [n for n in (*op.input_numbers(), *op.output_numbers()) if n in op.output_numbers() or op.used(n)]
    return any(op.wide(n, lanes) for n in numbers if in_memory(op.operands[n])) or bool(op.masked(lanes))


def in_memory(operand: ir.Value) -> bool:
    """Whether an operand is in shared or global memory, and not a temporary or a thread's own array."""
    base = base_of(operand)
    if base is None or isinstance(base.owner, ir.Block):
        return base is not None
    kind = base.type
    assert isinstance(kind, ir.MemRefType)
    return base.owner.operation.name == "memref.alloc" and kind.memory_space is not None


def do_alone(op: ir.Operation) -> None:
    """Emit all iterations of an op at the insertion point, in the thread at hand."""
    structured, lanes = StructuredOp.of(op), widest(op)
    space = extents(op)
    units = [*space[:-1], last // lanes if isinstance(last := space[-1], int) else last] if space else []

    def nest(at: tuple[Sum, ...]) -> None:
        if len(at) < len(units):
            return loop_over(units[len(at)], lambda e: nest((*at, e)))
        return emit_unit(structured, at, lanes)

    nest(())
