"""Cleanup after every statement: trivial slices are folded, sizes refer to available values, equal
ops are merged."""

from __future__ import annotations

from .mlir import ahead_of, has_parent, ir, made_by, merge_equal, operations
from .sizes import measured_dimension, size_of
from .structured import element_type, empty, extents_of, is_empty, parts_of, replace, shape_of, takes_all, uncut


def tidy(module: ir.Module, *, verify: bool = False) -> None:
    """Replaces slices of `tensor.empty` by smaller ones, slices of whole tensors by these, sizes of
    derived values by those of their origins; erases dead pure ops. `verify`: raise `ir.MLIRError`
    if the module is invalid."""
    looked_at = "tensor.extract_slice", "tensor.insert_slice", "tensor.dim"
    for op in operations(module.operation, *looked_at):
        if op.name == "tensor.dim":
            found = measured_dimension(op.results[0])
            with ahead_of(op):
                size = 0 if found is None else size_of(*found)
            if isinstance(size, ir.Value) and measured_dimension(size) != found:
                replace(op, [size])
            continue
        source, result, takes = uncut(op.operands[0]), op.results[0], op.name == "tensor.extract_slice"
        launched = made_by(source, "scf.forall")  # a slice of that says how much of it is wanted (`writeback_guards`)
        if takes and not (launched is not None and has_parent(launched, "func.func")):
            op.operands[0] = source
        source = op.operands[0]
        if source.type == result.type and takes_all(op):
            replace(op, [source])
        elif takes and is_empty(source):
            sizes = extents_of(result) if None not in shape_of(result) else parts_of(op)[1]
            with ir.InsertionPoint(op):
                small = empty(sizes, element_type(result))
            if small.type == result.type:
                replace(op, [small])
    if verify:
        module.operation.verify()
    merge_equal(module)
