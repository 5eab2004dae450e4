"""`online MAX by n`: a softmax in one pass, with sums that are corrected whenever the largest
element so far grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...session.statement import Handle, Results, Rewriter, Statement, handle, integer, statement
from ...tensors import levels

if TYPE_CHECKING:
    from ...ir.mlir import ir


@statement("online", returns=("loop", "least", "factor"), variadic=True, more=r"(scaled|last|outside)\d*")
class Online(Statement):
    """Compute an extreme, and the sums that depend on it, in one pass over tiles of their terms.

    `max → exp(x - max) → sum → weighted sum` reads its terms repeatedly, because the largest must
    be known first. Here one loop over tiles of n terms updates the largest so far, multiplies the
    sums so far by exp(before - now), and adds the tile's terms to them. A quotient by one of the
    sums, as in (p / sum) · v, is computed after the loop. The ops that make the terms are computed
    tile by tile in the loop; those with other readers also stay outside. If the producers of the
    terms (a matrix product, a mask) are fused into the loop, no tensor of the reduction's length is
    stored: this makes flash attention a schedule of matmul, softmax, matmul.

    The sums of floating-point numbers differ in their last digits from those of two passes. If the
    largest element is -inf, the sums are 0 and not NaN (their quotient is NaN).

    Args:
        target: the largest (or smallest) element along one dimension, before any op is tiled along
            it; stays alive.
        factor: the number of terms in a tile.

    Returns:
        loop: the loop over the tiles.
        least: the fill that the extreme of one tile starts from.
        factor: the elementwise op that computes the factors, the extreme so far, and the extreme
            that the terms use.
        scaled: for each sum, in the order of the payload's text, the op that corrects it; the sum
            reads its result as the accumulator.
        last: for each sum that is multiplied or divided by another, in the same order, the op that
            does so after the loop.
        outside: for each op that makes terms and has other readers as well, the copy that stays
            outside; the op's handle names the one in the loop.

    Errors: W0320, W0454, W0470, W0471.

    Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (arXiv 1805.02867);
    FlashAttention-2 (arXiv 2307.08691).

    Example:
        let (keys, least, factor, scaled) = online largest by 16
        before: linalg.reduce { arith.maximumf } … linalg.reduce { arith.addf }
        after:  scf.for … linalg.reduce { arith.maximumf } … math.exp … linalg.reduce { arith.addf } … scf.yield
    """

    target: Handle = handle()
    factor: int = integer(minimum=1, written="by")

    def apply(self, rewrite: Rewriter) -> Results:
        from ...ir.mlir import is_within, merge_equal
        from ...ir.structured import structure
        from ...tensors.fusing import leave_outside, remove_if_dead
        from ..fuse import Fuse
        from ..tile import Tile
        from .algebra import read
        from .merging import merge, own_terms, times_power

        op = rewrite.find(self.target)
        rewrite.expect_structured(op, "W0320")
        op = levels.expect_values(rewrite, self.target, "W0454", "target")
        with rewrite.placing(op):
            chain = read(op)
        sums = [one.op.results[0] for one in chain.sums]
        inner = [op for one in chain.sums for op in one.inside]
        named = dict.fromkeys(name for op in inner for name in op.attributes if name.startswith("weft.h"))
        lasts: list[Handle] = []
        reductions = [(rewrite.new_handle(op), chain.walked)]
        terms: list[list[Handle]] = [[]]
        for number, one in enumerate(chain.sums):
            *inside, total = own_terms(one, sums)
            sums[number] = total.results[0]
            for other, power in one.weight.powers:
                last = times_power(total, one, sums[other], power)
                lasts.append(rewrite.new_handle(last))
                sums[number] = last.results[0]
            reductions.append((rewrite.new_handle(total), one.walked))
            terms.append([rewrite.new_handle(made) for made in inside])
        loops: list[Handle] = []
        for (reduction, walked), inside in zip(reductions, terms, strict=True):
            rank = structure(rewrite.find(reduction)).rank
            sizes = tuple(self.factor if d == walked else None for d in range(rank))
            loops.append(Tile(node=self.node, target=reduction, sizes=sizes).apply(rewrite)["loop"])
            for made in reversed(inside):
                Fuse(node=self.node, producer=made, loop=loops[-1]).apply(rewrite)
                del rewrite.find(made).attributes[made.tag]
        with rewrite.placing():
            merged = merge(chain, [rewrite.find(loop) for loop in loops])
        made = {"loop": rewrite.new_handle(merged.loop, "loop"), "least": rewrite.new_handle(merged.least)}
        made["factor"] = rewrite.new_handle(merged.factor)
        many = len(merged.scaled) > 1
        made |= {f"scaled{n if many else ''}": rewrite.new_handle(op) for n, op in enumerate(merged.scaled)}
        made |= {f"last{n if len(lasts) > 1 else ''}": last for n, last in enumerate(lasts)}
        merge_equal(rewrite.module)
        left: list[ir.Operation] = []
        for tag in named:  # equal terms of several sums are one op after merging; otherwise the first keeps the handle
            tagged, loop = rewrite.tagged(tag), rewrite.find(made["loop"])
            inside = [op for op in tagged if is_within(op, loop)]
            for extra in inside[1:]:
                del extra.attributes[tag]
            for op in [op for op in tagged if inside and op not in inside and not remove_if_dead(op)]:
                leave_outside(rewrite, op, tag)
                left += [] if op in left else [op]
        made |= {f"outside{n if len(left) > 1 else ''}": rewrite.new_handle(op) for n, op in enumerate(left)}
        rewrite.remark(f"one pass: {len(chain.sums)} {'sums are' if many else 'sum is'} corrected as the extreme grows")
        return made
