"""Index arithmetic that folds what is known: sums of hardware ids and loop variables, with the range each of them has.

Everything is emitted at the ambient insertion point and location.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import gcd
from typing import TypeAlias

from ...dsl.records import record
from ..ir.affine_maps import Operator, results_of
from ..ir.mlir import affine, arith, constant_of, ir, made_by

Bound: TypeAlias = "int | ir.Value"
"""A trip count, a count of processors, a loop bound: a number where it is known, an index value where it is not."""


@record
class Term:
    """`coefficient * value`, where 0 <= value < extent (None: not known)."""

    value: ir.Value
    coefficient: int
    extent: int | None


@record
class Sum:
    """`constant + Σ terms`: an index whose range is known as far as its terms' ranges are."""

    constant: int = 0
    terms: tuple[Term, ...] = ()

    @classmethod
    def of(cls, bound: Bound, extent: int | None = None) -> Sum:
        if not isinstance(bound, int):
            bound = known(bound)
        return cls(bound) if isinstance(bound, int) else cls(0, (Term(bound, 1, extent),))

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.constant + other.constant, self.terms + other.terms)

    def times(self, factor: int) -> Sum:
        if factor == 0:
            return Sum()
        return Sum(self.constant * factor, tuple(Term(t.value, t.coefficient * factor, t.extent) for t in self.terms))

    @property
    def maximum(self) -> int | None:
        """The largest value it takes, or None where a term is unbounded (or may make it negative)."""
        total = self.constant
        for term in self.terms:
            if term.extent is None or term.coefficient < 0:
                return None
            total += term.coefficient * (term.extent - 1)
        return total if self.constant >= 0 else None

    def divide(self, divisor: int) -> tuple[Sum, Sum]:
        """Quotient and remainder by a positive number, for an index that is not negative.

        Terms that the divisor divides go to the quotient; where the rest is known to stay below the divisor it is the
        remainder, and no division is emitted at all (thread ids of a 16×16 block over rows of 16). Where what is not counted by
        loops stays below a factor of the divisor, only the counters are divided: `i * 128 + t` by 256 is `i / 2`, and
        `i % 2 * 128 + t`, where t < 128, numbers once the loop is unrolled.
        """
        if divisor == 1:
            return self, Sum()
        quotient, rest = self._split(divisor)
        if rest.maximum is not None and rest.maximum < divisor:
            return quotient, rest
        for factor in sorted({gcd(t.coefficient, divisor) for t in rest.terms} - {1}, reverse=True):
            above, below = rest._split(factor)
            counted = all(isinstance(t.value.owner, ir.Block) for t in above.terms)
            if counted and below.maximum is not None and below.maximum < factor:
                carried, digit = above.divide(divisor // factor)
                return quotient + carried, digit.times(factor) + below
        operands = [t.value for t in rest.terms]
        expression = rest._expression()
        extent = None if rest.maximum is None else rest.maximum // divisor + 1
        divided = _apply(ir.AffineExpr.get_floor_div(expression, divisor), operands)
        remainder = _apply(ir.AffineExpr.get_mod(expression, divisor), operands)
        return quotient + Sum.of(divided, extent), Sum.of(remainder, divisor)

    def _split(self, factor: int) -> tuple[Sum, Sum]:
        """Terms that the factor divides, divided by it; and the others."""
        whole = tuple(
            Term(t.value, t.coefficient // factor, t.extent) for t in self.terms if t.coefficient % factor == 0
        )
        rest = tuple(t for t in self.terms if t.coefficient % factor)
        return Sum(self.constant // factor, whole), Sum(self.constant % factor, rest)

    def emit(self) -> ir.Value:
        """One value: a constant, the term itself, or one `affine.apply`."""
        if not self.terms:
            return constant(self.constant)
        if len(self.terms) == 1 and self.constant == 0 and self.terms[0].coefficient == 1:
            return self.terms[0].value
        return _apply(self._expression(), [t.value for t in self.terms])

    def _expression(self) -> ir.AffineExpr:
        total = ir.AffineExpr.get_constant(self.constant)
        for position, term in enumerate(self.terms):
            total = total + ir.AffineExpr.get_dim(position) * term.coefficient
        return total


def sum_of(index: ir.Value) -> Sum:
    """The index as a sum of what no `affine.apply` makes, or one that divides; each value once."""
    made = made_by(index, "affine.apply")
    whole = Sum.of(index)
    if made is not None:
        mapping = ir.AffineMapAttr(made.attributes["map"]).value
        whole = results_of(mapping, [sum_of(operand) for operand in made.operands], Sum, _operate)[0] or whole
    together: dict[ir.Value, int] = {}
    for term in whole.terms:
        together[term.value] = together.get(term.value, 0) + term.coefficient
    return Sum(whole.constant, tuple(Term(v, n, None) for v, n in together.items() if n))


def _operate(operator: Operator, a: Sum | None, b: Sum | None) -> Sum | None:
    """None where a division makes it no sum."""
    if a is None or b is None or (b.terms and operator == "mul") or operator not in ("add", "mul"):
        return None
    return a + b if operator == "add" else a.times(b.constant)


def _apply(expression: ir.AffineExpr, operands: Sequence[ir.Value]) -> ir.Value:
    return affine.AffineApplyOp(ir.AffineMap.get(len(operands), 0, [expression]), list(operands)).result


def apply_map(mapping: ir.AffineMap, operands: Sequence[ir.Value]) -> list[ir.Value]:
    """The values of a map's results; a dimension or a number as it is."""
    return [_result(mapping, e, operands) for e in mapping.results]


def _result(mapping: ir.AffineMap, e: ir.AffineExpr, operands: Sequence[ir.Value]) -> ir.Value:
    if isinstance(e, ir.AffineConstantExpr):
        return constant(e.value)
    if isinstance(e, (ir.AffineDimExpr, ir.AffineSymbolExpr)):
        return operands[e.position + (0 if isinstance(e, ir.AffineDimExpr) else mapping.n_dims)]
    return affine.AffineApplyOp(ir.AffineMap.get(mapping.n_dims, mapping.n_symbols, [e]), list(operands)).result


def constant(number: int) -> ir.Value:
    """An `arith.constant` of type index."""
    return arith.ConstantOp(ir.IndexType.get(), number).result


def trip_count(loop: ir.Operation) -> int | None:
    """How often a `scf.for` runs, where its bounds are numbers. The bounds of an `affine.for` are left alone."""
    if loop.name != "scf.for":
        return None
    first, end, step = (constant_of(bound) for bound in list(loop.operands)[:3])
    return None if first is None or end is None or step is None or step < 1 else max(0, -((first - end) // step))


def known(bound: Bound) -> Bound:
    """The number behind an `arith.constant`, else the bound itself."""
    if isinstance(bound, int):
        return bound
    number = constant_of(bound)
    return bound if number is None else number


def value(bound: Bound) -> ir.Value:
    """The bound as an SSA value."""
    return constant(bound) if isinstance(bound, int) else bound


def multiply(a: Bound, b: Bound) -> Bound:
    """`a · b`, a number where both are."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if isinstance(a, int):
        a, b = b, a
    if isinstance(b, int):
        return Sum.of(a).times(b).emit()
    return arith.MulIOp(value(a), b).result


def subtract(a: Bound, b: Bound) -> Bound:
    """`a − b`, a number where both are."""
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    return a if b == 0 else (Sum.of(a) + Sum.of(b).times(-1)).emit()


def ceildiv(a: Bound, b: Bound) -> Bound:
    """`a / b` rounded up, a number where both are."""
    if isinstance(b, int) and isinstance(a, int):
        return -(-a // b)
    if b == 1:
        return a
    if isinstance(b, int):
        return _apply(ir.AffineExpr.get_ceil_div(ir.AffineExpr.get_dim(0), b), [value(a)])
    return arith.CeilDivSIOp(value(a), b).result


def minimum(a: Sum, b: Bound) -> ir.Value:
    """`min(a, b)` as an `affine.min`."""
    operands = [t.value for t in a.terms]
    if isinstance(b, int):
        other = ir.AffineExpr.get_constant(b)
    else:
        other = ir.AffineExpr.get_dim(len(operands))
        operands.append(b)
    return affine.AffineMinOp(ir.AffineMap.get(len(operands), 0, [a._expression(), other]), operands).result


def less(a: Sum, b: Bound) -> ir.Value:
    """Emit `a < b`."""
    return arith.CmpIOp(arith.CmpIPredicate.slt, a.emit(), value(b)).result


def is_zero(a: Sum) -> ir.Value:
    """Emit `a == 0`."""
    return arith.CmpIOp(arith.CmpIPredicate.eq, a.emit(), constant(0)).result


def conjunction(conditions: Sequence[ir.Value]) -> ir.Value:
    """Emit the conjunction of at least one condition."""
    return reduce(lambda one, other: arith.AndIOp(one, other).result, conditions)


def delinearise(index: Sum, extents: Sequence[Bound]) -> list[Sum]:
    """The row-major multi-index behind a linear one: the last dimension runs fastest."""
    found: list[Sum] = []
    for axis in reversed(range(1, len(extents))):
        extent = extents[axis]
        if all(outer == 1 for outer in extents[:axis]):  # nothing carries
            index, inner = Sum(), index
        elif isinstance(extent, int):
            index, inner = index.divide(max(extent, 1))
        else:
            linear = index.emit()
            index, inner = Sum.of(arith.DivSIOp(linear, extent).result), Sum.of(arith.RemSIOp(linear, extent).result)
        found.append(inner)
    return [index, *reversed(found)] if extents else []


def inside(index: Sum, bound: Bound) -> list[ir.Value]:
    """Conditions that together say `index < bound`, as few as are needed; none where it is known.

    A bound `min(16, 100 - y)` of an index below 16 becomes `index + y < 100`: the comparison that the masked loads of the
    same tile make, too, so that one serves both; and a bound `n ceildiv 16` becomes `index * 16 < n`.
    """
    if isinstance(bound, int):
        known = index.maximum is not None and index.maximum < bound
        return [] if known else [less(index, bound)]
    made = made_by(bound, "affine.min", "affine.apply")
    if made is None:
        return [less(index, bound)]
    mapping = ir.AffineMapAttr(made.attributes["map"]).value
    whole = mapping.results[0]
    if len(mapping.results) == 1 and isinstance(whole, ir.AffineCeilDivExpr):
        divided, size = whole.lhs, whole.rhs
        if isinstance(divided, ir.AffineDimExpr) and isinstance(size, ir.AffineConstantExpr):
            return inside(index.times(size.value), made.operands[divided.position])
    operands = [Sum.of(operand) for operand in made.operands]
    conditions: list[ir.Value] = []
    for limit in results_of(mapping, operands, Sum, _operate):
        if limit is None:
            return [less(index, bound)]
        if not limit.terms:
            conditions += inside(index, limit.constant)
            continue
        sizes = [term.value for term in limit.terms if term.coefficient == 1]
        # what varies on the left, a number, or a size that is known only at run time, on the right
        if limit.constant or len(sizes) != 1:
            conditions.append(less(index + Sum(0, limit.terms).times(-1), limit.constant))
        else:
            rest = tuple(term for term in limit.terms if term.coefficient != 1)
            conditions.append(less(index + Sum(0, rest).times(-1), sizes[0]))
    return conditions
