"""What compiled code on a CPU cannot do: ops of GPUs alone, and what threads do together but barriers."""

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
from .warps import FIRST, TOGETHER

_OTHERS = {"gpu.func", "gpu.barrier", "gpu.return", "gpu.terminator", "gpu.dynamic_shared_memory"}
_MOVED = {"f8E4M3FN", "f8E5M2"}
"""Types of which upstream's lowering knows the bytes alone."""
KNOWN_GPU_OPS = {*BLOCK_IDS, *THREAD_IDS, *_OTHERS}


class NotLoopsError(Exception):
    """What a program does that compiled code on a CPU cannot do. `place`: the op, and where it is. `hint`: the way out,
    where that is another one than to run the program elsewhere."""

    def __init__(self, op: ir.Operation, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.place, self.hint = message, describe(op), hint


def expect_loops(kernel: ir.Operation) -> None:
    """Refuse what one thread after the other cannot do."""
    for op in operations(kernel):
        dialect = op.name.partition(".")[0]
        if dialect == "gpu" and op.name not in KNOWN_GPU_OPS:
            prints = op.name == PRINTF
            message = f"on the CPU one thread runs after the other; `{op.name}` is done by several together"
            message = "a kernel that runs on the CPU prints nothing" if prints else message
            raise NotLoopsError(op, message)
        if dialect in DIALECTS and op.name not in TOGETHER:
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
            kind, element = combiner(op), str(op.results[0].type)  # LLVM has not all of them
            if kind in ("muli", "mulf") or element == "i1" or (element == "bf16" and kind != "assign"):
                raise NotLoopsError(op, f"on the CPU there is no atomic `{kind}` on {element}")
        if op.name in ("func.call", "func.call_indirect"):
            raise NotLoopsError(op, "the kernel calls a function: inline it, or the CPU cannot run it")


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
    """What says how often an edge's contents are done; refused where not among `same`, which all threads share."""
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
