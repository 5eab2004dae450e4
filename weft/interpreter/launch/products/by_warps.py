"""Products of lanes → one instruction of the warp.

    for i in 0..2 { acc[…, i] += lhs[16, 16][i · 8 + lane / 4, :] · rhs[16, 8][:, …] }
    →   A_frag[mi] = ldmatrix lhs;  B_frag[ni] = ldmatrix rhs      (before the loops over pieces, once each)
        acc[…, 0 … 1] = mma.sync A_frag[mi], B_frag[ni], acc[…, 0 … 1]

f32 operands that are to be split into sums of two numbers are split before `mma.sync`, which is
then issued three times. The first begins at zero; the total is added to the accumulator by
`arith.addf`, which rounds to nearest.

`hardware/ampere/fragments.py` defines a lane's fragment of each operand; the maps that `mma` made
define its elements of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...buffers.wide_accesses import offset_divisible
from ...hardware.ampere import fragments
from ...hardware.ampere.fragments import AS_TYPE, ROW_BYTES, SPLITS, TF32_BITS, TileProduct
from ...hardware.limits import WARP
from ...indices.arithmetic import trip_count, value_of
from ...indices.linear import Linear
from ...ir.element_sizes import element_bytes
from ...ir.functions import name_of, set_name
from ...ir.mlir import affine, ahead_of, arith, i64, ir, memref, nvgpu, producer, vector
from ...ir.structured import body_of, element_type, parts_of
from ...layouts.layout import Layout
from ...mapping.processors import Hardware, for_each
from ...memory.layouts import is_shared, strided, transposed
from ...memory.views import root_memref
from .product import Product, cloned, loaded, needs


class WarpProduct(Product):
    """A product for a warp."""

    by = "lanes"
    unmasked = "stage both operands by `promote-to-shared`, and tile the sum by a multiple of the instruction's k"

    def __init__(self, op: ir.Operation, product: TileProduct, hardware: Hardware) -> None:
        super().__init__(op, product)
        self.hardware = hardware
        self.split = ir.StringAttr(op.attributes[AS_TYPE]).value if AS_TYPE in op.attributes else None
        lhs = op.operands[0] if self.registers is not None else self.whole_tile(0, *product.shape)
        self.tiles = [lhs, self.whole_tile(1, *product.shape)]
        (left, right, _), summed = self.on, self.summed
        self.axes = [(left.index(self.rows), left.index(summed)), (right.index(summed), right.index(self.columns))]
        self.halves, self.inside = None, op
        if product.m > 8:
            if not self.pieces or self.pieces[0] != op.parent.operation or trip_count(self.pieces[0]) != product.m // 8:
                raise self.refused(
                    "the lanes do not all have a part of each piece",
                    "`map` a loop around the product to `warps`",
                )
            self.halves = self.inside = self.pieces.pop(0)

    def rewrite(self) -> None:
        lhs, rhs, number = self._array(0), self._array(1), element_type(self.acc)
        at, kind = self._accumulator()
        sums, became = ir.VectorType.get(self.product.vectors[2], number), fragments.given_as(self.op)
        with ahead_of(self.inside):
            held = total = vector.ShapeCastOp(sums, vector.LoadOp(kind, self.array, at).result).result
            shape = ir.ArrayAttr.get([i64(size) for size in self.product.shape])
            rounded = self.product.kind == "tf32" or None
            if in_parts := fragments.in_parts(self.op):
                total = arith.constant(sums, ir.DenseElementsAttr.get_splat(sums, ir.FloatAttr.get(number, 0.0)))
            for a, b in _products(self._terms(lhs()), self._terms(rhs())):
                made = nvgpu.MmaSyncOp(sums, a, b, total, mmaShape=shape, tf32Enabled=rounded)
                if became is not None:
                    made.attributes[AS_TYPE] = became
                total = made.result
            total = arith.AddFOp(held, total).result if in_parts else total
            vector.StoreOp(vector.ShapeCastOp(kind, total).result, self.array, at)
        self.inside.erase()

    def _terms(self, whole: ir.Value) -> list[ir.Value]:
        """The summands of each element of an operand, the large one first. For tf32 the large
        summand is the truncated value, which takes one instruction and cannot overflow; `mma.sync`
        rounds the small summand."""
        if self.split is None or SPLITS[self.split][1] == 1:
            return [whole]
        kind = ir.VectorType(whole.type)
        if self.product.kind == "bf16":
            narrow = ir.VectorType.get(kind.shape, ir.BF16Type.get())
            big = arith.TruncFOp(narrow, whole).result
            return [big, arith.TruncFOp(narrow, arith.SubFOp(whole, arith.ExtFOp(kind, big).result).result).result]
        bits = ir.VectorType.get(kind.shape, ir.IntegerType.get_signless(32))
        kept = ir.DenseElementsAttr.get_splat(bits, ir.IntegerAttr.get(bits.element_type, TF32_BITS))
        cut = arith.AndIOp(arith.BitcastOp(bits, whole).result, arith.ConstantOp(bits, kept).result).result
        big = arith.BitcastOp(kind, cut).result
        return [big, arith.SubFOp(whole, big).result]

    def _accumulator(self) -> tuple[list[ir.Value], ir.VectorType]:
        """The position of the current piece in the lane's array of the result; and the type of the
        vector that one instruction computes, with the lane's elements of both halves of the
        tile."""
        view = producer(self.acc)
        while view is not None and view.operands[0] != self.array:
            view = producer(view.operands[0])
        assert view is not None, "the accumulator is a view of an array of the thread's own"
        kind = ir.MemRefType(self.array.type)
        dimensions = ir.MemRefType(self.acc.type).rank + 2 * (self.halves is not None)
        with ahead_of(self.inside):
            copies = {} if self.halves is None else {_variable(self.halves): value_of(0)}
            offsets = parts_of(view)[0]
            at = [value_of(o) if isinstance(o, int) else cloned(o, copies, self.inside) for o in offsets]
        return at, ir.VectorType.get(kind.shape[-dimensions:], kind.element_type)

    # ---- fragments ---------------------------------------------------------------------------------------------------

    def _array(self, operand: int) -> Callable[[], ir.Value]:
        """Loads the fragments of all pieces, before the loops over them. Returns a function that
        gives the fragment of the current piece."""
        tile, part = self.tiles[operand], self.product.vectors[operand]
        loops = [loop for loop in self.pieces if needs(tile, loop)]
        counts = [trip_count(loop) or 0 for loop in reversed(loops)]
        kind = ir.Type.parse(self.product.kind) if self.split in ("f16", "bf16") else element_type(tile)
        outermost = self.pieces[-1] if self.pieces else self.inside
        whole = ir.VectorType.get(part, kind)
        with ahead_of(outermost):
            made = memref.AllocaOp(ir.MemRefType.get([*counts, *part], kind), [], [])
            set_name(made, f"{(name_of(root_memref(tile)) or 'tile').removesuffix('_shared')}_frag")
            array = made.result

            def fill(iterations: Sequence[Linear]) -> None:
                at = [value_of(one) for one in iterations]
                copies = {_variable(loop): i for loop, i in zip(reversed(loops), at, strict=True)}
                found = self._load(cloned(tile, copies, outermost), operand)
                if found.type != whole:
                    found = arith.TruncFOp(whole, found).result
                vector.StoreOp(found, array, [*at, value_of(0), value_of(0)])

            for_each(counts, fill)

        def fragment() -> ir.Value:
            at = [_variable(loop) for loop in reversed(loops)]
            return vector.LoadOp(whole, array, [*at, value_of(0), value_of(0)]).result

        return fragment

    def _load(self, tile: ir.Value, operand: int) -> ir.Value:
        """The lane's fragment of a tile."""
        if operand == 0 and self.registers is not None:
            return self.from_registers(tile, self.registers, self.product.k)
        held, part = self.product.fragments[operand], self.product.vectors[operand]
        if (along := _by_matrices(tile, self.axes[operand])) is None:
            return self._elements(tile, operand)
        places = self._place(fragments.rows_read(held, along), tile, operand)
        transposed = (
            held.at(along, lane=4) != 0
        )  # lanes with other rows of the instruction have adjacent elements in memory
        return nvgpu.LdMatrixOp(ir.VectorType.get(part, element_type(tile)), tile, places, transposed, part[0]).result

    def _elements(self, tile: ir.Value, operand: int) -> ir.Value:
        """Loads the elements of a fragment, one at a time, or all elements of a register at once if
        they are adjacent."""
        registers, each = self.product.vectors[operand]

        def place(register: int, element: int) -> list[ir.Value]:
            return self._place(self.product.fragments[operand], tile, operand, register=register, element=element)

        row = _row(tile, self.axes[operand][1 - operand], each) if each > 1 else None
        if row is None:
            elements = [memref.LoadOp(tile, place(r, j)).result for r in range(registers) for j in range(each)]
            return vector.FromElementsOp(ir.VectorType.get([registers, each], element_type(tile)), elements).result
        view, order = row
        return loaded(view, [[at[axis] for axis in order] for at in (place(r, 0) for r in range(registers))], each)

    def _place(self, held: Layout, tile: ir.Value, operand: int, **of: int) -> list[ir.Value]:
        """The index, in a tile, of an element that a layout assigns to the lane. Dimensions of the
        tile other than rows and columns have extent 1."""
        at, lane = dict[int, ir.Value](), value_of(self.hardware.lane().index)
        for axis, name in zip(self.axes[operand], ("row", "column"), strict=True):
            (form,) = held.form(name, "lane", WARP).results
            at[axis] = affine.AffineApplyOp(ir.AffineMap.get(1, 0, [form + held.at(name, **of)]), [lane]).result
        return [at[axis] if axis in at else value_of(0) for axis in range(ir.MemRefType(tile.type).rank)]


