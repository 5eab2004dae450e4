"""A convolution read as a matrix product: the loop dimensions that form its rows, columns and sum.

Result dimensions that only the image has (batch, rows and columns of the output) form one side of
the product, and those that only the filter has form the other; dimensions of both form a batch of
products; the summed ones form the sum of the product. Adjacent dimensions of one kind in the result
(for summed ones: in the filter) are combined into one dimension of the product: `n, oh, ow` of NHWC
form its rows, `kh, kw, c` of HWCF its sum. For NCHW, `oh, ow` form its columns and `n` a batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import prod
from typing import Literal

from ....dsl.diagnostics import fail
from ....dsl.records import record
from ...indices.algebra import Algebra, LaunchShape
from ...indices.linear import Linear, Symbol
from ...ir.mlir import ir
from ...ir.sizes import SizeForm, difference, extent_forms, forms_of
from ...ir.structured import Structure, beside_products, operand_names, shape_of, structure

MOST_DIMENSIONS = 64
Side = Literal["image", "filter", "both", "sum"]


@record
class LoopAxis:
    """One subscript of the image: `Σ factor · d + offset`, e.g. `2·oh + kh - 1`.

    Args:
        factors: by loop dimension; a stride for an output dimension, a dilation for a filter
            dimension.
        offset: the constant term: minus the padding before the axis.
        size: the number of elements of the axis.
    """

    factors: Mapping[int, int]
    offset: int
    size: SizeForm

    def without(self, dimensions: Sequence[int]) -> LoopAxis:
        """The axis without `dimensions`, which are always 0."""
        return LoopAxis({d: f for d, f in self.factors.items() if d not in dimensions}, self.offset, self.size)

    def reach(self, extents: Sequence[SizeForm]) -> tuple[int, SizeForm | None]:
        """The smallest and the largest subscript; None for the latter if it is no form of a size.
        Factors are 1 or more."""
        ends = [(extents[d] - 1, factor) for d, factor in self.factors.items()]
        known = self.offset + sum(end * factor for end, factor in ends if isinstance(end, int))
        match [each for each in ends if not isinstance(each[0], int)]:
            case []:
                return self.offset, known
            case [(end, 1)]:
                return self.offset, end + known
        return self.offset, None


def linear(expr: ir.AffineExpr) -> tuple[dict[int, int], int] | None:
    """An affine expression as factors by dimension and a constant; None if it is no such sum."""
    dimensions = {Symbol(f"d{d}", "parameter"): d for d in range(MOST_DIMENSIONS)}
    whole = ir.AffineMap.get(MOST_DIMENSIONS, 0, [expr])
    (form,) = Algebra(LaunchShape()).affine_map(whole, [Linear.of(symbol) for symbol in dimensions])
    factors = {number: form.terms[symbol] for symbol, number in dimensions.items() if symbol in form.terms}
    return None if len(factors) < len(form.terms) else (factors, form.constant)


@record
class Group:
    """Dimensions of the convolution that form one dimension of the product, the last one running
    fastest."""

    side: Side
    dimensions: tuple[int, ...]


@record
class ConvolutionProblem:
    """A convolution, read as a matrix product.

    Args:
        image, filter: the positions of the two operands.
        extents: the extents of the convolution's own dimensions.
        axes: the subscripts of the image, without its padding.
        groups: the dimensions of the product: those of the result in its order, then the summed
            ones in the order of the filter.
        filter_groups: the numbers of the groups that the filter has, in its order.
    """

    space: Structure
    extents: tuple[SizeForm, ...]
    image: int
    filter: int
    axes: tuple[LoopAxis, ...]
    groups: tuple[Group, ...]
    filter_groups: tuple[int, ...]

    @property
    def windows(self) -> tuple[int, ...]:
        """The axes of the image that the filter's window moves along."""
        return tuple(number for number, axis in enumerate(self.axes) if len(axis.factors) > 1)

    def names(self, group: int) -> tuple[str, ...]:
        """The names of a group's indices in kernels: `n, oh, ow` and `kh, kw, c` for a
        two-dimensional convolution."""
        named: dict[int, str] = {}
        for number, place in zip(reversed(self.windows), "whd", strict=False):
            axis = self.axes[number]
            named.update({d: ("o" if self.space.iterators[d] == "parallel" else "k") + place for d in axis.factors})
        rest = {"image": "n", "filter": "f", "both": "g", "sum": "c"}
        return tuple(named.get(d, rest[self.groups[group].side]) for d in self.groups[group].dimensions)

    def description(self, padded: bool) -> str:
        """A description: `a product of 196×16, summed over 36; its left operand is the image, read
        in place, its padding a mask`."""
        sizes = [[self._extent(g) for g in groups] for groups in (self.result_groups, self.summed)]
        product = "a product of {}, summed over {}".format(*map("×".join, sizes))
        side, padding = "left" if self.image_is_left else "right", ", its padding a mask" if padded else ""
        return f"{product}; its {side} operand is the image, read in place{padding}"

    def _extent(self, group: int) -> str:
        extents = [self.space.extents[d] for d in self.groups[group].dimensions]
        return "?" if None in extents else str(prod(n for n in extents if n is not None))

    @property
    def result_groups(self) -> tuple[int, ...]:
        return tuple(i for i, g in enumerate(self.groups) if g.side != "sum")

    @property
    def summed(self) -> tuple[int, ...]:
        return tuple(i for i, g in enumerate(self.groups) if g.side == "sum")

    @property
    def image_is_left(self) -> bool:
        """Whether the image's side comes first in the result: then it is the left operand."""
        sides = [self.groups[i].side for i in self.result_groups]
        last_image = max(i for i, s in enumerate(sides) if s == "image")
        return last_image < max(i for i, s in enumerate(sides) if s == "filter")

    @property
    def image_groups(self) -> tuple[int, ...]:
        """The numbers of the groups that the image has: rows and sum, or batches, sum and columns."""
        own = [i for i in self.result_groups if self.groups[i].side != "filter"]
        if self.image_is_left:
            return (*own, *self.summed)
        return (*own[:-1], *self.summed, own[-1])


