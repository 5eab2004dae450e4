"""Results that are computed in another shape than they have: a convolution's, as a matrix.

`expand_shape` of a loop's result would bufferize to a buffer of the loop's shape and a copy. Here the loop is given the result's
own buffer to write in, seen in its shape: before bufferization where that is an argument (`start_reshaped`), and behind it for the
buffers that bufferization allocates, whatever they start with (`allocate_expanded`).
"""

from __future__ import annotations

from ..ir.cloning import replace_operands
from ..ir.mlir import ir, made_by, memref, operations, producer, stands_in, tensor, users
from ..ir.structured import is_structured, replace, segments, shape_of
from ..memory.layouts import as_tensor, is_plain
from ..padding import gathers

_MATERIALIZE = "bufferization.materialize_in_destination"


def start_reshaped(module: ir.Module) -> None:
    """Loops whose result is expanded into an argument, and which start from nothing, start from that argument, collapsed."""
    for op in operations(module.operation, "tensor.expand_shape"):
        made = made_by(op.operands[0], "scf.forall")
        if made is None or None in shape_of(op.results[0]):
            continue
        first, number = _first(made, ir.OpResult(op.operands[0]).result_number)
        if gathers.is_empty(first.operands[number]):
            _start(first, number, op)


def _first(op: ir.Operation, result: int) -> tuple[ir.Operation, int]:
    """Of the loops and ops that write a result one after the other, the first one, and its operand that the result starts from."""
    outputs = len(op.results) if op.name == "scf.forall" else segments(op)[1]
    number = len(op.operands) - outputs + result
    before = producer(op.operands[number])
    if before is None or before.block != op.block or not (before.name == "scf.forall" or is_structured(before)):
        return op, number
    return _first(before, ir.OpResult(op.operands[number]).result_number)


def _start(first: ir.Operation, number: int, expanded: ir.Operation) -> None:
    with ir.InsertionPoint(first):
        place = _destination(expanded.results[0], first)
        if place is not None:
            kind = first.operands[number].type
            first.operands[number] = tensor.CollapseShapeOp(kind, place, expanded.attributes["reassociation"]).result


def _destination(result: ir.Value, loop: ir.Operation) -> ir.Value | None:
    """The argument that the result goes to and nothing else does with it, as a tensor; made at the insertion point."""
    taken = users(result)
    if len(taken) != 1 or taken[0].name != _MATERIALIZE or taken[0].block != loop.block:
        return None
    buffer = taken[0].operands[1]
    if not isinstance(buffer.type, ir.MemRefType) or not isinstance(buffer.owner, ir.Block):
        return None
    for made in users(buffer):
        if made.name == "bufferization.to_tensor":
            return made.results[0] if made.block == loop.block and made.is_before_in_block(loop) else None
        if made != taken[0]:
            return None
    return as_tensor(buffer)


def allocate_expanded(module: ir.Module) -> None:
    """Allocate what is expanded later in its expanded shape; those that fill it see it collapsed.

    A convolution that adds to a tensor argument starts from a copy of it as a matrix: the copy then is the result, and no copy of
    that is made. In the body of a function alone: what a loop allocates is a tile, and stays as it was scheduled.
    """
    for op in operations(module.operation, "memref.expand_shape"):
        made, kind = made_by(op.operands[0], "memref.alloc"), op.results[0].type
        if made is None or not is_plain(kind) or not ir.MemRefType(kind).has_static_shape:
            continue
        result = made.results[0]
        if not stands_in(made, "func.func") or any(user.name == "func.return" for user in users(result)):
            continue
        with ir.InsertionPoint(made), made.location:
            copy = made.clone()
            whole = copy.operation.results[0]
            whole.set_type(kind)
            seen = memref.CollapseShapeOp(result.type, whole, op.attributes["reassociation"]).result
        for user in users(result):
            replace_operands(user, {result: whole if user.name == "memref.dealloc" else seen})
        made.erase()


def fold_reshapes(module: ir.Module) -> None:
    """A reshape of a reshape back to the type it came from is what it came from."""
    for op in operations(module.operation, "memref.expand_shape", "memref.collapse_shape"):
        other = "memref.collapse_shape" if op.name == "memref.expand_shape" else "memref.expand_shape"
        before = made_by(op.operands[0], other)
        if before is not None and before.operands[0].type == op.results[0].type:
            replace(op, [before.operands[0]])
