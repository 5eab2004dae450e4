"""Masked gathers: operands of tile-multiple shape whose elements outside the domain are a given value.

A gather is a `linalg.generic` without inputs, marked `weft.gather`, whose body reads the image with `tensor.extract` under a
mask of its own `linalg.index`es. Only its result is mapped, so that it tiles and fuses with any tile sizes
(prototypes: masked_gather, im2col_gather). It follows its consumer into every tile until `promote-to-shared` makes it a copy
into shared memory or bufferization inlines it into the consumer's body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dsl.diagnostics import fail
from ..ir.mlir import affine, arith, ir, linalg, producer, scf, tensor
from ..ir.structured import element_type, segments, shape_of

MARK = "weft.gather"
"""On a gather: a unit, or `ANY`: nobody asks what it holds outside, so that a later mask around it may say it."""
ANY = "any"
Neutral = int | float | str | None


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
    op = producer(value)
    return op is not None and op.name == "tensor.empty"


def within(indices: Sequence[ir.Value], shape: Sequence[int | None], padded: Sequence[int]) -> ir.Value | None:
    """`idx < bound` for each dimension that was padded, and-ed; None if none was."""
    mask: ir.Value | None = None
    for idx, bound, full in zip(indices, shape, padded, strict=True):
        if bound == full or bound is None:
            continue
        here = arith.cmpi(arith.CmpIPredicate.slt, idx, index(bound))
        mask = here if mask is None else arith.andi(mask, here)
    return mask


def generic(shape: Sequence[int], kind: ir.Type, inputs: Sequence[ir.Value] = ()) -> ir.OpView:
    """An all-parallel generic over `shape` with identity maps, marked as a gather, its body still empty."""
    rank = len(shape)
    identity = ir.AffineMap.get_identity(rank)
    op = linalg.GenericOp(
        result_tensors=[ir.RankedTensorType.get(list(shape), kind)],
        inputs=list(inputs),
        outputs=[empty(shape, kind)],
        indexing_maps=ir.ArrayAttr.get([ir.AffineMapAttr.get(identity)] * (len(inputs) + 1)),
        iterator_types=ir.ArrayAttr.get([ir.Attribute.parse("#linalg.iterator_type<parallel>")] * rank),
    )
    op.operation.attributes[MARK] = ir.UnitAttr.get()
    types = [element_type(v) for v in inputs] + [kind]
    op.regions[0].blocks.append(*types)
    return op


def guarded(
    mask: ir.Value | None, kind: ir.Type, inside: Callable[[], ir.Value], outside: Neutral | ir.Value | Callable[[], ir.Value]
) -> ir.Value:
    """`mask ? inside : outside`, where each is only evaluated where it is chosen."""
    if mask is None:
        return inside()
    choice = scf.IfOp(mask, [kind], has_else=True)
    with ir.InsertionPoint(choice.then_block):
        scf.YieldOp([inside()])
    with ir.InsertionPoint(choice.else_block):
        if isinstance(outside, ir.Value):
            scf.YieldOp([outside])
        else:
            scf.YieldOp([outside() if callable(outside) else constant(outside, kind)])
    return choice.results[0]


def gather(image: ir.Value, padded: Sequence[int], outside: Neutral) -> ir.Value:
    """A tensor of shape `padded` that is `image` inside its shape and `outside` elsewhere."""
    kind, shape = element_type(image), shape_of(image)
    op = generic(padded, kind)
    if outside is None:
        op.operation.attributes[MARK] = ir.StringAttr.get(ANY)
    with ir.InsertionPoint(op.regions[0].blocks[0]):
        indices = [linalg.IndexOp(d).result for d in range(len(shape))]
        mask = within(indices, shape, padded)
        value = guarded(mask, kind, lambda: tensor.ExtractOp(image, indices).result, outside)
        linalg.YieldOp([value])
    return op.results[0]


def zeros(like: ir.Value) -> ir.Value:
    """A tensor of the type of `like`, all 0, which is made anew in every tile."""
    kind = element_type(like)
    op = generic([n for n in shape_of(like) if n is not None], kind)
    with ir.InsertionPoint(op.regions[0].blocks[0]):
        linalg.YieldOp([constant(None, kind)])
    return op.results[0]


def masked(value: ir.Value, shape: Sequence[int | None], outside: Neutral) -> ir.Value:
    """`value` (already of padded shape), but `outside` beyond `shape`: what a padded producer needs before a reduction."""
    kind, padded = element_type(value), [n for n in shape_of(value) if n is not None]
    op = generic(padded, kind, [value])
    block = op.regions[0].blocks[0]
    with ir.InsertionPoint(block):
        indices = [linalg.IndexOp(d).result for d in range(len(padded))]
        mask = within(indices, shape, padded)
        inside = block.arguments[0]
        result = inside if mask is None else arith.select(mask, inside, constant(outside, kind))
        linalg.YieldOp([result])
    return op.results[0]


def enlarge(op: ir.Operation, padded: Sequence[int], outside: Neutral) -> ir.Value:
    """The gather `op` over a larger shape: its own body inside its old shape, `outside` beyond. `op` stays (and dies)."""
    kind, shape = element_type(op.results[0]), shape_of(op.results[0])
    made = generic(padded, kind, [])
    for name in op.attributes:
        if name.startswith("weft."):
            made.operation.attributes[name] = op.attributes[name]
    if outside is not None:
        made.operation.attributes[MARK] = ir.UnitAttr.get()
    with ir.InsertionPoint(made.regions[0].blocks[0]):
        indices = [linalg.IndexOp(d).result for d in range(len(padded))]
        linalg.YieldOp([read_at(op.results[0], indices, within(indices, shape, padded), outside)])
    return made.results[0]


def read_at(value: ir.Value, where: Sequence[ir.Value], mask: ir.Value | None, outside: Neutral) -> ir.Value:
    """`mask ? value[where] : outside`, at the insertion point. A gather is read where it reads, under its own mask as well."""
    kind, owner = element_type(value), producer(value)
    if owner is None or not is_gather(owner):
        return guarded(mask, kind, lambda: tensor.ExtractOp(value, list(where)).result, outside)
    old = owner.regions[0].blocks[0]
    joined = None if segments(owner)[0] or mask is None else _joined(owner, outside, kind)
    if mask is not None and joined is not None:
        return _under_both(old, joined[0], mask, where, joined[1])

    def inside() -> ir.Value:
        images = [tensor.ExtractOp(owner.operands[i], list(where)).result for i in range(segments(owner)[0])]
        return clone_body(old, images, where)[0]

    return guarded(mask, kind, inside, outside)


def _joined(op: ir.Operation, outside: Neutral, kind: ir.Type) -> tuple[ir.Operation, ir.Attribute] | None:
    """The `scf.if` that a gather's body ends in, and what stands where its mask or another one, with `outside`, is false: the same
    for both, or what one of them asks for where the other takes any."""
    block = op.regions[0].blocks[0]
    choice = producer(block.operations[len(block.operations) - 1].operation.operands[0])
    if choice is None or choice.name != "scf.if":
        return None
    otherwise = choice.regions[1].blocks[0]
    held = producer(otherwise.operations[len(otherwise.operations) - 1].operation.operands[0])
    if held is None or held.name != "arith.constant":
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
    for view in block.operations:
        op = view.operation
        if op == choice:
            break
        if op.name == "linalg.index":
            mapping[op.results[0]] = indices[linalg_index_dimension(op)]
        else:
            clone_mapped(op, mapping, indices)
    condition = mapping.get(choice.operands[0], choice.operands[0])

    def inside() -> ir.Value:
        for view in choice.regions[0].blocks[0].operations:
            if view.operation.name == "scf.yield":
                return mapping.get(view.operation.operands[0], view.operation.operands[0])
            clone_mapped(view.operation, mapping, indices)
        raise AssertionError("a region of scf.if ends with scf.yield")

    kind = choice.results[0].type
    return guarded(arith.andi(mask, condition), kind, inside, lambda: arith.ConstantOp(kind, outside).result)


def clone_body(block: ir.Block, arguments: Sequence[ir.Value], indices: Sequence[ir.Value]) -> list[ir.Value]:
    """Clone the body of a generic (or of a pad) at the insertion point, with values for its arguments and its `linalg.index`es.

    Returns the values it yields, one per output.
    """
    mapping: dict[ir.Value, ir.Value] = dict(zip(block.arguments, arguments, strict=False))
    for op in block.operations:
        if op.operation.name in ("linalg.yield", "tensor.yield"):
            return [mapping.get(v, v) for v in op.operation.operands]
        if op.operation.name == "linalg.index":
            mapping[op.operation.results[0]] = indices[linalg_index_dimension(op.operation)]
            continue
        clone_mapped(op.operation, mapping, indices)
    raise AssertionError("a linalg body ends with linalg.yield")


def clone_mapped(op: ir.Operation, mapping: dict[ir.Value, ir.Value], indices: Sequence[ir.Value]) -> ir.Operation:
    """Clone `op` at the insertion point, its operands (and those of ops nested in it) replaced by `mapping`."""
    copy = op.clone().operation
    _remap(copy, mapping, indices)
    for old, new in zip(op.results, copy.results, strict=True):
        mapping[old] = new
    return copy


def _remap(op: ir.Operation, mapping: dict[ir.Value, ir.Value], indices: Sequence[ir.Value]) -> None:
    for i, value in enumerate(op.operands):
        if value in mapping:
            op.operands[i] = mapping[value]
    for region in op.regions:
        for block in region.blocks:
            for inner in list(block.operations):
                if inner.operation.name == "linalg.index" and indices:
                    inner.operation.results[0].replace_all_uses_with(indices[linalg_index_dimension(inner.operation)])
                    inner.operation.erase()
                else:
                    _remap(inner.operation, mapping, indices)


def linalg_index_dimension(op: ir.Operation) -> int:
    return ir.IntegerAttr(op.attributes["dim"]).value


def is_gather(op: ir.Operation) -> bool:
    return MARK in op.attributes


def apply_map(expr: ir.AffineExpr, indexing: ir.AffineMap, indices: Sequence[ir.Value]) -> ir.Value:
    """The value of one result of an indexing map at `indices`."""
    if isinstance(expr, ir.AffineDimExpr):
        return indices[expr.position]
    return affine.AffineApplyOp(ir.AffineMap.get(indexing.n_dims, 0, [expr]), list(indices)).result
