"""Where a kernel is cut into pieces: at its barriers, at loops in step, and, in the lanes of a warp, at what these do together."""

from __future__ import annotations

from collections.abc import Collection

from ...interpreter.ir.mlir import ancestors, ir, operations
from ...interpreter.ir.refusing import describe
from .interchange import Judge, loops_in_step
from .limits import NotLoopsError
from .warps import FIRST, TOGETHER

EDGE = "weft.edge"
"""Marks the kernel, all places where it is cut, and the ops that these are in."""
OF_WARPS = "weft.of_warps"
"""Marks edges between loops over lanes alone; of what a warp does together, its number."""
CONTROLS = {"scf.for": 3, "scf.if": 1}
"""What an edge may be in, and how many of its operands say how often what is in it is done."""


def mark_edges(kernel: ir.Operation) -> None:
    """Mark them, and let warps decide by their first lanes how often they come to what they do together."""
    judge, mark = Judge(), ir.UnitAttr.get()
    edges = (*operations(kernel, "gpu.barrier"), *loops_in_step(kernel, judge))
    for op in (kernel, *(each for edge in edges for each in (edge, *ancestors(edge)))):
        op.attributes[EDGE] = mark
    of_warps = [
        each for op in operations(kernel, *TOGETHER) for each in (op, *ancestors(op)) if EDGE not in each.attributes
    ]
    for op in of_warps:
        op.attributes[EDGE] = op.attributes[OF_WARPS] = mark
        for number in range(CONTROLS.get(op.name, 0)):
            value = op.operands[number]
            if judge.varies(value):
                with ir.InsertionPoint(op):
                    first = ir.Operation.create(FIRST, [value.type], [value], {EDGE: mark, OF_WARPS: mark})
                op.operands[number] = first.result


def ends_piece(op: ir.Operation, *, in_warp: bool) -> bool:
    """Whether a piece ends at `op`: of a block's threads, or of a warp's lanes."""
    return EDGE in op.attributes and (in_warp or OF_WARPS not in op.attributes)


def expect_loop_or_branch(op: ir.Operation) -> None:
    """Refuse another op with an edge in it."""
    if op.name not in CONTROLS:
        inner, what = _edge_in(op)
        raise NotLoopsError(inner, f"{what} in {describe(op)}: on the CPU it may stand in scf.for and scf.if")


def controls(op: ir.Operation, same: Collection[ir.Value]) -> list[ir.Value]:
    """What says how often what is in an edge is done; refused where that is not among `same`, what all threads share."""
    found = list(op.operands)[: CONTROLS.get(op.name, 0)]
    if not all(value in same for value in found):
        inner, what = _edge_in(op)
        said = f"{what} in {describe(op)}, whose {'bounds' if len(found) > 1 else 'condition'} may differ from thread to thread"
        raise NotLoopsError(inner, f"{said}: it is not certain that all threads reach it")
    return found


def _edge_in(op: ir.Operation) -> tuple[ir.Operation, str]:
    """What in it makes an op an edge, and what that is called."""
    inner = next(operations(op, "gpu.barrier", *TOGETHER))
    return inner, "a barrier" if inner.name == "gpu.barrier" else "what a warp does together"
