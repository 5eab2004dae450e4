"""What is known of an integer: the interval it lies in and a number that divides it.

Intervals decide the width of index arithmetic, the cheap forms of division, and guards that always hold; divisors prove
the alignment of vector accesses. Everything here is exact: Python integers do not overflow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Range:
    """All integers in `[low, high]` that `multiple` divides. `multiple` 0 means zero itself."""

    low: int
    high: int
    multiple: int = 1

    @classmethod
    def constant(cls, value: int) -> Range:
        return cls(value, value, abs(value))

    @classmethod
    def signed(cls, bits: int) -> Range:
        return cls(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)

    @property
    def value(self) -> int | None:
        """The only integer of the range, if it has only one."""
        return self.low if self.low == self.high else None

    @property
    def non_negative(self) -> bool:
        return self.low >= 0

    def fits(self, bits: int) -> bool:
        """Does a signed integer of so many bits hold each value?"""
        return -(1 << (bits - 1)) <= self.low and self.high < 1 << (bits - 1)

    def clamp(self, low: int, high: int) -> Range:
        """The range, cut to `[low, high]`; that interval itself where nothing is left."""
        if self.high < low or self.low > high:
            return Range(low, high)
        return Range(max(self.low, low), min(self.high, high), self.multiple)

    def join(self, other: Range) -> Range:
        return Range(min(self.low, other.low), max(self.high, other.high), math.gcd(self.multiple, other.multiple))

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.high + other.high, math.gcd(self.multiple, other.multiple))

    def __neg__(self) -> Range:
        return Range(-self.high, -self.low, self.multiple)

    def __sub__(self, other: Range) -> Range:
        return self + -other

    def __mul__(self, other: Range) -> Range:
        corners = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Range(min(corners), max(corners), self.multiple * other.multiple)

    def floordiv(self, other: Range) -> Range:
        if other.low <= 0:
            return Range(-max(abs(self.low), abs(self.high)), max(abs(self.low), abs(self.high)))
        corners = [a // b for a in (self.low, self.high) for b in (other.low, other.high)]
        exact = other.value is not None and self.multiple % other.low == 0
        return Range(min(corners), max(corners), self.multiple // other.low if exact else 1)

    def ceildiv(self, other: Range) -> Range:
        return -((-self).floordiv(other))

    def truncdiv(self, other: Range) -> Range:
        if self.non_negative and other.low > 0:
            return self.floordiv(other)
        bound = max(abs(self.low), abs(self.high))
        return Range(-bound, bound)

    def modulo(self, other: Range) -> Range:
        """The remainder of floor division by a positive number."""
        if other.low <= 0:
            bound = max(abs(other.low), abs(other.high))
            return Range(-bound, bound)
        if self.non_negative and self.high < other.low:
            return self
        return Range(0, min(other.high - 1, self.high) if self.non_negative else other.high - 1,
                     math.gcd(self.multiple, other.multiple))  # fmt: skip

    def remainder(self, other: Range) -> Range:
        """C's remainder: it has the sign of the dividend."""
        if self.non_negative and other.low > 0:
            return self.modulo(other)
        bound = max(abs(other.low), abs(other.high)) - 1
        return Range(-bound if self.low < 0 else 0, bound if self.high > 0 else 0)

    def minimum(self, other: Range) -> Range:
        return Range(min(self.low, other.low), min(self.high, other.high), math.gcd(self.multiple, other.multiple))

    def maximum(self, other: Range) -> Range:
        return Range(max(self.low, other.low), max(self.high, other.high), math.gcd(self.multiple, other.multiple))
