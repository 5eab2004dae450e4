"""Which thread of which block this is, in loops over both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...interpreter.ir.mlir import arith, ir, scf
from ..kernel_form import axis_of

Triple = tuple[ir.Value, ir.Value, ir.Value]
"""x, y, z."""

WARP = 32
BLOCK_IDS = {
    "gpu.block_id", "gpu.block_dim", "gpu.grid_dim", "gpu.cluster_id", "gpu.cluster_dim", "gpu.cluster_dim_blocks",
    "gpu.cluster_block_id", "gpu.num_subgroups", "gpu.subgroup_size",
}  # fmt: skip
"""Ops that give all threads of a block the same."""
THREAD_IDS = {"gpu.thread_id", "gpu.global_id", "gpu.lane_id", "gpu.subgroup_id"}


def constant(value: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), value)


def block_id(op: ir.Operation, grid: Triple, block: Triple, place: Triple) -> ir.Value:
    """The value of one of `BLOCK_IDS` in the block at `place`. A launch without clusters has clusters of one block."""
    if op.name == "gpu.subgroup_size":
        return constant(WARP)
    if op.name == "gpu.num_subgroups":
        threads = arith.muli(arith.muli(block[0], block[1]), block[2])
        return arith.ceildivui(threads, constant(WARP))
    axis = axis_of(op)
    if op.name in ("gpu.block_id", "gpu.cluster_id"):
        return place[axis]
    if op.name == "gpu.block_dim":
        return block[axis]
    if op.name in ("gpu.grid_dim", "gpu.cluster_dim"):
        return grid[axis]
    return constant(0 if op.name == "gpu.cluster_block_id" else 1)


def thread_id(op: ir.Operation, thread: Triple, block: Triple, place: Triple) -> ir.Value:
    """The value of one of `THREAD_IDS` in the thread `thread` of the block at `place`."""
    if op.name == "gpu.thread_id":
        return thread[axis_of(op)]
    if op.name == "gpu.global_id":
        axis = axis_of(op)
        return arith.addi(arith.muli(place[axis], block[axis]), thread[axis])
    number = linear_thread(thread, block)
    if op.name == "gpu.lane_id":
        return arith.remui(number, constant(WARP))
    return arith.divui(number, constant(WARP))


def linear_thread(thread: Triple, block: Triple) -> ir.Value:
    """The number of a thread in its block, x fastest, as CUDA counts."""
    rows = arith.addi(arith.muli(thread[2], block[1]), thread[1])
    return arith.addi(arith.muli(rows, block[0]), thread[0])


def placeholders() -> Triple:
    """A thread's place, wherever a loop over the threads will be around it."""
    dimensions = (ir.Attribute.parse(f"#gpu<dim {axis}>") for axis in "xyz")
    made = [ir.Operation.create("gpu.thread_id", [ir.IndexType.get()], attributes={"dimension": d}) for d in dimensions]
    x, y, z = (op.result for op in made)
    return x, y, z


@contextmanager
def loops(sizes: Triple) -> Iterator[Triple]:
    """Loops over x, y, z, x innermost; gives the variables x, y, z inside of them."""
    zero, one = constant(0), constant(1)
    around = ir.InsertionPoint.current
    made = [scf.ForOp(zero, sizes[2], one, ip=around)]
    for size in (sizes[1], sizes[0]):
        with ir.InsertionPoint(made[-1].body):
            made.append(scf.ForOp(zero, size, one))
            scf.YieldOp([])
    with ir.InsertionPoint(made[-1].body):
        z, y, x = (loop.induction_variable for loop in made)
        yield x, y, z
        scf.YieldOp([])