def read(op: ir.Operation) -> ConvolutionProblem:
    """The convolution `op` as a matrix product.

    Raises W0440, W0441, W0443 or W0444 if it is none. Sizes known only at run time are checked
    before a run.
    """
    space = _space(op)
    extents = extent_forms(op, space)
    image, axes = _image(op, space, extents)
    kernel = 1 - image
    sides = _sides(space, axes, kernel)
    order, summed = ([_position(e) for e in m.results] for m in (space.maps[-1], space.maps[kernel]))
    parts = [  # adjacent dimensions of one side; those of both sides one by one
        *(part for side, same in _runs(order, sides) for part in ([(d,) for d in same] if side == "both" else [same])),
        *(same for side, same in _runs(summed, sides) if side == "sum"),
    ]
    groups = tuple(Group(sides[part[0]], part) for part in parts)
    _has_both_sides(op, space, axes, groups)
    return ConvolutionProblem(space, tuple(extents), image, kernel, axes, groups, _filter_groups(space, groups, kernel))


def _space(op: ir.Operation) -> Structure:
    space = structure(op)
    if space.inputs == 4:
        raise fail(
            "W0440",
            f"{op.name} subtracts zero points from its operands, which a product does not",
            "subtract them in an op before it, or `tile` and `map` the convolution itself",
        )
    windowed = "reduction" in space.iterators and not all(m.is_projected_permutation for m in space.maps)
    if windowed and operand_names(op) != ("lhs", "rhs", "acc") and (others := beside_products(op)):
        named = ", ".join(f"`{name}`" for name in others)
        raise fail(
            "W0440",
            f"the body of {op.name} does more than add up products of an image and a filter: {named}",
            "leave the convolution a plain one, and do this in an elementwise op before or after it,"
            " which `fuse` takes along",
        )
    if operand_names(op) != ("lhs", "rhs", "acc"):
        raise fail(
            "W0440",
            f"{op.name} adds up no products of an image and a filter",
            "`tile` and `map` it as it is, like pooling and elementwise ops",
        )
    if 0 in space.extents:
        _expect_room(op, space)
        raise fail(
            "W0443",
            "the convolution has a dimension of size 0, and computes nothing",
            "give each dimension of the convolution a size of `1` or more in the payload",
            notes=(f"dimensions {space.text()}",),
        )
    return space


def _expect_room(op: ir.Operation, space: Structure) -> None:
    """Raises W0443 if the result is empty because the filter is larger than the image."""
    for operand in range(space.inputs):
        axes = zip(space.maps[operand].results, shape_of(op.operands[operand]), strict=True)
        for number, (expr, size) in enumerate(axes):
            factors = (linear(expr) or ({}, 0))[0]
            taps = {d: space.extents[d] for d in factors if space.iterators[d] == "reduction"}
            reach = 1 + sum(((n or 0) - 1) * factors[d] for d, n in taps.items())
            if len(factors) > 1 and size is not None and all(taps.values()) and size < reach:
                raise fail(
                    "W0443",
                    f"the filter reaches over {reach} elements along axis {number} of the image, which has {size}: no"
                    f" window of it "
                    "stays inside, and the result is empty",
                    "make the filter smaller in the payload, or pad the image by `tensor.pad`",
                )


