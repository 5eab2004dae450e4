"""Memory barriers (mbarriers): words in shared memory on which threads wait until others have
arrived, and expected bytes have been copied.

    nvgpu.mbarrier.init %full[%s], %arrivals                once, by one thread; a fence and a barrier of the block after it
    nvgpu.mbarrier.arrive.expect_tx %full[%s], %bytes       arrives, and adds expected bytes to this phase
    nvgpu.tma.async.load %map[…], %full[%s] to %tile        counts its bytes on the barrier when they have been copied
    nvgpu.mbarrier.arrive %empty[%s]                        arrives
    nvgpu.mbarrier.try_wait.parity %full[%s], %parity, %_   waits until the phase of this parity is complete

A phase completes after as many arrivals as `init` states, once all expected bytes have been copied.
Then the next phase begins, with the same number of arrivals. The phases of a barrier are numbered
from 0. A wait for parity p returns if the number of the current phase has the other parity. So the
current phase must be known to be the awaited phase or the one after it, and no later one. A wait
for parity 1 of a new barrier returns at once.

All accesses of a thread before its arrival happen before the accesses after a wait for the phase;
so do the copies with counted bytes. A relaxed arrival orders completion only: what is complete by
then is not disturbed by what follows the wait. This suffices to let others overwrite a tile, after
reads by products of warp groups that the thread has waited for, and after loads of boxes that have
arrived. Ordinary loads and stores may still be incomplete then.

Source: PTX ISA, "Parallel synchronization and communication instructions: mbarrier"; upstream's
`NVGPUOps.td`.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Literal

from ...ir.mlir import ir, maker, producer
from ..instructions import Instruction, MemoryEffect, known

BYTES = 8
"""Bytes of shared memory of a barrier."""
MOST_BYTES = 2**20 - 1
"""The most bytes that may be missing in a phase."""
OTHER_BLOCK = "nvvm.mapa"


def is_address(value: ir.Value) -> bool:
    """Whether an integer or a pointer is the address of a barrier: of this block, or of another
    block of its cluster."""
    made = producer(value)
    while made is not None and made.name in (POINTER, OTHER_BLOCK):
        made = producer(made.operands[0])
    return made is not None and made.name == ADDRESS


def _at_address(op: ir.Operation) -> tuple[MemoryEffect, ...] | None:
    """The accesses of an op on an address: none if it is known to be the address of a memory
    barrier; otherwise None, unknown."""
    return () if is_address(op.operands[0]) else None


_row = partial(
    Instruction,
    does="memory barriers: some threads wait until others have arrived, and bytes have come "
    "(`interpreter/hardware/hopper/mbarriers.py`)",
    since=90,
)
MAKE = known(_row("nvgpu.mbarrier.create", orders="create"))
INIT = known(_row("nvgpu.mbarrier.init", orders="init", text="barrier_init({barrier}, {count})"))
ARRIVE = known(_row("nvgpu.mbarrier.arrive", orders="arrive", text="barrier_arrive({barrier})"))
EXPECT = known(_row("nvgpu.mbarrier.arrive.expect_tx", orders="arrive", text="barrier_expect({barrier}, {txcount})"))
AWAIT = known(_row("nvgpu.mbarrier.try_wait.parity", orders="wait"))
ADDRESS = known(
    Instruction(
        "nvgpu.mbarrier.get",
        "the address of a memory barrier, for arrivals from another block of the cluster, and for a load of pixels",
        90,
    )
)
POINTER = known(Instruction("llvm.inttoptr", "that address, as a pointer", 90, accesses=_at_address))
known(Instruction("nvgpu.mbarrier.arrive.nocomplete", orders="arrive"))
known(Instruction("nvgpu.mbarrier.test.wait", orders="wait"))

_row = partial(
    Instruction,
    does="makes writes of threads to shared memory visible to asynchronous copies and products",
    since=90,
    orders="fence",
)
FENCE_INIT = known(_row("nvvm.fence.mbarrier.init", text="fence_barriers()"))
"""Makes the writes of `INIT` visible to the tensor memory accelerator, and to the other blocks of a
cluster."""
FENCE_PROXY = known(_row("nvvm.fence.proxy"))
"""Makes the thread's ordinary stores to shared memory visible to later asynchronous reads."""
REGISTERS = known(Instruction(
    "nvvm.setmaxregister", "registers of the threads of a warp group from this op on", 90,
    only=True, takes="group", orders="registers",
))  # fmt: skip
"""A thread that requests more registers waits until other threads of the block have released
enough."""

