"""Queries to ISL under a budget of operations, and the renaming of symbols for each instance.

ISL counts its operations and gives up at a limit. Each query runs with a small limit first, then
with larger ones, and each allowed limit is charged to the budget of the analysis. So the work is
bounded, and it is the same on every machine. A query on which ISL gives up, or for which no budget
is left, has no answer (`Unknown`): the fact that it would have proven is assumed not to hold.
Nearly all calls take less than a second, so that an interrupt is noticed; the hardest known ones
take four seconds. The command line ends a child process that stays in one call for too long.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeVar

import islpy as isl

from ..indices.linear import FALSE, Formula, Linear, Symbol, at_least, either, equal, involved, less
from .matrices import Alternatives, conjunctions, matrix
from .matrices import Unknown as Unknown

MOST_PIECES = 1024
"""The most pieces of a set: ISL's operations take longer with more pieces, and a query on such a
set hardly ever gets an answer."""
BUDGET = 16_000_000
"""ISL operations that the queries of one analysis may take."""
LIMITS = (200, 2_000, 25_000, 100_000, 400_000)
"""The limits of ISL operations for a query, tried in this order."""
READING = 2_000
"""The least limit for reading a matrix: hardly any matrix needs fewer operations."""
LOST, MODEST = 2_000_000, 25_000
"""After `LOST` operations on sets that turned out too hard, no query gets more than `MODEST`
operations: further sets are probably as hard, and each takes about a second."""

T = TypeVar("T")


class CachedAnswers:
    """The cached answers to all questions with the same text."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    def once(self, what: str, find: Callable[[], T]) -> T:
        """The cached answer to the question `what`, computed by `find` if it is missing. A question
        without an answer (`Unknown`) is not cached."""
        if what not in self.known:
            self.known[what] = find()
        return self.known[what]


