"""A product that `mma` marked, inside the loops that its maps became: the code common to
instructions of warps and of warp groups."""

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
from ...memory.views import is_view, root_memref


def matrix_dimensions(op: ir.Operation) -> tuple[int, int, int] | None:
    """The dimensions of rows, columns and sum of a product of matrices; None for other ops.
    Dimensions of a batch, or of parts of a sum, come before these."""
    space = structure(op)
    on = [single_dimensions(indexing) for indexing in space.maps]
    plain = all(len(dims) == len(indexing.results) for dims, indexing in zip(on, space.maps, strict=True))
    sums = [d for d, kind in enumerate(space.iterators) if kind == "reduction"]
    if operand_names(op) != ("lhs", "rhs", "acc") or not plain or len(sums) != 1 or not {*sums} <= {*on[0]} & {*on[1]}:
        return None
    rows, columns = ({*on[i]} & {*on[2]} - {*on[1 - i]} for i in (0, 1))
    return (max(rows), max(columns), sums[0]) if rows and columns and max(rows) < max(columns) else None


class Product:
    """A marked product. Raises W0369 if its operands or its accumulator are not where the
    instruction expects them.

    Attributes:
        by: the owner of the sums, a warp or a warp group, as text.
        unmasked: the hint on how to avoid operands under a mask.
        array: the thread-private array of which `acc` is a part.
        pieces: the loops over parts of that array, innermost first.
        registers: for a left operand in registers, the axes of its array that count the registers
            of a fragment: along the sum, and along rows.
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
        self.array = root_memref(self.acc)
        if made_by(self.array, "memref.alloca") is None:
            raise self.refused(
                f"the {self.by}' parts of the result are not in registers",
                "`promote-to-registers` the accumulator of what `mma` returns, across the outermost loop of the sum",
            )
        self.pieces = [*takewhile(partial(needs, self.acc), ancestors(op))]

    def refused(self, why: str, way_out: str) -> Exception:
        return refuse("W0369", why, self.op, way_out)

    def whole_tile(self, operand: int, m: int, n: int, k: int) -> ir.Value:
        """The tile of the whole warp, or warp group, of which a lane's view is a part. Raises
        W0369."""
        long = {self.rows: m, self.columns: n, self.summed: k}
        shape, seen = [long.get(d, 1) for d in self.on[operand]], [self.op.operands[operand]]
        while (view := producer(seen[-1])) is not None and is_view(view):
            seen.append(view.operands[0])
        whole = [tile for tile in seen if list(ir.MemRefType(tile.type).shape) == shape]
        if not whole:
            raise self.refused(
                f"an operand of the product is not a recognized part of a tile of {shape}",
                "let `promote-to-shared` stage the operands, and `mma` follow the tiles of warps",
            )
        return whole[-1]  # the outermost: loops of one iteration may be around the others

    def from_registers(self, part: ir.Value, axes: Sequence[int], depth: int) -> ir.Value:
        """The fragment of `depth` columns of a left operand that the lane has computed in
        registers. `axes`: as in `registers`."""
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
    """A vector of registers, one for each place, with the `each` adjacent elements that begin
    there."""
    kind = element_type(view)
    flat, *words = (vector.LoadOp(ir.VectorType.get([each], kind), view, place).result for place in places)
    for number, more in enumerate(words, 2):
        longer = ir.VectorType.get([number * each], kind)
        flat = vector.ShuffleOp(flat, more, list(range(number * each)), results=[longer]).result
    return vector.ShapeCastOp(ir.VectorType.get([len(places), each], kind), flat).result


def cloned(value: ir.Value, copies: dict[ir.Value, ir.Value], within: ir.Operation) -> ir.Value:
    """The value recomputed for other values of loop variables, with the ops inside `within` cloned."""
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
    """Whether a value depends on a loop's variable."""
    if loop.name != "scf.for":
        return False
    if isinstance(value.owner, ir.Block):
        return value == body_of(loop).arguments[0]
    return any(needs(operand, loop) for operand in value.owner.operation.operands)
