"""Integers of a kernel that the host can compute before a launch: sizes of arguments, the grid, and
expressions over them.

They serve two purposes. A text with 32-bit indices is correct if no number that it computes needs
more bits: the host checks that. And a division by a size becomes a multiplication by its
reciprocal, which the host passes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ....dsl.records import record
from ...plan.plan import Apply, Size
from ...plan.resolve import NARROW_DIVIDENDS, WIDE_DIVIDENDS
from .types import Range

GRID = "grid"
"""Takes the place of a buffer: `DimOf(GRID, 0)` is the number of blocks along x. An argument is its
number, as text."""

NARROW = Range.signed(32)
UNKNOWN = 1 << 24
"""Limit for numbers that the host does not know: with a larger one, the host is not asked for a
bound of a sum, since no size would pass the check."""


@dataclass
class HostFacts:
    """The conditions of one text on sizes, and the numbers that the host passes to it.

    Args:
        narrow: its indices have 32 bits.
        fresh: gives a name for a parameter.
        small: numbers that must fit in 32 bits.
        reciprocals: the parameters after the arguments', with their values: reciprocals, and
            numbers of blocks.
    """

    narrow: bool
    fresh: Callable[[str], str]
    small: dict[Size, None] = field(default_factory=dict)
    reciprocals: dict[Size, str] = field(default_factory=dict)

    def limited(self, exact: Range, number: Size, *, known: bool = True) -> Range:
        """The range of a number that the host computes; unless `known`, the host computes only an
        upper bound of it. In a narrow text the range is that of 32 bits, and the number is added to
        those that must be small."""
        if not self.narrow or exact.fits(32) or (exact.low < NARROW.low and not known):
            return exact
        self.small[number] = None
        return exact.clamp(NARROW.low, NARROW.high)

    def reciprocal(self, dividends: Range, divisor: Size, name: str) -> str | None:
        """The parameter for divisions of numbers of a range by a size; None if the range is too
        large or not nonnegative."""
        bits = next((n for n in (NARROW_DIVIDENDS, WIDE_DIVIDENDS) if dividends.high < 1 << n), None)
        if bits is None or not dividends.non_negative:
            return None
        return self.passed(Apply("reciprocal", divisor, bits), name)

    def passed(self, number: Size, name: str) -> str:
        """The parameter that passes this number, which the host computes."""
        if number not in self.reciprocals:
            self.reciprocals[number] = self.fresh(name)
        return self.reciprocals[number]


@record
class HostNumber:
    """An integer that the host computes; if not `exact`, an upper bound of the integer."""

    number: Size
    facts: HostFacts
    exact: bool = True


def most_quotient(dividend: Size, divisor: Size) -> int | None:
    """The largest quotient of a number up to `dividend` by `divisor`, if both are linear in the
    same size: a tap is at most (C * 15 + 8) / (C * 3) <= 23 / 3 for every C, since a division by 0
    is excluded. Else None."""
    (size, factor, more), (same, step, rest) = _linear(dividend), _linear(divisor)
    return (factor + max(more, 0)) // step if size == same and rest == 0 <= factor and step > 0 else None


def _linear(number: Size) -> tuple[Size, int, int]:
    """The size, the factor and the constant: `x`, 15, 8 of `x * 15 + 8`."""
    match number:
        case Apply("add", inner, int(other)) | Apply("add", int(other), inner):
            size, factor, more = _linear(inner)
            return size, factor, more + other
        case Apply("mul", inner, int(other)) | Apply("mul", int(other), inner):
            size, factor, more = _linear(inner)
            return size, factor * other, more * other
    return number, 1, 0
