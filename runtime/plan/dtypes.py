"""Element types: their names in MLIR, their NumPy type, their size, and the poison that a fresh output bears.

bf16 has no NumPy type of its own. Where `ml_dtypes` is installed it is that package's; a bundle that runs with NumPy
and CuPy alone keeps the 16 bits in `uint16`. `widen` gives the numbers in both cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import numpy as np

try:
    import ml_dtypes

    BF16: np.dtype = np.dtype(ml_dtypes.bfloat16)
except ImportError:
    BF16 = np.dtype(np.uint16)

NUMPY: Mapping[str, np.dtype] = MappingProxyType(
    {
        "f64": np.dtype(np.float64),
        "f32": np.dtype(np.float32),
        "f16": np.dtype(np.float16),
        "bf16": BF16,
        "i64": np.dtype(np.int64),
        "i32": np.dtype(np.int32),
        "i16": np.dtype(np.int16),
        "i8": np.dtype(np.int8),
        "i1": np.dtype(np.bool_),
        "index": np.dtype(np.int64),
    }
)
"""What an array of each element type is. The keys are all the element types that the runtime moves."""

MOST_ELEMENTS = 4096
"""Of a vector of one thread, which is written and computed element by element. A thread has 255 registers."""

FLOATS = ("f64", "f32", "f16", "bf16")
"""From the highest precision to the lowest."""

ROUNDED = ("bf16", "f16", "tf32", "bf16x3", "3xtf32")
"""What kernels make of operands of f32 where a schedule asks for it: what rounds most stands first."""

POISON_FLOAT = 0xFF
"""Every byte of a fresh float buffer: a NaN in each of the float formats."""

POISON_INTEGER = 0xA5
"""Every byte of a fresh integer buffer: far from the small numbers that tests compute, and no boolean."""


def rounds_most(names: Iterable[str | None]) -> str | None:
    """Of several of `ROUNDED` what rounds most; None where nothing is rounded."""
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
    """A mask of the elements of `array` that nobody wrote since they were poisoned."""
    raw = np.asarray(array, order="C").reshape(-1).view(np.uint8)
    return (raw.reshape(*array.shape, itemsize(dtype)) == poison_byte(dtype)).all(axis=-1)


def widen(array: np.ndarray, dtype: str) -> np.ndarray:
    """The numbers of a float array as f32 (f16, bf16, f32) or f64, whatever holds their bits."""
    if dtype == "bf16" and array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float64 if dtype == "f64" else np.float32)


def narrow(array: np.ndarray, dtype: str) -> np.ndarray:
    """`array` as the NumPy type of `dtype`; floats to bf16 round to nearest even, with or without `ml_dtypes`."""
    target = NUMPY[dtype]
    if dtype == "bf16" and target == np.uint16 and array.dtype != np.uint16:
        bits = np.asarray(array, dtype=np.float32, order="C").view(np.uint32)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return np.where(np.isnan(array), 0x7FC0, rounded).astype(np.uint16)
    return np.asarray(array, dtype=target, order="C")
