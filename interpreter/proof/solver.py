"""ISL, asked in one place and under a budget of work; how formulas become its sets; how instances name their symbols.

ISL counts its operations, and gives up at a limit. Each question is first asked with a small limit, then with larger ones, and
what was allowed is charged to the budget of the analysis: so its work is bounded, and the same on every machine. A question
that ISL gives up on, or that nothing is left for, has no answer (`Unknown`): what it would have proven is assumed not to hold.
Nearly all calls take less than a second, so that an interrupt is heard; the hardest seen take four. The command line ends a child
that is in one for too long.

ISL reads text constraint after constraint, and works out what it has after each of them. A matrix (in PolyLib's format) is read
as a whole: ten times as fast. A column is a symbol, or a division `q = floor(n / d)`, of which `0 <= n - d*q < d` is said, from
which ISL knows it again. A set is a union of such matrices, one for each way through its alternatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from math import gcd, prod
from typing import TypeVar

import islpy as isl

from ..indices.linear import Floor, Formula, Linear, Symbol, Term

MOST_ALTERNATIVES = 32
"""Alternatives that are multiplied out; those of further formulas are left to ISL's intersection."""
MOST_PIECES = 1024
"""Of a set: ISL's operations take longer the more it has, and such a set is hardly ever found out about in the end."""
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


BUDGET = 16_000_000
"""Operations of ISL that the questions of one analysis may take."""
LIMITS = (200, 2_000, 25_000, 100_000, 400_000)
"""Operations of ISL allowed to a question, one after the other."""
LOST, MODEST = 2_000_000, 25_000
"""After so many operations on sets that were too hard in the end, no question is allowed more than these: where several are, others
are likely to be, and each of them takes about a second."""

T = TypeVar("T")


class Solver:
    """An ISL context with a budget.

    Args:
        limit: the most operations that one question may take.
        budget: the most that all of them may.
    """

    def __init__(self, limit: int = LIMITS[-1], budget: int = BUDGET) -> None:
        self.context = isl.Context()
        self.limits = [*(n for n in LIMITS if n < limit), limit]
        self.modest = [n for n in self.limits if n <= MODEST]
        self.left = budget
        self.lost = 0
        self.questions = 0
        self._sets: dict[str, isl.Set] = {}

    def spend(self, work: int) -> None:
        """Work done elsewhere, in about as many operations. Raises `Unknown` if nothing is left."""
        self.left -= work
        if self.left <= 0:
            raise Unknown

    # ---- questions ----------------------------------------------------------------------------------------------------------

    def set(self, dimensions: Sequence[Symbol], formulas: Iterable[Formula], ranged: Iterable[Symbol] = ()) -> isl.Set:
        """The points that meet all formulas; `ranged`: dimensions that are in their symbol's range, too."""
        alternatives, more = conjunctions(formulas)
        ranged, before = tuple(ranged), self.left
        try:
            out = self._union(dimensions, alternatives, ranged)
            for choice in more:
                other = self._union(dimensions, choice, ())
                if out.n_basic_set() * other.n_basic_set() > MOST_PIECES:
                    raise Unknown
                out = self._ask(lambda out=out, other=other: out.intersect(other))
        except Unknown:
            self.lost += before - self.left
            raise
        return out

    def nothing(self, dimensions: Sequence[Symbol]) -> isl.Set:
        """The empty set: no work at all."""
        return isl.Set.empty(isl.Space.set_alloc(self.context, 0, len(dimensions)))

    def project(self, what: isl.Set, count: int) -> isl.Set:
        """The set in its first `count` dimensions."""
        rest = what.dim(isl.dim_type.set) - count
        return self._ask(lambda: what.project_out(isl.dim_type.set, count, rest)) if rest else what

    def is_empty(self, what: isl.Set) -> bool:
        return what.plain_is_empty() or self._ask(lambda: what.is_empty())

    def subtract(self, a: isl.Set, b: isl.Set) -> isl.Set:
        return self._ask(lambda: a.subtract(b))

    def union(self, a: isl.Set, b: isl.Set) -> isl.Set:
        return self._ask(lambda: a.union(b))

    def sample(self, what: isl.Set) -> list[int] | None:
        """The coordinates of a point, the lexicographically least where ISL finds it; None where it finds none."""
        for d in range(what.dim(isl.dim_type.set)):
            if not what.involves_dims(isl.dim_type.set, d, 1):  # ISL finds no least one of what nothing bounds
                what = what.fix_val(isl.dim_type.set, d, isl.Val(0, self.context))
        try:
            point = self._ask(lambda: what.lexmin().sample_point())
        except Unknown:  # ISL's lexmin does not manage every set that it can sample
            try:
                point = self._ask(lambda: what.sample_point())
            except Unknown:
                return None
        if point.is_void():
            return None
        count = point.get_space().dim(isl.dim_type.set)
        return [point.get_coordinate_val(isl.dim_type.set, d).to_python() for d in range(count)]

    def hull(self, what: isl.Set, dimensions: Sequence[int]) -> isl.BasicSet:
        """A polyhedron around a set in some of its dimensions, in their order. It is not the least one."""
        others = [d for d in range(what.dim(isl.dim_type.set)) if d not in dimensions]

        def around() -> isl.BasicSet:
            left = what
            for d in reversed(others):
                left = left.project_out(isl.dim_type.set, d, 1)
            return left.remove_divs().simple_hull()

        return self._ask(around)

    # ---- ISL ----------------------------------------------------------------------------------------------------------------

    def _union(self, dimensions: Sequence[Symbol], alternatives: Alternatives, ranged: Sequence[Symbol]) -> isl.Set:
        """Sets of one matrix are made once."""
        texts = dict.fromkeys(matrix(dimensions, conjunction, ranged) for conjunction in alternatives)
        out: isl.Set | None = None
        for text in texts:
            if text is None:
                continue
            if text not in self._sets:
                self._sets[text] = self._ask(lambda text=text: isl.BasicSet.read_from_str(self.context, text).to_set())
            out = self._sets[text] if out is None else self.union(out, self._sets[text])
        return self.nothing(dimensions) if out is None else out

    def _ask(self, question: Callable[[], T]) -> T:
        for limit in self.limits if self.lost < LOST else self.modest:
            self.spend(limit)
            self.questions += limit == self.limits[0]
            self.context.reset_operations()
            self.context.set_max_operations(limit)
            try:
                return question()
            except isl.Error:
                pass  # mostly the limit (of which the parser speaks as a syntax error), seldom a set that ISL does not manage
            finally:
                self.context.set_max_operations(0)
        raise Unknown


