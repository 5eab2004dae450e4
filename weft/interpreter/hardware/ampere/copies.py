"""Asynchronous copies from global to shared memory: a thread starts copies, commits all copies
since its last commit as a group, and waits for all of its groups except the last n."""

from __future__ import annotations

from functools import partial

from ...ir.functions import segments
from ...ir.mlir import ir
from ..instructions import Instruction, MemoryEffect, known


def _copied(op: ir.Operation) -> tuple[MemoryEffect, ...]:
    """The accesses of a copy. If the op states how many elements the source has, the elements of
    the destination beyond these are zeroed, without a read of the source."""
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
    """The number of newest groups of its thread that a `WAIT` leaves pending. As in upstream's
    lowering, this number alone determines the groups that it waits for, not the token."""
    return ir.IntegerAttr(op.attributes["numGroups"]).value if "numGroups" in op.attributes else 0


def is_token(kind: ir.Type) -> bool:
    """Whether a value of that type only orders copies, and does not exist at run time."""
    return str(kind) == "!nvgpu.device.async.token"
