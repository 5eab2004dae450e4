"""vector.transfer_read and transfer_write, where they are plain loads and stores of the innermost dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from ....interpreter.ir.mlir import ir
from ..errors import refuse
from ..expression import Expr
from ..kernel import Kernel
from ..registry import writes
from . import vector


def _check(op: ir.Operation, memref: ir.Value, vector_value: ir.Value) -> None:
    """Refuses masks, permutations, and dimensions that may be out of bounds."""
    if not isinstance(memref.type, ir.MemRefType):
        raise refuse("W0503", f"`{op.name}` on {memref.type}: bufferize first", op)
    rank, shape = ir.MemRefType(memref.type).rank, vector.shape_of(vector_value)
    if list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))[-1]:
        raise refuse("W0503", f"`{op.name}` with a mask", op)
    map = ir.AffineMapAttr(op.attributes["permutation_map"]).value
    if map != ir.AffineMap.get_minor_identity(rank, len(shape), op.context):
        raise refuse("W0503", f"`{op.name}` with the permutation {map}", op, hint="run `transfer_permutation_patterns`")
    bounds = [ir.BoolAttr(b).value for b in op.attributes["in_bounds"]] if "in_bounds" in op.attributes else []
    if len(bounds) != len(shape) or not all(bounds):
        raise refuse("W0503", f"`{op.name}` that may be out of bounds", op, hint="guard it, and state in_bounds")


def _indices(kernel: Kernel, values: Sequence[ir.Value]) -> list[Expr]:
    return [kernel.atom(v, kernel.base_name(v)) for v in values]


@writes("vector.transfer_read")
def transfer_read(kernel: Kernel, op: ir.Operation) -> None:
    _check(op, op.operands[0], op.results[0])
    view = kernel.view(op.operands[0])
    indices = _indices(kernel, list(op.operands)[1 : 1 + len(view.shape)])
    vector.put(kernel, op.results[0], vector.read(kernel, view, vector.shape_of(op.results[0]), indices))


@writes("vector.transfer_write")
def transfer_write(kernel: Kernel, op: ir.Operation) -> None:
    _check(op, op.operands[1], op.operands[0])
    lanes, view = kernel.lanes(op.operands[0]), kernel.view(op.operands[1])
    indices = _indices(kernel, list(op.operands)[2 : 2 + len(view.shape)])
    vector.write(kernel, view, vector.shape_of(op.operands[0]), indices, lanes)
