"""Tokens as the ops of a host function show them: which ones an op waits for, which one it makes."""

from __future__ import annotations

from ...ir import mlir
from ...ir.functions import KERNEL_OPERANDS, segments
from ...ir.mlir import ir

TOKEN = "!gpu.async.token"

LOOPS = ("scf.for", "affine.for")
BRANCHES = ("scf.if", "affine.if")


def is_token(value: ir.Value) -> bool:
    return str(value.type) == TOKEN


def dependencies(op: ir.Operation) -> list[ir.Value]:
    """The tokens that `op` waits for (of a loop: those that its first iteration gets)."""
    return [v for v in op.operands if is_token(v)]


def made_tokens(op: ir.Operation) -> list[ir.Value]:
    return [v for v in op.results if is_token(v)]


def is_fork(op: ir.Operation) -> bool:
    """`gpu.wait async`: a root, a join, or an explicit fork; any number of them may use a token."""
    return op.name == "gpu.wait" and bool(made_tokens(op))


def is_blocking(op: ir.Operation) -> bool:
    """`gpu.wait [%t]`: the host goes on when the tokens are ready, and their streams are given up."""
    return op.name == "gpu.wait" and not made_tokens(op)


def uses_tokens(root: ir.Operation) -> bool:
    """Whether an op in `root` makes or takes a token."""
    return any(is_token(v) for op in mlir.operations(root) for v in (*op.results, *op.operands))


def takes_a_stream(op: ir.Operation) -> bool:
    """`gpu.launch_func <%stream : i64>`: the caller's stream; nobody here knows when the work is done."""
    return op.name == "gpu.launch_func" and bool(segments(op)[KERNEL_OPERANDS + 1])


def constant(value: ir.Value) -> int | None:
    made = mlir.producer(value)
    if made is None or made.name != "arith.constant":
        return None
    attribute = made.attributes["value"]
    if isinstance(attribute, ir.BoolAttr):
        return int(attribute.value)
    return int(ir.IntegerAttr(attribute).value) if isinstance(attribute, ir.IntegerAttr) else None


def trip_count(loop: ir.Operation) -> int | None:
    """How often an `scf.for` runs, if its bounds are constants. The bounds of an `affine.for` are left alone."""
    if loop.name != "scf.for":
        return None
    first, end, step = (constant(v) for v in list(loop.operands)[:3])
    if first is None or end is None or step is None or step < 1:
        return None
    return max(0, -((first - end) // step))
