"""Formulas as the matrices that ISL reads, conjunction by conjunction.

ISL reads text constraint after constraint, and works out what it has after each of them. A matrix (in PolyLib's format)
is read as a whole: ten times as fast. A column is a symbol, or a division `q = floor(n / d)`, of which
    `0 <= n - d*q < d` is said, from
which ISL knows it again. A set is a union of such matrices, one for each way through its alternatives.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import gcd, prod

from ..indices.linear import Floor, Formula, Linear, Symbol, Term

MOST_ALTERNATIVES = 32
"""Alternatives that are multiplied out; those of further formulas are left to ISL's intersection."""
MOST_WAYS = 4096
"""Alternatives of one formula, of all its parts together: beyond, nothing is made of it."""

Alternatives = list[list[Formula]]
Row = tuple[tuple[int, int], ...]


class Unknown(Exception):
    """ISL gave up within its limit, or was not asked."""


def conjunctions(formulas: Iterable[Formula]) -> tuple[Alternatives, list[Alternatives]]:
    """The formulas as a union of conjunctions; and further unions of conjunctions, to be intersected with it."""
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
    """How many alternatives the formula has."""
    if formula.form is not None:
        return 1
    counts = [_ways(part) for part in formula.parts]
    return sum(counts) if formula.kind == "or" else prod(counts)


def matrix(dimensions: Sequence[Symbol], conjunction: Iterable[Formula], ranged: Iterable[Symbol] = ()) -> str | None:
    """What ISL reads: rows of coefficients, `0` in front of an equation and `1` of an inequality, the constant last.
    None if intervals show already that nothing meets the conjunction.

    Args:
        ranged: dimensions of which the range that their symbol states is said as well.
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
    """Whether no values in the symbols' ranges meet `form >= 0`, or `form == 0`."""
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
    """The term's column; of a division that has none yet a new one, with the rows that say what it is."""
    known = columns.get(term)
    if known is not None:
        return known
    if not isinstance(term, Floor):
        raise Unknown  # a value that is not a dimension of what is asked
    numerator = _row(term.numerator, columns, rows)
    place = columns[term] = len(columns)
    remainder = (*numerator, (place, -term.divisor))
    rows[1, remainder, term.numerator.constant] = None
    rows[1, tuple((at, -c) for at, c in remainder), term.divisor - 1 - term.numerator.constant] = None
    return place
