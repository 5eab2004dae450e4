"""Swizzled shared buffers: the exchange (`memory/swizzles.py`) in the last subscript of each access, once views are folded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd

from ...dsl.diagnostics import fail
from ..indices.arithmetic import apply_map
from ..indices.values import divisible
from ..ir.element_sizes import element_bytes
from ..ir.mlir import affine, ahead_of, arith, ir, operations, producer, users
from ..memory.effects import accesses
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
    assert exchange is not None
    with ahead_of(access):
        number = _composed(exchange, access.operands[last - 1])
        access.operands[last] = _exchanged(access.operands[last], number, exchange.span)


def _exchanged(column: ir.Value, number: ir.Value, span: int) -> ir.Value:
    """`column xor number`, a number below `span`. Whole spans of the column are added behind it: accesses so far apart have one
    exchange, and differ by numbers."""
    apply = producer(column)
    if apply is None or not isinstance(apply.opview, affine.AffineApplyOp):
        return arith.XOrIOp(column, number).result
    columns, operands = ir.AffineMapAttr(apply.attributes["map"]).value, list(apply.operands)
    dimensions, symbols = columns.n_dims, columns.n_symbols
    whole = within = ir.AffineExpr.get_constant(0)
    for summand in _summands(columns.results[0], span):
        if _divisible(summand, operands[:dimensions], operands[dimensions:], span):
            whole = whole + summand
        else:
            within = within + summand
    if whole == ir.AffineExpr.get_constant(0):
        return arith.XOrIOp(column, number).result
    (part,) = apply_map(ir.AffineMap.get(dimensions, symbols, [within]), operands)
    exchanged = ir.AffineExpr.get_symbol(symbols)
    together = ir.AffineMap.get(dimensions, symbols + 1, [whole + exchanged])
    return affine.AffineApplyOp(together, [*operands, arith.XOrIOp(part, number).result]).result


def _summands(expression: ir.AffineExpr, span: int) -> Iterator[ir.AffineExpr]:
    if isinstance(expression, ir.AffineAddExpr):
        yield from _summands(expression.lhs, span)
        yield from _summands(expression.rhs, span)
    elif isinstance(expression, ir.AffineConstantExpr):
        yield from map(ir.AffineExpr.get_constant, (expression.value // span * span, expression.value % span))
    else:
        yield expression


def _divisible(e: ir.AffineExpr, dimensions: Sequence[ir.Value], symbols: Sequence[ir.Value], divisor: int) -> bool:
    if isinstance(e, ir.AffineConstantExpr):
        return e.value % divisor == 0
    if isinstance(e, ir.AffineMulExpr) and isinstance(e.rhs, ir.AffineConstantExpr):
        return _divisible(e.lhs, dimensions, symbols, divisor // gcd(divisor, e.rhs.value))
    if isinstance(e, (ir.AffineDimExpr, ir.AffineSymbolExpr)):
        return divisible((dimensions if isinstance(e, ir.AffineDimExpr) else symbols)[e.position], divisor)
    return divisor == 1


def _composed(exchange: Swizzle, row: ir.Value) -> ir.Value:
    """The exchange of a row in terms of what the row is computed from: rows that are a whole period apart, as those of a loop's
    iterations are, then have the same, which is computed in front of the loop and takes one register."""
    apply = producer(row)
    if apply is None or not isinstance(apply.opview, affine.AffineApplyOp):
        return affine.AffineApplyOp(exchange.map, [row]).result
    rows = ir.AffineMapAttr(apply.attributes["map"]).value
    dimensions, symbols = rows.n_dims, rows.n_symbols
    rows = ir.AffineMap.get(dimensions, symbols, [_first_alike(rows, list(apply.operands), exchange.lines)])
    number = ir.AffineMap.get(dimensions, symbols, [exchange.map.results[0].compose(rows)])
    places = [*map(ir.AffineExpr.get_dim, range(dimensions)), *map(ir.AffineExpr.get_symbol, range(symbols))]
    for operand, place in zip(apply.operands, places, strict=True):
        if divisible(operand, exchange.period):  # a loop's counter that goes up by whole periods adds nothing
            without = number.replace(place, place * exchange.period, dimensions, symbols)
            number = number if _reads(without.results[0], place) else without
    return affine.AffineApplyOp(number, list(apply.operands)).result


def _first_alike(rows: ir.AffineMap, operands: Sequence[ir.Value], lines: int) -> ir.AffineExpr:
    """A row whose exchange is that of the row asked for: of rows that differ by numbers and have one exchange, the same one."""
    constant, others = 0, list[ir.AffineExpr]()
    for summand in _summands(rows.results[0], 1):
        if isinstance(summand, ir.AffineConstantExpr):
            constant += summand.value
        else:
            others.append(summand)
    values = operands[: rows.n_dims], operands[rows.n_dims :]
    while not all(_divisible(summand, *values, lines) for summand in others):
        lines //= 2
    return sum(others, start=ir.AffineExpr.get_constant(constant // lines * lines))


def _reads(expression: ir.AffineExpr, place: ir.AffineExpr) -> bool:
    if isinstance(expression, ir.AffineBinaryExpr):
        return _reads(expression.lhs, place) or _reads(expression.rhs, place)
    return expression == place
