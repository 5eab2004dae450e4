"""Every op of arith and math on every type that it takes: how it is written, what it means, how exact it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import meaning as m
import numpy as np
from numbers_of import BITS, FLOATS, INTEGERS, NUMPY, bits_of, width

Spell = Callable[..., str]
"""Names of the operands and a function that makes the type of what is written of an element type → the op's text."""


@dataclass(frozen=True)
class Case:
    """One op on one choice of types.

    Args:
        form: what is said besides: a predicate, a rounding mode.
        spell: `(names, typed)` → text; `typed("i8")` is `i8`, or a vector of it.
        ulps: how far a float result may be off, in units in the last place; 0: to the last bit.
    """

    op: str
    operands: tuple[str, ...]
    results: tuple[str, ...]
    spell: Spell
    meaning: m.Meaning
    form: str = ""
    ulps: float = 0

    def __str__(self) -> str:
        return f"{self.op}{' ' + self.form if self.form else ''}({', '.join(self.operands)}) -> {', '.join(self.results)}"

    def open(self, *values: np.ndarray) -> np.ndarray:
        """Which operands are left out."""
        return m.left_open(self.op, self.operands, self.results[0])(*values)


def same(op: str, kind: str, count: int, meaning: m.Meaning, result: str | None = None, ulps: float = 0) -> Case:
    """`op %a, %b : T`."""
    return Case(op, (kind,) * count, (result or kind,), lambda names, typed: f"{op} {', '.join(names)} : {typed(kind)}", meaning,
                ulps=ulps)  # fmt: skip


def cast(op: str, source: str, result: str, meaning: m.Meaning) -> Case:
    return Case(op, (source,), (result,), lambda n, typed: f"{op} {n[0]} : {typed(source)} to {typed(result)}", meaning)


def catalogue() -> Iterator[Case]:
    yield from _integers()
    yield from _floats()
    yield from _conversions()
    for kind in (*INTEGERS, *FLOATS):
        yield Case("arith.select", ("i1", kind, kind), (kind,), _select(kind), lambda c, a, b: (np.where(c, a, b),))


def _select(kind: str) -> Spell:
    def spell(names: list[str], typed: Callable[[str], str]) -> str:
        condition = f"{typed('i1')}, " if typed("i1") != "i1" else ""
        return f"arith.select {', '.join(names)} : {condition}{typed(kind)}"

    return spell


def _integers() -> Iterator[Case]:
    for kind in INTEGERS:
        for name in (*m.SIGNED, *m.UNSIGNED, "shrsi"):
            yield same(f"arith.{name}", kind, 2, m.integer(name, kind))
        for predicate in ("eq", "ne", *(s + p for s in "su" for p in ("lt", "le", "gt", "ge"))):
            meaning = m.compared(predicate, kind)
            yield Case("arith.cmpi", (kind, kind), ("i1",), _compare("cmpi", predicate, kind), meaning, predicate)
        for name in m.COUNTS:
            yield same(f"math.{name}", kind, 1, m.counted(name, kind))
        yield same("math.absi", kind, 1, m.magnitude(kind))
        yield same("math.ipowi", kind, 2, m.integer_power(kind))
        for name in m.EXTENDED:
            yield _extended(name, kind)


def _compare(op: str, predicate: str, kind: str) -> Spell:
    return lambda names, typed: f"arith.{op} {predicate}, {', '.join(names)} : {typed(kind)}"


def _extended(name: str, kind: str) -> Case:
    second = "i1" if name.startswith("add") else kind

    def spell(names: list[str], typed: Callable[[str], str]) -> str:
        carry = f", {typed('i1')}" if name.startswith("add") else ""
        return f"arith.{name} {', '.join(names)} : {typed(kind)}{carry}"

    return Case(f"arith.{name}", (kind, kind), (kind, second), spell, m.extended(name, kind))


PREDICATES = (
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
)  # fmt: skip


def _floats() -> Iterator[Case]:
    for kind in FLOATS:
        for name, function in {**m.ARITHMETIC, **m.EXTREMES, "remf": np.fmod}.items():
            yield same(f"arith.{name}", kind, 2, m.single_rounding(function, kind))
        yield same("arith.negf", kind, 1, lambda a: (-a,))
        for predicate in PREDICATES:
            meaning = m.float_compared(predicate)
            yield Case("arith.cmpf", (kind, kind), ("i1",), _compare("cmpf", predicate, kind), meaning, predicate)
        for name, function in m.EXACT.items():
            yield same(f"math.{name}", kind, 1, m.single_rounding(function, kind))
        for name, test in m.CLASSES.items():
            yield same(f"math.{name}", kind, 1, lambda a, test=test: (test(a.astype(np.float64)),), "i1")
        for name, (_, ulps) in m.LIBRARY.items():
            yield same(f"math.{name}", kind, 2 if name in ("atan2", "powf") else 1, m.library(name, kind), ulps=ulps)
        yield same("math.copysign", kind, 2, m.sign_copied)
        yield same("math.fma", kind, 3, m.fused(kind))
        clamp = lambda x, low, high: m.EXTREMES["minimumf"](m.EXTREMES["maximumf"](x, low), high)  # noqa: E731
        yield Case("math.clampf", (kind,) * 3, (kind,), _clamp(kind), m.single_rounding(clamp, kind))
        for exponents in ("i8", "i16", "i32", "i64", "index"):
            spell = lambda n, typed, k=kind, e=exponents: f"math.fpowi {', '.join(n)} : {typed(k)}, {typed(e)}"  # noqa: E731
            yield Case("math.fpowi", (kind, exponents), (kind,), spell, m.float_power(kind, exponents), ulps=72)


def _clamp(kind: str) -> Spell:
    return lambda n, typed: f"math.clampf {n[0]} to [{n[1]}, {n[2]}] : {typed(kind)}"


MODES = ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away")


def _conversions() -> Iterator[Case]:
    for source in INTEGERS:
        for result in INTEGERS:
            if "index" in (source, result):
                if source != result:
                    yield cast("arith.index_cast", source, result, m.integer_to_integer(False, source, result))
                    yield cast("arith.index_castui", source, result, m.integer_to_integer(True, source, result))
            elif BITS[source] < BITS[result]:
                yield cast("arith.extsi", source, result, m.integer_to_integer(False, source, result))
                yield cast("arith.extui", source, result, m.integer_to_integer(True, source, result))
            elif BITS[source] > BITS[result]:
                yield cast("arith.trunci", source, result, m.integer_to_integer(False, source, result))
        for result in FLOATS:
            if source != "index":
                yield cast("arith.sitofp", source, result, m.integer_to_float(False, source, result))
                yield cast("arith.uitofp", source, result, m.integer_to_float(True, source, result))
                yield cast("arith.fptosi", result, source, m.float_to_integer(result, source))
                yield cast("arith.fptoui", result, source, m.float_to_integer(result, source))
    for source in FLOATS:
        for result in FLOATS:
            if width(source) < width(result):
                yield cast("arith.extf", source, result, m.float_to_float(result))
            elif width(source) > width(result):
                yield cast("arith.truncf", source, result, m.float_to_float(result))
    kinds = [kind for kind in (*INTEGERS, *FLOATS) if kind != "index"]
    for source in kinds:
        for result in kinds:
            if width(source) == width(result):
                yield cast("arith.bitcast", source, result, lambda a, r=result: (bits_of(a).view(NUMPY[r]),))


