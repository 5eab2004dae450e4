"""Numbers that a loop carries, by the counter of its iterations: steps, short cycles, a few known values."""

from __future__ import annotations

from .algebra import Algebra
from .linear import Linear, Symbol

MOST_TABULATED = 64
"""Values of a number that a loop carries, e.g. which of its buffers is filled."""


def progression(
    algebra: Algebra, start: Linear, following: Linear, before: Symbol, counter: Symbol, trips: int | None
) -> Linear | None:
    """`start`, then `following` of the one `before`, …, by the counter of iterations."""
    difference = following - Linear.of(before)
    if difference.is_constant:
        return start + Linear.of(counter) * difference.constant
    if not start.is_constant or any(s is not before for s in following.symbols()):
        return None
    values = [start.constant]
    while len(values) < min(MOST_TABULATED, trips or MOST_TABULATED):
        value = following.value({before: values[-1]})
        assert value is not None
        if value == values[0]:
            return _cycle(algebra, values, counter)
        values.append(value)
    return algebra.tabulated(Linear.of(counter), 0, values) if trips == len(values) else None


def _cycle(algebra: Algebra, values: list[int], counter: Symbol) -> Linear:
    place = Linear.of(counter).modulo(len(values))
    if len(values) == 2:
        return place * (values[1] - values[0]) + values[0]
    return algebra.tabulated(place, 0, values)
