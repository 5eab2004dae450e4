"""What the lanes of a warp do together: barriers, shuffles, reductions, and what tensor cores take (`ampere/fragments.py`)."""

from __future__ import annotations

from ..ir.mlir import arith, constant_of, ir, is_used, producer
from .ampere.fragments import LDMATRIX, LOAD_MATRIX, MMA, MULTIPLY_MATRICES, STORE_MATRIX
from .limits import WARP

SHUFFLE, SUBGROUP_REDUCE = "gpu.shuffle", "gpu.subgroup_reduce"
WARP_WIDE = frozenset({LDMATRIX, MMA, SHUFFLE, SUBGROUP_REDUCE, LOAD_MATRIX, STORE_MATRIX, MULTIPLY_MATRICES})
"""All lanes of a warp execute them together, or none."""

WARP_BARRIER = "nvvm.bar.warp.sync"
"""All lanes of a warp reach the same one; it orders what they did to memory. Its operand is a mask of all of them."""
NUMBERED_BARRIER = "nvvm.barrier"
"""One of the barriers that a block has by number, where so many of its threads meet as the op says: whole warps."""
BARRIER = "gpu.barrier"
BARRIERS = (BARRIER, WARP_BARRIER, NUMBERED_BARRIER)
OF_GROUPS = "weft.warpgroups"
"""On a `gpu.barrier`, until `launch` gives it numbers: the threads of each warp group meet there by themselves."""
ALL_LANES = (1 << WARP) - 1


def warp_barrier() -> ir.Operation:
    """Emit a barrier of all lanes of a warp at the ambient insertion point."""
    lanes = arith.constant(ir.IntegerType.get_signless(32), -1)
    return ir.Operation.create(WARP_BARRIER, operands=[lanes])


def numbered_barrier(number: ir.Value, threads: int) -> ir.Operation:
    """Emit a barrier of so many threads at the ambient insertion point; its number is an index."""
    kind = ir.IntegerType.get_signless(32)
    which, many = arith.IndexCastOp(kind, number).result, arith.constant(kind, threads)
    sizes = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1]), "aligned": ir.BoolAttr.get(True)}
    return ir.Operation.create(NUMBERED_BARRIER, operands=[which, many], attributes=sizes)


def erase_barrier(barrier: ir.Operation) -> None:
    """Erase a barrier, and the mask that it alone has."""
    masks = [made for made in map(producer, barrier.operands) if made is not None]
    barrier.erase()
    for made in masks:
        if made.name == "arith.constant" and not is_used(*made.results):
            made.erase()


def waits_for_warp(op: ir.Operation) -> bool:
    """Whether the op is a barrier of all lanes of a warp."""
    return op.name == WARP_BARRIER and mask_of_lanes(op) == ALL_LANES


def mask_of_lanes(op: ir.Operation) -> int | None:
    """The mask of a warp's barrier, a bit for each lane; None if it is not constant."""
    found = constant_of(op.operands[0])
    return None if found is None else found & ALL_LANES
