"""Fold what tiling leaves behind, without touching loops: `canonicalize` would delete one-trip loops and their handles."""

from __future__ import annotations

from ..ir import mlir
from ..ir.mlir import ir, producer, tensor
from ..ir.structured import element_type, shape_of
from ..padding import gathers
from ..padding.rounding import from_origin

_DYNAMIC = mlir.DYNAMIC


def tidy(module: ir.Module) -> None:
    """Slices of `tensor.empty` become smaller ones, slices of everything become the thing; dead pure ops go."""
    with module.context, ir.Location.unknown():
        for op in mlir.operations(module.operation, "tensor.extract_slice", "tensor.insert_slice"):
            _fold(op)
        mlir.run_passes(module, "cse")


def _fold(op: ir.Operation) -> None:
    source = op.operands[0]
    if (
        op.name == "tensor.extract_slice"
        and not isinstance(source.owner, ir.Block)
        and from_origin(source.owner.operation)
        and not _is_launched(source.owner.operation.operands[0])
    ):
        source = source.owner.operation.operands[0]
        op.operands[0] = source
    result = op.results[0]
    if source.type == result.type and _whole(op):
        result.replace_all_uses_with(source)
        op.erase()
    elif op.name == "tensor.extract_slice" and gathers.is_empty(source) and None not in shape_of(result):
        with ir.InsertionPoint(op):
            small = tensor.EmptyOp([n or 0 for n in shape_of(result)], element_type(result)).result
        result.replace_all_uses_with(small)
        op.erase()


def _is_launched(value: ir.Value) -> bool:
    """Whether an outermost loop computes the value: a slice of it says how much of a rounded-up result is wanted (`clipping`)."""
    op = producer(value)
    return op is not None and op.name == "scf.forall" and op.parent is not None and op.parent.operation.name == "func.func"


def _whole(op: ir.Operation) -> bool:
    """Whether the slice is all of the tensor: offsets 0, strides 1, the same shape."""
    offsets = list(ir.DenseI64ArrayAttr(op.attributes["static_offsets"]))
    strides = list(ir.DenseI64ArrayAttr(op.attributes["static_strides"]))
    whole = op.operands[0] if op.name == "tensor.extract_slice" else op.operands[1]
    part = op.results[0] if op.name == "tensor.extract_slice" else op.operands[0]
    if any(offsets) or any(s != 1 for s in strides) or None in shape_of(part):
        return False
    return shape_of(whole) == shape_of(part)
