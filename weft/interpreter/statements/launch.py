"""`launch LOOP [cluster(n)] [max-registers n] [unproven]`: materializes all maps of a loop at once,
as a kernel and its launch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...dsl.diagnostics import WeftError, alternatives
from ..hardware.hopper.mbarriers import REGISTERS
from ..hardware.hopper.warpgroups import PRODUCTS, accumulator, fewest_registers
from ..hardware.limits import (
    ALL_REGISTERS,
    FEWEST_REGISTERS,
    MOST_OF_CLUSTER,
    MOST_REGISTERS,
    REGISTERS_STEP,
    WARP,
    registers_of_blocks,
)
from ..ir.cloning import COMBINED
from ..ir.functions import REGISTER_CAP
from ..ir.mlir import i64, ir, operations
from ..session.statement import Handle, Results, Rewriter, Statement, consumed, flag, integer, statement
from .bufferize import ensure_bufferized

if TYPE_CHECKING:
    from ..launch.launch import LaunchInfo

_PORTABLE = f"write `cluster({MOST_OF_CLUSTER})` at most, which all chips with clusters have; or leave `cluster` out"


@statement("launch", returns=("launch",))
class LaunchStatement(Statement):
    """Lower a loop with all its maps to a kernel, and replace the loop by its launch.

    The kernel is named after the payload function. It computes its loop bounds itself; only buffers
    and scalar arguments are passed. A payload with tensors is bufferized first. Temporaries of a
    block become thread-private if no other thread accesses a thread's part, and shared memory
    otherwise.

    The kernel is proven race-free, or refused with a witness. It is refused for conflicts between
    threads or blocks that nothing orders, for barriers that not all threads reach, and for reads of
    shared memory that was never written. It is also refused if one of these cannot be excluded,
    because an index depends on data or the analysis reached its limit. A proof of the unchanged
    loop by `insert-barriers` or `verify-sync` is not repeated.

    Args:
        loop: the outermost mapped loop (or a mapped op); consumed, with everything inside.
        cluster: `cluster(n)`: n blocks that are consecutive along x, 8 at most, run at the same
            time (from sm_90 on). Each loads a part of every tile that is the same for all of them,
            and the tensor memory accelerator distributes it: `map … to tma` and `pipeline …
            producer` determine the loads. The common tiles depend on the order of blocks: row by
            row they are those of the left operand, with `order grouped(g)` those of the right one.
            A cluster that the tiles do not fill has blocks without a tile, which still load their
            part. With 1, blocks run alone.
        max_registers: the most registers that the compiler may give a thread, 24 to 255, and at
            most 65,536 for all threads of a block; default: no limit. With too few, values spill to
            memory. If a producer gives some of its registers to the other warp groups, it is the
            number with which each thread begins: by default for one block per multiprocessor; or
            for two, or three (with 256 threads 240, 128, 80), which then run at the same time if
            shared memory has room for them.
        unproven: launch it even if it is not proven race-free; the kernel then has `weft.unproven`,
            with the reason, and run, build and bundle report it. `--unproven` does the same for all
            launches of a schedule.

    Returns:
        launch: the launch in the host function.

    Errors: W0336, W0345, W0346, W0350, W0351, W0352, W0353, W0354, W0355, W0357, W0358, W0359,
    W0360, W0361, W0362, W0373, W0405, W0407, W0601, W0602, W0603, W0367, W0369, W0610, W0640,
    W0614.

    Source: design, section Distribution; upstream `gpu-kernel-outlining` (see `outlining/kernel.py`
    for why it is not used).

    Example:
        launch tiles
        before: scf.forall (%i, %j) in (4, 4) … scf.forall (%y, %x) in (16, 16) … weft.map
        after:  gpu.launch_func @mm_kernel::@mm blocks in (%c4, %c4, %c1) threads in (%c16, %c16, %c1) args(
    """

    reach = "handles"

    loop: Handle = consumed()
    cluster: int | None = integer(optional=True, minimum=1, maximum=MOST_OF_CLUSTER, hint=_PORTABLE)
    max_registers: int | None = integer(optional=True, minimum=FEWEST_REGISTERS, maximum=MOST_REGISTERS)
    unproven: bool = flag()

    def apply(self, rewrite: Rewriter) -> Results:
        from ..buffers.tensor_copies import PRODUCER
        from ..launch.launch import launch_loop, prepare
        from ..launch.templates import found_before
        from ..mapping.clusters import CLUSTER
        from ..mapping.preconditions import independent
        from ..proof.combination.combination import assumed as what_is_assumed
        from ..proof.combination.combination import verdict_lines
        from ..proof.coverage.coverage import coverage
        from ..proof.coverage.launch_contents import NOT_LEFT, missed, state
        from ..proof.coverage.shares import assumed_of
        from ..proof.races import proof

        ensure_bufferized(rewrite)
        root = rewrite.find(self.loop)
        with rewrite.placing(at="loop"):
            of_groups = any(
                PRODUCER in op.attributes for op in operations(root)
            )  # only warp groups with a producer redistribute registers
            for name, setting in ((CLUSTER, self.cluster), (REGISTER_CAP, self.max_registers if of_groups else None)):
                if setting is not None and (name, setting) != (CLUSTER, 1):
                    with root.context:
                        root.attributes[name] = i64(setting)
            kernel = prepare(rewrite.module, root, taken=rewrite.taken)
            judged = found_before(kernel, rewrite.known).get(proof.Judgement)
            proven = judged is None and proof.still_proven(rewrite.module, root)
            alone = judged is None and not proven and independent(root)
            covered, left = ([], {}) if rewrite.payload is None else coverage(kernel, root, rewrite.payload)
            lacking = [] if rewrite.payload is None else missed(root, left, rewrite.payload)
            info = launch_loop(rewrite.module, root, known=rewrite.known, prepared=kernel)
        combined = [*(one.line for one in covered), *assumed_of(info.made.shares)] if covered else []
        combined += [NOT_LEFT.format(place=place) for place in lacking]
        for remark in (*info.remarks, *combined):
            rewrite.remark(remark)
        state(info.launch, left)
        if self.max_registers is not None:
            self._cap_registers(rewrite, info, self.max_registers)
        # without a proof of the loop, the kernel itself is proven
        known = judged = proof.Judgement(()) if proven else judged
        judged = judged or proof.judge(info.kernel, info.block, info.grid, independent=alone)
        if judged.believed:
            rewrite.remark(proof.BELIEVED)
        for line in verdict_lines(judged.combined) if judged is not known else ():
            rewrite.remark(line)
        if combined := [*combined, *what_is_assumed(judged.combined)]:
            info.kernel.attributes[COMBINED] = ir.StringAttr.get("\n".join(combined), info.kernel.context)
        if not judged.found:
            if not proven:
                info.made.found[proof.Judgement] = judged
            proof.state_kernel_proof(info.kernel)
        elif self.unproven or rewrite.unproven:
            for line in proof.let_through(info.kernel, judged.found):
                rewrite.remark(line)
        else:
            raise WeftError(*proof.refusal(judged.found))
        return {"launch": rewrite.new_handle(info.launch, "launch")}

    @staticmethod
    def _cap_registers(rewrite: Rewriter, info: LaunchInfo, most: int) -> None:
        sizes = [size for size in info.block if size is not None]
        threads = math.prod(sizes)
        whole = -(-threads // WARP) * WARP
        taken = whole * (-(-most // REGISTERS_STEP) * REGISTERS_STEP)
        if len(sizes) == len(info.block) and taken > ALL_REGISTERS:
            room = ALL_REGISTERS // whole // REGISTERS_STEP * REGISTERS_STEP
            raise rewrite.error(
                "W0373",
                f"{most} registers for each of {threads} threads are {taken} registers, and a block has"
                f" {ALL_REGISTERS}",
                at="max_registers",
                hint=f"`max-registers {min(room, MOST_REGISTERS)}` at most, or fewer threads a block",
            )
        info.kernel.attributes[REGISTER_CAP] = i64(most)
        shared_anew = next(operations(info.kernel, REGISTERS), None) is not None
        held = [accumulator(op.results[0].type) for op in operations(info.kernel, *PRODUCTS)]
        widest = max((one.columns for one in held if one is not None), default=0)
        least = fewest_registers(widest) if widest else 0
        if shared_anew and most not in (fit := registers_of_blocks(threads)):
            enough = [f"`max-registers {count}`" for count in dict.fromkeys(fit[1:]) if count >= least]
            several = f"write {alternatives(enough)}, for several blocks a multiprocessor; or " if enough else ""
            raise rewrite.error(
                "W0373",
                f"with {most} registers for each of {threads} threads, no number of blocks uses all registers, as"
                " warp groups that exchange registers require",
                at="max_registers",
                hint=f"{several}leave `max-registers` out, for one block",
            )
        if most < least:
            has = "a thread begins with" if shared_anew else "a thread may have"
            raise rewrite.error(
                "W0373",
                f"an instruction of warp groups of {widest} columns takes {least} registers, and {has} {most}",
                at="max_registers",
                hint="`tile` to fewer columns, `map` to fewer `warpgroups`, or launch for fewer blocks a"
                " multiprocessor",
            )
        rewrite.remark(f"{'at first' if shared_anew else 'at most'} {most} registers a thread")
