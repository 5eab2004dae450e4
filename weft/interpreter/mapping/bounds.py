"""Bounds of loops, by their variables."""

from __future__ import annotations

from ..indices.arithmetic import known
from ..ir.mlir import ir, maker
from .mapping import LoopDimension, loop_dimensions


def loop_bounds(variable: ir.Value) -> LoopDimension | None:
    """The range of a loop's variable; None for other values, and for affine loops."""
    if not isinstance(variable.owner, ir.Block) or variable.owner.owner is None:
        return None
    loop, number = maker(variable), ir.BlockArgument(variable).arg_number
    if loop.name == "scf.for" and number == 0:
        return LoopDimension(*map(known, list(loop.operands)[:3]))
    if loop.name == "scf.parallel":
        count, operands = len(variable.owner.arguments), list(loop.operands)
        return LoopDimension(*(known(operands[part * count + number]) for part in range(3)))
    dimensions = loop_dimensions(loop)
    return dimensions[number] if number < len(dimensions) else None
