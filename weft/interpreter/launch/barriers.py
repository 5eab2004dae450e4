"""Memory barriers of a kernel: all are created at its beginning, and one thread initializes them.

nvgpu.mbarrier.create {weft.arrivals = 1}    →    %full = nvgpu.mbarrier.create
                                                  scf.if (thread 0) { mbarrier.init each; fence.mbarrier.init }
                                                  gpu.barrier, or a barrier of the cluster
"""

from __future__ import annotations

from ..buffers.tensor_copies import ARRIVALS
from ..hardware.hopper.mbarriers import FENCE_INIT, MAKE, count_of
from ..hardware.hopper.warpgroups import GROUP
from ..hardware.lanes import OF_GROUPS, numbered_barrier
from ..indices.arithmetic import is_zero, value_of
from ..indices.linear import Linear
from ..ir.mlir import ahead_of, gpu, ir, nvgpu, operations, ops_of
from ..ir.structured import copy_marks
from ..mapping.processors import Hardware, loop_over, when
from ..outlining.kernel import Outlined
from .clusters import meet


def init_barriers(kernel: Outlined, hardware: Hardware) -> ir.Operation | None:
    """Initializes all memory barriers of a kernel that state a number of arrivals, and makes all
    threads wait for the initialization. Returns the op at which they wait; None if there are no
    such barriers."""
    made = [op for op in operations(kernel.function, MAKE) if ARRIVALS in op.attributes]
    if not made:
        return None
    with made[0].location:
        first = next(op for op in ops_of(kernel.entry) if not op.name.startswith("gpu."))  # after the ids
        for op in made:
            op.move_before(first)
        with ir.InsertionPoint(first):
            with when(is_zero(hardware.linear_thread().index)):
                for op in made:
                    arrivals = ir.IntegerAttr(op.attributes[ARRIVALS]).value
                    loop_over(count_of(op.results[0].type), lambda n, op=op, a=arrivals: _init(op.results[0], a, n))
                ir.Operation.create(FENCE_INIT)
            start = meet() if hardware.geometry.cluster else gpu.BarrierOp().operation
        for op in made:
            del op.attributes[ARRIVALS]
    return start


def _init(barriers: ir.Value, arrivals: int, number: Linear) -> None:
    nvgpu.MBarrierInitOp(barriers, value_of(arrivals), value_of(number))


def number_barriers(function: ir.Operation, hardware: Hardware) -> None:
    """Replaces the barriers of warp groups by numbered barriers. The numbers begin at 1; 0 is the
    barrier of the block."""
    for barrier in [op for op in operations(function, "gpu.barrier") if OF_GROUPS in op.attributes]:
        with ahead_of(barrier):
            made = numbered_barrier(value_of(hardware.group().index + 1), GROUP)
        copy_marks(barrier, made)
        del made.attributes[OF_GROUPS]
        barrier.erase()


def meet_apart(op: ir.Operation, threads: int) -> None:
    """Replaces all barriers in an op that only the first `threads` threads of a block execute by
    one numbered barrier. Its number follows the numbers of the barriers of these threads' warp
    groups."""
    for barrier in list(operations(op, "gpu.barrier")):
        with ahead_of(barrier):
            made = numbered_barrier(value_of(1 + threads // GROUP), threads)
        copy_marks(barrier, made)
        barrier.erase()
