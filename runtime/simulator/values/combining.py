"""How two values become one in reductions of vectors, warps and blocks, and in atomics, by MLIR's names of the kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...kernel_form import ON_BITS
from . import numeric

Combine = Callable[[Any, Any], Any]


_LOGIC = {"xor": np.logical_xor, "and": np.logical_and, "or": np.logical_or}
_NUMBERS: dict[str, Combine] = {
    "add": np.add, "mul": np.multiply, "mins": np.minimum, "maxs": np.maximum, "minu": numeric.minui, "maxu": numeric.maxui,
}  # fmt: skip


def _of(word: str) -> Combine:
    """Also of i1, of which NumPy's arithmetic makes something else."""
    return lambda a, b: (_LOGIC[ON_BITS[word]] if np.asarray(a).dtype.kind == "b" else _NUMBERS[word])(a, b)


COMBINE: dict[str, Combine] = {
    **{f"{word}i" if word[-1] in "su" else word: _of(word) for word in _NUMBERS},
    "minnumf": numeric.minnum, "maxnumf": numeric.maxnum, "minimumf": numeric.minimum, "maximumf": numeric.maximum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "assign": lambda old, new: new,
}  # fmt: skip
