"""`order hilbert`: a curve through all tiles of a grid, as a table in which a block looks up its
tile.

    memref.global "private" constant @hilbert_2x3 : memref<6xi32> = dense<[0, 3, 4, 1, 2, 5]>
    %tile = memref.load %hilbert_2x3[%number]                            // row %tile floordiv 3, column %tile mod 3

Each tile occurs exactly once, which is all that a proof needs: blocks of different numbers have
different tiles. It reads that from the numbers of the table itself (`ir/constants.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...dsl.records import record
from ..hardware.limits import MOST_CONSTANTS
from ..indices.arithmetic import divide, index_of, value_of
from ..indices.linear import Linear
from ..ir.mlir import ancestors, arith, children, ir, memref
from ..ir.refusing import refuse
from ..ir.structured import body_of
from .mapping import SYMBOLIC, Mapping, loop_dimensions

Tile = tuple[int, int]
"""A row and a column."""


@record
class _Side:
    """A side of a rectangle of tiles: its length and direction."""

    length: int
    way: Tile

    def at(self, place: Tile, steps: int) -> Tile:
        """The tile `steps` steps along it from a tile."""
        return place[0] + steps * self.way[0], place[1] + steps * self.way[1]

    def cut(self) -> tuple[_Side, _Side]:
        """The halves of the side. The first one has even length if possible: then the curve through
        it ends where the next one begins."""
        half = self.length // 2
        half += half % 2 and self.length > 2
        return _Side(half, self.way), _Side(self.length - half, self.way)

    def back(self) -> _Side:
        """The same side in the reverse direction."""
        return _Side(self.length, (-self.way[0], -self.way[1]))


def hilbert(rows: int, columns: int) -> list[Tile]:
    """All tiles of a grid, each adjacent to the previous one; in some grids with an odd number of
    rows or columns one step is diagonal.

    For 2^n x 2^n tiles it is Hilbert's curve; for other numbers the halves differ. Source: J.
    Červený, "gilbert", a generalized Hilbert curve for rectangles of any size.
    """
    down, right = _Side(rows, (1, 0)), _Side(columns, (0, 1))
    return list(_through((0, 0), *((right, down) if columns >= rows else (down, right))))


def _through(place: Tile, along: _Side, across: _Side) -> Iterator[Tile]:
    """The tiles of a curve from the corner at `place` to the corner at the other end of `along`."""
    if across.length == 1 or along.length == 1:
        side = along if across.length == 1 else across
        yield from (side.at(place, n) for n in range(side.length))
    elif 2 * along.length > 3 * across.length:  # a long rectangle is two, one after the other
        first, second = along.cut()
        yield from _through(place, first, across)
        yield from _through(along.at(place, first.length), second, across)
    else:  # up, along, and down again
        first, second = across.cut()
        left, right = _Side(along.length // 2, along.way), _Side(along.length - along.length // 2, along.way)
        yield from _through(place, first, left)
        yield from _through(across.at(place, first.length), along, second)
        yield from _through(across.at(along.at(place, along.length - 1), first.length - 1), first.back(), right.back())


def check_curve(op: ir.Operation, mapping: Mapping) -> None:
    """W0364: the curve requires a loop over rows and columns of known number, mapped to blocks."""
    if not mapping.hilbert:
        return
    trips = [d.static_trips for d in loop_dimensions(op)]
    known = [n for n in trips if n is not None]
    given = [count if count > 0 else n for count, n in zip(mapping.counts, known, strict=False)]
    tiles = math.prod(given if len(mapping.axes) == len(known) else known)
    hint = "give as many blocks as tiles, `blocks(y, x)`; or one axis for all tiles, `blocks(x: 132) cyclic`"
    if mapping.space != "blocks" or op.name != "scf.forall":
        why = "a curve is an order of tiles, and only blocks of a parallel loop take tiles in an order"
    elif len(trips) != 2:
        why, hint = (
            f"a curve is of two dimensions, and the loop has {len(trips)}",
            "`map` a loop over rows and columns of tiles, `to blocks(y, x)`",
        )
    elif len(mapping.axes) > 1 and (mapping.dist is not None or SYMBOLIC in mapping.counts):
        why = "a block has several tiles, along each axis its own"
    elif len(known) < 2:
        why = "a curve is a table for given numbers of rows and columns of tiles, and these are known only at run time"
        hint = "write `order grouped(8)`; or give the payload known sizes"
    elif tiles > MOST_CONSTANTS:
        why = f"a curve through {tiles} tiles is a table with a number for each tile; it has at most {MOST_CONSTANTS}"
        hint = "`tile` by larger sizes; or write `order grouped(8)`"
    else:
        return
    raise refuse("W0364", f"`{mapping}`: {why}", op, hint)


def along_curve(number: Linear, rows: int, columns: int) -> tuple[Linear, Linear]:
    """The tile at position `number` of the curve through `rows` x `columns` tiles."""
    if min(rows, columns) <= 1:
        return divide(number, max(columns, 1))
    tile = memref.LoadOp(_table(rows, columns), [value_of(number)]).result
    index = arith.IndexCastOp(ir.IndexType.get(), tile).result
    return divide(index_of(index, rows * columns), columns)


def _table(rows: int, columns: int) -> ir.Value:
    """The table, as a constant of the kernel's module, created once."""
    around = next(op for op in ancestors(ir.InsertionPoint.current.block.owner.operation) if op.name == "gpu.module")
    kind, name = ir.MemRefType.get([rows * columns], ir.IntegerType.get_signless(32)), f"hilbert_{rows}x{columns}"
    if not any(
        op.name == "memref.global" and ir.StringAttr(op.attributes["sym_name"]).value == name for op in children(around)
    ):
        tiles = [row * columns + column for row, column in hilbert(rows, columns)]
        values = ir.DenseElementsAttr.get(
            [ir.IntegerAttr.get(kind.element_type, n) for n in tiles],
            ir.RankedTensorType.get(kind.shape, kind.element_type),
        )
        with ir.InsertionPoint(body_of(around)):
            memref.GlobalOp(name, kind, sym_visibility="private", initial_value=values, constant=True)
    return memref.GetGlobalOp(kind, name).result
