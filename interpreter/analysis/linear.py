"""Quasi-affine forms over named integers, and formulas of them: what the analysis reads out of the IR before ISL sees it.

A form is always normal: integer coefficients on symbols and on `Floor` terms, and a constant. Anything that is not affine is a
fresh `Symbol` of kind "opaque" that knows on what its value depends, i.e. an uninterpreted function: two instances that agree
on everything it depends on see the same value, others may see any. `mod` never appears (its spelling binds loosely in ISL's
parser): `a mod n` is `a - n*floor(a/n)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

SymbolKind = Literal["thread", "block", "loop", "parameter", "opaque", "defined", "lane"]


@dataclass(frozen=True)
class Depends:
    """On what a value depends: the thread's own ids (or data it alone may see), the block ids, the counters of loops."""

    thread: bool = False
    block: bool = False
    loops: frozenset[int] = frozenset()

    def __or__(self, other: Depends) -> Depends:
        if self == other:
            return self
        return Depends(self.thread or other.thread, self.block or other.block, self.loops | other.loops)


NOTHING = Depends()
THREAD = Depends(thread=True)


@dataclass(frozen=True)
class Link:
    """What an uninterpreted value tells of the processor it belongs to, where the number of processors is symbolic.

    "residue": the value is `processor + count*i` with 0 <= processor < count: equal values mean equal processors.
    "multiple": the value is `processor * chunk`: values of different processors are a chunk apart, if chunk >= 0.
    """

    kind: Literal["residue", "multiple"]
    processor: Symbol
    chunk: Linear | None = None


@dataclass(frozen=True, eq=False)
class Symbol:
    """A named integer.

    Args:
        name: an ISL identifier, unique in its kernel.
        kind: "thread" and "block" ids; "loop": the iteration counter of a loop, from 0; "parameter": the same for the whole
            grid; "opaque": an uninterpreted value; "defined": what `definition` says (min, max, select); "lane": any of
            `low … high` (an element of a vector, a byte of an element).
        low, high: bounds that always hold; None where there is none.
        link: what an opaque value tells of the id of its block or thread.
        guessed: it stands for what an operation makes that is not understood: it may never have the values a conflict needs.
    """

    name: str
    kind: SymbolKind
    depends: Depends = NOTHING
    low: int | None = None
    high: int | None = None
    definition: Formula | None = field(default=None, repr=False)
    link: Link | None = field(default=None, repr=False)
    guessed: bool = False

    def define(self, formula: Formula) -> None:
        """Close the knot of a "defined" symbol, whose formula mentions the symbol itself."""
        object.__setattr__(self, "definition", formula)


@dataclass(frozen=True)
class Floor:
    """`floor(numerator / divisor)`, with a positive divisor."""

    numerator: Linear
    divisor: int


Term = Symbol | Floor


