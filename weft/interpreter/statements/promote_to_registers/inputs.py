"""The tile of an input, or of a result, in registers. Each thread reads once the elements of an
input that its ops need, and keeps them.

The tile is copied to a temporary, from which all neighbouring ops that use the tile read it. The
copy has no map: `launch` gives it that of the readers, which must all have the same one
(`buffers/temporaries.py`). For a result, the op writes the temporary, and the copy reads it.
"""

from __future__ import annotations

from ...buffers.elements import VECTOR, most_lanes
from ...buffers.temporaries import REGISTERS
from ...ir.mlir import ahead_of, i64, ir, memref, producer, users
from ...ir.structured import element_type, is_structured, segments
from ...memory.names import free_name
from ...session.statement import Operand, Rewriter
from ...tensors import levels
from ...tensors.destinations import result_name
from ...tensors.levels import origin
from ...tensors.staged_results import stage_result
from ..promote_to_shared import copied, position_of, static_tile


def stage(rewrite: Rewriter, operand: Operand) -> tuple[ir.Operation, ir.Operation]:
    """Stages the tile; returns the temporary, and the op that fills it (or, for a result, empties
    it). Raises W0330 … W0333."""
    from ...padding.masked_loads import is_masked_load

    op = levels.on_tensors(rewrite, operand.handle)
    levels.refuse_overlap(rewrite, op, "operand")
    position = position_of(rewrite, op, operand)
    value = op.operands[position]
    kind = ir.MemRefType.get(list(static_tile(rewrite, op, value)), element_type(value))
    if position >= segments(op)[0]:
        return _stage_result(rewrite, op, position, kind, operand)
    others = [user for user in users(value) if user != op and user.block == op.block and is_structured(user)]
    made = producer(value)
    with ahead_of(made if made is not None and is_masked_load(made) and made.block == op.block else op):
        alloc = memref.AllocOp(kind, [], []).operation
    alloc.attributes[REGISTERS] = ir.UnitAttr.get()
    name = origin(value, rewrite.written) or operand.name
    alloc.attributes["weft.name"] = ir.StringAttr.get(free_name(op, f"{name}_tile"))
    copy = copied(op, position, alloc.results[0])
    for other in others:
        for number in range(segments(other)[0]):
            if other.operands[number] == value and op.is_before_in_block(other):
                other.operands[number] = op.operands[position]
    rewrite.remark(f"{kind}: each thread keeps what it reads")
    return alloc, copy


def _stage_result(
    rewrite: Rewriter, op: ir.Operation, position: int, kind: ir.MemRefType, operand: Operand
) -> tuple[ir.Operation, ir.Operation]:
    """The temporary that the op writes its result to, and the copy to the destination. Raises
    W0331."""
    if levels.on_memrefs(op):
        raise rewrite.error(
            "W0331", f"`{operand.name}` is written, and of an op on memrefs only inputs are staged", op,
            "name a loop around it: `promote-to-registers … across`", at="operand",
        )  # fmt: skip
    value = op.operands[position]
    made = producer(value)
    with ahead_of(made if made is not None and made.block == op.block and is_structured(made) else op):
        alloc = memref.AllocOp(kind, [], []).operation
    alloc.attributes[REGISTERS] = ir.UnitAttr.get()
    alloc.attributes["weft.name"] = ir.StringAttr.get(free_name(op, f"{result_name(value) or operand.name}_tile"))
    _, copy = stage_result(op, position, alloc.results[0], mapped=False)
    copy.attributes[VECTOR] = i64(most_lanes(kind.element_type))  # it moves elements unchanged
    rewrite.remark(f"{kind}: each thread keeps what it makes")
    return alloc, copy