class Solver:
    """An ISL context with a budget.

    Args:
        limit: the most operations for one query.
        budget: the most operations for all queries together.

    Attributes:
        answers: the cached answers, by a key of everything that the questions consist of.
    """

    def __init__(self, limit: int = LIMITS[-1], budget: int = BUDGET) -> None:
        self.context = isl.Context()
        self.limits = [*(n for n in LIMITS if n < limit), limit]
        self.modest = [n for n in self.limits if n <= MODEST]
        self.left = budget
        self.lost = 0
        self.questions = 0
        self._sets: dict[str, isl.Set] = {}
        self.answers: defaultdict[Hashable, CachedAnswers] = defaultdict(CachedAnswers)

    def spend(self, work: int) -> None:
        """Charges the budget for work that was done without ISL, measured in ISL operations. Raises
        `Unknown` if no budget is left."""
        self.left -= work
        if self.left <= 0:
            raise Unknown

    def renew(self) -> None:
        """Begins another analysis with a full budget; cached answers remain."""
        self.left, self.lost = BUDGET, 0

    # ---- questions ---------------------------------------------------------------------------------------------------

    def set(self, dimensions: Sequence[Symbol], formulas: Iterable[Formula], ranged: Iterable[Symbol] = ()) -> isl.Set:
        """The set of points that satisfy all formulas. `ranged`: dimensions that are also
        restricted to the range of their symbol."""
        alternatives, more = conjunctions(formulas)
        ranged, before = tuple(ranged), self.left
        try:
            out = self._union(dimensions, alternatives, ranged)
            for choice in more:
                other = self._union(dimensions, choice, ())
                if out.n_basic_set() * other.n_basic_set() > MOST_PIECES:
                    raise Unknown
                out = self.ask(lambda out=out, other=other: out.intersect(other))
        except Unknown:
            self.lost += before - self.left
            raise
        return out

    def point(
        self, dimensions: Sequence[Symbol], formulas: Iterable[Formula], ranged: Iterable[Symbol] = ()
    ) -> isl.Point | None:
        """A point of the set (see `set`); None if it is empty. Alternatives are tried one by one,
        until one has a point."""
        formulas, ranged = list(formulas), tuple(ranged)
        alternatives, more = conjunctions(formulas)
        if more:
            sets = iter((self.set(dimensions, formulas, ranged),))
        else:
            texts = dict.fromkeys(matrix(dimensions, conjunction, ranged) for conjunction in alternatives)
            sets = (self._read(text) for text in texts if text is not None)
        before = self.left
        try:
            for each in sets:
                if not (found := self.ask(lambda each=each: each.sample_point())).is_void():
                    return found
        except Unknown:
            self.lost += before - self.left
            raise
        return None

    def nothing(self, dimensions: Sequence[Symbol]) -> isl.Set:
        """The empty set, without any ISL operation."""
        return isl.Set.empty(isl.Space.set_alloc(self.context, 0, len(dimensions)))

    def project(self, what: isl.Set, count: int) -> isl.Set:
        """The projection of the set onto its first `count` dimensions."""
        rest = what.dim(isl.dim_type.set) - count
        return self.ask(lambda: what.project_out(isl.dim_type.set, count, rest)) if rest else what

    def is_empty(self, what: isl.Set) -> bool:
        return what.plain_is_empty() or self.ask(lambda: what.is_empty())

    def subtract(self, a: isl.Set, b: isl.Set) -> isl.Set:
        return self.ask(lambda: a.subtract(b))

    def disjoint(self, a: isl.Set, b: isl.Set) -> bool:
        return self.ask(lambda: a.is_disjoint(b))

    def union(self, a: isl.Set, b: isl.Set) -> isl.Set:
        return self.ask(lambda: a.union(b))

    def sample(self, what: isl.Set) -> list[int] | None:
        """The coordinates of a point, lexicographically minimal if ISL finds that one; None if it
        finds no point."""
        for d in range(what.dim(isl.dim_type.set)):
            if not what.involves_dims(isl.dim_type.set, d, 1):  # an unbounded dimension has no minimum in ISL
                what = what.fix_val(isl.dim_type.set, d, isl.Val(0, self.context))
        try:
            point = self.ask(lambda: what.lexmin().sample_point())
        except Unknown:  # ISL's lexmin fails on some sets that it can sample
            try:
                point = self.ask(lambda: what.sample_point())
            except Unknown:
                return None
        if point.is_void():
            return None
        return coordinates(point)

    def as_point(self, coordinates: Sequence[int]) -> isl.Point:
        """The point with these coordinates."""
        out = isl.Point.zero(isl.Space.set_alloc(self.context, 0, len(coordinates)))
        for d, number in enumerate(coordinates):
            out = out.set_coordinate_val(isl.dim_type.set, d, isl.Val(number, self.context))
        return out

    def hull(self, what: isl.Set, dimensions: Sequence[int]) -> isl.BasicSet:
        """A polyhedron that contains the set's projection onto some dimensions, in their order. It
        need not be minimal."""
        others = [d for d in range(what.dim(isl.dim_type.set)) if d not in dimensions]

        def around() -> isl.BasicSet:
            left = what
            for d in reversed(others):
                left = left.project_out(isl.dim_type.set, d, 1)
            return left.remove_divs().simple_hull()

        return self.ask(around)

    # ---- ISL ---------------------------------------------------------------------------------------------------------

    def _union(self, dimensions: Sequence[Symbol], alternatives: Alternatives, ranged: Sequence[Symbol]) -> isl.Set:
        """The union of the alternatives. Sets with the same matrix are built once."""
        texts = dict.fromkeys(matrix(dimensions, conjunction, ranged) for conjunction in alternatives)
        out: isl.Set | None = None
        for text in texts:
            if text is None:
                continue
            out = self._read(text) if out is None else self.union(out, self._read(text))
        return self.nothing(dimensions) if out is None else out

    def _read(self, text: str) -> isl.Set:
        if text not in self._sets:
            self._sets[text] = self.ask(lambda: isl.BasicSet.read_from_str(self.context, text).to_set(), least=READING)
        return self._sets[text]

    def ask(self, question: Callable[[], T], least: int = 0) -> T:
        limits = self.limits if self.lost < LOST else self.modest
        limits = [n for n in limits if n >= least] or limits[-1:]
        for limit in limits:
            self.spend(limit)
            self.questions += limit == limits[0]
            self.context.reset_operations()
            self.context.set_max_operations(limit)
            try:
                return question()
            except isl.Error:
                pass  # mostly the limit (for the parser: a syntax error), rarely a set that ISL cannot handle
            finally:
                self.context.set_max_operations(0)
        raise Unknown


def coordinates(point: isl.Point) -> list[int]:
    """The coordinates of the point, by dimension."""
    count = point.get_space().dim(isl.dim_type.set)
    return [point.get_coordinate_val(isl.dim_type.set, d).to_python() for d in range(count)]


