"""A product that `mma` marked, and the loops that stand around it since maps became loops: what its instructions have
in common."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from typing import ClassVar

from ...hardware.ampere.fragments import REGISTERS_OF_LHS, TileProduct
from ...indices.arithmetic import value_of
from ...ir.affine_maps import single_dimensions
from ...ir.cloning import clone_with
from ...ir.mlir import ancestors, entries, ir, is_within, made_by, producer, vector
from ...ir.refusing import refuse
from ...ir.structured import body_of, element_type, operand_names, structure
from ...layouts.layout import Layout
from ...memory.views import behind, is_view


def matrix_dimensions(op: ir.Operation) -> tuple[int, int, int] | None:
    """The dimensions of rows, columns and sum of a product of matrices, rows in front of columns; None of other ops.
    What a batch or parts of a sum add stands in front of them."""
    space = structure(op)
    on = [single_dimensions(indexing) for indexing in space.maps]
    plain = all(len(dims) == len(indexing.results) for dims, indexing in zip(on, space.maps, strict=True))
    sums = [d for d, kind in enumerate(space.iterators) if kind == "reduction"]
    if operand_names(op) != ("lhs", "rhs", "acc") or not plain or len(sums) != 1 or not {*sums} <= {*on[0]} & {*on[1]}:
        return None
    rows, columns = ({*on[i]} & {*on[2]} - {*on[1 - i]} for i in (0, 1))
    return (max(rows), max(columns), sums[0]) if rows and columns and max(rows) < max(columns) else None


class Product:
    """One marked product. Raises W0369 where its operands or its sums are not where the instruction has them.

    Attributes:
        by: what owns its sums.
        unmasked: how it comes to read no operand under a mask.
        array: of a thread's own, of which `acc` is a part.
        pieces: loops over parts of that, innermost first.
        registers: of a left operand in registers, which of its axes count a fragment's registers along the sum, and
            along rows.
    """

    by: ClassVar[str]
    unmasked: ClassVar[str]

    def __init__(self, op: ir.Operation, product: TileProduct) -> None:
        self.op, self.product = op, product
        if len(op.operands) != 3:
            raise self.refused("the product reads its operands under a mask, one element at a time", self.unmasked)
        self.acc = op.operands[2]
        found = matrix_dimensions(op)
        assert found is not None, "`mma` marks products of matrices"
        self.rows, self.columns, self.summed = found
        self.on = [single_dimensions(on) for on in structure(op).maps]
        self.registers = entries(op.attributes[REGISTERS_OF_LHS]) if REGISTERS_OF_LHS in op.attributes else None
        self.array = behind(self.acc)
        if made_by(self.array, "memref.alloca") is None:
            raise self.refused(
                f"the {self.by}' parts of the result are not in registers",
                "`promote-to-registers` the accumulator of what `mma` returns, across the outermost loop of the sum",
            )
        self.pieces = [*takewhile(partial(needs, self.acc), ancestors(op))]

    def refused(self, why: str, way_out: str) -> Exception:
        return refuse("W0369", why, self.op, way_out)

    def whole_tile(self, operand: int, m: int, n: int, k: int) -> ir.Value:
        """The whole warp's, or warp group's, tile behind what a lane looks at. Raises W0369."""
        long = {self.rows: m, self.columns: n, self.summed: k}
        shape, seen = [long.get(d, 1) for d in self.on[operand]], [self.op.operands[operand]]
        while (view := producer(seen[-1])) is not None and is_view(view):
            seen.append(view.operands[0])
        whole = [tile for tile in seen if list(ir.MemRefType(tile.type).shape) == shape]
        if not whole:
            raise self.refused(
                f"what the product reads is not seen as a part of a tile of {shape}",
                "let `promote-to-shared` stage the operands, and `mma` follow the tiles of warps",
            )
        return whole[-1]  # the outermost: around the others a loop of one iteration may stand

    def from_registers(self, part: ir.Value, axes: Sequence[int], depth: int) -> ir.Value:
        """The fragment of so many columns of a left operand that a lane has made by itself. `axes`: as `registers`."""
        kind, held, each = ir.MemRefType(part.type), self.product.left(depth), self.product.each
        along, down = (kind.shape[axis] if axis >= 0 else 1 for axis in axes)
        lies = Layout.of(("column", 4 * each, "along", 1, along), ("row", 8, "down", 1, down))
        place, registers = held.then(lies.inverse), held.count("register")

        def at(register: int) -> list[ir.Value]:
            of_axis = {
                axis: place.at(name, register=register) for axis, name in zip(axes, ("along", "down"), strict=True)
            }
            return [value_of(of_axis.get(axis, 0)) for axis in range(kind.rank)]

        return loaded(part, [at(register) for register in range(registers)], each)


def loaded(view: ir.Value, places: Sequence[Sequence[ir.Value]], each: int) -> ir.Value:
    """Registers of so many elements, which lie side by side from these places on, as one vector."""
    kind = element_type(view)
    flat, *words = (vector.LoadOp(ir.VectorType.get([each], kind), view, place).result for place in places)
    for number, more in enumerate(words, 2):
        longer = ir.VectorType.get([number * each], kind)
        flat = vector.ShuffleOp(flat, more, list(range(number * each)), results=[longer]).result
    return vector.ShapeCastOp(ir.VectorType.get([len(places), each], kind), flat).result


def cloned(value: ir.Value, copies: dict[ir.Value, ir.Value], within: ir.Operation) -> ir.Value:
    """The value computed again, for other values of loop variables, of what is made inside an op."""
    if value in copies:
        return copies[value]
    made = producer(value)
    if made is None or not is_within(made, within):
        return value
    for operand in made.operands:
        cloned(operand, copies, within)
    clone_with(made, copies)
    return copies[value]


def needs(value: ir.Value, loop: ir.Operation) -> bool:
    """Whether a value is computed from a loop's variable."""
    if loop.name != "scf.for":
        return False
    if isinstance(value.owner, ir.Block):
        return value == body_of(loop).arguments[0]
    return any(needs(operand, loop) for operand in value.owner.operation.operands)
