"""Layouts: coordinates of an element, as sums of digits of other numbers.

    row    = lane div 4 + 8 · (register mod 2)                  ("row", 1, "lane", 4, 8), …
    column = element + 2 · (lane mod 4) + 8 · (register div 2)  ("column", 1, "element", 1, 2), …

A coordinate is the sum of its digits, `stride · (number div divisor mod count)`. Digits are
symmetric in coordinates and numbers. If neither the digits of any coordinate nor those of any
number overlap, the layout is a bijection, and its inverse exchanges coordinates and numbers.
Fragments of tensor cores (the element that a lane holds in a register) and panels of shared memory
(the address of a byte of a row) are layouts.

Source: `TiledLayout` of Mosaic GPU; Zhou et al., "Linear Layouts: Robust Code Generation of
Efficient Tensor Computation Using F2" (the layouts here have no exclusive or).
"""

from __future__ import annotations

from math import prod
from typing import Any

from ...dsl.records import record
from ..ir.mlir import ir


@record(compared=True)
class Digit:
    """The summand `stride · (number div divisor mod count)` of a coordinate."""

    axis: str
    stride: int
    of: str
    divisor: int
    count: int


@record(compared=True)
class Layout:
    """Coordinates as sums of digits of numbers."""

    digits: tuple[Digit, ...]

    @classmethod
    def of(cls, *digits: tuple[str, int, str, int, int]) -> Layout:
        """The layout of digits given as (axis, stride, number, divisor, count)."""
        return cls(tuple(Digit(*digit) for digit in digits))

    def at(self, axis: str, **numbers: Any) -> Any:
        """The value of a coordinate for given numbers, or arrays of numbers; missing numbers are
        0."""
        mine = (d for d in self.digits if d.axis == axis and d.of in numbers)
        return sum(d.stride * (numbers[d.of] // d.divisor % d.count) for d in mine)

    def table(self, *of: str) -> dict[str, Any]:
        """The values of each coordinate for all values of the numbers, as an array with an axis for
        each number."""
        import numpy as np

        numbers = dict(zip(of, np.indices([self.count(name) for name in of]), strict=True))
        return {axis: self.at(axis, **numbers) for axis in {d.axis for d in self.digits}}

    def count(self, of: str) -> int:
        """How many values a number takes."""
        return prod(d.count for d in self.digits if d.of == of)

    def restricted(self, axis: str | None = None, of: str | None = None) -> Layout:
        """The layout with only the digits of the coordinate `axis` and of the number `of`; None
        means all."""
        return Layout(tuple(d for d in self.digits if axis in (None, d.axis) and of in (None, d.of)))

    @property
    def inverse(self) -> Layout:
        """The numbers as functions of the coordinates. The layout must be a bijection."""
        return Layout(tuple(Digit(d.of, d.divisor, d.axis, d.stride, d.count) for d in self.digits))

    @property
    def normal(self) -> Layout:
        """The layout in normal form: digits are sorted, adjacent ones merged, and those with a
        single value dropped. Layouts are equal if and only if their normal forms are."""
        out: list[Digit] = []
        for d in sorted((d for d in self.digits if d.count > 1), key=lambda d: (d.axis, d.of, d.stride, d.divisor)):
            last = out[-1] if out else Digit("", 0, "", 0, 0)
            following = last.axis, last.of, last.stride * last.count, last.divisor * last.count
            if following == (d.axis, d.of, d.stride, d.divisor):
                out[-1] = Digit(d.axis, last.stride, d.of, last.divisor, last.count * d.count)
            else:
                out.append(d)
        return Layout(tuple(out))

    def then(self, outer: Layout) -> Layout:
        """The composition: the coordinates of `outer`, where the coordinates of this layout are its
        numbers.

        Raises:
            ValueError: a digit of `outer` begins or ends within a digit of this layout.
        """
        out: list[Digit] = []
        for far in outer.digits:
            low, high = far.divisor, far.divisor * far.count
            for near in self.restricted(axis=far.of).digits:
                first, last = max(low, near.stride), min(high, near.stride * near.count)
                if first >= last:
                    continue
                if first % low or first % near.stride or last % first:
                    raise ValueError(f"{near} and {far} overlap in part")
                stride, divisor = far.stride * (first // low), near.divisor * (first // near.stride)
                out.append(Digit(far.axis, stride, near.of, divisor, last // first))
        return Layout(tuple(out))

    def form(self, axis: str, of: str, size: int) -> ir.AffineMap:
        """A coordinate as an affine map of a single number, which is below `size`."""
        number, total = ir.AffineExpr.get_dim(0), ir.AffineExpr.get_constant(0)
        for d in reversed(self.restricted(axis, of).normal.digits):
            low = number if d.divisor * d.count == size else ir.AffineExpr.get_mod(number, d.divisor * d.count)
            total = total + ir.AffineExpr.get_floor_div(low, d.divisor) * d.stride
        return ir.AffineMap.get(1, 0, [total])
