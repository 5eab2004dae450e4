"""`launch LOOP [max-registers n]`: realise all maps of a loop at once, as a kernel and its launch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...dsl.diagnostics import WeftError
from ..mlir import ir
from ..rewriter import Rewriter
from ..statement import Handle, Results, Statement, consumed, integer, statement
from .bufferize import ensure_bufferized

if TYPE_CHECKING:
    from ..distribution.kernel import LaunchInfo

REGISTERS = "weft.max_registers"
FEWEST, MOST = 24, 255
"""ptxas does not go below 24 registers, whatever it is told; an instruction names at most 255."""
OF_BLOCK = 65536


@statement("launch", returns=("launch",))
@dataclass(frozen=True, kw_only=True)
class Launch(Statement):
    """Realise all maps of a loop at once: a kernel, and its launch in the loop's place.

    The kernel is named after the payload function. It computes its loop bounds for itself; only buffers and scalar arguments are
    passed. Bufferizes first where the payload still has tensors. Temporaries of a block become each thread's own where nobody else
    looks at its part, and shared memory otherwise.

    Args:
        loop: the outermost mapped loop (or a mapped op); consumed, with everything inside.
        max_registers: the most registers that the compiler may give a thread, 24 to 255, and 65,536 for all threads of a block;
            none: as many as the compiler likes. Too few of them spill to memory.

    Returns:
        launch: the launch in the host function.

    Errors:
        W0345, W0346: the maps do not fit the launch's threads.
        W0350: the loop has no map.
        W0351: something in the loop is distributed by no map.
        W0352: maps that disagree on the block's size.
        W0353: `threads(*)`, and nothing says how many.
        W0354: a size that is known too late.
        W0355: too much shared memory, or of no known size.
        W0356: tensors are left.
        W0357: a write-back that no map distributes.
        W0358: an op that has no lowering to loops.
        W0359: part of another launch.
        W0360: loops over blocks that do not nest perfectly.
        W0361: a value that no kernel takes.
        W0362: a barrier in a loop over threads.
        W0373: a number of registers that no thread can have.

    Source: design, section Distribution; upstream `gpu-kernel-outlining` (see `distribution/kernel.py` for why not that one).

    Example:
        launch tiles
        before: scf.forall (%i, %j) in (4, 4) … scf.forall (%y, %x) in (16, 16) … weft.map
        after:  gpu.launch_func @mm_kernel::@mm blocks in (%c4, %c4, %c1) threads in (%c16, %c16, %c1) args(
    """

    loop: Handle = consumed()
    max_registers: int | None = integer(optional=True)

    def apply(self, rewrite: Rewriter) -> Results:
        from ..distribution import launch_loop

        ensure_bufferized(rewrite)
        try:
            info = launch_loop(rewrite.module, rewrite.find(self.loop))
        except WeftError as error:
            raise rewrite.placed(error, at="loop") from error
        for remark in info.remarks:
            rewrite.remark(remark)
        if self.max_registers is not None:
            self._cap_registers(rewrite, info, self.max_registers)
        return {"launch": rewrite.new_handle(info.launch, "launch")}

    @staticmethod
    def _cap_registers(rewrite: Rewriter, info: LaunchInfo, most: int) -> None:
        from ..distribution import find_kernel

        if not FEWEST <= most <= MOST:
            raise rewrite.error(
                "W0373", f"a thread has {FEWEST} to {MOST} registers, and {most} is none of these", at="max_registers"
            )
        sizes = [size for size in info.block if size is not None]
        threads = math.prod(sizes)
        taken = -(-threads // 32) * 32 * (-(-most // 8) * 8)  # a warp gets its registers in steps of 8 a thread
        if len(sizes) == len(info.block) and taken > OF_BLOCK:
            room = OF_BLOCK // (-(-threads // 32) * 32) // 8 * 8
            raise rewrite.error(
                "W0373",
                f"{most} registers for each of {threads} threads are {taken} registers, and a block has {OF_BLOCK}",
                at="max_registers",
                hint=f"at most {min(room, MOST)}, or fewer threads a block",
            )
        with rewrite.module.context:
            kernel = find_kernel(rewrite.module, info)
            kernel.attributes[REGISTERS] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), most)
        rewrite.remark(f"at most {most} registers a thread")
