"""Arithmetic of `arith` and `math` on NumPy scalars and arrays: each op rounds once; integers wrap.

Uniform `index` and `i64` values are Python integers; all other values have NumPy types.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial, reduce
from typing import Any

import numpy as np

from ...form.kernel_form import FORM, ON_BITS
from .conversion import beside, convert, odd, signed, typed, unsigned

# ---- integers ------------------------------------------------------------------------------------


def wrap(value: int) -> int:
    """A Python integer as 64 bits, two's complement."""
    return value if -(1 << 63) <= value < 1 << 63 else (value + (1 << 63)) % (1 << 64) - (1 << 63)


def divsi(a: Any, b: Any) -> Any:
    """Division that truncates towards zero; the divisor is not 0."""
    a, b = typed(a), typed(b)
    quotient = np.floor_divide(a, b)
    return quotient + ((np.less(a, 0) != np.less(b, 0)) & (quotient * b != a)).astype(quotient.dtype)


def ceildivsi(a: Any, b: Any) -> Any:
    a, b = typed(a), typed(b)
    quotient = np.floor_divide(a, b)
    return quotient + (quotient * b != a).astype(quotient.dtype)


def _on_unsigned(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: signed(function(unsigned(a), unsigned(b)), a)


divui, remui, shrui = map(_on_unsigned, (np.floor_divide, np.remainder, np.right_shift))
maxui, minui = map(_on_unsigned, (np.maximum, np.minimum))


def too_far(distance: Any) -> Any:
    """Whether a shift is by the width or more."""
    distance = typed(distance)
    return unsigned(distance) >= distance.dtype.itemsize * 8


def overflows(a: Any, b: Any) -> Any:
    """Whether a quotient overflows its signed type: the least number divided by -1."""
    a = np.asarray(typed(a))
    return np.equal(a, np.iinfo(a.dtype).min) & np.equal(b, -1)


def unfit(value: Any, bits: int, has_sign: bool) -> Any:
    """Whether a float, rounded towards zero, is out of the range of integers of `bits` bits."""
    whole = np.trunc(np.asarray(value).astype(np.float64))
    low, high = (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1)) if has_sign else (0.0, 2.0**bits)
    return ~((whole >= low) & (whole < high))


def lanes(elements: Any) -> Any:
    """The lanes in which some element of a vector of booleans is true."""
    return elements.any(axis=tuple(range(2, elements.ndim))) if np.ndim(elements) > 2 else elements


def count_bits(value: Any, kind: str) -> Any:
    """`ctpop`, `ctlz`, `cttz`."""
    value = np.asarray(typed(value))
    bits = value.dtype.itemsize * 8
    x = unsigned(value).astype(np.uint64)
    if kind == "cttz":
        low = x & (~x + np.uint64(1))
        found = np.where(x == 0, bits, np.bitwise_count(low - np.uint64(1)))
    elif kind == "ctlz":
        for shift in (1, 2, 4, 8, 16, 32):
            x = x | (x >> np.uint64(shift))
        found = bits - np.bitwise_count(x).astype(np.int64)
    else:
        found = np.bitwise_count(x)
    return np.asarray(found).astype(value.dtype)[()]


def ipow(base: Any, exponent: Any) -> Any:
    """Integer power; a negative exponent truncates like a division."""
    base, exponent = np.asarray(typed(base)), np.asarray(typed(exponent))
    one = base.dtype.type(1)
    power = np.power(base, np.where(exponent < 0, 0, exponent).astype(base.dtype))
    odd = (exponent & 1) != 0
    inverse = np.where(base == 1, one, np.where(base == -1, np.where(odd, -one, one), 0)).astype(base.dtype)
    return np.where(exponent < 0, inverse, power)[()]


# ---- floats --------------------------------------------------------------------------------------


def maximum(a: Any, b: Any) -> Any:
    """NaN if either is; +0 is greater than -0."""
    found = np.maximum(a, b)
    zeros = np.equal(a, 0) & np.equal(b, 0)
    return np.where(zeros, np.add(a, b), found) if zeros.any() else found


