"""The processors of a kernel, as index values: which block, which thread, and how many of them there are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ...dsl.diagnostics import fail
from ..indices.arithmetic import Bound, Sum, ceildiv, less, minimum, multiply
from ..ir.mlir import arith, gpu, ir
from .geometry import Geometry
from .mapping import AS_MANY_AS_ITERATIONS, AXES, SYMBOLIC, WARP, Mapping
from .owned import Processors
from .space import product

_OPS = {
    ("id", "blocks"): "BlockIdOp",
    ("id", "threads"): "ThreadIdOp",
    ("size", "blocks"): "GridDimOp",
    ("size", "threads"): "BlockDimOp",
}
"""By name: looked up when one is made, so that the bindings need not be there before."""


class Hardware:
    """Ids and sizes, each read once, at the top of the kernel; an axis with a single processor costs nothing."""

    def __init__(self, entry: ir.Block, geometry: Geometry) -> None:
        self._entry = entry
        self._geometry = geometry
        self._values: dict[tuple[str, str, str], ir.Value] = {}
        self._tiles: dict[str, Sum] = {}

    def size(self, space: str, axis: str) -> Bound:
        """How many blocks or threads there are along an axis: a number where the launch fixes it."""
        static = self._static(space, axis)
        return static if static is not None else self._read("size", space, axis)

    def order_blocks(self, mapping: Mapping) -> None:
        """From here on, a block's id is that of the tile which it takes in the order that the map says."""
        if mapping.group is None:
            return
        x, y = sorted(mapping.axes)
        rows, columns = self.size("blocks", y), self.size("blocks", x)
        if not isinstance(rows, int) or not isinstance(columns, int):
            raise fail(
                "W0364", f"`{mapping}`: the size of the grid is known only at run time", hint="leave `order` out"
            )
        tiles = _grouped(self.id("blocks", y), self.id("blocks", x), rows, columns, mapping.group)
        self._tiles = dict(zip((y, x), tiles, strict=True))

    def id(self, space: str, axis: str) -> Sum:
        if space == "blocks" and axis in self._tiles:
            return self._tiles[axis]
        extent = self._static(space, axis)
        return Sum() if extent == 1 else Sum.of(self._read("id", space, axis), extent)

    def linear_thread(self) -> Processors:
        """The thread's number in its block (x runs fastest), and how many there are."""
        index, count = Sum(), 1
        for axis in AXES:
            if isinstance(count, int):
                index = index + self.id("threads", axis).times(count)
            else:
                index = index + Sum.of(multiply(self.id("threads", axis).emit(), count))
            count = multiply(self.size("threads", axis), count)
        return Processors(index, count)

    def warp(self) -> Processors:
        """The thread's warp in its block, and how many there are; the last one counts even where it is not full."""
        threads = self.linear_thread()
        index, _ = threads.index.divide(WARP)
        return Processors(index, ceildiv(threads.count, WARP))

    def lane(self) -> Processors:
        """The thread's place in its warp, and how many there are: 32, but for the last warp of a block of run-time size."""
        threads = self.linear_thread()
        warp, index = threads.index.divide(WARP)
        if isinstance(threads.count, int):
            return Processors(index, WARP)
        rest = (Sum.of(threads.count) + warp.times(-WARP)).emit()
        return Processors(index, minimum(Sum.of(rest), WARP))

    def _warps(self, mapping: Mapping, position: int) -> Processors:
        """One axis of the warps, x running fastest."""
        warp = self.warp()
        if SYMBOLIC in mapping.counts:
            return warp
        counts = dict(zip(mapping.axes, mapping.counts, strict=True))
        rest, wanted = warp.index, mapping.axes[position]
        given = [axis for axis in AXES if axis in counts]
        for axis in given:
            rest, inner = rest.divide(counts[axis]) if axis != given[-1] else (Sum(), rest)
            if axis == wanted:
                return Processors(inner, counts[axis])
        raise AssertionError(wanted)

    def sharers(self, mapping: Mapping, trips: Sequence[Bound]) -> list[tuple[Bound, Processors]]:
        """The iterations of each axis of a map and who shares them: of each dimension, or of all of them, row by row."""
        if mapping.every or len(mapping.axes) < len(trips):
            total = product(trips)
            return [(total, self.linear_thread() if mapping.every else self.along(mapping, 0, total))]
        self.order_blocks(mapping)
        return [(n, self.along(mapping, position, n)) for position, n in enumerate(trips)]

    def along(self, mapping: Mapping, position: int, trips: Bound) -> Processors:
        """The processors that a map puts to one of its axes, for a loop of `trips` iterations."""
        axis, count = mapping.axes[position], mapping.counts[position]
        if mapping.space == "grid":
            return self._grid(axis, count, trips)
        if mapping.space == "warps":
            return self._warps(mapping, position)
        if mapping.space == "lanes":
            return self.lane()
        if count == AS_MANY_AS_ITERATIONS:
            there = self.size(mapping.space, axis)
            return Processors(self.id(mapping.space, axis), there if isinstance(there, int) else trips)
        return Processors(self.id(mapping.space, axis), self.size(mapping.space, axis) if count == SYMBOLIC else count)

    def _grid(self, axis: str, count: int, trips: Bound) -> Processors:
        per_block, blocks = self.size("threads", axis), self.size("blocks", axis)
        block = self.id("blocks", axis)
        base = block.times(per_block) if isinstance(per_block, int) else Sum.of(multiply(block.emit(), per_block))
        index = base + self.id("threads", axis)
        if count == SYMBOLIC:
            return Processors(index, multiply(blocks, per_block))
        processors = trips if count == AS_MANY_AS_ITERATIONS else count
        exact = isinstance(blocks, int) and isinstance(per_block, int) and blocks * per_block == processors
        return Processors(index, processors, surplus=not exact)

    def _static(self, space: str, axis: str) -> int | None:
        sizes = self._geometry.static_grid() if space == "blocks" else self._geometry.static_block()
        return sizes[AXES.index(axis)]

    def _read(self, what: str, space: str, axis: str) -> ir.Value:
        key = (what, space, axis)
        if key not in self._values:
            op = getattr(gpu, _OPS[what, space])
            with ir.InsertionPoint.at_block_begin(self._entry):
                self._values[key] = op(getattr(gpu.Dimension, axis)).result
        return self._values[key]


