"""Sizes and numeric arguments known only at run time, on which conflicts depend: the conditions on
them under which a conflict exists, as text."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from ...indices.algebra import at_or_above
from ...indices.linear import Linear, Symbol
from ..solver import Unknown
from .relations import PairClass


def given_numbers(pair: PairClass) -> dict[str, Linear]:
    """The numbers on which the pair depends, by name, as forms in the symbols of the pair."""
    given = pair.model.given
    return {
        name: pair.x.form(form) for name, form in given.items() if pair.shared_names.names.keys() >= set(form.symbols())
    }


def needed(pair: PairClass, left: isl.Set | None, given: Mapping[str, Linear]) -> tuple[str, ...]:
    """The conditions on the numbers that hold wherever the set is not empty, as text. The
    conditions are incomplete if the set is not a polyhedron, and empty if ISL gives up."""
    names: dict[Symbol, tuple[str, int]] = {}
    for name, form in given.items():
        for symbol, factor in form.terms.items():
            if isinstance(symbol, Symbol) and form.constant == 0:
                names.setdefault(symbol, (name, factor))
    if left is None or not names:
        return ()
    dimensions = [d for d, symbol in enumerate(pair.names) if symbol in names]
    try:
        hull = pair.solver.hull(left, dimensions)
    except Unknown:
        return ()
    symbols = [pair.names[d] for d in dimensions]
    forms = [form for constraint in hull.get_constraints() for form in _not_negative(constraint, symbols)]
    texts = [_bound(form, names) for form in forms if not at_or_above(form, 0)]
    return tuple(each for each in texts if each is not None)


def _not_negative(constraint: isl.Constraint, symbols: list[Symbol]) -> list[Linear]:
    """The forms that a constraint requires to be 0 or more."""
    form = Linear.of(int(constraint.get_constant_val().to_python()))
    for d, symbol in enumerate(symbols):
        form = form + Linear.of(symbol) * int(constraint.get_coefficient_val(isl.dim_type.set, d).to_python())
    return [form, form * -1] if constraint.is_equality() else [form]


def _bound(form: Linear, names: Mapping[Symbol, tuple[str, int]]) -> str | None:
    """The text of `form >= 0`; None where it has none."""
    terms = [(*names[symbol], factor) for symbol, factor in form.terms.items() if isinstance(symbol, Symbol)]
    if len(terms) == 1:
        ((called, unit, factor),) = terms
        return (
            f"{called} ≥ {-(form.constant // factor) * unit}"
            if factor > 0
            else f"{called} ≤ {form.constant // -factor * unit}"
        )
    if any(unit != 1 for _, unit, _ in terms):
        return None
    more, less = (
        [
            called if sign * factor == 1 else f"{sign * factor}·{called}"
            for called, _, factor in terms
            if sign * factor > 0
        ]
        for sign in (1, -1)
    )
    if form.constant:
        (more if form.constant > 0 else less).append(str(abs(form.constant)))
    return f"{' + '.join(more) or 0} ≥ {' + '.join(less) or 0}"
