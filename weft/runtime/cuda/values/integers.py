"""Integer arithmetic in C++: 32 bits where ranges permit, defined overflow where MLIR wraps, cheap
division where possible.

MLIR's integers are signless and wrap. Signed overflow is undefined in C++, so where the range does
not exclude it, the operation is done in the unsigned type. `index` is a 64-bit integer that counts
elements of memory: its arithmetic is assumed not to overflow, and is done in `int` if the range
fits.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...plan.dtypes import narrow
from ...plan.plan import Operator, Size
from ...plan.resolve import fold
from .expression import PRODUCT, Expr, binary, call, cast
from .sizes import UNKNOWN, HostNumber
from .types import INDEX, Range, ScalarType

INT, LONG = "int", "long long"


def literal(value: int) -> Expr:
    """An integer literal: `int` if it fits."""
    known = Range.constant(value)
    if known.fits(32):
        text = "(-2147483647 - 1)" if value == -(1 << 31) else str(value)
        return Expr(text, INT, range=known, atom=True, precedence=11 if value < 0 else 12)
    text = "(-9223372036854775807LL - 1)" if value == -(1 << 63) else f"{value}LL"
    return Expr(text, LONG, range=known, atom=True, precedence=11 if value < 0 else 12)


def bounds(e: Expr, kind: ScalarType) -> Range:
    """The expression's range, or that of its type."""
    return e.range if e.range is not None else kind.range


def to_signed(e: Expr, kind: ScalarType) -> Expr:
    """The expression with its value in MLIR's signed operations."""
    if e.type in ("unsigned", "unsigned long long") and not (e.range and e.range.non_negative and e.range.fits(32)):
        return cast(INT if kind.bits <= 32 else LONG, e, e.range)
    return e


def to_unsigned(e: Expr, kind: ScalarType) -> Expr:
    """The expression with its value in MLIR's unsigned operations."""
    known = bounds(e, kind)
    if known.non_negative or e.type == kind.unsigned:
        return e
    return cast(kind.unsigned, e, Range(0, (1 << kind.bits) - 1))


def settle(e: Expr, kind: ScalarType) -> Expr:
    """Truncates the result of an operation on a narrow type back to that type; wider types wrap
    through their C++ type."""
    known = bounds(e, kind)
    if kind.bits >= 32 or known.fits(kind.bits):
        return e
    return cast(kind.cxx, e, kind.range)


def wrapping(operator: str, a: Expr, b: Expr, kind: ScalarType, exact: Range) -> Expr:
    """`a operator b` for `+`, `-`, `*`; `exact` is the range of the result before it wraps."""
    host = _on_host(operator, a, b) if kind.index else None
    if host is not None:
        exact = host.facts.limited(exact, host.number, known=host.exact)
    return replace(_wrapping(operator, a, b, kind, exact), host=host)


_HOST_OPERATORS: dict[str, Operator] = {"+": "add", "-": "sub", "*": "mul", "min": "min", "max": "max"}


def _on_host(operator: str, a: Expr, b: Expr) -> HostNumber | None:
    """The value of `a operator b` on the host, or a bound of it."""
    known = a.host or b.host
    left, right = _most(a), _most(b)
    if known is None or left is None or right is None:
        return None if known is None or operator != "min" else replace(known, exact=False)
    exact = all(e.host.exact if e.host is not None else e.constant is not None for e in (a, b))
    rb = bounds(b, INDEX)
    if operator == "-" and not exact:
        return HostNumber(left, known.facts, exact=False) if a.host is not None and rb.non_negative else None
    if operator == "*" and not exact and not (bounds(a, INDEX).non_negative and rb.non_negative):
        return None
    return HostNumber(fold(_HOST_OPERATORS[operator], left, right), known.facts, exact)


def _most(e: Expr) -> Size | None:
    """An upper bound of the expression, from the host or from its range."""
    if e.host is not None:
        return e.host.number
    return None if e.range is None or e.range.high > UNKNOWN else e.range.high


def _wrapping(operator: str, a: Expr, b: Expr, kind: ScalarType, exact: Range) -> Expr:
    if kind.bits < 32:
        return settle(binary(operator, a, b, INT, exact), kind)
    if exact.fits(kind.bits) or kind.index:
        a, b = to_signed(a, kind), to_signed(b, kind)
        known = exact.clamp(*ends(kind))
        if known.fits(32) and a.type != LONG and b.type != LONG:
            return binary(operator, a, b, INT, known)
        if a.type != LONG and b.type != LONG:
            a = cast(LONG, a)
        return binary(operator, a, b, LONG, known)
    wide = kind.unsigned
    if wide not in (a.type, b.type):  # the other operand follows by the usual arithmetic conversions
        if kind.bits == 64 and a.type != LONG:
            a = cast(LONG, a)  # sign-extend first
        small = kind.bits == 32 and b.constant is not None and b.constant >= 0
        b = Expr(f"{b.constant}u", wide, range=b.range, atom=True) if small else cast(wide, b)
    return binary(operator, a, b, wide, kind.range)


def add(a: Expr, b: Expr, kind: ScalarType = INDEX, within: Range | None = None) -> Expr:
    """`a + b`, folded. `within`: a known range of the result."""
    if a.constant is not None and b.constant is not None and (a.constant + b.constant) in _span(kind):
        return literal(a.constant + b.constant)
    if a.constant == 0:
        return b
    if b.constant == 0:
        return a
    for one, other in ((a, b), (b, a)):
        if kind.index and (opposite := _opposite(other)) is not None:
            return subtract(one, opposite, kind)
    return wrapping("+", a, b, kind, _limited(bounds(a, kind) + bounds(b, kind), within))


def _limited(exact: Range, within: Range | None) -> Range:
    return exact if within is None else exact.clamp(within.low, within.high)


