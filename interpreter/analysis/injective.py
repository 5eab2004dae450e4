"""Proofs without ISL for the most common cases: two accesses that never touch one element, and an element of one owner.

Positions are never the same if their ranges are apart, or if they differ by no multiple of what divides all their steps. If
both accesses index by the same mixed-radix form, such as `16*by + ty`, whose digits cannot carry, equal positions mean equal
digits. When these digits include all ids of the thread, the two instances are of one thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import gcd

from .linear import Linear, Symbol, Term
from .model import Access

Whole = tuple[Linear, "int | None"]
"""An id of the thread or of the block, and how many values it has. It may be made of digits, not all of whose values occur."""


def digits(form: Linear, wholes: Iterable[Whole] = ()) -> set[Symbol]:
    """The symbols whose values the form's value determines: all of them, if each is a digit of it; else none.

    Each coefficient must exceed what all smaller digits together can add up to.
    """
    terms = dict(form.terms)
    parts: list[tuple[int, int | None, set[Symbol]]] = []
    for whole, count in wholes:
        factor = _times(terms, whole)
        if factor and len(whole.terms) > 1:
            parts.append((abs(factor), None if count is None else count - 1, set(whole.symbols())))
            terms = {term: c for term, c in terms.items() if term not in whole.terms}
    for term, coefficient in terms.items():
        if not isinstance(term, Symbol):
            return set()
        parts.append((abs(coefficient), None if term.low is None or term.high is None else term.high - term.low, {term}))
    parts.sort(key=lambda part: part[0])
    reach = 0
    for number, (coefficient, span, _) in enumerate(parts):
        if coefficient <= reach or (span is None and number < len(parts) - 1):
            return set()
        reach += coefficient * (span or 0)
    return {symbol for _, _, symbols in parts for symbol in symbols}


def _times(terms: Mapping[Term, int], whole: Linear) -> int:
    """How many times `whole` is among the terms; 0 where it is not."""
    factors = {divmod(terms.get(term, 0), coefficient) for term, coefficient in whole.terms.items()}
    (factor, rest), *others = factors or {(0, 0)}
    return 0 if others or rest or whole.constant else factor


def determined(a: Access, b: Access, wholes: Sequence[Whole] = ()) -> set[Symbol]:
    """Symbols that have the same value in two instances of `a` and `b` which touch one element."""
    out: set[Symbol] = set()
    if a.buffer is b.buffer and a.coordinates is not None and b.coordinates is not None:
        for p, q in zip(a.coordinates, b.coordinates, strict=True):
            if p == q:
                out |= digits(p, wholes)
        if a.coordinates == b.coordinates and len(a.coordinates) == len(a.buffer.shape):
            out |= digits(_joined(a.coordinates, a.buffer.shape), wholes)
    return out | {s.link.processor for s in out if s.link is not None and s.link.kind == "residue"}


def _joined(coordinates: Sequence[Linear], shape: Sequence[int | None]) -> Linear:
    """The position in the buffer, row by row: a number that its indices were taken out of, by division, is put together again."""
    joined = Linear.of(0)
    for coordinate, extent in zip(coordinates, shape, strict=True):
        joined = joined * (extent or 1) + coordinate
    return joined


def same_owner(a: Access, b: Access, ids: Iterable[Linear], wholes: Sequence[Whole] = ()) -> bool:
    """Whether two instances on one element agree on all of `ids` (thread ids, or block ids), by that proof. `wholes`: ids that
    are known to have so many values."""
    same = determined(a, b, wholes)
    return all(symbol in same for form in ids for symbol in form.symbols())


def apart(a: Access, b: Access) -> bool:
    """Whether no two instances of `a` and `b`, of whatever threads and iterations, touch one element of the buffer."""
    if a.buffer is not b.buffer or a.coordinates is None or b.coordinates is None:
        return False
    return any(_never_equal(p, q) for p, q in zip(a.coordinates, b.coordinates, strict=True))


def _never_equal(p: Linear, q: Linear) -> bool:
    """Whether the two forms differ for any values of their symbols, each with its own."""
    step = gcd(*p.terms.values(), *q.terms.values())
    difference = p.constant - q.constant
    if difference % step if step else difference:
        return True
    (low, high), (least, most) = p.bounds(), q.bounds()
    return (high is not None and least is not None and high < least) or (most is not None and low is not None and most < low)
