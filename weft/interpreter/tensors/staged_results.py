"""Staged results: an op writes its tile into a buffer that a statement allocated, and a copy moves
it to its destination.

    %r = linalg.matmul … outs(%zeros)         →    %r = linalg.matmul … outs(%zeros in the buffer)
    insert %r                                      %w = linalg.copy %r outs(%place) {weft.merge};  insert %w

A fill that only the op reads is done in the buffer as well, and so is a masked load; any other
initial contents are copied there first. For a ragged tile, the copy to the destination has the size
of the part that is inside (`writeback_guards.py`).
"""

from __future__ import annotations

from ..ir.copying import copy_to, fill_value
from ..ir.mlir import ahead_of, ir, producer, users
from ..ir.structured import is_read, segments
from ..memory.layouts import as_tensor
from ..padding.masked_loads import MARK, is_masked_load

MERGE = "weft.merge"
"""An attribute of the copy that moves a result to its destination."""


def stage_result(
    op: ir.Operation, position: int, view: ir.Value, *, mapped: bool
) -> tuple[ir.Operation | None, ir.Operation]:
    """Lets an op on tensors write its output operand number `position` into a buffer, viewed as
    `view`. Returns the op that copies the initial contents there (None if there is none), and the
    copy to the destination. `mapped`: a schedule maps the first of these."""
    value, result = op.operands[position], op.results[position - segments(op)[0]]
    made = producer(value)
    alone = made is not None and made.block == op.block and len(users(value)) == 1 and is_read(op, position)
    first, place, copy = op, value, None
    if made is not None and alone and (fill_value(made) is not None or is_masked_load(made)):
        first, place = made, made.operands[len(made.operands) - 1]
    with ahead_of(first):
        there = as_tensor(view)
        if first != op:
            first.operands[len(first.operands) - 1] = there
            if mapped and fill_value(first) is None:
                copy = first
                del first.attributes[MARK]
        elif is_read(op, position):
            copy = copy_to(there, value)
            op.operands[position] = copy.results[0]
        else:
            op.operands[position] = there
    with ir.InsertionPoint.after(op), op.location:
        merge = copy_to(place, result)
    merge.attributes[MERGE] = ir.UnitAttr.get()
    result.replace_all_uses_except(merge.results[0], merge)
    return copy, merge
