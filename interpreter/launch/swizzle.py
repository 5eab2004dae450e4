"""Swizzled shared buffers: the exchange (`memory/swizzles.py`) in the last subscript of each access, once views are folded."""

from __future__ import annotations

from ...dsl.diagnostics import fail
from ..ir.mlir import affine, ahead_of, arith, ir, operations, users
from ..memory.effects import accesses
from ..memory.layouts import element_bytes
from ..memory.swizzles import PIECE, SWIZZLE, Swizzle
from ..session.rewriter import describe


def apply_swizzles(function: ir.Operation) -> None:
    """Rewrite all accesses of swizzled buffers. Raises W0367."""
    for alloc in operations(function, "memref.alloc"):
        if SWIZZLE in alloc.attributes:
            for user in users(alloc.results[0]):
                if user.name != "memref.dealloc":
                    _rewrite(user, alloc)
            del alloc.attributes[SWIZZLE]


def _rewrite(access: ir.Operation, alloc: ir.Operation) -> None:
    buffer = alloc.results[0]
    kind = ir.MemRefType(buffer.type)
    item = element_bytes(kind.element_type)
    found = [effect for effect in accesses(access) or () if effect.value == buffer]
    if len(found) != 1 or found[0].footprint != "element" or found[0].count * item > PIECE:
        raise fail(
            "W0367",
            f"{describe(access)} accesses a swizzled buffer through a view, or more than {PIECE} bytes of it at once",
            "leave `swizzle` out, or let `launch` make the accesses: of single elements, or of 16 bytes at most",
        )
    last = found[0].first + kind.rank - 1
    exchange = Swizzle.of(kind, ir.IntegerAttr(alloc.attributes[SWIZZLE]).value)
    with ahead_of(access):
        number = affine.AffineApplyOp(exchange.map, [access.operands[last - 1]]).result
        access.operands[last] = arith.XOrIOp(access.operands[last], number).result
