"""Sets of instructions that readers ask for, from their records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from . import lanes
from .ampere import copies, fragments
from .hopper import mbarriers, tensor_maps, warpgroups
from .instructions import INSTRUCTIONS, Instruction, Shown

REGISTERED = (lanes, copies, fragments, mbarriers, tensor_maps, warpgroups)
"""The modules of records, which register them when they are imported."""


def named(chosen: Callable[[Instruction], object]) -> frozenset[str]:
    """The names of the ops whose record is chosen."""
    return frozenset(op for op, row in INSTRUCTIONS.items() if chosen(row))


FORM = named(lambda row: row.does)
"""Ops of the normal form, of those that have records."""
SINCE = {op: row.since for op, row in INSTRUCTIONS.items() if row.since}
ONLY = named(lambda row: row.only)
"""Not on later chips than the one they are since."""
SHOWN: dict[str, Shown] = {op: row.shows for op, row in INSTRUCTIONS.items() if row.shows is not None}
"""How results show, or stand for, the memory of the first operand."""
TEXTS = {op: row.text for op, row in INSTRUCTIONS.items() if row.text}
"""Calls of device functions."""
ORDERED = named(lambda row: row.agent or row.orders)
"""Ops whose place among others matters, whether or not they access memory."""
FREE = named(lambda row: row.orders in ("create", "commit", "drain", "wait", "fence"))
"""Ops that every thread may do: they make what the block has once, or wait for what others tell."""
VALUELESS = named(lambda row: row.orders and not row.accesses) - {lanes.ALL_REDUCE}
"""Ops that only order what others do: they access nothing, and make no value."""
BETWEEN_WARPS = named(lambda row: row.orders == "meet" and row.takes in ("group", "block"))
"""Barriers for which warps wait."""
SYNCHRONIZING = named(lambda row: row.orders and row.agent != "copy")
"""Ops that wait for other threads, or tell them something. (Groups of `copies` are the thread's own business.)"""
COLLECTIVE = named(lambda row: row.orders or row.takes != "thread")
"""Ops whose result is made together with other threads, or is another one each time."""
WARP_WIDE = named(lambda row: row.takes == "warp" and not row.orders)
"""All lanes of a warp execute them together, or none; they order nothing."""
GROUP_WIDE = named(lambda row: row.agent == "product" or row.orders == "registers")
"""All threads of a warp group execute them together, or none."""
AGENTS: dict[str, Literal["load", "store", "product"]] = {
    op: row.agent for op, row in INSTRUCTIONS.items() if row.begins and row.agent is not None and row.agent != "copy"
}
"""Asynchronous ops on boxes and described matrices."""
_SIGNALS = named(lambda row: row.does and row.takes == "thread" and row.orders in ("init", "arrive", "wait"))
SIGNALS = _SIGNALS | named(lambda row: row.agent == "load")
"""Ops on memory barriers."""
CLUSTER_WIDE = named(lambda row: row.takes == "cluster")
"""Arrivals of all threads of a cluster, and waits for them."""
FENCES = named(lambda row: row.does and row.orders == "fence" and not row.agent)
OF_GROUPS = named(lambda row: row.since >= 90 or row.takes == "group")
"""Ops of kernels whose warp groups may be at different places."""
_AT_ONCE = named(
    lambda row: row.takes == "warp" or row.agent == "copy" or (row.takes == "cluster" and row.orders == "arrive")
)
_WAITS = {*named(lambda row: row.orders in ("arrive", "wait", "drain", "meet", "registers")), *warpgroups.PRODUCTS}
YIELDING = (FORM & _WAITS) - _AT_ONCE
"""Ops in which a warp group waits for others or for what it has started, and those before which others may be first."""

WAYS_OUT = {
    "nvvm.barrier.arrive": "let all of these threads wait, `nvvm.barrier id = … number_of_threads = …`; or arrive at a"
    " memory barrier, `nvgpu.mbarrier.arrive`, that the others wait for",
}
"""What does the same in another way, of ops that no record is of."""
