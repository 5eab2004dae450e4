"""Proofs without ISL for the most common cases: two accesses that never touch one element, and an element of one owner.

Positions are never the same if their ranges are apart, or if they differ by no multiple of what divides all their steps. If
both accesses index by the same mixed-radix form, such as `16*by + ty`, whose digits cannot carry, equal positions mean equal
digits. When these digits include all ids of the thread, the two instances are of one thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import gcd

from ..forms.linear import NOTHING, Floor, Linear, Symbol, Term
from ..kernels.model import Access


def digits(form: Linear) -> set[Symbol]:
    """The symbols whose values the form's value determines: all of them, if each is a digit of it; else none.

    Each coefficient must exceed what all smaller digits together can add up to.
    """
    return shared_digits(form, form)


def shared_digits(p: Linear, q: Linear) -> set[Symbol]:
    """The symbols that have the same value in both forms wherever these are equal: both have digits of the same units, none of
    which can carry, and the symbol is the same digit of both."""
    ours, theirs = _units(p), _units(q)
    if len(ours) != len(theirs) or (p != q and (_least(p) is None or _least(p) != _least(q))):
        return set()
    reach = 0
    found: set[Symbol] = set()
    for n, ((unit, most, symbols), (other, further, others)) in enumerate(zip(ours, theirs, strict=True)):
        unbounded = most is None or further is None
        if unit != other or not symbols or not others or abs(unit) <= reach or (unbounded and n < len(ours) - 1):
            return set()
        reach += abs(unit) * max(most or 0, further or 0)
        found |= symbols & others
    return found


def _least(form: Linear) -> int | None:
    """What is left of the form where each digit is at its least; None where one has no least value."""
    total = form.constant
    for term, c in form.terms.items():
        if not isinstance(term, Symbol) or term.low is None:
            return None
        total += c * term.low
    return total


def _units(form: Linear) -> list[tuple[int, int | None, set[Symbol]]]:
    """The form's terms as (coefficient, how far the value reaches, symbols that it determines), the smallest unit first: an id
    with all its digits is one of them; of a rounded term nothing is known."""
    done: set[Term] = set()
    out: list[tuple[int, int | None, set[Symbol]]] = []
    for term, c in form.terms.items():
        if not isinstance(term, Symbol):
            out.append((c, None, set()))
        elif term not in done:
            whole = term.whole
            factor = c // whole.digits[term] if whole is not None else 0
            if whole is not None and all(form.terms.get(d) == factor * unit for d, unit in whole.digits.items()):
                done |= whole.digits.keys()
                out.append((factor, whole.high, set(whole.digits)))
            else:
                bounded = term.low is not None and term.high is not None
                out.append((c, (term.high or 0) - (term.low or 0) if bounded else None, {term}))
    return sorted(out, key=lambda unit: abs(unit[0]))


def agreed(a: Access, b: Access) -> tuple[set[Symbol], list[Linear]]:
    """Symbols, and numbers that are divided by what is no constant, of which two instances of `a` and `b` that touch one
    element have the same values: a number is known by its quotient and its remainder."""
    symbols: set[Symbol] = set()
    numbers: list[Linear] = []
    if a.buffer is b.buffer and a.coordinates is not None and b.coordinates is not None:
        same = [p for p, q in zip(a.coordinates, b.coordinates, strict=True) if p == q]
        symbols = symbols.union(*map(digits, _without_floors(same)), *map(shared_digits, a.coordinates, b.coordinates))
    while more := [n for n in _made_up(symbols) if n not in numbers]:
        numbers += more
        symbols = symbols.union(*map(digits, more))
    return symbols | {s.link.processor for s in symbols if s.link is not None and s.link.kind == "residue"}, numbers


def _without_floors(forms: list[Linear]) -> list[Linear]:
    """Sums of multiples of the forms in which no rounding is left: of `e floordiv 4` and `e mod 4`, `e`."""
    rounded = [form for form in forms if any(_floors(form))]
    out: list[Linear] = []
    while pivot := next(((n, t, c) for n, form in enumerate(rounded) for t, c in _floors(form) if abs(c) == 1), None):
        number, term, sign = pivot
        form = rounded.pop(number)
        left = [other - form * (sign * other.terms.get(term, 0)) for other in rounded]
        out += [f for f in left if not any(_floors(f))]
        rounded = [f for f in left if any(_floors(f))]
    return out


def _floors(form: Linear) -> Iterator[tuple[Term, int]]:
    return ((term, c) for term, c in form.terms.items() if isinstance(term, Floor))


def _made_up(symbols: Iterable[Symbol]) -> Iterator[Linear]:
    """The numbers both of whose parts are among the symbols; their base is the same for all threads of a launch."""
    parts: dict[tuple[str, Linear, Linear], set[str]] = {}
    for symbol in symbols:
        digit = symbol.digit
        if digit is not None and digit.base.depends() == NOTHING:
            parts.setdefault((digit.rounding, digit.number, digit.base), set()).add(digit.part)
    return (number for (_, number, _), found in parts.items() if len(found) == 2)


def same_owner(a: Access, b: Access, ids: Iterable[Linear]) -> bool:
    """Whether two instances on one element agree on all of `ids` (thread ids, or block ids), by that proof."""
    same, _ = agreed(a, b)
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
