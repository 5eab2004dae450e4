"""Masked gathers: operands of tile-multiple shape whose elements outside the domain are a given value.

A gather is a `linalg.generic` without inputs, marked `weft.gather`, whose body reads the image with `tensor.extract` under a
mask of its own `linalg.index`es. Only its result is mapped, so that it tiles and fuses with any tile sizes
(prototypes: masked_gather, im2col_gather). It follows its consumer into every tile until `promote-to-shared` makes it a copy
into shared memory or bufferization inlines it into the consumer's body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...dsl.diagnostics import fail
from ..ir.cloning import clone_body, clone_until
from ..ir.mlir import arith, ir, linalg, made_by, producer, scf, tensor
from ..ir.structured import body_of, copy_marks, element_type, extents_of, generic, segments, shape_of, yielded

MARK = "weft.gather"
"""On a gather: a unit, or `ANY`: nobody asks what it holds outside, so that a later mask around it may say it."""
ANY = "any"
Neutral = int | float | str | None
Element = Callable[[Iterator["ir.Value"], "list[ir.Value]"], "ir.Value"]
"""Makes an element of its indices (each of them when it is asked for) and of the inputs' elements."""


def constant(value: Neutral, kind: ir.Type) -> ir.Value:
    """A constant of type `kind`; `inf`, `-inf`, `min`, `max`, `umax` are that type's own. None is zero."""
    return arith.ConstantOp(kind, attribute(value, kind)).result


def attribute(value: Neutral, kind: ir.Type) -> ir.Attribute:
    """The attribute of `constant(value, kind)`. Raises W0399 for a type that is neither an integer nor a float."""
    if not isinstance(kind, (ir.IntegerType, ir.IndexType, ir.FloatType)):
        raise fail("W0399", f"elements of type {kind} are no numbers that Weft can make")
    number = _number(value, kind)
    return ir.FloatAttr.get(kind, number) if isinstance(number, float) else ir.IntegerAttr.get(kind, number)


def _number(value: Neutral, kind: ir.Type) -> int | float:
    if isinstance(kind, (ir.IntegerType, ir.IndexType)):
        width = kind.width if isinstance(kind, ir.IntegerType) else 64
        special = {"min": -(1 << (width - 1)), "max": (1 << (width - 1)) - 1, "umax": -1, None: 0}
        return int(special.get(value, value))  # type: ignore[arg-type]
    return float(0 if value is None else value)


def index(value: int) -> ir.Value:
    return arith.ConstantOp(ir.IndexType.get(), value).result


def empty(shape: Sequence[int], kind: ir.Type) -> ir.Value:
    return tensor.EmptyOp(list(shape), kind).result


def is_empty(value: ir.Value) -> bool:
    """Whether the value is a `tensor.empty`: a shape without contents."""
    return made_by(value, "tensor.empty") is not None


def within(indices: Sequence[ir.Value], shape: Sequence[int | None], padded: Sequence[int]) -> ir.Value | None:
    """`idx < bound` for each dimension that was padded, and-ed; None if none was."""
    mask: ir.Value | None = None
    for idx, bound, full in zip(indices, shape, padded, strict=True):
        if bound == full or bound is None:
            continue
        here = arith.cmpi(arith.CmpIPredicate.slt, idx, index(bound))
        mask = here if mask is None else arith.andi(mask, here)
    return mask


def computed(shape: Sequence[int], kind: ir.Type, element: Element, inputs: Sequence[ir.Value] = ()) -> ir.Value:
    """A gather: the tensor of `shape` whose elements `element` makes of their indices, and of the elements of `inputs` there."""
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
    outside: Neutral | ir.Value | Callable[[], ir.Value],
) -> ir.Value:
    """`mask ? inside : outside`, where each is only evaluated where it is chosen."""
    if mask is None:
        return inside()
    choice = scf.IfOp(mask, [kind], has_else=True)
    with ir.InsertionPoint(choice.then_block):
        scf.YieldOp([inside()])
    with ir.InsertionPoint(choice.else_block):
        other = (
            outside if isinstance(outside, ir.Value) else outside() if callable(outside) else constant(outside, kind)
        )
        scf.YieldOp([other])
    return choice.results[0]


