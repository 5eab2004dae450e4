"""Tensors or memrefs: where an op stands, and how to get it to the level that a statement needs."""

from __future__ import annotations

from .mlir import ir
from .rewriter import Rewriter
from .statement import Handle


def is_memref(op: ir.Operation) -> bool:
    """Whether a structured op works on memrefs."""
    return any(isinstance(v.type, ir.MemRefType) for v in op.operands)


def on_tensors(rewrite: Rewriter, target: Handle) -> ir.Operation:
    """The op of `target`, on tensors where that can be: a payload written on memrefs is raised first, and says so."""
    op = rewrite.find(target)
    if is_memref(op):
        from .raising import raise_to_tensors

        if raise_to_tensors(rewrite, op):
            op = rewrite.find(target)
    return op
