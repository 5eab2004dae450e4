"""What each op means, from exact integers and NumPy alone, and what MLIR leaves open.

A meaning takes NumPy arrays, one per operand, and gives one per result. Nothing here is shared with the simulator.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numbers_of import BITS, DIGITS, LEAST, rounded, rounded_integers, signed, unsigned, wide, wrapped

Arrays = tuple[np.ndarray, ...]
Meaning = Callable[..., Arrays]

# ---- integers ---------------------------------------------------------------------------------------------------------


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


SIGNED: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b, "subi": lambda a, b: a - b, "muli": lambda a, b: a * b, "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b, "xori": lambda a, b: a ^ b, "divsi": truncated, "remsi": lambda a, b: a - b * truncated(a, b),
    "floordivsi": lambda a, b: a // b, "ceildivsi": lambda a, b: -(-a // b), "maxsi": max, "minsi": min,
}  # fmt: skip
UNSIGNED: dict[str, Callable[[int, int], int]] = {
    "divui": lambda a, b: a // b, "remui": lambda a, b: a % b, "ceildivui": lambda a, b: -(-a // b), "maxui": max, "minui": min,
    "shli": lambda a, b: a << b, "shrui": lambda a, b: a >> b,
}  # fmt: skip
COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip
EXTENDED = ("addui_extended", "mulsi_extended", "mului_extended")


def integer(name: str, kind: str) -> Meaning:
    if name == "shrsi":
        return lambda a, b: (wrapped([x >> y for x, y in zip(signed(a, kind), unsigned(b, kind), strict=True)], kind),)
    function, seen = (SIGNED[name], signed) if name in SIGNED else (UNSIGNED[name], unsigned)
    return lambda a, b: (wrapped([function(x, y) for x, y in zip(seen(a, kind), seen(b, kind), strict=True)], kind),)


def extended(name: str, kind: str) -> Meaning:
    seen = signed if name.startswith("muls") else unsigned

    def compute(a: np.ndarray, b: np.ndarray) -> Arrays:
        pairs = list(zip(seen(a, kind), seen(b, kind), strict=True))
        exact = [x + y if name.startswith("add") else x * y for x, y in pairs]
        high = [x >> BITS[kind] for x in exact]
        return wrapped(exact, kind), wrapped(high, "i1" if name.startswith("add") else kind)

    return compute


def compared(predicate: str, kind: str) -> Meaning:
    seen = unsigned if predicate[0] == "u" else signed
    function = COMPARED[predicate[-2:]]
    return lambda a, b: (np.array([function(x, y) for x, y in zip(seen(a, kind), seen(b, kind), strict=True)], bool),)


def _ones(v: int, bits: int) -> int:
    return bin(v).count("1")


COUNTS: dict[str, Callable[[int, int], int]] = {
    "ctpop": _ones, "ctlz": lambda v, bits: bits - v.bit_length(),
    "cttz": lambda v, bits: (v & -v).bit_length() - 1 if v else bits,
}  # fmt: skip


def counted(name: str, kind: str) -> Meaning:
    return lambda a: (wrapped([COUNTS[name](v, BITS[kind]) for v in unsigned(a, kind)], kind),)


def magnitude(kind: str) -> Meaning:
    return lambda a: (wrapped([abs(v) for v in signed(a, kind)], kind),)


def integer_power(kind: str) -> Meaning:
    def one(a: int, n: int) -> int:
        if n >= 0:
            return pow(a, n, 1 << BITS[kind])
        return a ** (n % 2) if a in (1, -1) else 0

    return lambda a, b: (wrapped([one(x, y) for x, y in zip(signed(a, kind), signed(b, kind), strict=True)], kind),)


# ---- floats -----------------------------------------------------------------------------------------------------------


def single_rounding(function: Callable[..., Any], kind: str) -> Meaning:
    """In f64, which has more than twice the digits of narrower types, then rounded: what one rounding gives."""
    return lambda *values: (rounded(function(*(wide(v) for v in values)), kind),)


ARITHMETIC: dict[str, Callable[..., Any]] = {"addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide}
"""With `sqrt`, the ops whose result IEEE 754 settles."""


def extreme(greatest: bool, number: bool) -> Callable[..., Any]:
    def choose(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        above = (a > b) | ((a == b) & ~np.signbit(a))
        chosen = np.where(above == greatest, a, b)
        nan = np.isnan(a) | np.isnan(b)
        return np.where(nan, np.where(np.isnan(a), b, a) if number else np.nan, chosen)

    return choose


EXTREMES: dict[str, Callable[..., Any]] = {
    "maximumf": extreme(True, False), "minimumf": extreme(False, False), "maxnumf": extreme(True, True),
    "minnumf": extreme(False, True),
}  # fmt: skip

_ORDER = {"eq": np.equal, "gt": np.greater, "ge": np.greater_equal, "lt": np.less, "le": np.less_equal, "ne": np.not_equal}


def float_compared(predicate: str) -> Meaning:
    def compute(a: np.ndarray, b: np.ndarray) -> Arrays:
        x, y = wide(a), wide(b)
        nan = np.isnan(x) | np.isnan(y)
        if predicate in ("false", "true"):
            return (np.full(len(x), predicate == "true"),)
        if predicate in ("ord", "uno"):
            return (nan == (predicate == "uno"),)
        return (np.where(nan, predicate[0] == "u", _ORDER[predicate[1:]](x, y)),)

    return compute


def _half_away(x: np.ndarray) -> np.ndarray:
    whole = np.trunc(x)
    with np.errstate(invalid="ignore"):
        return np.copysign(np.abs(whole) + (np.abs(x - whole) >= 0.5), x)


EXACT: dict[str, Callable[..., Any]] = {
    "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "roundeven": np.rint, "round": _half_away, "absf": np.abs,
    "sqrt": np.sqrt,
}  # fmt: skip
CLASSES: dict[str, Callable[..., Any]] = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}

LIBRARY: dict[str, tuple[Callable[..., Any], float]] = {
    "exp": (np.exp, 2), "exp2": (np.exp2, 2), "expm1": (np.expm1, 2), "log": (np.log, 2), "log2": (np.log2, 2),
    "log10": (np.log10, 2), "log1p": (np.log1p, 2), "sin": (np.sin, 2), "cos": (np.cos, 2), "tan": (np.tan, 4),
    "asin": (np.arcsin, 4),
    "acos": (np.arccos, 2), "atan": (np.arctan, 2), "sinh": (np.sinh, 3), "cosh": (np.cosh, 2), "tanh": (np.tanh, 3),
    "asinh": (np.arcsinh, 3),
    "acosh": (np.arccosh, 4), "atanh": (np.arctanh, 3), "atan2": (np.arctan2, 3), "cbrt": (np.cbrt, 2), "powf": (np.power, 9),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 2), "erf": (np.vectorize(math.erf, otypes=["f8"]), 3),
    "erfc": (np.vectorize(math.erfc, otypes=["f8"]), 5),
}  # fmt: skip
"""Functions of the library with the units in the last place that they may be off: what CUDA's manual allows them, at least 2."""


