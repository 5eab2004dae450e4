"""How many blocks and threads a launch has: every map in it has its say, and they must agree."""

from __future__ import annotations

import math
from collections.abc import Mapping as Table
from collections.abc import Sequence
from dataclasses import dataclass

from ...dsl.diagnostics import fail
from ..indices.arithmetic import Bound, ceildiv
from ..ir.mlir import ir
from ..launch.kernel import AXES
from ..session.rewriter import describe
from .mapping import AS_MANY_AS_ITERATIONS, SYMBOLIC
from .space import LoopDimension, loop_dimensions
from .trips import Mapped, most_trips, trip_counts
from .warps import check_warps, warp_threads

MAX_THREADS = 1024
MAX_BLOCK = {"x": 1024, "y": 1024, "z": 64}
MAX_GRID = {"x": 2**31 - 1, "y": 65535, "z": 65535}
_GRID_BLOCKS = {1: (256,), 2: (16, 16), 3: (4, 8, 8)}
"""Threads per block that `grid(…)` takes where no other map says, by the number of its axes (slowest first)."""
_SYMBOLIC_THREADS = 128


@dataclass(frozen=True)
class Geometry:
    """The shape of a launch.

    Args:
        grid: blocks along each axis: a number, or a function of the host's values (see `host_grid`).
        block: threads along each axis.
        symbolic: `(space, axis)` whose size the kernel reads at run time.
    """

    block: Table[str, int]
    blocks: Table[str, GridSize]
    symbolic: frozenset[tuple[str, str]]

    @property
    def threads(self) -> int:
        return math.prod(self.block.values())

    def static_block(self) -> tuple[int | None, ...]:
        return tuple(None if ("threads", a) in self.symbolic else self.block[a] for a in AXES)

    def static_grid(self) -> tuple[int | None, ...]:
        return tuple(None if ("blocks", a) in self.symbolic else self.blocks[a].static for a in AXES)


@dataclass(frozen=True)
class GridSize:
    """Blocks along one axis: `ceildiv(processors, per_block)`, where the processors may be a loop's trip count."""

    processors: int | LoopDimension
    per_block: int = 1

    @property
    def static(self) -> int | None:
        count = self.processors.static_trips if isinstance(self.processors, LoopDimension) else self.processors
        return None if count is None else max(ceildiv_number(count, self.per_block), 1)

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
                    hint="give a count and a distribution, e.g. `blocks(x: 64) cyclic`",
                )
            return values[bound]

        bounds = [translate(b) for b in (dimension.lower, dimension.upper, dimension.step)]
        return GridSize(LoopDimension(*bounds), self.per_block)

    def emit(self) -> Bound:
        """The number of blocks; emits index arithmetic where it is not a number."""
        if self.static is not None or isinstance(self.processors, int):
            return self.static or 1
        return ceildiv(self.processors.trips(), self.per_block)


def ceildiv_number(a: int, b: int) -> int:
    return -(-a // b)


def geometry_of(mapped: Sequence[Mapped]) -> Geometry:
    """The launch shape that all maps of a launch ask for. Raises W0346, W0352, W0353 or W0354."""
    asked: dict[str, dict[int, Mapped]] = {axis: {} for axis in AXES}
    symbolic: set[tuple[str, str]] = set()
    for one in mapped:
        if one.mapping.space == "threads" and not one.mapping.every:
            for axis, count in zip(one.mapping.axes, _thread_counts(one), strict=True):
                if count is None:
                    symbolic.add(("threads", axis))
                else:
                    asked[axis].setdefault(count, one)
    for axis, counts in asked.items():
        if len(counts) > 1:
            (first, a), (second, b) = list(counts.items())[:2]
            raise fail(
                "W0352",
                f"the maps of this launch disagree on the threads along {axis}: {first} and {second}",
                notes=(f"{a.mapping} on {describe(a.op)}", f"{b.mapping} on {describe(b.op)}"),
                hint=f"give both the same count along {axis}, and the smaller one a distribution",
            )
    block = {axis: next(iter(counts)) for axis, counts in asked.items() if counts}
    _grid_threads(mapped, block)
    warp_threads(mapped, block, symbolic)
    missing = sorted(axis for space, axis in symbolic if axis not in block)
    for position, axis in enumerate(missing):
        room = min(max(_SYMBOLIC_THREADS // math.prod(block.values()), 1), MAX_BLOCK[axis])
        block[axis] = room if position == 0 else 1
    _check_threads_exist(mapped, block)
    block = {axis: block.get(axis, 1) for axis in AXES}
    _check_block(block)
    check_warps(mapped, block, symbolic)
    blocks = _grid(mapped, block, symbolic)
    return Geometry(block, blocks, frozenset(symbolic))


def _thread_counts(one: Mapped) -> list[int | None]:
    counts: list[int | None] = []
    for axis, count, trips in zip(one.mapping.axes, one.mapping.counts, most_trips(one), strict=True):
        if count == AS_MANY_AS_ITERATIONS and trips is None:
            raise fail(
                "W0354",
                f"the threads along {axis} would be as many as the loop's iterations, and those are known only at run time",
                notes=(f"{one.mapping} on {describe(one.op)}",),
                hint=f"give a count and a distribution, e.g. `threads({axis}: 128) cyclic`",
            )
        counts.append(None if count == SYMBOLIC else max(trips or 0, 1) if count == AS_MANY_AS_ITERATIONS else count)
    return counts


def _grid_threads(mapped: Sequence[Mapped], block: dict[str, int]) -> None:
    """Let `grid(…)` choose the threads per block along axes that nobody else has given."""
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


def _check_threads_exist(mapped: Sequence[Mapped], block: dict[str, int]) -> None:
    for one in mapped:
        if one.mapping.every and not block:
            raise fail(
                "W0353",
                "`threads(*)` is as many threads as the launch's other maps make, and there is no other map over threads",
                notes=(f"{one.mapping} on {describe(one.op)}",),
                hint="map a loop of the launch to threads with a count, or this one: `threads(x: 256) cyclic`",
            )


def _check_block(block: dict[str, int]) -> None:
    total = math.prod(block.values())
    shape = " x ".join(str(block[a]) for a in AXES)
    if total > MAX_THREADS:
        raise fail(
            "W0346",
            f"a block of {shape} is {total} threads, and a block has at most {MAX_THREADS}",
            hint="give smaller counts and a distribution: `threads(y: 16, x: 16) cyclic`",
        )
    for axis, size in block.items():
        if size > MAX_BLOCK[axis]:
            raise fail(
                "W0346",
                f"a block has at most {MAX_BLOCK[axis]} threads along {axis}, not {size}",
                hint="use x for the long one",
            )


def _grid(mapped: Sequence[Mapped], block: dict[str, int], symbolic: set[tuple[str, str]]) -> dict[str, GridSize]:
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
            size = blocks[axis].static
            if size is not None and size > MAX_GRID[axis]:
                raise fail(
                    "W0346",
                    f"a grid has at most {MAX_GRID[axis]} blocks along {axis}, not {size}",
                    notes=(f"{one.mapping} on {describe(one.op)}",),
                    hint="put the long dimension on x, or give a count and a distribution",
                )
    return blocks


def _wanted(one: Mapped, position: int) -> int | LoopDimension:
    trips = trip_counts(one)[position]
    if trips is not None:
        return trips
    if one.op.name == "scf.forall":
        return loop_dimensions(one.op)[position]
    raise fail(
        "W0354",
        "the blocks would be as many as this op's iterations, and its extents are known only at run time",
        notes=(f"{one.mapping} on {describe(one.op)}",),
        hint="tile the op, and map the loop",
    )
