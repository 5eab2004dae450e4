"""What the lanes of a warp do together: shuffles, reductions, and what tensor cores take (`fragments.py`)."""

from __future__ import annotations

from .fragments import LDMATRIX, MMA

SHUFFLE, SUBGROUP_REDUCE = "gpu.shuffle", "gpu.subgroup_reduce"
WARP_WIDE = frozenset({LDMATRIX, MMA, SHUFFLE, SUBGROUP_REDUCE})
"""All lanes of a warp execute them together, or none."""
