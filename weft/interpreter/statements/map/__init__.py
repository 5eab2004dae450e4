"""`map OP to SPACE [DISTRIBUTION] [order grouped(n)|order panels(n)|order hilbert] [vector n]`: the
assignment of iterations to processors."""

from __future__ import annotations

from dataclasses import replace

from ....dsl.signature import DistributionSpec, SpaceSpec
from ...hardware.limits import WARP
from ...hardware.processor_counts import miscounted
from ...ir.mlir import ir
from ...session.statement import (
    Handle,
    Results,
    Rewriter,
    Statement,
    distribution,
    flag,
    handle,
    integer,
    space,
    statement,
)
from ...tensors.levels import refuse_overlap

_FIELDS = {"W0348": "vector", "W0343": "target", "W0344": "target", "W0364": "space"}
"""The fields that a code concerns, other than the space."""


@statement("map", apart=("target", "like"))
class Map(Statement):
    """Choose the processors that execute the iterations of a parallel loop, or of an op.

    The decision is recorded; `launch` lowers all maps at once. With n iterations over P processors,
    processor p executes: without a distribution word iteration p; `block` the contiguous chunk p of
    ceildiv(n, P) iterations; `cyclic` p, p+P, p+2P, …; `block-cyclic(b)` chunks of b at p*b, p*b +
    P*b, …

    Args:
        target: a parallel loop, or an op with only parallel dimensions (its elements are numbered
            row by row); stays alive. With a single axis, all dimensions of a loop are taken in a
            row, as by `coalesce`: `grid(x)` fits loops and ops of any rank. Loops of the payload
            (`scf.for`, `affine.for`, `scf.parallel`, `affine.parallel`, `scf.forall`) can be mapped
            if no iteration accesses an element that another writes; as many perfectly nested ones
            as there are axes become one loop. A single store, or atomic update, is one iteration:
            with `threads(*)` one thread executes it. One processor also executes all of any reduction if the space
            has one processor (`threads(x: 1)`), and all of a reduction to a single element
            (`tensor<f32>`), or of a loop over tiles of it, that is not shared: the handle then
            names the loop of one iteration around it. A reduction may also be shared, by `lanes` or
            by `threads`: its iterations are those of the reduced dimensions. Each processor reduces
            its own iterations; then the processors with the same iteration of all enclosing loops
            combine their results, the lanes of a warp by shuffles, and warps, or threads of rows
            that are not whole warps, through shared memory. Each of them has the result, in
            registers of its own if it is a temporary. Sums, products, extremes, bitwise operations,
            several of them at once, the first largest or smallest element with its index, and
            Welford's count, mean and squared differences can be shared. Floating-point results
            differ in their last digits from those of a sequential sum. So may a loop of the payload
            that carries numbers (`scf.for`, `affine.for`), or reduces them (`scf.parallel`), if it
            does nothing but read and compute: it becomes such an op on views of what it reads,
            whatever its bounds, also on ones that it has loaded. Its results are temporaries; a
            store of what is computed from them becomes a loop of one iteration, for the first of
            the processors. If it is in no loop, one block has all of it, and the handle then names
            the loop of that one iteration around it.
        space: `blocks(y, x)`, `threads(y: 16, x: 16)`, `threads(*)` (every thread of the block, by
            linear id), `warps(x: 4)` and `lanes` (the quotient and the remainder of the linear
            thread id divided by 32; alone or nested), `lanes(y: 8, x: 4)` (the lanes in rows and
            columns, x running fastest; two loops may take one each, `lanes(y: 8)` and `lanes(x:
            4)`), `grid(x)` (block and thread together: a single loop over both; 256 threads per
            block, 16 x 16 for two axes, unless another map sets them), `warpgroups(y)` (groups of
            four warps, for `mma`) and `quarters` (the warps of such a group), `registers` (each
            thread executes all iterations: a loop over the pieces of its tile, inside loops over
            threads or around them, where an accumulator in registers has all pieces; or an op on
            results that every thread has), `tma` (no thread copies: one thread starts the copy that
            `promote-to-shared` has returned, the tensor memory accelerator of sm_90a performs it,
            in boxes, and all threads wait for it at its place, or where `pipeline` puts the wait;
            elements outside of a ragged tile are zeros; a copy out of shared memory is a store: the
            threads that write the tile fence it, one thread of the block, or of each warp group in
            a loop over `warpgroups`, starts it, and waits before the tile is written again). An
            axis without a count gets as many processors as iterations; `?` is read at run time, and
            the kernel is correct for every launch size.
        distribution: `block`, `cyclic` or `block-cyclic(b)`; default: each processor gets one
            iteration.
        group: `order grouped(n)`, with `blocks(y, x)`: the blocks, x running fastest, take the
            tiles in groups of n rows, each group column by column; blocks that run at the same time
            then share their reads in the L2 cache. With `blocks(x: n) cyclic`, n blocks take all
            tiles of a two-dimensional loop in that order, and with `threads(*)`, threads take the
            elements of a copy in that order; with `vector`, a column is a vector. Default: each
            block takes the tile of its own ids; shared iterations are taken row by row.
        panel: `order panels(n)`: the processors of one axis, as `threads(*)`, take panels of n
            columns one after the other, each row by row.
        hilbert: `order hilbert`: blocks take the tiles of a two-dimensional loop along a Hilbert
            curve, with `blocks(y, x)` or `blocks(x: n) cyclic`: each tile is adjacent to the
            previous one, and any n consecutive tiles are close together in rows and columns. The
            blocks read the curve from a table of constants, made for the numbers of tiles; with
            clusters, the curve goes through the clusters, in which the tiles of the blocks are
            below each other.
        vector: for an op: one iteration is that many consecutive elements, in accesses of at most
            16 bytes.
        like: `map OP like H`, in place of a space: the elementwise op `OP` follows the op of `H`,
            often a product, so that each thread has the same elements of both results. The loops
            around that op, but not around `OP`, are made and mapped around `OP`, too: those of
            `tile`, and those of `mma`. Loops over `registers` may be around `OP` already. The
            handle then names the op inside these loops.

    Returns:
        nothing.

    Errors: W0319, W0340, W0341, W0342, W0343, W0344, W0345, W0346, W0347, W0348, W0349, W0364,
    W0396.

    Source: design, section Distribution; HPF's `block`, `cyclic` and `cyclic(b)`; Triton's grouped
    ordering.

    Example:
        map lanes to threads(y: 16, x: 16) cyclic
        before: scf.forall (%i, %j) in (64, 64)
        after:  scf.forall (%i, %j) in (64, 64) … {weft.map = {axes = ["y", "x"], … dist = "cyclic"
    """

    reach = "handles"

    target: Handle = handle()
    space: SpaceSpec | None = space(optional=True, judge=miscounted)
    distribution: DistributionSpec | None = distribution()
    group: int | None = integer(optional=True, minimum=1)
    panel: int | None = integer(optional=True, minimum=1)
    hilbert: bool = flag()
    vector: int | None = integer(optional=True, minimum=1)
    like: Handle | None = handle(optional=True)

    def apply(self, rewrite: Rewriter) -> Results:
        from ...buffers.elements import VECTOR
        from ...loops.forall import in_a_row, trips_text
        from ...mapping.legality import can_order, check_map, takes_a_row
        from ...mapping.mapping import ATTRIBUTE, Mapping, loop_dimensions
        from ...parallel.nests import expect_unmapped, on_one_processor, parallel_nest, single_iteration
        from ...parallel.reduction_loops import as_reduction, store_once

        if self.like is not None:
            from .following import follow

            return follow(rewrite, self.target, self.like)
        assert self.space is not None, "the grammar has one of the two"
        op = found = rewrite.find(self.target)
        expect_unmapped(rewrite, op, "delete one of the two `map` statements")
        warps = self.space.all or all(isinstance(n, int) and n % WARP == 0 for n in self.space.counts)
        shared = self.space.kind == "lanes" or (self.distribution is not None and warps)
        op = on_one_processor(rewrite, op, self.target.tag, self.space, shared=shared)
        single = bool(self.space.counts) and all(count == 1 for count in self.space.counts)
        loop = op
        op = loop if single else as_reduction(rewrite, loop)
        carried = op is not loop
        op = parallel_nest(rewrite, single_iteration(rewrite, op), max(len(self.space.axes), 1), single=single)
        rewrite.only_marked = op is found  # otherwise the mapped op may be new
        refuse_overlap(rewrite, op, "target")
        # `promote-to-shared` may have promised a vector
        promised = ir.IntegerAttr(op.attributes[VECTOR]).value if VECTOR in op.attributes else None
        mapping = Mapping.of(
            self.space, self.distribution, self.vector or promised, self.group, self.panel, hilbert=self.hilbert
        )
        if takes_a_row(op, mapping):
            sizes = trips_text(loop_dimensions(op))
            op = in_a_row(op)
            rewrite.remark(f"{sizes} iterations in a row")
            rewrite.only_marked = False
        no_chunk = mapping.chunk is not None and mapping.chunk < 1
        with rewrite.placing(at="space", fields={**_FIELDS, "W0347": "distribution" if no_chunk else "space"}):
            check_map(op, mapping, promised=promised is not None and self.vector is None)
        if not can_order(op, mapping):
            mapping = replace(mapping, group=None, panel=None)
            rewrite.remark("iterations are taken row by row: how many there are is known only at run time")
        op.attributes[ATTRIBUTE] = mapping.attribute()
        if carried:
            store_once(rewrite, op, mapping)
        rewrite.remark(str(mapping))
        return {}