_row = partial(Instruction, does="all threads of a cluster arrive, and wait for the others", since=90, takes="cluster")
MEET_CLUSTER = known(_row("nvvm.cluster.arrive", orders="arrive"))
MEET_RELAXED = known(_row("nvvm.cluster.arrive.relaxed", orders="arrive"))
"""It orders nothing."""
AWAIT_CLUSTER = known(_row("nvvm.cluster.wait", orders="wait"))
_row = partial(
    Instruction,
    does="the address of a memory barrier in another block of the cluster, and an arrival there; a "
    "relaxed arrival orders completion only",
    since=90,
)
known(_row(OTHER_BLOCK))
ARRIVE_THERE = known(_row("nvvm.mbarrier.arrive", orders="arrive", accesses=_at_address))
_row = partial(Instruction, does="the place of a block in its cluster", since=90)
RANK, BLOCKS = known(_row("gpu.cluster_block_id")), known(_row("gpu.cluster_dim_blocks"))


def ordered_by(arrival: ir.Operation, *, elsewhere: bool) -> Literal["all", "time"] | None:
    """The order that an `nvvm.mbarrier.arrive` establishes for a wait: "all" covers all earlier
    effects of its thread, "time" only those that are complete by then; None: no order. `elsewhere`:
    the barrier may belong to another block."""
    relaxed = "relaxed" in arrival.attributes and ir.BoolAttr(arrival.attributes["relaxed"]).value
    wide = "scope" in arrival.attributes and "cluster" in str(arrival.attributes["scope"])
    if elsewhere:
        return None if not wide else "time" if relaxed else "all"
    return None if relaxed else "all"


RELEASING = (
    "state `scope = #nvvm.mem_scope<cluster>`; `relaxed` is for arrivals at a memory barrier of another block alone"
)


def registers_of(op: ir.Operation) -> tuple[int, bool]:
    """The number of registers per thread after a `REGISTERS`, and whether that is an increase."""
    return ir.IntegerAttr(op.attributes["regCount"]).value, "increase" in str(op.attributes["action"])


def is_mbarriers(kind: ir.Type) -> bool:
    """Whether a value of that type is a group of barriers."""
    return str(kind).startswith("!nvgpu.mbarrier.group<")


def count_of(kind: ir.Type) -> int:
    """The number of barriers in a group."""
    found = re.search(r"num_barriers = (\d+)", str(kind))
    return 1 if found is None else int(found[1])


def barrier_of(op: ir.Operation) -> tuple[ir.Value, ir.Value]:
    """The barrier on which an op operates (also a load of the tensor memory accelerator): its
    group, and its number in the group. If the op has a pointer to the barrier, `is_address` must
    hold for it."""
    while not hasattr(op.opview, "barriers"):
        op = maker(op.opview.mbar if hasattr(op.opview, "mbar") else op.operands[0])
    return op.opview.barriers, op.opview.mbarId


def fenced_spaces(op: ir.Operation) -> frozenset[str]:
    """The memory spaces of the writes that a `FENCE_PROXY` makes visible; empty for other ops."""
    kind = str(op.attributes["kind"]) if op.name == FENCE_PROXY else ""
    shared = "<async>" in kind or "async.shared" in kind
    return frozenset({"workgroup"} if shared else ()) | frozenset(
        {"global"} if "<async>" in kind or "async.global" in kind else ()
    )
