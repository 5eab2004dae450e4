"""Products of lanes → one asynchronous instruction of the warp group, on tiles in shared memory.

    for i, j, h { acc[i, j, h, …] += lhs[64·i + 16·warp + 8·h + lane / 4, :] · rhs[:, 8·j + …] }
    →   A = generate.descriptor A_shared[%s, 64 · group …], A_map;  B = generate.descriptor B_shared[%s, …], B_map
        sums = warpgroup.mma A, B, sums                  (sums: carried by the loop around, an accumulator of 64 x n elements)

`hardware/hopper/warpgroups.py` defines a thread's fragment of the accumulator; the maps that `mma`
made define the thread's elements of the result. Both are the same elements, so that the thread's
array is converted to the accumulator before the loop, and filled from it after the loop. If
operands are split into sums of two numbers, the accumulator begins at zero in each step, and is
then added to the array.
"""

from __future__ import annotations

from collections.abc import Mapping as Table
from collections.abc import Sequence
from itertools import takewhile
from math import prod

from ...buffers.asynchronous_copies import is_zero_constant
from ...buffers.tensor_copies import OVERLAP
from ...hardware.ampere import fragments
from ...hardware.ampere.fragments import AS_TYPE, TileProduct
from ...hardware.hopper.tensor_maps import tensor_map
from ...hardware.hopper.warpgroups import (
    BEGIN,
    COMMIT,
    END,
    MMA_ASYNC,
    OPERANDS,
    ROWS,
    SAME,
    STEP,
    SUM_BYTES,
    attributes_of,
    held_type,
    panel_layout,
    sums_type,
)
from ...indices.arithmetic import bound_of, divide, value_of
from ...indices.linear import Linear
from ...ir.copying import fill_value
from ...ir.mlir import (
    ahead_of,
    ancestors,
    arith,
    attributes,
    i64,
    ir,
    is_within,
    maker,
    nvgpu,
    operations,
    ops_of,
    scf,
    vector,
)
from ...ir.structured import body_of, element_type
from ...layouts.layout import Layout
from ...mapping.processors import for_each
from ...memory.views import is_view, root_memref
from ..boxes import place_of
from ..panels import Panels
from .product import Product, cloned

HELD = "; or let the threads make it in registers, as `mma` cuts its result"