def _opposite(e: Expr) -> Expr | None:
    """The negated expression, if it has a negative factor: `3` of `-3`, `x * 3` of `x * -3`."""
    if e.constant is not None:
        return literal(-e.constant) if e.constant < 0 else None
    if e.range is None or e.split is None or e.split[1] != "*":
        return None
    left, _, factor = e.split
    if factor.constant is None or factor.constant >= 0 or not factor.is_literal:
        return None
    text = left.within(PRODUCT) + ("" if factor.constant == -1 else f" * {-factor.constant}")
    return replace(e, text=text, range=-e.range, split=None, host=None)


def subtract(a: Expr, b: Expr, kind: ScalarType = INDEX) -> Expr:
    """`a - b`, folded."""
    if a.constant is not None and b.constant is not None and (a.constant - b.constant) in _span(kind):
        return literal(a.constant - b.constant)
    if b.constant == 0:
        return a
    return wrapping("-", a, b, kind, bounds(a, kind) - bounds(b, kind))


def multiply(a: Expr, b: Expr, kind: ScalarType = INDEX, within: Range | None = None) -> Expr:
    """`a * b`, folded. `within`: a known range of the result."""
    if a.constant is not None and b.constant is not None and (a.constant * b.constant) in _span(kind):
        return literal(a.constant * b.constant)
    if a.constant == 1:
        return b
    if b.constant == 1:
        return a
    if kind.index and 0 in (a.constant, b.constant):
        return literal(0)
    return wrapping("*", a, b, kind, _limited(bounds(a, kind) * bounds(b, kind), within))


def _span(kind: ScalarType) -> range:
    return range(kind.range.low, kind.range.high + 1)


def ends(kind: ScalarType) -> tuple[int, int]:
    return kind.range.low, kind.range.high


def unsigned_result(kind: ScalarType) -> tuple[str, Range]:
    """The C++ type and the range of an operation on two unsigned numbers; narrow ones promote to
    `int`."""
    return (kind.unsigned, kind.range) if kind.bits >= 32 else (INT, Range(0, (1 << kind.bits) - 1))


def same_width(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Both operands as `long long` if either is one, else as `int` (narrower types promote)."""
    if LONG in (a.type, b.type):
        return cast(LONG, a), cast(LONG, b)
    return (a if a.type == INT else cast(INT, a)), (b if b.type == INT else cast(INT, b))


def extreme(function: str, a: Expr, b: Expr, kind: ScalarType = INDEX) -> Expr:
    """`min` or `max`, signed."""
    a, b = to_signed(a, kind), to_signed(b, kind)
    ra, rb = bounds(a, kind), bounds(b, kind)
    known = ra.minimum(rb) if function == "min" else ra.maximum(rb)
    if ra.high <= rb.low:
        return a if function == "min" else b
    if rb.high <= ra.low:
        return b if function == "min" else a
    host = _on_host(function, a, b)
    a, b = same_width(a, b)
    return replace(call(function, a.type, a, b, range=known), host=host, split=(a, function, b))


def decide(predicate: str, a: Range, b: Range) -> bool | None:
    """The result of a signed comparison if it is the same for all values of the two ranges; else
    None."""
    if predicate == "<":
        return True if a.high < b.low else False if a.low >= b.high else None
    if predicate == "<=":
        return True if a.high <= b.low else False if a.low > b.high else None
    if predicate in (">", ">="):
        return decide("<" if predicate == ">" else "<=", b, a)
    if a.high < b.low or b.high < a.low:
        return predicate == "!="
    if a.value is not None and a.value == b.value:
        return predicate == "=="
    return None


# ---- literals ------------------------------------------------------------------------------------


def truth(known: bool) -> Expr:
    """`true` or `false`."""
    return Expr("true" if known else "false", "bool", range=Range.constant(int(known)), atom=True)


def constant(value: float | int | bool, kind: ScalarType) -> Expr:
    """An exact literal of that type."""
    if kind.boolean:
        return truth(bool(value))
    if kind.integer:
        return literal(int(value))
    if kind.byte_float:
        return of_bits(literal(int(narrow(np.array(value), kind.name).view(np.uint8))), kind)
    if kind.small_float and np.isnan(value):  # a conversion would change the NaN
        return of_bits(literal(small_bits(float(value), kind)), kind)
    if kind.small_float:
        return call(kind.cxx, kind.cxx, float_literal(float(value), "f32"))
    return float_literal(float(value), kind.name)


def of_bits(bits: Expr, kind: ScalarType) -> Expr:
    """A float of 16 or 8 bits from an integer with its bits."""
    return call(f"{kind.cxx}_of_bits", kind.cxx, bits)


def small_bits(nan: float, kind: ScalarType) -> int:
    """The bits of a NaN in a narrow type, which keeps the upper bits of its payload."""
    bits = int(np.float32(nan).view(np.uint32))
    return bits >> 16 if kind.name == "bf16" else (bits >> 16 & 0x8000) | 0x7C00 | (bits >> 13 & 0x3FF)


def float_literal(value: float, name: str) -> Expr:
    """An `f32` or `f64` literal: the shortest digits that round-trip; bits for infinities and NaNs."""
    cxx, suffix, number = ("float", "f", np.float32(value)) if name == "f32" else ("double", "", np.float64(value))
    if np.isfinite(number):
        text = repr(float(str(number)))  # 100.0, not 1e+02
        return Expr(text + suffix, cxx, atom=True, precedence=11 if text.startswith("-") else 12)
    bits = int.from_bytes(number.tobytes(), "little")
    text = f"__uint_as_float(0x{bits:08x}u)" if name == "f32" else f"__longlong_as_double(0x{bits:016x}ll)"
    return Expr(text, cxx, atom=True)
