"""`unroll LOOP [by n]`: the compiler unrolls a sequential loop."""

from __future__ import annotations

from ..ir.mlir import i64, ir
from ..ir.structured import UNROLL
from ..session.statement import Handle, Results, Rewriter, Statement, handle, integer, statement

MOST_TRIPS = 1024
"""The most copies of a loop body in the text for the compiler: with more, compilation takes
minutes."""


@statement("unroll")
class Unroll(Statement):
    """Have the compiler unroll a sequential loop: fully, or by n iterations.

    The loop keeps its form and its handle; the CUDA text gets `#pragma unroll` (or `#pragma unroll
    n`) above it. The compiler handles the remainder: n need not divide the number of iterations. In
    one case the text has `#pragma unroll 8` in place of full unrolling, with which ptxas would load
    so far ahead that registers spill: for more than 8 steps of a sum outside of any loop, in a
    kernel without barriers in loops and with 128 or more numbers per thread.

    Args:
        target: a sequential loop (`scf.for`); stays alive.
        factor: the number of iterations at a time, 2 or more; default: all of them, if their number
            is known.

    Returns:
        nothing.

    Errors: W0370, W0371, W0372.

    Source: CUDA C++ Programming Guide, `#pragma unroll`.

    Example:
        unroll k
        before: scf.for %k = %c0 to %c32 step %c8
        after:  scf.for %k = %c0 to %c32 step %c8 … {weft.unroll}
    """

    reach = "handles"

    target: Handle = handle()
    factor: int | None = integer(optional=True, minimum=2, written="by")

    def apply(self, rewrite: Rewriter) -> Results:
        from ..indices.arithmetic import trip_count  # late import: the bindings are slow to load

        loop = rewrite.find(self.target)
        rewrite.only_marked = True
        self._check_loop(rewrite, loop)
        trips = trip_count(loop)
        if self.factor is None:
            if trips is None or trips > MOST_TRIPS:
                unknown = "the number of iterations of this loop is not known before it runs"
                many = f"{trips} iterations would be {trips} copies of the body, and {MOST_TRIPS} is the most"
                hint = "unroll a number of iterations at a time: `unroll … by 4`"
                raise rewrite.error("W0371", unknown if trips is None else many, loop, hint)
        else:
            self._check_factor(rewrite, loop, self.factor, trips)
        loop.attributes[UNROLL] = ir.UnitAttr.get() if self.factor is None else i64(self.factor)
        times = f"{self.factor} iterations at a time" if self.factor is not None else f"all {trips} iterations"
        rewrite.remark("one iteration: nothing to unroll" if trips == 1 else times)
        return {}

    def _check_loop(self, rewrite: Rewriter, loop: ir.Operation) -> None:
        hint = None
        if loop.name in ("scf.forall", "scf.parallel", "affine.parallel"):
            what = "`unroll` takes a sequential loop, and the iterations of this one are parallel"
            hint = "`map` it; the loop over a reduction, or over the steps of a tile, is sequential"
        elif loop.name != "scf.for":
            what = f"`unroll` takes a sequential loop (scf.for), and this is {loop.name}"
        elif UNROLL in loop.attributes:
            what, hint = "this loop is unrolled already", "delete one of the two `unroll` statements"
        else:
            return
        raise rewrite.error("W0370", what, loop, hint)

    @staticmethod
    def _check_factor(rewrite: Rewriter, loop: ir.Operation, factor: int, trips: int | None) -> None:
        if factor > min(trips or MOST_TRIPS, MOST_TRIPS):
            few = trips is not None and trips < factor
            has = f"the loop has {trips} iterations" if few else f"{MOST_TRIPS} is the most"
            what = f"{factor} iterations at a time, and {has}"
            hint = f"write `by {min(trips or MOST_TRIPS, MOST_TRIPS)}` or less, or leave `by` out for all of them"
        else:
            return
        raise rewrite.error("W0372", what, loop, hint, at="factor")