def minimum(a: Any, b: Any) -> Any:
    """NaN if either is; -0 is smaller than +0."""
    found = np.minimum(a, b)
    zeros = np.equal(a, 0) & np.equal(b, 0)
    return np.where(zeros, -np.add(np.negative(a), np.negative(b)), found) if zeros.any() else found


def maxnum(a: Any, b: Any) -> Any:
    """The other operand if one is NaN."""
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, maximum(a, b)))


def minnum(a: Any, b: Any) -> Any:
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, minimum(a, b)))


def fma(a: Any, b: Any, c: Any) -> Any:
    """a*b + c rounded once.

    The sum is made in f64, where the products of all narrower types are exact, and rounded to odd; for f64 itself the
    product is split first. Source: Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008.
    """
    dtype = np.result_type(a, b, c)
    if dtype == np.float64:
        return _fma64(a, b, c)
    x, y, z = (np.asarray(v).astype(np.float64) for v in (a, b, c))
    product = x * y
    total, error = _two_sum(product, z)
    return convert(odd(total, error), dtype)


def _fma64(a: Any, b: Any, c: Any) -> Any:
    x, y, z = (np.asarray(v, dtype=np.float64) for v in (a, b, c))
    high = x * y
    xh, yh = _upper_half(x), _upper_half(y)
    low = ((xh * yh - high) + xh * (y - yh) + (x - xh) * yh) + (x - xh) * (y - yh)
    th, tl = _two_sum(z, low)
    vh, vl = _two_sum(high, th)
    made = np.asarray(vh + odd(*_two_sum(tl, vl)))
    split = (np.abs(high) > 1e-280) & (np.abs(high) < 1e300) & (np.abs(x) < 1e300) & (np.abs(y) < 1e300)
    plain = (x == 0) | (y == 0) | ~(np.isfinite(x) & np.isfinite(y) & np.isfinite(z))
    made = np.where(plain, high + z, made)
    rare = np.broadcast_to(~split & ~plain, made.shape)  # halves of the product over- or underflow
    if rare.any():
        factors = (np.broadcast_to(v, made.shape)[rare] for v in (x, y, z))
        made[rare] = list(map(_fraction, *factors))
    return made[()]


def _fraction(x: float, y: float, z: float) -> float:
    """x*y + z of finite numbers, by the exact sum."""
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    try:
        return float(exact) if exact else 0.0 if z else x * y + z
    except OverflowError:
        return math.copysign(math.inf, 1 if exact > 0 else -1)


def _upper_half(x: np.ndarray) -> np.ndarray:
    scaled = x * 134217729.0  # 2**27 + 1: Veltkamp's splitting
    return scaled - (scaled - x)


def _two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def through_double(function: Callable[..., Any]) -> Callable[..., Any]:
    """Evaluates a transcendental function in f64 and rounds the result to its own type; an f32
    result is nearly always correctly rounded."""

    def evaluate(*values: Any) -> Any:
        dtype = np.asarray(values[0]).dtype
        if dtype == np.float64:
            return function(*values)
        return convert(function(*(np.asarray(v).astype(np.float64) for v in values)), dtype)

    return evaluate


def _round_half_away(x: Any) -> Any:
    whole = np.trunc(x)
    with np.errstate(invalid="ignore"):  # an infinity minus itself
        return np.copysign(np.abs(whole) + (np.abs(x - whole) >= 0.5), x)


def _power(x: Any, y: Any) -> Any:
    """The C library's `pow`. For the exponent 0.5, NumPy takes the square root instead, with other
    results for -0 and -inf."""
    return np.where(np.equal(y, 0.5) & (np.equal(x, 0) | np.isneginf(x)), np.abs(x), np.power(x, y))[()]


# NumPy has most of them under the same name
_MATH: dict[str, Callable[..., Any]] = {n: getattr(np, n) for n in FORM["math"].split() if hasattr(np, n)}
_MATH |= {"rsqrt": lambda x: 1.0 / np.sqrt(x), "round": _round_half_away, "powf": _power, "fpowi": np.power}
_MATH |= {name: np.vectorize(getattr(math, name), otypes=[np.float64]) for name in ("erf", "erfc")}

