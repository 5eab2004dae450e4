"""Index arithmetic that folds known values: forms of hardware ids and loop variables, with their
ranges.

Everything is emitted at the ambient insertion point and location.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from functools import reduce
from math import gcd
from typing import TypeAlias

from ...dsl.records import record
from ..ir.affine_maps import Operator, results_of
from ..ir.mlir import affine, arith, constant_of, ir, made_by
from .linear import NOTHING, Floor, Linear, Symbol

Bound: TypeAlias = "int | ir.Value"
"""A trip count, a number of processors, a loop bound: a number where known, else an index value."""
Terms: TypeAlias = "list[tuple[ir.Value, int]]"


@record(compared=True)
class IndexValue(Symbol):
    """An SSA value as a symbol of a form: 0 <= value <= high; None: no upper bound is known."""

    value: ir.Value = field(kw_only=True)

    def __hash__(self) -> int:
        return hash(self.value)


def index_of(bound: Bound, extent: int | None = None) -> Linear:
    """A bound as a form, with 0 <= bound < extent unless extent is None."""
    number = known(bound)
    if isinstance(number, int):
        return Linear.of(number)
    ends = (None, None) if extent is None else (0, extent - 1)
    return Linear.of(IndexValue("", "value", NOTHING, *ends, value=number))


def terms_of(form: Linear) -> Terms:
    """The values of an emitted form, and their coefficients."""
    return [(term.value, factor) for term, factor in form.terms.items() if isinstance(term, IndexValue)]


def divide(index: Linear, divisor: int) -> tuple[Linear, Linear]:
    """The quotient and the remainder of a non-negative index by a positive number.

    Terms that are multiples of the divisor go to the quotient. If the rest is known to be below the
    divisor, it is the remainder, and no division is emitted (for example, for thread ids of a 16×16
    block over rows of 16). If the terms other than loop counters are below a factor of the divisor,
    only the counters are divided: `i * 128 + t` by 256 is `i / 2`, and `i % 2 * 128 + t`, where t <
    128; these are constants once the loop is unrolled.
    """
    if divisor == 1:
        return index, Linear.of()
    quotient, rest = _split(index, divisor)
    if _is_below(rest, divisor):
        return quotient, rest
    for factor in sorted({gcd(c, divisor) for c in rest.terms.values()} - {1}, reverse=True):
        above, below = _split(rest, factor)
        if _is_below(below, factor) and all(isinstance(made.owner, ir.Block) for made, _ in terms_of(above)):
            carried, digit = divide(above, divisor // factor)
            return quotient + carried, digit * factor + below
    expression, operands = _expression(rest)
    divided = _apply(ir.AffineExpr.get_floor_div(expression, divisor), operands)
    remainder = _apply(ir.AffineExpr.get_mod(expression, divisor), operands)
    low, high = rest.bounds()
    extent = None if high is None or low is None or low < 0 else high // divisor + 1
    return quotient + index_of(divided, extent), index_of(remainder, divisor)


def _split(index: Linear, factor: int) -> tuple[Linear, Linear]:
    """Multiples of the factor, divided by it; and the other terms."""
    whole = {t: c // factor for t, c in index.terms.items() if c % factor == 0}
    rest = {t: c for t, c in index.terms.items() if c % factor}
    return Linear(whole, index.constant // factor), Linear(rest, index.constant % factor)


def _is_below(index: Linear, end: int) -> bool:
    low, high = index.bounds()
    return low is not None and low >= 0 and high is not None and high < end


def affine_expression(form: Linear, place: Callable[[Symbol], ir.AffineExpr]) -> ir.AffineExpr:
    """The form as an expression of an affine map, the terms in their order; `place` maps a symbol
    to its expression."""
    total = ir.AffineExpr.get_constant(form.constant)
    for term, factor in form.terms.items():
        floor = isinstance(term, Floor)
        made = (
            ir.AffineExpr.get_floor_div(affine_expression(term.numerator, place), term.divisor)
            if floor
            else place(term)
        )
        total = total + made * factor
    return total


def _expression(form: Linear) -> tuple[ir.AffineExpr, list[ir.Value]]:
    places: dict[Symbol, ir.AffineExpr] = {}
    expression = affine_expression(form, lambda symbol: places.setdefault(symbol, ir.AffineExpr.get_dim(len(places))))
    return expression, [symbol.value for symbol in places if isinstance(symbol, IndexValue)]


def sum_of(index: ir.Value) -> Linear:
    """The index as a sum of values that no `affine.apply` defines, except one that divides."""
    made = made_by(index, "affine.apply")
    if made is None:
        return index_of(index)
    mapping = ir.AffineMapAttr(made.attributes["map"]).value
    found = results_of(mapping, [sum_of(operand) for operand in made.operands], Linear.of, _operate)[0]
    return index_of(index) if found is None else found


def _operate(operator: Operator, a: Linear | None, b: Linear | None) -> Linear | None:
    """The sum, or the product with a constant; None for other operators and operands."""
    if a is None or b is None or (b.terms and operator == "mul") or operator not in ("add", "mul"):
        return None
    return a + b if operator == "add" else a * b.constant


def _apply(expression: ir.AffineExpr, operands: Sequence[ir.Value]) -> ir.Value:
    return affine.AffineApplyOp(ir.AffineMap.get(len(operands), 0, [expression]), list(operands)).result


def apply_map(mapping: ir.AffineMap, operands: Sequence[ir.Value]) -> list[ir.Value]:
    """The values of a map's results; a dimension or a number as it is."""

    def result(e: ir.AffineExpr) -> ir.Value:
        if isinstance(e, ir.AffineConstantExpr):
            return constant(e.value)
        if isinstance(e, (ir.AffineDimExpr, ir.AffineSymbolExpr)):
            return operands[e.position + (0 if isinstance(e, ir.AffineDimExpr) else mapping.n_dims)]
        return affine.AffineApplyOp(ir.AffineMap.get(mapping.n_dims, mapping.n_symbols, [e]), list(operands)).result

    return [result(e) for e in mapping.results]


