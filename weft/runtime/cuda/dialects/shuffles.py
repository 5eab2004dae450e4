"""gpu and nvvm: values of other lanes of the warp, and the warp's barrier."""

from __future__ import annotations

from ....interpreter.hardware.lanes import SHUFFLE, WARP_BARRIER, mask_of_lanes
from ....interpreter.hardware.limits import WARP
from ....interpreter.ir.mlir import ir, is_used
from ...form.kernel_form import WarpShuffle, expected_shuffle, refuse
from ..kernel import KernelWriter, writes
from ..values.division import modulo
from ..values.expression import PRIMARY, Expr, binary, call, cast, combine
from ..values.integers import add, literal, multiply, of_bits, subtract, to_unsigned, truth
from ..values.types import I32, scalar
from .control import hardware

_SHUFFLES = {"xor": "__shfl_xor_sync", "up": "__shfl_up_sync", "down": "__shfl_down_sync", "idx": "__shfl_sync"}

_ALL = Expr("0xffffffff", "unsigned", atom=True)


@writes(SHUFFLE)
def shuffle(kernel: KernelWriter, op: ir.Operation) -> None:
    """Emits a shuffle of all lanes of a warp; a half is passed as its bits. The result is bound to
    a variable: inside an arm of `?:`, not all lanes would execute it."""
    asked, (got, valid), kind = expected_shuffle(op, "W0503"), op.results, scalar(op.results[0].type, op)
    offset = kernel.atom(op.operands[1], "offset") if is_used(got) and is_used(valid) else kernel.expr(op.operands[1])
    if is_used(got):
        value = kernel.expr(op.operands[0])
        if kind.small_float or kind.byte_float:
            value = combine(f"{value.within(PRIMARY)}.bits", "int", (value,))
        elif kind.bits == 64 and kind.integer and value.type not in (kind.cxx, kind.unsigned):
            value = cast(kind.cxx, value)
        width = () if asked.width == WARP else (literal(asked.width),)
        made = call(_SHUFFLES[asked.mode], value.type, _ALL, value, offset, *width, range=value.range)
        kernel.values[got] = kernel.declare(
            got, (of_bits(made, kind) if kind.small_float or kind.byte_float else made,)
        )
    if is_used(valid):
        kernel.bind(valid, _in_group(kernel, asked, offset))


def _in_group(kernel: KernelWriter, asked: WarpShuffle, offset: Expr) -> Expr:
    """Whether the source lane is in the group."""
    known, width = offset.range, literal(asked.width)
    if asked.mode in ("xor", "idx"):
        always = known is not None and known.low >= 0 and known.high < asked.width
        return truth(True) if always else binary("<", to_unsigned(offset, I32), width, "bool")
    x, y, z = (hardware(kernel, "thread", "id", axis) for axis in range(3))
    rows = add(y, multiply(hardware(kernel, "block", "dim", 1), z))
    own = modulo(add(x, multiply(hardware(kernel, "block", "dim", 0), rows)), width)
    if asked.mode == "up":
        return binary(">=", own, to_unsigned(offset, I32), "bool")
    if offset.constant is not None:
        return binary("<", own, subtract(width, offset), "bool")
    return binary("<", to_unsigned(offset, I32), subtract(width, own), "bool")


@writes(WARP_BARRIER)
def warp_barrier(kernel: KernelWriter, op: ir.Operation) -> None:
    """`__syncwarp` orders all memory for the lanes of its mask."""
    mask = mask_of_lanes(op)
    if mask is None:
        raise refuse("W0503", f"`{op.name}` with a mask that is not constant", op)
    kernel.flush()
    kernel.line(f"__syncwarp(0x{mask:08x});")
