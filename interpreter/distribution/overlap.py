"""Structured ops on memrefs that read what they write through another view or in another order.

linalg calls such an op's iterations parallel, and yet what comes out depends on their order: the payload's own loops give one
result, tiles, threads or staged copies another. No statement can keep that, so they refuse it.
"""

from __future__ import annotations

from ..mlir import DYNAMIC, ir, producer
from .space import indexing_maps
from .symbolic import spelled
from .views import base_of


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
            if read == written or not any(True for _ in arguments[read].uses):
                continue
            if not _same_buffer(operands[read], operands[written]) or _apart(operands[read], operands[written]):
                continue
            if spelled(operands[read]) != spelled(operands[written]) or maps[read] != maps[written]:
                return read, written
    return None


def _same_buffer(a: ir.Value, b: ir.Value) -> bool:
    mine, its = base_of(a), base_of(b)
    return mine is not None and its is not None and mine == its


def _apart(a: ir.Value, b: ir.Value) -> bool:
    """Whether two views are windows of one buffer that have no element in common."""
    mine, its = _window(a), _window(b)
    if mine is None or its is None or mine[0] != its[0]:
        return False
    return any(low + size <= start or start + length <= low
               for (low, size), (start, length) in zip(mine[1], its[1], strict=True))  # fmt: skip


def _window(view: ir.Value) -> tuple[ir.Value, list[tuple[int, int]]] | None:
    """The buffer, and from where on and how many of its elements per dimension; None where that is not known."""
    made = producer(view)
    if made is None or made.name != "memref.subview":
        return None
    numbers = [list(ir.DenseI64ArrayAttr(made.attributes[f"static_{key}"])) for key in ("offsets", "sizes", "strides")]
    if any(number == DYNAMIC for part in numbers for number in part):
        return None
    offsets, sizes, strides = numbers
    spans = [(size - 1) * stride + 1 for size, stride in zip(sizes, strides, strict=True)]
    return made.operands[0], list(zip(offsets, spans, strict=True))
