"""Fold what tiling leaves behind, without touching loops: `canonicalize` would delete one-trip loops and their handles."""

from __future__ import annotations

from ..ir.mlir import ir, made_by, operations, run_passes, stands_in
from ..ir.structured import element_type, extents_of, replace, shape_of, takes_all, uncut
from ..padding import gathers


def tidy(module: ir.Module) -> None:
    """Slices of `tensor.empty` become smaller ones, slices of everything become the thing; dead pure ops go."""
    for op in operations(module.operation, "tensor.extract_slice", "tensor.insert_slice"):
        _fold(op)
    run_passes(module, "cse")


def _fold(op: ir.Operation) -> None:
    source = uncut(op.operands[0])
    if op.name == "tensor.extract_slice" and not _is_launched(source):
        op.operands[0] = source
    source = op.operands[0]
    result = op.results[0]
    if source.type == result.type and takes_all(op):
        replace(op, [source])
    elif op.name == "tensor.extract_slice" and gathers.is_empty(source) and None not in shape_of(result):
        with ir.InsertionPoint(op):
            small = gathers.empty(extents_of(result), element_type(result))
        replace(op, [small])


def _is_launched(value: ir.Value) -> bool:
    """Whether an outermost loop computes the value: a slice of it says how much of a rounded-up result is wanted (`clipping`)."""
    op = made_by(value, "scf.forall")
    return op is not None and stands_in(op, "func.func")
