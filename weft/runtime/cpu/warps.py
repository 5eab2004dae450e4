"""Collective ops of warps on a CPU: the lanes store their operands in memory, from which the
results of all lanes are computed.

    d = nvgpu.mma.sync a, b, c    →    for each lane: A[l] = a, B[l] = b, C[l] = c
                                       D = C + A · B, with owners by `hardware/ampere/fragments.py`
                                       for each lane: d = D[l]

A shuffle becomes an exchange of values by the number of the source lane. For an `ldmatrix`, lanes
load rows with ordinary loads; the elements are then distributed over the lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from ...interpreter.hardware.ampere.fragments import LDMATRIX, MMA, TF32_BITS, dealt, matrices, row_of
from ...interpreter.hardware.lanes import ALL_LANES, SHUFFLE, SUBGROUP_REDUCE, WARP_BARRIER, mask_of_lanes
from ...interpreter.hardware.limits import WARP
from ...interpreter.ir.mlir import DYNAMIC, arith, gpu, ir, memref, operations, scf, vector
from ...interpreter.layouts.layout import Layout
from ..form.kernel_form import expected_product, expected_shuffle, refuse
from ..form.kernel_lowering import simplify
from .threads import Triple, allocated, constant, count_of, nought, turn_memory

DEAL = "weft.deal"
"""Op: a lane passes its row of a matrix and receives the elements that `ldmatrix` gives it."""
FIRST = "weft.first"
"""Op: a lane receives the value of the first lane of its warp."""
EXCHANGE = "weft.exchange"
"""Op: a lane passes a value and receives that of the lane with a given number."""
CONVERGE = "weft.converge"
"""Op: a lane waits for the other lanes of its warp."""
COLLECTIVES = (DEAL, FIRST, EXCHANGE, CONVERGE, MMA)


def split_matrices(module: ir.Module) -> None:
    """Splits each `ldmatrix`, in place, into loads of rows by the lanes that address them, and a
    `DEAL`."""
    with module.context:
        for op in operations(module.operation, LDMATRIX):
            with op.location, ir.InsertionPoint(op):
                (count, transposed), kind, (source, *at) = matrices(op), row_of(op), list(op.operands)
                asked = arith.cmpi(arith.CmpIPredicate.ult, gpu.lane_id(), constant(8 * count))
                mask = vector.broadcast(ir.VectorType.get(kind.shape, ir.IntegerType.get_signless(1)), asked)
                row = vector.maskedload(kind, source, at, mask, nought(kind))
                attributes = {"transpose": ir.BoolAttr.get(transposed)}
                made = ir.Operation.create(DEAL, [op.results[0].type], [row], attributes)
                op.results[0].replace_all_uses_with(made.result)
            op.erase()


def split_shuffles(module: ir.Module) -> None:
    """Splits each shuffle, in place, into the computation of the source lane's number and an
    `EXCHANGE`. Reductions become shuffles first; a barrier of a warp becomes `CONVERGE`."""
    with module.context:
        for op in operations(module.operation, WARP_BARRIER):
            if mask_of_lanes(op) != ALL_LANES:
                raise refuse("W0725", f"`{op.name}` with another mask than that of all {WARP} lanes", op)
            with op.location, ir.InsertionPoint(op):
                ir.Operation.create(CONVERGE)
            op.erase()
        for kernel in operations(module.operation, "gpu.func"):
            simplify(kernel, SUBGROUP_REDUCE)
        for op in operations(module.operation, SHUFFLE):
            with op.location, ir.InsertionPoint(op):
                value, offset, width = op.operands
                asked, word = expected_shuffle(op, "W0725"), offset.type
                lane = arith.index_cast(word, gpu.lane_id())
                own = arith.andi(lane, arith.constant(word, asked.width - 1))
                below, most = arith.CmpIPredicate.ult, (offset, width)
                match asked.mode:
                    case "up":
                        source, below, most = arith.subi(own, offset), arith.CmpIPredicate.ule, (offset, own)
                    case "down":
                        source, most = arith.addi(own, offset), (offset, arith.subi(width, own))
                    case "xor":
                        source = arith.xori(own, offset)
                    case _:
                        source = offset
                valid = arith.cmpi(below, *most)
                number = arith.select(valid, arith.addi(arith.subi(lane, own), source), lane)
                number = arith.index_cast(ir.IndexType.get(), number)
                made = ir.Operation.create(EXCHANGE, [value.type], [value, number])
                for old, new in zip(op.results, (made.result, valid), strict=True):
                    old.replace_all_uses_with(new)
            op.erase()


# ---- what all threads of a block have, side by side ----------------------------------------------


def side_by_side(kind: ir.Type, block: Triple) -> ir.Value:
    """An array for a value of each thread of a block. The elements of a thread are contiguous; the
    number of threads is rounded up to whole warps."""
    whole = arith.muli(arith.ceildivui(count_of(block), constant(WARP)), constant(WARP))
    element = kind.element_type if isinstance(kind, ir.VectorType) else kind
    return allocated(ir.MemRefType.get([DYNAMIC], element), [arith.muli(whole, constant(_count(kind)))])


def put(value: ir.Value, array: ir.Value, thread: ir.Value) -> None:
    """Stores a thread's value."""
    at = [arith.muli(thread, constant(_count(value.type)))]
    if isinstance(value.type, ir.VectorType):
        vector.store(vector.shape_cast(_flat(value.type), value), array, at)
    else:
        memref.store(value, array, at)


