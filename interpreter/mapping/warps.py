"""Warps and lanes: the block's threads in another order. Warp and lane are the linear thread id divided by 32, and the rest."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from ...dsl.diagnostics import fail
from ..session.rewriter import describe
from .mapping import AS_MANY_AS_ITERATIONS, ATTRIBUTE, SYMBOLIC, WARP
from .trips import Mapped, most_trips


def count_warps(one: Mapped) -> Mapped:
    """Give a map to `warps(x)` its counts: as many warps as iterations. Other maps stay as they are. Raises W0354."""
    if one.mapping.space != "warps" or AS_MANY_AS_ITERATIONS not in one.mapping.counts:
        return one
    counts: list[int] = []
    for axis, count, trips in zip(one.mapping.axes, one.mapping.counts, most_trips(one), strict=True):
        if count == AS_MANY_AS_ITERATIONS and trips is None:
            raise fail(
                "W0354",
                f"the warps along {axis} would be as many as the loop's iterations, and those are known only at run time",
                notes=(f"{one.mapping} on {describe(one.op)}",),
                hint=f"give a count and a distribution, e.g. `warps({axis}: 4) cyclic`",
            )
        counts.append(max(trips or 1, 1) if count == AS_MANY_AS_ITERATIONS else count)
    mapping = dataclasses.replace(one.mapping, counts=tuple(counts))
    one.op.attributes[ATTRIBUTE] = mapping.attribute()
    return dataclasses.replace(one, mapping=mapping)


def warp_threads(mapped: Sequence[Mapped], block: dict[str, int], symbolic: set[tuple[str, str]]) -> None:
    """Let `warps(…)` and `lanes` choose the threads of a block that no map over threads has given."""
    warps = [one for one in mapped if one.mapping.space == "warps"]
    lanes = any(one.mapping.space == "lanes" for one in mapped)
    if block or any(space == "threads" for space, _ in symbolic) or not (warps or lanes):
        return
    counted = [math.prod(one.mapping.counts) for one in warps if SYMBOLIC not in one.mapping.counts]
    if counted:
        block["x"] = counted[0] * WARP
    elif warps:
        symbolic.add(("threads", "x"))
    else:
        block["x"] = WARP


def check_warps(mapped: Sequence[Mapped], block: dict[str, int], symbolic: set[tuple[str, str]]) -> None:
    """W0352: the block is a whole number of warps, as many as each map over warps says. W0345: so are its lanes."""
    grouped = [one for one in mapped if one.mapping.space in ("warps", "lanes")]
    if not grouped:
        return
    threads, at_run_time = math.prod(block.values()), any(space == "threads" for space, _ in symbolic)
    shape = " x ".join(str(size) for size in block.values() if size > 1) or "1"
    for one in grouped:
        where = (f"{one.mapping} on {describe(one.op)}",)
        if threads % WARP:
            raise fail(
                "W0352",
                f"a block of {shape} threads is no whole number of warps of {WARP}",
                notes=where,
                hint=f"make the threads of the block a multiple of {WARP}",
            )
        if one.mapping.space == "lanes":
            if at_run_time and one.mapping.dist is None:
                raise fail(
                    "W0345",
                    "the last warp of a block whose size is known only at run time may have fewer than "
                    f"{WARP} lanes, and without a distribution each lane gets one iteration",
                    notes=where,
                    hint="say which iterations a lane gets: `lanes cyclic`",
                )
            continue
        count = math.prod(one.mapping.counts)
        if SYMBOLIC not in one.mapping.counts and (at_run_time or count * WARP != threads):
            there = "of a number known only at run time" if at_run_time else f"{threads // WARP}"
            raise fail(
                "W0352",
                f"the maps of this launch disagree on the warps of a block: {count}, and {there}",
                notes=where,
                hint=f"{count} warps are {count * WARP} threads: give all maps counts that make as many",
            )
