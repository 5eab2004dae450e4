"""Which bank of shared memory each element of a copy's target is in: 32 banks, successive 32-bit words in successive banks."""

from __future__ import annotations

import numpy as np

from ..interpreter.ir.mlir import ir
from ..interpreter.ir.structured import is_structured, structure
from ..interpreter.memory.layouts import bytes_of, is_shared, strided
from ..runtime.simulator.machine.banks import BANKS, WORD


def banks_of(op: ir.Operation) -> np.ndarray | None:
    """The bank where each element that a linalg op writes begins; None where it writes no shared memory of static shape."""
    if not is_structured(op) or not is_shared(op.operands[-1].type):
        return None
    kind, maps, extents = ir.MemRefType(op.operands[-1].type), structure(op).maps, structure(op).extents
    strides, offset = strided(kind)
    sizes = [extent for extent in extents if extent is not None]
    positions = [r.position for r in maps[-1].results if isinstance(r, ir.AffineDimExpr)]
    if len(sizes) != len(extents) or len(positions) != kind.rank or min([offset, *strides]) < 0:
        return None
    itemsize = bytes_of(ir.MemRefType.get([1], kind.element_type))
    at = np.full(sizes, offset)
    for position, stride in zip(positions, strides, strict=True):
        at = at + stride * np.arange(sizes[position]).reshape([-1 if d == position else 1 for d in range(len(sizes))])
    return at * itemsize // WORD % BANKS
