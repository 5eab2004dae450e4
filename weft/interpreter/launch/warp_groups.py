"""Products of warp groups that `mma` marked → one asynchronous instruction of the group, of tiles in shared memory.

    for i, j, h { acc[i, j, h, …] += lhs[64·i + 16·warp + 8·h + lane / 4, :] · rhs[:, 8·j + …] }
    →   A = generate.descriptor A_shared[%s, 64 · group …], A_map;  B = generate.descriptor B_shared[%s, …], B_map
        sums = warpgroup.mma A, B, sums                  (sums: carried by the loop around, an accumulator of 64 x n elements)

What a thread has of the accumulator is said in `warpgroups`, and what it owns of the result by the maps that `mma` made:
it is the same, so that the thread's array becomes the accumulator in front of the loop, and is filled with it behind. Operands that
are sums of two numbers each are multiplied by an accumulator that begins at zero in each step, and is added to the array there.
"""

from __future__ import annotations

from collections.abc import Mapping as Table
from collections.abc import Sequence
from math import prod

from ..buffers.tensor_copies import OVERLAP
from ..hardware.ampere.fragments import AS_TYPE, given_as, in_parts, marked
from ..hardware.hopper.tensor_maps import tensor_map
from ..hardware.hopper.warpgroups import (
    BEGIN,
    COMMIT,
    END,
    MMA_ASYNC,
    OPERANDS,
    ROWS,
    SAME,
    STEP,
    SUM_BYTES,
    panel_layout,
    sums_type,
)  # fmt: skip
from ..indices.arithmetic import bound_of, divide, value_of
from ..indices.linear import Linear
from ..ir.affine_maps import single_dimensions
from ..ir.mlir import (
    ahead_of,
    arith,
    attributes,
    i64,
    ir,
    is_within,
    made_by,
    maker,
    nvgpu,
    operations,
    ops_of,
    scf,
    users,
    vector,
)
from ..ir.refusing import refuse
from ..ir.structured import body_of, element_type, structure
from ..mapping.processors import for_each
from ..memory.views import behind, is_view
from .boxes import place_of
from .panels import Panels
from .tensor_cores import matrix_dimensions, needs, whole_tile


def use_warp_groups(function: ir.Operation, filled: Table[ir.Value, Panels]) -> None:
    """Rewrite all products that are marked for warp groups. `filled`: the shared buffers that tensor maps fill. Raises W0369."""
    for op in [op for op in operations(function) if marked(op) is not None]:
        with op.location:
            _GroupProduct(op, filled).rewrite()
    if (alone := next((op for op in operations(function, "scf.for") if OVERLAP in op.attributes), None)) is not None:
        raise refuse(
            "W0369", "nothing is in flight in a loop whose products are to overlap", alone,
            "leave `overlap` out: it is for products on `warpgroups`, directly in the loop, not of i8, nor of numbers in parts",
        )  # fmt: skip
    for buffer, panels in filled.items():
        if panels.buffer == buffer:
            continue
        for user in users(buffer):
            _expect_unread(user)
        ir.OpResult(buffer).owner.erase()


def _expect_unread(op: ir.Operation) -> None:
    """What is swizzled by a tensor map is read through its panels: views of the buffer that was there go. Raises W0405."""
    if not is_view(op) and op.name != "memref.dealloc":
        raise refuse(
            "W0405", "the op reads, element by element, a tile that a tensor map swizzles in panels", op,
            "let products of warp groups read it; or leave `swizzle` out",
        )  # fmt: skip
    for result in op.results:
        for user in users(result):
            _expect_unread(user)
    op.erase()


