"""Arithmetic on forms: the symbols of a kernel, and the operations that leave the affine world by way of fresh ones."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping

from ..mlir import ir
from .linear import (
    FALSE,
    NOTHING,
    THREAD,
    TRUE,
    Depends,
    Formula,
    Linear,
    Link,
    Symbol,
    SymbolKind,
    at_least,
    both,
    either,
    equal,
    less,
)
from .shape import LaunchShape

AXES = ("x", "y", "z")


class Algebra:
    """The symbols of one kernel, and arithmetic that makes new ones.

    Args:
        shape: block and grid sizes, as far as they are known.
    """

    def __init__(self, shape: LaunchShape) -> None:
        self.shape = shape
        self._hardware: dict[tuple[str, str], Symbol] = {}
        self._split: dict[Symbol, Linear] = {}
        self.definitions: list[Symbol] = []
        self._products: dict[tuple[Linear, Linear], Linear] = {}
        self._numbers = itertools.count()

    # ---- symbols ------------------------------------------------------------------------------------------------------

    def fresh(
        self,
        kind: SymbolKind,
        depends: Depends = NOTHING,
        low: int | None = None,
        high: int | None = None,
        link: Link | None = None,
    ) -> Symbol:
        letter = {"loop": "c", "parameter": "p", "opaque": "o", "defined": "d", "lane": "l"}[kind]
        symbol = Symbol(f"{letter}{next(self._numbers)}", kind, depends, low, high, None, link)
        if kind == "defined":
            self.definitions.append(symbol)
        return symbol

    def defined(self, depends: Depends, formula: Callable[[Linear], Formula]) -> Linear:
        """A value that is what `formula` of it says."""
        symbol = self.fresh("defined", depends)
        form = Linear.of(symbol)
        symbol.define(formula(form))
        return form

    def opaque(
        self, depends: Depends, low: int | None = None, high: int | None = None, link: Link | None = None
    ) -> Linear:
        kind: SymbolKind = "parameter" if depends == NOTHING else "opaque"
        return Linear.of(self.fresh(kind, depends, low, high, link))

    def hardware(self, what: str, axis: str) -> Linear:
        """`thread_id x` and its kin; sizes that are known are constants."""
        size = self.shape.size(what, axis)
        if what in ("block_dim", "grid_dim") and size is not None:
            return Linear.of(size)
        if what in ("thread_id", "block_id") and size == 1:
            return Linear.of(0)
        key = (what, axis)
        if key not in self._hardware:
            if what == "thread_id":
                symbol = Symbol(f"t{axis}", "thread", THREAD, 0, None if size is None else size - 1)
            elif what == "block_id":
                symbol = Symbol(f"b{axis}", "block", Depends(block=True), 0, None if size is None else size - 1)
            else:
                symbol = Symbol(f"{'B' if what == 'block_dim' else 'G'}{axis}", "parameter", NOTHING, 1)
            self._hardware[key] = symbol
        symbol = self._hardware[key]
        return self._split.get(symbol) or Linear.of(symbol)

    def split(self, digits: Mapping[Symbol, Linear]) -> None:
        """From now on these ids are sums of their digits (see `digits`)."""
        self._split.update(digits)

    def thread_ids(self) -> tuple[Linear, ...]:
        return tuple(self.hardware("thread_id", axis) for axis in AXES)

    def block_ids(self) -> tuple[Linear, ...]:
        return tuple(self.hardware("block_id", axis) for axis in AXES)

    def size_facts(self) -> list[Formula]:
        """Ids are below their symbolic sizes."""
        out: list[Formula] = []
        for what, size in (("thread_id", "block_dim"), ("block_id", "grid_dim")):
            for axis in AXES:
                if (what, axis) in self._hardware and self.shape.size(size, axis) is None:
                    out.append(less(self.hardware(what, axis), self.hardware(size, axis)))
        return out

    # ---- arithmetic ---------------------------------------------------------------------------------------------------

    @staticmethod
    def times(a: Linear, b: Linear) -> Linear | None:
        """The product, if one factor is constant."""
        if a.is_constant:
            return b * a.constant
        return a * b.constant if b.is_constant else None

    def product(self, a: Linear, b: Linear) -> Linear:
        """The product. That of an id and a number that the whole grid agrees on is a multiple (see `Link`)."""
        exact = self.times(a, b)
        if exact is not None:
            return exact
        if (a, b) not in self._products:
            link = None
            for identifier, chunk in ((a, b), (b, a)):
                processor = id_symbol(identifier)
                if processor is not None and chunk.depends() == NOTHING:
                    link = Link("multiple", processor, chunk)
            low = 0 if at_or_above(a, 0) and at_or_above(b, 0) else None
            self._products[a, b] = self._products[b, a] = self.opaque(a.depends() | b.depends(), low, None, link)
        return self._products[a, b]

    def truncated(self, a: Linear, divisor: int) -> Linear:
        """`a / divisor` rounded towards zero."""
        low, high = a.bounds()
        if low is not None and low >= 0:
            return a.floordiv(divisor)
        if high is not None and high <= 0:
            return (a * -1).floordiv(divisor) * -1
        up, down = a.floordiv(divisor), (a * -1).floordiv(divisor) * -1
        return self.choose(at_least(a, 0), up, down)

    def choose(self, condition: Formula, a: Linear, b: Linear) -> Linear:
        """`condition ? a : b`."""
        if condition == TRUE or a == b:
            return a
        if condition == FALSE:
            return b
        depends = condition.depends() | a.depends() | b.depends()
        return self.defined(
            depends, lambda v: either(both(condition, equal(v, a)), both(condition.negate(), equal(v, b)))
        )

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
        depends = NOTHING
        for f in forms:
            depends = depends | f.depends()

        def formula(v: Linear) -> Formula:
            beyond = [at_least(v, f) if largest else at_least(f, v) for f in forms]
            return both(*beyond, either(*(equal(v, f) for f in forms)))

        return self.defined(depends, formula)

    def tabulated(self, place: Linear, first: int, values: list[int]) -> Linear:
        """`values[0]` where `place` is `first`, `values[1]` where it is one more, …; `place` is one of these."""
        symbol = self.fresh("defined", place.depends(), min(values), max(values))
        rows = ((Linear.of(first + n), Linear.of(value)) for n, value in enumerate(values))
        symbol.define(either(*(both(equal(place, at), equal(Linear.of(symbol), value)) for at, value in rows)))
        return Linear.of(symbol)

    def by_constant(self, name: str, a: Linear, b: int) -> Linear | None:
        if name == "shli" and 0 <= b < 63:
            return a * (1 << b)
        if name in ("shrui", "divui", "remui") and not at_or_above(a, 0):
            return None
        if name in ("shrsi", "shrui") and 0 <= b < 63:
            return a.floordiv(1 << b)
        if name == "xori" and b > 0 and b & (b - 1) == 0:
            return a + b - (a.floordiv(b) - a.floordiv(2 * b) * 2) * (2 * b)  # flips one bit
        if name == "andi" and b >= 0 and (b + 1) & b == 0:
            return a.modulo(b + 1)
        if b <= 0:
            return None
        match name:
            case "floordivsi":
                return a.floordiv(b)
            case "ceildivsi" | "ceildivui":
                return (a + (b - 1)).floordiv(b)
            case "divsi":
                return self.truncated(a, b)
            case "remsi":
                return a - self.truncated(a, b) * b
            case "divui":
                return a.floordiv(b)
            case "remui":
                return a.modulo(b)
        return None

    # ---- affine maps --------------------------------------------------------------------------------------------------

    def affine_map(self, affine_map: ir.AffineMap, operands: list[Linear]) -> list[Linear]:
        """The results of the map: dimensions first among the operands, then symbols."""
        dims = operands[: affine_map.n_dims]
        symbols = operands[affine_map.n_dims :]
        return [self.affine_expression(e, dims, symbols) for e in affine_map.results]

    def affine_expression(self, e: ir.AffineExpr, dims: list[Linear], symbols: list[Linear]) -> Linear:
        if isinstance(e, ir.AffineDimExpr):
            return dims[e.position]
        if isinstance(e, ir.AffineSymbolExpr):
            return symbols[e.position]
        if isinstance(e, ir.AffineConstantExpr):
            return Linear.of(e.value)
        binary = ir.AffineBinaryExpr(e)
        a = self.affine_expression(binary.lhs, dims, symbols)
        b = self.affine_expression(binary.rhs, dims, symbols)
        if isinstance(e, ir.AffineAddExpr):
            return a + b
        if isinstance(e, ir.AffineMulExpr):
            return self.product(a, b)
        elif not b.is_constant or b.constant <= 0:
            known = None
        elif isinstance(e, ir.AffineModExpr):
            known = a.modulo(b.constant)
        elif isinstance(e, ir.AffineFloorDivExpr):
            known = a.floordiv(b.constant)
        else:
            known = (a + (b.constant - 1)).floordiv(b.constant)
        return known if known is not None else self.opaque(a.depends() | b.depends())

    def integer_set(self, attribute: ir.Attribute, operands: list[Linear]) -> Formula:
        """`affine.if`'s set. The bindings give no access to an integer set attribute's content, so its text becomes a map."""
        text = str(attribute).removeprefix("affine_set<").removesuffix(">")
        head, _, constraints = text.partition(":")
        inner = constraints.strip()[1:-1]
        pieces = [p.strip() for p in inner.split(",") if p.strip()]
        forms = [re.sub(r"\s*(>=|==)\s*0$", "", p) for p in pieces]
        made = ir.AffineMapAttr.parse(f"affine_map<{head.strip()} -> ({', '.join(forms)})>", attribute.context)
        results = self.affine_map(made.value, operands)
        return both(*(Formula("eq" if "==" in p else "ge", f) for p, f in zip(pieces, results, strict=True)))


def at_or_above(form: Linear, bound: int) -> bool:
    """Whether the form's bounds say so."""
    low, _ = form.bounds()
    return low is not None and low >= bound


def id_symbol(form: Linear) -> Symbol | None:
    """The symbol, if the form is just a thread's or a block's id."""
    if len(form.terms) == 1 and form.constant == 0:
        ((term, coefficient),) = form.terms.items()
        if coefficient == 1 and isinstance(term, Symbol) and term.kind in ("thread", "block"):
            return term
    return None