class Linear:
    """`sum(coefficient * term) + constant`; immutable."""

    __slots__ = ("_bounds", "_key", "constant", "terms")

    def __init__(self, terms: Mapping[Term, int], constant: int) -> None:
        self.terms = {term: c for term, c in terms.items() if c}
        self.constant = constant
        self._key = (frozenset(self.terms.items()), constant)
        self._bounds: tuple[int | None, int | None] | None = None

    @staticmethod
    def of(value: int | Symbol) -> Linear:
        return Linear({}, value) if isinstance(value, int) else Linear({value: 1}, 0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Linear) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __add__(self, other: Linear | int) -> Linear:
        if isinstance(other, int):
            return Linear(self.terms, self.constant + other)
        terms = dict(self.terms)
        for term, c in other.terms.items():
            terms[term] = terms.get(term, 0) + c
        return Linear(terms, self.constant + other.constant)

    def __sub__(self, other: Linear | int) -> Linear:
        return self + (-other if isinstance(other, int) else other * -1)

    def __mul__(self, factor: int) -> Linear:
        return Linear({term: c * factor for term, c in self.terms.items()}, self.constant * factor)

    @property
    def is_constant(self) -> bool:
        return not self.terms

    def floordiv(self, divisor: int) -> Linear:
        """`floor(self / divisor)`: what divides evenly leaves the floor. `divisor` is positive."""
        if divisor == 1:
            return self
        whole = {t: c // divisor for t, c in self.terms.items() if c % divisor == 0}
        rest = Linear({t: c for t, c in self.terms.items() if c % divisor}, self.constant % divisor)
        out = Linear(whole, self.constant // divisor)
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
        """All symbols, those inside floors included (not those of definitions); some twice."""
        for term in self.terms:
            if isinstance(term, Floor):
                yield from term.numerator.symbols()
            else:
                yield term

    def depends(self) -> Depends:
        out = NOTHING
        for symbol in self.symbols():
            out = out | symbol.depends
        return out

    def bounds(self) -> tuple[int | None, int | None]:
        """Bounds from those of the symbols (intervals: sound, not tight)."""
        if self._bounds is None:
            low, high = self._interval()
            for remainder, rest in self._remainders():
                least, most = rest.bounds()
                low = _tighter(max, low, None if least is None else least + min(remainder, 0))
                high = _tighter(min, high, None if most is None else most + max(remainder, 0))
            self._bounds = low, high
        return self._bounds

    def _interval(self) -> tuple[int | None, int | None]:
        """Each term for itself."""
        low: int | None = self.constant
        high: int | None = self.constant
        for term, c in self.terms.items():
            if isinstance(term, Floor):
                a, b = term.numerator.bounds()
                a, b = (None if a is None else a // term.divisor), (None if b is None else b // term.divisor)
            else:
                a, b = term.low, term.high
            if c < 0:
                a, b = b, a
            low = None if low is None or a is None else low + c * a
            high = None if high is None or b is None else high + c * b
        return low, high

    def _remainders(self) -> Iterator[tuple[int, Linear]]:
        """The form as `k * (n mod d) + rest`, for each floor that allows it: k * (d - 1), and a rest of fewer terms."""
        for term, c in self.terms.items():
            if isinstance(term, Floor) and c % term.divisor == 0:
                factor = -c // term.divisor
                rest = self - term.numerator * factor + Linear({term: -c}, 0)
                if len(rest.terms) < len(self.terms):
                    yield factor * (term.divisor - 1), rest

    def __repr__(self) -> str:
        return render(self, lambda s: s.name)


def _tighter(choose: Callable[[int, int], int], a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else choose(a, b)


def settled(symbols: Iterable[Symbol]) -> bool:
    """Whether each of the symbols, and of those that they are defined by, may have any value in its range, or is defined."""
    done: set[Symbol] = set()
    todo = list(symbols)
    while todo:
        symbol = todo.pop()
        if symbol.guessed or symbol.kind == "opaque":
            return False
        if symbol not in done and symbol.definition is not None:
            todo += symbol.definition.symbols()
        done.add(symbol)
    return True


# ---- formulas ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Formula:
    """`form >= 0`, `form == 0`, or the conjunction or disjunction of `parts`; an empty "and" is true, an empty "or" false."""

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
        out = NOTHING
        for symbol in self.symbols():
            out = out | symbol.depends
        return out


TRUE = Formula("and")
FALSE = Formula("or")


def at_least(form: Linear, bound: Linear | int) -> Formula:
    """`form >= bound`."""
    return Formula("ge", form - bound)


def less(a: Linear, b: Linear) -> Formula:
    return Formula("ge", b - a - 1)


def equal(a: Linear, b: Linear) -> Formula:
    return Formula("eq", a - b)


def both(*parts: Formula) -> Formula:
    flat = [q for p in parts for q in (p.parts if p.kind == "and" else (p,))]
    return FALSE if FALSE in flat else flat[0] if len(flat) == 1 else Formula("and", None, tuple(flat))


def either(*parts: Formula) -> Formula:
    flat = [q for p in parts for q in (p.parts if p.kind == "or" else (p,))]
    return TRUE if TRUE in flat else flat[0] if len(flat) == 1 else Formula("or", None, tuple(flat))


# ---- ISL text ---------------------------------------------------------------------------------------------------------


class Naming:
    """How one instance calls its symbols. Collects the names it handed out, with the ranges and definitions they need.

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
        self.names: dict[Symbol, str] = {}

    def __call__(self, symbol: Symbol) -> str:
        name = self.names.get(symbol)
        if name is None:
            if self.parent is not None and (symbol.kind == "parameter" or self.shares(symbol)):
                return self.parent(symbol)
            name = self.names[symbol] = self.prefix + symbol.name
        return name

    def mention(self, form: Linear) -> None:
        """Name the form's symbols."""
        for symbol in form.symbols():
            self(symbol)

    def facts(self) -> list[str]:
        """Ranges and definitions of every symbol named so far (a definition may name more, here or in the parent)."""
        out: list[str] = []
        done: set[Symbol] = set()
        while todo := [s for s in self.names if s not in done]:
            for symbol in todo:
                done.add(symbol)
                name = self.names[symbol]
                if symbol.low is not None:
                    out.append(f"{name} >= {symbol.low}")
                if symbol.high is not None:
                    out.append(f"{name} <= {symbol.high}")
                if symbol.definition is not None:
                    out.append(spell(symbol.definition, self))
        return out


def render(form: Linear, name: Callable[[Symbol], str]) -> str:
    """The form as ISL reads it; floors always in full parentheses."""
    parts: list[str] = []
    for term, c in form.terms.items():
        if isinstance(term, Floor):
            parts.append(f"{c}*floor(({render(term.numerator, name)})/{term.divisor})")
        else:
            parts.append(f"{c}*{name(term)}")
    if form.constant or not parts:
        parts.append(str(form.constant))
    return " + ".join(parts)


def spell(formula: Formula, name: Callable[[Symbol], str]) -> str:
    """The formula as ISL reads it."""
    if formula.form is not None:
        return f"{render(formula.form, name)} {'>=' if formula.kind == 'ge' else '='} 0"
    if not formula.parts:
        return "1 = 1" if formula.kind == "and" else "1 = 0"
    return "(" + f" {formula.kind} ".join(spell(p, name) for p in formula.parts) + ")"
