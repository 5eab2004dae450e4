"""A mapped copy to shared memory as asynchronous copies (`cp.async`): elements as they are, and zeros where a mask
fails."""

from __future__ import annotations

from collections.abc import Sequence

from ...dsl.records import record
from ..ir.element_sizes import element_bytes
from ..ir.mlir import arith, ir, made_by, nvgpu, operations
from ..ir.refusing import refuse

ASYNCHRONOUS = "weft.async"
"""On a mapped copy to shared memory: asynchronous copies do it."""
WIDTHS = (4, 8, 16)
"""Bytes that one asynchronous copy moves."""


@record
class CopySource:
    """Where the elements of an asynchronous copy come from: the first one's buffer and subscripts; and whether they are
    taken, or zeros in their place (None: they are)."""

    buffer: ir.Value
    subscripts: tuple[ir.Value, ...]
    mask: ir.Value | None


def emit_copy(source: CopySource, target: ir.Value, subscripts: Sequence[ir.Value], lanes: int) -> None:
    """Start the copy of `lanes` elements, at the insertion point."""
    size = lanes * element_bytes(ir.MemRefType(target.type).element_type)
    taken = None
    if source.mask is not None:
        every, none = (arith.ConstantOp(ir.IndexType.get(), n).result for n in (lanes, 0))
        taken = arith.SelectOp(source.mask, every, none).result
    past_l1 = size == WIDTHS[-1] or None
    nvgpu.DeviceAsyncCopyOp(
        target, list(subscripts), source.buffer, list(source.subscripts), lanes, srcElements=taken, bypassL1=past_l1
    )


def commit() -> ir.Value:
    """The group of all copies that a thread has started since its last one, at the insertion point.

    It names none of them, which are in loops and branches of their own. The attribute keeps upstream's parser from
    taking the result of the op in the next line for an operand.
    """
    group = nvgpu.DeviceAsyncCreateGroupOp([])
    group.operation.attributes["all"] = ir.UnitAttr.get()
    return group.asyncToken


def expect_movable(op: ir.Operation, kind: ir.Type, lanes: int) -> None:
    """Raises W0366 where no asynchronous copy moves `lanes` elements of the type."""
    size = lanes * element_bytes(kind)
    if size not in WIDTHS:
        sides = [*op.operands, *(load.operands[0] for load in operations(op, "memref.load"))]
        kinds = dict.fromkeys(str(value.type) for value in sides if isinstance(value.type, ir.MemRefType))
        raise refuse(
            "W0366",
            f"the copy moves {size} bytes at a time, and asynchronous copies move 4, 8 or 16",
            op,
            "map it with `vector`, so that 4, 8 or 16 bytes are consecutive and aligned on both sides (with"
            " `transpose` none are);"
            " or leave `async` out",
            f"it reads and writes {', '.join(kinds)}: rows and first elements must begin at multiples of the vector",
        )


def is_zero_constant(value: ir.Value) -> bool:
    """Whether the value is the constant zero; of a float of either sign, of which a copy makes the positive one."""
    made = made_by(value, "arith.constant")
    if made is None:
        return False
    stated = made.attributes["value"]
    return isinstance(stated, ir.IntegerAttr | ir.FloatAttr) and stated.value == 0


def refuse_body(op: ir.Operation, why: str) -> Exception:
    """W0366: the copy does more than an asynchronous one can."""
    return refuse("W0366", f"the copy {why}, and asynchronous copies move elements as they are, or zero them", op,
                  "leave `async` out, or promote an operand that is read as it is")  # fmt: skip
