"""The image of a convolution as an operand of a matrix product: a view where that is one, else a gather.

The gather's body takes the product's own indices apart (m → n, oh, ow by division and remainder; k → kh, kw, c) and reads the
image there, under a mask where that falls into the padding. Nothing of the product's size exists in memory: the gather tiles and
fuses with any tile sizes, and `promote-to-shared` performs it a tile at a time.

Source: the discussion "Is synchronization missed for RAW dependent ops …" of the MLIR forum (its second half); upstream
`transform.structured.convert_conv2d_to_img2col`, whose image is a mapped operand and therefore cannot be tiled along its sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod

from ...ir.mlir import affine, ir, tensor
from ...ir.structured import element_type, extents_of
from ...padding import gathers
from ...padding.gathers import index
from ...padding.piece_reads import Subscript, read
from ...padding.pieces import Image, Piece, margins, read_through
from .problem import LoopAxis, Problem


@dataclass(frozen=True)
class ImageSource:
    """Where the image is read: what it is pieced together of, and how many elements stand around it."""

    piece: Piece
    low: tuple[int, ...]
    high: tuple[int, ...]

    @property
    def padded(self) -> bool:
        return any(n > 0 for n in (*self.low, *self.high))


def source_of(value: ir.Value) -> ImageSource:
    """The image behind its padding; the value itself where there is none."""
    piece = read_through(value) or Image(value)
    return ImageSource(piece, *margins(piece, extents_of(value)))


def operand(problem: Problem, source: ImageSource, kind: ir.Type) -> ir.Value:
    """The image, of elements of type `kind`, with one axis per `problem.image_groups`; made at the insertion point."""
    units = [d for d, n in enumerate(problem.extents) if n == 1]
    axes = [axis.without(units) for axis in problem.axes]
    together = _collapsible(problem, axes)
    if together is not None and isinstance(source.piece, Image):
        return collapsed(source.piece.value, together)
    return _gather(problem, source.piece, axes, kind)


def collapsed(value: ir.Value, together: Sequence[Sequence[int]]) -> ir.Value:
    """`value` with each of these lists of axes as one axis."""
    if all(len(axes) == 1 for axes in together):
        return value
    shape = [prod(extents_of(value)[a] for a in axes) for axes in together]
    kind = ir.RankedTensorType.get(shape, element_type(value))
    return tensor.CollapseShapeOp(kind, value, [list(axes) for axes in together]).result


def _collapsible(problem: Problem, axes: Sequence[LoopAxis]) -> list[list[int]] | None:
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


def _gather(problem: Problem, piece: Piece, axes: Sequence[LoopAxis], kind: ir.Type) -> ir.Value:
    def element(at: Iterator[ir.Value], _: list[ir.Value]) -> ir.Value:
        digits: dict[int, ir.Value] = {}
        for number, whole in zip(problem.image_groups, at, strict=True):
            digits.update(_taken_apart(problem, number, whole))
        return read(
            piece, [Subscript(partial(_subscript, axis, digits), *axis.reach(problem.extents)) for axis in axes], kind
        )

    return gathers.computed([problem.groups[g].extent for g in problem.image_groups], kind, element)


def _taken_apart(problem: Problem, group: int, whole: ir.Value) -> dict[int, ir.Value]:
    """The index of each dimension of a group, from the index of all of them in a row, the last one running fastest."""
    dimensions, extents = problem.groups[group].dimensions, problem.extents
    long = [d for d in dimensions if extents[d] > 1]
    if len(long) < 2:
        return dict.fromkeys(long, whole)
    kind = ir.IndexType.get()
    made = affine.AffineDelinearizeIndexOp([kind] * len(long), whole, [], [extents[d] for d in long[1:]])
    names = [name for d, name in zip(dimensions, problem.names(group), strict=True) if d in long]
    made.operation.attributes["weft.names"] = ir.ArrayAttr.get([ir.StringAttr.get(name) for name in names])
    return dict(zip(long, made.results, strict=True))


def _subscript(axis: LoopAxis, digits: Mapping[int, ir.Value], more: int) -> ir.Value:
    """The subscript of an axis, plus a number."""
    offset = axis.offset + more
    if not axis.factors:
        return index(offset)
    if offset == 0 and list(axis.factors.values()) == [1]:
        return digits[next(iter(axis.factors))]
    total: ir.AffineExpr = ir.AffineConstantExpr.get(offset)
    for position, factor in enumerate(axis.factors.values()):
        total = ir.AffineExpr.get_add(total, ir.AffineExpr.get_mul(ir.AffineDimExpr.get(position), factor))
    applied = ir.AffineMap.get(len(axis.factors), 0, [total])
    return affine.AffineApplyOp(applied, [digits[d] for d in axis.factors]).result