# ---- `order grouped(n)`: in which order the blocks of a grid take its tiles ----------------------------------------------


def _grouped(y: Sum, x: Sum, rows: int, columns: int, group: int) -> tuple[Sum, Sum]:
    """The tile (y, x) of block (y, x) of a grid of `rows` x `columns`, x running fastest.

    With p the block's number, it is row `first + p % (group * columns) % height` and column
    `p % (group * columns) / height`, where `first` is its group's first row and `height` the group's: `group`, but for a last
    one that is cut. Emitted are divisions by these two numbers alone.

    Blocks that run at the same time have neighbouring numbers. Row by row they need one row of tiles of the left operand and all
    of the right one; in groups of n rows, column by column within the group, they need n and a few, which the L2 cache holds.

    Source: "grouped ordering" of Triton's matmul tutorial; CUTLASS calls it a threadblock swizzle.
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
        pairs = ((column, last_column), (row, last_row))
        column, row = (Sum.of(arith.SelectOp(whole, one.emit(), other.emit()).result) for one, other in pairs)
    return _coordinate(above.times(group) + row, rows), _coordinate(column, columns)


def _coordinate(total: Sum, extent: int) -> Sum:
    """The sum as a value of its own, below `extent`: an `arith.addi` is not composed into the affine maps of its uses, which
    would all work the order out again."""
    parts = [Sum(0, (term,)).emit() for term in total.terms] or [total.emit()]
    return Sum.of(reduce(lambda a, b: arith.AddIOp(a, b).result, parts), extent)
