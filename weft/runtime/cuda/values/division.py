"""Division in C++: the plain operator for nonnegative operands; a product with a reciprocal for
sizes that the host knows."""

from __future__ import annotations

from dataclasses import replace

from ...plan.plan import Operator
from ...plan.resolve import fold
from .expression import Expr, binary, call, cast, name
from .integers import INT, LONG, add, bounds, ends, literal, same_width, settle, to_signed, to_unsigned, unsigned_result
from .sizes import HostNumber, most_quotient
from .types import INDEX, Range, ScalarType


def divide_signed(a: Expr, b: Expr, kind: ScalarType) -> Expr:
    """`arith.divsi`: rounds towards zero."""
    a, b = to_signed(a, kind), to_signed(b, kind)
    if b.constant == 1:
        return a
    return settle(_divide("/", a, b, bounds(a, kind).truncdiv(bounds(b, kind).divisor).clamp(*ends(kind))), kind)


def remainder_signed(a: Expr, b: Expr, kind: ScalarType) -> Expr:
    """`arith.remsi`: has the dividend's sign."""
    a, b = to_signed(a, kind), to_signed(b, kind)
    return _divide("%", a, b, bounds(a, kind).remainder(bounds(b, kind).divisor))


def unsigned_operation(operator: str, a: Expr, b: Expr, kind: ScalarType) -> Expr:
    """Unsigned division and remainder; signed if both operands are known to be nonnegative."""
    ra, rb = bounds(a, kind), bounds(b, kind)
    if ra.non_negative and rb.non_negative:
        return divide_signed(a, b, kind) if operator == "/" else remainder_signed(a, b, kind)
    type, known = unsigned_result(kind)
    return settle(binary(operator, to_unsigned(a, kind), to_unsigned(b, kind), type, known), kind)


def floor_divide(a: Expr, b: Expr, kind: ScalarType = INDEX) -> Expr:
    """Division that rounds down; plain `/` for nonnegative operands."""
    a, b = to_signed(a, kind), to_signed(b, kind)
    ra, rb = bounds(a, kind), bounds(b, kind).divisor
    if a.constant is not None and b.constant:
        return literal(a.constant // b.constant)
    if ra.non_negative and rb.low > 0:
        return literal(0) if ra.high < rb.low else divide_signed(a, b, kind)
    return _helper("floordiv", a, b, ra.floordiv(rb).clamp(*ends(kind)), kind)


def ceil_divide(a: Expr, b: Expr, kind: ScalarType = INDEX) -> Expr:
    """Division that rounds up."""
    a, b = to_signed(a, kind), to_signed(b, kind)
    ra, rb = bounds(a, kind), bounds(b, kind)
    if a.constant is not None and b.constant:
        return literal(-(-a.constant // b.constant))
    positive = b.constant if b.constant is not None and b.constant > 0 else None
    if kind.index and positive is not None and ra.non_negative and ra.high + positive < 1 << 31:
        return _divide("/", add(a, literal(positive - 1)), b, ra.ceildiv(rb))
    return _helper("ceildiv", a, b, ra.ceildiv(rb).clamp(*ends(kind)), kind)


def modulo(a: Expr, b: Expr) -> Expr:
    """Affine `mod`: never negative; plain `%` for a nonnegative dividend."""
    ra, rb = bounds(a, INDEX), bounds(b, INDEX).divisor
    if a.constant is not None and b.constant:
        return literal(a.constant % b.constant)
    if ra.non_negative and rb.low > 0:
        return a if ra.high < rb.low else _divide("%", a, b, ra.modulo(rb))
    return _helper("floormod", a, b, ra.modulo(rb), INDEX)


def _helper(function: str, a: Expr, b: Expr, known: Range, kind: ScalarType) -> Expr:
    a, b = same_width(a, b)
    return _of_size(_ON_HOST[function], settle(call(function, a.type, a, b, range=known), kind), a, b)


_ON_HOST: dict[str, Operator] = {"floordiv": "floordiv", "ceildiv": "ceildiv"}
_ON_HOST |= {"floormod": "mod", "/": "div", "%": "rem"}


def _of_size(operator: Operator, made: Expr, a: Expr, b: Expr) -> Expr:
    """Adds the host's knowledge about the quotient or remainder of a size and a constant."""
    if a.host is None or not a.host.exact or not b.constant:
        return made
    return replace(made, host=HostNumber(fold(operator, a.host.number, b.constant), a.host.facts))


def _divide(operator: str, a: Expr, b: Expr, known: Range) -> Expr:
    """`/` or `%`; a multiplication if the divisor is a size that the host knows and can pass the
    reciprocal of."""
    if operator == "/" and known.non_negative and a.host is not None and b.host is not None and b.host.exact:
        most = most_quotient(a.host.number, b.host.number)
        known = known if most is None else known.clamp(0, most)
    made = _by_reciprocal(operator, a, b, known) or _plain_division(operator, a, b, known)
    bound = a.host if operator == "/" else b.host or a.host
    if bound is not None and a.range is not None and a.range.non_negative:
        made = replace(made, host=HostNumber(bound.number, bound.facts, exact=False))
    return _of_size(_ON_HOST[operator], made, a, b)


def _by_reciprocal(operator: str, a: Expr, b: Expr, known: Range) -> Expr | None:
    if (
        b.host is None
        or not b.host.exact
        or b.constant is not None
        or a.range is None
        or "unsigned long long" in (a.type, b.type)
    ):
        return None
    reciprocal = b.host.facts.reciprocal(a.range, b.host.number, f"{b.text}_reciprocal" if b.atom else "reciprocal")
    if reciprocal is None:
        return None
    type = INT if a.range.fits(32) else LONG
    by = name(reciprocal, LONG)
    if operator == "/":
        return call("quotient", type, cast(type, a), by, range=known)
    return call("modulo", type, cast(type, a), cast(type, b), by, range=known)


def _plain_division(operator: str, a: Expr, b: Expr, known: Range) -> Expr:
    if "unsigned long long" in (a.type, b.type):
        return binary(operator, a, b, "unsigned long long", known)
    type = LONG if LONG in (a.type, b.type) else "unsigned" if "unsigned" in (a.type, b.type) else INT
    return binary(operator, a, b, type, known)
