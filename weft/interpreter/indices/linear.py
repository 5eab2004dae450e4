"""Quasi-affine forms over named integers, and formulas of them: the analysis's view of index
arithmetic, before ISL.

A form is always normal: integer coefficients of symbols and of `Floor` terms, and a constant. A
value that is not affine is a fresh `Symbol` of kind "opaque" with the dependences of its value,
i.e. an uninterpreted function: two instances that agree on all its dependences have the same value,
others may have any. `mod` never appears: `a mod n` is `a - n*floor(a/n)`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from math import gcd
from typing import Literal

from ...dsl.records import record

Range = tuple[int | None, int | None]
"""Minimum and maximum; None where unbounded."""
SymbolKind = Literal["thread", "block", "loop", "parameter", "opaque", "defined", "lane", "value"]


@record(compared=True)
class Depends:
    """Dependences of a value: the thread's ids (or data private to it), the block's ids, its `rank`
    in the cluster, loop counters."""

    thread: bool = False
    block: bool = False
    loops: frozenset[int] = frozenset()
    rank: bool = False

    def __or__(self, other: Depends) -> Depends:
        if self == other:
            return self
        thread, block, rank = self.thread or other.thread, self.block or other.block, self.rank or other.rank
        return Depends(thread, block, self.loops | other.loops, rank)

    @staticmethod
    def of(parts: Iterable[Symbol | Linear | Formula]) -> Depends:
        """The union of the dependences of the operands."""
        out = NOTHING
        for part in parts:
            out = out | (part.depends if isinstance(part, Symbol) else part.depends())
        return out


NOTHING = Depends()
THREAD = Depends(thread=True)


@record(eq=False)
class Symbol:
    """A named integer.

    Args:
        name: unique in its kernel.
        kind: "thread" and "block" ids; "loop": the iteration counter of a loop, from 0;
            "parameter": the same for the whole grid; "opaque": an uninterpreted value; "defined":
            by `definition` (min, max, select); "lane": any of `low … high` (an element of a vector,
            a byte of an element); "value": an emitted value (`IndexValue`).
        low, high: bounds that always hold; None where there is none.
        guessed: the result of an operation that is not modelled: it may never have the values that
            a conflict needs.
        made: that operation and its operands.
    """

    name: str
    kind: SymbolKind
    depends: Depends = NOTHING
    low: int | None = None
    high: int | None = None
    definition: Formula | None = field(default=None, repr=False)
    guessed: bool = False
    made: MadeBy | None = field(default=None, repr=False)

    def define(self, formula: Formula) -> None:
        """Sets the formula of a "defined" symbol, which mentions the symbol itself."""
        object.__setattr__(self, "definition", formula)

    def operands(self, *operations: str) -> tuple[Linear, ...]:
        """The operands of the operation in `made`; empty without one."""
        return () if self.made is None or self.made.operation not in operations else self.made.operands

    def changed(self, change: Callable[[Linear], Linear]) -> Linear:
        """The result of the operation in `made` for `change(operand)` of each operand; the symbol
        itself, if that changes none."""
        operands = () if self.made is None else tuple(map(change, self.made.operands))
        return Linear.of(self) if self.made is None or operands == self.made.operands else self.made.again(*operands)


@record(eq=False)
class MadeBy:
    """An operation with a result that is no form of its operands: a product, a quotient or a
    remainder of unknown numbers, or an operation that is not modelled.

    Args:
        again: its result for other operands.
    """

    operation: str
    operands: tuple[Linear, ...]
    again: Callable[..., Linear]


@record(compared=True)
class Floor:
    """`floor(numerator / divisor)`, with a positive divisor."""

    numerator: Linear
    divisor: int


Term = Symbol | Floor


class Linear:
    """`sum(coefficient * term) + constant`; immutable."""

    __slots__ = ("_bounds", "_key", "constant", "terms")

    def __init__(self, terms: Mapping[Term, int], constant: int) -> None:
        self.terms = terms if all(terms.values()) else {term: c for term, c in terms.items() if c}
        self.constant = constant
        self._key: tuple[frozenset[tuple[Term, int]], int] | None = None
        self._bounds: Range | None = None

    @staticmethod
    def of(value: int | Symbol = 0) -> Linear:
        return Linear({}, value) if isinstance(value, int) else Linear({value: 1}, 0)

    @property
    def key(self) -> tuple[frozenset[tuple[Term, int]], int]:
        if self._key is None:
            self._key = frozenset(self.terms.items()), self.constant
        return self._key

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Linear) and self.key == other.key)

    def __hash__(self) -> int:
        return hash(self._key or self.key)

    def __add__(self, other: Linear | int) -> Linear:
        if isinstance(other, int):
            return Linear(self.terms, self.constant + other) if other else self
        if not (self.terms and other.terms):  # the common case
            return self + other.constant if self.terms else other + self.constant
        terms = dict(self.terms)
        for term, c in other.terms.items():
            terms[term] = terms.get(term, 0) + c
        return Linear(terms, self.constant + other.constant)

    def __sub__(self, other: Linear | int) -> Linear:
        return self + (-other if isinstance(other, int) else other * -1)

    def __mul__(self, factor: int) -> Linear:
        if factor == 1:
            return self
        return Linear({term: c * factor for term, c in self.terms.items()}, self.constant * factor)

    @property
    def is_constant(self) -> bool:
        return not self.terms

    @property
    def alone(self) -> Symbol | None:
        """The symbol, if the form is a single symbol; else None."""
        if self.constant or len(self.terms) != 1:
            return None
        ((term, factor),) = self.terms.items()
        return term if factor == 1 and isinstance(term, Symbol) else None

    @property
    def content(self) -> int:
        """The largest number that divides the form for all values of its symbols; 0 for the form
        0."""
        return gcd(self.constant, *self.terms.values())

    def floordiv(self, divisor: int) -> Linear:
        """`floor(self / divisor)`, simplified: multiples of the divisor leave the floor, then
        common factors of the rest and the `divisor` are cancelled: `(64*k + 4*u + 3) floordiv 64`
        becomes `k + u floordiv 16`. `divisor` is positive."""
        if divisor == 1:
            return self
        whole = {t: c // divisor for t, c in self.terms.items() if c % divisor == 0}
        out = Linear(whole, self.constant // divisor)
        left = {t: c for t, c in self.terms.items() if c % divisor}
        common = gcd(divisor, *left.values())
        rest = Linear({t: c // common for t, c in left.items()}, self.constant % divisor // common)
        divisor //= common
        low, high = rest.bounds()
        if low is not None and high is not None and low // divisor == high // divisor:
            return out + low // divisor
        (inner, coefficient), *more = rest.terms.items()
        if isinstance(inner, Floor) and coefficient == 1 and not more:  # a floor of a floor is one floor
            return out + (inner.numerator + rest.constant * inner.divisor).floordiv(inner.divisor * divisor)
        return out + Linear({Floor(rest, divisor): 1}, 0)

    def modulo(self, divisor: int) -> Linear:
        return self - self.floordiv(divisor) * divisor

    def symbols(self) -> Iterator[Symbol]:
        """All symbols, including those inside floors (but not those of definitions); some twice."""
        for term in self.terms:
            if isinstance(term, Floor):
                yield from term.numerator.symbols()
            else:
                yield term

    def depends(self) -> Depends:
        return Depends.of(self.symbols())

    def bounds(self) -> Range:
        """Bounds from those of the symbols (intervals: sound, not tight)."""
        if self._bounds is None:
            low, high = self._interval()
            for remainder, rest in self._remainders():
                least, most = rest.bounds()
                low = _tighter(max, low, None if least is None else least + min(remainder, 0))
                high = _tighter(min, high, None if most is None else most + max(remainder, 0))
            self._bounds = low, high
        return self._bounds

    def _interval(self) -> Range:
        """The sum of the terms' intervals."""
        low: int | None = self.constant
        high: int | None = self.constant
        for term, c in self.terms.items():
            floor = isinstance(term, Floor)
            own, by = (term.numerator.bounds(), term.divisor) if floor else ((term.low, term.high), 1)
            least, most = own if c > 0 else own[::-1]
            low = None if low is None or least is None else low + c * (least // by)
            high = None if high is None or most is None else high + c * (most // by)
        return low, high

    def _remainders(self) -> Iterator[tuple[int, Linear]]:
        """The ways in which a floor term makes the form `k * (n mod d) + rest`, with fewer terms in
        the rest: each as k * (d - 1), the largest value of the first part, and the rest."""
        for term, c in self.terms.items():
            if isinstance(term, Floor) and c % term.divisor == 0:
                factor = -c // term.divisor
                rest = self - term.numerator * factor + Linear({term: -c}, 0)
                if len(rest.terms) < len(self.terms):
                    yield factor * (term.divisor - 1), rest

    def renamed(self, name: Callable[[Symbol], Symbol]) -> Linear:
        """The form with `name(s)` in place of each symbol; different symbols stay different."""
        if not self.terms:
            return self
        terms: dict[Term, int] = {}
        for term, c in self.terms.items():
            terms[Floor(term.numerator.renamed(name), term.divisor) if isinstance(term, Floor) else name(term)] = c
        return Linear(terms, self.constant)

    def replaced(self, by: Callable[[Symbol], Linear]) -> Linear:
        """The form with a form in place of each symbol."""
        terms, constant = dict[Term, int](), self.constant
        for term, c in self.terms.items():
            inner = term.numerator.replaced(by).floordiv(term.divisor) if isinstance(term, Floor) else by(term)
            for part, factor in inner.terms.items():
                terms[part] = terms.get(part, 0) + factor * c
            constant += inner.constant * c
        return Linear(terms, constant)

    def put(self, table: Mapping[Symbol, Linear]) -> Linear:
        """The form with forms in place of some of its symbols, also in operands of `made`."""
        if not table or all(symbol.made is None and symbol not in table for symbol in self.symbols()):
            return self
        return self.replaced(lambda symbol: table.get(symbol) or symbol.changed(lambda operand: operand.put(table)))

    def value(self, point: Mapping[Symbol, int]) -> int | None:
        """The form's value at a point; None if the point lacks one of its symbols."""
        found = self.replaced(lambda symbol: Linear.of(point.get(symbol, symbol)))
        return found.constant if found.is_constant else None

    def __repr__(self) -> str:
        names = (f"floor(({t.numerator})/{t.divisor})" if isinstance(t, Floor) else t.name for t in self.terms)
        parts = (f"{c}*{name}" for name, c in zip(names, self.terms.values(), strict=True))
        return " + ".join([*parts, str(self.constant)])


def _tighter(choose: Callable[[int, int], int], a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else choose(a, b)


def multiply(a: Range, b: Range) -> Range:
    """The range of a product. If a range is unbounded on one side, only its sign is used, unless
    the other factor is a number."""
    corners = [x * y for x in a for y in b if x is not None and y is not None]
    if len(corners) == len(a) * len(b):
        return min(corners), max(corners)
    if a[0] is not None and a[0] == a[1]:
        a, b = b, a
    factor = b[0]
    if factor is not None and factor == b[1]:
        low, high = (None if end is None else end * factor for end in a)
        return (low, high) if factor > 0 else (high, low) if factor < 0 else (0, 0)
    signs = a[0] is not None and a[0] >= 0 and b[0] is not None and b[0] >= 0
    return (0, _both(operator.mul, a[1], b[1])) if signs else (None, None)


def _both(combine: Callable[[int, int], int], a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else combine(a, b)


def union(a: Range, b: Range) -> Range:
    """The smallest range that contains both."""
    return _both(min, a[0], b[0]), _both(max, a[1], b[1])


def least(ranges: Sequence[Range]) -> Range:
    """The range of the smallest of several numbers."""
    lows, highs = [r[0] for r in ranges], [r[1] for r in ranges if r[1] is not None]
    return None if None in lows else min(n for n in lows if n is not None), min(highs, default=None)


def greatest(ranges: Sequence[Range]) -> Range:
    """The range of the largest of several numbers."""
    low, high = least([(None if b is None else -b, None if a is None else -a) for a, b in ranges])
    return None if high is None else -high, None if low is None else -low


def redefined(table: Mapping[Symbol, Linear], used: Iterable[Symbol]) -> dict[Symbol, Linear]:
    """A table of forms that replace symbols, completed for defined symbols: if the definition of a
    symbol uses a replaced one, the symbol gets a new one with the rewritten definition."""
    known, out = reached(used), dict(table)
    while new := [s for s in known if s.definition and s not in out and any(t in out for t in s.definition.symbols())]:
        out |= {s: Linear.of(replace(s, definition=None)) for s in new}

    def change(form: Linear) -> Linear:
        return form.put(out)

    for symbol, definition in ((s, s.definition) for s in known if s.definition and s in out and s not in table):
        (made,) = out[symbol].symbols()
        made.define(definition.changed(change))
    return out


def settled(symbols: Iterable[Symbol]) -> bool:
    """Whether each of the symbols, and of those in their definitions, may have any value in its
    range, or is defined."""
    return not any(symbol.guessed or symbol.kind == "opaque" for symbol in reached(symbols))


def reached(symbols: Iterable[Symbol]) -> dict[Symbol, None]:
    """The symbols, and all in their definitions and operands."""
    known = dict.fromkeys(symbols)
    for symbol in (waiting := list(known)):
        parts = (*((symbol.definition,) if symbol.definition else ()), *(symbol.made.operands if symbol.made else ()))
        new = dict.fromkeys(s for part in parts for s in part.symbols() if s not in known)
        waiting += new
        known |= new
    return known


def involved(*parts: Linear | Formula) -> dict[Symbol, None]:
    """The symbols of forms and formulas, and all in their definitions and operands."""
    return reached(s for part in parts for s in part.symbols())


# ---- formulas --------------------------------------------------------------------------------------------------------


@record(compared=True)
class Formula:
    """`form >= 0`, `form == 0`, or the conjunction or disjunction of `parts`; an empty "and" is true, an empty "or"
    false."""

    kind: Literal["ge", "eq", "and", "or"]
    form: Linear | None = None
    parts: tuple[Formula, ...] = ()

    def negate(self) -> Formula:
        if self.kind == "and" or self.kind == "or":
            return Formula("or" if self.kind == "and" else "and", None, tuple(p.negate() for p in self.parts))
        form = self.form or Linear({}, 0)
        if self.kind == "ge":
            return at_least(form * -1, 1)
        return either(at_least(form, 1), at_least(form * -1, 1))

    def symbols(self) -> Iterator[Symbol]:
        if self.form is not None:
            yield from self.form.symbols()
        for part in self.parts:
            yield from part.symbols()

    def depends(self) -> Depends:
        return Depends.of(self.symbols())

    def changed(self, change: Callable[[Linear], Linear]) -> Formula:
        """The formula with `change(form)` in place of each form."""
        form = None if self.form is None else change(self.form)
        return Formula(self.kind, form, tuple(part.changed(change) for part in self.parts))


TRUE = Formula("and")
FALSE = Formula("or")


def at_least(form: Linear, bound: Linear | int) -> Formula:
    """`form >= bound`."""
    return Formula("ge", form - bound)


def less(a: Linear, b: Linear) -> Formula:
    """`a < b`."""
    return Formula("ge", b - a - 1)


def equal(a: Linear, b: Linear) -> Formula:
    """`a = b`."""
    return Formula("eq", a - b)


def unequal(a: Linear, b: Linear) -> tuple[Formula, Formula]:
    """The two ways in which a != b."""
    return less(a, b), less(b, a)


def both(*parts: Formula) -> Formula:
    """The conjunction, simplified."""
    flat = [q for p in parts for q in (p.parts if p.kind == "and" else (p,))]
    return FALSE if FALSE in flat else flat[0] if len(flat) == 1 else Formula("and", None, tuple(flat))


def either(*parts: Formula) -> Formula:
    """The disjunction, simplified."""
    flat = [q for p in parts for q in (p.parts if p.kind == "or" else (p,))]
    return TRUE if TRUE in flat else flat[0] if len(flat) == 1 else Formula("or", None, tuple(flat))
