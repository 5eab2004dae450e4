"""Element types: their names in MLIR, their NumPy type, their size, and the poison for fresh
outputs.

NumPy has no bf16, f8E4M3FN and f8E5M2. If `ml_dtypes` is installed, its types are used; without it
(a bundle needs only NumPy and CuPy), `uint16` and `uint8` hold their bits. `widen` gives the
numbers in both cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

try:
    import ml_dtypes

    BF16: np.dtype = np.dtype(ml_dtypes.bfloat16)
    F8E4M3FN: np.dtype = np.dtype(ml_dtypes.float8_e4m3fn)
    F8E5M2: np.dtype = np.dtype(ml_dtypes.float8_e5m2)
except ImportError:
    BF16, F8E4M3FN, F8E5M2 = np.dtype(np.uint16), np.dtype(np.uint8), np.dtype(np.uint8)

_NUMPY: dict[str, Any] = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": BF16}
_NUMPY |= {"f8E4M3FN": F8E4M3FN, "f8E5M2": F8E5M2, "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8"}
_NUMPY |= {"i1": "bool", "index": "int64"}
NUMPY: Mapping[str, np.dtype] = MappingProxyType({name: np.dtype(kind) for name, kind in _NUMPY.items()})
"""NumPy's type for each element type. The keys are all element types that the runtime moves."""

MOST_ELEMENTS = 4096
"""Most elements of a vector of one thread, which is emitted and computed element by element; a
thread has 255 registers."""

CXX = {"f64": "double", "f32": "float", **{name: name for name in ("f16", "bf16", "f8E4M3FN", "f8E5M2")}}
CXX |= {"i1": "bool", "i8": "signed char", "i16": "short", "i32": "int", "i64": "long long", "index": "long long"}
"""The C++ type of each element type in memory; integer types are signed."""

BITS: Mapping[str, np.dtype] = MappingProxyType(
    {"bf16": np.dtype(np.uint16), "f8E4M3FN": np.dtype(np.uint8), "f8E5M2": np.dtype(np.uint8)}
)
"""Unsigned types for the bits of types that NumPy lacks: in files, and without `ml_dtypes`."""

FLOATS = ("f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2")
"""From the highest precision to the lowest."""

Floats = Literal["f32", "f64", "own"]
"""Types in which a payload is computed for comparison: halves in f32, all floats in f64, or each
op's own types."""

HALVES = ("f16", "bf16", "f8E4M3FN", "f8E5M2")
"""Floats narrower than f32."""

ROUNDED = ("bf16", "f16", "tf32", "bf16x3", "3xtf32")
"""Types to which kernels round f32 operands if a schedule requests it, the coarsest first."""

POISON_FLOAT = 0xFF
"""Every byte of a fresh float buffer: a NaN in each of the float formats."""

POISON_INTEGER = 0xA5
"""Every byte of a fresh integer buffer: far from the small numbers that tests compute, and not a
boolean."""


def holds_bits(element: object, dtype: str) -> bool:
    """Whether an array of this NumPy type may hold the bits of `dtype`. (For NumPy, f64 equals
    None.)"""
    return dtype in BITS and element == BITS[dtype]


def rounds_most(names: Iterable[str | None]) -> str | None:
    """The coarsest of several types of `ROUNDED`; None if nothing is rounded."""
    return min((name for name in names if name is not None), key=ROUNDED.index, default=None)


def is_float(dtype: str) -> bool:
    """Whether the dtype is a plan's name of a floating-point type."""
    return dtype in FLOATS


def itemsize(dtype: str) -> int:
    """Bytes of one element."""
    return NUMPY[dtype].itemsize


def poison_byte(dtype: str) -> int:
    """The byte that memory of that dtype is filled with before a run."""
    return POISON_FLOAT if is_float(dtype) else POISON_INTEGER


def poisoned(array: np.ndarray, dtype: str) -> np.ndarray:
    """A mask of the elements of `array` that were not written since they were poisoned."""
    raw = np.asarray(array, order="C").reshape(-1).view(np.uint8)
    return (raw.reshape(*array.shape, itemsize(dtype)) == poison_byte(dtype)).all(axis=-1)


def windowed(flat: np.ndarray, shape: Sequence[int], strides: Sequence[int]) -> np.ndarray:
    """A window of a flat array of any element type (NumPy's `as_strided` supports only its own);
    strides in bytes."""
    plain = flat.view(f"V{flat.itemsize}")
    return np.lib.stride_tricks.as_strided(plain, shape, strides).view(flat.dtype)


def widen(array: np.ndarray, dtype: str) -> np.ndarray:
    """The numbers of a float array, or of the bits of one, as f32 (f32 and narrower) or f64."""
    if dtype == "bf16" and array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    if dtype == "f8E5M2" and array.dtype == np.uint8:  # the upper half of an f16
        return (array.astype(np.uint16) << 8).view(np.float16).astype(np.float32)
    if dtype == "f8E4M3FN" and array.dtype == np.uint8:
        return _OF_E4M3[array]
    return array.astype(np.float64 if dtype == "f64" else np.float32)


def narrow(array: np.ndarray, dtype: str) -> np.ndarray:
    """`array` as the NumPy type of `dtype`; floats round to bf16 to nearest even, with or without
    `ml_dtypes`."""
    target = NUMPY[dtype]
    if dtype == "bf16" and target == np.uint16 and array.dtype != np.uint16:
        bits = np.asarray(array, dtype=np.float32, order="C").view(np.uint32)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return np.where(np.isnan(array), 0x7FC0, rounded).astype(np.uint16)
    if target == np.uint8 and dtype in BITS and array.dtype != np.uint8:
        return _nearest(np.asarray(array, np.float32), widen(np.arange(128, dtype=np.uint8), dtype))
    return np.asarray(array, dtype=target, order="C")


def _e4m3() -> np.ndarray:
    """The numbers that the bytes of f8E4M3FN represent."""
    byte = np.arange(256, dtype=np.uint32)
    size = ((byte & 0x7F) << 20).view(np.float32) * np.float32(2.0**120)
    size[byte & 0x7F == 0x7F] = np.nan
    return np.where(byte < 128, size, -size).astype(np.float32)


_OF_E4M3 = _e4m3()


def _nearest(array: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """For each element of an array, the byte of the nearest number, ties to even, with the
    element's sign. From half a step beyond the last number on, it is the byte after that of the last
    number: infinity, or NaN.

    Args:
        numbers: those of the bytes 0 … 127, ascending; infinities and NaN are left out.
    """
    finite = numbers[np.isfinite(numbers)].astype(np.float64)
    beyond = 2 * finite[-1] - finite[-2]
    size = np.abs(array.astype(np.float64))
    middles = (np.append(finite[1:], beyond) + finite) / 2
    below, above = np.searchsorted(middles, size, "left"), np.searchsorted(middles, size, "right")
    byte = np.where(below % 2, above, below)
    byte = np.where(np.isnan(size), 127, np.minimum(byte, len(finite)))
    return (byte + 128 * np.signbit(array)).astype(np.uint8)
