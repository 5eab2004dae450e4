"""The sizes at which kernels are compared: the sizes for which they are built; for sizes known only
at run time, sizes around whole tiles; and in place of sizes that are too large, smaller sizes that
the payload's builder accepts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import lcm, prod
from typing import Any

from ..dsl.diagnostics import Source
from ..payloads.settings import builder_of
from ..pipeline import Recipe
from ..recipes.builder import Value
from ..runtime.plan.plan import Apply, Plan

PRIME = 67
"""A size that no tile divides and that takes more than one warp."""
LARGEST_TILE = 1 << 17
FEWEST, MOST = 64, 256
"""The bounds of the first period: the modulus to which large sizes are reduced."""
TRIES = 3
"""The maximal number of smaller payloads that are scheduled."""


def open_sizes(plan: Plan) -> tuple[int, ...]:
    """Values for all sizes known only at run time: 0, 1, a prime, one less and one more than a
    tile; and each of these rounded up to the multiples that a version assumes."""
    tiles = sorted(_tiles(plan))
    wanted = (
        {0, 1, PRIME, *(tile + more for tile in {tiles[0], tiles[-1]} for more in (-1, 1))} if tiles else {0, 1, PRIME}
    )
    multiples = {lcm(*(a.multiple for a in (*plan.assumptions, *one))) for one in plan.versions or ((),)}
    wanted |= {-(-size // each) * each for size in wanted for each in multiples if each <= LARGEST_TILE}
    return tuple(sorted(wanted))


def _tiles(plan: Plan) -> set[int]:
    """The divisors of sizes in the grids of launches; if there are none, the number of threads of
    each launch or block."""
    divisors = [n for step in plan.launches for size in step.grid for n in _divisors(size)]
    threads = [prod(n for n in (*step.block, *step.grid) if isinstance(n, int)) for step in plan.launches]
    return {n for n in divisors or threads if 1 < n <= LARGEST_TILE}


def _divisors(size: Any) -> Iterator[int]:
    if isinstance(size, Apply):
        if size.operator in ("div", "floordiv", "ceildiv") and isinstance(size.right, int):
            yield size.right
        yield from (n for side in (size.left, size.right) for n in _divisors(side))


def smaller(recipe: Recipe) -> Iterator[Recipe]:
    """The recipe with smaller payloads of the same builder, and the same parameters of the
    schedule. Each size stays the same modulo a power of two, so that the same tiles divide it as
    before."""
    builder = builder_of(recipe.file, recipe.choice.payload) if recipe.payload_values else None
    if builder is None:
        return
    tiles = [v for v in recipe.values.values() if isinstance(v, int) and not isinstance(v, bool) and v <= MOST]
    first = min(MOST, max(FEWEST, 2 << (max(tiles, default=1) - 1).bit_length()))  # two tiles, unless tiles are large
    kept = dict(recipe.payload_values)
    for period in (first << n for n in range(TRIES)):
        values: dict[str, Value] = {
            p.name: shrunk(kept[p.name], period) if p.type == "int" and not p.domain else kept[p.name]
            for p in builder.parameters
        }
        if values == kept or (builder.misfit is not None and builder.misfit(**values) is not None):
            continue
        yield replace(recipe, payload=Source(f"{builder.name}.mlir", builder.build(**values)), payload_values=values)


def shrunk(size: Value, period: int) -> Value:
    """The smallest size ≥ `period` that is equal to `size` modulo `period`; a size below 2 ×
    `period` is kept."""
    return size if not isinstance(size, int) or size < 2 * period else period + size % period
