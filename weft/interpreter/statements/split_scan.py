"""`split-scan OP by n`: a scan is cut into parts that run in parallel, each of which starts from
the result of the parts before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...dsl.records import record
from ..ir.copying import fill_with
from ..ir.mlir import ahead_of, ir, linalg, operations, tensor
from ..ir.structured import body_of, dynamic_and_static, element_type, generic, insert, part_of, structure
from ..session.statement import Handle, Results, Rewriter, Statement, consumed, integer, statement
from ..tensors import levels

if TYPE_CHECKING:
    from ..indices.arithmetic import Bound
    from ..indices.linear import Linear
    from ..reductions.scans import Scan


@statement("split-scan", returns=("sums", "sum", "offsets", "loop", "op"))
class SplitScan(Statement):
    """Cut a scan into parts that run in parallel, each of which starts from the result of the parts
    before it.

    A scan is a reduction that writes, for each term, its result so far: a `linalg.generic` with one
    reduction dimension that indexes some outputs (the elements) but not others (the running
    results). Its iterations depend on each other, but because its combiner is associative, they can
    be computed in three steps: each part is reduced independently; `offsets` is an exclusive scan
    of these results, from the op's initial value; and each part is scanned from its offset. Each
    step is scheduled like any other op; `offsets` is a scan again, and may be cut again. Within a
    block or a warp, `map` shares a scan among threads. Floating-point sums and products differ in
    their last digits from those of a loop.

    Args:
        target: a structured op with one reduction dimension, along which it writes; it combines its
            running results by an associative operation (a sum, a product, an extreme, a bitwise
            operation) with terms that do not depend on them; not in a loop; consumed.
        factor: the number of terms in a part, with fewer in the last one if it does not divide
            their number: a multiple of the number of terms that the threads of a block process at
            once, and of the width of loads.

    Returns:
        sums: the loop over the parts that reduces each of them.
        sum: the reduction of one part, in that loop.
        offsets: the scan of these results, a `linalg.generic` with the parts as its last dimension.
            The op's initial value is now read by this one.
        loop: the loop over the parts that scans each of them.
        op: the scan of one part, in that loop.

    Errors: W0472.

    Source: Blelloch, "Prefix Sums and Their Applications"; the scan of CUB, without its look-back.

    Example:
        let (sums, sum, offsets, parts, part) = split-scan scan by 32
        before: linalg.generic … iterator_types = ["reduction"]} ins(%0 : tensor<100xf32>)
        after:  scf.forall (%i) in (4)
    """

    target: Handle = consumed()
    factor: int = integer(minimum=1, written="by")

    def apply(self, rewrite: Rewriter) -> Results:
        from ..indices.arithmetic import ceildiv
        from ..ir.sizes import iterations_of
        from ..reductions.scans import is_scan, read_scan

        op = rewrite.find(self.target)
        rewrite.expect_structured(op, "W0472")
        if op.parent is not None and op.parent.operation.name != "func.func":
            raise rewrite.error(
                "W0456",
                f"this op is in {op.parent.operation.name}, and the parts of its scan need launches of their own",
                op,
                "use `split-scan` before `tile`; inside a launch, `map` shares a scan among threads",
            )
        op = levels.expect_values(rewrite, self.target, "W0454", "op")
        scan = read_scan(op) if is_scan(op) else "it writes along no dimension that it reduces"
        why = scan if isinstance(scan, str) else _not_sliced(op, scan)
        if isinstance(scan, str) or why is not None:
            hint = "`split-scan` takes a reduction that also writes what it has made so far; `split-k` takes others"
            raise rewrite.error("W0472", f"{op.name} is no scan that could be cut: {why}", op, hint)
        space = structure(op)
        with ahead_of(op):
            extent = iterations_of(op, space)[scan.dimension] or 0
            cut = _Cut(extent, ceildiv(extent, self.factor), self.factor)
        starts = [op.operands[space.inputs + number] for number in scan.running]
        sums, one = _reduced(op, scan, cut, starts)
        offsets = _offsets(op, scan, cut, starts, list(sums.results))
        loop, part = _scanned(op, scan, cut, list(offsets.results)[len(starts) :])
        results = dict(
            zip((*scan.running, *scan.elements), (*list(offsets.results)[: len(starts)], *loop.results), strict=True)
        )
        for number, result in results.items():
            op.results[number].replace_all_uses_with(result)
        op.erase()
        rewrite.remark(f"{cut}; what they make in {sums.results[0].type}")
        made = {"sums": sums, "sum": one, "offsets": offsets, "loop": loop, "op": part}
        return {name: rewrite.new_handle(one) for name, one in made.items()}


def _not_sliced(op: ir.Operation, scan: Scan) -> str | None:
    """The reason why a part of the iterations reads no slice of an input; None if it does."""
    from ..ir.affine_maps import dimension_of, dimensions_of

    for number, walked in enumerate(structure(op).maps[: structure(op).inputs]):
        if any(scan.dimension in dimensions_of(e) and dimension_of(e) is None for e in walked.results):
            return f"input {number} is read at {walked}, and a part of it is no slice"
    return None


@record
class _Cut:
    """The cut of `extent` terms into `parts` of a length; the last may be shorter."""

    extent: Bound
    parts: Bound
    length: int

    @property
    def ragged(self) -> bool:
        return not isinstance(self.extent, int) or self.extent % self.length > 0

    def __str__(self) -> str:
        if not isinstance(self.extent, int):
            return f"parts of {self.length} terms, as many as there will be"
        last = f", the last of {self.extent % self.length}" if self.ragged else ""
        return f"{self.parts} part{'s' * (self.parts != 1)} of {self.length} terms{last}"


Place = tuple[Sequence["int | ir.Value"], Sequence["int | ir.Value"]]
"""Offsets and sizes of a slice."""


@record
class _Part:
    """The part of one iteration of a loop: its number, the first of its terms, and the number of
    its terms."""

    number: ir.Value
    first: Linear
    size: Bound

    def slice_of(self, value: ir.Value, walked: ir.AffineMap, dimension: int) -> Place:
        """The slice of an operand that these terms read or write."""
        from ..indices.arithmetic import value_of
        from ..ir.affine_maps import dimension_of
        from ..ir.sizes import sizes_of

        along, start = [dimension_of(e) == dimension for e in walked.results], value_of(self.first)
        sizes = [self.size if here else n for here, n in zip(along, sizes_of(value), strict=True)]
        return [start if here else 0 for here in along], sizes

    def row_of(self, value: ir.Value) -> Place:
        """The row of the part in a tensor with the parts as its first dimension."""
        from ..ir.sizes import sizes_of

        sizes = sizes_of(value)
        return [self.number, *[0] * (len(sizes) - 1)], [1, *sizes[1:]]

    def done(self, op: ir.Operation, dimension: int, outputs: Sequence[ir.Value]) -> ir.Operation:
        """Computes the terms of the part from slices of the inputs, at the insertion point; returns
        the op."""
        from ..indices.arithmetic import index_of, value_of
        from ..ir.affine_maps import dimensions_of
        from ..ir.cloning import clone_body

        space, inputs = structure(op), []
        for value, walked in zip(list(op.operands)[: space.inputs], space.maps, strict=False):
            moves = any(dimension in dimensions_of(e) for e in walked.results)
            offsets, sizes = self.slice_of(value, walked, dimension) if moves else ([], [])
            inputs.append(part_of(value, sizes, offsets) if moves else value)

        def body(own: list[ir.Value]) -> list[ir.Value]:
            indices: list[ir.Value] = []
            if any(operations(op, "linalg.index")):
                indices = [linalg.IndexOp(d).result for d in range(space.rank)]
                indices[dimension] = value_of(index_of(indices[dimension]) + self.first)
            return clone_body(body_of(op), own, indices)

        return generic(inputs, outputs, space.maps, space.iterators, body)


def _loop(
    op: ir.Operation,
    cut: _Cut,
    starts: Sequence[ir.Value],
    do: Callable[[_Part, Sequence[ir.Value]], tuple[ir.Operation, Sequence[ir.Value], Sequence[Place]]],
) -> tuple[ir.Operation, ir.Operation]:
    """Builds a loop over the parts before the op. `do` builds the op in it, and returns that op,
    its results, and the slices into which these are inserted."""
    from ..indices.arithmetic import index_of, minimum
    from ..loops.forall import end_of, make_forall

    with ahead_of(op):
        loop = make_forall([0], [cut.parts], [1], starts)
    this, *outputs = list(body_of(loop).arguments)
    with ir.InsertionPoint(end_of(loop)), op.location:
        first = index_of(this, cut.parts if isinstance(cut.parts, int) else None) * cut.length
        size = minimum(index_of(cut.extent) - first, cut.length) if cut.ragged else cut.length
        made, results, places = do(_Part(this, first, size), outputs)
    with ir.InsertionPoint(end_of(loop).regions[0].blocks[0]), op.location:
        for result, output, place in zip(results, outputs, places, strict=True):
            insert(result, output, *place)
    return loop, made


def _reduced(op: ir.Operation, scan: Scan, cut: _Cut, starts: Sequence[ir.Value]) -> tuple[ir.Operation, ir.Operation]:
    """The loop that reduces each part, from the combiner's identity, and the reduction in it."""
    from ..ir.sizes import sizes_of
    from ..ir.structured import empty
    from ..reductions.identities import number
    from ..reductions.scans import reduction_of

    with ahead_of(op):
        reduction = reduction_of(op, scan)
        places = [empty([cut.parts, *sizes_of(start)], element_type(start)) for start in starts]

    def do(part: _Part, outputs: Sequence[ir.Value]) -> tuple[ir.Operation, Sequence[ir.Value], Sequence[Place]]:
        kinds = [element_type(start) for start in starts]
        fresh = [_taken(output, part) for output in outputs]  # CSE would merge equal fills of new tensors
        values = [number(value, kind) for value, kind in zip(scan.combiner.identities, kinds, strict=True)]
        filled = [fill_with(one, value).results[0] for value, one in zip(values, fresh, strict=True)]
        made = part.done(reduction, scan.dimension, filled)
        return made, list(made.results), [part.row_of(output) for output in outputs]

    found = _loop(op, cut, places, do)
    reduction.erase()
    return found


