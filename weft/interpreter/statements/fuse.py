"""`fuse PRODUCER into LOOP`: the producer is computed tile by tile, inside the loop that consumes
it."""

from __future__ import annotations

from ..ir.mlir import ancestors, ir, is_within, merge_equal, users
from ..ir.refusing import describe
from ..ir.structured import ATOMIC, dimensions_of, is_structured, shape_of, structure
from ..session.statement import Handle, Results, Rewriter, Statement, handle, statement
from ..tensors import levels


@statement("fuse", apart=("producer", "loop"))
class Fuse(Statement):
    """Compute a producer tile by tile, inside the loop that consumes it.

    The producer's handle names the fused op afterwards; the original is erased, unless something
    else also reads it.

    Reshapes, broadcasts and transposes between the two are removed if no handle names them: the
    loop reads the producer with other indices.

    The sum of `split-k … atomic` is fused in the other direction, into the loop that computes its
    parts: each iteration combines its tile with the result atomically.

    Args:
        producer: a structured op with a result that the loop reads, or the sum of `split-k …
            atomic`; stays alive.
        loop: a loop that `tile` made; stays alive.

    Returns:
        nothing.

    Errors: W0326, W0327, W0328, W0329, W0467, W0458, W0311.

    Source: upstream `transform.structured.fuse_into_containing_op`.

    Example:
        fuse init into tiles
        before: %f = linalg.fill … scf.forall … shared_outs(%o = %f)
        after:  scf.forall … linalg.fill … tensor<16x16xf32>
    """

    reach = "handles"

    producer: Handle = handle()
    loop: Handle = handle()

    def apply(self, rewrite: Rewriter) -> Results:
        from ..padding.rounding import absorb_pads
        from ..padding.scattered_inputs import load_scattered
        from ..tensors.fusing import (
            fuse_fills,
            fuse_masked_loads,
            fuse_tagged,
            fuse_twins,
            is_result_of,
            mark_twins,
            start_inside,
        )
        from ..tensors.moved_slices import read_sources
        from ..tensors.reshaped_slices import follow

        producer, loop = rewrite.find(self.producer), rewrite.find(self.loop)
        if loop.name not in ("scf.forall", "scf.for"):
            raise rewrite.error("W0328", f"`fuse` goes into a loop, and this is {loop.name}", loop)
        if is_within(producer, loop):
            rewrite.remark("already inside")
            return {}
        if levels.on_memrefs(producer):
            producer, loop = self._raised(rewrite, loop)
        if ATOMIC in producer.attributes and loop.name == "scf.forall" and is_result_of(producer.operands[0], loop):
            from .split_k.parts import fuse_sum  # an atomic sum of the loop's result

            kind = producer.results[0].type
            with rewrite.placing(producer):
                fuse_sum(producer, loop)
            rewrite.remark(f"each tile is combined with {kind}, atomically")
            return {}
        with rewrite.placing(producer):
            followed = [what for r in producer.results for what in (*follow(r, loop), *read_sources(r, loop))]
        if followed:
            rewrite.remark(f"through {', '.join(followed)}")
        self._is_read(rewrite, producer, loop)
        self._not_a_start(rewrite, producer, loop)
        self._not_overwritten(rewrite, producer, loop)
        if is_structured(producer):
            space = structure(producer)
            written = {d for indexing in space.maps[space.inputs :] for e in indexing.results for d in dimensions_of(e)}
            for done in (*absorb_pads(producer), *load_scattered(producer, space, dict.fromkeys(written))):
                rewrite.remark(done)
        twins = mark_twins(producer, loop)
        if not (fuse_fills(rewrite, producer, self.producer.tag, self.loop) or start_inside(producer, loop)):
            fuse_tagged(rewrite, self.producer.tag, self.loop)
        self._not_in_a_body(rewrite)
        self._settle(rewrite)
        fuse_twins(rewrite, twins, self.loop)
        fuse_masked_loads(rewrite, self.loop)
        return {}

    def _raised(self, rewrite: Rewriter, loop: ir.Operation) -> tuple[ir.Operation, ir.Operation]:
        """Raises a producer on memrefs to tensors, for a loop that yields tensors; returns producer
        and loop."""
        from ..tensors.moved_slices import movers_of

        if not len(loop.results):
            raise rewrite.error(
                "W0327",
                "the loop is on memrefs; fusion follows values, and memrefs have none",
                loop,
                "fuse before the statement that bufferizes it; its `map` is kept",
                at="loop",
            )
        for mover in movers_of(rewrite.find(self.producer)):
            made = rewrite.new_handle(mover)
            levels.on_tensors(rewrite, made, for_readers=True)
            del rewrite.find(made).attributes[made.tag]
        producer = levels.expect_values(rewrite, self.producer, "W0327", "producer", for_readers=True)
        return producer, rewrite.find(self.loop)

    def _not_overwritten(self, rewrite: Rewriter, producer: ir.Operation, loop: ir.Operation) -> None:
        """Raises W0329 if an op on memrefs between the producer and the loop may write the
        producer's inputs: inside the loop it would read the new values."""
        between = levels.overwritten_between(rewrite.module, producer, loop)
        if between is not None:
            raise rewrite.error(
                "W0329",
                f"{describe(between)} is before the loop and may overwrite what {producer.name} reads",
                producer,
                "`fuse` before the statement that bufferizes the op between",
            )

    def _not_a_start(self, rewrite: Rewriter, producer: ir.Operation, loop: ir.Operation) -> None:
        """Raises W0458 for a producer into which iterations of the loop combine: if each made it,
        the last one would undo the results of the others."""
        from .split_k.parts import combines_into

        if loop.name == "scf.forall" and any(combines_into(loop, r) for r in producer.results):
            raise rewrite.error(
                "W0458",
                f"iterations of the loop combine into what {producer.name} makes, and each would make it anew",
                producer,
                "`tile` and `map` it on its own, and `launch` it: it runs before the loop's launch",
            )

    def _is_read(self, rewrite: Rewriter, producer: ir.Operation, loop: ir.Operation) -> None:
        from ..tensors.fusing import is_result_of

        uses = [u.owner.operation for r in producer.results for u in r.uses]
        inside = [user for user in uses if is_within(user, loop)]
        if loop.name == "scf.for" and inside and all(user == loop for user in inside):
            raise rewrite.error(
                "W0326",
                f"the loop reads what {producer.name} produces only as its initial value: each iteration reads the result"
                " of the previous one",
                producer,
                "`fuse` it into the enclosing loop, which runs over the tiles of the result",
            )
        if not inside:
            if any(is_result_of(v, loop) for v in producer.operands):
                raise rewrite.error(
                    "W0326",
                    f"{producer.name} reads what the loop produces: only the sum of `split-k … atomic` is fused after"
                    f" its input",
                    producer,
                    f"`tile` {producer.name} instead of the loop's op, and `fuse` that op into its tiles",
                )
            takes = next((u for u in uses if u.name == "scf.forall"), None)
            hint = (
                "`map` and `launch` it on its own"
                if takes is None
                else f"`fuse` it into the loop that takes it: {describe(takes)}"
            )
            if any(u.name not in ("func.return", "scf.forall") for u in uses):
                hint = "`tile` the op that reads it, and `fuse` into that loop"
            between = (u for u in uses if any(is_within(v, loop) for result in u.results for v in users(result)))
            if (reader := next(between, None)) is not None:
                hint = f"`fuse` {describe(reader)} into the loop first: it reads this op, and the loop reads it"
            readers = tuple(f"its result is read by {describe(u)}" for u in uses if u.name != "scf.forall")
            raise rewrite.error(
                "W0326",
                f"the loop does not read what {producer.name} produces",
                producer,
                hint,
                notes=readers,
            )

    def _not_in_a_body(self, rewrite: Rewriter) -> None:
        """Raises W0326 for a producer that upstream could not tile and cloned into the body of
        another op, where it would run once per element."""
        for op in rewrite.tagged(self.producer.tag):
            reader = next((around for around in ancestors(op) if is_structured(around)), None)
            if reader is not None and len(op.results) > 1 and any(None in shape_of(result) for result in op.results):
                raise rewrite.error(
                    "W0326",
                    f"{op.name} has several results, which other ops read, too, or which the loop reads in tiles of another"
                    " shape; and the number of their ragged tiles is known only at run time",
                    op,
                    "`tile`, `map` and `launch` it on its own, before the op that reads it is tiled",
                )
            if reader is not None:
                raise rewrite.error(
                    "W0326",
                    f"the loop reads {op.name} only element by element, in the body of {describe(reader)}",
                    op,
                    "`fuse` it into the enclosing loop first; or choose tile sizes that divide; or `map` and `launch` it on"
                    " its own, before `as-gemm` or `split-k`. If the reader indexes it as x[9 - i] or"
                    " x[i + 32 * (1 - p)], `tensor.expand_shape` it in the payload, so that each part has a subscript"
                    " of its own",
                )

    def _settle(self, rewrite: Rewriter) -> None:
        """Gives the handle to the fused op alone. The original is erased, or stays untagged for its
        other readers."""
        from ..tensors.fusing import leave_outside, remove_if_dead

        loop = rewrite.find(self.loop)
        tagged = rewrite.tagged(self.producer.tag)
        fused = [op for op in tagged if is_within(op, loop)]
        name = tagged[0].name
        for op in tagged:
            if op in fused:
                continue
            if not remove_if_dead(op):
                leave_outside(rewrite, op, self.producer.tag)
        if len(fused) > 1:  # one for each of its results that the loop reads
            merge_equal(rewrite.module)
            fused = [op for op in rewrite.tagged(self.producer.tag) if is_within(op, rewrite.find(self.loop))]
        for extra in fused[1:]:
            del extra.attributes[self.producer.tag]
        rewrite.remark(f"{name} now runs once per tile")
