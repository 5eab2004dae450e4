"""`order grouped(n)`: in which order the blocks of a grid take its tiles.

Blocks that run at the same time have neighbouring numbers. Row by row they need one row of tiles of the left operand and all
of the right one; in groups of n rows, column by column within the group, they need n and a few, which the L2 cache holds.

Source: "grouped ordering" of Triton's matmul tutorial; CUTLASS calls it a threadblock swizzle.
"""

from __future__ import annotations

from functools import reduce

from ..indices.arithmetic import Sum, less
from ..ir.mlir import arith, ir


def grouped(y: Sum, x: Sum, rows: int, columns: int, group: int) -> tuple[Sum, Sum]:
    """The tile (y, x) of block (y, x) of a grid of `rows` x `columns`, x running fastest.

    With p the block's number, it is row `first + p % (group * columns) % height` and column
    `p % (group * columns) / height`, where `first` is its group's first row and `height` the group's: `group`, but for a last
    one that is cut. Emitted are divisions by these two numbers alone.
    """
    group = min(group, rows)
    if group == 1 or columns == 1:
        return y, x
    above, within = y.divide(group)
    place = within.times(columns) + x
    column, row = place.divide(group)
    cut = rows % group
    if cut:
        whole = less(y, rows - cut)
        last_column, last_row = place.divide(cut)
        column, row = _either(whole, column, last_column), _either(whole, row, last_row)
    return _coordinate(above.times(group) + row, rows), _coordinate(column, columns)


def _coordinate(total: Sum, extent: int) -> Sum:
    """The sum as a value of its own, below `extent`: an `arith.addi` is not composed into the affine maps of its uses, which
    would all work the order out again."""
    parts = [Sum(0, (term,)).emit() for term in total.terms] or [total.emit()]
    return Sum.of(reduce(lambda a, b: arith.AddIOp(a, b).result, parts), extent)


def _either(condition: ir.Value, one: Sum, other: Sum) -> Sum:
    return Sum.of(arith.SelectOp(condition, one.emit(), other.emit()).result)
