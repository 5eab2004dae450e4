"""Instructions of the lanes of a warp: barriers, shuffles and reductions. `ampere/fragments.py` has
the matrices and products of a warp."""

from __future__ import annotations

from ..ir.mlir import arith, constant_of, ir, is_used, producer
from .instructions import Instruction, known
from .limits import WARP

SHUFFLE = known(Instruction(
    "gpu.shuffle", "the value of another of the 32 lanes of a warp, which all reach the same op; lanes are in "
    "groups of `width`, and a lane that reads outside its group gets `valid` false, and no value", takes="warp",
))  # fmt: skip
SUBGROUP_REDUCE = known(Instruction("gpu.subgroup_reduce", takes="warp"))
for _name in ("gpu.ballot", "gpu.rotate", "gpu.subgroup_broadcast"):
    known(Instruction(_name, takes="warp"))
for _name in ("nvgpu.extf", "nvgpu.rcp", "nvgpu.truncf"):
    known(Instruction(_name))

BARRIER = known(
    Instruction(
        "gpu.barrier",
        "all threads of a block reach the same op; orders their accesses of global and shared memory",
        takes="block",
        orders="meet",
    )
)
NUMBERED_BARRIER = known(
    Instruction(
        "nvvm.barrier",
        "one of 16 barriers of the block, by its number, at which a given number of threads wait",
        takes="group",
        orders="meet",
    )
)
WARP_BARRIER = known(Instruction(
    "nvvm.bar.warp.sync", "a barrier of a warp: all 32 lanes reach the same op, with a mask of all of them; orders their "
    "accesses of global and shared memory", takes="warp", orders="meet",
))  # fmt: skip
BARRIERS = (BARRIER, WARP_BARRIER, NUMBERED_BARRIER)
ALL_REDUCE = known(Instruction("gpu.all_reduce", "a value of all threads of a block", takes="block", orders="meet"))
known(Instruction("gpu.initialize_named_barrier", orders="create"))
OF_GROUPS = "weft.warpgroups"
"""On a `gpu.barrier`, until `launch` numbers it: the threads of each warp group wait separately."""
ALL_LANES = (1 << WARP) - 1


def warp_barrier() -> ir.Operation:
    """Emits a barrier of all lanes of a warp at the ambient insertion point."""
    lanes = arith.constant(ir.IntegerType.get_signless(32), -1)
    return ir.Operation.create(WARP_BARRIER, operands=[lanes])


def numbered_barrier(number: ir.Value, threads: int) -> ir.Operation:
    """Emits a barrier of `threads` threads at the ambient insertion point; its number is an index."""
    kind = ir.IntegerType.get_signless(32)
    which, many = arith.IndexCastOp(kind, number).result, arith.constant(kind, threads)
    sizes = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1]), "aligned": ir.BoolAttr.get(True)}
    return ir.Operation.create(NUMBERED_BARRIER, operands=[which, many], attributes=sizes)


def erase_barrier(barrier: ir.Operation) -> None:
    """Erases a barrier, and its mask if that has no other use."""
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
