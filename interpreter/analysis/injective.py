"""Proofs without ISL for the most common cases: two accesses that never touch one element, and an element of one owner.

Positions are never the same if their ranges are apart, or if they differ by no multiple of what divides all their steps. If
both accesses index by the same mixed-radix form, such as `16*by + ty`, whose digits cannot carry, equal positions mean equal
digits. When these digits include all ids of the thread, the two instances are of one thread.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

from .linear import Linear, Symbol
from .model import Access


def digits(form: Linear) -> set[Symbol]:
    """The symbols whose values the form's value determines: all of them, if each is a digit of it; else none.

    Each coefficient must exceed what all smaller digits together can add up to.
    """
    terms = sorted(form.terms.items(), key=lambda item: abs(item[1]))
    reach = 0
    found: set[Symbol] = set()
    for term, coefficient in terms:
        if not isinstance(term, Symbol) or abs(coefficient) <= reach:
            return set()
        if term.low is None or term.high is None:
            if term is not terms[-1][0]:
                return set()
        else:
            reach += abs(coefficient) * (term.high - term.low)
        found.add(term)
    return found


def determined(a: Access, b: Access) -> set[Symbol]:
    """Symbols that have the same value in two instances of `a` and `b` which touch one element."""
    out: set[Symbol] = set()
    if a.buffer is b.buffer and a.coordinates is not None and b.coordinates is not None:
        for p, q in zip(a.coordinates, b.coordinates, strict=True):
            if p == q:
                out |= digits(p)
    return out | {s.link.processor for s in out if s.link is not None and s.link.kind == "residue"}


def same_owner(a: Access, b: Access, ids: Iterable[Linear]) -> bool:
    """Whether two instances on one element agree on all of `ids` (thread ids, or block ids), by that proof."""
    same = determined(a, b)
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
