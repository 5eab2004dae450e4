"""`launch LOOP [max-registers n] [unproven]`: realise all maps of a loop at once, as a kernel and its launch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...dsl.diagnostics import WeftError
from ..ir.mlir import ir
from ..session.rewriter import Rewriter
from ..session.statement import Handle, Results, Statement, consumed, flag, integer, statement
from .bufferize import ensure_bufferized

if TYPE_CHECKING:
    from ..launch.kernel import LaunchInfo

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

    The kernel is proven race-free, or refused with a witness: conflicts between threads and between blocks that nothing orders,
    barriers that not all threads reach, shared memory that is read and nobody wrote; and what is only assumed to be one of these,
    because an index depends on data or the analysis reached its limit. What `insert-barriers` or `verify-sync` has proven of the
    loop as it stands is not proven again.

    Args:
        loop: the outermost mapped loop (or a mapped op); consumed, with everything inside.
        max_registers: the most registers that the compiler may give a thread, 24 to 255, and 65,536 for all threads of a block;
            none: as many as the compiler likes. Too few of them spill to memory.
        unproven: launch it even if it is not proven race-free; the kernel bears `weft.unproven` then, with the reason, and run,
            build and bundle say so. `--unproven` does the same for all launches of a schedule.

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
        W0601: two threads of a block conflict, and nothing orders them.
        W0602: two blocks conflict.
        W0603: a barrier that not all threads of a block reach.
        W0610: a thread reads shared memory that nobody wrote.
        W0640: an op whose effects on memory are not known.

    Source: design, section Distribution; upstream `gpu-kernel-outlining` (see `distribution/kernel.py` for why not that one).

    Example:
        launch tiles
        before: scf.forall (%i, %j) in (4, 4) … scf.forall (%y, %x) in (16, 16) … weft.map
        after:  gpu.launch_func @mm_kernel::@mm blocks in (%c4, %c4, %c1) threads in (%c16, %c16, %c1) args(
    """

    reach = "handles"

    loop: Handle = consumed()
    max_registers: int | None = integer(optional=True)
    unproven: bool = flag()

    def apply(self, rewrite: Rewriter) -> Results:
        from ..launch import independent, launch_loop
        from ..proof.races import proof

        ensure_bufferized(rewrite)
        root = rewrite.find(self.loop)
        proven = proof.stands(rewrite.module, root)
        alone = independent(root)
        try:
            info = launch_loop(rewrite.module, root, taken=rewrite.taken, known=rewrite.known)
        except WeftError as error:
            raise rewrite.placed(error, at="loop") from error
        for remark in info.remarks:
            rewrite.remark(remark)
        if self.max_registers is not None:
            self._cap_registers(rewrite, info, self.max_registers)
        self._state_proof(rewrite, info, proven=proven, independent=alone)
        return {"launch": rewrite.new_handle(info.launch, "launch")}

    def _state_proof(self, rewrite: Rewriter, info: LaunchInfo, *, proven: bool, independent: bool) -> None:
        """Say of the kernel that it is race-free, which is proven if nothing has proven it of the loop; or refuse it."""
        from ..launch import find_kernel
        from ..proof.races import proof

        kernel = find_kernel(rewrite.module, info)
        judged = proof.Judgement(()) if proven else info.found.get(proof.Judgement)
        judged = judged or proof.judge(kernel, info.block, info.grid, independent=independent)
        if judged.believed:
            rewrite.remark(proof.BELIEVED)
        if not judged.found:
            if not proven:
                info.found[proof.Judgement] = judged
            proof.state_kernel_proof(kernel)
        elif self.unproven or rewrite.unproven:
            for line in proof.let_through(kernel, judged.found):
                rewrite.remark(line)
        else:
            raise rewrite.placed(WeftError.of(proof.refusal(judged.found)))

    @staticmethod
    def _cap_registers(rewrite: Rewriter, info: LaunchInfo, most: int) -> None:
        from ..launch import find_kernel

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
