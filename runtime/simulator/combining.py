"""How two values become one in reductions of vectors, warps and blocks, and in atomics, by MLIR's names of the kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import numeric

Combine = Callable[[Any, Any], Any]


def _bits(on_bits: Combine, otherwise: Combine) -> Combine:
    """Another function for i1, of which NumPy's arithmetic makes something else."""
    return lambda a, b: (on_bits if np.asarray(a).dtype.kind == "b" else otherwise)(a, b)


COMBINE: dict[str, Combine] = {
    "add": _bits(np.logical_xor, np.add), "mul": _bits(np.logical_and, np.multiply),
    "minsi": _bits(np.logical_or, np.minimum), "maxsi": _bits(np.logical_and, np.maximum),  # as a signed number, true is -1
    "minui": numeric.minui, "maxui": numeric.maxui, "minnumf": numeric.minnum, "maxnumf": numeric.maxnum,
    "minimumf": numeric.minimum, "maximumf": numeric.maximum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    "assign": lambda old, new: new,
}  # fmt: skip
