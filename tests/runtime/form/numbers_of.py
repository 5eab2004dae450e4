"""The numbers that each element type is tried with, as NumPy has them, and rounding to a type in one step."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}
INTEGERS = tuple(BITS)
DIGITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
LEAST = {"f16": -14, "bf16": -126, "f32": -126, "f64": -1022}
FLOATS = tuple(DIGITS)
KINDS = (*INTEGERS, *FLOATS)
NUMPY: dict[str, np.dtype] = {
    "i1": np.dtype(bool), "i8": np.dtype("i1"), "i16": np.dtype("i2"), "i32": np.dtype("i4"), "i64": np.dtype("i8"),
    "index": np.dtype("i8"), "f16": np.dtype("f2"), "bf16": np.dtype(ml_dtypes.bfloat16), "f32": np.dtype("f4"),
    "f64": np.dtype("f8"),
}  # fmt: skip


def width(kind: str) -> int:
    return NUMPY[kind].itemsize * 8 if kind in FLOATS else BITS[kind]


# ---- integers ---------------------------------------------------------------------------------------------------------


def signed(array: np.ndarray, kind: str) -> list[int]:
    """As MLIR's signed operations see them: `true` is -1."""
    return [-int(v) for v in array] if kind == "i1" else [int(v) for v in array]


def unsigned(array: np.ndarray, kind: str) -> list[int]:
    return [int(v) % (1 << BITS[kind]) for v in array]


def wrapped(values: Sequence[int], kind: str) -> np.ndarray:
    """Exact integers in the bits of a type."""
    if kind == "i1":
        return np.array([v % 2 == 1 for v in values], bool)
    half = 1 << (BITS[kind] - 1)
    return np.array([(v + half) % (2 * half) - half for v in values], NUMPY[kind])


# ---- floats -----------------------------------------------------------------------------------------------------------


def rounded(values: Any, kind: str) -> np.ndarray:
    """Wider numbers (f64, or Python's integers in an object array) to nearest, ties to even, in one step."""
    if kind == "f64":
        return np.asarray(values, np.float64)
    exact = np.asarray(values, np.float64)
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(exact)
        quantum = np.ldexp(1.0, np.maximum(exponent - 1, LEAST[kind]) - (DIGITS[kind] - 1))
        return np.where(np.isfinite(exact), np.rint(exact / quantum) * quantum, exact).astype(NUMPY[kind])


def rounded_integers(values: Sequence[int], kind: str) -> np.ndarray:
    """Exact integers to nearest, ties to even."""
    made = []
    for v in values:
        spare = max(0, abs(v).bit_length() - DIGITS[kind])
        down, rest = abs(v) >> spare, abs(v) & ((1 << spare) - 1)
        up = spare and (2 * rest > 1 << spare or (2 * rest == 1 << spare and down & 1))
        made.append(float((down + bool(up)) << spare) * (-1 if v < 0 else 1))
    return rounded(np.array(made), kind)


def wide(array: np.ndarray) -> np.ndarray:
    return np.asarray(array).astype(np.float64)


# ---- what is tried ------------------------------------------------------------------------------------------------------


@cache
def edges(kind: str) -> np.ndarray:
    """Extremes, values around the limits of other types, ties of narrower ones, NaNs, infinities, zeros, subnormals."""
    if kind == "i1":
        return np.array([False, True])
    if kind in INTEGERS:
        bits = BITS[kind]
        powers = [p for p in (1, 2, 3, 7, 8, 10, 11, 15, 16, 23, 24, 30, 31, 32, 52, 53, 62, 63) if p <= bits]
        ties = {2**62 + 2**54 + 1, 2**30 + 2**22 + 1, 2**40 + 2**32 + 1, 65519, 65520}
        found = {0, 1, 2, 3, 5, 7, 10, bits - 1, 0x5A5A5A5A5A5A5A5A} | ties
        found |= {(1 << p) + d for p in powers for d in (-1, 0, 1)}
        found |= {-v for v in found}
        return wrapped(sorted({v for v in found if -(1 << (bits - 1)) <= v < 1 << (bits - 1)}), kind)
    digits, least = DIGITS[kind], LEAST[kind]
    greatest = 2.0 ** (2 - least) * (1 - 2.0**-digits) if kind != "f64" else float(np.finfo(np.float64).max)
    half = 0.5 - 2.0 ** (-digits - 1)
    found = [
        0.0, 1.0, 0.5, half, 1.5, 2.5, 3.5, 2.0, 3.0, 0.75, np.pi, 1e-3, 7.25, 10.0, 99.9, 127.5, 128.0, 128.5, 255.0,
        255.5, 256.0, 32767.0, 32768.0, 65504.0, 65519.0, 65520.0, 65535.0, 2.0**31 - 1, 2.0**31, 2.0**32, 2.0**63, 2.0**64,
        2.0 ** (digits - 1) + 1, 2.0 ** (digits - 2) + 0.5, 2.0**digits - 1, 1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-23,
        1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-24,
        1 + 2.0**-24 + 2.0**-50, 2.0**-24, 2.0**-25, 1.5 * 2.0**-24, 2.0**-126, 2.0**-133, 2.0**-149, greatest, 2.0**least,
        2.0**least - 2.0 ** (least - digits + 1), 2.0 ** (least - digits + 1), np.inf,
    ]  # fmt: skip
    with np.errstate(all="ignore"):
        once = np.unique(rounded(np.array(found), kind))
    nan = from_bits([(1 << (width(kind) - 1)) - (1 << (digits - 2))], kind)  # a quiet one, no other bit set
    return np.concatenate([once, -once, nan, -nan])


def from_bits(bits: Sequence[int], kind: str) -> np.ndarray:
    return np.array(bits, f"u{NUMPY[kind].itemsize}").view(NUMPY[kind])


def bits_of(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


def spelled(value: Any, kind: str) -> str:
    """A constant in MLIR's text, exact: floats by their bits."""
    if kind == "i1":
        return "true" if value else "false"
    if kind in INTEGERS:
        return str(int(value))
    return f"0x{int(bits_of(np.array([value], NUMPY[kind]))[0]):0{width(kind) // 4}X}"


def ordered(array: np.ndarray) -> np.ndarray:
    """Floats as integers in their order, so that differences count units in the last place."""
    bits = bits_of(array).astype(object)
    top = 1 << (array.dtype.itemsize * 8 - 1)
    return np.array([int(b) if b < top else int(top - b) for b in bits], object)


