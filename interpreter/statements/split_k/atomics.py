"""Parts that are added up as they are made: the sum of `split-k … atomic`, fused into the loop over the parts.

On tensors the loop over (part, m, n) makes `partial[s, m, n]`, and the sum behind it reads all of that. Fused, the loop gets the
sum's own destination as its shared output; each iteration computes its tile in a place of its own, and adds it to the
destination's tile in a generic marked `weft.atomic`. Iterations of different parts meet in one tile: their additions become
`memref.atomic_rmw`s when threads get their elements (`buffers/elements.py`). The loop does nothing else with the destination.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....dsl.diagnostics import fail
from ...indices.arithmetic import value
from ...ir.mlir import ahead_of, ir, operations, producer, users
from ...ir.structured import (
    ATOMIC,
    WRITEBACK,
    copy_marks,
    element_type,
    extents_of,
    generic,
    insert,
    loop_inits,
    loop_outputs,
    part_of,
    parts_of,
    place_of,
    replace,
    sliced,
    uncut,
)
from ...padding import masked_loads
from ...tensors.writeback_guards import inside_of, rebuilt
from .parts import added


def has_atomics(kind: ir.Type) -> bool:
    """Whether a GPU adds to an element of this type atomically, in its precision."""
    if isinstance(kind, ir.IntegerType):
        return kind.width in (32, 64)
    return isinstance(kind, (ir.F32Type, ir.F64Type))


def adds_into(loop: ir.Operation, start: ir.Value) -> bool:
    """Whether the loop adds atomically to a shared output that starts as `start`."""
    outputs = [output for output, init in zip(loop_outputs(loop), loop_inits(loop), strict=True) if init == start]
    return any(sliced(op.operands[1]) in outputs for op in operations(loop) if ATOMIC in op.attributes)


def fuse_sum(total: ir.Operation, loop: ir.Operation) -> ir.Operation:
    """Let each iteration of `loop` add its tile of partial sums to the result of `total`, which is erased, as is `loop`.

    Returns the op in the new loop that adds. Its attributes are those of `total`. Raises W0458.
    """
    found = _Sum.of(total, loop)
    start = total.operands[1]
    new = rebuilt(loop, [start if n == found.number else init for n, init in enumerate(loop_inits(loop))])
    output = loop_outputs(new)[found.number]
    insertion = _on_its_own(output)
    with total.location:
        made = _added(insertion, output)
    copy_marks(total, made)
    replace(total, [new.results[found.number]])
    if found.cut is not None:
        found.cut.erase()
    replace(loop, new.results)
    return made


@dataclass(frozen=True)
class _Sum:
    """Which result of the loop the sum adds up, and the slice that cuts it back, if one does."""

    number: int
    cut: ir.Operation | None

    @classmethod
    def of(cls, total: ir.Operation, loop: ir.Operation) -> _Sum:
        partial = total.operands[0]
        result = uncut(partial)
        cut = producer(partial) if partial != result else None
        number = ir.OpResult(result).result_number
        if any(len(list(value.uses)) != 1 for value in {partial, result}):
            raise fail(
                "W0458",
                "others read the partial sums, which will not be kept",
                "leave `atomic` out, and launch the sum on its own",
            )
        if not masked_loads.is_empty(loop_inits(loop)[number]):
            raise fail(
                "W0458",
                "the partial sums start from an op in front of the loop",
                "`fuse` the zeros that `split-k` returned into the loop first",
            )
        start = producer(total.operands[1])
        if start is not None and (start.block != loop.block or not start.is_before_in_block(loop)):
            raise fail(
                "W0458",
                "what the sum is added to is made behind the loop",
                "leave `atomic` out, and launch the sum on its own",
            )
        parts = place_of(_insertion(loop_outputs(loop)[number]))[1][0]
        if parts != 1:
            raise fail(
                "W0458",
                f"an iteration of the loop makes {parts} parts",
                "tile the parts by 1: the first size of `tile` is theirs",
            )
        return cls(number, cut)


def _insertion(output: ir.Value) -> ir.Operation:
    """Where the loop's body puts its tile of the shared output."""
    inserted = (user for user in users(output) if user.name == "tensor.parallel_insert_slice")
    return next(op for op in inserted if op.operands[1] == output)


def _on_its_own(output: ir.Value) -> ir.Operation:
    """Give the tile a place of its own instead of its slice of the shared output; the insertion is all that still uses that."""
    insertion = _insertion(output)
    for op in users(output):
        if op != insertion:
            with ahead_of(op):
                place = masked_loads.empty(extents_of(op.results[0]), element_type(output))
            replace(op, [place])
    return insertion


def _added(insertion: ir.Operation, output: ir.Value) -> ir.Operation:
    """`output[m, n] += tile[0, m, n]` as far as the tile lies inside, in place of the insertion into `partial[s, m, n]`."""
    sizes, shape = place_of(insertion)[1][1:], extents_of(output)
    rank = len(shape)
    with ir.InsertionPoint(insertion.parent.operation):
        offsets = [value(offset) for offset in parts_of(insertion)[0][1:]]
        inside = inside_of(offsets, sizes, shape)
        tile = insertion.operands[0] if inside == sizes else part_of(insertion.operands[0], [1, *inside])
        place = part_of(output, inside, offsets)
        whole = ir.AffineMap.get_identity(rank + 1)
        maps = [whole, whole.get_submap(list(range(1, rank + 1)))]
        made = generic([tile], [place], maps, ["parallel"] * (rank + 1), lambda own: [added(own[1], own[0])])
        made.attributes[WRITEBACK] = ir.UnitAttr.get()
    with ahead_of(insertion):
        insert(made.results[0], output, offsets, inside)
    insertion.erase()
    return made
