"""Banks of the shared memory that an op fills."""

from __future__ import annotations

import numpy as np

from ..interpreter.ir.element_sizes import element_bytes
from ..interpreter.ir.mlir import ir
from ..interpreter.ir.structured import is_structured, structure
from ..interpreter.memory.layouts import is_shared, strided
from ..runtime.simulator.machine.banks import BANKS, WORD


def banks_of(op: ir.Operation) -> np.ndarray | None:
    """The bank where each element that a linalg op writes begins, of 32 that successive 32-bit words take in turn; None where it
    writes no shared memory of static shape."""
    if not is_structured(op) or not is_shared(op.operands[-1].type):
        return None
    kind, maps, extents = ir.MemRefType(op.operands[-1].type), structure(op).maps, structure(op).extents
    strides, offset = strided(kind)
    sizes = [extent for extent in extents if extent is not None]
    positions, at = [r.position for r in maps[-1].results if isinstance(r, ir.AffineDimExpr)], np.full(sizes, offset)
    if len(sizes) != len(extents) or len(positions) != kind.rank or min([offset, *strides]) < 0:
        return None
    for position, stride in zip(positions, strides, strict=True):
        at = at + stride * np.arange(sizes[position]).reshape([-1 if d == position else 1 for d in range(len(sizes))])
    return at * element_bytes(kind.element_type) // WORD % BANKS
