"""`tile OP [sizes]`: the iteration space of a structured op is cut into tiles."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType

from ..ir.mlir import has_parent, ir
from ..ir.structured import ATOMIC, Structure, is_loop, shape_of, structure
from ..session.statement import Handle, Results, Rewriter, Sizes, Statement, consumed, sizes, statement
from ..tensors import levels

LARGEST = 2**48
"""Larger extents belong to no buffer, and products of them exceed 64 bits."""


@statement("tile", returns=("loop", "op"), variadic=True, more=r"k\d*")
class Tile(Statement):
    """Cut the iteration space of a structured op into tiles.

    Parallel dimensions become one `scf.forall`, each reduction dimension becomes an `scf.for`;
    mixing both returns both. A size that does not divide its extent leaves every tile static and
    full: operands are read by masked loads, and the result is written back under a guard. Along a
    reduction the masked-off elements are the identity (0 for a sum, -inf for a maximum); where the
    body does not preserve it (for example a sum of exp(x)), the update itself is masked. An input
    of which a tile has no slice, such as x[9 - i] or x[i mod 4], is read element by element.

    A parallel loop (of the payload, or a `forall`) is cut in the same way: into a loop over strips
    of its iterations, and one over the iterations of a strip, which is returned as `op`. Both can
    be mapped: blocks outside, threads inside.

    Args:
        target: a structured op, or a parallel loop over memory; consumed.
        sizes: one per dimension, in the op's order; `_`, 0 or no size at all leaves a dimension
            untiled. `[1, ...]`: the size before the dots for all parallel dimensions from its own
            on, so that one schedule fits ops of any rank; reductions remain whole. `[..., 16]`:
            sizes of the last dimensions.

    Returns:
        loop: the loop over the tiles (the `forall` first, then one `for` per reduction dimension
            that is tiled).
        op: the op inside it, on one tile; for a loop, the loop inside.

    Errors: W0320, W0322, W0323, W0324, W0325, W0338, W0340, W0343, W0396, W0458.

    Source: upstream `transform.structured.tile_using_forall`, `tile_using_for`.

    Example:
        let (tiles, tile_mm) = tile gemm [16, 16]
        before: linalg.matmul ins(%A, %B : tensor<64x32xf32>, tensor<32x64xf32>) outs(%C : tensor<64x64xf32>)
        after:  scf.forall (%i, %j) in (4, 4) … linalg.matmul … tensor<16x16xf32>)
    """

    reach = "handles"

    target: Handle = consumed()
    sizes: Sizes = sizes()

    def apply(self, rewrite: Rewriter) -> Results:
        op = rewrite.find(self.target)
        if is_loop(op):
            return self._strips(rewrite, op)
        from ..padding.rounding import bound_loops

        op, space, extents = self.rounded(rewrite, op)
        whole = self._whole(space.iterators)
        counts = [None if old is None else n for old, n in zip(space.extents, extents, strict=True)]
        results = self._tile(rewrite, op, space, whole)
        if extents != space.extents:
            noted = [results[name] for name in results if name != "op"]
            bound_loops(rewrite.module, [rewrite.find(loop) for loop in noted], space, whole)
        each = [(d, n, s) for d, (n, s) in enumerate(zip(counts, whole, strict=True)) if s]
        trips = (f"{'?' if n is None else -(-n // s)} × {s} over d{d} ({space.iterators[d]})" for d, n, s in each)
        rewrite.remark(f"tiles: {', '.join(trips)}")
        return results

    def rounded(self, rewrite: Rewriter, op: ir.Operation) -> tuple[ir.Operation, Structure, tuple[int | None, ...]]:
        """The op with extents rounded up to multiples of the sizes; its previous iteration space,
        and its new extents."""
        from ..padding.rounding import absorb_pads, expect_sizes, note_iterations, pad, pad_extents
        from ..padding.scattered_inputs import load_scattered

        space = self._space(rewrite, op)
        whole = self._whole(space.iterators)
        extents = pad_extents(space, whole)
        if levels.on_memrefs(op):
            op = levels.on_tensors(rewrite, self.target, with_producers=extents != space.extents)
        levels.refuse_overlap(rewrite, op, "target")
        if not levels.on_memrefs(op):
            over_tiles = any(n and kind == "parallel" for n, kind in zip(whole, space.iterators, strict=True))
            for done in absorb_pads(op, starts=over_tiles):
                rewrite.remark(done)
            for done in load_scattered(op, space, {d: n for d, n in enumerate(whole) if n}):
                rewrite.remark(done)
            space = structure(op)
            if has_parent(op, "func.func"):
                levels.start_apart(op)
        self._expect_slices(rewrite, op, space, whole)
        if any(n is not None and n > LARGEST for n in extents):
            raise rewrite.error(
                "W0322", f"an extent of more than {LARGEST} iterations cannot be rounded up", op, at="sizes",
                notes=(f"dimensions {space.text()}",),
            )  # fmt: skip
        with rewrite.placing(op):
            expect_sizes(space.extents, op)
        counts = [None if old is None else n for old, n in zip(space.extents, extents, strict=True)]
        if extents != space.extents:
            if levels.on_memrefs(op):
                raise rewrite.error(
                    "W0325", "ragged tiles need the op on tensors, and this one is on memrefs", op,
                    "choose sizes that divide, or tile before `bufferize`", at="sizes", notes=(f"dimensions"
                                                                                               f" {space.text()}",),
                )  # fmt: skip
            even = note_iterations(op, space, extents)
            op = pad(op, extents)
            known = counts != [*space.extents]
            ragged = f"{_times(space.extents)} rounded up to {_times(counts)}" if known else "at run time"
            rewrite.remark("whole tiles: no guards" if even and not known else f"ragged: {ragged}, guarded")
        return op, space, extents

    def _whole(self, iterators: Sequence[str]) -> tuple[int | None, ...]:
        """A size for each dimension."""
        given = self._given
        left = (None,) * (len(iterators) - len(given))
        if self.sizes[:1] == (...,):
            return (*left, *given)
        if ... not in self.sizes:
            return (*given, *left)
        *first, last = given
        return (*first, *(last if kind == "parallel" else None for kind in iterators[len(first) :]))

    @property
    def _given(self) -> tuple[int | None, ...]:
        return tuple(size for size in self.sizes if not isinstance(size, EllipsisType))

    def _strips(self, rewrite: Rewriter, op: ir.Operation) -> Results:
        """Cuts a parallel loop into two: over strips of its iterations, and over the iterations of
        a strip."""
        from ..loops.forall import cut
        from ..mapping.mapping import loop_dimensions
        from ..parallel.nests import expect_unmapped, parallel_nest

        expect_unmapped(rewrite, op, "`tile` it, then `map` the two loops")
        if not any(self._given):
            raise rewrite.error("W0324", "no dimension is tiled", op, at="sizes")
        loop = parallel_nest(rewrite, op, None if ... in self.sizes else len(self._given))
        rank = len(loop_dimensions(loop))
        if loop.results or not rank:
            raise rewrite.error(
                "W0320",
                "this loop yields tensors or values, and only a loop over memory is tiled",
                loop,
                "tile the op inside, or `bufferize` first",
            )
        self._not_more_than(rewrite, loop, rank)
        whole = self._whole(["parallel"] * rank)
        outer, inner = cut(loop, whole)
        shown = whole if ... in self.sizes else self._given
        rewrite.remark(f"strips of {', '.join('all' if not s else str(s) for s in shown)} iterations")
        return {"loop": rewrite.new_handle(outer, "loop"), "op": rewrite.new_handle(inner, "loop")}

    def _not_more_than(self, rewrite: Rewriter, op: ir.Operation, rank: int, *notes: str) -> None:
        if len(self._given) > rank:
            hint = "write at most one size for each dimension; `_`, or no size at the end, leaves a dimension untiled"
            what = f"{len(self._given)} sizes for {rank} dimensions"
            raise rewrite.error("W0323", what, op, hint, at="sizes", notes=notes)

    def _space(self, rewrite: Rewriter, op: ir.Operation) -> Structure:
        rewrite.expect_structured(op, "W0320")
        space = structure(op)
        if ATOMIC in op.attributes and "reduction" in space.iterators:
            raise rewrite.error(
                "W0458",
                "this op is atomic: the blocks that make its parts combine them",
                op,
                "`fuse` it into the loop over the tiles of its parts; or leave `atomic` out of `split-k`, and tile it",
            )
        self._not_more_than(rewrite, op, space.rank, f"dimensions {space.text()}")
        if 0 in space.extents:
            raise rewrite.error(
                "W0338",
                "the op has a dimension without iterations, so that there is nothing to tile",
                op,
                notes=(f"dimensions {space.text()}",),
            )
        if not any(self._given):
            raise rewrite.error("W0324", "no dimension is tiled", op, at="sizes", notes=(f"dimensions {space.text()}",))
        return space

    def _expect_slices(
        self, rewrite: Rewriter, op: ir.Operation, space: Structure, sizes: Sequence[int | None]
    ) -> None:
        from ..padding.scattered_inputs import has_slices

        tiled = {d: n for d, n in enumerate(sizes) if n}
        for number, indexing in enumerate(space.maps):
            shape = shape_of(op.operands[number])
            if has_slices(space, number, shape, tiled):
                continue
            place = ", ".join(map(str, indexing.results))
            if number < space.inputs:
                what = f"input {number} is read at ({place})"
                hint = "tile it on tensors, before `bufferize`"
            else:
                what = f"output {number - space.inputs} is written at ({place})"
                hint = (
                    "write the op with a plain map of its result, such as `(d0, d1) -> (d0, d1)`, and with the"
                    " other subscripts in the maps of its inputs"
                )
            if has_slices(space, number, shape, {}):
                hint += "; or leave these dimensions untiled"
            notes = (f"dimensions {space.text()}",)
            raise rewrite.error("W0325", f"{what}, and a tile has no slice of it", op, hint, at="sizes", notes=notes)

    def _tile(self, rewrite: Rewriter, op: ir.Operation, space: Structure, sizes: Sequence[int | None]) -> Results:
        from ..tensors.fusing import fuse_masked_loads

        parallel = [s if s and space.iterators[d] == "parallel" else 0 for d, s in enumerate(sizes)]
        reduction = [s if s and space.iterators[d] == "reduction" else 0 for d, s in enumerate(sizes)]
        tiled = rewrite.new_handle(op)
        del op.attributes[self.target.tag]
        loops: list[Handle] = []
        if any(parallel):
            loops.append(self._loops(rewrite, tiled, "forall", parallel, 1)[0])
            fuse_masked_loads(rewrite, loops[0])
        if any(reduction):
            inner = self._loops(rewrite, tiled, "for", reduction, sum(1 for s in reduction if s))
            for loop in inner:
                fuse_masked_loads(rewrite, loop)
            loops += inner
        first, reductions = ["loop"] if any(parallel) else [], sum(1 for s in reduction if s)
        over_k = ["k"] if reductions == 1 else [f"k{i}" for i in range(reductions)]
        names = ["loop"] if len(loops) == 1 else [*first, *over_k]
        return {**dict(zip(names, loops, strict=True)), "op": tiled}

    def _loops(self, rewrite: Rewriter, op: Handle, kind: str, tile_sizes: Sequence[int], count: int) -> list[Handle]:
        handles = [rewrite.fresh_handle("loop") for _ in range(count)]
        values = ", ".join(f"%l{i}" for i in range(count))
        types = ", ".join("!transform.any_op" for _ in range(count + 1))
        rewrite.transform(
            rewrite.matcher("op", op)
            + f"\n%t, {values} = transform.structured.tile_using_{kind} %op tile_sizes {list(tile_sizes)}"
            + f" : (!transform.any_op) -> ({types})\n"
            + "\n".join(rewrite.annotate(f"l{i}", h) for i, h in enumerate(handles))
        )
        return handles


def _times(extents: Sequence[int | None]) -> str:
    return "×".join("?" if n is None else str(n) for n in extents)
