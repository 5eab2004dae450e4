"""What a report says of accesses: which of them are wide, and why others are not."""

from __future__ import annotations

from ..buffers.elements import StructuredOp
from ..buffers.register_stages import is_stage
from ..ir.element_sizes import element_bytes
from ..ir.functions import name_of
from ..ir.mlir import ir
from ..memory.effects import is_memref
from ..memory.views import behind
from ..session.rewriter import describe


def widths(op: ir.Operation, structured: StructuredOp, lanes: int) -> str:
    """Which sides of a vectorised op are wide, for the report."""

    if structured.asynchronous is not None:
        at_once = structured.copied_at_once(lanes)
        target = ir.MemRefType(op.operands[len(op.operands) - 1].type)
        return f"{_called(op, structured)}: asynchronous copies of {at_once * element_bytes(target.element_type)} bytes"

    def side(kind: str, number: int) -> str:
        if (n := structured.at_once(number, lanes)) > 1:
            return f"{kind} {n}-wide"
        why = "neighbours lie apart" if structured.lies_apart(number) else "alignment not proven"
        return f"{kind} scalar ({why})"

    buffers = [n for n, operand in enumerate(structured.operands) if is_memref(operand)]
    in_memory = [n for n in buffers if not is_stage(structured.operands[n])]
    loads = [side("loads", n) for n in in_memory if structured.used(n)]
    stores = [side("stores", n) for n in in_memory if n in structured.output_numbers()]
    gathered = structured.gathered(lanes)
    guard = "" if gathered is not None and gathered.choice is None else " under one guard"
    how = f"{lanes}-wide{guard}" if gathered is not None else "scalar (masked one by one)"
    in_body = [] if any(structured.used(n) for n in buffers) else [f"loads {how}"]
    return f"{_called(op, structured)}: " + ", ".join([*(loads or in_body), *stores])


def _called(op: ir.Operation, structured: StructuredOp) -> str:
    """The op, by the named one of what it fills."""
    filled = [behind(structured.operands[n]) for n in structured.output_numbers()]
    name = next((name_of(base) for base in filled if not isinstance(base.owner, ir.Block)), None)
    return describe(op) if name is None else f"{name} ({describe(op)})"