def _products(lhs: list[ir.Value], rhs: list[ir.Value]) -> list[tuple[ir.Value, ir.Value]]:
    """The pairs of summands to multiply, with the small products first; the product of two small
    summands is omitted."""
    count = len(lhs)
    return [(lhs[i], rhs[order - i]) for order in reversed(range(count)) for i in reversed(range(order + 1))]


def _row(tile: ir.Value, axis: int, count: int) -> tuple[ir.Value, list[int]] | None:
    """A view of the tile with `axis` as its last axis, along which vectors are loaded, and the
    order of its axes. None unless every `count` elements are adjacent in shared memory, at an
    aligned address. The view is transposed if the tile was staged transposed."""
    kind = ir.MemRefType(tile.type)
    strides, _ = strided(kind)
    others = [number for number in range(kind.rank) if number != axis]
    if not is_shared(kind) or strides[axis] != 1:
        return None
    if any(strides[number] % count for number in others) or not offset_divisible(tile, count):
        return None
    order = [*others, axis]
    return (tile if axis == kind.rank - 1 else transposed(tile, order)), order


def _by_matrices(tile: ir.Value, axes: tuple[int, int]) -> str | None:
    """The axis, row or column, along which elements are adjacent in memory; None if `ldmatrix`
    cannot load the tile.

    `axes`: the tile's axes along which rows and columns are counted.
    """
    kind = ir.MemRefType(tile.type)
    if not is_shared(kind) or element_bytes(kind.element_type) != 2 or kind.rank - 1 not in axes:
        return None
    strides, _ = strided(kind)
    down, along = (strides[axis] for axis in axes)
    row = ROW_BYTES // element_bytes(kind.element_type)
    if 1 not in (down, along) or (down if along == 1 else along) % row or not offset_divisible(tile, row):
        return None
    return "column" if along == 1 else "row"


def _variable(loop: ir.Operation) -> ir.Value:
    return body_of(loop).arguments[0]
