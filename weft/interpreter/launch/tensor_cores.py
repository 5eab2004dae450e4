"""Products of lanes that `mma` marked → one instruction for the warp.

    for i in 0..2 { acc[…, i] += lhs[16, 16][i · 8 + lane / 4, :] · rhs[16, 8][:, …] }
    →   A_frag[mi] = ldmatrix lhs;  B_frag[ni] = ldmatrix rhs      (in front of the loops over pieces, once each)
        acc[…, 0 … 1] = mma.sync A_frag[mi], B_frag[ni], acc[…, 0 … 1]

Operands of f32 that are to be sums of two numbers each are taken apart in front of `mma.sync`, of which there are three then. The
first begins at zero, and what they make is added to the sums by `arith.addf`, which rounds to nearest.

What a lane has of each operand is said in `hardware/ampere/fragments.py`, what it owns of the result by the maps that `mma` made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..buffers.wide_accesses import offset_divisible
from ..hardware.ampere import fragments
from ..hardware.ampere.fragments import (
    AS_TYPE,
    REGISTERS_OF_LHS,
    ROW_BYTES,
    SPLITS,
    TF32_BITS,
    TileProduct,
    instruction_of,
)
from ..hardware.limits import WARP
from ..indices.arithmetic import value_of
from ..ir.affine_maps import single_dimensions
from ..ir.cloning import clone_with
from ..ir.element_sizes import element_bytes
from ..ir.functions import name_of, set_name
from ..ir.mlir import (
    affine,
    ahead_of,
    ancestors,
    arith,
    constant_of,
    entries,
    i64,
    ir,
    is_within,
    made_by,
    memref,
    nvgpu,
    operations,
    producer,
    vector,
)
from ..ir.refusing import refuse
from ..ir.structured import element_type, operand_names, parts_of, structure
from ..layouts.layout import Layout
from ..mapping.processors import Hardware, loop_over
from ..memory.layouts import is_shared, strided, transposed
from ..memory.views import behind, is_view


def matrix_dimensions(op: ir.Operation) -> tuple[int, int, int] | None:
    """The dimensions of rows, columns and sum of a product of matrices, rows in front of columns; None of other ops. What a
    batch or parts of a sum add stands in front of them."""
    space = structure(op)
    on = [single_dimensions(indexing) for indexing in space.maps]
    plain = all(len(dims) == len(indexing.results) for dims, indexing in zip(on, space.maps, strict=True))
    sums = [d for d, kind in enumerate(space.iterators) if kind == "reduction"]
    if operand_names(op) != ("lhs", "rhs", "acc") or not plain or len(sums) != 1 or not {*sums} <= {*on[0]} & {*on[1]}:
        return None
    rows, columns = ({*on[i]} & {*on[2]} - {*on[1 - i]} for i in (0, 1))
    return (max(rows), max(columns), sums[0]) if rows and columns and max(rows) < max(columns) else None


def use_tensor_cores(function: ir.Operation, hardware: Hardware) -> None:
    """Rewrite all products that are marked for warps. Raises W0369."""
    marked = [(op, instruction_of(op)) for op in operations(function)]
    for op, product in marked:
        if product is not None:
            with op.location:
                _Product(op, product, hardware).rewrite()


class _Product:
    """One marked product, with the loops that stand around it since maps became loops."""

    def __init__(self, op: ir.Operation, product: TileProduct, hardware: Hardware) -> None:
        self.op, self.product, self.hardware = op, product, hardware
        self.split = ir.StringAttr(op.attributes[AS_TYPE]).value if AS_TYPE in op.attributes else None
        if len(op.operands) != 3:
            raise refuse(
                "W0369",
                "the product reads its operands under a mask, one element at a time",
                op,
                "stage both operands by `promote-to-shared`, and tile the sum by a multiple of the instruction's k",
            )
        self.lhs, self.rhs, self.acc = op.operands
        m, n, k = self.product.shape
        found = matrix_dimensions(op)
        assert found is not None, "`mma` marks products of matrices"
        rows, columns, summed = found
        long, on = {rows: m, columns: n, summed: k}, [single_dimensions(on) for on in structure(op).maps]
        self.registers = entries(op.attributes[REGISTERS_OF_LHS]) if REGISTERS_OF_LHS in op.attributes else None
        shapes = [[long.get(d, 1) for d in on[i]] for i in (0, 1)]
        lhs = self.lhs if self.registers is not None else whole_tile(self.lhs, shapes[0], op)
        self.tiles = [lhs, whole_tile(self.rhs, shapes[1], op)]
        self.axes = [(on[0].index(rows), on[0].index(summed)), (on[1].index(summed), on[1].index(columns))]
        self.kinds = [element_type(v) for v in op.operands]
        around = list(ancestors(op))
        if made_by(behind(self.acc), "memref.alloca") is None:
            raise refuse(
                "W0369",
                "the lanes' parts of the result are not in registers",
                op,
                "`promote-to-registers` the accumulator of what `mma` returns, across the outermost loop of the sum",
            )
        self.halves = around[0] if m > 8 else None
        if self.halves is not None and not (self.halves.name == "scf.for" and _trips(self.halves) == m // 8):
            raise refuse(
                "W0369", "the lanes do not all have a part of each piece", op, "let the lanes be those of whole warps"
            )
        self.inside = self.halves if self.halves is not None else op
        loops = [loop for loop in around[self.halves is not None :] if loop.name == "scf.for"]
        self.pieces = [loop for loop in loops if needs(self.acc, loop)]

    def rewrite(self) -> None:
        lhs, rhs, of_acc = self._array(0), self._array(1), self.product.vectors[2]
        array, at, kind = self._accumulator()
        with ahead_of(self.inside):
            before = vector.LoadOp(kind, array, at).result
            shape = ir.ArrayAttr.get([i64(size) for size in self.product.shape])
            rounded = self.product.kind == "tf32" or None
            sums = ir.VectorType.get(of_acc, self.kinds[2])
            held, became = vector.ShapeCastOp(sums, before).result, fragments.given_as(self.op)
            total, in_parts = held, fragments.in_parts(self.op)
            if in_parts:
                total = arith.constant(sums, ir.DenseElementsAttr.get_splat(sums, ir.FloatAttr.get(self.kinds[2], 0.0)))
            for a, b in _products(self._terms(lhs()), self._terms(rhs())):
                made = nvgpu.MmaSyncOp(sums, a, b, total, mmaShape=shape, tf32Enabled=rounded)
                if became is not None:
                    made.attributes[AS_TYPE] = became
                total = made.result
            total = arith.AddFOp(held, total).result if in_parts else total
            vector.StoreOp(vector.ShapeCastOp(kind, total).result, array, at)
        self.inside.erase()

    def _terms(self, whole: ir.Value) -> list[ir.Value]:
        """The numbers of which each element is the sum, the large ones first. Of tf32 the large one is what is left when bits are
        cut off, which takes one instruction, and cannot overflow; the small one `mma.sync` rounds."""
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

    def _accumulator(self) -> tuple[ir.Value, list[ir.Value], ir.VectorType]:
        """The lane's array of the result, where in it the piece at hand begins, and what of it one instruction makes: all that the
        lane has in both halves."""
        view = producer(self.acc)
        assert view is not None
        while made_by(view.operands[0], "memref.alloca") is None:
            view = producer(view.operands[0])
            assert view is not None, "the accumulator is a view of an array of the thread's own"
        kind = ir.MemRefType(view.operands[0].type)
        dimensions = ir.MemRefType(self.acc.type).rank + 2 * (self.halves is not None)
        with ahead_of(self.inside):
            copies = {} if self.halves is None else {_variable(self.halves): value_of(0)}
            at = [
                value_of(offset) if isinstance(offset, int) else _cloned(offset, copies, self.inside)
                for offset in parts_of(view)[0]
            ]
        return view.operands[0], at, ir.VectorType.get(kind.shape[-dimensions:], kind.element_type)

    # ---- fragments ------------------------------------------------------------------------------------------------------

    def _array(self, operand: int) -> Callable[[], ir.Value]:
        """Load the fragments of all pieces in front of the loops over them; gives the one of the piece at hand."""
        tile, part = self.tiles[operand], self.product.vectors[operand]
        loops = [loop for loop in self.pieces if needs(tile, loop)]
        counts = [_trips(loop) for loop in reversed(loops)]
        narrow = self.split in ("f16", "bf16")
        kind = ir.Type.parse(self.product.kind) if narrow else element_type(tile)
        outermost = self.pieces[-1] if self.pieces else self.inside
        whole = ir.VectorType.get(part, kind)
        with ahead_of(outermost):
            made = memref.AllocaOp(ir.MemRefType.get([*counts, *part], kind), [], [])
            set_name(made, f"{(name_of(behind(tile)) or 'tile').removesuffix('_shared')}_frag")
            array = made.result

            def fill(at: tuple[ir.Value, ...]) -> None:
                if len(at) < len(counts):
                    return loop_over(counts[len(at)], lambda i: fill((*at, value_of(i))))
                copies = {_variable(loop): i for loop, i in zip(reversed(loops), at, strict=True)}
                here = _cloned(tile, copies, outermost)
                found = self._load(here, operand)
                if found.type != whole:
                    found = arith.TruncFOp(whole, found).result
                vector.StoreOp(found, array, [*at, value_of(0), value_of(0)])

            fill(())

        def loaded() -> ir.Value:
            at = [_variable(loop) for loop in reversed(loops)]
            return vector.LoadOp(whole, array, [*at, value_of(0), value_of(0)]).result

        return loaded

    def _load(self, tile: ir.Value, operand: int) -> ir.Value:
        """The lane's fragment of a tile."""
        if operand == 0 and self.registers is not None:
            return self._from_registers(tile, self.registers)
        held, part = self.product.fragments[operand], self.product.vectors[operand]
        if (along := _by_matrices(tile, self.axes[operand])) is None:
            return self._elements(tile, operand)
        addresses = fragments.rows_read(held, along)
        places = self._subscripts(tile, operand, [self._of_lane(addresses, axis) for axis in ("row", "column")])
        transposed = held.at(along, lane=4) != 0  # lanes with other rows of the instruction have neighbors in memory
        return nvgpu.LdMatrixOp(ir.VectorType.get(part, element_type(tile)), tile, places, transposed, part[0]).result

    def _elements(self, tile: ir.Value, operand: int) -> ir.Value:
        """Load them one by one, or those of a register at once. What lanes add has the same factors always."""
        held, kind = self.product.fragments[operand], element_type(tile)
        registers, each = self.product.vectors[operand]

        def place(register: int, element: int) -> list[ir.Value]:
            first = {axis: held.at(axis, register=register, element=element) for axis in ("row", "column")}
            return self._subscripts(tile, operand, [self._of_lane(held, axis, more) for axis, more in first.items()])

        whole = ir.VectorType.get([registers, each], kind)
        row = _row(tile, self.axes[operand][1 - operand], each) if each > 1 else None
        if row is None:
            places = [place(r, j) for r in range(registers) for j in range(each)]
            return vector.FromElementsOp(whole, [memref.LoadOp(tile, one).result for one in places]).result
        word = ir.VectorType.get([each], kind)
        view, order = row
        first = [[at[axis] for axis in order] for at in (place(r, 0) for r in range(registers))]
        return _joined([vector.LoadOp(word, view, at).result for at in first], whole)

    def _from_registers(self, part: ir.Value, axes: Sequence[int]) -> ir.Value:
        """The fragment that a lane has made by itself. `axes`: of the part, which count registers along the sum, and along rows."""
        (registers, each), kind = self.product.vectors[0], element_type(part)
        counted = {"column": axes[0], "row": axes[1]}

        def place(register: int) -> list[ir.Value]:
            digits = self.product.fragments[0].restricted(of="register").digits
            at = {counted[d.axis]: register // d.divisor % d.count for d in digits}
            return [value_of(at.get(axis, 0)) for axis in range(ir.MemRefType(part.type).rank)]

        word = ir.VectorType.get([each], kind)
        found = [vector.LoadOp(word, part, place(register)).result for register in range(registers)]
        return _joined(found, ir.VectorType.get([registers, each], kind))

    def _subscripts(self, tile: ir.Value, operand: int, place: Sequence[ir.Value]) -> list[ir.Value]:
        """Of a row and a column: dimensions beside them have one iteration."""
        at = dict(zip(self.axes[operand], place, strict=True))
        return [at[axis] if axis in at else value_of(0) for axis in range(ir.MemRefType(tile.type).rank)]

    def _of_lane(self, layout: Layout, axis: str, more: int = 0) -> ir.Value:
        """A coordinate of the lane's number."""
        (form,) = layout.form(axis, "lane", WARP).results
        return affine.AffineApplyOp(ir.AffineMap.get(1, 0, [form + more]), [value_of(self.hardware.lane().index)]).result


def _joined(words: Sequence[ir.Value], whole: ir.VectorType) -> ir.Value:
    """Registers of a lane as one vector."""
    flat, each = words[0], whole.shape[-1]
    for number, more in enumerate(words[1:], 2):
        longer = ir.VectorType.get([number * each], whole.element_type)
        flat = vector.ShuffleOp(flat, more, list(range(number * each)), results=[longer]).result
    return vector.ShapeCastOp(whole, flat).result


def _products(lhs: list[ir.Value], rhs: list[ir.Value]) -> list[tuple[ir.Value, ir.Value]]:
    """What is multiplied with what, the small ones first; the product of two small numbers is left out."""
    count = len(lhs)
    return [(lhs[i], rhs[order - i]) for order in reversed(range(count)) for i in reversed(range(order + 1))]


def _row(tile: ir.Value, axis: int, count: int) -> tuple[ir.Value, list[int]] | None:
    """The tile as a view whose last axis is this one, along which vectors are loaded, and the order of its axes; None where that
    many neighbors do not lie side by side in shared memory, from a multiple of their number on. A copy that is staged transposed
    is such a view, turned."""
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
    """The one of row and column along which elements are neighbors in memory, if `ldmatrix` loads the tile.

    `axes`: those of the tile that rows and columns are counted along.
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


def whole_tile(value: ir.Value, shape: Sequence[int], op: ir.Operation) -> ir.Value:
    """The whole warp's (or warp group's) tile behind what a lane looks at."""
    seen = [value]
    while (view := producer(seen[-1])) is not None and is_view(view):
        seen.append(view.operands[0])
    whole = [tile for tile in seen if list(ir.MemRefType(tile.type).shape) == list(shape)]
    if not whole:
        raise refuse("W0369", f"what the product reads is not seen as a part of a tile of {list(shape)}", op,
                     "let `promote-to-shared` stage the operands, and `mma` follow the tiles of warps")  # fmt: skip
    return whole[-1]  # the outermost: around the others a loop of one iteration may stand


def _variable(loop: ir.Operation) -> ir.Value:
    return loop.regions[0].blocks[0].arguments[0]


def needs(value: ir.Value, loop: ir.Operation) -> bool:
    """Whether a value is computed from a loop's variable."""
    if loop.name != "scf.for":
        return False
    if isinstance(value.owner, ir.Block):
        return value == _variable(loop)
    return any(needs(operand, loop) for operand in value.owner.operation.operands)


def _trips(loop: ir.Operation) -> int:
    upper = constant_of(loop.operands[1])
    assert upper is not None, "loops over pieces have static trip counts"
    return upper


def _cloned(value: ir.Value, copies: dict[ir.Value, ir.Value], within: ir.Operation) -> ir.Value:
    """The value computed again, for other values of loop variables, of what is made inside an op."""
    if value in copies:
        return copies[value]
    made = producer(value)
    if made is None or not is_within(made, within):
        return value
    for operand in made.operands:
        _cloned(operand, copies, within)
    clone_with(made, copies)
    return copies[value]
