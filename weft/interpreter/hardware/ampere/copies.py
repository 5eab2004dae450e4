"""Asynchronous copies from global to shared memory: a thread starts some, makes a group of those since the last one,
and waits for all of its groups but the last few."""

from __future__ import annotations

from functools import partial

from ...ir.functions import segments
from ...ir.mlir import ir
from ..instructions import Instruction, MemoryEffect, known


def _copied(op: ir.Operation) -> tuple[MemoryEffect, ...]:
    """Where the source's size is given, elements of the destination beyond it are zeroed, and none are read for
    them."""
    (into,), at, (out_of,), _, given = segments(op)
    count = ir.IntegerAttr(op.attributes["dstElements"]).value
    moved = ir.VectorType.get([count], ir.MemRefType(into.type).element_type, loc=op.location)
    first = 1 + len(at)
    return (
        MemoryEffect("write", into, "element", 1, moved),
        MemoryEffect("read", out_of, "element", first + 1, moved, certain=not given),
    )


_row = partial(
    Instruction, does="a thread's copies from global to shared memory; in flight until it waits", since=80, agent="copy"
)
COPY = known(_row("nvgpu.device_async_copy", accesses=_copied))
GROUP = known(_row("nvgpu.device_async_create_group", orders="commit", text="commit_copies()"))
WAIT = known(_row("nvgpu.device_async_wait", orders="drain", text="wait_copies<{numGroups}>()"))


def may_pend(op: ir.Operation) -> int:
    """How many of its thread's last groups a `WAIT` leaves pending: that alone, and not its token, tells which groups
    it waits for, as in what upstream lowers it to."""
    return ir.IntegerAttr(op.attributes["numGroups"]).value if "numGroups" in op.attributes else 0


def is_token(kind: ir.Type) -> bool:
    """Whether a value of that type orders copies and is nothing at run time."""
    return str(kind) == "!nvgpu.device.async.token"
