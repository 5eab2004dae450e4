"""An input's tile in registers: each thread reads the elements that its ops ask for once, and keeps them.

The tile is copied to a temporary, from which all ops beside this one read that read the tile. The copy has no map: `launch` gives
it that of the readers, which have to have the same one (`buffers/temporaries.py`).
"""

from __future__ import annotations

from ...buffers.temporaries import REGISTERS
from ...ir.mlir import ahead_of, ir, memref, producer, users
from ...ir.structured import element_type, is_structured, segments
from ...memory.names import free_name
from ...session.statement import Operand, Rewriter
from ...tensors import levels
from ...tensors.levels import origin
from ..promote_to_shared import copied, input_position, static_tile


def stage(rewrite: Rewriter, operand: Operand) -> tuple[ir.Operation, ir.Operation]:
    """Stage the tile; the temporary, and what fills it. Raises W0330 … W0333."""
    from ...padding.masked_loads import is_masked_load

    op = levels.on_tensors(rewrite, operand.handle)
    levels.refuse_overlap(rewrite, op, "operand")
    position = input_position(rewrite, op, operand)
    value = op.operands[position]
    kind = ir.MemRefType.get(list(static_tile(rewrite, op, value)), element_type(value))
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
