"""Swizzles of shared buffers: once views are folded, the permutation of `layouts/swizzles.py` is
added to the last subscript of each access. Tiles that boxes store are kept in panels: accesses of
such a tile become accesses of its panels, with the swizzle that boxes use.

vector.store %v, %C_shared[%row, %i * 8 + %c]   →   vector.store %v, %C_panels[%i, %row, %c ^ …]
(panels of 8 columns)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd

from ...dsl.diagnostics import fail
from ..indices.arithmetic import apply_map
from ..indices.values import divisible, range_of, unchanged
from ..ir.element_sizes import element_bytes
from ..ir.mlir import affine, ahead_of, arith, attributes, ir, operations, producer, users
from ..ir.refusing import describe
from ..layouts.swizzles import PIECE, SWIZZLE, Swizzle
from ..memory.effects import accesses
from .stores.boxes import IN_PANELS


def apply_swizzles(function: ir.Operation) -> None:
    """Rewrites all accesses of swizzled buffers. Raises W0367."""
    with unchanged(function):  # accesses get other subscripts; the other ops stay
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
        access.operands[last] = _exchange_last(exchange, access.operands[last - 1], access.operands[last])


def _exchange_last(exchange: Swizzle, row: ir.Value, column: ir.Value) -> ir.Value:
    """The column at which an element of a row is stored under the swizzle."""
    return _exchanged(column, _composed(exchange, row), exchange.span)


def _exchanged(column: ir.Value, number: ir.Value, span: int) -> ir.Value:
    """`column xor number`, for a number below `span`. Multiples of the span are split off from the
    column, and added after the xor: so accesses that differ by such multiples share one xor."""
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
    """The number with which the swizzle permutes a row, in terms of the operands from which the row
    is computed. So rows that are a whole period apart, such as those of a loop's iterations, share
    one number, which is computed before the loop and takes one register."""
    apply = producer(row)
    if apply is None or not isinstance(apply.opview, affine.AffineApplyOp):
        return affine.AffineApplyOp(exchange.map, [row]).result
    rows = ir.AffineMapAttr(apply.attributes["map"]).value
    dimensions, symbols = rows.n_dims, rows.n_symbols
    rows = ir.AffineMap.get(dimensions, symbols, [_representative(rows, list(apply.operands), exchange.lines)])
    number = ir.AffineMap.get(dimensions, symbols, [exchange.map.results[0].compose(rows)])
    places = [*map(ir.AffineExpr.get_dim, range(dimensions)), *map(ir.AffineExpr.get_symbol, range(symbols))]
    for operand, place in zip(apply.operands, places, strict=True):
        if divisible(operand, exchange.period):  # a loop's counter in steps of whole periods adds nothing
            without = number.replace(place, place * exchange.period, dimensions, symbols)
            number = number if _reads(without.results[0], place) else without
    return affine.AffineApplyOp(number, list(apply.operands)).result


def _representative(rows: ir.AffineMap, operands: Sequence[ir.Value], lines: int) -> ir.AffineExpr:
    """A row with the same swizzle number as this row. Rows that differ by constants, and have the
    same number, get the same representative."""
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


# ---- tiles that boxes store ------------------------------------------------------------------------------------------


def lay_in_panels(function: ir.Operation) -> None:
    """Rewrites all accesses of tiles that boxes store to accesses of their panels. Raises W0367."""
    for link in list(operations(function, IN_PANELS)):
        tile, panels = link.operands
        exchange = Swizzle.of_box(ir.MemRefType(panels.type)) if SWIZZLE in link.attributes else None
        link.erase()
        for user in users(tile):
            if user.name != "memref.dealloc":
                _move(user, tile, panels, exchange)
            user.erase()
        ir.OpResult(tile).owner.erase()


def _move(access: ir.Operation, tile: ir.Value, panels: ir.Value, exchange: Swizzle | None) -> None:
    kind = ir.MemRefType(panels.type)
    found = [effect for effect in accesses(access) or () if effect.value == tile]
    if len(found) != 1 or found[0].footprint != "element" or found[0].count * element_bytes(kind.element_type) > PIECE:
        raise fail(
            "W0367",
            f"{describe(access)} accesses a tile that boxes store through a view, or more than {PIECE} bytes of it at"
            f" once",
            "let `launch` make the accesses: of single elements, or of 16 bytes at most",
        )
    first, rank = found[0].first, ir.MemRefType(tile.type).rank
    operands = list(access.operands)
    *lead, row, column = operands[first : first + rank]
    with ahead_of(access):
        *panel, within = _split(column, kind.shape[-1]) if kind.rank > rank else (column,)
        if exchange is not None:
            within = _exchange_last(exchange, row, within)
        given = [panels if operand == tile else operand for operand in operands[:first]]
        there = [*given, *lead, *panel, row, within, *operands[first + rank :]]
        made = ir.Operation.create(access.name, [result.type for result in access.results], there, attributes(access))
    for old, new in zip(access.results, made.results, strict=True):
        old.replace_all_uses_with(new)


def _split(column: ir.Value, width: int) -> tuple[ir.Value, ir.Value]:
    """The panel of a column, and the column in the panel."""
    apply = producer(column)
    if apply is None or apply.name != "affine.apply":
        columns, operands = ir.AffineMap.get_identity(1), [column]
    else:
        columns, operands = ir.AffineMapAttr(apply.attributes["map"]).value, list(apply.operands)
    dimensions, symbols = columns.n_dims, columns.n_symbols
    whole, within = ir.AffineExpr.get_constant(0), list[ir.AffineExpr]()
    for summand in _summands(columns.results[0], width):
        if _divisible(summand, operands[:dimensions], operands[dimensions:], width):
            whole = whole + summand
        else:
            within.append(summand)
    (rest,) = apply_map(
        ir.AffineMap.get(dimensions, symbols, [sum(within, start=ir.AffineExpr.get_constant(0))]), operands
    )
    low, high = range_of(rest)
    panel = ir.AffineExpr.get_floor_div(whole, width)
    if low is None or high is None or low < 0 or high >= width:
        each = gcd(width, *(_factor(summand) for summand in within))
        parts = sum((_divided(summand, each) for summand in within), start=ir.AffineExpr.get_constant(0))
        panel = panel + ir.AffineExpr.get_floor_div(parts, width // each)
        inner = ir.AffineExpr.get_mod(parts, width // each) * each
        (rest,) = apply_map(ir.AffineMap.get(dimensions, symbols, [inner]), operands)
    panel = ir.AffineExpr.simplify_affine_expr(panel, dimensions, symbols)
    (number,) = apply_map(ir.AffineMap.get(dimensions, symbols, [panel]), operands)
    return number, rest


def _factor(summand: ir.AffineExpr) -> int:
    """A constant factor of a summand."""
    if isinstance(summand, ir.AffineConstantExpr):
        return summand.value
    return (
        summand.rhs.value
        if isinstance(summand, ir.AffineMulExpr) and isinstance(summand.rhs, ir.AffineConstantExpr)
        else 1
    )


def _divided(summand: ir.AffineExpr, divisor: int) -> ir.AffineExpr:
    """The summand divided by a divisor of its constant factor."""
    if isinstance(summand, ir.AffineConstantExpr):
        return ir.AffineExpr.get_constant(summand.value // divisor)
    return summand if divisor == 1 else summand.lhs * (_factor(summand) // divisor)
