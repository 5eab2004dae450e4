"""What may go wrong in a kernel with rings of shared buffers: an order that is missing, or a value from the wrong place."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

from weft.interpreter.hardware.lanes import BARRIERS
from weft.interpreter.ir.element_sizes import element_bytes
from weft.interpreter.ir.mlir import ir, operations, producer
from weft.interpreter.layouts.swizzles import PIECE

GROUP, WAIT, COPY = "nvgpu.device_async_create_group", "nvgpu.device_async_wait", "nvgpu.device_async_copy"
LOADS = ("memref.load", "vector.load", "nvgpu.ldmatrix")
STORES = ("memref.store", "vector.store")
SHARED = "#gpu.address_space<workgroup>"


def _without(kernel: ir.Operation, *names: str) -> bool:
    """Erase the last of these ops; False where there is none."""
    found = list(operations(kernel, *names))
    for op in found[-1:]:
        op.erase()
    return bool(found)


def _one_more_pending(kernel: ir.Operation) -> bool:
    for op in operations(kernel, WAIT):
        with kernel.context:
            pending = ir.IntegerAttr(op.attributes["numGroups"]).value + 1
            op.attributes["numGroups"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), pending)
    return True


def _a_stage_less(kernel: ir.Operation) -> bool:
    """The turns of the loop go round in a buffer less than there are; False where the loop has no turns."""
    rings = {made.operation for op, first in _of_shared(kernel) if (made := producer(op.operands[first])) is not None}
    turning = [made for made in rings if made.name == "affine.apply"]
    for made in turning:
        text = str(made.attributes["map"])
        less = re.sub(r"mod (\d+)\)>$", lambda found: f"mod {int(found[1]) - 1})>", text)
        assert less != text, text
        with kernel.context:
            made.attributes["map"] = ir.Attribute.parse(less)
    return bool(turning)


ORDERS: dict[str, Callable[[ir.Operation], bool]] = {
    "without its barrier": lambda kernel: _without(kernel, *BARRIERS),
    "without its wait": lambda kernel: _without(kernel, WAIT),
    "without the loop's groups": lambda kernel: _without(kernel, GROUP),
    "waiting for one group less": _one_more_pending,
    "with a buffer of one stage less": _a_stage_less,
}


def a_swizzle_of_one_side(kernel: ir.Operation, draw: random.Random) -> str:
    """A copy, or a read, leaves its subscript as it was; empty where nothing is swizzled."""
    exchanges = [op for op in operations(kernel, "arith.xori") if str(op.results[0].type) == "index"]
    if not exchanges:
        return ""
    chosen = draw.choice(exchanges)
    what = f"not exchanged: {chosen}"
    chosen.results[0].replace_all_uses_with(chosen.operands[0])
    chosen.erase()
    return what


def a_fragment_off_by_one(kernel: ir.Operation, draw: random.Random) -> str:
    """What a lane, or a thread, reads from shared memory, or writes to global memory, lies a row or a column further, or nearer; of
    accesses that are aligned, as many columns as are accessed at once."""
    read = [(op, first) for op, first in _of_shared(kernel) if op.name in LOADS]
    written = [(op, 2) for op in operations(kernel, *STORES) if not _is_private(op.operands[1])]
    op, first = draw.choice(read + written)
    memory = ir.ShapedType(op.operands[first - 1].type)
    back = draw.choice([1, 2])
    number, by = first + memory.rank - back, draw.choice([1, -1]) * (_at_once(op, memory) if back == 1 else 1)
    what = f"operand {number} of {op} shifted by {by}"
    with kernel.context, ir.Location.unknown():
        place, index = ir.InsertionPoint(op), ir.IndexType.get()
        value = {"value": ir.IntegerAttr.get(index, by)}
        one = ir.Operation.create("arith.constant", [index], attributes=value, ip=place)
        op.operands[number] = ir.Operation.create("arith.addi", [index], [op.operands[number], one.result], ip=place).result
    return what


VALUES = (a_swizzle_of_one_side, a_fragment_off_by_one)


def _of_shared(kernel: ir.Operation) -> Iterator[tuple[ir.Operation, int]]:
    """Accesses of shared memory, each with where its subscripts begin among its operands."""
    for op in operations(kernel, *LOADS, *STORES, COPY):
        for number, value in enumerate(op.operands):
            if SHARED in str(value.type):
                yield op, number + 1


def _at_once(op: ir.Operation, memory: ir.ShapedType) -> int:
    if op.name == "nvgpu.ldmatrix":
        return PIECE // element_bytes(memory.element_type)
    vector = (op.results[0] if op.results else op.operands[0]).type
    return vector.shape[-1] if isinstance(vector, ir.VectorType) else 1


def _is_private(memory: ir.Value) -> bool:
    made = producer(memory)
    return made is not None and made.name == "memref.alloca"
