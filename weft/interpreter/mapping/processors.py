"""The processors of a kernel as index values, and the iterations that each owns as loops and
guards.

With n iterations over P processors, p the processor:

| | iterations of p |
|---|---|
| one each | p, where p < n |
| `block` | the contiguous chunk `[p*c, min((p+1)*c, n))`, c = ceildiv(n, P) |
| `cyclic` | p, p+P, p+2P, … below n |
| `block-cyclic(b)` | chunks of b at p*b, p*b + P*b, … |

`block` and `cyclic` are the extremes of `block-cyclic`: chunks of ceildiv(n, P), and chunks of 1.
So one emitter serves all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ...dsl.records import record
from ..hardware.limits import GROUP_WARPS, WARP
from ..indices.arithmetic import (
    Bound,
    ceildiv,
    conjunction,
    divide,
    index_of,
    inside,
    less,
    minimum,
    multiply,
    value_of,
)
from ..indices.linear import Linear
from ..indices.values import divisible, largest
from ..ir.mlir import gpu, ir, scf
from .curves import along_curve
from .geometry import Geometry
from .mapping import AS_MANY_AS_ITERATIONS, AXES, SYMBOLIC, Mapping, product
from .orders import by_groups, coordinate, grouped_blocks
from .participants import ThreadDigit

Emit = Callable[[Linear], None]
"""Emits the body of one iteration, at the ambient insertion point, for the iteration with this
index."""


@record
class Processors:
    """The processors that share the iterations of one dimension.

    Args:
        index: p, of the current processor.
        count: P.
        surplus: processors with p >= P exist, and own nothing (`grid(x: 100)` in blocks of 64).
    """

    index: Linear
    count: Bound
    surplus: bool = False


def for_each_owned(n: Bound, by: Processors, dist: str | None, chunk: int | None, body: Emit) -> None:
    """Emits `body` for every iteration in [0, n) that the processor owns, with minimal control
    flow."""
    if by.surplus and not (dist is None and by.count == n):
        with when(less(by.index, by.count)):
            return for_each_owned(n, Processors(by.index, by.count), dist, chunk, body)
    if dist is None:
        return _one_each(n, by, body)
    most = largest(n)
    if dist == "block":
        few = most is not None and isinstance(by.count, int) and most <= by.count
        return _one_chunk(n, by, 1 if few else ceildiv(n, by.count), body)
    size = chunk if dist == "block-cyclic" and chunk is not None else 1
    stride = multiply(by.count, size)
    if most is not None and isinstance(stride, int) and stride >= most:
        return _one_chunk(n, by, size, body)
    first = by.index * size  # chunks at p*size, p*size + stride, …
    if isinstance(n, int) and isinstance(stride, int) and n % stride == 0:
        trips = n // stride
        return _loop(0, trips, 1, lambda t: _chunk(first + index_of(t, trips) * stride, size, n, True, body))
    known, whole = (n, n % size == 0) if isinstance(n, int) else (None, False)
    return _loop(value_of(first), n, stride, lambda base: _chunk(index_of(base, known), size, n, whole, body))


def _one_each(n: Bound, by: Processors, body: Emit) -> None:
    if not by.surplus and (by.count == n or (isinstance(n, int) and isinstance(by.count, int) and by.count < n)):
        return body(by.index)
    with when(*inside(by.index, n)):
        body(by.index)


def _one_chunk(n: Bound, by: Processors, size: Bound, body: Emit) -> None:
    """Processor p owns [p*size, min((p+1)*size, n)), which together cover [0, n)."""
    if size == 1:
        return _one_each(n, by, body)
    if isinstance(size, int):
        first = by.index * size
        _chunk(first, size, n, multiply(by.count, size) == n, body)
        return
    first = index_of(multiply(value_of(by.index), size))
    _loop(value_of(first), minimum(first + index_of(size), n), 1, lambda i: body(index_of(i)))


def _chunk(first: Linear, size: int, n: Bound, whole: bool, body: Emit) -> None:
    """The iterations [first, first + size), cut at n unless the chunk is known to be `whole`."""
    if size == 1:
        return body(first)
    if whole:
        _loop(0, size, 1, lambda j: body(first + index_of(j, size)))
    else:
        end = minimum(first + size, n)
        _loop(value_of(first), end, 1, lambda i: body(index_of(i, n if isinstance(n, int) else None)))


def _loop(start: Bound, stop: Bound, step: Bound, body: Callable[[ir.Value], None]) -> None:
    loop = scf.ForOp(value_of(start), value_of(stop), value_of(step))
    with ir.InsertionPoint(loop.body):
        body(loop.induction_variable)
        scf.YieldOp([])


def loop_over(trips: Bound, body: Emit) -> None:
    """Emits `body` for 0 … trips - 1: a loop, or the body alone for a single iteration."""
    if trips == 1:
        return body(Linear.of())
    return _loop(0, trips, 1, lambda e: body(index_of(e, trips if isinstance(trips, int) else largest(trips))))


def for_each(trips: Sequence[Bound], body: Callable[[Sequence[Linear]], None]) -> None:
    """Emits `body` for all iterations of a nest."""

    def nest(at: tuple[Linear, ...]) -> None:
        if len(at) == len(trips):
            return body(at)
        loop_over(trips[len(at)], lambda e: nest((*at, e)))

    nest(())


@contextmanager
def when(*conditions: ir.Value) -> Iterator[None]:
    """Code emitted inside is under a `scf.if` of all the conditions, if there are any."""
    if not conditions:
        yield
        return
    with ir.InsertionPoint(scf.IfOp(conjunction(conditions)).then_block):
        yield
        scf.YieldOp([])


_OPS = {
    ("id", "blocks"): "BlockIdOp",
    ("id", "threads"): "ThreadIdOp",
    ("rank", "blocks"): "ClusterBlockIdOp",
    ("size", "blocks"): "GridDimOp",
    ("size", "threads"): "BlockDimOp",
}
"""By name: looked up on use, so that the bindings need not be loaded before."""


class Hardware:
    """Ids and sizes, each read once, at the top of the kernel; an axis with a single processor
    costs nothing."""

    def __init__(self, entry: ir.Block, geometry: Geometry) -> None:
        self._entry = entry
        self.geometry = geometry
        self._values: dict[tuple[str, str, str], ir.Value] = {}
        self._tiles: dict[str, Processors] = {}
        self._cluster: Linear | None = None

    def size(self, space: str, axis: str) -> Bound:
        """The number of blocks or threads along an axis: a number where the launch fixes it."""
        static = self._static(space, axis)
        return static if static is not None else self._read("size", space, axis)

    def in_cluster(self, iteration: Linear, extent: Bound) -> Linear:
        """The iteration of this block, from that of the first block of its cluster."""
        cluster = self.geometry.cluster
        assert cluster is not None, "a launch without clusters"
        if iteration == self.id("blocks", "x"):
            return index_of(self._read("id", "blocks", "x"), extent if isinstance(extent, int) else None)
        return coordinate(iteration + index_of(self.rank(), cluster.size), extent if isinstance(extent, int) else None)

    def rank(self) -> ir.Value:
        """The rank of this block in its cluster."""
        return self._read("rank", "blocks", "x")

    def _first_of_cluster(self, size: int) -> Linear:
        """The number along x of the cluster's first block."""
        if self._cluster is None:
            block, extent = self._read("id", "blocks", "x"), self._static("blocks", "x")
            with ir.InsertionPoint.after(block.owner.operation):
                self._cluster = divide(index_of(block, extent), size)[0]
        return self._cluster * size

    def order_blocks(self, mapping: Mapping, trips: Sequence[Bound]) -> None:
        """Replaces a block's id, from now on, by that of its tile in the map's order."""
        if not mapping.orders_grid:
            return
        x, y = sorted(mapping.axes)
        rows, columns = self._static("blocks", y), self._static("blocks", x)
        index, group = (self.id("blocks", y), self.id("blocks", x)), mapping.group or 1
        if mapping.hilbert:
            together = 1 if self.geometry.cluster is None else self.geometry.cluster.size
            assert rows is not None and columns is not None, "an order in a table"
            columns //= together
            row, column = along_curve(index[0] * columns + divide(index[1], together)[0], rows, columns)
            rows *= together
            tiles = Processors(coordinate(row * together, rows), rows), Processors(coordinate(column, columns), columns)
        elif rows is None or columns is None or (self.geometry.cluster is not None and group > 1):
            wanted = {
                axis: n if count < 0 else count
                for axis, count, n in zip(mapping.axes, mapping.counts, trips, strict=True)
            }
            row, column, height = by_groups(*index, wanted[y], group)
            surplus = not divisible(wanted[y], height)
            tiles = Processors(row, wanted[y], surplus=surplus), Processors(column, wanted[x])
        else:
            row, column = grouped_blocks(*index, rows, columns, group)
            tiles = Processors(coordinate(row, rows), rows), Processors(coordinate(column, columns), columns)
        self._tiles = dict(zip((y, x), tiles, strict=True))

    def id(self, space: str, axis: str) -> Linear:
        """The block's or thread's number; along x of clusters that of the first block: see
        `in_cluster`."""
        extent = self._static(space, axis)
        if self.geometry.cluster is not None and (space, axis) == ("blocks", "x"):
            return self._first_of_cluster(self.geometry.cluster.size)
        return Linear.of() if extent == 1 else index_of(self._read("id", space, axis), extent)

    def linear_thread(self) -> Processors:
        """The thread's number in its block (x fastest), and the number of threads."""
        index, count = Linear.of(), 1
        for axis in AXES:
            if isinstance(count, int):
                index = index + self.id("threads", axis) * count
            else:
                index = index + index_of(multiply(value_of(self.id("threads", axis)), count))
            count = multiply(self.size("threads", axis), count)
        return Processors(index, count)

    def warp(self) -> Processors:
        """The thread's warp in its block, and the number of warps, including a last one that is not
        full."""
        threads = self.linear_thread()
        index, _ = divide(threads.index, WARP)
        return Processors(index, ceildiv(threads.count, WARP))

    def lane(self) -> Processors:
        """The thread's lane in its warp, and the number of lanes: 32, except for the last warp of a
        block of run-time size."""
        threads = self.linear_thread()
        warp, index = divide(threads.index, WARP)
        if isinstance(threads.count, int):
            return Processors(index, WARP)
        rest = value_of(index_of(threads.count) + warp * -WARP)
        return Processors(index, minimum(index_of(rest), WARP))

    def group(self) -> Processors:
        """The thread's warp group in its block, and the number of warp groups."""
        threads = self.linear_thread()
        index, _ = divide(threads.index, WARP * GROUP_WARPS)
        return Processors(index, ceildiv(threads.count, WARP * GROUP_WARPS))

    def thread_of_group(self) -> Processors:
        """The thread's number in its warp group."""
        _, index = divide(self.linear_thread().index, WARP * GROUP_WARPS)
        return Processors(index, WARP * GROUP_WARPS)

    def quarter(self) -> Processors:
        """The thread's warp in its warp group."""
        index, _ = divide(self.thread_of_group().index, WARP)
        return Processors(index, GROUP_WARPS)

    def digit(self, one: ThreadDigit) -> Linear:
        """A digit of the thread's number in its block."""
        above, _ = divide(self.linear_thread().index, one.stride)
        return above if one.top else divide(above, one.radix)[1]

    def lanes(self, axis: str, count: int) -> Processors:
        """Rows (`y`) or columns (`x`, fastest) of the lanes of a warp."""
        row, column = divide(self.lane().index, WARP // count if axis == "y" else count)
        return Processors(row if axis == "y" else column, count)

    def _numbered(self, number: Processors, mapping: Mapping) -> list[Processors]:
        """The axes of the warps or warp groups, x fastest."""
        if SYMBOLIC in mapping.counts:
            return [number]
        counts = dict(zip(mapping.axes, mapping.counts, strict=True))
        *faster, last = (axis for axis in AXES if axis in counts)
        rest, index = number.index, dict[str, Linear]()
        for axis in faster:
            rest, index[axis] = divide(rest, counts[axis])
        index[last] = rest
        return [Processors(index[axis], count) for axis, count in counts.items()]

    def sharers(self, mapping: Mapping, trips: Sequence[Bound]) -> list[tuple[Bound, Processors]]:
        """The iterations of each axis of a map with the processors that share them: per dimension,
        or for all of them, row by row."""
        if mapping.every:
            return [(product(trips), self.linear_thread())]
        if len(mapping.axes) < len(trips):
            trips = [product(trips)]
        else:
            self.order_blocks(mapping, trips)
        if mapping.space in ("warps", "warpgroups"):
            found = self._numbered(self.warp() if mapping.space == "warps" else self.group(), mapping)
        else:
            found = [self.along(mapping, position, n) for position, n in enumerate(trips)]
        return list(zip(trips, found, strict=False))

    def along(self, mapping: Mapping, position: int, trips: Bound) -> Processors:
        """The processors of a map along one of its axes, for a loop of `trips` iterations; for
        warps see `_numbered`."""
        axis, count = mapping.axes[position], mapping.counts[position]
        if mapping.orders_grid:
            return self._tiles[axis]
        if mapping.space == "grid":
            per_block, blocks = self.size("threads", axis), self.size("blocks", axis)
            block = self.id("blocks", axis)
            base = block * per_block if isinstance(per_block, int) else index_of(multiply(value_of(block), per_block))
            index = base + self.id("threads", axis)
            if count == SYMBOLIC:
                return Processors(index, multiply(blocks, per_block))
            processors = trips if count == AS_MANY_AS_ITERATIONS else count
            exact = isinstance(blocks, int) and isinstance(per_block, int) and blocks * per_block == processors
            return Processors(index, processors, surplus=not exact)
        if mapping.is_whole:
            return self.lane() if mapping.space == "lanes" else self.quarter()
        if mapping.space == "lanes":
            return self.lanes(axis, count)
        if count == AS_MANY_AS_ITERATIONS:
            there = self.size(mapping.space, axis)
            return Processors(self.id(mapping.space, axis), there if isinstance(there, int) else trips)
        return Processors(self.id(mapping.space, axis), self.size(mapping.space, axis) if count == SYMBOLIC else count)

    def _static(self, space: str, axis: str) -> int | None:
        sizes = self.geometry.static_grid() if space == "blocks" else self.geometry.static_block()
        return sizes[AXES.index(axis)]

    def _read(self, what: str, space: str, axis: str) -> ir.Value:
        key = (what, space, axis)
        if key not in self._values:
            op = getattr(gpu, _OPS[what, space])
            with ir.InsertionPoint.at_block_begin(self._entry):
                self._values[key] = op(getattr(gpu.Dimension, axis)).result
        return self._values[key]
