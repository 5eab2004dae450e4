"""Reading a kernel that becomes loops: where its barriers are, what is pure, what only a piece of it uses; and what is refused."""

from __future__ import annotations

from ...dsl.diagnostics import Diagnostic, WeftError
from ...interpreter.ir import mlir
from ...interpreter.ir.mlir import ir
from ...interpreter.memory.effects import is_pure
from ...interpreter.session.rewriter import describe
from .ids import BLOCK_IDS, THREAD_IDS

WAY_OUT = "run without a reference: --reference none"

KNOWN_GPU_OPS = {*BLOCK_IDS, *THREAD_IDS, "gpu.barrier", "gpu.return", "gpu.terminator", "gpu.dynamic_shared_memory"}


def expect_known(kernel: ir.Operation) -> None:
    for op in mlir.operations(kernel):
        dialect = op.name.partition(".")[0]
        if op is not kernel and dialect == "gpu" and op.name not in KNOWN_GPU_OPS and op.name != "gpu.func":
            raise refused(op, f"the CPU reference does one thread after the other; `{op.name}` is done by several together")
        if dialect in ("nvgpu", "nvvm", "rocdl", "amdgpu"):
            raise refused(op, f"the CPU reference cannot do `{op.name}`, an op of one kind of GPU")
        if op.name in ("func.call", "func.call_indirect"):
            raise refused(op, "the kernel calls a function: inline it, or the CPU reference cannot run it")


def has_barrier(op: ir.Operation) -> bool:
    return any(True for _ in mlir.operations(op, "gpu.barrier"))


def first_barrier(op: ir.Operation) -> ir.Operation:
    return next(mlir.operations(op, "gpu.barrier"))


def is_the_same(op: ir.Operation) -> bool:
    """Whether the op gives all threads of a block the same if its operands are the same."""
    return is_pure(op) and op.name not in THREAD_IDS


def body(block: ir.Block) -> list[ir.Operation]:
    """All but the terminator."""
    return [op.operation for op in block.operations][:-1]


def yielded(block: ir.Block) -> list[ir.Value]:
    return list(block.operations[len(block.operations) - 1].operation.operands)


def used_inside(value: ir.Value, ops: set[ir.Operation]) -> bool:
    """Whether only `ops`, and what is in them, use the value."""
    return all(_holder(use.owner.operation, ops) for use in value.uses)


def _holder(op: ir.Operation, ops: set[ir.Operation]) -> bool:
    each: ir.Operation | None = op
    while each is not None and each not in ops:
        each = each.parent.operation if each.parent is not None and each.name != "gpu.func" else None
    return each is not None


def refused(op: ir.Operation, message: str) -> WeftError:
    return WeftError(Diagnostic("W0802", message, hint=WAY_OUT, payload=describe(op)))