def get(kind: ir.Type, array: ir.Value, thread: ir.Value) -> ir.Value:
    """Loads a thread's value."""
    at = [arith.muli(thread, constant(_count(kind)))]
    if isinstance(kind, ir.VectorType):
        return vector.shape_cast(kind, vector.load(_flat(kind), array, at))
    return memref.load(array, at)


def _count(kind: ir.Type) -> int:
    return prod(kind.shape) if isinstance(kind, ir.VectorType) else 1


def _flat(kind: ir.VectorType) -> ir.VectorType:
    return ir.VectorType.get([_count(kind)], kind.element_type)


# ---- what becomes of it --------------------------------------------------------------------------


class Collective:
    """A collective op of `COLLECTIVES`, and the arrays allocated for it.

    Attributes:
        given: for each operand, the array of the values of a block's threads.
        made: for each result, the array of the values of a block's threads; empty for `FIRST`,
            which has one value per warp.
    """

    def __init__(self, op: ir.Operation, module: ir.Module, block: Triple, owned: list[ir.Value]) -> None:
        self._name, self._kinds = op.name, [value.type for value in (*op.operands, *op.results)]
        self.given = [side_by_side(value.type, block) for value in op.operands]
        self.made = [side_by_side(value.type, block) for value in op.results if op.name != FIRST]
        owned += (*self.given, *self.made)
        if op.name == DEAL:
            (row, result), transposed = self._kinds, ir.BoolAttr(op.attributes["transpose"]).value
            count, each = result.shape
            self._tables = [_table(module, _places(dealt(each, count, transposed), _count(row)))]
        elif op.name == MMA:
            self._product = expected_product(op, "W0725")
            m, n, k = self._product.shape
            a, b, c = map(_places, self._product.fragments, (k, n, n))
            self._tables = [_table(module, places) for places in (np.argsort(a).tolist(), np.argsort(b).tolist(), c)]
            wide = ir.F32Type.get() if self._product.sum == "f16" else self._kinds[2].element_type
            self._tiles = [turn_memory(ir.MemRefType.get([size], wide), owned) for size in (m * k, k * n, m * n)]

    def of_warp(self, first: ir.Value) -> ir.Value | None:
        """Emits the op for the warp that begins at this thread. Returns the value of a `FIRST`;
        None for other ops."""
        if self._name == FIRST:
            return get(self._kinds[0], self.given[0], first)
        begin = [arith.muli(first, constant(_count(kind))) for kind in self._kinds]
        if self._name == DEAL:
            _copied(self.given[0], begin[0], self.made[0], begin[1], self._tables[0], lambda x: x)
        elif self._name == EXCHANGE:
            _each(WARP, lambda lane: self._exchange(first, arith.addi(first, lane)))
        elif self._name == MMA:
            self._multiply(begin)
        return None

    def _exchange(self, first: ir.Value, thread: ir.Value) -> None:
        (values, numbers), (made,) = self.given, self.made
        asked = arith.addi(first, memref.load(numbers, [thread]))
        memref.store(memref.load(values, [asked]), made, [thread])

    def _multiply(self, begin: list[ir.Value]) -> None:
        """Emits the product. C is added last. If C is f16, sums along k are in f32, and rounded
        once."""
        (m, n, k), (a, b, sums), zero = self._product.shape, self._tiles, constant(0)
        wide = ir.MemRefType(sums.type).element_type
        for number, tile in enumerate((a, b)):
            _copied(self.given[number], begin[number], tile, zero, self._tables[number], self._widened)
        row = ir.VectorType.get([n], wide)
        calculate = (arith.mulf, arith.addf) if isinstance(wide, ir.FloatType) else (arith.muli, arith.addi)

        def of_row(i: ir.Value) -> None:
            along = scf.ForOp(zero, constant(k), constant(1), [nought(row)])
            with ir.InsertionPoint(along.body):
                j = along.induction_variable
                factor = memref.load(a, [arith.addi(arith.muli(i, constant(k)), j)])
                others = vector.load(row, b, [arith.muli(j, constant(n))])
                products = calculate[0](vector.broadcast(row, factor), others)
                scf.YieldOp([calculate[1](along.inner_iter_args[0], products)])
            vector.store(along.results[0], sums, [arith.muli(i, constant(n))])

        def of_element(e: ir.Value) -> None:
            before = memref.load(self.given[2], [arith.addi(begin[2], e)])
            total = memref.load(sums, [memref.load(self._tables[2], [e])])
            if before.type != wide:
                before = arith.extf(wide, before)
            made = calculate[1](before, total)
            if made.type != self._kinds[3].element_type:
                made = arith.truncf(self._kinds[3].element_type, made)
            memref.store(made, self.made[0], [arith.addi(begin[3], e)])

        _each(m, of_row)
        _each(m * n, of_element)

    def _widened(self, value: ir.Value) -> ir.Value:
        """An element of A or B in the type in which products are computed."""
        match self._product.kind:
            case "f16" | "bf16":
                return arith.extf(ir.F32Type.get(), value)
            case "i8":
                return arith.extsi(ir.IntegerType.get_signless(32), value)
            case "tf32":
                return _tf32(value)
        return value


