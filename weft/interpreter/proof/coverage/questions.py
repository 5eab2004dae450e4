"""Questions to ISL about the counters of one execution."""

from __future__ import annotations

from collections.abc import Sequence

from ...indices.linear import Formula, Linear, Symbol, at_least, either, less
from ..solver import Naming, Solver, Unknown, coordinates, described


def point_where(formulas: Sequence[Formula]) -> dict[Symbol, int] | None:
    """Values of the symbols for which all formulas hold; None where there are none."""
    naming, solver = Naming(""), Solver()
    names, parts = described((naming,), [naming.formula(f) for f in formulas])
    found = solver.point(names, parts, names)
    if found is None:
        return None
    there = dict(zip(names, coordinates(found), strict=True))
    return {symbol: there[name] for symbol, name in naming.names.items()}


def is_zero(form: Linear, guards: Sequence[Formula]) -> bool:
    """Whether a form is 0 wherever it is asked for."""
    if form.is_constant:
        return form.constant == 0
    try:
        return point_where([*guards, either(at_least(form, 1), less(form, Linear.of(0)))]) is None
    except Unknown:
        return False
