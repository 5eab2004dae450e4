"""What compiled code on a CPU cannot do: ops that only a GPU has, and what threads do together other than by barriers."""

from __future__ import annotations

from ...interpreter.hardware.instructions import DIALECTS
from ...interpreter.ir.mlir import ir, operations
from ...interpreter.ir.refusing import describe
from ...interpreter.ir.structured import element_type
from ...interpreter.memory.effects import combiner
from ..plan.dtypes import HALVES
from .threads import BLOCK_IDS, THREAD_IDS
from .warps import TOGETHER

_OTHERS = {"gpu.func", "gpu.barrier", "gpu.return", "gpu.terminator", "gpu.dynamic_shared_memory"}
_MOVED = {"f8E4M3FN", "f8E5M2"}
"""Types of which upstream's lowering knows the bytes alone."""
KNOWN_GPU_OPS = {*BLOCK_IDS, *THREAD_IDS, *_OTHERS}


class NotLoopsError(Exception):
    """What a program does that compiled code on a CPU cannot do. `place`: the op, and where it is. `hint`: the way out, where
    that is another one than to run the program elsewhere."""

    def __init__(self, op: ir.Operation, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.place, self.hint = message, describe(op), hint


def expect_loops(kernel: ir.Operation) -> None:
    """Refuse what one thread after the other cannot do."""
    for op in operations(kernel):
        dialect = op.name.partition(".")[0]
        if dialect == "gpu" and op.name not in KNOWN_GPU_OPS:
            message = f"on the CPU one thread runs after the other; `{op.name}` is done by several together"
            raise NotLoopsError(op, message)
        if dialect in DIALECTS and op.name not in TOGETHER:
            raise NotLoopsError(op, f"the CPU cannot do `{op.name}`, an op of one kind of GPU")
        if dialect == "arith" and (small := {str(element_type(value)) for value in (*op.operands, *op.results)} & _MOVED):
            raise NotLoopsError(op, f"on the CPU there is no `{op.name}` of {small.pop()}, which is moved alone")
        if op.name in ("arith.truncf", "math.fma"):
            given, made = (str(element_type(value)) for value in (op.operands[0], op.results[0]))
            if made in HALVES and (op.name == "math.fma" or given == "f64"):
                raise NotLoopsError(op, f"on the CPU there is no `{op.name}` of {given} that gives {made}")
        if op.name == "memref.atomic_rmw":
            _expect_atomic(op, combiner(op), str(op.results[0].type))
        if op.name in ("func.call", "func.call_indirect"):
            raise NotLoopsError(op, "the kernel calls a function: inline it, or the CPU cannot run it")


def _expect_atomic(op: ir.Operation, kind: str, element: str) -> None:
    """Refuse what LLVM has no atomic op for."""
    if kind in ("muli", "mulf") or element == "i1" or (element == "bf16" and kind != "assign"):
        raise NotLoopsError(op, f"on the CPU there is no atomic `{kind}` on {element}")
