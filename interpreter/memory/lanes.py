"""What the lanes of a warp do together: barriers, shuffles, reductions, and what tensor cores take (`fragments.py`)."""

from __future__ import annotations

from ..ir.mlir import constant_of, ir
from .fragments import LDMATRIX, MMA
from .limits import WARP

SHUFFLE, SUBGROUP_REDUCE = "gpu.shuffle", "gpu.subgroup_reduce"
WARP_WIDE = frozenset({LDMATRIX, MMA, SHUFFLE, SUBGROUP_REDUCE})
"""All lanes of a warp execute them together, or none."""

WARP_BARRIER = "nvvm.bar.warp.sync"
"""All lanes of a warp reach the same one; it orders what they did to memory. Its operand is a mask of all of them."""
BARRIERS = ("gpu.barrier", WARP_BARRIER)
ALL_LANES = (1 << WARP) - 1


def mask_of_lanes(op: ir.Operation) -> int | None:
    """The mask of a warp's barrier, a bit for each lane; None if it is not constant."""
    found = constant_of(op.operands[0])
    return None if found is None else found & ALL_LANES
