"""Arithmetic on partial results: ops that combine two of them; any other use requires a complete
result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....dsl.records import record
from ...indices.linear import Linear
from ...ir.functions import name_of
from ...ir.mlir import constant_of, ir, made_by, producer
from ...ir.refusing import describe
from ...memory.views import root_memref
from .arrays import Arrays
from .merges import Merge, changes_nothing, merge, single
from .partial import Doubt, Partial, chosen, joined, union
from .reached_ops import STORE, places_of
from .threads import Block, Threads, Unfollowed
from .verdict import Result

OUTSIDE = Doubt("a shuffle reads from outside of its lanes", sure=True)


@record
class Pending:
    """The value of an op on partial results that is not recognized as their combination; an op that
    follows may complete the pattern. `of` lists the partial results."""

    of: tuple[Partial, ...]


Followed = Partial | Pending


class Arithmetic:
    """The values of a kernel that are computed from partial results (parts).

    Args:
        block: the threads.
        results: the shared reductions' results.

    Attributes:
        memory: contents of arrays.
        values: contents of SSA values; values without any part are left out.
        truths: for each condition that is no affine form, the threads for which it may hold, and
            those for which it holds.
    """

    def __init__(self, block: Block, results: Sequence[Result]) -> None:
        self.block, self.results = block, results
        self.memory = Arrays(block)
        self.values: dict[ir.Value, Followed] = {}
        self.truths: dict[ir.Value, tuple[Threads, Threads]] = {}
        self._merges: dict[ir.Operation, Merge | None] = {}

    def end(self, value: Followed, active: Threads, op: ir.Operation) -> None:
        """Requires the operand of any other op to be a complete result."""
        for one in (value,) if isinstance(value, Partial) else value.of:
            if one.source is None:
                continue
            result, where = self.results[one.source], describe(op)
            result.used(self.block, one, active, where)
            if isinstance(value, Partial) and len(set(one.terms)) < len(one.terms):
                result.fail("something is combined with the parts twice", where)
            if isinstance(value, Partial) and one.terms and op.name == STORE:
                result.stored(self.block, one, active, where)
            if op.name == STORE:
                result.places.append((active, self._whereto(op)))
                result.buffer = result.buffer or name_of(root_memref(op.operands[1]))
            for constant, place in one.identities:
                result.identities[constant, place] = None

    def _whereto(self, store: ir.Operation) -> list[tuple[int, ...]] | None:
        """The element to which each thread stores, without the terms that are equal for all
        threads; None where unknown."""
        forms = [self.block.values.linear(value) for value in places_of(store)]
        found = [
            self.block.numbers(form.replaced(lambda s: Linear.of(s) if s.depends.thread else Linear.of(0)))
            for form in forms
        ]
        known = [numbers for numbers in found if numbers is not None]
        if len(known) < len(found):
            return None
        array = made_by(store.operands[1], "memref.alloca")
        own = [list(range(self.block.count))] if array is not None else []
        return list(zip(*own, *known, strict=True)) if own or known else [()] * self.block.count

    def bind(self, value: ir.Value, what: Followed | None) -> None:
        if what is None:
            self.values.pop(value, None)
        else:
            self.values[value] = what

    def constant(self, value: ir.Value, op: ir.Operation) -> tuple[ir.Attribute, str] | None:
        made = made_by(value, "arith.constant")
        return None if made is None else (made.attributes["value"], describe(op))

    def shuffle(self, op: ir.Operation, active: Threads) -> None:
        value = self.values.get(op.operands[0])
        if value is None:
            return self.bind(op.results[0], None)
        distance, width = (self.block.index(operand) for operand in list(op.operands)[1:3])
        alike = distance is not None and width is not None and len(set(distance)) == len(set(width)) == 1
        if not alike or distance is None or width is None or not isinstance(value, Partial):
            raise Unfollowed(f"it is not known what {describe(op)} brings")
        source = self.block.source(str(op.attributes["mode"]).split()[-1].rstrip(">"), distance[0], width[0])
        source = [one if one is not None and active >> one & 1 else None for one in source]
        there = self.block.those(one is not None for one in source)
        self.truths[op.results[1]] = there, there
        return self.bind(op.results[0], value.taken(source, OUTSIDE))

    def compute(self, op: ir.Operation, active: Threads) -> None:
        given = [self.values.get(operand) for operand in op.operands]
        if all(one is None for one in given):
            for result in op.results:
                self.bind(result, None)
            return
        made = self._combined(op, given)
        if made is None:
            made = pending(given)
            if not len(op.results):
                self.end(made, active, op)
        for result in op.results:
            self.bind(result, made)

    def _combined(self, op: ir.Operation, given: Sequence[Followed | None]) -> Followed | None:
        """The partial result that an op computes from partial results; None if the op does not
        combine them."""
        if op not in self._merges:
            self._merges[op] = merge(op)
        if (found := self._merges[op]) is not None:
            one, other = (self.values.get(value) for value in (found.one, found.other))
            if not isinstance(one, Pending) and not isinstance(other, Pending):
                made = self._together(found.one, found.other, found.by, op)
                both = one is not None and other is not None and found.undecided
                if both and made is not None and made.source is not None and not self.results[made.source].scan:
                    why = Doubt(
                        "of two equal values of different threads, the one with the smaller index is not chosen",
                        sure=True,
                    )
                    made = made.spoiled(self.block.every, why)
                for pair in found.beside if made is not None else ():
                    for mine, its in zip((one, other), map(self.values.get, pair), strict=True):
                        if isinstance(mine, Partial) and isinstance(its, Partial) and list(mine.rows) != list(its.rows):
                            why = Doubt("values of different threads are combined", sure=True)
                            made = None if made is None else made.spoiled(self.block.every, why)
                return made
        if op.name == "arith.select":
            return self._selected(op, given)
        by = single(op)
        if by is None or len(given) != 2:
            return None
        first, second = op.operands[0], op.operands[1]
        if op.name in ("arith.subf", "arith.subi") and (given[0] is None or given[1] is not None):
            return None
        return self._together(first, second, by, op)

    def _together(self, first: ir.Value, second: ir.Value, by: str, op: ir.Operation) -> Partial | None:
        one, other = self.values.get(first), self.values.get(second)
        if isinstance(one, Pending) or isinstance(other, Pending):
            return None
        if one is None or other is None:
            known, rest = (other, first) if one is None else (one, second)
            if known is None:
                return None
            constant = self.constant(rest, op)
            if constant is not None and changes_nothing(constant[0], by):
                return replace(known, by=known.by | {by})
            return replace(known, terms=(*known.terms, rest), by=known.by | {by})
        if None not in (one.source, other.source) and one.source != other.source:
            return None
        made, twice = union(one, other, by)
        if twice:
            t = self.block.members(twice)[0]
            both = one.rows[t] & other.rows[t]
            who = self.block.ids[((both & -both).bit_length() - 1) % self.block.count]
            why = f"thread {self.block.ids[t]} combines the part of thread {who} twice, in {describe(op)}"
            made = made.spoiled(twice, Doubt(why, sure=True))
        return made

    def _selected(self, op: ir.Operation, given: Sequence[Followed | None]) -> Followed | None:
        if given[0] is not None:
            return None
        arms = list(given[1:])
        for number, arm in enumerate(arms):
            constant = self.constant(op.operands[1 + number], op)
            if arm is None and constant is not None:
                arms[number] = Partial(None, [0] * self.block.count, identities=frozenset([constant]))
        may, must = self.truth(op.operands[0])
        return self.either(arms[0], arms[1], may, may & ~must)

    def either(self, one: Followed | None, other: Followed | None, may: Threads, unsure: Threads) -> Followed | None:
        """A select: the first value for the threads of `may`, the second for the others; for the
        threads in `unsure` it may be either."""
        if one is None and other is None:
            return None
        if isinstance(one, Pending) or isinstance(other, Pending):
            return pending([one, other])
        nothing = Partial(None, [0] * self.block.count).spoiled(
            self.block.every, Doubt("a value is one of parts, or another one")
        )
        first, second = one or nothing, other or nothing
        if not unsure:
            return chosen(may, first, second)
        cell = next((((r & -r).bit_length() - 1) // self.block.count for r in (*first.rows, *second.rows) if r), 0)
        own = self.memory.own_rows(cell)
        made = joined(first, second, unsure, own, Doubt("a value is chosen by a condition that is not known"))
        return made if not self.block.every & ~may else chosen(may, made, second)

    def truth(self, value: ir.Value) -> tuple[Threads, Threads]:
        """The threads for which a condition may hold, and those for which it is known to hold."""
        if value in self.truths:
            return self.truths[value]
        made = producer(value)
        if made is not None and made.name in ("arith.andi", "arith.ori"):
            (may, must), (maybe, surely) = map(self.truth, made.operands)
            return (may & maybe, must & surely) if made.name == "arith.andi" else (may | maybe, must | surely)
        known = constant_of(value)
        if known is not None:
            return (self.block.every, self.block.every) if known else (0, 0)
        return self.block.holds(self.block.values.condition(value))


def pending(given: Sequence[Followed | None]) -> Pending:
    """The result of an unrecognized operation on these."""
    leaves = [leaf for one in given if one is not None for leaf in ((one,) if isinstance(one, Partial) else one.of)]
    return Pending(tuple(dict.fromkeys(leaves)))


def unchanged(one: Followed | None, other: Followed | None) -> bool:
    """Whether a value is unchanged."""
    if isinstance(one, Partial) and isinstance(other, Partial):
        return one.source == other.source and list(one.rows) == list(other.rows) and one.bad == other.bad
    return one is None and other is None
