"""`linalg.copy`, created at the insertion point, or in place of `memref.copy`; `linalg.fill`."""

from __future__ import annotations

from .mlir import ahead_of, ir, linalg, operations
from .structured import copy_marks


def copy_to(target: ir.Value, source: ir.Value) -> ir.Operation:
    """Copies a tensor to another one, or to a memref. (Upstream's function evaluates the body in
    Python, and takes ten times as long.)"""
    results = [target.type] if isinstance(target.type, ir.RankedTensorType) else []
    cast = ir.Attribute.parse("#linalg.type_fn<cast_signed>", target.context)
    made = linalg.CopyOp(results, [source], [target], cast=cast).operation
    linalg.fill_builtin_region(made)
    return made


def fill_with(target: ir.Value, value: ir.Value) -> ir.Operation:
    """Fills a tensor, or a memref, with a scalar."""
    results = [target.type] if isinstance(target.type, ir.RankedTensorType) else []
    made = linalg.FillOp(results, [value], [target]).operation
    linalg.fill_builtin_region(made)
    return made


def copies_to_linalg(root: ir.Operation) -> None:
    """`memref.copy` → `linalg.copy`, which has a lowering to loops."""
    for copy in operations(root, "memref.copy"):
        with ahead_of(copy):
            made = copy_to(copy.operands[1], copy.operands[0])
        copy_marks(copy, made)
        copy.erase()
