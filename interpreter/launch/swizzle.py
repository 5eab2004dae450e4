"""Swizzled shared buffers: the exchange (`memory/swizzles.py`) in the last subscript of each access, once views are folded."""

from __future__ import annotations

from ...dsl.diagnostics import fail
from ..indices.values import divisible
from ..ir.mlir import affine, ahead_of, arith, ir, operations, producer, users
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
        number = _composed(exchange, access.operands[last - 1])
        access.operands[last] = arith.XOrIOp(access.operands[last], number).result


def _composed(exchange: Swizzle, row: ir.Value) -> ir.Value:
    """The exchange of a row in terms of what the row is computed from: rows that are a whole period apart, as those of a loop's
    iterations are, then have the same, which is computed in front of the loop and takes one register."""
    apply = producer(row)
    if apply is None or not isinstance(apply.opview, affine.AffineApplyOp):
        return affine.AffineApplyOp(exchange.map, [row]).result
    rows = ir.AffineMapAttr(apply.attributes["map"]).value
    dimensions, symbols = rows.n_dims, rows.n_symbols
    number = ir.AffineMap.get(dimensions, symbols, [exchange.map.results[0].compose(rows)])
    places = [*map(ir.AffineExpr.get_dim, range(dimensions)), *map(ir.AffineExpr.get_symbol, range(symbols))]
    for operand, place in zip(apply.operands, places, strict=True):
        if divisible(operand, exchange.period):  # a loop's counter that goes up by whole periods adds nothing
            without = number.replace(place, place * exchange.period, dimensions, symbols)
            number = number if _reads(without.results[0], place) else without
    return affine.AffineApplyOp(number, list(apply.operands)).result


def _reads(expression: ir.AffineExpr, place: ir.AffineExpr) -> bool:
    if isinstance(expression, ir.AffineBinaryExpr):
        return _reads(expression.lhs, place) or _reads(expression.rhs, place)
    return expression == place
