"""`coalesce LOOP`: all dimensions of a parallel loop become one."""

from __future__ import annotations

from ..ir.structured import is_loop
from ..session.statement import Handle, Results, Rewriter, Statement, consumed, statement


@statement("coalesce", returns=("loop",))
class Coalesce(Statement):
    """Flatten all dimensions of a parallel loop, or of perfectly nested parallel loops, into one.

    The last dimension runs fastest; the indices are recovered by division and remainder. The loop
    can then be mapped to a single hardware axis, however many dimensions it had: `map flat to
    blocks(x: ?) cyclic`.

    Args:
        target: a parallel loop, or the outermost of perfectly nested ones (`scf.for` and
            `affine.for` where no iteration depends on another); consumed. On tensors or memrefs,
            with any bounds and steps, also those known only at run time.

    Returns:
        loop: the loop with one dimension, from 0 with step 1.

    Errors: W0340, W0343, W0363.

    Source: the discussion "Understanding parallel loops to GPU lowering" of the MLIR forum;
    upstream `affine-loop-coalescing`, for sequential loops.

    Example:
        let flat = coalesce tiles
        before: scf.forall (%i, %j) in (4, 8)
        after:  affine_map<(d0) -> (d0 floordiv 8)> … scf.forall (%i) in (32)
    """

    reach = "handles"

    target: Handle = consumed()

    def apply(self, rewrite: Rewriter) -> Results:
        from ..loops.forall import coalesce, trips_text
        from ..mapping.mapping import loop_dimensions
        from ..parallel.nests import expect_unmapped, merge_nested, parallel_nest, why_alone

        op = rewrite.find(self.target)
        if not is_loop(op):
            raise rewrite.error("W0363", f"`coalesce` takes a parallel loop, and this is {op.name}", op)
        expect_unmapped(rewrite, op, "`coalesce` it, then `map` the result")
        loop = parallel_nest(rewrite, op, None)
        if not loop.results:
            loop = merge_nested(loop)
        dimensions = loop_dimensions(loop)
        if len(dimensions) < 2:
            message = "this loop has one dimension, and no parallel loop is perfectly nested in it"
            why = why_alone(loop)
            notes, hint = ((why,) if why else ()), "leave `coalesce` out: one dimension is mapped to one axis as it is"
            if why is not None:
                hint += "; each processor then runs the loops inside whole"
            raise rewrite.error("W0363", message, loop, hint, notes=notes)
        flat = coalesce(loop)
        rewrite.remark(f"{trips_text(dimensions)} iterations in a row")
        return {"loop": rewrite.new_handle(flat, "loop")}
