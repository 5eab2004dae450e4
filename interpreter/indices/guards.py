"""Guards against a bound, as few comparisons as are needed."""

from __future__ import annotations

from ..ir.mlir import ir, producer
from .arithmetic import Bound, Sum, less


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
    operands = [Sum.of(operand) for operand in minimum.operands]
    conditions: list[ir.Value] = []
    for result in mapping.results:
        limit = Sum.of_expression(result, mapping.n_dims, operands)
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
