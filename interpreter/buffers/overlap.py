"""Structured ops on memrefs that read what they write through another view or in another order.

linalg calls such an op's iterations parallel, and yet what comes out depends on their order: the payload's own loops give one
result, tiles, threads or staged copies another. No statement can keep that, so they refuse it.
"""

from __future__ import annotations

from ..ir.mlir import ir
from ..ir.nesting import ancestors, is_used
from ..ir.structured import indexing_maps
from ..memory.effects import is_memref
from ..memory.views import may_share
from ..proof.hosts.tracing import HostValues, traced
from .symbolic import spelled


def overlap(op: ir.Operation) -> tuple[int, int] | None:
    """The numbers of an input and an output that may share elements, but not iteration by iteration; None if there are none."""
    maps = indexing_maps(op)
    if maps is None or not op.regions:
        return None
    operands, arguments = list(op.operands), list(op.regions[0].blocks[0].arguments)
    outputs = len(list(op.regions[0].blocks[0].operations)[-1].operation.operands)
    first = len(operands) - outputs
    for written in range(first, len(operands)):
        for read in range(len(operands)):
            if read == written or not is_used(arguments[read]):
                continue
            if not _same_buffer(operands[read], operands[written]) or _apart(op, operands[read], operands[written]):
                continue
            if spelled(operands[read]) != spelled(operands[written]) or maps[read] != maps[written]:
                return read, written
    return None


def _same_buffer(a: ir.Value, b: ir.Value) -> bool:
    return is_memref(a) and is_memref(b) and may_share(a, b)


def _apart(op: ir.Operation, a: ir.Value, b: ir.Value) -> bool:
    """Whether two views are windows of one buffer that have no element in common."""
    *_, module = ancestors(op)
    host = HostValues(module)
    return all(mine.disjoint(its) for mine in traced(a, {}, host) for its in traced(b, {}, host))
