"""Proof that the processors of a mapped loop, with the code emitted for each, execute each
iteration exactly once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from math import prod
from operator import and_, or_
from typing import Any

import numpy as np

from ...indices.algebra import PRODUCT, LaunchShape
from ...indices.linear import (
    NOTHING,
    TRUE,
    Floor,
    Formula,
    Linear,
    Symbol,
    at_least,
    involved,
    less,
    reached,
    redefined,
)
from ...indices.values import Values
from ...mapping.shares import Owned
from ..solver import Unknown, point_where
from .exactly_once import Unclear, expect_once
from .labels import conjuncts_of
from .payload.payloads import PayloadOp
from .points import Iterations


def assumed_of(shares: Sequence[Owned]) -> list[str]:
    """A line for each map of which the processors are not proven to execute each iteration once."""
    known: dict[Owned, str | None] = {}  # an op executed as another one is
    for share in shares:
        if share not in known:
            known[share] = unclear(share, shares)
    lines = (
        f"combination assumed: of what its processors execute, {why} ({share.op})"
        for share in shares
        if (why := known[share]) is not None
    )
    return list(dict.fromkeys(lines))


def unclear(share: Owned, others: Sequence[Owned] = ()) -> str | None:
    """The reason why the processors are not proven to execute each iteration once; None if they
    are.

    Args:
        others: the shares of the kernel's other mapped ops, some of which may enclose this one.
    """
    parts = (part for guard in share.guards for part in conjuncts_of(guard))
    guards = tuple(part for part in parts if not _is_of_others(part, share, others))
    values, why = Values(LaunchShape(), lambda _: NOTHING), list[str | None]()
    for _ in range(2):
        change = _by_linear_id(share, values) if why else _with_products(share, values)
        if change is None:
            break
        at, extents = tuple(map(change, share.at)), tuple(map(change, share.extents))
        highs = [n.constant - 1 if n.is_constant else None for n in share.extents]
        dims = tuple(values.fresh("loop", NOTHING, 0, high) for high in highs)
        every = PayloadOp(
            str(share.op), str(share.op), tuple(range(len(dims))), dims, share.extents,
            (), (), (), False, Counter(), False, None,
        )  # fmt: skip
        executed = tuple(guard.changed(change) for guard in guards)
        own, alone = (
            tuple(dict.fromkeys(s for one in some for s in change(Linear.of(one)).symbols()))
            for some in (share.own, share.alone)
        )
        try:
            why.append(expect_once(Iterations(every, (*own, *alone), executed, (), (), alone), at, extents, values))
        except Unclear as error:
            counted = _counted(at, share.extents, own, alone, executed)
            why.append(str(error) if counted is None else counted or None)
        except Unknown:
            why.append("the sets are too hard")
        if why[-1] is None:
            return None
    return why[-1]


def _with_products(share: Owned, values: Values) -> Callable[[Linear], Linear]:
    """A function that rewrites forms, so that products have their factors expressed in `values`."""
    used = reached(s for part in (*share.at, *share.extents, *share.guards) for s in part.symbols())

    def product(symbol: Symbol) -> Linear:
        factors = [factor.replaced(product) for factor in symbol.operands(PRODUCT)]
        return reduce(values.product, factors) if factors else Linear.of(symbol)

    table = redefined({s: product(s) for s in used if s.operands(PRODUCT)}, used)
    return lambda form: form.put(table)


def _is_of_others(part: Formula, share: Owned, others: Sequence[Owned]) -> bool:
    """Whether a guard only states that the iteration of an enclosing mapped loop exists."""
    asked = {s for s in involved(part) if s.kind != "parameter"}
    counters = {s for s in asked if s.kind not in ("thread", "block")}.difference(share.own)
    if any(part in other.guards and not counters.isdisjoint(other.own) for other in others):
        return True  # inside of that one's loop, and of its own condition
    if not asked or not asked.isdisjoint((*share.own, *share.alone, *involved(*share.at))):
        return False
    around = [other for other in others if other is not share and not asked.isdisjoint(involved(*other.at))]
    pairs = [pair for other in around for pair in zip(other.at, other.extents, strict=True)]
    inside = [each for form, n in pairs for each in (at_least(form, 0), less(form, n))]
    try:
        return bool(around) and point_where([*inside, part.negate()]) is None
    except Unknown:
        return False


MOST = 1 << 20
"""Iterations of processors that are counted one by one, where forms do not show it: orders along
curves, and in groups."""


def _counted(
    at: Sequence[Linear],
    extents: Sequence[Linear],
    own: Sequence[Symbol],
    alone: Sequence[Symbol],
    guards: Sequence[Formula],
) -> str | None:
    """A fault found by counting all iterations; empty if there is none; None if there are too many
    to count, or a number is unknown."""
    highs = [s.high for s in own]
    known = all(n.is_constant for n in extents) and None not in highs
    if not known or not own or prod(high + 1 for high in highs if high is not None) > MOST:
        return None
    grid = np.indices([(high or 0) + 1 for high in highs], dtype=np.int64).reshape(len(highs), -1)
    where: dict[Symbol, Any] = dict(zip(own, grid, strict=True)) | dict.fromkeys(alone, 0)
    used = reached(s for part in (*at, *guards) for s in part.symbols())
    while any(_defined(symbol, where) for symbol in used if symbol not in where):
        continue
    if any(s not in where for s in used):
        return None
    executed = np.ones(grid.shape[1], dtype=bool)
    for guard in guards:
        executed &= _holds(guard, where)
    sizes = tuple(n.constant for n in extents)
    places = np.stack([np.broadcast_to(_number(form, where), executed.shape)[executed] for form in at])
    beyond = (places < 0) | (places >= np.array(sizes)[:, None])
    if beyond.any():
        return f"iteration {tuple(places[:, beyond.any(axis=0)][:, 0].tolist())} is executed, and the payload has no such iteration"
    times = np.bincount(np.ravel_multi_index(tuple(places), sizes), minlength=prod(sizes))
    if (times == 1).all():
        return ""
    wrong = int(np.argmax(times != 1))
    return f"iteration {tuple(map(int, np.unravel_index(wrong, sizes)))} is executed {times[wrong]} times"


def _defined(symbol: Symbol, where: dict[Symbol, Any]) -> bool:
    """Computes the values of a symbol from those of all other symbols, by its definition, which
    makes it equal to one of several forms. Returns whether the values were found."""
    definition = symbol.definition or TRUE
    found, known = np.int64(0), np.bool_(False)
    for form in _forms(definition):
        factor = form.terms.get(symbol, 0)
        rest = Linear({symbol: factor}, 0) - form
        if abs(factor) == 1 and all(
            s in where for s in (*rest.symbols(), *definition.symbols()) if s is not symbol or s in rest.symbols()
        ):
            value = _number(rest, where) * factor
            holds = _holds(definition, {**where, symbol: value})
            found, known = np.where(holds, value, found), known | holds
    if np.all(known):
        where[symbol] = found
    return symbol in where


def _number(form: Linear, where: Mapping[Symbol, Any]) -> Any:
    terms = (
        (_number(t.numerator, where) // t.divisor if isinstance(t, Floor) else where[t]) * n
        for t, n in form.terms.items()
    )
    return sum(terms, form.constant)


def _holds(formula: Formula, where: Mapping[Symbol, Any]) -> Any:
    if formula.form is not None:
        number = _number(formula.form, where)
        return number >= 0 if formula.kind == "ge" else number == 0
    parts = (_holds(part, where) for part in formula.parts)
    return reduce(and_, parts, True) if formula.kind == "and" else reduce(or_, parts, False)


def _forms(formula: Formula) -> Iterator[Linear]:
    if formula.form is not None:
        yield formula.form
    for part in formula.parts:
        yield from _forms(part)


def _by_linear_id(share: Owned, values: Values) -> Callable[[Linear], Linear] | None:
    """A function that replaces thread numbers along x, y and z by digits of the linear thread id,
    of which the numbers of warps and lanes are digits, too; None for threads along a single
    axis."""
    sizes = [n for n in share.block if n is not None]
    if len(sizes) < 3 or sum(n > 1 for n in sizes) < 2:
        return None
    thread = Linear.of(values.fresh("loop", NOTHING, 0, prod(sizes) - 1))
    x, y, _ = sizes
    ids = {"tx": thread.modulo(x), "ty": thread.floordiv(x).modulo(y), "tz": thread.floordiv(x * y)}
    parts = (*share.at, *share.extents, *share.guards)
    used = reached((*share.own, *share.alone, *(s for part in parts for s in part.symbols())))
    table = redefined({s: ids[s.name] for s in used if s.kind == "thread" and s.name in ids}, used)
    return lambda form: form.put(table)
