"""Results that are computed in another shape than they have: a convolution's, as a matrix.

`expand_shape` of a loop's result would bufferize to a buffer of the loop's shape and a copy. Here the loop is given the result's
own buffer to write in, seen in its shape.
"""

from __future__ import annotations

from . import gathers, mlir
from .fusing import loop_inits
from .mlir import ir, producer, tensor
from .structured import element_type, shape_of

_MATERIALIZE, _TO_TENSOR = "bufferization.materialize_in_destination", "bufferization.to_tensor"


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
        place = _destination(expanded.results[0], loop) or gathers.empty(shape, element_type(old))
        seen = tensor.CollapseShapeOp(old.type, place, expanded.attributes["reassociation"]).result
    loop.operands[len(loop.operands) - len(loop.results) + number] = seen


def _destination(result: ir.Value, loop: ir.Operation) -> ir.Value | None:
    """The argument that the result goes to and nothing else does with it, as a tensor; made at the insertion point."""
    users = [use.owner.operation for use in result.uses]
    if len(users) != 1 or users[0].name != _MATERIALIZE or users[0].block != loop.block:
        return None
    buffer = users[0].operands[1]
    if not isinstance(buffer.type, ir.MemRefType) or not isinstance(buffer.owner, ir.Block):
        return None
    for use in buffer.uses:
        made = use.owner.operation
        if made.name == _TO_TENSOR:
            return made.results[0] if made.block == loop.block and made.is_before_in_block(loop) else None
        if made != users[0]:
            return None
    return ir.Operation.create(
        _TO_TENSOR,
        results=[result.type],
        operands=[buffer],
        attributes={"restrict": ir.UnitAttr.get(), "writable": ir.UnitAttr.get()},
    ).results[0]


def fold_reshapes(module: ir.Module) -> None:
    """A reshape of a reshape back to the type it came from is what it came from."""
    for op in mlir.operations(module.operation, "memref.expand_shape", "memref.collapse_shape"):
        before = producer(op.operands[0])
        other = "memref.collapse_shape" if op.name == "memref.expand_shape" else "memref.expand_shape"
        if before is not None and before.name == other and before.operands[0].type == op.results[0].type:
            op.results[0].replace_all_uses_with(before.operands[0])
            op.erase()
