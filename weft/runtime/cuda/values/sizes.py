"""What the host knows of a kernel's integers before a launch: sizes of arguments, the grid, what follows from them.

It serves two ends. A text with indices of 32 bits is right where no number that it computes needs more: the host
compares. And a division by a size becomes a multiplication by its reciprocal, which the host passes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ....dsl.records import record
from ...plan.plan import Apply, Size
from ...plan.resolve import NARROW_DIVIDENDS, WIDE_DIVIDENDS
from .types import Range

GRID = "grid"
"""In place of a buffer: `DimOf(GRID, 0)` is how many blocks there are along x. An argument's is its number, as text."""

NARROW = Range.signed(32)
UNKNOWN = 1 << 24
"""Where a number may be larger, and the host knows nothing of it, no sum with it is asked for: none is small enough."""


@dataclass
class HostFacts:
    """What one text relies on, and what it asks the host for.

    Args:
        narrow: its indices have 32 bits.
        fresh: a name for a parameter.
        small: the numbers that 32 bits have to hold.
        reciprocals: the parameters behind the arguments', and what they are: reciprocals, and numbers of blocks.
    """

    narrow: bool
    fresh: Callable[[str], str]
    small: dict[Size, None] = field(default_factory=dict)
    reciprocals: dict[Size, str] = field(default_factory=dict)

    def limited(self, exact: Range, number: Size, *, known: bool = True) -> Range:
        """The range of a number that the host knows, or (not `known`) an upper bound of: small in a narrow text."""
        if not self.narrow or exact.fits(32) or (exact.low < NARROW.low and not known):
            return exact
        self.small[number] = None
        return exact.clamp(NARROW.low, NARROW.high)

    def reciprocal(self, dividends: Range, divisor: Size, name: str) -> str | None:
        """The parameter by which numbers of a range are divided by a size; None where they may be too large."""
        bits = next((n for n in (NARROW_DIVIDENDS, WIDE_DIVIDENDS) if dividends.high < 1 << n), None)
        if bits is None or not dividends.non_negative:
            return None
        return self.passed(Apply("reciprocal", divisor, bits), name)

    def passed(self, number: Size, name: str) -> str:
        """The parameter that is this number, which the host works out."""
        if number not in self.reciprocals:
            self.reciprocals[number] = self.fresh(name)
        return self.reciprocals[number]


@record
class HostNumber:
    """An integer that the host knows, or of which it knows only (not `exact`) that it is no larger."""

    number: Size
    facts: HostFacts
    exact: bool = True


def most_quotient(dividend: Size, divisor: Size) -> int | None:
    """The largest quotient of a number up to `dividend` by `divisor`, where both are multiples of one size: a tap is
    one of (C * 15 + 8) / (C * 3) <= 23 / 3, whatever C is, since none divides by 0. None where they are not.
    """
    (size, factor, more), (same, step, rest) = _linear(dividend), _linear(divisor)
    return (factor + max(more, 0)) // step if size == same and rest == 0 <= factor and step > 0 else None


def _linear(number: Size) -> tuple[Size, int, int]:
    """`x`, 15, 8 of `x * 15 + 8`."""
    match number:
        case Apply("add", inner, int(other)) | Apply("add", int(other), inner):
            size, factor, more = _linear(inner)
            return size, factor, more + other
        case Apply("mul", inner, int(other)) | Apply("mul", int(other), inner):
            size, factor, more = _linear(inner)
            return size, factor * other, more * other
    return number, 1, 0
