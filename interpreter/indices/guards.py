"""Guards against a bound, as few comparisons as are needed."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.mlir import affine, arith, ir, producer
from .arithmetic import Bound, Sum, constant, less


def inside(index: Sum, bound: Bound) -> list[ir.Value]:
    """Conditions that together say `index < bound`; none where it is known.

    A bound `min(16, 100 - y)` of an index below 16 becomes `index + y < 100`: the comparison that the masked loads of the
    same tile make, too, so that one serves both.
    """
    if isinstance(bound, int):
        known = index.maximum is not None and index.maximum < bound
        return [] if known else [less(index, bound)]
    minimum = producer(bound)
    if minimum is None or minimum.name not in ("affine.min", "affine.apply"):
        return [less(index, bound)]
    mapping = ir.AffineMapAttr(minimum.attributes["map"]).value
    conditions: list[ir.Value] = []
    for result in mapping.results:
        if isinstance(result, ir.AffineConstantExpr):
            conditions += inside(index, result.value)
            continue
        at_zero = _at_zero(result)
        if at_zero is None:
            return [less(index, bound)]
        limit = _limit(result, at_zero, mapping.n_dims)
        if limit is not None:
            rest = result - _operand(mapping, limit)
            conditions.append(_less_than(index, mapping, rest, 0, list(minimum.operands), minimum.operands[limit]))
        else:
            conditions.append(_less_than(index, mapping, result, at_zero, list(minimum.operands)))
    return conditions


def _at_zero(expression: ir.AffineExpr) -> int | None:
    """The constant part of an affine sum; None where a division makes it none."""
    if isinstance(expression, ir.AffineConstantExpr):
        return expression.value
    if isinstance(expression, (ir.AffineDimExpr, ir.AffineSymbolExpr)):
        return 0
    if not isinstance(expression, (ir.AffineAddExpr, ir.AffineMulExpr)):
        return None
    left, right = _at_zero(expression.lhs), _at_zero(expression.rhs)
    if left is None or right is None:
        return None
    return left + right if isinstance(expression, ir.AffineAddExpr) else left * right


def _limit(expression: ir.AffineExpr, at_zero: int, dims: int) -> int | None:
    """The operand n of a bound `n - …`: of a size that is known only at run time, less where the tile starts."""
    if at_zero:
        return None
    added = [e for e in _summands(expression) if isinstance(e, (ir.AffineDimExpr, ir.AffineSymbolExpr))]
    if len(added) != 1:
        return None
    one = added[0]
    return one.position if isinstance(one, ir.AffineDimExpr) else dims + one.position


def _summands(expression: ir.AffineExpr) -> list[ir.AffineExpr]:
    if isinstance(expression, ir.AffineAddExpr):
        return [*_summands(expression.lhs), *_summands(expression.rhs)]
    return [expression]


def _operand(mapping: ir.AffineMap, position: int) -> ir.AffineExpr:
    if position < mapping.n_dims:
        return ir.AffineExpr.get_dim(position)
    return ir.AffineExpr.get_symbol(position - mapping.n_dims)


def _less_than(
    index: Sum,
    mapping: ir.AffineMap,
    bound: ir.AffineExpr,
    at_zero: int,
    operands: Sequence[ir.Value],
    limit: ir.Value | None = None,
) -> ir.Value:
    """`index - (bound - at_zero) < at_zero` (or `< limit`): what varies on the left, a number (or a size) on the right."""
    terms = [term.value for term in index.terms]
    left = ir.AffineExpr.get_constant(index.constant + at_zero)
    for position, term in enumerate(index.terms):
        left = left + ir.AffineExpr.get_dim(position) * term.coefficient
    left = left + bound.shift_dims(mapping.n_dims, len(terms)) * -1
    total = ir.AffineMap.get(len(terms) + mapping.n_dims, mapping.n_symbols, [left])
    value = affine.AffineApplyOp(total, [*terms, *operands]).result
    right = constant(at_zero) if limit is None else limit
    return arith.CmpIOp(arith.CmpIPredicate.slt, value, right).result
