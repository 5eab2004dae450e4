"""Partial results: for each thread, the set of threads whose parts a value combines.

A row is a set, as the bits of an integer: bit `cell * threads + t` for element `cell` of the part
of thread t. The empty set is the combiner's identity. Two partial results are combined by the union
of their rows, which must be disjoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....dsl.records import record
from ...ir.mlir import ir
from .threads import Threads

Row = int


@record
class Doubt:
    """The reason why a value is rejected. `sure`: the value is wrong; otherwise it could not be
    proven right."""

    why: str
    sure: bool = False


@record(eq=False)
class Partial:
    """A value of each thread of a block.

    Args:
        source: the number of the reduction's result; None for an identity, which combines with
            parts of any result.
        rows: for each thread.
        bad: the threads for which the value is unknown, and why.
        terms: operands that are no parts, and so are not in the rows: values that the thread has
            computed or read.
        by: how its parts were combined, as text.
        identities: constants that are taken for the identity, each with the location of its op.
    """

    source: int | None
    rows: Sequence[Row]
    bad: Threads = 0
    fault: Doubt | None = None
    terms: tuple[object, ...] = ()
    by: frozenset[str] = frozenset()
    identities: frozenset[tuple[ir.Attribute, str]] = frozenset()

    def spoiled(self, threads: Threads, fault: Doubt) -> Partial:
        """The value, marked as unknown for these threads."""
        if not threads:
            return self
        worse = self.fault if self.fault is not None and self.bad and self.fault.sure else fault
        return replace(self, bad=self.bad | threads, fault=worse)

    def taken(self, source: Sequence[int | None], why: Doubt) -> Partial:
        """The value that each thread receives from another one."""
        rows = [0 if one is None else self.rows[one] for one in source]
        bad = sum(1 << t for t, one in enumerate(source) if one is not None and self.bad >> one & 1) if self.bad else 0
        none = sum(1 << t for t, one in enumerate(source) if one is None)
        return replace(self, rows=rows, bad=bad).spoiled(none, why)


def union(one: Partial, other: Partial, by: str) -> tuple[Partial, Threads]:
    """The combination of two partial results, and the threads for which both contain a common part."""
    rows = [a | b for a, b in zip(one.rows, other.rows, strict=True)]
    twice = 0
    if any(a & b for a, b in zip(one.rows, other.rows, strict=True)):
        twice = sum(1 << t for t, (a, b) in enumerate(zip(one.rows, other.rows, strict=True)) if a & b)
    source = other.source if one.source is None else one.source
    ways = one.by | other.by | ({by} if by else set())
    bad, fault = one.bad | other.bad, one.fault or other.fault
    if one.fault is not None and other.fault is not None and other.fault.sure:
        fault = other.fault
    made = Partial(
        source, rows, bad, fault, (*one.terms, *other.terms), frozenset(ways), one.identities | other.identities
    )
    if one.source is not None and other.source is not None and one.source != other.source:
        made = made.spoiled((1 << len(rows)) - 1, Doubt("parts of two different results are combined", sure=True))
    return made, twice & ~bad


def chosen(threads: Threads, one: Partial, other: Partial) -> Partial:
    """A choice: the first value for these threads, the second for all others."""
    every = (1 << len(one.rows)) - 1
    if threads == every:
        return one
    if not threads:
        return other
    rows = [a if threads >> t & 1 else b for t, (a, b) in enumerate(zip(one.rows, other.rows, strict=True))]
    bad = (one.bad & threads) | (other.bad & ~threads)
    faults = [f for f, held in ((one.fault, one.bad & threads), (other.fault, other.bad & ~threads)) if held]
    fault = next((f for f in faults if f is not None and f.sure), next(iter(faults), None))
    source = other.source if one.source is None else one.source
    made = Partial(source, rows, bad, fault, tuple(dict.fromkeys((*one.terms, *other.terms))), one.by | other.by,
                   one.identities | other.identities)  # fmt: skip
    if one.source is not None and other.source is not None and one.source != other.source:
        return made.spoiled(every, Doubt("a value is of one of two different results"))
    return made


def joined(one: Partial, other: Partial, unsure: Threads, own: Sequence[Row] | None, why: Doubt) -> Partial:
    """The value after two paths: the first value, except that for the threads in `unsure` it may be
    either of the two, and is unknown unless both are equal. `own`: rows of a part that may not be
    set yet, for which the identity is acceptable."""
    made = chosen(((1 << len(one.rows)) - 1) & ~unsure, one, chosen(unsure, one, other))
    differing, rows = 0, list(made.rows)
    for t, (a, b) in enumerate(zip(one.rows, other.rows, strict=True)):
        if a != b and unsure >> t & 1:
            if own is not None and a ^ b == own[t]:
                rows[t] = a | b
            else:
                differing |= 1 << t
    made = replace(
        made, rows=rows, bad=made.bad | ((one.bad | other.bad) & unsure), fault=made.fault or one.fault or other.fault
    )
    return made.spoiled(differing, why)