def library(name: str, kind: str) -> Meaning:
    """Of f64, in the widest type that there is."""
    function = LIBRARY[name][0]
    if kind != "f64" or name in ("erf", "erfc"):
        return single_rounding(function, kind)
    return lambda *values: (np.asarray(function(*(v.astype(np.longdouble) for v in values))).astype(np.float64),)


def fused(kind: str) -> Meaning:
    def one(a: float, b: float, c: float) -> float:
        if not all(map(math.isfinite, (a, b, c))):
            return a * b + c
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        if exact == 0:
            return a * b + c if Fraction(a) * Fraction(b) == 0 else 0.0
        return _nearest(exact, kind)

    def compute(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Arrays:
        made = [one(*map(float, three)) for three in zip(wide(a), wide(b), wide(c), strict=True)]
        return (rounded(np.array(made), kind),)

    return compute


def _nearest(exact: Fraction, kind: str) -> float:
    """A fraction to nearest, as a double that has the digits of the type already."""
    power = abs(exact.numerator).bit_length() - exact.denominator.bit_length()
    if abs(exact) < Fraction(2) ** power:
        power -= 1
    quantum = Fraction(2) ** (max(power, LEAST[kind]) - DIGITS[kind] + 1)
    sign = -1.0 if exact < 0 else 1.0
    try:
        return sign * float(abs(round(exact / quantum) * quantum))
    except OverflowError:
        return sign * math.inf


def float_power(kind: str, exponents: str) -> Meaning:
    return lambda a, n: (rounded(np.power(wide(a), np.array(signed(n, exponents), np.float64)), kind),)


def _long_power(kind: str, result: str, a: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Powers are products, whose errors add up, and reciprocals of products, which may be out of range where the power is not."""
    exponents = n.astype(np.float64)
    return (np.abs(exponents) > 64) | (~np.isfinite(rounded(np.power(wide(a), np.abs(exponents)), kind)) & (exponents < 0))


def sign_copied(a: np.ndarray, b: np.ndarray) -> Arrays:
    return (np.where(np.signbit(b) == np.signbit(a), a, -a),)


# ---- conversions ------------------------------------------------------------------------------------------------------


def integer_to_integer(zeros: bool, source: str, result: str) -> Meaning:
    return lambda a: (wrapped((unsigned if zeros else signed)(a, source), result),)


def integer_to_float(zeros: bool, source: str, result: str) -> Meaning:
    return lambda a: (rounded_integers((unsigned if zeros else signed)(a, source), result),)


def float_to_integer(source: str, result: str) -> Meaning:
    return lambda a: (wrapped([int(v) for v in wide(a)], result),)


def float_to_float(result: str) -> Meaning:
    return lambda a: (rounded(wide(a), result),)


# ---- what MLIR leaves open ----------------------------------------------------------------------------------------------

Open = Callable[..., Any]


def _each(test: Callable[..., bool]) -> Callable[[list[list[int]]], list[bool]]:
    return lambda columns: [test(*row) for row in zip(*columns, strict=True)]


def left_open(op: str, kinds: tuple[str, ...], result: str) -> Open:
    """Which operands of an op are left out, as a mask. The one table of what MLIR does not settle (`UNDEFINED`)."""
    name = op.split(".")[1]
    kind = kinds[0]
    if name in UNDEFINED:
        return lambda *values: np.array(UNDEFINED[name](kind, result, *values), bool)
    return lambda *values: np.zeros(len(values[0]), bool)


def _by_zero(kind: str, result: str, a: np.ndarray, b: np.ndarray) -> list[bool]:
    return [y == 0 for y in unsigned(b, kind)]


def _overflowing(kind: str, result: str, a: np.ndarray, b: np.ndarray) -> list[bool]:
    least = -(1 << (BITS[kind] - 1))
    return [y == 0 or (x == least and y == -1) for x, y in zip(signed(a, kind), signed(b, kind), strict=True)]


def _too_far(kind: str, result: str, a: np.ndarray, b: np.ndarray) -> list[bool]:
    return [y >= BITS[kind] for y in unsigned(b, kind)]


def _outside(zeros: bool) -> Callable[..., list[bool]]:
    def test(kind: str, result: str, a: np.ndarray) -> list[bool]:
        low, high = (0, 1 << BITS[result]) if zeros else (-(1 << (BITS[result] - 1)), 1 << (BITS[result] - 1))
        return [not (math.isfinite(v) and low <= int(v) < high) for v in map(float, wide(a))]

    return test


def _equal_zeros(kind: str, result: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (wide(a) == 0) & (wide(b) == 0)


def _zero_inverse(kind: str, result: str, a: np.ndarray, n: np.ndarray) -> list[bool]:
    return [x == 0 and y < 0 for x, y in zip(signed(a, kind), signed(n, kind), strict=True)]


def _clamps_nothing(kind: str, result: str, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return ~(wide(low) <= wide(high))


UNDEFINED: dict[str, Callable[..., Any]] = {
    "divui": _by_zero, "remui": _by_zero, "ceildivui": _by_zero,  # division by zero
    "divsi": _overflowing, "remsi": _overflowing, "floordivsi": _overflowing, "ceildivsi": _overflowing,  # and the least one by -1
    "shli": _too_far, "shrsi": _too_far, "shrui": _too_far,  # shifts by the width and more
    "fptosi": _outside(False), "fptoui": _outside(True),  # numbers that the integer does not have, NaN
    "maxnumf": _equal_zeros, "minnumf": _equal_zeros,  # which of two zeros
    "fpowi": _long_power,
    "ipowi": _zero_inverse,  # 1 / 0
    "clampf": _clamps_nothing,  # no interval
}  # fmt: skip
"""By the name of an op: `(operand type, result type, *operands)` → where the result is open. Beside this, the bits of a NaN that
an operation makes are."""

