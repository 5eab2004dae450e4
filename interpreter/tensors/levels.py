"""Tensors or memrefs: where an op stands, and how to get it to the level that a statement needs."""

from __future__ import annotations

from ..ir.mlir import ir
from ..session.rewriter import Rewriter
from ..session.statement import Handle


def is_memref(op: ir.Operation) -> bool:
    """Whether a structured op works on memrefs."""
    return any(isinstance(v.type, ir.MemRefType) for v in op.operands)


def refuse_overlap(rewrite: Rewriter, op: ir.Operation, at: str) -> None:
    """W0396: the op reads what it writes through another view, so that its result depends on the order of its iterations."""
    from ..buffers.overlap import overlap
    from ..ir.structured import is_structured, operand_names

    found = overlap(op) if is_structured(op) and is_memref(op) else None
    if found is not None:
        names = operand_names(op)
        raise rewrite.error(
            "W0396",
            f"`{names[found[0]]}` and `{names[found[1]]}` are views of one buffer that may overlap: what the op reads depends on "
            "which of its iterations ran before",
            at=at,
            payload=op,
            hint="give the op a result of its own, or copy the input first",
        )


def expect_values(rewrite: Rewriter, target: Handle, code: str, what: str) -> ir.Operation:
    """The op of `target`, on tensors; refused where it has to stay on memrefs."""
    op = on_tensors(rewrite, target)
    if is_memref(op):
        from .raising import obstacle

        why, hint = obstacle(op)
        raise rewrite.error(code, f"the {what} is on memrefs, and {why}", at="target", payload=op, hint=hint)
    return op


def on_tensors(rewrite: Rewriter, target: Handle) -> ir.Operation:
    """The op of `target`, on tensors where that can be: a payload written on memrefs is raised first, and says so."""
    op = rewrite.find(target)
    if is_memref(op):
        from .raising import raise_to_tensors

        if raise_to_tensors(rewrite, op):
            op = rewrite.find(target)
    return op
