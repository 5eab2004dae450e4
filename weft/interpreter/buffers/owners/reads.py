"""Reads of buffers in bodies as operands: a load of an element for each iteration of an op becomes
an input of the op.

    ^bb0(%out): %i = linalg.index 0; %v = memref.load %t[%i + %k]; …   →   ins(%t[%k …]) { ^bb0(%v, %out): … }

A masked load of a ragged tile that is fused into an op selects between the loaded value and an
identity. So the load does not depend on the mask: all elements that it reads are inside the buffer.
Loads under a condition stay in the body.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....dsl.records import record
from ...indices.arithmetic import constant
from ...indices.linear import NOTHING, Linear, Symbol
from ...indices.values import KnownIndices
from ...ir.cloning import clone_until, clone_with, index_dimension
from ...ir.mlir import ahead_of, ir, is_within, linalg, operations, producer
from ...ir.structured import body_of, copy_marks, generic, segments, structure
from ...memory.effects import is_pure
from ...memory.layouts import subview


@record
class BodyRead:
    """A load in the body of an op.

    Args:
        walked: for each axis of the buffer, the dimension of the op that indexes it; None for an
            axis without one.
        starts: the offset along each axis, as linear forms.
        shape: the number of elements along each axis.
    """

    op: ir.Operation
    load: ir.Operation
    walked: tuple[int | None, ...]
    starts: tuple[Linear, ...]
    shape: tuple[int, ...]


def body_read(load: ir.Operation, forms: KnownIndices) -> BodyRead | None:
    """The read that a `memref.load` is; None if it is not of this form."""
    op = load.block.owner.operation
    if not isinstance(op.opview, linalg.GenericOp) or load.name != "memref.load":
        return None
    dimensions: dict[Symbol, int] = {}
    for index in operations(op, "linalg.index"):
        symbol = forms.fresh("loop", NOTHING, 0, None)
        dimensions[symbol] = index_dimension(index)
        forms.bind(index.results[0], Linear.of(symbol))
    walked: list[int | None] = []
    starts: list[Linear] = []
    for subscript in list(load.operands)[1:]:
        form = forms.linear(subscript)
        own = [symbol for symbol in dimensions if symbol in set(form.symbols())]
        computed = all(made.name == "linalg.index" or is_pure(made) for made in _makers(subscript, op))
        if len(own) > 1 or any(form.terms.get(symbol) != 1 for symbol in own) or not computed:
            return None
        walked.append(dimensions[own[0]] if own else None)
        starts.append(form - Linear.of(own[0]) if own else form)
    sizes = [1 if d is None else structure(op).extents[d] for d in walked]
    if None in sizes or len({d for d in walked if d is not None}) < len([d for d in walked if d is not None]):
        return None
    return BodyRead(op, load, tuple(walked), tuple(starts), tuple(n or 0 for n in sizes))


def read_as_operands(reads: Sequence[BodyRead]) -> None:
    """Rewrites the ops around the given reads."""
    while reads:
        op = reads[0].op
        mine, reads = [read for read in reads if read.op == op], [read for read in reads if read.op != op]
        _rewrite(op, mine)


def _rewrite(op: ir.Operation, reads: Sequence[BodyRead]) -> None:
    space, (inputs, _) = structure(op), segments(op)
    operands = list(op.operands)
    with ahead_of(op):
        parts, walks = list[ir.Value](), list[ir.AffineMap]()
        for read in reads:  # the part that all iterations together load, and the order in which they access it
            source, *subscripts = read.load.operands
            starts, kind = [_at_zero(value, op) for value in subscripts], ir.MemRefType(source.type).element_type
            parts.append(
                subview(source, [starts, list(read.shape), [1] * len(starts)], ir.MemRefType.get(read.shape, kind))
            )
            walk = [ir.AffineExpr.get_constant(0) if d is None else ir.AffineExpr.get_dim(d) for d in read.walked]
            walks.append(ir.AffineMap.get(space.rank, 0, walk))

        def body(own: list[ir.Value]) -> list[ir.Value]:
            given = [*own[:inputs], *own[inputs + len(reads) :]]
            copies = dict(zip(body_of(op).arguments, given, strict=True))
            copies |= {read.load.results[0]: own[inputs + number] for number, read in enumerate(reads)}
            return clone_until(body_of(op), copies)

        maps = [*space.maps[:inputs], *walks, *space.maps[inputs:]]
        made = generic([*operands[:inputs], *parts], operands[inputs:], maps, space.iterators, body)
    copy_marks(op, made)
    op.erase()


def _at_zero(value: ir.Value, op: ir.Operation) -> ir.Value:
    """A subscript in the first iteration of the op, emitted at the insertion point."""
    copies: dict[ir.Value, ir.Value] = {}
    for made in _makers(value, op):
        if made.name == "linalg.index":
            copies[made.results[0]] = constant(0)
        elif made.results[0] not in copies:
            clone_with(made, copies)
    return copies.get(value, value)


def _makers(value: ir.Value, op: ir.Operation) -> Iterator[ir.Operation]:
    """The ops in a body that compute a value, operands before users."""
    made = producer(value)
    if made is not None and is_within(made, op):
        for operand in made.operands:
            yield from _makers(operand, op)
        yield made
