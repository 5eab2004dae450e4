"""Ops that one thread does alone, inside a loop over threads: as wide as is aligned, else element by element."""

from __future__ import annotations

from collections.abc import Sequence

from ..indices.arithmetic import Sum
from ..ir.mlir import i64, ir, made_by
from ..ir.structured import ATOMIC, generic, is_parallel_op, structure
from ..mapping.legality import MAX_VECTOR_BITS
from ..mapping.owned import loop_over
from ..mapping.space import extents
from ..memory.views import behind
from .elements import StructuredOp, emit_unit

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
    written = structured.output_numbers()
    numbers = [n for n, v in enumerate(structured.operands) if in_memory(v) and (n in written or structured.used(n))]
    while lanes > 1:
        wide = any(structured.wide(n, lanes) for n in numbers) or structured.masked(lanes)
        if last is not None and last % lanes == 0 and wide:
            return lanes
        lanes //= 2
    return 1


def in_memory(operand: ir.Value) -> bool:
    """Whether an operand is in shared or global memory, and not a temporary or a thread's own array."""
    base = behind(operand)
    if not isinstance(base.type, ir.MemRefType) or isinstance(base.owner, ir.Block):
        return isinstance(base.type, ir.MemRefType)
    return made_by(base, "memref.alloc") is not None and base.type.memory_space is not None


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


def copy_alone(source: ir.Value, target: ir.Value, maps: Sequence[ir.AffineMap] | None = None) -> ir.Operation:
    """A copy that a single thread does, at the insertion point, as wide as alignment allows.

    `maps`: of source and target, identities if not given.
    """
    kind = ir.MemRefType(source.type)
    maps = maps or [ir.AffineMap.get_identity(kind.rank)] * 2
    op = generic([source], [target], maps, ["parallel"] * maps[0].n_dims, lambda own: own[:1])
    op.attributes[VECTOR] = i64(most_lanes(kind.element_type))
    return op


def most_lanes(kind: ir.Type) -> int:
    """Elements in the widest access."""
    return max(MAX_VECTOR_BITS // max(getattr(kind, "width", 64), 8), 1)
