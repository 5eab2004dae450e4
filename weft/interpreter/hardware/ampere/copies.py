"""Asynchronous copies from global to shared memory: a thread starts some, makes a group of those since the last one, and waits for
all of its groups but the last few."""

from __future__ import annotations

from ...ir.mlir import ir

COPY, GROUP, WAIT = "nvgpu.device_async_copy", "nvgpu.device_async_create_group", "nvgpu.device_async_wait"


def may_pend(op: ir.Operation) -> int:
    """How many of its thread's last groups a `WAIT` leaves pending: that alone, and not its token, tells which groups it waits for,
    as in what upstream lowers it to."""
    return ir.IntegerAttr(op.attributes["numGroups"]).value if "numGroups" in op.attributes else 0


def is_token(kind: ir.Type) -> bool:
    """Whether a value of that type orders copies and is nothing at run time."""
    return str(kind) == "!nvgpu.device.async.token"
