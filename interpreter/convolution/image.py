"""The image of a convolution as an operand of a matrix product: a view where that is one, else a gather.

The gather's body takes the product's own indices apart (m → n, oh, ow by division and remainder; k → kh, kw, c) and reads the
image there, under a mask where that falls into the padding. Nothing of the product's size exists in memory: the gather tiles and
fuses with any tile sizes, and `promote-to-shared` performs it a tile at a time.

Source: the discussion "Is synchronization missed for RAW dependent ops …" of the MLIR forum (its second half); upstream
`transform.structured.convert_conv2d_to_img2col`, whose image is a mapped operand and therefore cannot be tiled along its sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from .. import gathers
from ..distribution.counters.linear import NAMES
from ..gathers import index
from ..mlir import affine, arith, ir, linalg, producer, tensor
from ..structured import element_type, shape_of
from .axes import Axis
from .problem import Problem


@dataclass(frozen=True)
class Source:
    """Where the image is read: `value`, with a padding of `outside` around it (None: there is none)."""

    value: ir.Value
    low: tuple[int, ...]
    high: tuple[int, ...]
    outside: ir.Value | None

    @property
    def padded(self) -> bool:
        return any(self.low) or any(self.high)


def source_of(value: ir.Value) -> Source:
    """The image behind a padding by a constant; the value itself where there is none.

    A padding is a `tensor.pad`, or a buffer that was filled with a constant before the image was copied into it.
    """
    op = producer(value)
    found = None
    if op is not None and op.name == "tensor.pad":
        found = _padded(op)
    elif op is not None and op.name == "tensor.insert_slice":
        found = _inserted(op)
    none = (0,) * len(shape_of(value))
    return found or Source(value, none, none, None)


def _padded(op: ir.Operation) -> Source | None:
    low, high = (tuple(ir.DenseI64ArrayAttr(op.attributes[f"static_{end}"])) for end in ("low", "high"))
    block = op.regions[0].blocks[0]
    outside = block.operations[len(block.operations) - 1].operation.operands[0]
    made_here = outside.owner == block if isinstance(outside.owner, ir.Block) else outside.owner.operation.block == block
    if made_here or any(n < 0 for n in (*low, *high)) or None in shape_of(op.operands[0]):
        return None
    return Source(op.operands[0], low, high, outside)


def _inserted(op: ir.Operation) -> Source | None:
    """A padding as buffers have it: the image, or a copy of it, in the middle of a fill."""
    around = producer(op.operands[1])
    offsets, sizes, strides = (
        list(ir.DenseI64ArrayAttr(op.attributes[f"static_{what}"])) for what in ("offsets", "sizes", "strides")
    )
    if around is None or around.name != "linalg.fill" or len(op.operands) > 2 or any(s != 1 for s in strides):
        return None
    image, copy = op.operands[0], producer(op.operands[0])
    if copy is not None and copy.name == "linalg.copy":
        image = copy.operands[0]
    whole = [n or 0 for n in shape_of(op.results[0])]
    if list(shape_of(image)) != sizes:
        return None
    high = tuple(n - o - s for n, o, s in zip(whole, offsets, sizes, strict=True))
    return Source(image, tuple(offsets), high, around.operands[0])


def operand(problem: Problem, source: Source) -> ir.Value:
    """The image as an operand with one axis per `problem.image_groups`; made at the insertion point."""
    units = [d for d, n in enumerate(problem.extents) if n == 1]
    axes = [
        replace(axis.without(units), offset=axis.offset - low, size=shape_of(source.value)[number] or 0)
        for number, (axis, low) in enumerate(zip(problem.axes, source.low, strict=True))
    ]
    together = _collapsible(problem, axes)
    if together is not None:
        return collapsed(source.value, together)
    return _gather(problem, source, axes)


def collapsed(value: ir.Value, together: Sequence[Sequence[int]]) -> ir.Value:
    """`value` with each of these lists of axes as one axis."""
    if all(len(axes) == 1 for axes in together):
        return value
    shape = [prod(shape_of(value)[a] or 0 for a in axes) for axes in together]
    kind = ir.RankedTensorType.get(shape, element_type(value))
    return tensor.CollapseShapeOp(kind, value, [list(axes) for axes in together]).result


def _collapsible(problem: Problem, axes: Sequence[Axis]) -> list[list[int]] | None:
    """The image's axes by groups of the product, where the product's operand is the image itself: 1×1 filters, stride 1."""
    extents = problem.extents
    order: list[int] = []
    together: list[list[int]] = []
    groups = [[d for d in problem.groups[g].dimensions if extents[d] > 1] for g in problem.image_groups]
    at = 0
    for number, axis in enumerate(axes):
        dimension = next(iter(axis.factors), None)
        if len(axis.factors) > 1 or axis.offset or axis.size != (1 if dimension is None else extents[dimension]):
            return None
        if dimension is not None and axis.factors[dimension] != 1:
            return None
        while at < len(groups) and dimension is not None and dimension not in groups[at]:
            at += 1
        if at == len(groups):
            return None
        while len(together) <= at:
            together.append([])
        together[at].append(number)
        order += [] if dimension is None else [dimension]
    fits = order == [d for group in groups for d in group] and len(together) == len(groups) and all(together)
    return together if fits else None


def _gather(problem: Problem, source: Source, axes: Sequence[Axis]) -> ir.Value:
    shape = [problem.groups[g].extent for g in problem.image_groups]
    kind = element_type(source.value)
    op = gathers.generic(shape, kind)
    with ir.InsertionPoint(op.regions[0].blocks[0]):
        digits: dict[int, ir.Value] = {}
        for position, number in enumerate(problem.image_groups):
            digits.update(_taken_apart(problem, number, linalg.IndexOp(position).result))
        subscripts = [_subscript(axis, digits) for axis in axes]
        mask = _inside(axes, subscripts, problem.extents)
        value = gathers.guarded(mask, kind, lambda: tensor.ExtractOp(source.value, subscripts).result, source.outside)
        linalg.YieldOp([value])
    return op.results[0]


def _taken_apart(problem: Problem, group: int, whole: ir.Value) -> dict[int, ir.Value]:
    """The index of each dimension of a group, from the index of all of them in a row, the last one running fastest."""
    dimensions, extents = problem.groups[group].dimensions, problem.extents
    long = [d for d in dimensions if extents[d] > 1]
    if len(long) < 2:
        return dict.fromkeys(long, whole)
    kind = ir.IndexType.get()
    made = affine.AffineDelinearizeIndexOp([kind] * len(long), whole, [], [extents[d] for d in long[1:]])
    names = [name for d, name in zip(dimensions, problem.names(group), strict=True) if d in long]
    made.operation.attributes[NAMES] = ir.ArrayAttr.get([ir.StringAttr.get(name) for name in names])
    return dict(zip(long, made.results, strict=True))


def _subscript(axis: Axis, digits: Mapping[int, ir.Value]) -> ir.Value:
    if not axis.factors:
        return index(axis.offset)
    if axis.offset == 0 and list(axis.factors.values()) == [1]:
        return digits[next(iter(axis.factors))]
    total: ir.AffineExpr = ir.AffineConstantExpr.get(axis.offset)
    for position, factor in enumerate(axis.factors.values()):
        total = ir.AffineExpr.get_add(total, ir.AffineExpr.get_mul(ir.AffineDimExpr.get(position), factor))
    applied = ir.AffineMap.get(len(axis.factors), 0, [total])
    return affine.AffineApplyOp(applied, [digits[d] for d in axis.factors]).result


def _inside(axes: Sequence[Axis], subscripts: Sequence[ir.Value], extents: Sequence[int]) -> ir.Value | None:
    """Whether no subscript falls into the padding; None where none ever does."""
    mask: ir.Value | None = None
    for axis, subscript in zip(axes, subscripts, strict=True):
        low, high = axis.reach(extents)
        for needed, predicate, bound in (
            (low < 0, arith.CmpIPredicate.sge, 0),
            (high >= axis.size, arith.CmpIPredicate.slt, axis.size),
        ):
            if needed:
                test = arith.cmpi(predicate, subscript, index(bound))
                mask = test if mask is None else arith.andi(mask, test)
    return mask
