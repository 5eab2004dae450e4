"""The matrix product that a convolution becomes, with its operands and its result as matrices.

The image is a view if possible, otherwise a gather. The body of the gather splits the product's
indices (m → n, oh, ow by division and remainder; k → kh, kw, c) and reads the image at these, under
a mask in its padding. Nothing of the product's size exists in memory: the gather tiles and fuses
with any tile sizes, and `promote-to-shared` performs it tile by tile.

Source: the discussion "Is synchronization missed for RAW dependent ops …" of the MLIR forum (its
second half); upstream `transform.structured.convert_conv2d_to_img2col`, which
makes the image a mapped operand that cannot be tiled along its sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import count

from ....dsl.records import record
from ...indices.arithmetic import index_of, value_of
from ...indices.digits import NAMES, OUTER
from ...indices.linear import Linear
from ...ir.cloning import clone_body
from ...ir.copying import fill_value, fill_with
from ...ir.mlir import affine, i64, ir, linalg, made_by, producer
from ...ir.reshapes import collapsed, expanded
from ...ir.sizes import emitted, forms_of, product_of, same_size, size_of, sizes_of
from ...ir.structured import (
    body_of,
    dynamic_and_static,
    element_type,
    empty,
    generic,
    is_empty,
    move_marks,
    part_of,
    shape_of,
)
from ...padding import masked_loads
from ...padding.masked_loads import Subscript, read
from ...padding.provenance import Image, Provenance, margins, read_through
from ...reductions.identities import combination
from .convolution import ConvolutionProblem, LoopAxis


@record
class ImageSource:
    """The origin of the image: the tensors that it consists of, and the number of padding elements
    on each side."""

    piece: Provenance
    low: tuple[int, ...]
    high: tuple[int | None, ...]

    @property
    def padded(self) -> bool:
        return any(n is None or n > 0 for n in (*self.low, *self.high))


def source_of(value: ir.Value) -> ImageSource:
    """The image without its padding; the value itself if it has none."""
    piece = read_through(value) or Image(value)
    return ImageSource(piece, *margins(piece, forms_of(value)))


def operand(
    convolution: ConvolutionProblem, source: ImageSource, kind: ir.Type, sizes: Sequence[int | ir.Value]
) -> ir.Value:
    """The image with elements of type `kind` and one axis per entry of `convolution.image_groups`;
    made at the insertion point. `sizes`: the sizes of the convolution's dimensions."""
    units = [d for d, n in enumerate(convolution.extents) if n == 1]
    axes = [axis.without(units) for axis in convolution.axes]
    if isinstance(source.piece, Image):
        together = _collapsible(convolution, axes, source.piece.value, sizes)
        if together is not None:
            return collapsed(source.piece.value, together)

    def element(at: Iterator[ir.Value], _: list[ir.Value]) -> ir.Value:
        digits: dict[int, ir.Value] = {}
        for number, whole in zip(convolution.image_groups, at, strict=True):
            digits.update(_taken_apart(convolution, number, whole, sizes))
        where = [Subscript(partial(_subscript, axis, digits), *axis.reach(convolution.extents)) for axis in axes]
        return read(source.piece, where, kind)

    shape = [product_of([sizes[d] for d in convolution.groups[g].dimensions]) for g in convolution.image_groups]
    return masked_loads.computed(shape, kind, element)


def _collapsible(
    convolution: ConvolutionProblem, axes: Sequence[LoopAxis], image: ir.Value, sizes: Sequence[int | ir.Value]
) -> list[list[int]] | None:
    """The axes of the image for each dimension of the operand, if the operand is a collapsed view
    of the image (1×1 filters with stride 1); otherwise None."""
    extents = convolution.extents
    order: list[int] = []
    together: list[list[int]] = []
    groups = [[d for d in convolution.groups[g].dimensions if extents[d] != 1] for g in convolution.image_groups]
    at = 0
    for number, axis in enumerate(axes):
        dimension = next(iter(axis.factors), None)
        along = 1 if dimension is None else sizes[dimension]
        if len(axis.factors) > 1 or axis.offset or not same_size(size_of(image, number), along):
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


def _taken_apart(
    convolution: ConvolutionProblem, group: int, whole: ir.Value, sizes: Sequence[int | ir.Value]
) -> dict[int, ir.Value]:
    """The index of each dimension of a group, from their linear index, the last dimension running
    fastest."""
    dimensions = convolution.groups[group].dimensions
    long = [d for d in dimensions if sizes[d] != 1]
    if len(long) < 2:
        return dict.fromkeys(long, whole)
    kind = ir.IndexType.get()
    made = affine.AffineDelinearizeIndexOp([kind] * len(long), whole, *dynamic_and_static([sizes[d] for d in long[1:]]))
    names = [name for d, name in zip(dimensions, convolution.names(group), strict=True) if d in long]
    made.operation.attributes[NAMES] = ir.ArrayAttr.get([ir.StringAttr.get(name) for name in names])
    if isinstance(first := sizes[long[0]], int):
        made.operation.attributes[OUTER] = i64(first)
    return dict(zip(long, made.results, strict=True))