def gather(image: ir.Value, padded: Sequence[int], outside: Neutral) -> ir.Value:
    """A tensor of shape `padded` that is `image` inside its shape and `outside` elsewhere. Another gather stays (and dies)."""
    kind, shape, source = element_type(image), shape_of(image), producer(image)

    def element(at: Iterator[ir.Value], _: list[ir.Value]) -> ir.Value:
        where = list(at)
        return read_at(image, where, within(where, shape, padded), outside)

    made = computed(padded, kind, element)
    op = made.owner.operation
    if source is not None and is_gather(source):
        copy_marks(source, op)
        if outside is not None:
            op.attributes[MARK] = ir.UnitAttr.get()
    elif outside is None:
        op.attributes[MARK] = ir.StringAttr.get(ANY)
    return made


def zeros(like: ir.Value) -> ir.Value:
    """A tensor of the type of `like`, all 0, which is made anew in every tile."""
    kind = element_type(like)
    return computed(extents_of(like), kind, lambda *_: constant(None, kind))


def masked(value: ir.Value, shape: Sequence[int | None], outside: Neutral) -> ir.Value:
    """`value` (already of padded shape), but `outside` beyond `shape`: what a padded producer needs before a reduction."""
    kind, padded = element_type(value), extents_of(value)

    def element(at: Iterator[ir.Value], inside: list[ir.Value]) -> ir.Value:
        mask = within(list(at), shape, padded)
        return inside[0] if mask is None else arith.select(mask, inside[0], constant(outside, kind))

    return computed(padded, kind, element, [value])


def read_at(value: ir.Value, where: Sequence[ir.Value], mask: ir.Value | None, outside: Neutral) -> ir.Value:
    """`mask ? value[where] : outside`, at the insertion point. A gather is read where it reads, under its own mask as well."""
    kind, owner = element_type(value), producer(value)
    if owner is None or not is_gather(owner):
        return guarded(mask, kind, lambda: tensor.ExtractOp(value, list(where)).result, outside)
    if mask is not None and not segments(owner)[0] and (joined := _joined(owner, outside, kind)) is not None:
        return _under_both(body_of(owner), joined[0], mask, where, joined[1])
    return guarded(mask, kind, lambda: element_of(owner, where), outside)


def element_of(op: ir.Operation, where: Sequence[ir.Value]) -> ir.Value:
    """A gather's element at `where`, computed at the insertion point; a masked producer is read with `tensor.extract`."""
    images = [tensor.ExtractOp(image, list(where)).result for image in list(op.operands)[: segments(op)[0]]]
    return clone_body(body_of(op), images, where)[0]


def _joined(op: ir.Operation, outside: Neutral, kind: ir.Type) -> tuple[ir.Operation, ir.Attribute] | None:
    """The `scf.if` that a gather's body ends in, and what stands where its mask or another one, with `outside`, is false: the same
    for both, or what one of them asks for where the other takes any."""
    choice = made_by(yielded(op)[0], "scf.if")
    held = choice and made_by(choice.regions[1].blocks[0].operations[-1].operation.operands[0], "arith.constant")
    if choice is None or held is None:
        return None
    own, other = held.attributes["value"], attribute(outside, kind)
    if op.attributes[MARK] == ir.StringAttr.get(ANY, op.context):
        own = other
    return (choice, own) if outside is None or own == other else None


def _under_both(
    block: ir.Block, choice: ir.Operation, mask: ir.Value, indices: Sequence[ir.Value], outside: ir.Attribute
) -> ir.Value:
    """Clone a body that ends in `choice` with its mask and-ed with `mask`: one guard instead of two nested ones."""
    mapping: dict[ir.Value, ir.Value] = {}
    (condition,) = clone_until(block, mapping, indices, choice)
    kind = choice.results[0].type
    return guarded(
        arith.andi(mask, condition),
        kind,
        lambda: clone_until(body_of(choice), mapping, indices)[0],
        lambda: arith.ConstantOp(kind, outside).result,
    )


def is_gather(op: ir.Operation) -> bool:
    return MARK in op.attributes