class Naming:
    """The renaming of the symbols of one instance. Collects the new names, which are symbols of the
    same range.

    Args:
        prefix: the prefix that distinguishes this instance's own names.
        parent: the naming of symbols that have a common value in this instance and another.
        shares: whether a symbol has such a common value.
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
        """The definitions of all symbols named so far. A definition may name further symbols, here
        or in the parent."""
        out: list[Formula] = []
        done: set[Symbol] = set()
        while todo := [s for s in self.names if s not in done]:
            for symbol in todo:
                done.add(symbol)
                if symbol.definition is not None:
                    out.append(self.formula(symbol.definition))
        return out


def points(solver: Solver, namings: Sequence[Naming], formulas: Iterable[Formula]) -> tuple[list[Symbol], isl.Set]:
    """The dimensions, and the set of points where all formulas and the definitions of all symbols
    hold. In `namings`, a parent comes before its children."""
    names, parts = described(namings, formulas)
    return names, solver.set(names, parts, names)


def described(namings: Sequence[Naming], formulas: Iterable[Formula]) -> tuple[list[Symbol], list[Formula]]:
    """The dimensions, and the formulas together with the definitions of all symbols."""
    parts = [*formulas, *(f for naming in (*namings[1:], namings[0]) for f in naming.definitions())]
    return [name for naming in namings for name in naming.names.values()], parts


class BarrierNaming(Naming):
    """The renaming of a barrier instance: symbols that have a common value with x or y get the
    names of x or y.

    Args:
        with_x, with_y: the numbers of the loops in which the barrier instance is in the same
            iteration as x, or y.
        of_thread: the barrier belongs to the warp, or group, of x's thread; otherwise to the whole
            block.

    An uninterpreted value that is not shared with x or y may be any number: then it is not certain
    that the barrier is executed (`unsure`).
    """

    def __init__(self, x: Naming, y: Naming, with_x: set[int], with_y: set[int], *, of_thread: bool = False) -> None:
        super().__init__("s_")
        self.of_thread = of_thread
        self.sides = ((x, with_x), (y, with_y))
        self.unsure = False

    def __call__(self, symbol: Symbol) -> Symbol:
        on = symbol.depends
        if symbol not in self.names and (self.of_thread or not on.thread):
            for naming, loops in self.sides[: 1 if on.thread else 2]:
                if on.loops <= loops:
                    return naming(symbol)
        if symbol.kind == "opaque":
            self.unsure = True
        return super().__call__(symbol)


AGAIN = 4
"""The most times that a query is repeated with an impossible point excluded."""


def point_where(formulas: Sequence[Formula]) -> dict[Symbol, int] | None:
    """Values of the symbols for which all formulas hold; None if there are none. Products,
    quotients and remainders are uninterpreted for ISL, except that equal operands give equal
    results. For a counter that formulas compare with a constant (such as the first iteration), the
    query is made for each such constant separately."""
    if FALSE in formulas:
        return None
    asked = list(formulas)
    for symbol, number in _set_apart(formulas):
        table, here = {symbol: Linear.of(number)}, equal(Linear.of(symbol), Linear.of(number))
        found = _refined([here, *(part.changed(lambda form, table=table: form.put(table)) for part in asked)])
        if found is not None:
            return found
        asked.append(here.negate())
    return _refined(asked)


def _set_apart(formulas: Sequence[Formula]) -> dict[tuple[Symbol, int], None]:
    """Pairs of a counter and a constant that formulas compare it with, for counters that are
    operands of a non-affine operation."""
    made = {s for one in involved(*formulas) if one.made is not None for s in involved(*one.made.operands)}
    found: dict[tuple[Symbol, int], None] = {}
    for part in (waiting := list(formulas)):
        waiting += part.parts
        form = part.form if part.kind == "eq" else None
        if part.kind == "or" and len(part.parts) == 2:  # a negated equation
            above, below = (each.form if each.kind == "ge" else None for each in part.parts)
            form = above + 1 if above is not None and below is not None and above + below == Linear.of(-2) else None
        symbol = None if form is None else (form - form.constant).alone
        if form is not None and symbol in made and symbol is not None and symbol.kind == "loop":
            found[symbol, -form.constant] = None
    return found


def _refined(formulas: Sequence[Formula]) -> dict[Symbol, int] | None:
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
    """Yields constraints that exclude `point`, at which two applications of one operation have
    equal operands but different results."""
    made = [(s, s.made) for s in involved(*formulas) if s.made is not None and s in point]
    for (one, by), (other, its) in combinations(made, 2):
        if by.operation != its.operation or len(by.operands) != len(its.operands) or point[one] == point[other]:
            continue
        apart = [pair for pair in zip(by.operands, its.operands, strict=True) if pair[0] != pair[1]]
        if len(apart) == 1 and (apart[0][0] - apart[0][1]).value(point) in (0, None):
            a, b = apart[0]
            yield either(less(a, b), less(b, a), equal(Linear.of(one), Linear.of(other)))


def is_zero(form: Linear, guards: Sequence[Formula]) -> bool:
    """Whether a form is 0 wherever the guards hold."""
    if form.is_constant:
        return form.constant == 0
    try:
        return point_where([*guards, either(at_least(form, 1), less(form, Linear.of(0)))]) is None
    except Unknown:
        return False
