"""Arithmetic on forms, and the symbols of a kernel. If the result of an operation is no form of its
operands, it is a fresh symbol."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from math import gcd, prod
from typing import Literal

from ...dsl.records import record
from ..ir.affine_maps import constraints, results_of
from ..ir.mlir import ir
from .linear import (
    FALSE,
    NOTHING,
    THREAD,
    TRUE,
    Depends,
    Formula,
    Linear,
    MadeBy,
    Symbol,
    SymbolKind,
    Term,
    at_least,
    both,
    either,
    equal,
    greatest,
    least,
    less,
    multiply,
    union,
)

Sizes = tuple[int | None, int | None, int | None]


@record
class LaunchShape:
    """Threads per block and blocks per grid, (x, y, z); None where the launch decides. Blocks per
    cluster are always known."""

    block: Sizes = (None, None, None)
    grid: Sizes = (None, None, None)
    cluster: tuple[int, int, int] = (1, 1, 1)

    def size(self, what: str, axis: str) -> int | None:
        sizes = self.block if what in ("thread_id", "block_dim") else self.grid
        return sizes["xyz".index(axis)]

    @property
    def threads(self) -> int | None:
        """Threads per block."""
        x, y, z = self.block
        return None if x is None or y is None or z is None else x * y * z

    @property
    def blocks(self) -> int:
        """Blocks per cluster."""
        return prod(self.cluster)

    def linear_id(self, ids: Sequence[Linear]) -> Linear:
        """x + X*(y + Y*z), the order in which hardware counts threads. Block sizes must be known."""
        x, y, _ = self.block
        return ids[0] + ids[1] * (x or 1) + ids[2] * ((x or 1) * (y or 1))


AXES = ("x", "y", "z")
PRODUCT = "product"
QUOTIENT, REMAINDER = (
    tuple(f"{part} {rounding}" for rounding in ("natural", "floor")) for part in ("quotient", "remainder")
)
"""Operations with results that are no forms (`MadeBy`): quotients rounded down, and remainders."""


@dataclass
class MadeUp:
    """A number that other numbers determine: if all parts in one of `ways` are equal in two
    instances, `number` is equal in both.

    A quotient and a remainder determine the dividend; the counter of a loop over processors,
    `processor + count*i`, determines the processor.
    """

    number: Linear
    ways: list[tuple[Linear, ...]] = field(default_factory=list)


@dataclass
class Multiple:
    """`value` is `processor * chunk`: values of different processors differ by at least a chunk, if
    chunk >= 0."""

    value: Linear
    processor: Linear
    chunk: Linear


class Algebra:
    """The symbols of one kernel, and arithmetic that creates new ones.

    Args:
        shape: block and grid sizes, as far as they are known.
    """

    def __init__(self, shape: LaunchShape) -> None:
        self.shape = shape
        self._hardware: dict[tuple[str, str], Symbol] = {}
        self._split: dict[Symbol, Linear] = {}
        self.definitions: list[Symbol] = []
        self.made_up: dict[Hashable, MadeUp] = {}
        self.multiples: list[Multiple] = []
        self._minima: dict[Term, list[Linear]] = {}
        self._none_at_least: dict[Term | None, Linear] = {}
        self._products: dict[tuple[Linear, Linear], Linear] = {}
        self._unread: dict[tuple[str, tuple[Linear, ...]], Linear] = {}
        self._divisions: dict[tuple[str, Linear, Linear], dict[str, Linear]] = {}
        self._numbers = itertools.count()

    # ---- symbols -----------------------------------------------------------------------------------------------------

    def fresh(
        self,
        kind: SymbolKind,
        depends: Depends = NOTHING,
        low: int | None = None,
        high: int | None = None,
        guessed: bool = False,
        made: MadeBy | None = None,
    ) -> Symbol:
        letter = {"loop": "c", "parameter": "p", "opaque": "o", "defined": "d", "lane": "l"}[kind]
        symbol = Symbol(f"{letter}{next(self._numbers)}", kind, depends, low, high, None, guessed, made)
        if kind == "defined":
            self.definitions.append(symbol)
        return symbol

    def defined(
        self, depends: Depends, formula: Callable[[Linear], Formula], low: int | None = None, high: int | None = None
    ) -> Linear:
        """A value defined by `formula`, which maps its symbol to a formula."""
        symbol = self.fresh("defined", depends, low, high)
        form = Linear.of(symbol)
        symbol.define(formula(form))
        return form

    def opaque(
        self,
        depends: Depends,
        low: int | None = None,
        high: int | None = None,
        *,
        guessed: bool = False,
        made: MadeBy | None = None,
    ) -> Linear:
        kind: SymbolKind = "parameter" if depends == NOTHING else "opaque"
        return Linear.of(self.fresh(kind, depends, low, high, guessed, made))

    def unread(
        self,
        what: str,
        operands: tuple[Linear, ...],
        low: int | None = None,
        high: int | None = None,
        again: Callable[..., Linear] | None = None,
    ) -> Linear:
        """The result of an operation that is not modelled: equal for equal operands.

        Args:
            again: the operation, where it is modelled for some operands.
        """
        if (what, operands) not in self._unread:
            again = again or (lambda *others: self.unread(what, others, low, high))
            made = MadeBy(what, operands, again)
            self._unread[what, operands] = self.opaque(Depends.of(operands), low, high, guessed=True, made=made)
        return self._unread[what, operands]

    def part(self, part: Literal["quotient", "remainder"], rounding: str, number: Linear, base: Linear) -> Linear:
        """A quotient or remainder of `number` and `base`, which is not a constant. The rounding
        mode is irrelevant for non-negative numbers.

        For a base that is a multiple, `4*c`, the quotient is that of `number floordiv 4` and `c`:
        the same for four consecutive numbers.
        """
        natural = at_or_above(number, 0) and at_or_above(base, 0)
        rounding, shared = "natural" if natural else rounding, base.content
        if shared > 1 and rounding in ("natural", "floor") and at_or_above(base, 0):
            whole = number.floordiv(shared)
            known = self.part(part, rounding, whole, base.floordiv(shared))
            return known if part == "quotient" else known * shared + (number - whole * shared)
        most = number.bounds()[1] if part == "quotient" else base.bounds()[1]
        high = most if most is None or part == "quotient" else max(0, most - 1)
        low, high = (0, high) if natural else (None, None)
        made = self.unread(f"{part} {rounding}", (number, base), low, high, partial(self.divided, part, rounding))
        parts = self._divisions.setdefault((rounding, number, base), {})
        parts[part] = made
        if len(parts) == 2 and base.depends() == NOTHING:
            self.made_up[rounding, number, base] = MadeUp(number, [tuple(parts.values())])
        return made

    def divided(self, part: Literal["quotient", "remainder"], rounding: str, number: Linear, base: Linear) -> Linear:
        """A quotient or remainder of `number` and `base`, which may be a constant; the rounding
        mode matters only if one is negative."""
        if not base.is_constant or base.constant <= 0 or not (rounding == "floor" or at_or_above(number, 0)):
            return self.part(part, rounding, number, base)
        return number.floordiv(base.constant) if part == "quotient" else number.modulo(base.constant)

    def hardware(self, what: str, axis: str) -> Linear:
        """A hardware id or size (`thread_id x` etc.); known sizes are constants.

        Consecutive blocks form a cluster: with n blocks along an axis, `block_id` is n times the
        cluster's number plus the block's number in it.
        """
        together = self.shape.cluster["xyz".index(axis)]
        if what == "cluster_block_id":
            return self._id(what, axis, together, Depends(block=True, rank=True)) if together > 1 else Linear.of(0)
        if what == "cluster_dim_blocks":
            return Linear.of(together)
        size = self.shape.size(what, axis)
        if what in ("block_dim", "grid_dim") and size is not None:
            return Linear.of(size)
        if what == "thread_id":
            return self._id(what, axis, size, THREAD)
        if what == "block_id":
            clusters = None if size is None else size // together
            number = self._id(what, axis, clusters, Depends(block=True)) * together
            return number + self.hardware("cluster_block_id", axis)
        if (what, axis) not in self._hardware:
            self._hardware[what, axis] = Symbol(f"{'B' if what == 'block_dim' else 'G'}{axis}", "parameter", NOTHING, 1)
        return Linear.of(self._hardware[what, axis]) * (together if what == "grid_dim" else 1)

    def _id(self, what: str, axis: str, size: int | None, depends: Depends) -> Linear:
        if size == 1:
            return Linear.of(0)
        if (what, axis) not in self._hardware:
            letter = {"thread_id": "t", "block_id": "b", "cluster_block_id": "r"}[what]
            kind: SymbolKind = "thread" if depends.thread else "block"
            symbol = Symbol(f"{letter}{axis}", kind, depends, 0, None if size is None else size - 1)
            self._hardware[what, axis] = symbol
        symbol = self._hardware[what, axis]
        return self._split.get(symbol) or Linear.of(symbol)

    def split(self, digits: Mapping[Symbol, Linear]) -> None:
        """Replaces these ids by sums of their digits (see `proof/kernels/model.py`)."""
        self._split.update(digits)

    def thread_ids(self) -> tuple[Linear, ...]:
        return tuple(self.hardware("thread_id", axis) for axis in AXES)

    def block_ids(self) -> tuple[Linear, ...]:
        return tuple(self.hardware("block_id", axis) for axis in AXES)

    def cluster_ids(self) -> tuple[Linear, ...]:
        """Numbers that are equal for blocks of one cluster, and differ between clusters."""
        ranks = (self.hardware("cluster_block_id", axis) for axis in AXES)
        return tuple(block - rank for block, rank in zip(self.block_ids(), ranks, strict=True))

    @property
    def rank(self) -> Linear:
        """The number of a block in its cluster."""
        x, y, _ = self.shape.cluster
        ids = [self.hardware("cluster_block_id", axis) for axis in AXES]
        return ids[0] + ids[1] * x + ids[2] * (x * y)

    def size_facts(self) -> list[Formula]:
        """Facts: ids are below their symbolic sizes."""
        out: list[Formula] = []
        for what, size in (("thread_id", "block_dim"), ("block_id", "grid_dim")):
            for axis in AXES:
                if (what, axis) in self._hardware and self.shape.size(size, axis) is None:
                    out.append(less(self.hardware(what, axis), self.hardware(size, axis)))
        return out

    # ---- arithmetic --------------------------------------------------------------------------------------------------

    def product(self, a: Linear, b: Linear) -> Linear:
        """The product. A number made of ids, times one that is uniform over the grid, gives a
        `Multiple`; `max(n, 0)` times a number that is not negative gives `max(n*number, 0)`."""
        if a.is_constant or b.is_constant:
            return b * a.constant if a.is_constant else a * b.constant
        if a.content * b.content > 1:
            m, n = a.content, b.content
            return self.product(a.floordiv(m), b.floordiv(n)) * (m * n)
        for form, other in ((a, b), (b, a)):
            if (a, b) not in self._products and form.alone in self._none_at_least and at_or_above(other, 0):
                found = self.product(self._none_at_least[form.alone], other)
                self._products[a, b] = self._products[b, a] = self.extreme([found, Linear.of(0)], largest=True)
        if (a, b) not in self._products:
            factors = tuple(sorted((*factors_of(a), *factors_of(b)), key=repr))
            low, high = multiply(a.bounds(), b.bounds())
            made = self.unread(PRODUCT, factors, low, high, lambda *others: reduce(self.product, others))
            self._products[a, b] = self._products[b, a] = made
            for identifier, chunk in ((a, b), (b, a)):
                if chunk.depends() == NOTHING and all(s.kind in ("thread", "block") for s in identifier.symbols()):
                    self.multiples.append(Multiple(self._products[a, b], identifier, chunk))
        return self._products[a, b]

    def factors(self) -> dict[Symbol, tuple[Linear, Linear]]:
        """The factors of symbols that are products."""
        return {next(found.symbols()): pair for pair, found in self._products.items()}

    def choose(self, condition: Formula, a: Linear, b: Linear) -> Linear:
        """`condition ? a : b`."""
        if condition == TRUE or a == b:
            return a
        if condition == FALSE:
            return b

        def formula(v: Linear) -> Formula:
            return either(both(condition, equal(v, a)), both(condition.negate(), equal(v, b)))

        return self.defined(Depends.of((condition, a, b)), formula, *union(a.bounds(), b.bounds()))

    def extreme(self, forms: list[Linear], *, largest: bool) -> Linear:
        """The largest or smallest of the forms."""
        forms = list(dict.fromkeys(forms))
        for form in [*forms]:
            if any(other is not form and at_or_above((other - form) * (1 if largest else -1), 0) for other in forms):
                forms.remove(form)  # another one is always at least as extreme
        if len(forms) == 1:
            return forms[0]
        if all(f.is_constant for f in forms):
            return Linear.of((max if largest else min)(f.constant for f in forms))
        common = gcd(*(f.content for f in forms))
        if common > 1:
            return self.extreme([f.floordiv(common) for f in forms], largest=largest) * common

        def formula(v: Linear) -> Formula:
            beyond = [at_least(v, f) if largest else at_least(f, v) for f in forms]
            return both(*beyond, either(*(equal(v, f) for f in forms)))

        pick = greatest if largest else least
        out = self.defined(Depends.of(forms), formula, *pick([f.bounds() for f in forms]))
        if not largest:
            self._minima.update((symbol, forms) for symbol in out.terms)
        elif len(forms) == 2 and Linear.of(0) in forms:
            self._none_at_least[out.alone] = next(form for form in forms if form != Linear.of(0))
        return out

    def none_at_least(self, form: Linear) -> Linear | None:
        """The form f, if the given form is defined as `max(f, 0)`; None for any other form."""
        return self._none_at_least.get(form.alone)

    def at_most(self, form: Linear) -> list[Linear]:
        """Forms that are at least `form`, because it is defined as their minimum."""
        for symbol, c in form.terms.items():
            if c > 0 and symbol in self._minima:
                return [form + Linear({symbol: -c}, 0) + f * c for f in self._minima[symbol]]
        return [form]

    def tabulated(self, place: Linear, first: int, values: list[int]) -> Linear:
        """`values[0]` where `place` is `first`, `values[1]` where it is `first + 1`, …; `place` is
        one of these."""
        rows = [(Linear.of(first + n), Linear.of(value)) for n, value in enumerate(values)]

        def formula(v: Linear) -> Formula:
            return either(*(both(equal(place, at), equal(v, value)) for at, value in rows))

        return self.defined(place.depends(), formula, min(values), max(values))

    # ---- affine maps -------------------------------------------------------------------------------------------------

    def counter(self, low: Linear, highs: Iterable[Linear], step: Linear) -> tuple[Linear, Linear, list[Formula]]:
        """A loop's counter, from 0; the variable; and the constraint that the counter's range does
        not imply: it is below each of `highs`."""
        trips = {high: trips_of(low, high, step) for high in highs}
        most = [n.bounds()[1] for n in trips.values() if n is not None]
        last = min((n for n in most if n is not None), default=None)
        counter = Linear.of(self.fresh("loop", NOTHING, 0, None if last is None else max(last - 1, 0)))
        variable = (
            low if last == 1 and all(n == Linear.of(1) for n in trips.values()) else low + self.product(counter, step)
        )
        told = [high for high, n in trips.items() if n is not None and n.is_constant and n.constant > 0]
        return counter, variable, [less(variable, high) for high in trips if high not in told]

    def affine_map(self, affine_map: ir.AffineMap, operands: list[Linear]) -> list[Linear]:
        """The results of the map; operands are its dimensions, then its symbols."""
        return results_of(affine_map, operands, Linear.of, self.operate)

    def operate(self, operator: str, a: Linear, b: Linear) -> Linear:
        """An operation of an affine map on two forms."""
        if operator == "add":
            return a + b
        if operator == "mul":
            return self.product(a, b)
        if not b.is_constant and operator != "ceildiv":
            known = self.part("remainder" if operator == "mod" else "quotient", "floor", a, b)
        elif not b.is_constant or b.constant <= 0:
            known = None
        elif operator == "mod":
            known = a.modulo(b.constant)
        else:
            known = (a + (b.constant - 1 if operator == "ceildiv" else 0)).floordiv(b.constant)
        return known if known is not None else self.unread(operator, (a, b))

    def integer_set(self, attribute: ir.Attribute, operands: list[Linear]) -> Formula:
        """The constraints of an `affine.if`'s set."""
        mapping, equalities = constraints(attribute)
        results = self.affine_map(mapping, operands)
        return both(*(Formula("eq" if e else "ge", f) for e, f in zip(equalities, results, strict=True)))


def trips_of(low: Linear, high: Linear, step: Linear) -> Linear | None:
    """The trip count of a loop; None if the step is not a positive number."""
    if not step.is_constant or step.constant < 1:
        return None
    return (high - low + (step.constant - 1)).floordiv(step.constant)


def at_or_above(form: Linear, bound: int) -> bool:
    """Whether the form is at least `bound`, by its bounds alone."""
    low, _ = form.bounds()
    return low is not None and low >= bound


def factors_of(form: Linear) -> tuple[Linear, ...]:
    """The factors of a form that is a product of symbols; the form itself, if it is none."""
    return (form.alone.operands(PRODUCT) if form.alone is not None else ()) or (form,)


def id_symbol(form: Linear) -> Symbol | None:
    """The symbol, if the form is a single thread or block id."""
    return form.alone if form.alone is not None and form.alone.kind in ("thread", "block") else None