class Naming:
    """How one instance calls its symbols. Collects the names it handed out, which are symbols of the same range.

    Args:
        prefix: what sets this instance's own names apart.
        parent: who names the symbols whose value this instance shares with another.
        shares: whether a symbol's value is such a shared one.
    """

    def __init__(
        self, prefix: str, parent: Naming | None = None, shares: Callable[[Symbol], bool] = lambda _: False
    ) -> None:
        self.prefix = prefix
        self.parent = parent
        self.shares = shares
        self.names: dict[Symbol, Symbol] = {}

    def __call__(self, symbol: Symbol) -> Symbol:
        name = self.names.get(symbol)
        if name is None:
            if self.parent is not None and (symbol.kind == "parameter" or self.shares(symbol)):
                return self.parent(symbol)
            name = Symbol(self.prefix + symbol.name, symbol.kind, symbol.depends, symbol.low, symbol.high)
            self.names[symbol] = name
        return name

    def form(self, form: Linear) -> Linear:
        return form.renamed(self)

    def formula(self, formula: Formula) -> Formula:
        return formula.changed(self.form)

    def definitions(self) -> list[Formula]:
        """The definitions of every symbol named so far (each may name more, here or in the parent)."""
        out: list[Formula] = []
        done: set[Symbol] = set()
        while todo := [s for s in self.names if s not in done]:
            for symbol in todo:
                done.add(symbol)
                if symbol.definition is not None:
                    out.append(self.formula(symbol.definition))
        return out


def points(solver: Solver, namings: Sequence[Naming], formulas: Iterable[Formula]) -> tuple[list[Symbol], isl.Set]:
    """Where all formulas hold, and what the symbols are defined by: the dimensions and the set. A parent stands first."""
    parts = [*formulas, *(f for naming in (*namings[1:], namings[0]) for f in naming.definitions())]
    names = [name for naming in namings for name in naming.names.values()]
    return names, solver.set(names, parts, names)


class BarrierNaming(Naming):
    """How a barrier instance calls its symbols: those whose value it shares with x or y have theirs.

    Args:
        with_x, with_y: the numbers of the loops in whose iterations it is that x, or y, is in.

    An uninterpreted value that neither fixes may be anything: the barrier is then not sure to be executed (`unsure`).
    """

    def __init__(self, x: Naming, y: Naming, with_x: set[int], with_y: set[int]) -> None:
        super().__init__("s_")
        self.sides = ((x, with_x), (y, with_y))
        self.unsure = False

    def __call__(self, symbol: Symbol) -> Symbol:
        on = symbol.depends
        if symbol not in self.names and not on.thread:
            for naming, loops in self.sides:
                if on.loops <= loops:
                    return naming(symbol)
        if symbol.kind == "opaque":
            self.unsure = True
        return super().__call__(symbol)
