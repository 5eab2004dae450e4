"""Products that `mma` marked → instructions of tensor cores: of a warp (`by_warps`), or of a warp
group (`by_groups`)."""

from __future__ import annotations

from collections.abc import Mapping as Table

from ...buffers.tensor_copies import OVERLAP
from ...hardware.ampere.fragments import instruction_of, marked
from ...ir.mlir import ir, operations, users
from ...ir.refusing import refuse
from ...mapping.processors import Hardware
from ...memory.views import is_view
from ..panels import Panels
from .by_groups import GroupProduct
from .by_warps import WarpProduct


def use_tensor_cores(function: ir.Operation, hardware: Hardware, filled: Table[ir.Value, Panels]) -> None:
    """Rewrites all marked products. `filled`: the shared buffers that tensor maps fill. Raises
    W0369."""
    for op, product in [(op, product) for op in operations(function) if (product := marked(op)) is not None]:
        with op.location:
            if instruction_of(op) is not None:
                WarpProduct(op, product, hardware).rewrite()
            else:
                GroupProduct(op, product, filled).rewrite()
    if (alone := next((op for op in operations(function, "scf.for") if OVERLAP in op.attributes), None)) is not None:
        raise refuse(
            "W0369",
            "`overlap`: no product of the loop stays in flight",
            alone,
            "leave `overlap` out: it is for products on `warpgroups` directly in the loop, except those of i8, of numbers"
            " in parts, "
            "with sums of f16, or with a left operand in registers",
        )
    for buffer in [buffer for buffer, panels in filled.items() if panels.buffer != buffer]:
        for user in users(buffer):
            _expect_unread(user)
        ir.OpResult(buffer).owner.erase()


def _expect_unread(op: ir.Operation) -> None:
    """Checks that only products read a tile that a tensor map swizzles, through its panels, and
    erases the views of the buffer that the panels replace. Raises W0405."""
    if not is_view(op) and op.name != "memref.dealloc":
        raise refuse(
            "W0405",
            "the op reads, element by element, a tile that a tensor map swizzles in panels",
            op,
            "let products of warp groups read it; or leave `swizzle` out",
        )
    for result in op.results:
        for user in users(result):
            _expect_unread(user)
    op.erase()
