"""The image of a convolution: which sum of loop dimensions each of its axes is indexed with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...ir.mlir import ir


@dataclass(frozen=True)
class Axis:
    """One subscript of the image: `Σ factor · d + offset`, e.g. `2·oh + kh - 1`.

    Args:
        factors: by loop dimension; a stride for an output dimension, a dilation for a filter dimension.
        offset: what is added; minus the padding in front of the axis.
        size: how many elements the axis has (without padding).
    """

    factors: Mapping[int, int]
    offset: int
    size: int

    def without(self, dimensions: Sequence[int]) -> Axis:
        """The axis without dimensions that are always 0."""
        return Axis({d: f for d, f in self.factors.items() if d not in dimensions}, self.offset, self.size)

    def reach(self, extents: Sequence[int]) -> tuple[int, int]:
        """The smallest and the largest subscript."""
        ends = [(extents[d] - 1) * f for d, f in self.factors.items()]
        return self.offset + sum(e for e in ends if e < 0), self.offset + sum(e for e in ends if e > 0)


def linear(expr: ir.AffineExpr) -> tuple[dict[int, int], int] | None:
    """An affine expression as factors by dimension and a constant; None if it is no such sum."""
    if isinstance(expr, ir.AffineDimExpr):
        return {expr.position: 1}, 0
    if isinstance(expr, ir.AffineConstantExpr):
        return {}, expr.value
    if not isinstance(expr, (ir.AffineAddExpr, ir.AffineMulExpr)):
        return None
    left, right = linear(expr.lhs), linear(expr.rhs)
    if left is None or right is None:
        return None
    if isinstance(expr, ir.AffineAddExpr):
        both = {d: left[0].get(d, 0) + right[0].get(d, 0) for d in {**left[0], **right[0]}}
        return both, left[1] + right[1]
    (factors, constant), (others, scale) = (left, right) if not right[0] else (right, left)
    if others:
        return None
    return {d: f * scale for d, f in factors.items()}, constant * scale
