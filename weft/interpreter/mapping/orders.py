"""`order grouped(n)`: the order of tiles, and of a copy's elements."""

from __future__ import annotations

from functools import reduce

from ..indices.arithmetic import Bound, divide, index_of, less, value_of
from ..indices.linear import Linear
from ..ir.mlir import arith


def grouped(number: Linear, rows: int, columns: int, group: int) -> tuple[Linear, Linear]:
    """The tile at position `number` in the order, of `rows` x `columns`. With the two exchanged it
    is the order of panels of columns.

    Tile number p is in row `first + p % (group * columns) % height` and column `p % (group *
    columns) / height`, where `first` is the first row of its group, and `height` the number of rows
    in the group: `group`, except in a last group that is cut. Only divisions by these two numbers
    are emitted.

    Concurrent blocks have adjacent numbers. In row-major order they need one row of tiles of the
    left operand, and the whole right operand. In groups of n rows, column by column within a group,
    they need about n rows of tiles of the left operand and n columns of the right one, which the L2
    cache holds.

    Source: "grouped ordering" of Triton's matmul tutorial; CUTLASS calls it a threadblock swizzle.
    """
    group = min(group, rows)
    if group == 1 or columns == 1:
        return divide(number, columns)
    above, place = divide(number, group * columns)
    return _in_group(above, place, (number, columns), rows, columns, group)


def grouped_blocks(y: Linear, x: Linear, rows: int, columns: int, group: int) -> tuple[Linear, Linear]:
    """The tile of block (y, x) of a grid of `rows` x `columns`, both constant, numbered with x
    fastest."""
    group = min(group, rows)
    if group == 1 or columns == 1:
        return y, x
    above, within = divide(y, group)
    return _in_group(above, within * columns + x, (y, 1), rows, columns, group)


def _in_group(
    above: Linear, place: Linear, at: tuple[Linear, int], rows: int, columns: int, group: int
) -> tuple[Linear, Linear]:
    """The tile at a position in its group, after `above` groups. `at`: determines whether it is in
    the last group, if that is cut: that begins at a multiple of the number with it."""
    column, row = divide(place, group)
    cut = rows % group
    if cut:
        whole = less(at[0], (rows - cut) * at[1])
        last_column, last_row = divide(place, cut)
        pairs = ((column, last_column), (row, last_row))
        column, row = (index_of(arith.SelectOp(whole, value_of(one), value_of(other)).result) for one, other in pairs)
    return above * group + row, column


def by_groups(y: Linear, x: Linear, rows: Bound, group: int) -> tuple[Linear, Linear, int]:
    """The tile of `grouped`, and the height of its group, where the numbers of rows and columns are
    known at run time, or blocks are in clusters.

    The grid has a row of blocks for each group, of `group * columns` blocks: they take the group's
    tiles column by column, so that the divisions are by a constant. In a last group that is cut,
    some blocks have no tile.
    """
    height = min(group, rows) if isinstance(rows, int) else group
    column, row = divide(x, height)
    return coordinate(y * height + row, None), column, height


def coordinate(total: Linear, extent: int | None) -> Linear:
    """The sum as a value of its own, below `extent`: an `arith.addi` is not composed into the
    affine maps of its uses, which would each compute the order again."""
    parts = [value_of(Linear({term: factor}, 0)) for term, factor in total.terms.items()] or [value_of(total)]
    return index_of(reduce(lambda a, b: arith.AddIOp(a, b).result, parts), extent)