def _image(op: ir.Operation, space: Structure, extents: Sequence[SizeForm]) -> tuple[int, tuple[LoopAxis, ...]]:
    """The position and the subscripts of the operand that a window moves over. Raises W0440 or
    W0443."""
    windowed = [i for i in range(space.inputs) if not space.maps[i].is_projected_permutation]
    if len(windowed) != 1 or not space.maps[1 - windowed[0]].is_projected_permutation:
        raise fail(
            "W0440",
            f"{op.name} is not a convolution: no window of a filter moves over one of its operands",
            "`tile` it as it is, if it is a matrix product",
        )
    position = windowed[0]
    axes: list[LoopAxis] = []
    for expr, size in zip(space.maps[position].results, forms_of(op.operands[position]), strict=True):
        found = linear(expr)
        if found is None:
            raise fail("W0440", f"the image is indexed with {expr}, which is not a sum of dimensions")
        axes.append(LoopAxis(*found, size))
    for number, axis in enumerate(axes):
        for d, factor in axis.factors.items():
            if factor < 1:
                kind = "stride" if space.iterators[d] == "parallel" else "dilation"
                what = f"a {kind} of {factor} along axis {number} of the image"
                raise fail("W0443", what, f"write 1 or more in the payload, such as `{kind}s = dense<1>`")
        low, high = axis.reach(extents)
        beyond = None if high is None else difference(high, axis.size)
        if low < 0 or (beyond is not None and beyond >= 0):
            extent = f"axis {number} of the image has {axis.size} elements"
            raise fail("W0443", f"{extent}, and the window reaches from {low} to {high}")
    return position, tuple(axes)


def _sides(space: Structure, axes: Sequence[LoopAxis], kernel: int) -> list[Side]:
    of_image = {d for axis in axes for d in axis.factors}
    of_filter = {_position(e) for e in space.maps[kernel].results}
    sides: list[Side] = []
    for d in range(space.rank):
        if space.iterators[d] == "reduction":
            if d not in of_filter:
                raise fail("W0440", f"dimension d{d} is summed over, and the filter does not have it")
            sides.append("sum")
        elif d in of_image and d in of_filter:
            sides.append("both")
        else:
            sides.append("image" if d in of_image else "filter")
    return sides


def _position(expr: ir.AffineExpr) -> int:
    assert isinstance(expr, ir.AffineDimExpr), "a projected permutation has dimensions alone"
    return expr.position


def _runs(order: Sequence[int], sides: Sequence[Side]) -> list[tuple[str, tuple[int, ...]]]:
    """The maximal runs of adjacent dimensions of one side."""
    return [(side, tuple(same)) for side, same in groupby(order, key=lambda d: sides[d])]


def _has_both_sides(op: ir.Operation, space: Structure, axes: Sequence[LoopAxis], groups: Sequence[Group]) -> None:
    sides = [g.side for g in groups]
    moving = {d for axis in axes if len(axis.factors) > 1 for d in axis.factors}
    channels = [d for g in groups if g.side == "sum" for d in g.dimensions if d not in moving]
    reason = None
    if "both" in sides and not channels:
        reason = "is depthwise: each channel of the result sees a single channel of the image, so that nearly nothing is used twice"
    elif "filter" not in sides:
        reason = "has a single filter, so that the product would be one of a matrix and a vector"
    if reason is not None:
        raise fail(
            "W0441",
            f"{op.name} {reason}",
            "`tile` the convolution itself, `promote-to-shared` its image, and `map` the tiles",
            notes=(f"dimensions {space.text()}",),
        )
    if "image" not in sides or "sum" not in sides:
        raise fail("W0440", f"{op.name} has no dimension to make rows or a sum of: dimensions {space.text()}")


def _filter_groups(space: Structure, groups: Sequence[Group], kernel: int) -> tuple[int, ...]:
    """The dimensions of the product in the order of the filter's axes. Raises W0444 if they have
    another order there."""
    order = [_position(e) for e in space.maps[kernel].results]
    found: list[int] = []
    while order:
        number = next((i for i, g in enumerate(groups) if order[0] in g.dimensions), None)
        if number is None or tuple(order[: len(groups[number].dimensions)]) != groups[number].dimensions:
            raise fail(
                "W0444",
                "the filter's axes have another order than the result's, so that it is not a matrix without a copy",
                "`linalg.transpose` the filter in the payload, before the convolution",
            )
        found.append(number)
        order = order[len(groups[number].dimensions) :]
    return tuple(found)
