"""Conversions between types, on NumPy scalars and arrays. Python integers are as in `numeric`."""

from __future__ import annotations

from typing import Any

import numpy as np

UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def typed(value: Any) -> Any:
    """The value with a NumPy type. A value that is merged with those of other lanes must not stay a
    Python integer."""
    if isinstance(value, bool):
        return np.bool_(value)
    return np.int64(value) if isinstance(value, int) else value


def unsigned(value: Any) -> Any:
    """The bits of a value as unsigned integers."""
    value = np.asarray(typed(value))
    return value if value.dtype.kind == "b" else value.view(UNSIGNED[value.dtype.itemsize])


def signed(value: Any, like: Any) -> Any:
    """The bits of a value with the type of `like`."""
    return np.asarray(value).view(np.asarray(typed(like)).dtype)[()]


def convert(value: Any, dtype: np.dtype) -> Any:
    """A value converted to another type: sign extension, truncation, int ↔ float, float ↔ float
    (rounded to nearest even)."""
    value = np.asarray(typed(value))
    return _converted(np.negative(value.astype(np.int8)) if value.dtype.kind == "b" else value, dtype)


def convert_unsigned(value: Any, dtype: np.dtype) -> Any:
    """Zero extension, truncation, and unsigned integer → float."""
    return _converted(unsigned(value), dtype)


def _converted(value: np.ndarray, dtype: np.dtype) -> Any:
    """A value in a NumPy type that has its meaning: an i1 becomes 0 and 1, or 0 and -1."""
    if dtype.kind == "b":
        return (value.astype(np.int64) & 1).astype(bool)[()]
    if value.dtype.kind in "iu" and dtype.kind not in "iub" and dtype.itemsize == 2:
        value = _integers_to_odd(value)
    if value.dtype == np.float64 and dtype.kind not in "iufb":
        near = value.astype(np.float32)
        return odd(near, value - near.astype(np.float64)).astype(dtype)[()]
    return value.astype(dtype)[()]


def _integers_to_odd(value: np.ndarray) -> np.ndarray:
    """Integers in f64. Integers that f64 does not represent are rounded to odd, so that a second
    rounding is correct."""
    if value.dtype.itemsize < 8:
        return value.astype(np.float64)
    number = value.dtype.type
    odd, upper = (value >> number(11)) | ((value & number(2047)) != 0), value >> number(53)
    long = (upper != 0) & (upper != number(0) - number(1))
    return np.where(long, odd.astype(np.float64) * 2048.0, value.astype(np.float64))


def to_unsigned(value: Any, dtype: np.dtype) -> Any:
    """Float → unsigned integer, in the bits of the signless `dtype`."""
    if dtype.kind == "b":
        return (np.asarray(value).astype(np.int64) & 1).astype(bool)[()]
    return np.asarray(value).astype(UNSIGNED[dtype.itemsize]).view(dtype)[()]


def bitcast(value: Any, dtype: np.dtype) -> Any:
    """The bits of a value as another type."""
    return np.ascontiguousarray(typed(value)).view(dtype).reshape(np.shape(value))[()]


def odd(near: np.ndarray, error: np.ndarray) -> np.ndarray:
    """A rounded number, less than the exact one by `error`, rounded to odd instead, so that a
    second rounding never takes it for a tie."""
    bits = near.view(np.dtype(f"i{near.itemsize}"))
    inexact = (error != 0) & np.isfinite(near) & ((bits & 1) == 0)
    away = np.where(np.signbit(error) == np.signbit(near), 1, -1)
    return np.where(inexact, bits + away, bits).astype(bits.dtype).view(near.dtype)


def beside(lanes: Any, rank: int) -> Any:
    """A mask or a condition, shaped to broadcast with vectors of that rank."""
    if rank == 0 or not isinstance(lanes, np.ndarray) or lanes.ndim > 2:
        return lanes
    return lanes.reshape(lanes.shape + (1,) * rank)