def _offsets(
    op: ir.Operation, scan: Scan, cut: _Cut, starts: Sequence[ir.Value], sums: Sequence[ir.Value]
) -> ir.Operation:
    """The scan over the results of the parts, from the op's initial value: it yields the total and,
    for each part, the combination of all parts before it."""
    from ..ir.sizes import sizes_of
    from ..ir.structured import empty

    with ahead_of(op):
        places = [empty([cut.parts, *sizes_of(start)], element_type(start)) for start in starts]
        rank, n = len(sizes_of(starts[0])), len(starts)
        part, *kept = [ir.AffineDimExpr.get(d) for d in (rank, *range(rank))]
        row, result = (ir.AffineMap.get(rank + 1, 0, found) for found in ([part, *kept], kept))

        def body(own: list[ir.Value]) -> list[ir.Value]:
            before = own[n : 2 * n]
            return [*scan.combiner.together(before, own[:n], True), *before]

        maps = [row] * n + [result] * n + [row] * n
        return generic(sums, [*starts, *places], maps, ["parallel"] * rank + ["reduction"], body)


def _scanned(op: ir.Operation, scan: Scan, cut: _Cut, offsets: Sequence[ir.Value]) -> tuple[ir.Operation, ir.Operation]:
    """The loop that scans each part, from its offset, and the scan in it."""
    space = structure(op)
    elements = [space.inputs + number for number in scan.elements]

    def do(part: _Part, outputs: Sequence[ir.Value]) -> tuple[ir.Operation, Sequence[ir.Value], Sequence[Place]]:
        places = [
            part.slice_of(output, space.maps[n], scan.dimension) for output, n in zip(outputs, elements, strict=True)
        ]
        taken = {
            n: part_of(output, sizes, at) for n, output, (at, sizes) in zip(elements, outputs, places, strict=True)
        }
        taken |= {space.inputs + n: _taken(value, part) for n, value in zip(scan.running, offsets, strict=True)}
        made = part.done(op, scan.dimension, [taken[n] for n in sorted(taken)])
        return made, [made.results[n] for n in scan.elements], places

    return _loop(op, cut, [op.operands[n] for n in elements], do)


def _taken(value: ir.Value, part: _Part) -> ir.Value:
    """The row of a tensor that belongs to a part, without its first axis."""
    offsets, sizes = part.row_of(value)
    parts = dynamic_and_static(offsets, sizes, [1] * len(sizes))
    kind = ir.RankedTensorType.get(parts[4][1:], element_type(value))
    return tensor.ExtractSliceOp(kind, value, *parts).result
