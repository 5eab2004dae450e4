"""Ids of threads and blocks in digits: where a kernel divides them by constants, no rounding is left to reason about.

Of a thread id below 256 that the kernel divides by 4 and by 32, three numbers are made: `t = 32*d2 + 4*d1 + d0`, each within
its range. Then `floor(t/4)` is `8*d2 + d1`: forms that rounded become plain sums, of which ISL makes small sets.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache

from ...indices.linear import Linear, Symbol, Term, at_least
from .model import KernelModel

Change = Callable[[Linear], Linear]


def split_ids(model: KernelModel) -> None:
    """State everything in `model` in digits of the ids that it divides. To be done before anyone looks at it."""
    radices: dict[Symbol, set[int]] = {}

    def collected(form: Linear) -> Linear:
        _collect(form, radices)
        return form

    _restate(model, collected)
    taken_apart = {symbol: _digits(symbol, sorted(found)) for symbol, found in radices.items()}
    ids = {symbol: digits for symbol, digits in taken_apart.items() if digits is not None}

    @cache
    def in_digits(form: Linear) -> Linear:
        return form.replaced(lambda symbol: ids.get(symbol) or Linear.of(symbol))

    if ids:
        model.values.split(ids)
        _restate(model, in_digits)
        looser = ((s, out) for s, out in ids.items() if out.bounds()[1] != s.high)
        model.facts = (*model.facts, *(at_least(out * -1, -(s.high or 0)) for s, out in looser))


def _digits(symbol: Symbol, radices: list[int]) -> Linear | None:
    """The id as a sum of digits, the most significant first, or None.

    Args:
        radices: the numbers it is divided by, in ascending order. The chain that they make is used: each that is a multiple of
            the one before. Divisions by others stay what they are, of the sum of the digits.
    """
    assert symbol.high is not None
    chain = [1]
    for radix in radices:
        if radix % chain[-1] == 0:
            chain.append(radix)
    digits: dict[Term, int] = {}
    for unit, above in reversed(list(zip(chain, [*chain[1:], None], strict=True))):
        high = symbol.high // unit if above is None else above // unit - 1
        digits[Symbol(f"{symbol.name}_{unit}", symbol.kind, symbol.depends, 0, high)] = unit
    return Linear(digits, 0) if len(chain) > 1 else None


def _collect(form: Linear, radices: dict[Symbol, set[int]]) -> None:
    """The numbers by which `form` divides ids."""
    for term in form.terms:
        if isinstance(term, Symbol):
            continue
        for inner, c in term.numerator.terms.items():
            if isinstance(inner, Symbol) and inner.kind in ("thread", "block") and inner.high is not None:
                radix, rest = divmod(term.divisor, abs(c))
                if not rest and 1 < radix <= inner.high:
                    radices.setdefault(inner, set()).add(radix)
        _collect(term.numerator, radices)


def _restate(model: KernelModel, change: Change) -> None:
    """Put `change(form)` for each form in the model."""
    values = model.values
    for symbol in values.definitions:
        if symbol.definition is not None:
            symbol.define(symbol.definition.changed(change))
    for known in values.made_up.values():
        known.number = change(known.number)
    for known in values.multiples:
        known.processor = change(known.processor)
    steps = dict.fromkeys(step for thing in (*model.accesses, *model.barriers) for step in thing.place.steps)
    for loop in dict.fromkeys(step.loop for step in steps):
        if loop is not None and loop.variable is not None:
            loop.variable = change(loop.variable)
    for step in steps:
        step.guards = tuple(guard.changed(change) for guard in step.guards)
    for number, access in enumerate(model.accesses):
        coordinates = None if access.coordinates is None else tuple(map(change, access.coordinates))
        model.accesses[number] = dataclasses.replace(access, coordinates=coordinates, when=access.when.changed(change))
    model.facts = tuple(fact.changed(change) for fact in model.facts)
