"""Memory barriers (mbarriers): words in shared memory on which some wait until others have arrived, and bytes have
come.

    nvgpu.mbarrier.init %full[%s], %arrivals                once, by one thread; a fence and a barrier of the block behind it
    nvgpu.mbarrier.arrive.expect_tx %full[%s], %bytes       arrives, and says how many bytes are still to come in this phase
    nvgpu.tma.async.load %map[…], %full[%s] to %tile        whose bytes are counted when they have come
    nvgpu.mbarrier.arrive %empty[%s]                        arrives
    nvgpu.mbarrier.try_wait.parity %full[%s], %parity, %_   waits until the phase of this parity is over

A phase ends when as many threads have arrived as `init` said, and no bytes are missing; then the next one begins, which
expects as many arrivals. The phases of a barrier are numbered from 0. Who waits for parity p goes on if the number of
the phase that is under way has the other parity: so it must be known that this is the phase behind the one meant, and
    not one behind that. Waiting for
parity 1 of a barrier that has just been made returns at once.

What a thread did before it arrived is ordered before what those do that have waited for the phase; so is what was
copied. Of an arrival that is relaxed, nothing is but time: what was over then is not disturbed by what comes behind the
    wait. So it is enough
behind reads by products of warp groups that the thread has waited for, and behind boxes that have come, which others
are to overwrite; ordinary loads and stores need not be over then.

Source: PTX ISA, "Parallel synchronization and communication instructions: mbarrier"; upstream's `NVGPUOps.td`.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Literal

from ...ir.mlir import ir, maker, producer
from ..instructions import Instruction, MemoryEffect, known

BYTES = 8
"""Of shared memory, that a barrier takes."""
MOST_BYTES = 2**20 - 1
"""What may be missing in a phase."""
OTHER_BLOCK = "nvvm.mapa"


def is_address(value: ir.Value) -> bool:
    """Whether a number or a pointer is the address of a barrier: of this block, or of another one of its cluster."""
    made = producer(value)
    while made is not None and made.name in (POINTER, OTHER_BLOCK):
        made = producer(made.operands[0])
    return made is not None and made.name == ADDRESS


def _at_address(op: ir.Operation) -> tuple[MemoryEffect, ...] | None:
    """At a memory barrier that its address is known to be one of, nothing else is touched."""
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
        "the address of one, for those who arrive from another block of the cluster, and for a load of pixels",
        90,
    )
)
POINTER = known(Instruction("llvm.inttoptr", "such an address, as a pointer", 90, accesses=_at_address))
known(Instruction("nvgpu.mbarrier.arrive.nocomplete", orders="arrive"))
known(Instruction("nvgpu.mbarrier.test.wait", orders="wait"))

_row = partial(
    Instruction,
    does="what threads wrote to shared memory is visible to asynchronous copies and products",
    since=90,
    orders="fence",
)
FENCE_INIT = known(_row("nvvm.fence.mbarrier.init", text="fence_barriers()"))
"""What `INIT` wrote is visible to the tensor memory accelerator, and to the other blocks of a cluster."""
FENCE_PROXY = known(_row("nvvm.fence.proxy"))
"""What the thread wrote to shared memory by ordinary stores is visible to what reads it asynchronously afterwards."""
REGISTERS = known(Instruction(
    "nvvm.setmaxregister", "registers of the threads of a warp group from here on", 90, only=True, takes="group", orders="registers"
))  # fmt: skip
"""A thread that asks for more waits until others of the block have given enough away."""

_row = partial(Instruction, does="all threads of a cluster arrive, and wait for the others", since=90, takes="cluster")
MEET_CLUSTER = known(_row("nvvm.cluster.arrive", orders="arrive"))
MEET_RELAXED = known(_row("nvvm.cluster.arrive.relaxed", orders="arrive"))
"""It orders nothing."""
AWAIT_CLUSTER = known(_row("nvvm.cluster.wait", orders="wait"))
_row = partial(
    Instruction,
    does="the address of a memory barrier in another block of the cluster, and an arrival there; one that"
    " is relaxed "
    "orders only that what is over is over",
    since=90,
)
known(_row(OTHER_BLOCK))
ARRIVE_THERE = known(_row("nvvm.mbarrier.arrive", orders="arrive", accesses=_at_address))
_row = partial(Instruction, does="where a block is in its cluster", since=90)
RANK, BLOCKS = known(_row("gpu.cluster_block_id")), known(_row("gpu.cluster_dim_blocks"))


def ordered_by(arrival: ir.Operation, *, elsewhere: bool) -> Literal["all", "time"] | None:
    """What an `nvvm.mbarrier.arrive` orders for who waits, of another block's barrier there: all that its thread did
    before, or only what is over by then. None: not even that is known."""
    relaxed = "relaxed" in arrival.attributes and ir.BoolAttr(arrival.attributes["relaxed"]).value
    wide = "scope" in arrival.attributes and "cluster" in str(arrival.attributes["scope"])
    if elsewhere:
        return None if not wide else "time" if relaxed else "all"
    return None if relaxed else "all"


RELEASING = "let it have {scope = #nvvm.mem_scope<cluster>}; `relaxed` there alone, where it is made in another block"


def registers_of(op: ir.Operation) -> tuple[int, bool]:
    """Of a `REGISTERS`, how many each thread has from there on, and whether that is more than before."""
    return ir.IntegerAttr(op.attributes["regCount"]).value, "increase" in str(op.attributes["action"])


def is_mbarriers(kind: ir.Type) -> bool:
    """Whether a value of that type is a group of barriers."""
    return str(kind).startswith("!nvgpu.mbarrier.group<")


def count_of(kind: ir.Type) -> int:
    """How many barriers there are in a group."""
    found = re.search(r"num_barriers = (\d+)", str(kind))
    return 1 if found is None else int(found[1])


def barrier_of(op: ir.Operation) -> tuple[ir.Value, ir.Value]:
    """The group, and the number in it, of the barrier that an op of these (or a load of the tensor memory accelerator)
    is about. A pointer to it must be an `is_address`."""
    while not hasattr(op.opview, "barriers"):
        op = maker(op.opview.mbar if hasattr(op.opview, "mbar") else op.operands[0])
    return op.opview.barriers, op.opview.mbarId


def fenced_spaces(op: ir.Operation) -> frozenset[str]:
    """The memories of which a `FENCE_PROXY` makes visible what was written; none of other ops."""
    kind = str(op.attributes["kind"]) if op.name == FENCE_PROXY else ""
    shared = "<async>" in kind or "async.shared" in kind
    return frozenset({"workgroup"} if shared else ()) | frozenset(
        {"global"} if "<async>" in kind or "async.global" in kind else ()
    )
