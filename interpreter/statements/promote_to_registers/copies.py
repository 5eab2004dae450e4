"""Copies that a single thread does alone, between memory and its own arrays."""

from __future__ import annotations

from collections.abc import Sequence

from ...buffers.alone import VECTOR
from ...ir.mlir import ir, linalg

ACCESS_BITS = 128
"""The widest access that a thread makes."""


def copy(source: ir.Value, target: ir.Value, maps: Sequence[ir.AffineMap] | None = None) -> ir.Operation:
    """A copy at the insertion point, as wide as alignment allows. `maps`: of source and target, identities if not given."""
    kind, written = ir.MemRefType(source.type), ir.MemRefType(target.type)
    if maps is None:
        maps = [ir.AffineMap.get_identity(kind.rank)] * 2
    op = linalg.GenericOp(
        result_tensors=[],
        inputs=[source],
        outputs=[target],
        indexing_maps=ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps]),
        iterator_types=ir.ArrayAttr.get([ir.Attribute.parse("#linalg.iterator_type<parallel>")] * maps[0].n_dims),
    )
    body = op.regions[0].blocks.append(kind.element_type, written.element_type)
    with ir.InsertionPoint(body):
        linalg.YieldOp([body.arguments[0]])
    op.operation.attributes[VECTOR] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), most_lanes(kind.element_type))
    return op.operation


def most_lanes(kind: ir.Type) -> int:
    """Elements in the widest access."""
    return max(ACCESS_BITS // max(getattr(kind, "width", 64), 8), 1)
