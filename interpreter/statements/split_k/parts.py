"""A sum in parts: `partial[s, …] = Σ over part s`, and behind it a sum of the parts.

With k = s·c + k' the parts s are a dimension like any other: outermost, parallel. Operands that are indexed with k become gathers
over (s, …, k'), which read where the operand lies, under a mask where the last part is shorter: as what adds nothing
(`identities`), or as anything, where nothing does and the addition itself is masked (`masking`). So they tile, fuse and promote as
a convolution's image does; upstream's `split_reduction` reshapes operands instead, wants parts that divide, and its reshapes stop
gathers from following their consumer into its tiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ....dsl.diagnostics import fail
from ...indices.arithmetic import Sum, apply_map, constant, less
from ...ir.affine_maps import dimensions_of
from ...ir.cloning import clone_body
from ...ir.mlir import ahead_of, arith, ir, linalg, operations, producer
from ...ir.structured import Structure, body_of, element_type, extents_of, generic, shape_of, structure
from ...padding import masked_loads
from ...padding.identities import SUMS, combination, fillings, mask_update, runs_anywhere
from ...padding.masked_loads import Identity
from ...tensors.fusing import remove_if_dead


@dataclass(frozen=True)
class Split:
    """A sum and how it is cut: dimension `summed`, of `extent` summands, into `parts` of `length` (the last may be shorter)."""

    op: ir.Operation
    space: Structure
    summed: int
    extent: int
    parts: int
    length: int

    @property
    def ragged(self) -> bool:
        return self.parts * self.length != self.extent


# ---- what is cut -----------------------------------------------------------------------------------------------------------


def read(op: ir.Operation, parts: int, multiple: int) -> Split:
    """How to cut the sum of `op` (on tensors) into at most `parts` of equal length, a multiple of `multiple`.

    No part is empty: there are fewer where the others hold all summands. Raises W0450 … W0453, W0455.
    """
    space = structure(op)
    _expect_sum(op, space)
    summed = [d for d, kind in enumerate(space.iterators) if kind == "reduction"]
    if len(summed) != 1:
        raise fail(
            "W0451",
            f"{op.name} is summed over {len(summed)} dimensions, and one is cut",
            "`as-gemm` makes one dimension of a convolution's several",
        )
    extent = space.extents[summed[0]]
    if extent is None or None in space.extents:
        raise fail(
            "W0452", f"the extents of {op.name} are not all known", "give the payload static shapes"
        )
    if parts > extent:
        raise fail("W0453", f"{extent} summands make no {parts} parts", f"at most {extent}")
    length = -(-extent // parts)
    length = -(-length // multiple) * multiple
    found = Split(op, space, summed[0], extent, -(-extent // length), length)
    if found.parts < 2:
        raise fail(
            "W0453",
            f"parts of a multiple of {multiple} leave all {extent} summands in a single one",
            "leave `split-k` out, or round to a smaller multiple",
        )
    if found.ragged and any(operations(op, "tensor.extract", "memref.load")):
        raise fail(
            "W0455", f"the body of {op.name} reads memory by itself, and {parts} parts do not divide {extent} summands",
            f"choose a number of parts that divides {extent}",
        )  # fmt: skip
    return found


def _expect_sum(op: ir.Operation, space: Structure) -> None:
    """W0450 where the op does not add one term to its result in each iteration."""
    found = combination(op)
    if found is None or found.combiner not in SUMS or "reduction" not in space.iterators:
        raise fail(
            "W0450", f"{op.name} does not add up what it computes of its inputs",
            "`split-k` takes matrix products, convolutions behind `as-gemm`, and sums",
        )  # fmt: skip
    written = [d for e in space.maps[-1].results for d in dimensions_of(e)]
    if not space.maps[-1].is_projected_permutation or len(written) != space.rank - space.iterators.count("reduction"):
        raise fail(
            "W0450", f"the result of {op.name} is indexed with more than single dimensions: {space.maps[-1]}"
        )


# ---- the two ops -----------------------------------------------------------------------------------------------------------


def split(cut: Split) -> tuple[ir.Operation, ir.Operation, ir.Operation]:
    """Put the partial sums, the zeros they start from, and the op that adds them up in the place of the op, which is erased."""
    op, space = cut.op, cut.space
    start = op.operands[space.inputs]
    kind = element_type(start)
    filled = (
        fillings(op, space, [cut.summed], masked_loads.attribute(None, kind)) if cut.ragged and runs_anywhere(op) else None
    )
    outside = filled or (None,) * space.inputs
    with ahead_of(op):
        inputs = [_operand(cut, number, outside[number]) for number in range(space.inputs)]
        whole = [cut.parts, *extents_of(start)]
        zeros = linalg.fill(masked_loads.number(None, kind), outs=[masked_loads.empty(whole, kind)]).owner.operation
        partial = _partial(cut, inputs, zeros.results[0])
        if cut.ragged and filled is None:
            mask_update(
                partial, lambda indices: _inside(cut, _whole_index(cut, indices[0], indices[cut.summed + 1])), keep=True
            )
        total = _total(cut, partial.results[0], start)
    op.results[0].replace_all_uses_with(total.results[0])
    before = [owner for v in op.operands if (owner := producer(v)) is not None]
    op.erase()
    for owner in dict.fromkeys(before):
        if masked_loads.is_masked_load(owner):
            remove_if_dead(owner)
    return partial, zeros, total


def _partial(cut: Split, inputs: Sequence[tuple[ir.Value, ir.AffineMap]], zeros: ir.Value) -> ir.Operation:
    space = cut.space
    d = ir.AffineDimExpr.get
    result = ir.AffineMap.get(space.rank + 1, 0, [d(0), *(_shifted(e) for e in space.maps[-1].results)])

    def body(own: list[ir.Value]) -> list[ir.Value]:
        indices: list[ir.Value] = []
        if any(operations(cut.op, "linalg.index")):
            part, *indices = [linalg.IndexOp(n).result for n in range(space.rank + 1)]
            indices[cut.summed] = _whole_index(cut, part, indices[cut.summed])
        return clone_body(body_of(cut.op), own, indices)

    return generic(
        [v for v, _ in inputs], [zeros], [*(m for _, m in inputs), result], ["parallel", *space.iterators], body
    )


def _total(cut: Split, partial: ir.Value, start: ir.Value) -> ir.Operation:
    """`start + Σ partial[s]`: what the op started with is counted once."""
    rank = len(shape_of(start))
    part, *dimensions = [ir.AffineDimExpr.get(n) for n in (rank, *range(rank))]
    maps = [ir.AffineMap.get(rank + 1, 0, [part, *dimensions]), ir.AffineMap.get(rank + 1, 0, dimensions)]
    return generic([partial], [start], maps, [*["parallel"] * rank, "reduction"], lambda own: [added(own[1], own[0])])


def added(one: ir.Value, other: ir.Value) -> ir.Value:
    """Their sum."""
    return (arith.addi if isinstance(one.type, ir.IntegerType) else arith.addf)(one, other)


# ---- operands --------------------------------------------------------------------------------------------------------------


def _operand(cut: Split, number: int, outside: Identity) -> tuple[ir.Value, ir.AffineMap]:
    """An input of the partial sums and its indexing map: as it is where it does not depend on k, else a gather over (s, …, k')."""
    value, indexing = cut.op.operands[number], cut.space.maps[number]
    rank = cut.space.rank + 1
    read = list(dict.fromkeys(d for e in indexing.results for d in sorted(dimensions_of(e))))
    if cut.summed not in read:
        return value, ir.AffineMap.get(rank, 0, [_shifted(e) for e in indexing.results])
    extents = {d: cut.space.extents[d] or 0 for d in read} | {cut.summed: cut.length}

    def element(at: Iterator[ir.Value], _: list[ir.Value]) -> ir.Value:
        part, *within = at
        axes = dict(zip(read, within, strict=True))
        axes[cut.summed] = _whole_index(cut, part, axes[cut.summed])
        zero = constant(0)
        indices = [axes.get(d, zero) for d in range(cut.space.rank)]
        where = apply_map(indexing, indices)
        return masked_loads.read_at(value, where, _inside(cut, axes[cut.summed]) if cut.ragged else None, outside)

    made = masked_loads.computed([cut.parts, *(extents[d] for d in read)], element_type(value), element)
    d = ir.AffineDimExpr.get
    return made, ir.AffineMap.get(rank, 0, [d(0), *(d(n + 1) for n in read)])


def _inside(cut: Split, whole: ir.Value) -> ir.Value:
    """k < extent: false for what the last part has too many."""
    return less(Sum.of(whole), cut.extent)


def _whole_index(cut: Split, part: ir.Value, within: ir.Value) -> ir.Value:
    """k = s·c + k'."""
    return (Sum.of(part).times(cut.length) + Sum.of(within)).emit()


def _shifted(e: ir.AffineExpr) -> ir.AffineExpr:
    """The expression behind one more dimension in front of all others."""
    return e.compose(ir.AffineMap.get(64, 0, [ir.AffineDimExpr.get(n + 1) for n in range(63)]))
