"""MLIR's scalar types in C++, and facts about an integer: an interval and a divisor.

Intervals decide the width of index arithmetic, the cheap forms of division, and which guards always
hold; divisors prove the alignment of vector accesses. All computations are exact: Python integers
do not overflow.
"""

from __future__ import annotations

import math

from ....dsl.records import record
from ....interpreter.hardware.ampere.copies import is_token
from ....interpreter.hardware.hopper.warpgroups import accumulator, of_thread
from ....interpreter.ir.mlir import ir
from ...form.kernel_form import refuse, shape_of
from ...plan.dtypes import CXX, itemsize


@record
class Range:
    """All integers in `[low, high]` that are multiples of `multiple`. `multiple` 0 means zero
    itself."""

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
        """Whether a signed integer of `bits` bits can hold each value."""
        return -(1 << (bits - 1)) <= self.low and self.high < 1 << (bits - 1)

    def clamp(self, low: int, high: int) -> Range:
        """The intersection with `[low, high]`; that interval itself if the intersection is empty."""
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

    @property
    def divisor(self) -> Range:
        """The range of a divisor: 0 is excluded, since division by it is undefined."""
        return Range(max(self.multiple, 1), self.high, self.multiple) if self.low == 0 < self.high else self

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
        most = min(other.high - 1, self.high) if self.non_negative else other.high - 1
        return Range(0, most, math.gcd(self.multiple, other.multiple))

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


# ---- MLIR's scalar types as C++ ones ---------------------------------------------------------------------------------


@record
class ScalarType:
    """A scalar type: its name in MLIR, its C++ type in memory (signed, for an integer), and its
    size in bytes."""

    name: str
    cxx: str
    size: int

    @property
    def integer(self) -> bool:
        """Whether it is an integer wider than `i1`, or an `index`."""
        return not self.boolean and not self.floating

    @property
    def index(self) -> bool:
        """Whether it is `index`: 64 bits that count elements of memory."""
        return self.name == "index"

    @property
    def bits(self) -> int:
        return 8 * self.size

    @property
    def unsigned(self) -> str:
        return {8: "unsigned char", 16: "unsigned short", 32: "unsigned", 64: "unsigned long long"}[self.bits]

    @property
    def range(self) -> Range:
        """The range of an integer type."""
        return Range.signed(self.bits)

    @property
    def boolean(self) -> bool:
        return self.name == "i1"

    @property
    def floating(self) -> bool:
        return self.name in ("f16", "bf16", "f32", "f64") or self.byte_float

    @property
    def small_float(self) -> bool:
        """Whether it is a float that is stored in 16 bits and computed with in `float`."""
        return self.name in ("f16", "bf16")

    @property
    def byte_float(self) -> bool:
        """Whether it is a float of 8 bits, which is only moved and converted to `float`."""
        return self.name in ("f8E4M3FN", "f8E5M2")

    @property
    def full_range(self) -> Range | None:
        return self.range if self.integer else None

    def variable(self, known: Range | None) -> str:
        """The C++ type of a variable of this type."""
        return "int" if self.index and known is not None and known.fits(32) else self.cxx


SCALARS = {name: ScalarType(name, cxx, itemsize(name)) for name, cxx in CXX.items()}
INDEX, I32 = SCALARS["index"], SCALARS["i32"]
BARRIER = ScalarType("mbarrier", "unsigned long long", 8)
"""A memory barrier: no value has this type."""

_BUILT_IN = (("float", 2), ("float", 4), ("int", 2), ("int", 4), ("double", 2))
BUILT_IN_VECTORS = {(name, count): f"{name}{count}" for name, count in _BUILT_IN}
"""Built-in vector types of CUDA with the size of one access. Others use the text's own `vec<T, n>`."""


def scalar(type: ir.Type, op: ir.Operation | ir.OpView | None) -> ScalarType:
    """The scalar type of an MLIR type. Raises W0502, with `op`, for others."""
    found = SCALARS.get(str(type))
    if found is None:
        hint = f"write it with one of `{'`, `'.join(SCALARS)}`, or memrefs and vectors of them"
        raise refuse("W0502", f"type {type} has no CUDA C++ counterpart here", op, hint=hint)
    return found


def element(type: ir.Type, op: ir.Operation | ir.OpView | None) -> tuple[ScalarType, int | None]:
    """The element type of a scalar or vector type, and the number of elements (None for a scalar, 0
    for a token)."""
    if is_token(type):
        return INDEX, 0
    if (sums := accumulator(type)) is not None:
        return scalar(sums.element, op), math.prod(of_thread(sums))
    kind, shape = shape_of(type, op, "W0502")
    return scalar(kind, op), None if shape is None else math.prod(shape)
