"""Sets of instructions that readers need, from the records."""

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
    """The names of the ops with a record for which the predicate holds."""
    return frozenset(op for op, row in INSTRUCTIONS.items() if chosen(row))


FORM = named(lambda row: row.does)
"""Ops of the normal form that have records."""
SINCE = {op: row.since for op, row in INSTRUCTIONS.items() if row.since}
ONLY = named(lambda row: row.only)
"""Ops that are not on later chips than the one that introduced them."""
SHOWN: dict[str, Shown] = {op: row.shows for op, row in INSTRUCTIONS.items() if row.shows is not None}
"""How an op's result is a view of its first operand's memory, or represents it."""
TEXTS = {op: row.text for op, row in INSTRUCTIONS.items() if row.text}
"""Calls of device functions."""
ORDERED = named(lambda row: row.agent or row.orders)
"""Ops that must keep their place among others, whether or not they access memory."""
FREE = named(lambda row: row.orders in ("create", "commit", "drain", "wait", "fence"))
"""Ops that any thread may execute: they create what the block has once, or wait for what other
threads signal."""
VALUELESS = named(lambda row: row.orders and not row.accesses) - {lanes.ALL_REDUCE}
"""Ops that only order effects of other ops: they access nothing, and have no result."""
BETWEEN_WARPS = named(lambda row: row.orders == "meet" and row.takes in ("group", "block"))
"""Barriers at which warps wait for each other."""
SYNCHRONIZING = named(lambda row: row.orders and row.agent != "copy")
"""Ops that wait for other threads, or signal them. (Groups of `copies` belong to the thread alone.)"""
COLLECTIVE = named(lambda row: row.orders or row.takes != "thread")
"""Ops with a result that depends on other threads, or on the time of execution."""
WARP_WIDE = named(lambda row: row.takes == "warp" and not row.orders)
"""Ops that all lanes of a warp execute together, or none; they order nothing."""
GROUP_WIDE = named(lambda row: row.agent == "product" or row.orders == "registers")
"""Ops that all threads of a warp group execute together, or none."""
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
"""Ops of kernels with warp groups that may be at different places."""
_AT_ONCE = named(
    lambda row: row.takes == "warp" or row.agent == "copy" or (row.takes == "cluster" and row.orders == "arrive")
)
_WAITS = {*named(lambda row: row.orders in ("arrive", "wait", "drain", "meet", "registers")), *warpgroups.PRODUCTS}
YIELDING = (FORM & _WAITS) - _AT_ONCE
"""Ops in which a warp group waits for others or for what it has started, and ops before which other
warp groups may be scheduled."""

WAYS_OUT = {
    "nvvm.barrier.arrive": "let all participating threads wait, `nvvm.barrier id = … number_of_threads = …`; or"
    " `nvgpu.mbarrier.arrive` at a memory barrier for which the others wait",
}
"""Hints for ops without a record: another way to the same effect."""
