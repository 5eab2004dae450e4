"""Launches that are iterations of one nest of mapped loops and nothing else: no two threads do the same one.

The nest's loops are parallel: `map` has proven it, or the payload says so and no collision is known, or `tile` made them of an op's
parallel dimensions. So the accesses of two threads, which are in different iterations, do not meet. That holds where the analysis
of the kernel can only assume the contrary, because an index depends on data, or sizes of run time are multiplied.
"""

from __future__ import annotations

from ..buffers.views import VIEWS
from ..ir.mlir import ir, operations
from ..ir.structured import ATOMIC
from .mapping import mapping_of, nested_maps
from .readiness import children

_BETWEEN = ("arith.", "affine.apply", "affine.min", "affine.max", "memref.dim", "scf.forall.in_parallel", "gpu.barrier", *VIEWS)
"""What may stand between two loops of a nest: it computes bounds and views, and touches no memory."""


def independent(root: ir.Operation) -> bool:
    """Whether all memory that a launch of `root` touches is touched in iterations that are independent of each other."""
    return not any(ATOMIC in op.attributes for op in operations(root)) and _in_one_nest(root)


def _in_one_nest(op: ir.Operation) -> bool:
    if mapping_of(op) is None:
        return False
    if not any(True for _ in nested_maps(op)):
        return True
    inner = children(op)
    working = [child for child in inner if not child.name.startswith(_BETWEEN)]
    return len(working) == 1 and _in_one_nest(working[0])
