"""A mapped copy to shared memory as asynchronous copies (`cp.async`): plain elements, and zeros
where a mask fails."""

from __future__ import annotations

from collections.abc import Sequence

from ...dsl.records import record
from ..ir.element_sizes import element_bytes
from ..ir.mlir import arith, ir, made_by, nvgpu, operations
from ..ir.refusing import refuse

ASYNCHRONOUS = "weft.async"
"""On a mapped copy to shared memory: it is done by asynchronous copies."""
WIDTHS = (4, 8, 16)
"""Bytes that one asynchronous copy moves."""


@record
class CopySource:
    """The source of an asynchronous copy: the buffer and the subscripts of its first element; and
    the condition under which elements are copied, instead of zeros (None: always)."""

    buffer: ir.Value
    subscripts: tuple[ir.Value, ...]
    mask: ir.Value | None


def emit_copy(source: CopySource, target: ir.Value, subscripts: Sequence[ir.Value], lanes: int) -> None:
    """Emits the asynchronous copy of `lanes` elements at the insertion point."""
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
    """Emits a commit of all copies that a thread has started since its last commit, at the
    insertion point.

    It names none of the copies, which are in separate loops and branches. The attribute keeps
    upstream's parser from parsing the result of the op in the next line as an operand.
    """
    group = nvgpu.DeviceAsyncCreateGroupOp([])
    group.operation.attributes["all"] = ir.UnitAttr.get()
    return group.asyncToken


def expect_movable(op: ir.Operation, kind: ir.Type, lanes: int) -> None:
    """Checks that an asynchronous copy can move `lanes` elements of the type. Raises W0366."""
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
    """Whether the value is the constant zero; for floats of either sign: an asynchronous copy fills
    in positive zero."""
    made = made_by(value, "arith.constant")
    if made is None:
        return False
    stated = made.attributes["value"]
    return isinstance(stated, ir.IntegerAttr | ir.FloatAttr) and stated.value == 0


def refuse_body(op: ir.Operation, why: str) -> Exception:
    """The error W0366 for a copy that does more than an asynchronous copy can."""
    return refuse("W0366", f"the copy {why}, and asynchronous copies move elements as they are, or zero them", op,
                  "leave `async` out, or promote an operand that is read as it is")  # fmt: skip