def _subscript(axis: LoopAxis, digits: Mapping[int, ir.Value], more: int) -> ir.Value:
    """The subscript of an axis, plus a number."""
    start = Linear.of(axis.offset + more)
    return value_of(sum((index_of(digits[d]) * factor for d, factor in axis.factors.items()), start))


def product(op: ir.Operation, convolution: ConvolutionProblem, source: ImageSource) -> tuple[ir.Operation, ir.Value]:
    """Makes the product before the convolution `op`; returns it and its result in the shape of the
    convolution."""
    sizes = [emitted(form) for form in convolution.extents]
    image = operand(convolution, source, element_type(op.operands[convolution.image]), sizes)
    numbers = count()
    together = [[next(numbers) for _ in convolution.groups[g].dimensions] for g in convolution.filter_groups]
    kernel = collapsed(op.operands[convolution.filter], together)
    if None in shape_of(kernel):  # cut to the sizes that the image determines: the image needs no guard for more
        dimensions = [convolution.groups[g].dimensions for g in convolution.filter_groups]
        kernel = part_of(kernel, [product_of([sizes[d] for d in group]) for group in dimensions])
    start = matrix(op.operands[2], runs(convolution))
    inputs = [image, kernel] if convolution.image_is_left else [kernel, image]
    mine = (convolution.image_groups, convolution.filter_groups)
    order = mine if convolution.image_is_left else mine[::-1]
    whole = ir.AffineMap.get_identity(len(convolution.groups))
    maps = [whole.get_submap(list(groups)) for groups in (*order, convolution.result_groups)]
    if len(convolution.groups) == 3 and [str(m) for m in maps] == _MATMUL and _adds_products(op):
        results = [start.type] if isinstance(start.type, ir.RankedTensorType) else []
        made = linalg.MatmulOp(results, inputs, [start]).operation
        linalg.fill_builtin_region(made)
    else:
        iterators = ["reduction" if g.side == "sum" else "parallel" for g in convolution.groups]
        exchanged = (convolution.image == 0) != convolution.image_is_left

        def body(own: list[ir.Value]) -> list[ir.Value]:
            return clone_body(body_of(op), [*own[1::-1], own[2]] if exchanged else own)

        made = generic(inputs, [start], maps, iterators, body)  # with the convolution's own body
    return made, expanded(made.results[0], sizes_of(op.results[0]), runs(convolution))


def runs(convolution: ConvolutionProblem) -> list[list[int]]:
    """The axes of the result, for each dimension of the product."""
    numbers = count()
    return [[next(numbers) for _ in convolution.groups[g].dimensions] for g in convolution.result_groups]


def matrix(value: ir.Value, together: Sequence[Sequence[int]]) -> ir.Value:
    """The initial value of the product: a fill of its own shape, an empty tensor for an empty one,
    or a collapsed view of any other value."""
    fill = producer(value)
    filling = None if fill is None else fill_value(fill)
    if filling is None and not is_empty(value):
        return collapsed(value, together)
    sizes = sizes_of(value)
    nothing = empty([product_of([sizes[a] for a in axes]) for axes in together], element_type(value))
    if fill is None or filling is None:
        return nothing
    made = fill_with(nothing, filling)
    move_marks(fill, made)
    return made.results[0]


_MATMUL = ["(d0, d1, d2) -> (d0, d2)", "(d0, d1, d2) -> (d2, d1)", "(d0, d1, d2) -> (d0, d1)"]
"""The indexing maps of `linalg.matmul`: rows, columns, one sum, both operands row-major."""
_CONVERSIONS = ("arith.extf", "arith.truncf", "arith.extsi", "arith.trunci", "arith.sitofp")
"""The ops by which `linalg.matmul` converts its inputs to the element type of the result."""


def _adds_products(op: ir.Operation) -> bool:
    """Whether the body is that of `linalg.matmul`: inputs, converted first where needed (as
    signed), multiplied, and added."""
    found = combination(op)
    term = None if found is None else made_by(found.term, "arith.mulf", "arith.muli")
    if found is None or term is None or found.combiner not in ("arith.addf", "arith.addi"):
        return False
    converted = [(v, made_by(v, *_CONVERSIONS)) for v in term.operands]
    return {v if op is None else op.operands[0] for v, op in converted} == set(list(body_of(op).arguments)[:2])
