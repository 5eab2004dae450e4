"""Ids of threads and blocks in digits: where a kernel divides them by constants, no rounding is left to reason about.

Of a thread id below 256 that the kernel divides by 4 and by 32, three numbers are made: `t = 32*d2 + 4*d1 + d0`, each within
its range. Then `floor(t/4)` is `8*d2 + d1`: forms that rounded become plain sums, of which ISL makes small sets.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from ..kernels.model import KernelModel, Loop, Step
from .linear import Floor, Formula, Linear, Symbol, Term, at_least


def split_ids(model: KernelModel) -> None:
    """State everything in `model` in digits of the ids that it divides. To be done before anyone looks at it."""
    radices: dict[Symbol, set[int]] = {}
    for form in _forms(model):
        _collect(form, radices)
    digits = _Digits({s: sorted(r) for s, r in radices.items()})
    if digits.ids:
        _restate(model, digits)


class _Digits:
    """What to put for each id that is divided, and forms and formulas with that put in.

    Args:
        radices: by id, the numbers it is divided by, in ascending order. The chain that they make is used: each that is a
            multiple of the one before. Divisions by others stay what they are, of the sum of the digits.
    """

    def __init__(self, radices: dict[Symbol, list[int]]) -> None:
        self.ids: dict[Symbol, Linear] = {}
        self.facts: list[Formula] = []
        self._done: dict[Linear, Linear] = {}
        for symbol, wanted in radices.items():
            chain = [1]
            for radix in wanted:
                if radix % chain[-1] == 0:
                    chain.append(radix)
            if len(chain) > 1:
                self.ids[symbol] = self._split(symbol, chain)

    def _split(self, symbol: Symbol, chain: list[int]) -> Linear:
        """The sum of the digits, the most significant first."""
        assert symbol.high is not None
        digits: dict[Term, int] = {}
        for place in reversed(range(len(chain))):
            unit = chain[place]
            last = place + 1 == len(chain)
            high = symbol.high // unit if last else chain[place + 1] // unit - 1
            digit = Symbol(f"{symbol.name}_{unit}", symbol.kind, symbol.depends, 0, high)
            digits[digit] = unit
        out = Linear(digits, 0)
        if (symbol.high + 1) % chain[-1]:
            self.facts.append(at_least(out * -1, -symbol.high))
        return out

    def form(self, form: Linear) -> Linear:
        if form not in self._done:
            out = Linear.of(form.constant)
            for term, c in form.terms.items():
                if isinstance(term, Floor):
                    out = out + self.form(term.numerator).floordiv(term.divisor) * c
                else:
                    out = out + self.ids.get(term, Linear.of(term)) * c
            self._done[form] = out
        return self._done[form]

    def formula(self, formula: Formula) -> Formula:
        form = None if formula.form is None else self.form(formula.form)
        return Formula(formula.kind, form, tuple(self.formula(p) for p in formula.parts))


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


# ---- all forms of a model ---------------------------------------------------------------------------------------------


def _forms(model: KernelModel) -> Iterator[Linear]:
    for formula in _formulas(model):
        yield from _parts(formula)
    for access in model.accesses:
        yield from access.coordinates or ()
    for loop in _loops(model):
        if loop.variable is not None:
            yield loop.variable


def _parts(formula: Formula) -> Iterator[Linear]:
    if formula.form is not None:
        yield formula.form
    for part in formula.parts:
        yield from _parts(part)


def _formulas(model: KernelModel) -> Iterator[Formula]:
    yield from model.facts
    for access in model.accesses:
        yield access.when
    for step in _steps(model):
        yield from step.guards
    for symbol in model.values.definitions:
        if symbol.definition is not None:
            yield symbol.definition


def _steps(model: KernelModel) -> list[Step]:
    places = [thing.place for thing in (*model.accesses, *model.barriers)]
    return list(dict.fromkeys(step for place in places for step in place.steps))


def _loops(model: KernelModel) -> list[Loop]:
    return list(dict.fromkeys(step.loop for step in _steps(model) if step.loop is not None))


def _restate(model: KernelModel, digits: _Digits) -> None:
    model.values.split(digits.ids)
    for symbol in model.values.definitions:
        if symbol.definition is not None:
            symbol.define(digits.formula(symbol.definition))
    for known in model.values.made_up.values():
        known.number = digits.form(known.number)
    for known in model.values.multiples:
        known.processor = digits.form(known.processor)
    for loop in _loops(model):
        loop.variable = None if loop.variable is None else digits.form(loop.variable)
    for step in _steps(model):
        step.guards = tuple(digits.formula(g) for g in step.guards)
    for number, access in enumerate(model.accesses):
        coordinates = None if access.coordinates is None else tuple(digits.form(c) for c in access.coordinates)
        when = digits.formula(access.when)
        model.accesses[number] = dataclasses.replace(access, coordinates=coordinates, when=when)
    model.facts = (*(digits.formula(f) for f in model.facts), *digits.facts)
