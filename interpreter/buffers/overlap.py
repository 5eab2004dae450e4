"""Structured ops on memrefs that read what they write through another view or in another order.

linalg calls such an op's iterations parallel, and yet what comes out depends on their order: the payload's own loops give one
result, tiles, threads or staged copies another. No statement can keep that, so they refuse it.
"""

from __future__ import annotations

from ..ir.mlir import ancestors, ir, is_used
from ..ir.structured import indexing_maps
from ..memory.effects import is_memref
from ..memory.views import may_share
from ..proof.hosts.effects import HostValues, traced
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
            a, b = operands[read], operands[written]
            if not (is_memref(a) and is_memref(b) and may_share(a, b)):
                continue
            host = HostValues(list(ancestors(op))[-1])
            if all(mine.disjoint(its) for mine in traced(a, {}, host) for its in traced(b, {}, host)):
                continue  # windows of one buffer that have no element in common
            if spelled(a) != spelled(b) or maps[read] != maps[written]:
                return read, written
    return None
