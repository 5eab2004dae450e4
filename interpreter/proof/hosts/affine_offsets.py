"""Indices of the host that are a constant, or a constant and a multiple of a loop's iteration."""

from __future__ import annotations

from ...ir import mlir
from ...ir.mlir import ir
from .tokens import constant

Offset = tuple[int, tuple[ir.Value, ...], int]
"""`constant + factor * iteration`: the constant, the loop's iteration (none where there is no loop in it), the factor."""


def moving_offset(value: ir.Value) -> Offset | None:
    """An index, if it depends on constants and on one loop alone, whose first value and step are constants."""
    made = mlir.producer(value)
    if made is None:
        return (0, (value,), 1) if _is_iteration(ir.BlockArgument(value)) else None
    if made.name == "arith.constant":
        number = constant(value)
        return None if number is None else (number, (), 0)
    if made.name not in ("arith.addi", "arith.subi", "arith.muli"):
        return None
    left, right = (moving_offset(v) for v in made.operands)
    if left is None or right is None:
        return None
    if made.name == "arith.muli":
        one, by = (left, right) if not right[1] else (right, left)
        return None if by[1] else (one[0] * by[0], one[1], one[2] * by[0])
    return added(left, right, -1 if made.name == "arith.subi" else 1)


def added(left: Offset, right: Offset, times: int = 1) -> Offset | None:
    """`left + times * right`; None where that depends on two loops."""
    if left[1] and right[1] and left[1] != right[1]:
        return None
    return left[0] + times * right[0], left[1] or right[1], left[2] + times * right[2]


def _is_iteration(value: ir.BlockArgument) -> bool:
    loop = value.owner.owner.operation
    if loop.name != "scf.for" or value.arg_number:
        return False
    first, _, step = list(loop.operands)[:3]
    return constant(first) is not None and (constant(step) or 0) > 0