class _GroupProduct:
    """One marked product, with the loops that stand around it since maps became loops."""

    def __init__(self, op: ir.Operation, filled: Table[ir.Value, Panels]) -> None:
        self.op, self.filled = op, filled
        if len(op.operands) != 3:
            raise refuse(
                "W0369", "the product reads its operands under a mask, one element at a time", op,
                "stage both operands by `promote-to-shared`, and `map` the copies `to tma`",
            )  # fmt: skip
        self.acc = op.operands[2]
        found = matrix_dimensions(op)
        assert found is not None, "`mma` marks products of matrices"
        self.rows, self.columns, self.summed = found
        product = marked(op)
        assert product is not None
        self.product, self.kind, self.taken = product, product.kind, OPERANDS[product.kind]
        self.array = behind(self.acc)
        if made_by(self.array, "memref.alloca") is None:
            raise refuse(
                "W0369", "the threads' parts of the result are not in registers", op,
                "`promote-to-registers` the accumulator of what `mma` returns, across the outermost loop of the sum",
            )  # fmt: skip
        self.held = ir.MemRefType(self.array.type)
        self.outer = op
        while needs(self.acc, around := self.outer.parent.operation):
            self.outer = around

    def rewrite(self) -> None:
        n, total = self.product.n, prod(self.held.shape)
        height, depth = ROWS * (total * 2 // n), structure(self.op).extents[self.summed]
        assert depth is not None
        kind = self.held.element_type
        whole = ir.Type.parse(f"!nvgpu.warpgroup.accumulator<fragmented = vector<{height}x{n}x{kind}>>")
        if self.taken.by_instruction:
            whole = sums_type(n)
        of_thread = ir.VectorType.get([height // ROWS, n // 8, 2, 2], kind)
        with ahead_of(self.outer):
            lhs, flipped = self._descriptor(0, height, depth)
            if flipped:
                raise refuse("W0369", "the sum does not run along the rows of the left operand in memory", self.op,
                             "interchange the operands, or transpose the left one in front of the kernel")  # fmt: skip
            rhs, along = self._descriptor(1, n, depth)
        if in_parts(self.op):
            with ahead_of(self.outer):
                made = self._multiplied(lhs, rhs, self._zero(whole, of_thread), transposed=along)
                self._add(self._as(of_thread, made))
            return self.outer.erase()
        loops = self._loops()
        start = loops[-1] if loops else self.outer
        fill = self._zeros(start)
        with ahead_of(start):
            sums = self._zero(whole, of_thread) if fill is not None else self._as(whole, self._load(of_thread))
        if fill is not None:
            fill.erase()
        inner = [sums]
        made: list[ir.Operation] = []
        for loop in reversed(loops):
            made.append(_carrying(loop, inner[-1]))
            inner.append(body_of(made[-1]).arguments[1])
        flying = not self.taken.by_instruction and bool(made) and OVERLAP in made[-1].attributes
        with ahead_of(self.outer):
            if self.taken.by_instruction:
                last = self._instructions(lhs, rhs, inner[-1], n, depth)
            else:
                last = self._multiplied(lhs, rhs, inner[-1], transposed=along, pending=int(flying))
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
            own = ir.VectorType.get(self.held.shape, kind)
            vector.StoreOp(vector.ShapeCastOp(own, self._as(of_thread, last)).result, self.array, self._first())
        self.outer.erase()

    def _multiplied(self, lhs: ir.Value, rhs: ir.Value, sums: ir.Value, *, transposed: bool, pending: int = 0) -> ir.Value:
        made = nvgpu.WarpgroupMmaOp(sums.type, lhs, rhs, sums, waitGroup=pending, transposeB=True if transposed else None)
        if (became := given_as(self.op)) is not None:
            made.attributes[AS_TYPE] = became
        return made.result

    def _instructions(self, lhs: ir.Value, rhs: ir.Value, sums: ir.Value, n: int, depth: int) -> ir.Value:
        """One after the other along the sum, which NVVM has for what `nvgpu.warpgroup.mma` has not."""
        word, step = ir.IntegerType.get_signless(64), self.taken.k
        matrices = [(self._as(word, matrix), tensor_map(maker(matrix).opview.tensorMap.type)) for matrix in (lhs, rhs)]

        def said(kind: str, word: str) -> ir.Attribute:
            return ir.Attribute.parse(f"#nvvm.{kind}<{word}>")

        shape = said("shape", f"m = {ROWS}, n = {n}, k = {step}")
        given = {"shape": shape, "satfinite": said("mma_int_overflow", "wrapped"), "scaleD": said("wgmma_scale_out", "one")}
        given |= {"typeD": said("wgmma_type", "s32"), "layoutA": said("mma_layout", "row"), "layoutB": said("mma_layout", "col")}
        for operand in "AB":
            given |= {f"type{operand}": said("wgmma_type", "s8"), f"scale{operand}": said("wgmma_scale_in", "one")}
        ir.Operation.create(BEGIN)
        for number in range(depth // step):
            at = list[ir.Value]()
            for first, lies in matrices:
                assert lies is not None, "a descriptor has a tensor map"
                more = panel_layout(lies, 1, depth // step * SUM_BYTES).at("address", byte=number * SUM_BYTES) // STEP
                at.append(arith.AddIOp(first, arith.constant(word, more)).result if more else first)
            sums = ir.Operation.create(MMA_ASYNC, [sums.type], [sums, *at], given).results[0]
        ir.Operation.create(COMMIT)
        ir.Operation.create(END, attributes={"group": i64(0)})
        return sums

    # ---- operands -------------------------------------------------------------------------------------------------------

    def _descriptor(self, operand: int, length: int, depth: int) -> tuple[ir.Value, bool]:
        """Of the warp group's tile: `length` rows or columns of the product, and as many summands. Whether the latter run across
        the rows of the memory."""
        on = single_dimensions(structure(self.op).maps[operand])
        mine = self.columns if operand else self.rows
        tile = whole_tile(self.op.operands[operand], [{mine: length, self.summed: depth}.get(d, 1) for d in on], self.op)
        buffer, starts, _ = place_of(tile)
        if buffer not in self.filled:
            raise refuse(
                "W0369", f"{'right' if operand else 'left'} operands of warp groups are tiles that tensor maps bring", self.op,
                "`promote-to-shared` both with a swizzle, and `map` the copies `to tma`",
            )  # fmt: skip
        panels = self.filled[buffer]
        across = on.index(self.summed) < on.index(mine)
        row, column = starts[-2], starts[-1]
        panel, rest = divide(column, panels.box.box[-1])
        if rest != Linear.of() or (across and row != Linear.of()) or (not across and column != Linear.of()):
            raise refuse(
                "W0369", "a warp group begins its sum within the tile that is staged", self.op,
                "the sum of its product is as long as that tile: `mma` makes several instructions of it",
            )  # fmt: skip
        kind, space = element_type(tile), ir.MemRefType(tile.type).memory_space
        if self.kind == "tf32":
            kind = ir.FloatTF32Type.get()
        if operand and across and not self.taken.transposable:
            raise refuse(
                "W0369", f"rows of a right operand of {self.kind} are rows of the matrix in memory, and the instruction wants "
                "its columns there", self.op,
                "`pack` the product in front of the kernel: a launch of its own copies the operand as n x k",
            )  # fmt: skip
        if panels.box.swizzle != 128:
            raise refuse(
                "W0369", f"operands of warp groups are swizzled by 128 bytes, and this one is "
                f"{f'by {panels.box.swizzle}' if panels.box.swizzle else 'not'}", self.op,
                "`promote-to-shared … swizzle 128`, of tiles whose rows are multiples of 128 bytes",
            )  # fmt: skip
        rows = depth if across else length
        seen = panels.at([bound_of(s) for s in starts[:-2]], bound_of(row), rows, bound_of(panel))
        sizes = [length, depth] if operand == 0 else [depth, length]
        described = ir.Type.parse(f"!nvgpu.warpgroup.descriptor<tensor = {ir.MemRefType.get(sizes, kind, None, space)}>")
        held = depth if across else length
        several = -(-(length if across else depth) // panels.box.box[-1])
        return nvgpu.WarpgroupGenerateDescriptorOp(described, seen, panels.describing(held, several)).result, across

    # ---- the accumulator ------------------------------------------------------------------------------------------------

    def _loops(self) -> list[ir.Operation]:
        """The loops, innermost first, all of whose iterations add to the sums, and do nothing else with them."""
        mine = self._users()
        loops: list[ir.Operation] = []
        around = self.outer.parent.operation
        while around.name == "scf.for" and not is_within(self.array.owner.operation, around):
            if any(is_within(user, around) for user in mine if not is_within(user, self.outer)):
                break
            loops.append(around)
            around = around.parent.operation
        return loops

    def _users(self) -> list[ir.Operation]:
        """Who uses the thread's array, or a part of it, in program order."""
        function = self.array.owner.operation.parent.operation
        return [op for op in operations(function) if not is_view(op) and any(_is_of(v, self.array) for v in op.operands)]

    def _zeros(self, start: ir.Operation) -> ir.Operation | None:
        """The fill with zeros that is all that the array has seen, if it is one."""
        order = {op: number for number, op in enumerate(operations(self.array.owner.operation.parent.operation))}
        before = [op for op in self._users() if order[op] < order[start]]
        if len(before) != 1 or before[0].name != "linalg.fill":
            return None
        zero = made_by(before[0].operands[0], "arith.constant")
        return before[0] if zero is not None and _is_plus_zero(zero) else None

    @staticmethod
    def _zero(whole: ir.Type, of_thread: ir.VectorType) -> ir.Value:
        if isinstance(of_thread.element_type, ir.IntegerType):  # whose accumulators upstream does not make
            none = ir.DenseElementsAttr.get_splat(of_thread, ir.IntegerAttr.get(of_thread.element_type, 0))
            return ir.Operation.create(SAME, [whole], [arith.ConstantOp(of_thread, none).result]).results[0]
        return nvgpu.WarpgroupMmaInitAccumulatorOp(whole).result

    @staticmethod
    def _as(kind: ir.Type, sums: ir.Value) -> ir.Value:
        """The accumulator as what each thread has of it, or back."""
        return ir.Operation.create(SAME, results=[kind], operands=[sums]).results[0]

    def _load(self, of_thread: ir.VectorType) -> ir.Value:
        own = ir.VectorType.get(self.held.shape, self.held.element_type)
        return vector.ShapeCastOp(of_thread, vector.LoadOp(own, self.array, self._first()).result).result

    def _add(self, sums: ir.Value) -> None:
        """What a thread has of an accumulator, to its array: 8 columns of a warp's 16 rows at a time."""
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

    def _first(self) -> list[ir.Value]:
        return [value_of(0)] * self.held.rank


def _is_of(operand: ir.Value, array: ir.Value) -> bool:
    return isinstance(operand.type, ir.MemRefType) and behind(operand) == array


def _is_plus_zero(constant: ir.Operation) -> bool:
    stated = constant.attributes["value"]
    return isinstance(stated, ir.IntegerAttr | ir.FloatAttr) and str(stated).startswith("0")


def _carrying(loop: ir.Operation, first: ir.Value) -> ir.Operation:
    """The loop, carrying a value, in its place; what it yields is still to come."""
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
