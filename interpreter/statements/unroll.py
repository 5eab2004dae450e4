"""`unroll LOOP [by n]`: have the compiler unroll a sequential loop."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.mlir import ir, producer
from ..session.rewriter import Rewriter
from ..session.statement import Handle, Results, Statement, handle, integer, statement

ATTRIBUTE = "weft.unroll"
MOST_TRIPS = 1024
"""An unrolled loop is text for the compiler: beyond this many copies of a body it takes minutes."""


@statement("unroll")
@dataclass(frozen=True, kw_only=True)
class Unroll(Statement):
    """Have the compiler unroll a sequential loop: whole, or n iterations at a time.

    The loop keeps its form and its handle; the CUDA text gets `#pragma unroll` (or `#pragma unroll n`) above it. The compiler does
    what is left over by itself: n need not divide the number of iterations.

    Args:
        target: a sequential loop (`scf.for`); stays alive.
        factor: how many iterations at a time, 2 or more; none: all of them, whose number must be known then.

    Returns:
        nothing.

    Errors:
        W0370: not a sequential loop, or one that is unrolled already.
            `unroll` takes a loop whose iterations follow each other: over a reduction, over the steps of a tile.
            Parallel loops are mapped; whatever of their iterations one thread gets is unrolled by the compiler where it
            must be. A loop is unrolled once.
        W0371: a loop that cannot be unrolled whole: too many iterations, or not known how many.
            How many iterations it has is known only at run time, or they are so many that the compiler would take
            minutes over the copies. `unroll loop by 4` makes four copies of the body.
        W0372: a factor below 2, or above the number of iterations.
            `unroll loop by n` takes n from 2 to the number of iterations; `unroll loop` takes all of them.

    Source: CUDA C++ Programming Guide, `#pragma unroll`.

    Example:
        unroll k
        before: scf.for %k = %c0 to %c32 step %c8
        after:  scf.for %k = %c0 to %c32 step %c8 … {weft.unroll}
    """

    reach = "handles"

    target: Handle = handle()
    factor: int | None = integer(optional=True)

    def apply(self, rewrite: Rewriter) -> Results:
        loop = rewrite.find(self.target)
        self._check_loop(rewrite, loop)
        trips = static_trips(loop)
        if self.factor is None:
            self._check_whole(rewrite, loop, trips)
        else:
            self._check_factor(rewrite, loop, self.factor, trips)
        with rewrite.module.context:
            i64 = ir.IntegerType.get_signless(64)
            loop.attributes[ATTRIBUTE] = ir.UnitAttr.get() if self.factor is None else ir.IntegerAttr.get(i64, self.factor)
        times = f"{self.factor} iterations at a time" if self.factor is not None else f"all {trips} iterations"
        rewrite.remark("one iteration: nothing to unroll" if trips == 1 else times)
        return {}

    def _check_loop(self, rewrite: Rewriter, loop: ir.Operation) -> None:
        if loop.name in ("scf.forall", "scf.parallel", "affine.parallel"):
            raise rewrite.error(
                "W0370",
                "`unroll` takes a sequential loop, and the iterations of this one are parallel",
                at="target",
                payload=loop,
                hint="`map` it; the loop over a reduction, or over the steps of a tile, is sequential",
            )
        if loop.name != "scf.for":
            raise rewrite.error(
                "W0370", f"`unroll` takes a sequential loop (scf.for), and this is {loop.name}", at="target", payload=loop
            )
        if ATTRIBUTE in loop.attributes:
            raise rewrite.error("W0370", "this loop is unrolled already", at="target", payload=loop, hint="unroll it once")

    @staticmethod
    def _check_whole(rewrite: Rewriter, loop: ir.Operation, trips: int | None) -> None:
        if trips is None:
            raise rewrite.error(
                "W0371",
                "how many iterations this loop has is not known before it runs",
                at="target",
                payload=loop,
                hint="say how many at a time: `unroll … by 4`",
            )
        if trips > MOST_TRIPS:
            raise rewrite.error(
                "W0371",
                f"{trips} iterations would be {trips} copies of the body, and {MOST_TRIPS} is the most",
                at="target",
                payload=loop,
                hint="say how many at a time: `unroll … by 4`",
            )

    @staticmethod
    def _check_factor(rewrite: Rewriter, loop: ir.Operation, factor: int, trips: int | None) -> None:
        if factor < 2:
            raise rewrite.error(
                "W0372",
                f"{factor} iterations at a time is no unrolling",
                at="factor",
                payload=loop,
                hint="2 or more",
            )
        if factor > min(trips or MOST_TRIPS, MOST_TRIPS):
            has = f"the loop has {trips} iterations" if trips is not None and trips < factor else f"{MOST_TRIPS} is the most"
            raise rewrite.error(
                "W0372", f"{factor} iterations at a time, and {has}", at="factor", payload=loop,
                hint="at most as many as there are; without `by`, all of them",
            )  # fmt: skip


def static_trips(loop: ir.Operation) -> int | None:
    """How many iterations a `scf.for` has, where its bounds are numbers."""
    numbers = [_number(bound) for bound in list(loop.operands)[:3]]
    lower, upper, step = numbers
    if lower is None or upper is None or not step:
        return None
    return max(-(-(upper - lower) // step), 0)


def _number(bound: ir.Value) -> int | None:
    op = producer(bound)
    return ir.IntegerAttr(op.attributes["value"]).value if op is not None and op.name == "arith.constant" else None
