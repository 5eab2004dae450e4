"""A reduction in parts: `partial[s, …] = Σ over part s`, followed by a reduction of the parts.

With k = s·c + k', or k = k'·n + s for n cyclic parts, the parts s are a dimension like any other:
outermost, parallel. Operands that are indexed with k become gathers over (s, …, k'), which read the
operand in place, under a mask if the last part is shorter. Masked-off elements are the identity
(`identities`); if no identity works, they are arbitrary, and the addition itself is masked
(`masking`). So the gathers can be tiled, fused and promoted like a convolution's image. Upstream's
`split_reduction` reshapes operands instead: it requires a number of parts that divides the extent,
and gathers cannot be fused through its reshapes.

With `atomic`, the parts are combined as they are made: the sum is fused into the loop over the
parts (`fuse_sum`), which gets the sum's own destination as its shared output. Each iteration
computes its tile in a separate place, and combines it with the tile of the destination in a generic
marked `weft.atomic`. Iterations of different parts combine into the same tile, so their updates
become `memref.atomic_rmw`s when the tile is distributed over threads (`buffers/elements.py`). The
loop does not use the destination otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....dsl.diagnostics import fail
from ....dsl.records import record
from ...buffers.elements import atomic_word
from ...indices.arithmetic import Bound, apply_map, ceildiv, constant, index_of, less, multiply, value_of
from ...ir.affine_maps import dimensions_of
from ...ir.cloning import clone_body
from ...ir.copying import fill_with
from ...ir.mlir import ahead_of, ir, linalg, operations, producer, users
from ...ir.sizes import iterations_of, sizes_of
from ...ir.structured import (
    ATOMIC,
    WRITEBACK,
    Structure,
    body_of,
    copy_marks,
    element_type,
    empty,
    generic,
    insert,
    is_empty,
    loop_inits,
    loop_outputs,
    part_of,
    parts_of,
    place_of,
    replace,
    shape_of,
    sliced,
    structure,
    uncut,
)
from ...memory.atomics import forms, has_form
from ...padding import masked_loads
from ...padding.masking import mask_update, runs_anywhere
from ...reductions.combiners import Combiner, combiner
from ...reductions.identities import Identity, attribute, combination, fillings, number
from ...tensors.fusing import remove_if_dead
from ...tensors.writeback_guards import inside_of, rebuilt


@record
class Split:
    """A reduction and its cut: dimension `summed`, of `extent` summands, into `parts` of `length`
    (the last may be shorter, or empty if the number of summands is known only at run time).
    `cyclic`: terms are distributed over the parts in rotation."""

    op: ir.Operation
    space: Structure
    summed: int
    extent: Bound
    parts: int
    length: Bound
    cyclic: bool = False

    @property
    def ragged(self) -> bool:
        return not isinstance(self.length, int) or self.parts * self.length != self.extent


# ---- what is cut -----------------------------------------------------------------------------------------------------


def read(op: ir.Operation, parts: int, multiple: int, *, cyclic: bool = False) -> Split:
    """The cut of the reduction of `op` (on tensors) into at most `parts` of equal length, a
    multiple of `multiple`.

    There are fewer parts if the last ones are known to be empty. Raises W0450, W0451, W0453 or
    W0455.
    """
    space = structure(op)
    _expect_combiner(op, space)
    summed = [d for d, kind in enumerate(space.iterators) if kind == "reduction"]
    if len(summed) != 1:
        raise fail(
            "W0451",
            f"{op.name} is summed over {len(summed)} dimensions, and one is cut",
            "`as-gemm` makes one dimension of a convolution's several",
        )
    with ahead_of(op):
        extent = iterations_of(op, space)[summed[0]] or 0
        length = multiply(ceildiv(ceildiv(extent, parts), multiple), multiple)
    number = parts
    if isinstance(extent, int) and isinstance(length, int):
        if parts > extent:
            raise fail(
                "W0453", f"{extent} summands cannot be cut into {parts} parts", f"write at most `{extent}` parts"
            )
        number = parts if cyclic else -(-extent // length)
    cut = Split(op, space, summed[0], extent, number, length, cyclic)
    if number < 2:
        raise fail(
            "W0453",
            f"parts of a multiple of {multiple} leave all {extent} summands in a single one",
            "leave `split-k` out, or round to a smaller multiple",
        )
    if cut.ragged and any(operations(op, "tensor.extract", "memref.load")):
        known = isinstance(extent, int)
        summands = f"{extent} summands" if known else "a number of summands known only at run time"
        raise fail(
            "W0455",
            f"the body of {op.name} reads memory directly, and {parts} parts do not divide {summands}",
            f"`split-k … n` with an n that divides {extent}"
            if known
            else "write the number instead of `?` in the payload, or give it to a builder: `--set k=4096`",
        )
    return cut


def _expect_combiner(op: ir.Operation, space: Structure) -> None:
    """Raises W0450 if partial results of the op cannot be combined."""
    if combiner(op) is None or "reduction" not in space.iterators:
        raise fail(
            "W0450",
            f"{op.name} does not combine its result so far with one term after the other, by an associative operation",
            "`split-k` takes matrix products, convolutions after `as-gemm`, sums, products, extremes and their indices",
        )
    for walked in space.maps[space.inputs :]:
        written = [d for e in walked.results for d in dimensions_of(e)]
        if not walked.is_projected_permutation or len(written) != space.rank - space.iterators.count("reduction"):
            raise fail("W0450", f"the result of {op.name} is indexed with more than single dimensions: {walked}")


# ---- the two ops -----------------------------------------------------------------------------------------------------


def split(cut: Split) -> tuple[ir.Operation, ir.Operation, ir.Operation]:
    """Replaces the op, which is erased, by the partial results, the op that initializes them, and
    the op that combines them; returns these in that order."""
    op, space = cut.op, cut.space
    by = combiner(op)
    assert by is not None, "it was checked"
    starts = list(op.operands)[space.inputs :]
    kinds = [element_type(start) for start in starts]
    whole = attribute(_least(by.identities[0]), kinds[0])
    filled = fillings(op, space, [cut.summed], whole) if cut.ragged and len(starts) == 1 and runs_anywhere(op) else None
    outside = filled or (None,) * space.inputs
    with ahead_of(op):
        inputs = [_operand(cut, number, outside[number]) for number in range(space.inputs)]
        zeros = _filled([(cut.parts, *sizes_of(start)) for start in starts], kinds, by.identities)
        partial = _partial(cut, inputs, list(zeros.results))
        if cut.ragged and filled is None:
            mask_update(
                partial, lambda indices: _inside(cut, _whole_index(cut, indices[0], indices[cut.summed + 1])), keep=True
            )
        rank = len(shape_of(starts[0]))  # start + Σ partial[s]: the op's initial value is counted once
        part, *dimensions = [ir.AffineDimExpr.get(n) for n in (rank, *range(rank))]
        maps = [ir.AffineMap.get(rank + 1, 0, results) for results in ([part, *dimensions], dimensions)]
        each = [one for one in maps for _ in starts]
        iterators = [*["parallel"] * rank, "reduction"]
        n = len(starts)
        total = generic(partial.results, starts, each, iterators, lambda own: by.together(own[n:], own[:n], False))
    for old, new in zip(op.results, total.results, strict=True):
        old.replace_all_uses_with(new)
    before = [owner for v in op.operands if (owner := producer(v)) is not None]
    op.erase()
    for owner in dict.fromkeys(before):
        if masked_loads.is_masked_load(owner):
            remove_if_dead(owner)
    return partial, zeros, total


def _least(identity: Identity) -> Identity:
    """The initial value of partial results: zero for sums, because the sign of their exact identity
    does not matter."""
    return None if identity == 0 else identity


def _filled(
    shapes: Sequence[Sequence[int | ir.Value]], kinds: Sequence[ir.Type], values: Sequence[Identity]
) -> ir.Operation:
    """The op that makes tensors filled with these values."""
    made = [empty(list(shape), kind) for shape, kind in zip(shapes, kinds, strict=True)]
    numbers = [number(_least(value), kind) for value, kind in zip(values, kinds, strict=True)]
    if len(made) == 1:
        return fill_with(made[0], numbers[0])
    rank = len(shapes[0])
    return generic([], made, [ir.AffineMap.get_identity(rank)] * len(made), ["parallel"] * rank, lambda _: numbers)


def _partial(cut: Split, inputs: Sequence[tuple[ir.Value, ir.AffineMap]], zeros: Sequence[ir.Value]) -> ir.Operation:
    space = cut.space
    d = ir.AffineDimExpr.get
    outputs = space.maps[space.inputs :]
    results = [ir.AffineMap.get(space.rank + 1, 0, [d(0), *(_shifted(e) for e in one.results)]) for one in outputs]

    def body(own: list[ir.Value]) -> list[ir.Value]:
        indices: list[ir.Value] = []
        if any(operations(cut.op, "linalg.index")):
            part, *indices = [linalg.IndexOp(n).result for n in range(space.rank + 1)]
            indices[cut.summed] = _whole_index(cut, part, indices[cut.summed])
        return clone_body(body_of(cut.op), own, indices)

    return generic(
        [v for v, _ in inputs], zeros, [*(m for _, m in inputs), *results], ["parallel", *space.iterators], body
    )


# ---- operands --------------------------------------------------------------------------------------------------------


def _operand(cut: Split, number: int, outside: Identity) -> tuple[ir.Value, ir.AffineMap]:
    """An input of the partial sums and its indexing map: the original one if it does not depend on
    k, otherwise a gather over (s, …, k')."""
    value, indexing = cut.op.operands[number], cut.space.maps[number]
    rank = cut.space.rank + 1
    read = list(dict.fromkeys(d for e in indexing.results for d in sorted(dimensions_of(e))))
    if cut.summed not in read:
        return value, ir.AffineMap.get(rank, 0, [_shifted(e) for e in indexing.results])
    sizes = iterations_of(cut.op, cut.space)
    extents = {d: sizes[d] or 0 for d in read} | {cut.summed: cut.length}

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
    """The condition k < extent: false for the excess terms of the last part."""
    return less(index_of(whole), cut.extent)


def _whole_index(cut: Split, part: ir.Value, within: ir.Value) -> ir.Value:
    """The index k = s·c + k', or k'·n + s."""
    if cut.cyclic:
        return value_of(index_of(within) * cut.parts + index_of(part))
    length = cut.length
    start = index_of(part) * length if isinstance(length, int) else index_of(multiply(part, length))
    return value_of(start + index_of(within))


def _shifted(e: ir.AffineExpr) -> ir.AffineExpr:
    """The expression with all dimensions shifted by one, for a new first dimension."""
    return e.compose(ir.AffineMap.get(64, 0, [ir.AffineDimExpr.get(n + 1) for n in range(63)]))


def expect_atomic(op: ir.Operation) -> None:
    """Raises W0457 if blocks cannot combine their parts of the op's result by one atomic update per
    element."""
    found, kind = combination(op), element_type(op.results[0])
    hint = f"leave `atomic` out: a second launch combines the parts then. GPUs have {forms()}"
    if found is None:
        raise fail("W0457", f"what {op.name} does to its results is not one atomic operation", hint)
    word = atomic_word(found.combiner)
    if not has_form(word, kind):
        raise fail("W0457", f"there is no atomic `{word}` on {kind}", hint)


def combines_into(loop: ir.Operation, start: ir.Value) -> bool:
    """Whether the loop combines atomically into a shared output that starts as `start`."""
    outputs = [output for output, init in zip(loop_outputs(loop), loop_inits(loop), strict=True) if init == start]
    return any(sliced(op.operands[1]) in outputs for op in operations(loop) if ATOMIC in op.attributes)


def fuse_sum(total: ir.Operation, loop: ir.Operation) -> ir.Operation:
    """Lets each iteration of `loop` combine its tile of partial results with the result of `total`;
    erases `total` and `loop`.

    Returns the combining op in the new loop, which has the attributes of `total`. Raises W0458.
    """
    found = _Sum.of(total, loop)
    start = total.operands[1]
    new = rebuilt(loop, [start if n == found.number else init for n, init in enumerate(loop_inits(loop))])
    output = loop_outputs(new)[found.number]
    insertion = _insertion(output)
    for op in users(output):  # the tile gets a separate place: only the insertion still uses the shared output
        if op != insertion:
            with ahead_of(op):
                place = empty(sizes_of(op.results[0]), element_type(output))
            replace(op, [place])
    by = combiner(total)
    assert by is not None, "`split` has made it"
    with total.location:
        made = _combined(insertion, output, by)
    copy_marks(total, made)
    replace(total, [new.results[found.number]])
    if found.cut is not None:
        found.cut.erase()
    replace(loop, new.results)
    return made


@record
class _Sum:
    """The number of the loop result that the sum adds up, and the slice that removes its padding,
    if there is one."""

    number: int
    cut: ir.Operation | None

    @classmethod
    def of(cls, total: ir.Operation, loop: ir.Operation) -> _Sum:
        partial = total.operands[0]
        result = uncut(partial)
        cut = producer(partial) if partial != result else None
        number = ir.OpResult(result).result_number
        start, hint = producer(total.operands[1]), "leave `atomic` out, and launch the sum on its own"
        if any(len(users(value)) != 1 for value in {partial, result}):
            why = "other ops read the partial sums, which will not be kept"
        elif not is_empty(loop_inits(loop)[number]):
            why = "the partial sums start from an op before the loop"
            hint = "`fuse` the zeros that `split-k` returned into the loop first"
        elif start is not None and (start.block != loop.block or not start.is_before_in_block(loop)):
            why = "the initial value of the sum is computed after the loop"
        elif (parts := place_of(_insertion(loop_outputs(loop)[number]))[1][0]) != 1:
            why, hint = (
                f"an iteration of the loop makes {parts} parts",
                "tile the parts by 1: the first size of `tile` is theirs",
            )
        else:
            return cls(number, cut)
        raise fail("W0458", why, hint)


def _insertion(output: ir.Value) -> ir.Operation:
    """The op that inserts the tile of the loop's body into the shared output."""
    inserted = (user for user in users(output) if user.name == "tensor.parallel_insert_slice")
    return next(op for op in inserted if op.operands[1] == output)


def _combined(insertion: ir.Operation, output: ir.Value, by: Combiner) -> ir.Operation:
    """Replaces the insertion into `partial[s, m, n]` by `output[m, n] ∘= tile[0, m, n]`, for the
    part of the tile that is inside."""
    sizes, rank = place_of(insertion)[1][1:], len(shape_of(output))
    with ir.InsertionPoint(insertion.parent.operation):
        offsets = [value_of(offset) for offset in parts_of(insertion)[0][1:]]
        inside = inside_of(offsets, sizes, sizes_of(output))
        tile = insertion.operands[0] if inside == sizes else part_of(insertion.operands[0], [1, *inside])
        place = part_of(output, inside, offsets)
        whole = ir.AffineMap.get_identity(rank + 1)
        maps = [whole, whole.get_submap(list(range(1, rank + 1)))]
        made = generic(
            [tile], [place], maps, ["parallel"] * (rank + 1), lambda own: by.together([own[1]], [own[0]], False)
        )
        made.attributes[WRITEBACK] = ir.UnitAttr.get()
    with ahead_of(insertion):
        insert(made.results[0], output, offsets, inside)
    insertion.erase()
    return made
