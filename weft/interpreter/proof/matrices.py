"""Formulas as the matrices that ISL reads, conjunction by conjunction.

ISL parses text constraint by constraint, and simplifies after each of them. It reads a matrix
(PolyLib's format) as a whole, ten times as fast. A column is a symbol or a division `q = floor(n /
d)`, expressed by `0 <= n - d*q < d`, from which ISL recovers the division. A set is a union of such
matrices, one for each conjunction of its disjunctive normal form.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import gcd, prod

from ..indices.linear import Floor, Formula, Linear, Symbol, Term

MOST_ALTERNATIVES = 32
"""The most conjunctions that are multiplied out; the alternatives of further formulas are left to
ISL's intersection."""
MOST_WAYS = 4096
"""The most conjunctions in the disjunctive normal form of one formula; a formula with more has no
answer (`Unknown`)."""

Alternatives = list[list[Formula]]
Row = tuple[tuple[int, int], ...]


class Unknown(Exception):
    """ISL exceeded its limit, or the question was too large to ask."""


def conjunctions(formulas: Iterable[Formula]) -> tuple[Alternatives, list[Alternatives]]:
    """The formulas as a union of conjunctions, and further unions of conjunctions to intersect with
    it. Raises `Unknown` for a formula with too many alternatives."""
    fixed: list[Formula] = []
    choices: list[Alternatives] = []
    for formula in dict.fromkeys(part for f in formulas for part in (f.parts if f.kind == "and" else (f,))):
        if _ways(formula) > MOST_WAYS:
            raise Unknown
        alternatives = _alternatives(formula)
        if len(alternatives) == 1:
            fixed += alternatives[0]
        else:
            choices.append(alternatives)
    rest: list[Alternatives] = []
    taken: list[Alternatives] = []
    count = 1
    for choice in sorted(choices, key=len):
        count *= max(1, len(choice))
        (taken if count <= MOST_ALTERNATIVES else rest).append(choice)
    return [[*fixed, *(f for part in parts for f in part)] for parts in product(*taken)], rest


def _alternatives(formula: Formula) -> Alternatives:
    """The formula in disjunctive normal form."""
    if formula.form is not None:
        return [[formula]]
    parts = [_alternatives(part) for part in formula.parts]
    if formula.kind == "or":
        return [conjunction for part in parts for conjunction in part]
    return [[f for conjunction in way for f in conjunction] for way in product(*parts)]


def _ways(formula: Formula) -> int:
    """The number of conjunctions in the formula's disjunctive normal form."""
    if formula.form is not None:
        return 1
    counts = [_ways(part) for part in formula.parts]
    return sum(counts) if formula.kind == "or" else prod(counts)


def matrix(dimensions: Sequence[Symbol], conjunction: Iterable[Formula], ranged: Iterable[Symbol] = ()) -> str | None:
    """The matrix of a conjunction as ISL's input: rows of coefficients, each with `0` for an
    equation or `1` for an inequality first and the constant last. None if intervals already show
    that no point satisfies the conjunction.

    Args:
        ranged: dimensions for which the range of the symbol is added.
    """
    columns: dict[Term, int] = {symbol: n for n, symbol in enumerate(dimensions)}
    rows: dict[tuple[int, Row, int], None] = {}
    for formula in conjunction:
        form = formula.form
        assert form is not None
        if _impossible(formula.kind, form):
            return None
        if form.terms:
            rows[int(formula.kind == "ge"), _row(form, columns, rows), form.constant] = None
    for symbol in ranged:
        place = columns[symbol]
        if symbol.low is not None:
            rows[1, ((place, 1),), -symbol.low] = None
        if symbol.high is not None:
            rows[1, ((place, -1),), symbol.high] = None
    width = len(columns)
    lines = [f"{len(rows)} {width + 2} {len(dimensions)} 0 {width - len(dimensions)} 0"]
    for kind, entries, constant in rows:
        line = ["0"] * width
        for place, c in entries:
            line[place] = str(c)
        lines.append(f"{kind} {' '.join(line)} {constant}")
    return "\n".join((*lines, ""))


def _impossible(kind: str, form: Linear) -> bool:
    """Whether no values in the symbols' ranges satisfy `form >= 0` (kind `ge`) or `form == 0`."""
    low, high = form.bounds()
    if high is not None and high < 0:
        return True
    if kind == "ge":
        return False
    step = gcd(*form.terms.values())
    return (low is not None and low > 0) or bool(form.constant % step if step else form.constant)


def _row(form: Linear, columns: dict[Term, int], rows: dict[tuple[int, Row, int], None]) -> Row:
    return tuple((_column(term, columns, rows), c) for term, c in form.terms.items())


def _column(term: Term, columns: dict[Term, int], rows: dict[tuple[int, Row, int], None]) -> int:
    """The column of a term. A new division gets a new column, and the rows that define it."""
    known = columns.get(term)
    if known is not None:
        return known
    if not isinstance(term, Floor):
        raise Unknown  # a value that is not a dimension of the question
    numerator = _row(term.numerator, columns, rows)
    place = columns[term] = len(columns)
    remainder = (*numerator, (place, -term.divisor))
    rows[1, remainder, term.numerator.constant] = None
    rows[1, tuple((at, -c) for at, c in remainder), term.divisor - 1 - term.numerator.constant] = None
    return place
