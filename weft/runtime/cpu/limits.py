"""Restrictions of native execution on the CPU: no op that only a GPU has, and no collective ops
other than barriers and those in `COLLECTIVES`."""

from __future__ import annotations

from collections.abc import Collection

from ...interpreter.hardware.instructions import DIALECTS
from ...interpreter.ir.mlir import ancestors, ir, operations
from ...interpreter.ir.refusing import describe
from ...interpreter.ir.structured import element_type
from ...interpreter.memory.effects import combiner
from ..form.kernel_form import PRINTF
from ..plan.dtypes import HALVES
from .interchange import Judge, loops_in_step
from .threads import BLOCK_IDS, THREAD_IDS
from .warps import COLLECTIVES, FIRST

_OTHERS = {"gpu.func", "gpu.barrier", "gpu.return", "gpu.terminator", "gpu.dynamic_shared_memory"}
_MOVED = {"f8E4M3FN", "f8E5M2"}
"""Types that upstream's lowering treats as bytes: they can be moved, but not computed with."""
KNOWN_GPU_OPS = {*BLOCK_IDS, *THREAD_IDS, *_OTHERS}


class NotLoopsError(Exception):
    """An op that native execution on the CPU does not support.

    Attributes:
        place: the op and its location, as text.
        hint: a way out, if there is one other than to run the program on another target; else None.
    """

    def __init__(self, op: ir.Operation, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.place, self.hint = message, describe(op), hint


def expect_loops(kernel: ir.Operation) -> None:
    """Checks that the kernel can run as loops, one thread after the other. Raises `NotLoopsError`."""
    for op in operations(kernel):
        dialect = op.name.partition(".")[0]
        if dialect == "gpu" and op.name not in KNOWN_GPU_OPS:
            prints = op.name == PRINTF
            message = f"on the CPU one thread runs after the other; `{op.name}` involves several threads at once"
            message = "a kernel that runs on the CPU prints nothing" if prints else message
            raise NotLoopsError(op, message)
        if dialect in DIALECTS and op.name not in COLLECTIVES:
            raise NotLoopsError(op, f"the CPU cannot do `{op.name}`, an op of one kind of GPU")
        if dialect == "arith" and (
            small := {str(element_type(value)) for value in (*op.operands, *op.results)} & _MOVED
        ):
            raise NotLoopsError(op, f"on the CPU there is no `{op.name}` of {small.pop()}, which is moved alone")
        if op.name in ("arith.truncf", "math.fma"):
            given, made = (str(element_type(value)) for value in (op.operands[0], op.results[0]))
            if made in HALVES and (op.name == "math.fma" or given == "f64"):
                raise NotLoopsError(op, f"on the CPU there is no `{op.name}` of {given} that gives {made}")
        if op.name == "memref.atomic_rmw":
            kind, element = combiner(op), str(op.results[0].type)  # LLVM lacks some of them
            if kind in ("muli", "mulf") or element == "i1" or (element == "bf16" and kind != "assign"):
                raise NotLoopsError(op, f"on the CPU there is no atomic `{kind}` on {element}")
        if op.name in ("func.call", "func.call_indirect"):
            raise NotLoopsError(op, "the kernel calls a function: inline it, or the CPU cannot run it")


EDGE = "weft.edge"
"""Mark of edges, of the ops that contain them, and of the kernel. An edge is an op at which a
sequence is cut."""
OF_WARPS = "weft.of_warps"
"""Mark of edges between loops over lanes only; on a collective op of a warp, later its number."""
CONTROLS = {"scf.for": 3, "scf.if": 1}
"""Ops that may contain an edge, with the number of their leading operands that control how often it
runs."""


def mark_edges(kernel: ir.Operation) -> None:
    """Marks all edges: barriers, collective ops, and the loops and branches around them. Bounds and
    conditions around a warp's collective op are replaced by those of the warp's first lane unless
    they are uniform."""
    judge, mark = Judge(), ir.UnitAttr.get()
    edges = (*operations(kernel, "gpu.barrier"), *loops_in_step(kernel, judge))
    for op in (kernel, *(each for edge in edges for each in (edge, *ancestors(edge)))):
        op.attributes[EDGE] = mark
    of_warps = [
        each for op in operations(kernel, *COLLECTIVES) for each in (op, *ancestors(op)) if EDGE not in each.attributes
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
    """Whether a piece ends at `op`. `in_warp`: a piece for the lanes of a warp; otherwise for the
    threads of a block."""
    return EDGE in op.attributes and (in_warp or OF_WARPS not in op.attributes)


def expect_loop_or_branch(op: ir.Operation) -> None:
    """Raises `NotLoopsError` for an op with an edge inside that is neither a loop nor a branch."""
    if op.name not in CONTROLS:
        inner, what = _edge_in(op)
        raise NotLoopsError(inner, f"{what} in {describe(op)}: the CPU supports it inside scf.for and scf.if only")


def controls(op: ir.Operation, same: Collection[ir.Value]) -> list[ir.Value]:
    """The operands that control how often an edge is executed. Raises `NotLoopsError` if one of
    them is not among the uniform values `same`."""
    found = list(op.operands)[: CONTROLS.get(op.name, 0)]
    if not all(value in same for value in found):
        inner, what = _edge_in(op)
        controls_of = "bounds" if len(found) > 1 else "a condition"
        message = f"{what} in {describe(op)} with {controls_of} that may differ from thread to thread"
        raise NotLoopsError(inner, f"{message}: it is not certain that all threads reach it")
    return found


def _edge_in(op: ir.Operation) -> tuple[ir.Operation, str]:
    """The first barrier or collective op in an op, and its description."""
    inner = next(operations(op, "gpu.barrier", *COLLECTIVES))
    return inner, "a barrier" if inner.name == "gpu.barrier" else "what a warp does together"