MATH: dict[str, Callable[..., Any]] = {name: through_double(function) for name, function in _MATH.items()}
MATH |= {name: partial(count_bits, kind=name) for name in ("ctpop", "ctlz", "cttz")}
MATH |= {name: getattr(np, name) for name in ("ceil", "floor", "trunc", "copysign")}
MATH |= {"absf": np.abs, "roundeven": np.rint, "fma": fma, "ipowi": ipow}
"""The ops of the `math` dialect by name."""

# ---- choosing ------------------------------------------------------------------------------------


def select(condition: Any, a: Any, b: Any, rank: int) -> Any:
    """`a` where the condition holds, else `b`; `rank` is that of their vector type."""
    if not isinstance(condition, np.ndarray) or condition.ndim == 0:
        return a if condition else b
    return np.where(beside(condition, rank), a, b)


def inside(index: Any, bound: int) -> bool:
    """Whether 0 <= index < bound in all lanes."""
    if not isinstance(index, np.ndarray):
        return 0 <= index < bound
    return bool(index.size) and bound > 0 and bool(index.view(np.uint64).max() < bound)


def minimum_of(*values: Any) -> Any:
    return reduce(np.minimum, values) if any(isinstance(v, np.ndarray) for v in values) else min(values)


def maximum_of(*values: Any) -> Any:
    return reduce(np.maximum, values) if any(isinstance(v, np.ndarray) for v in values) else max(values)


def spread(flat: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """The numbers of the elements of a vector that begins at `flat`, with the vector's dimensions
    appended."""
    offsets: Any = 0
    for axis, (count, stride) in enumerate(zip(shape, strides, strict=True)):
        offsets = offsets + (np.arange(count, dtype=np.int64) * stride).reshape((-1,) + (1,) * (len(shape) - axis - 1))
    lead = flat.shape[:2] if isinstance(flat, np.ndarray) and flat.ndim >= 2 else (1, 1)
    return np.asarray(flat, dtype=np.int64).reshape((*lead, *(1,) * len(shape))) + offsets


def multiple(flat: Any, elements: int) -> bool:
    """Whether `flat` is a multiple of `elements` in all lanes."""
    return not np.any(np.remainder(flat, elements))


def trips(lower: Any, upper: Any, step: Any, mask: Any) -> Any:
    """Trip counts: an integer if the active lanes agree, else an array."""
    if not any(isinstance(v, np.ndarray) for v in (lower, upper, step)):
        return max(0, -((int(lower) - int(upper)) // max(int(step), 1)))
    counts = np.maximum(0, -((lower - upper) // np.maximum(step, 1)))
    first = counts.flat[0] if mask is None else None
    if first is not None and (counts == first).all():
        return int(first)
    if mask is not None:
        shape = np.broadcast_shapes(counts.shape, mask.shape)
        active = np.broadcast_to(counts, shape)[np.broadcast_to(mask, shape)]
        if (active == active[0]).all():
            return int(active[0])
        return np.where(mask, counts, 0)
    return counts


# ---- combining: how two values become one in reductions of vectors, warps and blocks, and in atomics -----------------

Combine = Callable[[Any, Any], Any]

_LOGIC = {"xor": np.logical_xor, "and": np.logical_and, "or": np.logical_or}
_NUMBERS: dict[str, Combine] = {"add": np.add, "mul": np.multiply, "mins": np.minimum, "maxs": np.maximum}
_NUMBERS |= {"minu": minui, "maxu": maxui}


def _of(word: str) -> Combine:
    """The function of a combiner, also for i1, for which NumPy's arithmetic differs."""
    return lambda a, b: (_LOGIC[ON_BITS[word]] if np.asarray(a).dtype.kind == "b" else _NUMBERS[word])(a, b)


COMBINE: dict[str, Combine] = {f"{word}i" if word[-1] in "su" else word: _of(word) for word in _NUMBERS}
COMBINE |= {"minnumf": minnum, "maxnumf": maxnum, "minimumf": minimum, "maximumf": maximum}
COMBINE |= {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "assign": lambda old, new: new}
