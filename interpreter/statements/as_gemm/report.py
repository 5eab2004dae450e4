"""What `as-gemm` says it did, in a line."""

from __future__ import annotations

from .problem import Problem


def spelled(problem: Problem, padded: bool) -> str:
    """`a product of 196×16, summed over 36: n·oh·ow × f …; the image is read where it lies, its padding is a mask`."""
    result = "×".join(str(problem.groups[g].extent) for g in problem.result_groups)
    summed = "×".join(str(problem.groups[g].extent) for g in problem.summed)
    side = "left" if problem.image_is_left else "right"
    padding = ", its padding a mask" if padded else ""
    return f"a product of {result}, summed over {summed}; its {side} operand is the image, read where it lies{padding}"
