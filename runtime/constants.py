"""The value of a dense constant as bytes."""

from __future__ import annotations

import numpy as np

from ..interpreter.mlir import ir
from .dtypes import narrow


def constant_array(attribute: ir.Attribute | None, dtype: str) -> np.ndarray | None:
    """The elements of a dense attribute in row-major order, as NumPy's type of `dtype`; None if they are not known."""
    if attribute is not None and isinstance(attribute, ir.DenseFPElementsAttr | ir.DenseIntElementsAttr):
        count = len(attribute)
        values = [attribute[0]] * count if attribute.is_splat and count else list(attribute)
        return narrow(np.array(values, dtype=np.float64 if "f" in dtype else np.int64), dtype)
    return None


def constant_bytes(attribute: ir.Attribute | None, dtype: str) -> bytes | None:
    """The same as little-endian bytes."""
    array = constant_array(attribute, dtype)
    return None if array is None else array.tobytes()
