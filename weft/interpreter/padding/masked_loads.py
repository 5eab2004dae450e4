"""Masked loads: operands of tile-multiple shape with a given value for elements outside the domain.

A masked load is a `linalg.generic` without inputs, marked `weft.gather`. Its body reads the image
with `tensor.extract`, under a mask computed from `linalg.index`. Only its result has an indexing
map, so that it can be tiled and fused with any tile sizes. It is fused into every tile of its
consumer. Finally `promote-to-shared` makes it a copy into shared memory, or bufferization inlines
it into the consumer's body.

If a tensor is assembled from pieces (`provenance`), tests of the index select the piece that is
read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from ...dsl.records import record
from ..indices.arithmetic import Bound, constant, value_of
from ..indices.values import divisible
from ..ir.cloning import clone_body, clone_until
from ..ir.mlir import affine, arith, has_parent, ir, linalg, made_by, producer, scf, tensor
from ..ir.sizes import SizeForm, difference, emitted, same_size, sizes_of
from ..ir.structured import body_of, copy_marks, element_type, empty, generic, segments, yielded
from ..reductions.identities import Identity, attribute, number
from .provenance import BoxSpan, Computed, Filled, Image, Placed, Provenance, StridedWindow

MARK = "weft.gather"
"""On a masked load: a unit, or `ANY`: its value outside is never used, so that a later mask around
it may choose it."""
ANY = "any"
UNKNOWN_TILES = 8209
"""The assumed number of tiles, in types, of a dimension with a number of tiles known only at run
time. The loops over them get the actual number as their bound (`bound_loops`), and no buffer has
such a type: each tile's masked loads and write-back have the real size. It is a prime that is
unlikely to divide a payload's size: any remaining use of such a type is refused (`expect_sizes`)."""
Element = Callable[[Iterator["ir.Value"], "list[ir.Value]"], "ir.Value"]
"""Computes an element from its indices (each evaluated on demand) and from the inputs' elements."""


def within(
    indices: Sequence[ir.Value], shape: Sequence[Bound | None], padded: Sequence[int | ir.Value]
) -> ir.Value | None:
    """The conjunction of `idx < bound` over the padded dimensions; None if none was padded, and no
    tile reaches beyond its bound."""
    each = zip(indices, shape, padded, strict=True)
    return _all(
        arith.cmpi(arith.CmpIPredicate.slt, idx, value_of(bound))
        for idx, bound, full in each
        if bound is not None and not reaches(bound, full)
    )


