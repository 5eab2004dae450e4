"""Copies that a single thread does alone, between memory and its own arrays."""

from __future__ import annotations

from collections.abc import Sequence

from ...buffers.alone import VECTOR
from ...ir.mlir import ir
from ...ir.structured import generic

ACCESS_BITS = 128
"""The widest access that a thread makes."""


def copy(source: ir.Value, target: ir.Value, maps: Sequence[ir.AffineMap] | None = None) -> ir.Operation:
    """A copy at the insertion point, as wide as alignment allows. `maps`: of source and target, identities if not given."""
    kind = ir.MemRefType(source.type)
    maps = maps or [ir.AffineMap.get_identity(kind.rank)] * 2
    op = generic([source], [target], maps, ["parallel"] * maps[0].n_dims, lambda own: own[:1])
    op.attributes[VECTOR] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), most_lanes(kind.element_type))
    return op


def most_lanes(kind: ir.Type) -> int:
    """Elements in the widest access."""
    return max(ACCESS_BITS // max(getattr(kind, "width", 64), 8), 1)
