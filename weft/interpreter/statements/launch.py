"""`launch LOOP [cluster(n)] [max-registers n] [unproven]`: materialize all maps of a loop at once, as a kernel and its
launch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...dsl.diagnostics import WeftError
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

_PORTABLE = f"all chips that have clusters have such of {MOST_OF_CLUSTER} blocks; with 1 there are none"


@statement("launch", returns=("launch",))
class LaunchStatement(Statement):
    """Lower a loop with all its maps to a kernel, and put the launch in the loop's place.

    The kernel is named after the payload function. It computes its loop bounds itself; only buffers and scalar
    arguments are passed. Bufferizes first where the payload still has tensors. Temporaries of a block become
    thread-private where no other thread accesses a thread's part, and shared memory otherwise.

    The kernel is proven race-free, or refused with a witness: conflicts between threads and between blocks that nothing
    orders, barriers that not all threads reach, shared memory that is read but was never written; and anything assumed
    to be one of these, because an index depends on data or the analysis reached its limit. What `insert-barriers` or
    `verify-sync` has proven about the unchanged loop is not proven again.

    Args:
        loop: the outermost mapped loop (or a mapped op); consumed, with everything inside.
        cluster: `cluster(n)`: n blocks that follow each other along x run side by side, 8 at most (from sm_90 on). Of
            each tile that is the same for all of them, each loads a part, and the tensor memory accelerator brings it
            to all: `map … to tma` and `pipeline … producer` say what it brings. Which tiles those are depends on the
                order of blocks: row by row they
            are the left operand's, with `order grouped(g)` the right one's. A cluster that the tiles do not fill has
            blocks without one, which do their part all the same. With 1, blocks run alone.
        max_registers: the most registers that the compiler may give a thread, 24 to 255, and at most 65,536 for all
            threads of a block; default: no limit. With too few, values spill to memory. Where a producer gives some of
            its registers to the
            others, it is how many each thread begins with: those of one block of the multiprocessor, by default, or of
                two, or
            three (of 256 threads 240, 128, 80), which then run side by side if shared memory has room for them.
        unproven: launch it even if it is not proven race-free; the kernel then has `weft.unproven`, with the reason,
            and run, build and bundle report it. `--unproven` does the same for all launches of a schedule.

    Returns:
        launch: the launch in the host function.

    Errors:
        W0345, W0346: the maps do not fit the launch's threads.
        W0350: the loop has no map.
            A launch needs to know which processors run the loop: `map` it to blocks, to a grid, or (for a single block)
            to threads.
        W0351: something in the loop is distributed by no map.
            Every thread of the block would execute all of it, all at the same time. Tile it and map the loop to
            threads, or map the op itself with `threads(*) cyclic`. Sequential loops need no map, but the ops inside
            them do.
        W0352: maps that disagree on the block's size.
            All maps of a launch run on the same block of threads, so counts along the same axis must be equal. Where
            one loop has fewer iterations, give it the same count and a distribution, or map it to `threads(*)`. Maps
            over warps and lanes need complete warps: `warps(x: 4)` is a block of 128 threads. All threads of a block
                share a
            scan, or the lanes of a warp, whatever loops are around it; and what threads share has a known number of
            them.
        W0353: `threads(*)` of an unknown number.
            The number of threads in `threads(*)` comes from the launch's other maps. In a launch that has none, give a
            count: `threads(x: 256) cyclic`.
        W0354: a size that is known too late.
            The number of threads of a block is part of the kernel, and the number of blocks is computed by the host
            before the launch. A loop whose trip count is only known later needs a count and a distribution: `threads(x:
            128) cyclic`.
        W0355: shared memory: too much, or of no known size.
            Shared memory holds staged tiles and the temporaries that threads share. A block has at most 227 KiB of it
            on the largest chips, less on others; what is beyond 48 KiB is dynamic in the kernel's text. Use smaller
            tiles, or fewer stages. Buffers need static shapes. A buffer that a loop over threads allocates, and that
            threads inside it share, exists once for each iteration: their number must be known, and the loop may not be
                over a
            grid.
        W0356: tensors remain.
            A kernel works on memory. `launch` bufferizes the payload automatically; an op that remains on tensors
            cannot be launched.
        W0357: a write-back that no map distributes.
            The copy of a temporary to global memory follows the map of the loop that fills the temporary: each thread
            writes back what it computed. Where the loop's tiles cannot be determined, or the copy permutes or repeats
            the elements, it is distributed over all threads; their number must then be known, and the op marked as a
            write-back must have no reductions. Where the tiles divide the result there is no such copy.
        W0358: an op that has no lowering to loops.
            The structured ops that a thread executes are lowered to plain loops. This op has no such lowering upstream:
            decompose it before the launch, with `run-pass` or `transform { … }`.
        W0359: part of another launch.
            A kernel is launched by a host function, and contains everything inside the launched loop. Launch the
            outermost mapped loop.
        W0360: loops over blocks that do not nest perfectly.
            If a loop over blocks(y) contains a loop over blocks(x) and something else, every block along x would
            execute the other code, too. Map one loop of two dimensions to blocks(y, x), or only one of the two to
            blocks.
        W0361: a value that cannot be passed to a kernel.
            Kernels take buffers, integers, floating-point numbers and indices. Anything else must be computed inside,
            or before.
        W0362: a barrier in a loop over threads.
            Threads that own fewer iterations would not reach it, and the block would hang. Barriers go between the
            loops over threads, or between ops of such a loop that are mapped themselves, where the loop can be split:
            it cannot when a value that is read before the barrier is used after it.
        W0373: a number of registers that no thread can have.
            `launch loop max-registers n` tells the compiler how many registers a thread may use. It allocates 24 to 255
            per thread (never fewer, whatever the limit), and at most 65,536 for all threads of a block together,
            allocated to warps in steps of 8 per thread.
        W0405: a copy that the tensor memory accelerator cannot make.
            `map … to tma` copies boxes of an argument of the kernel, as its elements are, in the order of its axes,
            with zeros behind its ends. Rows begin at multiples of 16 bytes; a box has at most 256 elements along a
            dimension, and rows of a multiple of 16 bytes. How often a block has waited for a copy must be known:
            sequential loops alone stand around it. A tile that is swizzled is read by products of warp groups alone. A
            copy out of shared memory takes whole rows of its tile to an argument of the kernel, and no more than lies
            inside of that; what fills the tile stands in front of it, in one loop. `assume gemm.lhs.1 % 8 == 0` says
            that rows of 16-bit elements begin so; `versions` make kernels without `tma` for others.

            Of an image that `as-gemm` gathers (channels last, one to three axes) it copies pixels: up to 1024 places of
            the filter, at most 8 apart, at one tap of it. So the channels are a multiple of the tile along the sum:
            `assume conv.lhs.3 % 64 == 0`. Padding in front of an axis, and what is left of it behind the last tap, are
            at most 128 (of images with one axis 32768, with three 16); taps are less than 256 (65536, 32) from the
            first.

            wrong: map copy_a to tma  (rows of 333 elements of bf16)
            right: versions { assume gemm.lhs.1 % 8 == 0; … } else { … map copy_a to threads(*) cyclic … }
        W0407: blocks that cannot run in clusters.
            Blocks of a cluster take tiles that follow each other along x, each as many, and share those that are the
            same for all of them. So one loop over blocks is launched, mapped to `blocks(y, x)`, or to
            `blocks(x: n) cyclic` with n a multiple of the cluster's blocks, and so are the rows of `order grouped(g)`.
            What they share comes by tensor maps to the tiles of a producer, which waits until all of them have left
            one; and it can be cut into as many parts, panels of 128 bytes or 8 lines of them.

            wrong: map tiles to blocks(x: 131) cyclic order grouped(8); …; launch tiles cluster(2)
            right: map tiles to blocks(x: 132) cyclic order grouped(8); …; launch tiles cluster(2)
        W0601: two threads of a block conflict, and nothing orders them.
            Two threads access the same element, at least one writes it, and no barrier is between: which one is first
            is up to the hardware. The witness names the two threads, the element, both operations and the loop
            iterations. RAW: a read that needs the write before it. WAR: a write that must wait for the read. WAW: two
            writes, and the last one wins. `carried by` a loop: the second access belongs to a later iteration of it.

            A conflict is called assumed where an index or a condition is not affine (it depends on data): then neither
            the conflict nor its absence is proven. `launch` accepts neither: a kernel must be proven. Where the launch
            is nothing but one nest of mapped loops, its iterations are independent, and an assumed conflict between
            them does not count. `launch … unproven`, or `--unproven`, accepts a kernel as it is, and marks it as
            unproven.

            wrong: map copy to threads(*) cyclic; launch tiles
            right: map copy to threads(*) cyclic; insert-barriers; launch tiles
        W0602: two blocks conflict.
            Blocks run in any order, perhaps at the same time, and a barrier orders only the threads of one block. If
            two blocks access an element of global memory and at least one of them writes it, use another distribution
            (all accesses to the element in one block), or two kernels. The usual cause is a reduction dimension
            distributed over blocks: `split-k` cuts it into parts, which a second launch adds up, or, with `atomic`, the
            blocks themselves.
        W0603: a barrier that not all threads of a block reach, a shuffle that not all lanes of a warp reach.
        W0367: an access of a swizzled buffer that cannot be exchanged.
            `promote-to-shared … swizzle` exchanges 16-byte pieces of rows, in the subscripts of each access. A view
            that cannot be folded into its accesses, and an access of more than 16 bytes, have no such subscripts.
        W0369: a product that `mma` marked and that cannot become an instruction.
            An instruction takes the whole tile of a warp: the lanes' parts of the result have to be in registers
            (`promote-to-registers op.acc across k`), and what the lanes read must be seen as parts of the warp's tiles.
        W0610: a read of shared memory that was never written.
            Shared memory is not cleared when a block starts. A read of an element that no thread of the block has
            written before returns what an earlier block left there. It is called assumed where the write or the read
            depends on data.
        W0640: an op whose effects on memory are not known.
            The race analysis supports scf, affine, memref and vector ops. A call, or an op of a lower level (nvgpu,
            nvvm, llvm), could access any memory at any time, so nothing could be proven about the kernel. Inline the
            call, or analyse the kernel before it is lowered. Any other unknown op is assumed to access any memory:
            every access that it could conflict with is an assumed conflict.
        W0614: what threads reduce together is not made of the parts that it states.

    Source: design, section Distribution; upstream `gpu-kernel-outlining` (see `outlining/kernel.py` for why it is not
        used).

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
        from ..launch.known import found_before
        from ..launch.launch import launch_loop, prepare
        from ..mapping.clusters import CLUSTER
        from ..mapping.preconditions import independent
        from ..proof.combination.combination import assumed as what_is_assumed
        from ..proof.combination.combination import said as what_is_known
        from ..proof.coverage.coverage import coverage
        from ..proof.coverage.left import NOT_LEFT, missed, state
        from ..proof.coverage.shares import assumed_of
        from ..proof.races import proof

        ensure_bufferized(rewrite)
        root = rewrite.find(self.loop)
        with rewrite.placing(at="loop"):
            of_groups = any(
                PRODUCER in op.attributes for op in operations(root)
            )  # what they hand on depends on what there is
            for name, said in ((CLUSTER, self.cluster), (REGISTER_CAP, self.max_registers if of_groups else None)):
                if said is not None and (name, said) != (CLUSTER, 1):
                    with root.context:
                        root.attributes[name] = i64(said)
            kernel = prepare(rewrite.module, root, taken=rewrite.taken)
            judged = found_before(kernel, rewrite.known).get(proof.Judgement)
            proven = judged is None and proof.stands(rewrite.module, root)
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
        # that the kernel is race-free is proven if nothing has proven it of the loop
        known = judged = proof.Judgement(()) if proven else judged
        judged = judged or proof.judge(info.kernel, info.block, info.grid, independent=alone)
        if judged.believed:
            rewrite.remark(proof.BELIEVED)
        for line in what_is_known(judged.combined) if judged is not known else ():
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
                hint=f"at most {min(room, MOST_REGISTERS)}, or fewer threads a block",
            )
        info.kernel.attributes[REGISTER_CAP] = i64(most)
        shared_anew = next(operations(info.kernel, REGISTERS), None) is not None
        held = [accumulator(op.results[0].type) for op in operations(info.kernel, *PRODUCTS)]
        widest = max((one.columns for one in held if one is not None), default=0)
        least = fewest_registers(widest) if widest else 0
        if shared_anew and most not in (fit := registers_of_blocks(threads)):
            enough = ", ".join(map(str, dict.fromkeys(count for count in fit[1:] if count >= least)))
            several = f"those of two blocks, three, …: {enough}; of one: " if enough else ""
            raise rewrite.error(
                "W0373",
                f"with {most} registers for each of {threads} threads, no number of blocks has all that there"
                f" are, and "
                "warp groups hand on what they have",
                at="max_registers",
                hint=f"{several}leave it out",
            )
        if most < least:
            has = "a thread begins with" if shared_anew else "a thread may have"
            raise rewrite.error(
                "W0373",
                f"an instruction of warp groups of {widest} columns takes {least} registers, and {has} {most}",
                at="max_registers",
                hint="fewer columns, fewer warp groups a block, or fewer blocks a multiprocessor",
            )
        rewrite.remark(f"{'at first' if shared_anew else 'at most'} {most} registers a thread")
