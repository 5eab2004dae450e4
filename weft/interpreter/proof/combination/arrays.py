"""Contents, element by element, of the arrays that hold partial results: arrays private to each
thread, and arrays in shared memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ....dsl.records import record
from ...ir.mlir import ir
from .partial import Doubt, Partial, Row, chosen, joined
from .threads import Block, Threads


@record
class Held:
    """The contents of one element of shared memory: a `Partial` without the dimension of threads,
    whichever thread wrote it."""

    source: int | None
    row: Row
    fault: Doubt | None
    by: frozenset[str]
    identities: frozenset[tuple[ir.Attribute, str]]


Own = dict[int, Partial]
Shared = dict[int, Held]
UNWRITTEN = Doubt("it reads an element that no op wrote before", sure=True)
OTHER = Doubt("an element holds something else than parts")
OLD = Doubt("it reads a part that an earlier round has left", sure=True)
BRANCH = Doubt("an element is written under a condition that is not known")


class Arrays:
    """The arrays at one point of the kernel.

    Attributes:
        own, shared: the contents of private and of shared arrays, by array, then by element in
            row-major order; elements without parts are left out.
        blurred: arrays with writes at unknown elements.
    """

    def __init__(self, block: Block) -> None:
        self.block = block
        self.own: dict[ir.Value, Own] = {}
        self.shared: dict[ir.Value, Shared] = {}
        self.blurred: set[ir.Value] = set()

    def holds(self, array: ir.Value) -> bool:
        """Whether an array is known to contain a part."""
        return bool(self.own.get(array) or self.shared.get(array))

    def copy(self) -> Arrays:
        """An independent copy."""
        made = Arrays(self.block)
        made.own = {array: dict(cells) for array, cells in self.own.items()}
        made.shared = {array: dict(cells) for array, cells in self.shared.items()}
        made.blurred = self.blurred
        return made

    # ---- accesses ----------------------------------------------------------------------------------------------------

    def read_own(self, array: ir.Value, places: Sequence[int], active: Threads, *, sure: bool) -> Partial | None:
        """The value at each thread's place in its private array; None if none of these elements
        contains a part. `sure`: the array contains nothing but parts."""
        cells = self.own.get(array, {})
        out: Partial | None = None
        for place, threads in self._by_place(places, active).items():
            found = cells.get(place)
            if found is None and not sure:
                continue
            if found is None:
                found = Partial(None, [0] * self.block.count).spoiled(self.block.every, UNWRITTEN)
            rest = Partial(None, [0] * self.block.count).spoiled(self.block.every, OTHER) if out is None else out
            out = chosen(threads, found, rest)
        return out

    def write_own(
        self, array: ir.Value, places: Sequence[int], value: Partial, active: Threads, *, sure: bool = False
    ) -> None:
        """Stores each active thread's value at its place. `sure`: nothing else was written there
        before."""
        cells = self.own.setdefault(array, {})
        for place, threads in self._by_place(places, active).items():
            before = cells.get(place)
            if before is None:
                before = Partial(None, [0] * self.block.count).spoiled(self.block.every, UNWRITTEN if sure else OTHER)
            cells[place] = chosen(threads, value, before)

    def read_shared(self, array: ir.Value, places: Sequence[int], active: Threads) -> Partial | None:
        """The value at each thread's place in a shared array; None if none of these elements
        contains a part."""
        cells, members = self.shared.get(array, {}), self.block.members(active)
        found = {place: cells.get(place) for place in dict.fromkeys(places[t] for t in members)}
        held = [one for one in found.values() if one is not None]
        if len(held) == len(found) and all(one.source is None for one in held):
            return None
        rows = [0 if (one := found.get(place)) is None else one.row for place in places]
        sources = {one.source for one in held} - {None}
        by = frozenset[str]().union(*(one.by for one in held))
        identities = frozenset[tuple[ir.Attribute, str]]().union(*(one.identities for one in held))
        made = Partial(next(iter(sources), None), rows, by=by, identities=identities)
        missing = OTHER if array in self.blurred else UNWRITTEN
        for fault in dict.fromkeys(missing if one is None else one.fault for one in found.values()):
            if fault is not None:
                where = (missing if (one := found.get(place)) is None else one.fault for place in places)
                made = made.spoiled(self.block.those(each == fault for each in where) & active, fault)
        if len(sources) > 1:
            made = made.spoiled(self.block.every, Doubt("an array holds parts of two different results"))
        return made

    def write_shared(self, array: ir.Value, places: Sequence[int], value: Partial, active: Threads) -> None:
        """Stores each active thread's value at its place; two threads may write one place if their
        values agree."""
        cells = self.shared.setdefault(array, {})
        written: dict[int, int] = {}
        for t in self.block.members(active):
            place, fault = places[t], value.fault if value.bad >> t & 1 else None
            first = written.setdefault(place, t)
            if first == t:
                cells[place] = Held(value.source, value.rows[t], fault, value.by, value.identities)
            elif value.rows[first] != value.rows[t]:
                who = f"threads {self.block.ids[first]} and {self.block.ids[t]} write different parts to one element"
                cells[place] = replace(cells[place], fault=Doubt(who, sure=True))

    def overwritten(self, array: ir.Value, places: Sequence[int], active: Threads) -> None:
        """Records that values without parts overwrite elements."""
        for place, threads in self._by_place(places, active).items():
            if (cells := self.own.get(array)) is not None and place in cells:
                cells[place] = cells[place].spoiled(threads, OTHER)
            if (shared := self.shared.get(array)) is not None:
                shared.pop(place, None)

    def _by_place(self, places: Sequence[int], active: Threads) -> dict[int, Threads]:
        if places.count(places[0]) == len(places):
            return {places[0]: active}
        found: dict[int, Threads] = {}
        for t in self.block.members(active):
            found[places[t]] = found.get(places[t], 0) | 1 << t
        return found

    def change(self, source: int, change: Callable[[Partial], Partial]) -> None:
        """Applies `change` to every private element with parts of the result `source`; shared
        elements with parts of it become unknown."""
        for cells in self.own.values():
            for place, value in cells.items():
                if value.source == source:
                    cells[place] = change(value)
        for shared in self.shared.values():
            for place, held in shared.items():
                if held.source == source:
                    shared[place] = replace(held, fault=OLD)

    # ---- branches ----------------------------------------------------------------------------------------------------

    def same(self, other: Arrays) -> bool:
        """Whether both have the same contents."""
        return _equal(self.own, other.own, _alike) and _equal(self.shared, other.shared, lambda a, b: a == b)

    def joined(self, other: Arrays, unsure: Threads, parts: Mapping[ir.Value, int]) -> Arrays:
        """The contents after one of two paths. Threads in `unsure` may have taken either path; all
        others took this one.

        Args:
            parts: the arrays that hold each thread's part, perhaps not yet set.
        """
        made = self.copy()
        nothing = Partial(None, [0] * self.block.count).spoiled(self.block.every, UNWRITTEN)
        for array, cells in made.own.items():
            for place in {*cells, *other.own.get(array, {})}:
                one, two = cells.get(place, nothing), other.own.get(array, {}).get(place, nothing)
                if not _alike(one, two):
                    own = self.own_rows(place) if array in parts else None
                    cells[place] = joined(one, two, unsure, own, BRANCH)
        for array, held in made.shared.items():
            for place in {*held, *other.shared.get(array, {})}:
                one, two = held.get(place), other.shared.get(array, {}).get(place)
                if one != two:
                    known = one or two
                    assert known is not None, "one of them is there"
                    held[place] = replace(known, fault=BRANCH)
        return made

    def own_rows(self, cell: int) -> list[Row]:
        """For each thread, the row (set of parts) that contains only that element of its own
        part."""
        return [1 << (cell * self.block.count + t) for t in range(self.block.count)]


def _alike(one: Partial, other: Partial) -> bool:
    return one is other or (one.source == other.source and one.bad == other.bad and list(one.rows) == list(other.rows))


def _equal(one: Mapping[Any, Any], other: Mapping[Any, Any], alike: Callable[[Any, Any], bool]) -> bool:
    for array in {*one, *other}:
        a, b = one.get(array, {}), other.get(array, {})
        if a.keys() != b.keys() or not all(alike(a[place], b[place]) for place in a):
            return False
    return True
