"""A masked load that gathers the elements under a convolution's filter from images → a load of
pixels by a tensor map (`hardware/hopper/tensor_maps.py`).

    X[n, 2·oh + kh - 1, 2·ow + kw - 1, c]   of   n, oh, ow = digits of m,   kh, kw, c = digits of k

m increases along the rows of the tile. Its digits, in order, are the subscripts of the images,
times a step, plus terms that are the same in all rows. So the rows are consecutive pixels of a
window, which has as many pixels along each axis as the digit has values. (`as-gemm` omits digits
with a single value; the window then has one pixel along the axis.) The remaining terms of the
subscripts, the tap, must be the same in the whole tile. The columns of the tile are adjacent
channels.

The mask may test that subscripts are inside the images, and that m is below the number of all
pixels: zeros are loaded for elements outside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

from ...dsl.records import record
from ..buffers.wide_accesses import MaskedLoad
from ..hardware.hopper.mbarriers import ADDRESS, POINTER
from ..hardware.hopper.tensor_maps import LOAD_PIXELS, POINTER_OF
from ..hardware.limits import CORNERS, OFFSETS, PixelWindow
from ..indices.arithmetic import Terms, index_of, sum_of, terms_of, value_of
from ..indices.digits import Size, digits_of
from ..indices.linear import Linear
from ..indices.neighbours import Neighbours
from ..indices.values import KnownIndices
from ..ir.cloning import index_dimension
from ..ir.mlir import arith, constant_of, ir, made_by, operations, producer
from ..ir.sizes import same_size, size_of
from ..ir.structured import shape_of
from ..memory.layouts import value_name

Refused = Callable[[str, str], Exception]
"""Creates the error from a reason and a hint."""
ELSE = "promote an operand whose tiles are boxes, or `map` the copy to `threads(*) cyclic`"


@record
class Pixels:
    """The pixels that fill a tile: images, window, first element and tap; axes are in order,
    outermost first.

    Args:
        first: emits the coordinates of the first element of a row, at the insertion point.
    """

    images: ir.Value
    window: PixelWindow
    first: Callable[[Linear], tuple[Linear, ...]]
    tap: tuple[Linear, ...]


@record
class _Axis:
    """A subscript other than the last, split into terms that depend on the number of the row, times
    `step`; terms that depend on the number of the column (`tap`); and a constant. `count`: the
    number of pixels along the axis; None if unknown."""

    row: Terms
    step: int
    tap: Terms
    offset: int
    count: Size


@record
class Gathered:
    """The masked load of `op`, a copy to a tile of rows and columns. `refused`: makes the error, as
    in `Refused`."""

    op: ir.Operation
    load: MaskedLoad
    refused: Refused

    @cached_property
    def images(self) -> ir.Value:
        return self.load.load.operands[0]

    @cached_property
    def subscripts(self) -> list[ir.Value]:
        return list(self.load.load.operands)[1:]

    @cached_property
    def by_row(self) -> Neighbours:
        return self._along(0)

    @cached_property
    def by_column(self) -> Neighbours:
        return self._along(1)

    def _along(self, dimension: int) -> Neighbours:
        own = [op.results[0] for op in operations(self.op, "linalg.index") if index_dimension(op) == dimension]
        return Neighbours(own, 2)

    def pixels(self, columns: int) -> Pixels:
        """The pixels that fill the tile; the tap is emitted at the insertion point. Raises
        W0405."""
        rank = len(self.subscripts)
        if rank not in CORNERS:
            many = f"gathers from {rank} dimensions, and tensor maps have pixels of images with one to three axes, and channels"
            raise self.refused(many, ELSE)
        self._expect_channels(columns)
        axes = [self._axis(subscript) for subscript in self.subscripts[:-1]]
        number = self._number_of_row(axes)
        axes = self._counted(axes, number)
        self._expect_mask(number, axes)
        inner = axes[1:]
        self._expect_taps(inner, rank)
        upper = (self._upper(at, axis, rank) for at, axis in enumerate(inner, 1))
        window = PixelWindow(tuple(axis.offset for axis in inner), tuple(upper), tuple(axis.step for axis in inner))

        def first(row: Linear) -> tuple[Linear, ...]:
            copies, channel = self.load.values([value_of(row), value_of(0)]), self.subscripts[-1]
            return (*(_there(copies, axis.row, axis.offset) for axis in axes), index_of(copies.get(channel, channel)))

        copies = self.load.values([value_of(0)] * 2)
        return Pixels(self.images, window, first, tuple(_there(copies, axis.tap) for axis in inner))

    # ---- rows and columns --------------------------------------------------------------------------------------------

    def _expect_channels(self, columns: int) -> None:
        """Checks that the columns are channels of one tap."""
        at, channel, choice = Neighbours(self.by_column.last, columns), self.subscripts[-1], self.load.choice
        if self.by_row.varies(channel) or not self.by_column.varies(channel):
            raise self._no_pixels("its columns are not channels, which are adjacent in memory")
        tests = [] if choice is None else [made for made in _conjuncts(choice.operands[0]) if made is not None]
        steady = [*self.subscripts[:-1], *(operand for test in tests for operand in test.operands)]
        if not all(map(at.steady, steady)) or not at.steps(channel):
            raise self.refused(
                f"takes tiles of {columns} columns, which may be of more than one tap of the filter",
                f"`assume` that the channels are a multiple of {columns}, with `versions` for others; or take narrower"
                f" tiles",
            )

    def _axis(self, subscript: ir.Value) -> _Axis:
        total = sum_of(subscript)
        terms = terms_of(total)
        tap = [(value, factor) for value, factor in terms if self.by_column.varies(value)]
        row = [(value, factor) for value, factor in terms if not self.by_column.varies(value)]
        own = [(value, factor) for value, factor in row if self.by_row.varies(value)]
        made = made_by(own[0][0], "affine.delinearize_index") if len(own) == 1 else None
        if len(own) > 1 or any(factor < 1 for _, factor in terms) or (row and not own) or (made and len(row) > 1):
            raise self._no_pixels("a subscript is not a multiple of one digit of its row's number plus a tap")
        count: Size = 1 if not own else None if made is None else dict(digits_of(made))[own[0][0]]
        return _Axis(row, own[0][1] if own else 1, tap, total.constant, count)

    def _number_of_row(self, axes: Sequence[_Axis]) -> Linear:
        """The number of the pixel in a row: the number m that the digits decompose."""
        used = [axis for axis in axes if axis.row]
        made = made_by(used[0].row[0][0], "affine.delinearize_index") if used else None
        if made is not None and [value for axis in used for value, _ in axis.row] == list(made.results):
            number = made.operands[0] if self.by_row.advances(made.operands[0]) else None
            found = None if number is None else self.by_row.form(number)
        elif made is None and len(used) == 1 and all(factor % used[0].step == 0 for _, factor in used[0].row):
            row, step = used[0].row, used[0].step
            found = sum((self.by_row.form(value) * (factor // step) for value, factor in row), start=Linear.of())
        else:  # a single pixel: the mask selects row 0
            choice = self.load.choice
            tests = (
                [] if used or choice is None else [test for test in _conjuncts(choice.operands[0]) if test is not None]
            )
            rows = [test.operands[0] for test in tests if self.by_row.varies(test.operands[0])]
            found = self.by_row.form(rows[0]) if rows and self.by_row.advances(rows[0]) else None
        if found is None or axes[0].tap or axes[0].offset or axes[0].step != 1:
            raise self._no_pixels("its rows are not consecutive pixels")
        if not axes[0].row and not same_size(size_of(self.images, 0), 1):
            raise self._no_pixels("it stays in one of several images")
        return found

    def _counted(self, axes: Sequence[_Axis], number: Linear) -> list[_Axis]:
        """The axes, where one unknown count is derived: it is the number of all pixels divided by
        the other counts. The mask states the number of all pixels; if it does not, all rows of all
        blocks are pixels."""
        unknown = [axis for axis in axes[1:] if axis.count is None]
        for test in [] if self.load.choice is None or len(unknown) != 1 else _conjuncts(self.load.choice.operands[0]):
            if (
                test is None
                or _predicate(test) != arith.CmpIPredicate.slt
                or self.by_row.form(test.operands[0]) != number
            ):
                continue
            others = [size_of(self.images, 0), *(axis.count for axis in axes[1:] if axis.count is not None)]
            whole, left = self._divided(_factors([test.operands[1]]), _factors(others))
            count = None if whole is None or len(left) > 1 or (left and whole != 1) else left[0] if left else whole
            return [replace(axis, count=count) if axis is unknown[0] else axis for axis in axes]
        return [replace(axis, count=self._rows(axis)) if axis.row and axis in unknown else axis for axis in axes]

    def _rows(self, axis: _Axis) -> int | None:
        """An upper bound on the number of rows, for a single image with a single axis, where the
        only digit is the row's number."""
        known, last = KnownIndices(self.op), 0
        for value, factor in axis.row:
            own = value in self.by_row.last
            top = shape_of(self.op.operands[0])[0] if own else known.linear(value).bounds()[1]
            if top is None or made_by(value, "affine.delinearize_index") is not None:
                return None
            last += factor // axis.step * (top - own)
        return last + 1

    def _divided(self, product: Product, by: Product) -> tuple[int | None, list[ir.Value]]:
        """The quotient of two products; None if the divisor is not a factor."""
        left = list(product[1])
        for one in by[1]:
            found = next((other for other in left if self.by_row.same(one, other)), None)
            if found is None:
                return None, []
            left.remove(found)
        return (None, []) if product[0] % by[0] else (product[0] // by[0], left)

    def _expect_taps(self, axes: Sequence[_Axis], rank: int) -> None:
        """Checks that the taps fit the bits of the instruction."""
        for axis in axes:
            far: int | None = 0
            for value, factor in axis.tap:
                made = made_by(value, "affine.delinearize_index")
                values = None if made is None else dict(digits_of(made))[value]
                known = values if isinstance(values, int) else None if values is None else constant_of(values)
                far = None if known is None or far is None else far + factor * (known - 1)
            if far is None or far >= 1 << OFFSETS[rank]:
                reach = "without a known end" if far is None else f"up to {far} away"
                raise self.refused(f"reads taps {reach}: those of a tensor map are below {1 << OFFSETS[rank]}", ELSE)

    # ---- where -------------------------------------------------------------------------------------------------------

    def _upper(self, number: int, axis: _Axis, rank: int) -> int:
        """The upper corner of the window, such that the window has as many pixels along the axis as
        the digit has values."""
        size, most = ir.MemRefType(self.images.type).shape[number], 1 << CORNERS[rank]
        count = constant_of(axis.count) if isinstance(axis.count, ir.Value) else axis.count
        if count is not None and size >= 0:
            return axis.offset + (count - 1) * axis.step + 1 - size
        if isinstance(axis.count, ir.Value) and size < 0:
            along, wanted = (self.by_row.form(value_of(n)) for n in (size_of(self.images, number), axis.count))
            for upper in range(-most, most):
                if (along + (upper - axis.offset - 1)).floordiv(axis.step) + 1 == wanted:
                    return upper
        raise self.refused(
            f"takes pixels along axis {number} of `{value_name(self.images)}`, and their number is not known",
            ELSE,
        )

    def _expect_mask(self, number: Linear, axes: Sequence[_Axis]) -> None:
        kinds = arith.CmpIPredicate
        for test in [] if self.load.choice is None else _conjuncts(self.load.choice.operands[0]):
            kind = None if test is None else _predicate(test)
            index, bound = (None, None) if test is None else test.operands
            axis = None if index is None else self._inner(index)
            if axis is not None and kind == kinds.sge and constant_of(bound) == 0:
                continue
            below = index is not None and kind in (kinds.slt, kinds.ult)
            if below and axis is not None and same_size(bound, size_of(self.images, axis)):
                continue
            if below and self.by_row.form(index) == number and self._is_all(bound, axes):
                continue
            raise self.refused(
                "reads under a mask that tests more than the end of its operand: zeros begin elsewhere",
                "`tile` by sizes with which the last tile ends where the operand ends, then `promote-to-shared` it",
            )

    def _inner(self, index: ir.Value) -> int | None:
        """The axis between images and channels with this subscript."""
        inner = range(1, len(self.subscripts) - 1)
        return next((axis for axis in inner if self.by_row.same(index, self.subscripts[axis])), None)

    def _is_all(self, bound: ir.Value, axes: Sequence[_Axis]) -> bool:
        """Whether a bound is the number of all pixels."""
        counts = [size_of(self.images, 0), *(axis.count for axis in axes[1:])]
        if any(n is None for n in counts):
            return False
        return self._divided(_factors([bound]), _factors([n for n in counts if n is not None])) == (1, [])

    def _no_pixels(self, why: str) -> Exception:
        return self.refused(f"gathers elements that are neither a box nor pixels of images: {why}", ELSE)


def _there(copies: dict[ir.Value, ir.Value], terms: Terms, constant: int = 0) -> Linear:
    return sum((index_of(copies.get(value, value)) * factor for value, factor in terms), Linear.of(constant))


def _conjuncts(mask: ir.Value) -> list[ir.Operation | None]:
    """The conjuncts of a mask, which are comparisons; None for any other conjunct."""
    made = producer(mask)
    if made is not None and made.name == "arith.andi":
        return [test for operand in made.operands for test in _conjuncts(operand)]
    return [made if made is not None and made.name == "arith.cmpi" else None]


def _predicate(test: ir.Operation) -> arith.CmpIPredicate:
    return arith.CmpIPredicate(ir.IntegerAttr(test.attributes["predicate"]).value)


Product = tuple[int, list["ir.Value"]]
"""A constant, and the sizes that it is multiplied by."""


def _factors(sizes: Sequence[int | ir.Value]) -> Product:
    """The product of sizes, as a constant and symbolic factors."""
    number, values, waiting = 1, list[ir.Value](), list(sizes)
    while waiting:
        size = waiting.pop()
        known = size if isinstance(size, int) else constant_of(size)
        product = None if isinstance(size, int) else made_by(size, "arith.muli")
        if known is not None:
            number *= known
        elif product is not None:
            waiting += product.operands
        else:
            values.append(size)
    return number, values


def load_pixels(
    to: ir.Value, given: ir.Value, coordinates: Sequence[ir.Value], tap: Sequence[Linear], barrier: tuple[ir.Value, ir.Value],
    blocks: ir.Value | None,
) -> None:  # fmt: skip
    """Emits a load of pixels at the insertion point: to the tile `to`, by the map `given`, with its
    bytes counted on a barrier. `blocks`: the multicast mask of a cluster."""
    i16, i32, i64 = (ir.IntegerType.get_signless(bits) for bits in (16, 32, 64))
    pointer, shared, of_cluster = (ir.Type.parse(f"!llvm.ptr{space}") for space in ("", "<3>", "<7>"))
    address = ir.Operation.create(ADDRESS, results=[i64], operands=list(barrier)).results[0]
    at = ir.Operation.create(POINTER, results=[shared], operands=[address]).results[0]
    tile, of = (
        ir.Operation.create(POINTER_OF, results=[kind], operands=[value]).results[0]
        for kind, value in ((of_cluster, to), (pointer, given))
    )
    place = [arith.IndexCastOp(i32, value).result for value in coordinates]
    offsets = [arith.IndexCastOp(i16, value_of(distance)).result for distance in reversed(tap)]
    mask = [] if blocks is None else [blocks]
    ir.Operation.create(
        LOAD_PIXELS,
        operands=[tile, of, *place, at, *offsets, *mask],
        attributes={
            "mode": ir.Attribute.parse("#nvvm.tma_load_mode<im2col>"),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, len(place), 1, len(offsets), len(mask), 0, 0]),
        },
    )