def _tf32(value: ir.Value) -> ir.Value:
    """The value rounded to 10 bits of mantissa, to nearest, ties away from zero; infinities and
    NaNs stay unchanged."""
    word = ir.IntegerType.get_signless(32)
    bits, exponent = arith.bitcast(word, value), arith.constant(word, 0x7F800000)
    rounded = arith.andi(arith.addi(bits, arith.constant(word, 1 << 12)), arith.constant(word, TF32_BITS))
    finite = arith.cmpi(arith.CmpIPredicate.ne, arith.andi(bits, exponent), exponent)
    return arith.bitcast(value.type, arith.select(finite, rounded, bits))


def _places(held: Layout, columns: int) -> list[int]:
    """The row-major positions of the elements that the lanes hold, by lane and register."""
    where = held.table("lane", "register", "element")
    return np.ravel(where["row"] * columns + where["column"]).tolist()


def _table(module: ir.Module, numbers: Sequence[int]) -> ir.Value:
    """A constant array; equal tables share one global."""
    values = np.array(numbers, np.int64)
    kind, shaped = (of.get([len(values)], ir.IndexType.get()) for of in (ir.MemRefType, ir.RankedTensorType))
    attribute = ir.DenseElementsAttr.get(values, type=shaped)
    known = [op for op in module.body.operations if isinstance(op, memref.GlobalOp)]
    same = next((op for op in known if op.initial_value == attribute), None)
    if same is None:
        name = f"weft_table{len(known)}"
        with ir.InsertionPoint.at_block_begin(module.body):
            same = memref.GlobalOp(name, kind, sym_visibility="private", initial_value=attribute, constant=True)
    return memref.get_global(kind, ir.FlatSymbolRefAttr.get(same.sym_name.value))


def _copied(
    source: ir.Value,
    at: ir.Value,
    target: ir.Value,
    to: ir.Value,
    table: ir.Value,
    made: Callable[[ir.Value], ir.Value],
) -> None:
    """Emits target[to + e] = made(source[at + n]) for each number n in the table, where e is its
    position."""

    def element(e: ir.Value) -> None:
        place = arith.addi(at, memref.load(table, [e]))
        memref.store(made(memref.load(source, [place])), target, [arith.addi(to, e)])

    _each(ir.MemRefType(table.type).shape[0], element)


def _each(count: int, do: Callable[[ir.Value], None]) -> None:
    """Emits a loop over `range(count)`."""
    loop = scf.ForOp(constant(0), constant(count), constant(1))
    with ir.InsertionPoint(loop.body):
        do(loop.induction_variable)
        scf.YieldOp([])
