"""Results that are computed in another shape than they have: a convolution's, as a matrix.

`expand_shape` of a loop's result would bufferize to a buffer of the loop's shape and a copy. Here the loop is given the result's
own buffer to write in, seen in its shape.
"""

from __future__ import annotations

from . import gathers, mlir
from .fusing import loop_inits
from .mlir import ir, producer, tensor
from .structured import element_type, shape_of


def start_reshaped(module: ir.Module) -> None:
    """Loops whose result is expanded, and which start from nothing, start from the collapsed place of what is expanded to."""
    with module.context, ir.Location.unknown():
        for op in mlir.operations(module.operation, "tensor.expand_shape"):
            loop = producer(op.operands[0])
            if loop is None or loop.name != "scf.forall" or None in shape_of(op.results[0]):
                continue
            number = ir.OpResult(op.operands[0]).result_number
            start = loop_inits(loop)[number]
            if gathers.is_empty(start):
                _start(loop, number, start, op)


def _start(loop: ir.Operation, number: int, old: ir.Value, expanded: ir.Operation) -> None:
    shape = [n or 0 for n in shape_of(expanded.results[0])]
    with ir.InsertionPoint(loop):
        place = gathers.empty(shape, element_type(old))
        seen = tensor.CollapseShapeOp(old.type, place, expanded.attributes["reassociation"]).result
    loop.operands[len(loop.operands) - len(loop.results) + number] = seen


def fold_reshapes(module: ir.Module) -> None:
    """A reshape of a reshape back to the type it came from is what it came from."""
    for op in mlir.operations(module.operation, "memref.expand_shape", "memref.collapse_shape"):
        before = producer(op.operands[0])
        other = "memref.collapse_shape" if op.name == "memref.expand_shape" else "memref.expand_shape"
        if before is not None and before.name == other and before.operands[0].type == op.results[0].type:
            op.results[0].replace_all_uses_with(before.operands[0])
            op.erase()
