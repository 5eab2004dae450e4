"""`split-k OP n [by m] [cyclic] [atomic]`: a reduction is cut into parts that run in parallel, and
the parts are combined afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ir.mlir import ir
from ...ir.structured import ATOMIC, structure
from ...session.statement import Handle, Results, Rewriter, Statement, consumed, flag, integer, statement
from ...tensors import levels

if TYPE_CHECKING:
    from .parts import Split


@statement("split-k", returns=("gemm", "zeros", "sum"))
class SplitK(Statement):
    """Cut the reduction of a structured op into parts that run in parallel, and combine them
    afterwards.

    A matrix product with a small result and a long sum has few tiles, and leaves most of a GPU
    idle; so does the sum of a long vector. Here a sum over k becomes n sums over a part of k each:
    the parts are a new outermost parallel dimension, `partial[s, m, n] = Σ over part s`. A second
    op then adds the parts and the op's initial value (a fill, or an accumulator). Both are
    scheduled like any other op, as two launches, so that no two blocks ever write the same element
    and the result does not depend on their order. Products, extremes, bitwise operations, several
    results at once, and the first largest or smallest element with its index are cut in the same
    way. Floating-point sums and products differ in their last digits from those of a loop.

    All parts have the same number of terms, except that the last one has fewer if n does not divide
    their number; operands are then read under a mask. A part is contiguous; with `cyclic`, part s
    has the terms s, s + n, s + 2n, …, so that neighbouring parts read neighbouring elements. The
    partial results have their own buffer, n times as large as the result. Consumers of the result
    stay after `sum`.

    With `atomic`, the blocks that compute the parts may combine them: `fuse` the sum into the loop
    over the tiles of `gemm`, and each tile is combined with the result when it is done, by an
    atomic update of each element. Then there is no buffer and no second launch for the parts, but
    the result must be initialized before (a fill is launched on its own), and floating-point sums
    depend on the order in which blocks run, in their last digits.

    Args:
        target: a structured op with one reduction dimension, which combines its result with one
            term in each iteration, by an associative operation; not in a loop; consumed.
        parts: the number of parts, 2 or more; there are fewer if the last ones would be empty.
        factor: a part's number of summands is rounded up to a multiple of this: the tile size of k,
            so that no part ends within a tile, or the width of loads.
        cyclic: the terms are distributed over the parts in rotation.
        atomic: let the sum be fused into the loop over the parts, if GPUs can update the result
            atomically.

    Returns:
        gemm: the partial results, a `linalg.generic` with the parts as its first dimension; its
            operands keep their names.
        zeros: the op that initializes them, a `linalg.fill` for a single result; fuse it into the
            tiles of `gemm`.
        sum: the op that combines them; its last dimension is the parts. The fill before the
            original op is now before this one.

    Errors: W0450, W0451, W0453, W0454, W0455, W0456, W0457.

    Source: split-K GEMM (CUTLASS, "parallel split-K"); upstream
    `transform.structured.split_reduction`, with a factor that must divide the sum.

    Example:
        let (part, zeros, sum) = split-k gemm 4
        before: linalg.matmul
        after:  linalg.fill … tensor<4x64x64xf32> … iterator_types = ["parallel", "parallel", "parallel", "reduction"]
    """

    target: Handle = consumed()
    parts: int = integer(minimum=2)
    factor: int | None = integer(optional=True, minimum=1, written="by")
    cyclic: bool = flag()
    atomic: bool = flag()

    def apply(self, rewrite: Rewriter) -> Results:
        from ...padding.rounding import absorb_pads
        from .parts import expect_atomic, read, split

        op = rewrite.find(self.target)
        rewrite.expect_structured(op, "W0450")
        if op.parent is not None and op.parent.operation.name != "func.func":
            raise rewrite.error(
                "W0456",
                f"this op is in {op.parent.operation.name}, and the parts of its sum need launches of their own",
                op,
                "use `split-k` before `tile`",
            )
        op = levels.expect_values(rewrite, self.target, "W0454", "op")
        with rewrite.placing(op, fields={"W0453": "parts"}, notes=(f"dimensions {structure(op).text()}",)):
            cut = read(op, self.parts, self.factor or 1, cyclic=self.cyclic)
        if self.atomic:
            with rewrite.placing(op, at="atomic"):
                expect_atomic(op)
        for done in absorb_pads(op):
            rewrite.remark(done)
        partial, zeros, total = split(cut)
        if self.atomic:
            total.attributes[ATOMIC] = ir.UnitAttr.get()
            rewrite.remark("`fuse` the sum into the loop over the tiles of the parts, after the zeros")
        rewrite.remark(f"{self._parts_text(cut)}; partial sums in {partial.results[0].type}")
        made = {"gemm": partial, "zeros": zeros, "sum": total}
        return {name: rewrite.new_handle(op) for name, op in made.items()}

    def _parts_text(self, cut: Split) -> str:
        if not (isinstance(cut.extent, int) and isinstance(cut.length, int)):
            rounded = f", rounded up to a multiple of {self.factor}" if self.factor else ""
            return f"{cut.parts} parts of equal length{rounded}; the last ones may be shorter or empty"
        last = cut.extent - (cut.parts - 1) * cut.length
        ends = "" if not cut.ragged else f", the last of {last}"
        fewer = "" if cut.parts == self.parts else f" (not {self.parts}: the others would be empty)"
        return f"{cut.parts} parts of {cut.length} summands{ends}{fewer}"
