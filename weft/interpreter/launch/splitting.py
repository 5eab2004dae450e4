"""Splits a loop over threads at the barriers in it, so that every thread of the block passes them:

    scf.forall (warps) { A to lanes; barrier; B to lanes }   →   scf.forall (warps) { A }; barrier; scf.forall (warps) { B }

Iterations are independent, so the ops before the barrier may be executed first in all of them. A
buffer that is filled before the barrier and read after it gets one copy per iteration in shared
memory (`buffers/temporaries.py`). Indices and views are computed on both sides.
"""

from __future__ import annotations

from dataclasses import replace

from ..buffers.temporaries import drop_deallocs, share
from ..buffers.tiles import one_each
from ..buffers.views import all_users
from ..hardware.lanes import BARRIER, waits_for_warp, warp_barrier
from ..ir.functions import REGISTER_CAP
from ..ir.mlir import ahead_of, children, ir, is_used, is_within, operations
from ..ir.refusing import Remark, refuse
from ..ir.structured import copy_marks
from ..loops.forall import end_of, make_forall
from ..mapping.clusters import CLUSTER
from ..mapping.mapping import (
    AS_MANY_AS_ITERATIONS,
    ATTRIBUTE,
    Mapping,
    is_shared_reduction,
    mapping_of,
    nested_maps,
)
from ..memory.effects import only_computes
from ..outlining.kernel import Outlined


def hands_on(loop: ir.Operation) -> bool:
    """Whether a loop over threads or warps contains mapped loops or ops, which are distributed
    again."""
    mapping = mapping_of(loop)
    inside = loop.name == "scf.forall" and mapping is not None and mapping.space in ("threads", "warps", "warpgroups")
    return inside and any(nested_maps(loop))


def is_separable(loop: ir.Operation) -> bool:
    """Whether the loop can be split between any two of its ops: ops take only values that can be
    recomputed on both sides, and no thread has the results of several iterations."""
    mapping = mapping_of(loop)
    several = mapping is not None and not one_each(loop)
    if several and any(map(is_shared_reduction, operations(loop))):
        return False
    return all(not op.results or _is_computed(op) or op.name == "memref.alloc" for op in children(loop)[:-1])


def _in_a_block(root: ir.Operation) -> ir.Operation:
    """The launched loop. If it must itself be split at a barrier, it is first wrapped in a loop
    over a single block."""
    if not (hands_on(root) and any(map(_splits_at, operations(root)))):
        return root
    with ahead_of(root):
        loop = make_forall([0], [1], [1])
    loop.attributes[ATTRIBUTE] = Mapping("blocks", ("x",), (AS_MANY_AS_ITERATIONS,)).attribute()
    for mark in (CLUSTER, REGISTER_CAP):
        if mark in root.attributes:
            loop.attributes[mark] = root.attributes[mark]
    root.move_before(end_of(loop))
    return loop


def split_at_barriers(kernel: Outlined) -> tuple[Outlined, list[Remark]]:
    """Splits the loops over threads that contain barriers, inner ones first. Returns remarks.
    Raises W0355 or W0362."""
    kernel = replace(kernel, root=_in_a_block(kernel.root))
    remarks: list[Remark] = []
    for loop in reversed(list(operations(kernel.root, "scf.forall"))):
        barriers = [op for op in children(loop)[:-1] if _splits_at(op)]
        if barriers and hands_on(loop):
            if not is_separable(loop):
                if all(map(waits_for_warp, barriers)):
                    continue  # legal where whole warps pass
                raise refuse(
                    "W0362",
                    "a barrier in a loop over threads is not reached by all threads, and the loop cannot be split"
                    " there: a value "
                    "that is read before the barrier is used after it",
                    barriers[0],
                    "move the `gpu.barrier` between the loops over threads: `insert-barriers` finds the places",
                )
            remarks += _split(loop)
    return kernel, remarks


def _split(loop: ir.Operation) -> list[Remark]:
    remarks: list[Remark] = []
    for alloc in children(loop)[:-1]:
        if alloc.name == "memref.alloc":
            drop_deallocs(alloc)
            if len({_part_of(user, loop) for user in all_users(alloc.results[0]) if not _is_computed(user)}) > 1:
                remarks.append(share(alloc))
    ops = children(loop)[:-1]
    parts = [_part_of(op, loop) for op in ops]
    barriers = iter([op for op in ops if _splits_at(op)])
    for part in range(max(parts) + 1):
        clone = loop.clone(ir.InsertionPoint(loop)).operation
        for op, place in reversed(list(zip(children(clone)[:-1], parts, strict=True))):
            unused = not is_used(*op.results)
            if (_is_computed(op) or op.name == "memref.alloc") and not unused:
                continue
            if _splits_at(op) or place != part or (op.results and unused):
                op.erase()
        barrier = next(barriers, None)
        if barrier is not None:
            with ir.InsertionPoint(loop), barrier.location:
                if barrier.name == BARRIER:
                    barrier.clone()
                else:
                    copy_marks(barrier, warp_barrier())
    loop.erase()
    return remarks


def _part_of(op: ir.Operation, loop: ir.Operation) -> int:
    """The part of the loop to which a nested op belongs: the number of barriers before it in the
    loop's body."""
    passed = 0
    for item in children(loop)[:-1]:
        if is_within(op, item):
            break
        passed += _splits_at(item)
    return passed


def _is_computed(op: ir.Operation) -> bool:
    """Whether the op may be executed on both sides of a barrier: it only computes values, and
    accesses no memory."""
    return len(op.results) > 0 and only_computes(op)


def _splits_at(op: ir.Operation) -> bool:
    return op.name == BARRIER or waits_for_warp(op)