class GroupProduct(Product):
    """A product for a warp group."""

    by = "threads"
    unmasked = "stage both operands by `promote-to-shared`, and `map` the copies `to tma`"

    def __init__(self, op: ir.Operation, product: TileProduct, filled: Table[ir.Value, Panels]) -> None:
        super().__init__(op, product)
        self.filled, self.taken = filled, OPERANDS[product.kind]
        self.held = ir.MemRefType(self.array.type)
        self.outer = self.pieces[-1] if self.pieces else op
        self.by_instruction = product.sum in self.taken.by_instruction

    def rewrite(self) -> None:
        n, kind, total = self.product.n, self.held.element_type, prod(self.held.shape)
        height, depth = (
            ROWS * (total * 2 // n),
            ir.MemRefType(self.op.operands[1].type).shape[self.on[1].index(self.summed)],
        )
        whole = sums_type(self.product, height)
        own, of_thread = (ir.VectorType.get(shape, kind) for shape in (self.held.shape, [height // ROWS, n // 8, 2, 2]))
        with ahead_of(self.outer):
            lhs, flipped = (
                self._descriptor(0, height, depth) if self.registers is None else (self._held(height, depth), False)
            )
            if flipped:
                raise self.refused(
                    "the sum does not run along the rows of the left operand in memory",
                    "interchange the operands, or transpose the left one before the kernel",
                )
            rhs, along = self._descriptor(1, n, depth)
        if fragments.in_parts(self.op):
            with ahead_of(self.outer):
                self._add(
                    _as(of_thread, self._multiplied(lhs, rhs, self._zero(whole, of_thread), depth, transposed=along))
                )
            return self.outer.erase()
        loops = self._loops()
        start = loops[-1] if loops else self.outer
        fill = self._zeros(start)
        with ahead_of(start):
            if fill is None:
                held = vector.LoadOp(own, self.array, [value_of(0)] * self.held.rank).result
                sums = _as(whole, vector.ShapeCastOp(of_thread, held).result)
            else:
                sums = self._zero(whole, of_thread)
                fill.erase()
        made = list[ir.Operation]()
        for loop in reversed(loops):
            made.append(_carrying(loop, sums))
            sums = body_of(made[-1]).arguments[1]
        flying = not self.by_instruction and self.registers is None and bool(made) and OVERLAP in made[-1].attributes
        with ahead_of(self.outer):
            last = self._multiplied(lhs, rhs, sums, depth, transposed=along, pending=int(flying))
        over = self.outer
        for loop in reversed(made):
            with ir.InsertionPoint(body_of(loop)):
                scf.YieldOp([last])
            last, over = loop.results[0], loop
            if flying and loop == made[-1]:
                del loop.attributes[OVERLAP]
                with ir.InsertionPoint.after(loop):
                    over = ir.Operation.create(END, attributes={"group": i64(0)})
        with ir.InsertionPoint.after(over):
            sums = vector.ShapeCastOp(own, _as(of_thread, last)).result
            vector.StoreOp(sums, self.array, [value_of(0)] * self.held.rank)
        self.outer.erase()

    def _multiplied(
        self, lhs: ir.Value, rhs: ir.Value, sums: ir.Value, depth: int, *, transposed: bool, pending: int = 0
    ) -> ir.Value:
        """The accumulator after the product. For products that `nvgpu.warpgroup.mma` lacks,
        instructions of NVVM are emitted, one after the other."""
        if not self.by_instruction:
            made = nvgpu.WarpgroupMmaOp(
                sums.type, lhs, rhs, sums, waitGroup=pending, transposeB=True if transposed else None
            )
            if (became := fragments.given_as(self.op)) is not None:
                made.attributes[AS_TYPE] = became
            return made.result
        word, matrices = ir.IntegerType.get_signless(64), list[tuple[ir.Value, Layout]]()
        for matrix in (lhs, rhs):
            lies = tensor_map(maker(matrix).opview.tensorMap.type)
            assert lies is not None, "a descriptor has a tensor map"
            matrices.append((_as(word, matrix), panel_layout(lies, 1, depth // self.product.k * SUM_BYTES)))
        attributes = {name: ir.Attribute.parse(f"#nvvm.{word}") for name, word in attributes_of(self.product).items()}
        ir.Operation.create(BEGIN)
        for byte in range(0, depth // self.product.k * SUM_BYTES, SUM_BYTES):
            at = list[ir.Value]()
            for first, places in matrices:
                more = places.at("address", byte=byte) // STEP
                at.append(arith.AddIOp(first, arith.constant(word, more)).result if more else first)
            sums = ir.Operation.create(MMA_ASYNC, [sums.type], [sums, *at], attributes).results[0]
        ir.Operation.create(COMMIT)
        ir.Operation.create(END, attributes={"group": i64(0)})
        return sums

    # ---- operands ----------------------------------------------------------------------------------------------------

    def _held(self, height: int, depth: int) -> ir.Value:
        """Multiplies with a left operand in registers: each thread holds its fragment."""
        if not self.taken.held:
            of = ", ".join(kind for kind, taken in OPERANDS.items() if taken.held)
            raise self.refused(
                f"a left operand of a warp group in registers is of {of}, and not of {self.product.kind}",
                "`promote-to-shared` it with a swizzle, and `map` the copy `to tma`",
            )
        if height != ROWS:
            raise self.refused(
                f"a left operand in registers has {ROWS} rows, and the tile of the warp group has {height}",
                f"tile the result for warp groups by [{ROWS}, {self.product.n}]",
            )
        part = cloned(self.op.operands[0], {}, self.outer)
        return _as(held_type(depth, element_type(part)), self.from_registers(part, self.registers or (), depth))

    def _descriptor(self, operand: int, length: int, depth: int) -> tuple[ir.Value, bool]:
        """The descriptor of the warp group's tile of an operand, of `length` rows or columns of the
        product and `depth` summands; and whether the sum runs across the rows in memory."""
        on, mine = self.on[operand], self.columns if operand else self.rows
        tile = self.whole_tile(operand, length, length, depth)
        buffer, starts, _ = place_of(tile)
        if buffer not in self.filled:
            raise self.refused(
                f"{'right' if operand else 'left'} operands of warp groups are tiles that tensor maps bring",
                f"`promote-to-shared` both with a swizzle, and `map` the copies `to tma`{'' if operand else HELD}",
            )
        panels = self.filled[buffer]
        across = on.index(self.summed) < on.index(mine)
        row, column = starts[-2], starts[-1]
        panel, rest = divide(column, panels.box.box[-1])
        if rest != Linear.of() or (across and row != Linear.of()) or (not across and column != Linear.of()):
            raise self.refused(
                "the sum of a warp group begins inside the staged tile",
                "`tile` the sum only once, by the length of the staged tile: `mma` makes several instructions of it",
            )
        kind, space = element_type(tile), ir.MemRefType(tile.type).memory_space
        if self.product.kind == "tf32":
            kind = ir.FloatTF32Type.get()
        if operand and across and not self.taken.transposable:
            raise self.refused(
                f"a right operand of {self.product.kind} is stored row by row, and the instruction takes it column by"
                " column",
                "`pack` the product before the kernel: a separate launch copies the operand as n x k",
            )
        if panels.box.swizzle != 128:
            raise self.refused(
                f"operands of warp groups are swizzled by 128 bytes, and this one is "
                f"{f'by {panels.box.swizzle}' if panels.box.swizzle else 'not'}",
                "`promote-to-shared … swizzle 128`, of tiles with rows of a multiple of 128 bytes",
            )
        held, wide = (depth, length) if across else (length, depth)
        seen = panels.at([bound_of(s) for s in starts[:-2]], bound_of(row), held, bound_of(panel))
        sizes = [length, depth] if operand == 0 else [depth, length]
        described = ir.Type.parse(
            f"!nvgpu.warpgroup.descriptor<tensor = {ir.MemRefType.get(sizes, kind, None, space)}>"
        )
        lies = panels.describing(held, -(-wide // panels.box.box[-1]))
        return nvgpu.WarpgroupGenerateDescriptorOp(described, seen, lies).result, across

    # ---- the accumulator ---------------------------------------------------------------------------------------------

    def _loops(self) -> list[ir.Operation]:
        """The loops, innermost first, in which the accumulator is only added to."""
        apart = [self.array.owner.operation, *(user for user in self._users() if not is_within(user, self.outer))]
        around = takewhile(lambda loop: not any(is_within(op, loop) for op in apart), ancestors(self.outer))
        return [*takewhile(lambda loop: loop.name == "scf.for", around)]

    def _users(self) -> list[ir.Operation]:
        """The ops that use the thread's array, or a view of it, in program order."""
        function = self.array.owner.operation.parent.operation
        takes = (
            (op, [root_memref(v) for v in op.operands if isinstance(v.type, ir.MemRefType)])
            for op in operations(function)
        )
        return [op for op, buffers in takes if self.array in buffers and not is_view(op)]

    def _zeros(self, start: ir.Operation) -> ir.Operation | None:
        """The op that fills the array with zeros, if no other op has used it before; else None."""
        order = {op: number for number, op in enumerate(operations(self.array.owner.operation.parent.operation))}
        before = [op for op in self._users() if order[op] < order[start]]
        zero = fill_value(before[0]) if len(before) == 1 else None
        if zero is None or not is_zero_constant(zero):
            return None
        return None if str(maker(zero).attributes["value"]).startswith("-") else before[0]

    def _zero(self, whole: ir.Type, of_thread: ir.VectorType) -> ir.Value:
        if not self.by_instruction:
            return nvgpu.WarpgroupMmaInitAccumulatorOp(whole).result
        element = of_thread.element_type
        zero = ir.IntegerAttr.get(element, 0) if isinstance(element, ir.IntegerType) else ir.FloatAttr.get(element, 0.0)
        return _as(whole, arith.ConstantOp(of_thread, ir.DenseElementsAttr.get_splat(of_thread, zero)).result)

    def _add(self, sums: ir.Value) -> None:
        """Adds the thread's fragment of an accumulator to its array, 8 columns of the warp's 16
        rows at a time."""
        shape = self.held.shape
        inner = next(rank for rank in range(1, len(shape) + 1) if prod(shape[-rank:]) == 4)
        counts, piece = shape[:-inner], ir.VectorType.get(shape[-inner:], self.held.element_type)

        def add(at: Sequence[Linear]) -> None:
            places = [*(value_of(e) for e in at), *[value_of(0)] * piece.rank]
            held = vector.LoadOp(piece, self.array, places).result
            of_sums = iter([place for place, count in zip(places, counts, strict=False) if count > 1])
            which = [next(of_sums) if size > 1 else value_of(0) for size in ir.VectorType(sums.type).shape[:2]]
            made = vector.ExtractOp(sums, which, [ir.ShapedType.get_dynamic_size()] * 2).result
            total = arith.AddFOp(held, vector.ShapeCastOp(piece, made).result).result
            vector.StoreOp(total, self.array, places)

        for_each(counts, add)


def _as(kind: ir.Type, given: ir.Value) -> ir.Value:
    """Converts an accumulator to the thread's fragment of it, or back; or a descriptor to an
    integer."""
    return ir.Operation.create(SAME, results=[kind], operands=[given]).results[0]


def _carrying(loop: ir.Operation, first: ir.Value) -> ir.Operation:
    """Replaces a loop by one that carries a value, and returns it; the caller adds the yielded
    value."""
    with ahead_of(loop):
        made = scf.ForOp(loop.operands[0], loop.operands[1], loop.operands[2], [first]).operation
    for name, attribute in attributes(loop).items():
        made.attributes[name] = attribute
    body = body_of(loop)
    body.arguments[0].replace_all_uses_with(body_of(made).arguments[0])
    place = ir.InsertionPoint(body_of(made))
    for op in ops_of(body)[:-1]:
        op.detach_from_parent()
        place.insert(op)
    loop.erase()
    return made
