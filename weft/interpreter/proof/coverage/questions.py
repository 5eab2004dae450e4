"""Questions to ISL about the counters of one execution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from ...indices.linear import Formula, Linear, Symbol, at_least, either, equal, involved, less
from ..solver import Naming, Solver, Unknown, coordinates, described

AGAIN = 4
"""How often a question is asked again without a point that cannot be."""


def point_where(formulas: Sequence[Formula]) -> dict[Symbol, int] | None:
    """Values of the symbols for which all formulas hold; None where there are none. What products, quotients and
    remainders are is not asked of ISL, but that they are the same of the same numbers."""
    asked, found = list(formulas), _point(formulas)
    for _ in range(AGAIN):
        more = [] if found is None else list(_contradicted(asked, found))
        if not more:
            return found
        asked += more
        try:
            found = _point(asked)
        except Unknown:
            return found
    return found


def _point(formulas: Sequence[Formula]) -> dict[Symbol, int] | None:
    naming, solver = Naming(""), Solver()
    names, parts = described((naming,), [naming.formula(f) for f in formulas])
    found = solver.point(names, parts, names)
    if found is None:
        return None
    there = dict(zip(names, coordinates(found), strict=True))
    return {symbol: there[name] for symbol, name in naming.names.items()}


def _contradicted(formulas: Sequence[Formula], point: Mapping[Symbol, int]) -> Iterator[Formula]:
    """Of numbers that one operation makes of the same operands but one, and that differ at a point where these do not:
    that they are the same there."""
    made = [(s, s.made) for s in involved(*formulas) if s.made is not None and s in point]
    for (one, by), (other, its) in combinations(made, 2):
        if by.operation != its.operation or len(by.operands) != len(its.operands) or point[one] == point[other]:
            continue
        apart = [pair for pair in zip(by.operands, its.operands, strict=True) if pair[0] != pair[1]]
        if len(apart) == 1 and (apart[0][0] - apart[0][1]).value(point) in (0, None):
            a, b = apart[0]
            yield either(less(a, b), less(b, a), equal(Linear.of(one), Linear.of(other)))


def is_zero(form: Linear, guards: Sequence[Formula]) -> bool:
    """Whether a form is 0 wherever it is asked for."""
    if form.is_constant:
        return form.constant == 0
    try:
        return point_where([*guards, either(at_least(form, 1), less(form, Linear.of(0)))]) is None
    except Unknown:
        return False