def constant(number: int) -> ir.Value:
    """An `arith.constant` of type index."""
    return arith.ConstantOp(ir.IndexType.get(), number).result


def trip_count(loop: ir.Operation) -> int | None:
    """The trip count of a `scf.for` with constant bounds. The bounds of an `affine.for` are not
    read."""
    if loop.name != "scf.for":
        return None
    first, end, step = (constant_of(bound) for bound in list(loop.operands)[:3])
    return None if first is None or end is None or step is None or step < 1 else max(0, -((first - end) // step))


def known(bound: Bound) -> Bound:
    """The number of an `arith.constant`, else the bound itself."""
    if isinstance(bound, int):
        return bound
    number = constant_of(bound)
    return bound if number is None else number


def value_of(index: Bound | Linear) -> ir.Value:
    """The index as an SSA value: a constant, the value itself, or one `affine.apply`."""
    bound = bound_of(index) if isinstance(index, Linear) else index
    return constant(bound) if isinstance(bound, int) else bound


def bound_of(form: Linear) -> Bound:
    """A form as a number, or as an SSA value."""
    if form.is_constant:
        return form.constant
    alone = value_alone(form)
    return _apply(*_expression(form)) if alone is None else alone


def value_alone(form: Linear) -> ir.Value | None:
    """The value, if the form is a single value with coefficient 1 and constant 0."""
    terms = terms_of(form)
    return terms[0][0] if form.constant == 0 and len(form.terms) == len(terms) == 1 and terms[0][1] == 1 else None


def multiply(a: Bound, b: Bound) -> Bound:
    """`a · b`; a number if both are."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if isinstance(a, int):
        a, b = b, a
    if isinstance(b, int):
        return bound_of(index_of(a) * b)
    return arith.MulIOp(value_of(a), b).result


def subtract(a: Bound, b: Bound) -> Bound:
    """`a − b`; a number if both are."""
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    return bound_of(index_of(a) - index_of(b))


def ceildiv(a: Bound, b: Bound) -> Bound:
    """`a / b` rounded up; a number if both are."""
    if isinstance(b, int) and isinstance(a, int):
        return -(-a // b)
    if b == 1:
        return a
    if isinstance(b, int):
        return _apply(ir.AffineExpr.get_ceil_div(ir.AffineExpr.get_dim(0), b), [value_of(a)])
    return arith.CeilDivSIOp(value_of(a), b).result


def minimum(a: Linear, b: Bound) -> ir.Value:
    """`min(a, b)` as an `affine.min`."""
    expression, operands = _expression(a)
    if isinstance(b, int):
        other = ir.AffineExpr.get_constant(b)
    else:
        other = ir.AffineExpr.get_dim(len(operands))
        operands.append(b)
    return affine.AffineMinOp(ir.AffineMap.get(len(operands), 0, [expression, other]), operands).result


def less(a: Linear, b: Bound) -> ir.Value:
    """Emits `a < b`."""
    return arith.CmpIOp(arith.CmpIPredicate.slt, value_of(a), value_of(b)).result


def is_zero(a: Linear) -> ir.Value:
    """Emits `a == 0`."""
    return arith.CmpIOp(arith.CmpIPredicate.eq, value_of(a), constant(0)).result


def conjunction(conditions: Sequence[ir.Value]) -> ir.Value:
    """Emits the conjunction of at least one condition."""
    return reduce(lambda one, other: arith.AndIOp(one, other).result, conditions)


def delinearise(index: Linear, extents: Sequence[Bound]) -> list[Linear]:
    """The row-major multi-index of a linear one: the last dimension is fastest."""
    found: list[Linear] = []
    for axis in reversed(range(1, len(extents))):
        extent = extents[axis]
        if all(outer == 1 for outer in extents[:axis]):  # no carry
            index, inner = Linear.of(), index
        elif isinstance(extent, int):
            index, inner = divide(index, max(extent, 1))
        else:
            linear = value_of(index)
            made = arith.DivSIOp(linear, extent), arith.RemSIOp(linear, extent)
            index, inner = (index_of(op.result) for op in made)
        found.append(inner)
    return [index, *reversed(found)] if extents else []


def inside(index: Linear, bound: Bound) -> list[ir.Value]:
    """The fewest conditions that together imply `index < bound`; none if it is known.

    A bound `min(16, 100 - y)` of an index below 16 becomes `index + y < 100`: the comparison of the
    masked loads of the same tile, so that one serves both; and a bound `n ceildiv 16` becomes
    `index * 16 < n`.
    """
    if isinstance(bound, int):
        return [] if _is_below(index, bound) else [less(index, bound)]
    made = made_by(bound, "affine.min", "affine.apply")
    if made is None:
        return [less(index, bound)]
    mapping = ir.AffineMapAttr(made.attributes["map"]).value
    whole = mapping.results[0]
    if len(mapping.results) == 1 and isinstance(whole, ir.AffineCeilDivExpr):
        divided, size = whole.lhs, whole.rhs
        if isinstance(divided, ir.AffineDimExpr) and isinstance(size, ir.AffineConstantExpr):
            return inside(index * size.value, made.operands[divided.position])
    conditions: list[ir.Value] = []
    for limit in results_of(mapping, [index_of(operand) for operand in made.operands], Linear.of, _operate):
        if limit is None:
            return [less(index, bound)]
        if limit.is_constant:
            conditions += inside(index, limit.constant)
            continue
        sizes = [size for size, factor in terms_of(limit) if factor == 1]
        # varying terms on the left; a number, or a size known only at run time, on the right
        if limit.constant or len(sizes) != 1:
            conditions.append(less(index - limit + limit.constant, limit.constant))
        else:
            conditions.append(less(index - limit + index_of(sizes[0]), sizes[0]))
    return conditions
