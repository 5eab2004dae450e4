"""Report remarks on accesses: which of them are wide, and why others are not."""

from __future__ import annotations

from ..ir.element_sizes import element_bytes
from ..ir.functions import name_of
from ..ir.mlir import ir, operations
from ..ir.refusing import Name, Remark
from ..memory.effects import is_memref
from ..memory.views import root_memref
from .elements import StructuredOp, most_lanes
from .owners.arrays import is_stage


def widths(op: ir.Operation, structured: StructuredOp, lanes: int) -> Remark:
    """A remark on the widths of a vectorized op's accesses."""

    if structured.asynchronous is not None:
        at_once = structured.copied_at_once(lanes)
        target = ir.MemRefType(op.operands[len(op.operands) - 1].type)
        size = at_once * element_bytes(target.element_type)
        return Remark.of("{}: asynchronous copies of {} bytes", _name_in_remarks(op, structured), size)

    def side(kind: str, number: int) -> str:
        if (n := structured.at_once(number, lanes)) > 1:
            return f"{kind} {n}-wide"
        why = "neighbours lie apart" if structured.lies_apart(number) else "alignment not proven"
        return f"{kind} scalar ({why})"

    buffers = [n for n, operand in enumerate(structured.operands) if is_memref(operand)]
    in_memory = [n for n in buffers if not is_stage(structured.operands[n])]
    loads = [side("loads", n) for n in in_memory if structured.used(n)]
    stores = [side("stores", n) for n in in_memory if n in structured.output_numbers()]
    return Remark.of(
        "{}: {}", _name_in_remarks(op, structured), ", ".join([*loads, *_in_body(op, structured, lanes), *stores])
    )


def _in_body(op: ir.Operation, structured: StructuredOp, lanes: int) -> list[str]:
    """The width of the reads in the body, as text."""
    wide, reads = structured.masked(lanes), len(list(operations(op, "memref.load")))
    if not reads:
        return []
    if not wide:
        why = "neighbours lie apart" if next(operations(op, "scf.if"), None) is None else "masked one by one"
        return [f"loads scalar ({why})"]
    guard = " under one guard" if any(load.choice is not None for load in wide) else ""
    some = "" if len(wide) == reads else f"{len(wide)} of {reads} "
    at_once = {min(lanes, most_lanes(load.value.type)) for load in wide}
    return [f"loads {some}{'- or '.join(map(str, sorted(at_once)))}-wide{guard}"]


def _name_in_remarks(op: ir.Operation, structured: StructuredOp) -> Remark:
    """The op in remarks, after the name of the buffer that it writes, if that has one."""
    filled = [root_memref(structured.operands[n]) for n in structured.output_numbers()]
    name = next((name_of(base) for base in filled if not isinstance(base.owner, ir.Block)), None)
    return Remark.of("{}", op) if name is None else Remark.of("{} ({})", Name(name), op)