def reaches(bound: Bound, full: int | ir.Value) -> bool:
    """Whether a size is equal to its rounded value: it was not rounded, or its tiles are whole."""
    if isinstance(bound, int) or not isinstance(full, int):
        return same_size(bound, full)
    return full > 0 and full % UNKNOWN_TILES == 0 and divisible(bound, full // UNKNOWN_TILES)


def _all(tests: Iterable[ir.Value]) -> ir.Value | None:
    """The conjunction of tests, emitted as the tests are created; None without any."""
    mask: ir.Value | None = None
    for test in tests:
        mask = test if mask is None else arith.andi(mask, test)
    return mask


def computed(
    shape: Sequence[int | ir.Value], kind: ir.Type, element: Element, inputs: Sequence[ir.Value] = ()
) -> ir.Value:
    """A masked load: the tensor of `shape` with elements that `element` computes from their indices
    and the elements of `inputs`."""
    rank = len(shape)
    identities = [ir.AffineMap.get_identity(rank)] * (len(inputs) + 1)

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        return [element((linalg.IndexOp(d).result for d in range(rank)), arguments)]

    op = generic(inputs, [empty(shape, kind)], identities, ["parallel"] * rank, body)
    op.attributes[MARK] = ir.UnitAttr.get()
    return op.results[0]


def guarded(
    mask: ir.Value | None,
    kind: ir.Type,
    inside: Callable[[], ir.Value],
    outside: Identity | ir.Value | Callable[[], ir.Value],
) -> ir.Value:
    """`mask ? inside : outside`, where each is only evaluated if it is chosen."""
    if mask is None:
        return inside()
    choice = scf.IfOp(mask, [kind], has_else=True)
    with ir.InsertionPoint(choice.then_block):
        scf.YieldOp([inside()])
    with ir.InsertionPoint(choice.else_block):
        other = outside if isinstance(outside, ir.Value) else outside() if callable(outside) else number(outside, kind)
        scf.YieldOp([other])
    return choice.results[0]


def gather(image: ir.Value, padded: Sequence[int | ir.Value], outside: Identity) -> ir.Value:
    """A tensor of shape `padded` that is `image` inside its shape and `outside` elsewhere. Another
    masked load is kept (and becomes dead)."""
    kind, shape, source = element_type(image), sizes_of(image), producer(image)

    def element(at: Iterator[ir.Value], _: list[ir.Value]) -> ir.Value:
        where = list(at)
        return read_at(image, where, within(where, shape, padded), outside)

    made = computed(padded, kind, element)
    op = made.owner.operation
    if source is not None and is_masked_load(source):
        copy_marks(source, op)
        if outside is not None:
            op.attributes[MARK] = ir.UnitAttr.get()
    elif outside is None:
        op.attributes[MARK] = ir.StringAttr.get(ANY)
    return made


def zeros(like: ir.Value) -> ir.Value:
    """A tensor of the type of `like`, all 0, which is created anew in every tile."""
    kind = element_type(like)
    return computed(sizes_of(like), kind, lambda *_: number(None, kind))


def masked(value: ir.Value, shape: Sequence[Bound | None], outside: Identity) -> ir.Value:
    """`value` (already of padded shape), but `outside` beyond `shape`: required of a padded
    producer before a reduction."""
    kind, padded = element_type(value), sizes_of(value)

    def element(at: Iterator[ir.Value], inside: list[ir.Value]) -> ir.Value:
        mask = within(list(at), shape, padded)
        return inside[0] if mask is None else arith.select(mask, inside[0], number(outside, kind))

    return computed(padded, kind, element, [value])


def read_at(value: ir.Value, where: Sequence[ir.Value], mask: ir.Value | None, outside: Identity) -> ir.Value:
    """`mask ? value[where] : outside`, at the insertion point. For a masked load the underlying
    image is read, under both masks."""
    kind, owner = element_type(value), producer(value)
    if owner is None or not is_masked_load(owner):
        return guarded(mask, kind, lambda: tensor.ExtractOp(value, list(where)).result, outside)
    if mask is not None and not segments(owner)[0] and (joined := _joined(owner, outside, kind)) is not None:
        # the body of the load, which ends in a choice, with its mask and-ed with this one: one guard instead of two
        # nested ones
        (choice, held), copies = joined, dict[ir.Value, ir.Value]()
        (condition,) = clone_until(body_of(owner), copies, where, choice)

        def inside() -> ir.Value:
            return clone_until(body_of(choice), copies, where)[0]

        return guarded(arith.andi(mask, condition), kind, inside, lambda: arith.ConstantOp(kind, held).result)
    return guarded(mask, kind, lambda: element_of(owner, where), outside)


def element_of(op: ir.Operation, where: Sequence[ir.Value]) -> ir.Value:
    """A masked load's element at `where`, computed at the insertion point; a masked producer is
    read with `tensor.extract`."""
    images = [tensor.ExtractOp(image, list(where)).result for image in list(op.operands)[: segments(op)[0]]]
    return clone_body(body_of(op), images, where)[0]


def _joined(op: ir.Operation, outside: Identity, kind: ir.Type) -> tuple[ir.Operation, ir.Attribute] | None:
    """The `scf.if` at the end of a masked load's body, and the common value where its mask or
    `mask` is false: equal for both, or that of one if the other accepts any."""
    choice = made_by(yielded(op)[0], "scf.if")
    held = choice and made_by(choice.regions[1].blocks[0].operations[-1].operation.operands[0], "arith.constant")
    if choice is None or held is None:
        return None
    own, other = held.attributes["value"], attribute(outside, kind)
    if op.attributes[MARK] == ir.StringAttr.get(ANY, op.context):
        own = other
    return (choice, own) if outside is None or own == other else None


def is_masked_load(op: ir.Operation) -> bool:
    """Whether the op is a masked load."""
    return MARK in op.attributes


@record
class Subscript:
    """An index along one axis.

    Args:
        at: emits the index plus a number.
        low, high: minimum and maximum; None where known only at run time.
        shift: added to the index.
        made: its value, if already emitted.
    """

    at: Callable[[int], ir.Value]
    low: int
    high: SizeForm | None
    shift: int = 0
    made: ir.Value | None = None

    @property
    def value(self) -> ir.Value:
        return self.made or self.at(self.shift)

    def moved(self, by: int) -> Subscript:
        if not by:
            return self
        high = None if self.high is None else self.high + by
        return replace(self, low=self.low + by, high=high, shift=self.shift + by, made=None)

    def times(self, stride: int) -> Subscript:
        value = self.value
        high = self.high * stride if isinstance(self.high, int) else None
        return Subscript(lambda n: _applied(value, stride, n), self.low * stride, high)

    def over(self, stride: int) -> Subscript:
        value = self.value
        high = self.high // stride if isinstance(self.high, int) else None
        return Subscript(lambda n: _applied(value, 1, n, stride), self.low // stride, high)


def subscript(value: ir.Value, extent: int | ir.Value) -> Subscript:
    """The index `value`, which is in 0 … extent - 1."""
    return Subscript(lambda n: _applied(value, 1, n), 0, extent - 1 if isinstance(extent, int) else None)


def _applied(value: ir.Value, factor: int, addend: int, divisor: int = 1) -> ir.Value:
    """`value floordiv divisor · factor + addend`."""
    if (factor, addend, divisor) == (1, 0, 1):
        return value
    d0 = ir.AffineDimExpr.get(0)
    whole = d0 if divisor == 1 else ir.AffineExpr.get_floor_div(d0, divisor)
    return affine.AffineApplyOp(ir.AffineMap.get(1, 0, [whole * factor + addend]), [value]).result


def read(piece: Provenance, where: Sequence[Subscript], kind: ir.Type) -> ir.Value:
    """The element of a piece at `where`, emitted at the insertion point, with reads of tensors
    under the guards that they need."""
    if isinstance(piece, Image):
        return tensor.ExtractOp(piece.value, [s.value for s in where]).result
    if isinstance(piece, Filled):
        return _scalar(piece.value)
    if isinstance(piece, Computed):
        return clone_body(piece.body, [s.value for s in where])[0]
    if isinstance(piece, StridedWindow):
        inner = [
            s.moved(o) if n == 1 else s.times(n).moved(o)
            for s, o, n in zip(where, piece.offsets, piece.strides, strict=True)
        ]
        return read(piece.inside, inner, kind)
    return _chosen(piece, where, kind)


def _scalar(value: ir.Value) -> ir.Value:
    """A scalar from outside; a constant in the body of a `tensor.pad` is created again."""
    owner = producer(value)
    return owner.clone().operation.results[0] if owner is not None and has_parent(owner, "tensor.pad") else value


def _chosen(piece: Placed, where: Sequence[Subscript], kind: ir.Type) -> ir.Value:
    """The element inside or around the box; only tests that can fail are emitted."""
    inner = [s.moved(-span.offset) for s, span in zip(where, piece.spans, strict=True)]
    boxes = [(span.start - span.offset, span.stop - span.offset) for span in piece.spans]
    if any(_apart(s, *box) for s, box in zip(inner, boxes, strict=True)):
        return read(piece.around, where, kind)
    inner = [replace(s, made=s.value) for s in inner]
    each = zip(inner, piece.spans, boxes, strict=True)
    mask = _all(test for s, span, box in each for test in _tests(s, span, *box))
    inner = [replace(s, low=max(s.low, low), high=_last(s, high)) for s, (low, high) in zip(inner, boxes, strict=True)]
    inner = [s if span.stride == 1 else s.over(span.stride) for s, span in zip(inner, piece.spans, strict=True)]
    outside = (
        _scalar(piece.around.value) if isinstance(piece.around, Filled) else lambda: read(piece.around, where, kind)
    )
    return guarded(mask, kind, lambda: read(piece.inside, inner, kind), outside)


def _apart(s: Subscript, low: int, high: SizeForm) -> bool:
    """Whether an index is known to be outside the box."""
    return (isinstance(s.high, int) and s.high < low) or (isinstance(high, int) and max(low, s.low) >= high)


def _last(s: Subscript, high: SizeForm) -> SizeForm:
    """The maximum of an index in the box."""
    return high - 1 if _passes(s, high) else s.high or 0


def _passes(s: Subscript, high: SizeForm) -> bool:
    """Whether an index may be beyond the box."""
    beyond = None if s.high is None else difference(s.high, high)
    return beyond is None or beyond >= 0


def _tests(s: Subscript, span: BoxSpan, low: int, high: SizeForm) -> list[ir.Value]:
    """The tests for an index to be in the box."""
    tests: list[ir.Value] = []
    passes = _passes(s, high)
    if s.low < low == 0 and passes:  # one comparison: a negative number, read as unsigned, is larger than every size
        tests.append(arith.cmpi(arith.CmpIPredicate.ult, s.value, value_of(emitted(high))))
        low, passes = s.low, False
    if s.low < low:
        tests.append(arith.cmpi(arith.CmpIPredicate.sge, s.value, constant(low)))
    if passes:
        tests.append(arith.cmpi(arith.CmpIPredicate.slt, s.value, value_of(emitted(high))))
    if span.stride > 1:
        rest = ir.AffineMap.get(1, 0, [ir.AffineExpr.get_mod(ir.AffineDimExpr.get(0), span.stride)])
        remainder = affine.AffineApplyOp(rest, [s.value]).result
        tests.append(arith.cmpi(arith.CmpIPredicate.eq, remainder, constant(0)))
    return tests


def assembled(piece: Provenance, shape: Sequence[int | ir.Value], kind: ir.Type) -> ir.Value:
    """The piece as a masked load of `shape`, created at the insertion point; nothing is copied."""
    return computed(
        shape, kind, lambda at, _: read(piece, [subscript(i, n) for i, n in zip(at, shape, strict=True)], kind)
    )
