"""The numbers of blocks and threads of a launch, from all of its maps, which must agree."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping as Table
from collections.abc import Sequence

from ...dsl.diagnostics import fail
from ...dsl.records import record
from ..hardware import limits
from ..indices.arithmetic import Bound, ceildiv, multiply
from ..ir.mlir import ir
from ..ir.refusing import describe
from .clusters import BlockClusters
from .mapping import (
    AS_MANY_AS_ITERATIONS,
    ATTRIBUTE,
    AXES,
    SYMBOLIC,
    WARP,
    LoopDimension,
    Mapped,
    Mapping,
    loop_dimensions,
    most_trips,
    trip_counts,
)

MAX_BLOCK: dict[str, int] = dict(zip(AXES, limits.BLOCK, strict=True))
_GRID_BLOCKS = {1: (256,), 2: (16, 16), 3: (4, 8, 8)}
"""Threads per block of `grid(…)` where no other map sets them, by the number of its axes (slowest
first)."""
_SYMBOLIC_THREADS = 128
Size = tuple[int | None, int | None, int | None]
"""Along x, y, z; None where unknown before the launch."""


@record
class Geometry:
    """The shape of a launch.

    Args:
        grid: blocks along each axis: a number, or a function of the host's values (see
            `host_grid`).
        block: threads along each axis.
        symbolic: `(space, axis)` of sizes that the kernel reads at run time.
        cluster: the clusters of blocks, if any.
    """

    block: Table[str, int]
    blocks: Table[str, GridSize]
    symbolic: frozenset[tuple[str, str]]
    cluster: BlockClusters | None = None

    @property
    def threads(self) -> int:
        return math.prod(self.block.values())

    def static_block(self) -> Size:
        x, y, z = (None if ("threads", a) in self.symbolic else self.block[a] for a in AXES)
        return x, y, z

    def static_grid(self) -> Size:
        x, y, z = (None if ("blocks", a) in self.symbolic else self.blocks[a].static for a in AXES)
        return x, y, z

    def most_grid(self) -> list[int]:
        """Upper bounds of the blocks along x, y, z; -1 where unknown."""
        return [-1 if ("blocks", a) in self.symbolic else self.blocks[a].most for a in AXES]


@record
class GridSize:
    """Blocks along one axis: `ceildiv(processors, per_block) * times`, where the processors may be
    a loop's trip count."""

    processors: int | LoopDimension
    per_block: int = 1
    times: int = 1

    @property
    def static(self) -> int | None:
        count = self.processors.static_trips if isinstance(self.processors, LoopDimension) else self.processors
        return None if count is None else max(-(-count // self.per_block), 1) * self.times

    @property
    def most(self) -> int:
        """An upper bound of the blocks; -1 where unknown."""
        trips = self.processors.most_trips if isinstance(self.processors, LoopDimension) else self.processors
        return -1 if trips is None else max(-(-trips // self.per_block), 1) * self.times

    def on_host(self, values: Table[ir.Value, ir.Value]) -> GridSize:
        """The same size in terms of the host's values."""
        if self.static is not None or isinstance(self.processors, int):
            return self
        dimension = self.processors

        def translate(bound: Bound) -> Bound:
            if isinstance(bound, int):
                return bound
            if bound not in values:
                raise fail(
                    "W0354",
                    "the number of blocks depends on a value that the kernel computes",
                    "give a count and a distribution, e.g. `blocks(x: 64) cyclic`",
                )
            return values[bound]

        bounds = [translate(b) for b in (dimension.lower, dimension.upper, dimension.step)]
        return dataclasses.replace(self, processors=LoopDimension(*bounds))

    def emit(self) -> Bound:
        """The number of blocks; emits index arithmetic where not constant."""
        if self.static is not None or isinstance(self.processors, int):
            return self.static or 1
        return multiply(ceildiv(self.processors.trips(), self.per_block), self.times)


def geometry_of(mapped: Sequence[Mapped], cluster: BlockClusters | None = None) -> Geometry:
    """The launch shape required by all maps of a launch. Raises W0346, W0352, W0353 or W0354."""
    asked: dict[str, dict[int, Mapped]] = {axis: {} for axis in AXES}
    symbolic: set[tuple[str, str]] = set()
    for one in mapped:
        if one.mapping.space == "threads" and not one.mapping.every:
            for axis, count in zip(one.mapping.axes, _counts(one), strict=True):
                if count == SYMBOLIC:
                    symbolic.add(("threads", axis))
                else:
                    asked[axis].setdefault(count, one)
    for axis, counts in asked.items():
        if len(counts) > 1:
            (first, a), (second, b) = list(counts.items())[:2]
            raise fail(
                "W0352",
                f"the maps of this launch disagree on the threads along {axis}: {first} and {second}",
                f"give both maps `{axis}: {max(first, second)}`, and the one of fewer iterations a distribution,"
                f" `cyclic`",
                notes=(_map_text(a), _map_text(b)),
            )
    block = {axis: next(iter(counts)) for axis, counts in asked.items() if counts}
    _grid_threads(mapped, block)
    _warp_threads(mapped, block, symbolic)
    missing = sorted(axis for space, axis in symbolic if axis not in block)
    for position, axis in enumerate(missing):
        room = min(max(_SYMBOLIC_THREADS // math.prod(block.values()), 1), MAX_BLOCK[axis])
        block[axis] = room if position == 0 else 1
    for one in mapped:
        if one.mapping.every and not block:
            raise fail(
                "W0353",
                "`threads(*)` is as many threads as the launch's other maps make, and there is no other map over"
                " threads",
                "map a loop of the launch to threads with a count, or this one: `threads(x: 256) cyclic`",
                notes=(_map_text(one),),
            )
    block = {axis: block.get(axis, 1) for axis in AXES}
    _check_block(block)
    _check_warps(mapped, block, symbolic)
    blocks = _grid(mapped, block, symbolic, cluster)
    return Geometry(block, blocks, frozenset(symbolic), cluster)


_USUAL = {"threads": 128, "warpgroups": 1, "warps": 4}


def _counts(one: Mapped) -> list[int]:
    """The counts of a map within a block, `SYMBOLIC` among them; the number of iterations where
    none was given. Raises W0354."""
    mapping, counts = one.mapping, list[int]()
    for axis, count, trips in zip(mapping.axes, mapping.counts, most_trips(one), strict=True):
        if count == AS_MANY_AS_ITERATIONS and trips is None:
            space = mapping.space
            raise fail(
                "W0354",
                f"the {space} along {axis} would be as many as the loop's iterations, and those are known only at run"
                f" time",
                f"give a count and a distribution, e.g. `{space}({axis}: {_USUAL[space]}) cyclic`",
                notes=(_map_text(one),),
            )
        counts.append(max(trips or 1, 1) if count == AS_MANY_AS_ITERATIONS else count)
    return counts


def _map_text(one: Mapped) -> str:
    return f"{one.mapping} on {describe(one.op)}"


def _grid_threads(mapped: Sequence[Mapped], block: dict[str, int]) -> None:
    """Sets the threads per block of `grid(…)` along axes that no other map has set."""
    for one in mapped:
        if one.mapping.space != "grid":
            continue
        preferred = _GRID_BLOCKS[len(one.mapping.axes)]
        for axis, count, trips, usual in zip(
            one.mapping.axes, one.mapping.counts, trip_counts(one), preferred, strict=True
        ):
            wanted = trips if count == AS_MANY_AS_ITERATIONS else count if count > 0 else None
            threads = min(usual, MAX_BLOCK[axis])
            block.setdefault(axis, min(threads, max(wanted, 1)) if wanted is not None else threads)


def _check_block(block: dict[str, int]) -> None:
    total = math.prod(block.values())
    shape = " x ".join(str(block[a]) for a in AXES)
    if total > limits.THREADS:
        raise fail(
            "W0346",
            f"a block of {shape} is {total} threads, and a block has at most {limits.THREADS}",
            "give smaller counts and a distribution: `threads(y: 16, x: 16) cyclic`",
        )
    for axis, size in block.items():
        if (wrong := limits.too_long(axis, size)) is not None:
            raise fail("W0346", *wrong)


def _grid(
    mapped: Sequence[Mapped], block: dict[str, int], symbolic: set[tuple[str, str]], cluster: BlockClusters | None
) -> dict[str, GridSize]:
    blocks = {axis: GridSize(1) for axis in AXES}
    for one in mapped:
        if one.mapping.space not in ("blocks", "grid"):
            continue
        for position, (axis, count) in enumerate(zip(one.mapping.axes, one.mapping.counts, strict=True)):
            per_block = block[axis] if one.mapping.space == "grid" else 1
            if count == SYMBOLIC:
                symbolic.add(("blocks", axis))
                per_block *= one.mapping.chunk or 1
            blocks[axis] = GridSize(_wanted(one, position) if count < 0 else count, per_block)
            if cluster is not None and axis == "x" and not (one.mapping.orders_grid and cluster.dimension != position):
                blocks[axis] = dataclasses.replace(blocks[axis], per_block=cluster.size, times=cluster.size)
        if one.mapping.orders_grid:
            together = 1 if cluster is None else cluster.size
            _in_groups(one.mapping, one.mapping.group or together, blocks, cluster)
    _check_grid(blocks, [one for one in mapped if one.mapping.space in ("blocks", "grid")])
    return blocks


def _check_grid(blocks: dict[str, GridSize], over_blocks: list[Mapped]) -> None:
    """W0346 for a grid that exceeds the hardware's limits, whatever the host's values."""
    x, y, z = (max(blocks[axis].static or 1, 1) for axis in AXES)
    if (wrong := limits.too_many((x, y, z))) is not None:
        raise fail("W0346", wrong, limits.FEWER_BLOCKS, notes=tuple(map(_map_text, over_blocks)))


def _in_groups(mapping: Mapping, group: int, blocks: dict[str, GridSize], cluster: BlockClusters | None) -> None:
    """A grid with a size known only at run time, or of clusters, has a row of blocks for each group
    of rows of tiles: see `Hardware.order_blocks`."""
    x, y = sorted(mapping.axes)
    if group == 1:
        return
    if (rows := blocks[y].static) is None or blocks[x].static is None or cluster is not None:
        each = 1 if cluster is None else cluster.size
        height = group if rows is None else min(group, -(-rows // each) * each)
        blocks[x] = dataclasses.replace(blocks[x], times=height)
        blocks[y] = dataclasses.replace(blocks[y], per_block=height)


def _wanted(one: Mapped, position: int) -> int | LoopDimension:
    trips = trip_counts(one)[position]
    if trips is not None:
        return trips
    linear = one.op.name == "scf.forall" and len(one.mapping.axes) < len(loop_dimensions(one.op))
    if one.op.name == "scf.forall" and not linear:
        return loop_dimensions(one.op)[position]
    what = "loop" if linear else "op"
    raise fail(
        "W0354",
        f"the blocks would be as many as this {what}'s iterations, and its extents are known only at run time",
        "give a count: `blocks(x: 132) cyclic`" if linear else "`tile` the op, and `map` the loop",
        notes=(_map_text(one),),
    )


# ---- warps and lanes: the block's threads in another order -----------------------------------------------------------


def count_warps(one: Mapped) -> Mapped:
    """Sets the counts of a map to `warps(x)` or `warpgroups(x)`: the number of iterations. Other
    maps are unchanged. Raises W0354."""
    if one.mapping.space not in ("warps", "warpgroups") or AS_MANY_AS_ITERATIONS not in one.mapping.counts:
        return one
    mapping = dataclasses.replace(one.mapping, counts=tuple(_counts(one)))
    one.op.attributes[ATTRIBUTE] = mapping.attribute()
    return dataclasses.replace(one, mapping=mapping)


def _warp_threads(mapped: Sequence[Mapped], block: dict[str, int], symbolic: set[tuple[str, str]]) -> None:
    """Sets the threads of a block by `warpgroups(…)`, `warps(…)` and `lanes` where no map over
    threads has set them."""
    warps = [one for one in mapped if one.mapping.space in ("warps", "warpgroups")]
    lanes = any(one.mapping.space == "lanes" for one in mapped)
    if block or any(space == "threads" for space, _ in symbolic) or not (warps or lanes):
        return
    known = [one.mapping for one in warps if SYMBOLIC not in one.mapping.counts]
    if known:
        block["x"] = math.prod(known[0].counts) * limits.IN_WARPS[known[0].space]
    elif warps:
        symbolic.add(("threads", "x"))
    else:
        block["x"] = WARP


def _check_warps(mapped: Sequence[Mapped], block: dict[str, int], symbolic: set[tuple[str, str]]) -> None:
    """Checks that the block is a whole number of warps, as many as each map over warps has (W0352),
    and that each warp has all lanes that a map over lanes takes (W0345)."""
    grouped = [one for one in mapped if one.mapping.space in limits.IN_WARPS]
    if not grouped:
        return
    threads, at_run_time = math.prod(block.values()), any(space == "threads" for space, _ in symbolic)
    shape = " x ".join(str(size) for size in block.values() if size > 1) or "1"
    for one in grouped:
        where = (_map_text(one),)
        if threads % WARP:
            raise fail(
                "W0352",
                f"a block of {shape} threads is not a whole number of warps of {WARP}",
                f"choose counts for `threads` with a product that is a multiple of {WARP}, such as"
                f" `threads(x: {-(-threads // WARP) * WARP})`",
                notes=where,
            )
        if one.mapping.space == "quarters":
            continue
        if one.mapping.space == "lanes":
            if at_run_time and (one.mapping.dist is None or not one.mapping.is_whole):
                raise fail(
                    "W0345",
                    "the last warp of a block whose size is known only at run time may have fewer than "
                    f"{WARP} lanes, and without a distribution each lane gets one iteration",
                    "state which iterations a lane executes: `lanes cyclic`",
                    notes=where,
                )
            continue
        count, each, what = (
            math.prod(one.mapping.counts),
            limits.IN_WARPS[one.mapping.space],
            limits.CALLED[one.mapping.space],
        )
        if SYMBOLIC not in one.mapping.counts and (at_run_time or count * each != threads):
            there = "of a number known only at run time" if at_run_time else f"{threads / each:g}"
            raise fail(
                "W0352",
                f"the maps of this launch disagree on the {what} of a block: {count}, and {there}",
                f"{count} {what} are {count * each} threads: `map` the other loops to as many, such as"
                f" `threads(x: {count * each})`",
                notes=where,
            )
