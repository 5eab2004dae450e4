"""Pairs of accesses, and barriers between them, as integer sets.

A *class* of a pair (x, y) is a way in which an instance of y can follow one of x: in the same
iteration of every loop that holds barriers and both accesses, or in a later iteration of the n-th
such loop. The *collisions* of a class are its pairs of instances that touch one element from two
threads of a block. A barrier *separates* a pair if an instance of the barrier, certain to be
executed, is between the two in the schedule (Kelly's 2d+1 vectors: static positions and loop
counters, interleaved).

A symbol that has the same value in both instances has one name, and so one dimension. This keeps
the sets small, and makes uninterpreted values comparable. Many barriers need no sets: see
`phases.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TypeVar

import islpy as isl

from ...hardware.limits import WARP
from ...indices.algebra import at_or_above
from ...indices.linear import FALSE, Formula, Linear, Symbol, both, either, equal, less, unequal
from ..kernels.model import Access, Barrier, KernelModel, space_of_both
from ..kernels.places import Loop
from ..solver import BarrierNaming, CachedAnswers, Naming, Solver, Unknown, coordinates, described
from .phases import Steps, executed_if, is_sure, meeting

T = TypeVar("T")


@dataclass(eq=False)
class Example:
    """A collision of a class, computed on demand. `like`: a known collision of the same two
    threads, in the dimensions of another class."""

    pair: PairClass
    find: Callable[[], isl.Point]
    like: Example | None = None

    @cached_property
    def point(self) -> isl.Point:
        """The point of the collision. Raises Unknown."""
        return self.find()

    @cached_property
    def values(self) -> dict[Symbol, int]:
        return dict(zip(self.pair.names, coordinates(self.point), strict=True))

    @cached_property
    def in_two_warps(self) -> bool:
        """Whether the two threads are in two warps; a cheap test."""
        if self.like is not None:
            return self.like.in_two_warps
        warp, there = self.pair.model.warp, self.values
        return warp is not None and self.pair.x.form(warp).value(there) != self.pair.y.form(warp).value(there)

    def iterations_apart(self, loop: Loop) -> int:
        """The number of iterations, of the loop that carries the class, from the first to the
        second access. Raises Unknown."""
        return self.values[self.pair.y(loop.counter)] - self.values[self.pair.x(loop.counter)]


@dataclass(eq=False)
class PairClass:
    """One way in which instances of `first` and `second` can follow each other.

    Args:
        equal: the number of outermost `shared` loops in which both are in the same iteration;
            `shared` are the loops around both that hold barriers.
        carried: whether `second` is in a later iteration of the next shared loop; else both are in
            the same iteration of all of them.
        unknown: ISL gave up on the collisions.
        known: a collision, between neighbouring iterations if possible: then exactly the barriers
            after the first access, or before the second one, in the loop's body separate it.
        still: for a class carried by a loop, the class of the same accesses in one iteration.
        unsure: a barrier that may separate more collisions than is proven.
    """

    model: KernelModel
    first: Access
    second: Access
    shared: tuple[Loop, ...]
    equal: int
    carried: bool
    solver: Solver
    same_block: bool = True
    unknown: bool = False
    known: Example | None = None
    still: PairClass | None = None
    unsure: Barrier | None = None

    # made on demand: most classes have the same description as another, which has answered everything
    shared_names = cached_property(lambda self: Naming(""))
    x = cached_property(lambda self: Naming("x_", self.shared_names, self._shares))
    y = cached_property(lambda self: Naming("y_", self.shared_names, self._shares))
    _same = cached_property(lambda self: {loop.number for loop in self.shared[: self.equal]})
    _separated = cached_property[dict[tuple[Steps, int, int, int], "isl.Set | bool | None"]](lambda self: {})

    def _shares(self, symbol: Symbol) -> bool:
        """Whether the symbol has the same value in both instances."""
        on = symbol.depends
        return not on.thread and on.loops <= self._same and (self.same_block or not on.block)

    @property
    def loop(self) -> Loop | None:
        """The loop that carries the conflict; None if no loop does."""
        return self.shared[self.equal] if self.carried else None

    @property
    def names(self) -> list[Symbol]:
        """The dimensions of all sets of the class."""
        return self._described[0]

    @cached_property
    def collisions(self) -> isl.Set:
        """The pairs of instances, by two threads, that touch one element."""
        names, parts = self._described
        return self.solver.set(names, parts, names)

    @property
    def found(self) -> isl.Set | None:
        """The collisions; None where ISL gave up on them."""
        try:
            return None if self.unknown else self.collisions
        except Unknown:
            self.unknown = True
            return None

    def collide(self) -> bool:
        """Whether there are collisions; one of them is then `known`. Raises Unknown."""
        self.known = self._once("known", self._some, self._turned)
        return self.known is not None

    def _some(self) -> Example | None:
        if self.still is not None and self._invariant(self.still):
            moved = None if self.still.known is None else self._moved(self.still)
            if moved is not None or self.still.known is None:
                return moved
        names, parts = self._described
        found: isl.Point | None = None
        if self.loop is not None:
            following = equal(Linear.of(self.x(self.loop.counter)) + 1, Linear.of(self.y(self.loop.counter)))
            found = self.solver.point(names, [*parts, following], names)
        return self.example(found or self.solver.point(names, parts, names))

    def example(self, found: isl.Point | None) -> Example | None:
        return None if found is None else Example(self, lambda: found)

    def _once(self, what: str, find: Callable[[], T], turned: Callable[[T], T]) -> T:
        """The result named `what`, shared by all classes with the same description. `turned`
        converts a result of the class with both accesses exchanged. A carried class has no such
        counterpart, because its instances are ordered in time."""

        def found() -> T:
            other = None if self.carried else self.solver.answers.get(self._key(self.second, self.first))
            return find() if other is None or what not in other.known else turned(other.known[what])

        return self.answers.once(what, found)

    @cached_property
    def answers(self) -> CachedAnswers:
        """The results shared by all classes with the same description."""
        return self.solver.answers[self._key(self.first, self.second)]

    def _key(self, first: Access, second: Access) -> Hashable:
        """Everything that determines `_described`, except the model's contents."""
        sides = self.model.written(first), self.model.written(second)
        way = self.first is self.second, self.first.buffer is self.second.buffer, self.same_block
        return type(self), self.model, *way, self.shared, self.equal, self.carried, *sides

    def _invariant(self, still: PairClass) -> bool:
        """Whether no value depends on the iteration: then there is a collision within an iteration
        if and only if there is one between iterations."""
        free = {loop.number for loop in self.shared[self.equal :]}
        trips = self.shared[self.equal].trips
        if still.unknown or trips is None or trips <= 1:
            return False
        return not still.answers.once("loops that matter", still._matters) & free

    def _matters(self) -> frozenset[int]:
        """The loops on which some value in a query depends. A counter that is the same in both
        instances cancels out in differences."""
        values, accesses = self.model.values, (self.first, self.second)
        parts = [g for access in accesses for g in (*access.place.guards, access.when, *self.model.facts)]
        parts += [form for access in accesses for form in access.coordinates or ()]
        parts += [form for each in values.made_up.values() for way in each.ways for form in way]
        parts += [form for each in values.multiples for form in (each.value, each.processor, each.chunk)]
        symbols = (
            *(name for name in self.names if name.kind != "loop"),
            *(symbol for part in parts for symbol in part.symbols()),
        )
        return frozenset[int]().union(*(symbol.depends.loops for symbol in symbols))

    def _moved(self, still: PairClass) -> Example | None:
        """A collision within an iteration, moved to the first two iterations; None if it lacks a
        dimension."""
        assert still.known is not None and self.loop is not None
        steps = {self.x(self.loop.counter): 0, self.y(self.loop.counter): 1}
        found = self._in_own_names(still.known, steps, turned=self.first is not still.first)
        return None if found is None else Example(self, lambda: found, still.known)

    def _turned(self, known: Example | None) -> Example | None:
        """The collision with its two instances exchanged."""
        if known is None:
            return None

        def found() -> isl.Point:
            names, parts = self._described
            point = self._in_own_names(known, {}, turned=True) or self.solver.point(names, parts, names)
            assert point is not None
            return point

        return Example(self, found, known)

    def _in_own_names(self, known: Example, values: dict[Symbol, int], *, turned: bool) -> isl.Point | None:
        """A collision of another class as a point of this class. `values`: dimensions that are set
        already. None if a dimension has no value."""
        other, there, names = known.pair, known.values, self.names
        sides = (other.y, other.x) if turned else (other.x, other.y)
        for mine, its in zip((self.shared_names, self.x, self.y), (other.shared_names, *sides), strict=True):
            for symbol, name in mine.names.items():
                found = its.names.get(symbol, other.shared_names.names.get(symbol))
                if found is None:
                    return None
                values.setdefault(name, there[found])
        return self.solver.as_point([values[name] for name in names])

    @cached_property
    def _described(self) -> tuple[list[Symbol], list[Formula]]:
        parts: list[Formula] = []
        for access, name in ((self.first, self.x), (self.second, self.y)):
            parts += [name.formula(g) for g in (*access.place.guards, access.when, *self.model.facts)]
            for loop in access.place.loops:
                name(loop.counter)
        one_buffer = self.first.buffer is self.second.buffer
        if one_buffer and self.first.coordinates is not None and self.second.coordinates is not None:
            for p, q in zip(self.first.coordinates, self.second.coordinates, strict=True):
                parts.append(equal(self.x.form(p), self.y.form(q)))
        if self.loop is not None:
            parts.append(less(*(Linear.of(side(self.loop.counter)) for side in (self.x, self.y))))
        self._apart = self._different_threads() if self.same_block else self._different_blocks()
        parts.append(self._apart)
        for symbol in self.model.deciding:  # the execution of a barrier depends on these: dimensions of every set
            self.x(symbol)
            self.y(symbol)
        parts += self._known_of_numbers()
        return described((self.shared_names, self.x, self.y), parts)

    def _different_threads(self) -> Formula:
        a, b = self.first.part, self.second.part
        if a is None or b is None or a.kind != b.kind or self.model.warp is None:
            return self._two_threads()
        apart = zip((a.row, a.column), (b.row, b.column), strict=True)
        differ = [part for mine, its in apart for part in unequal(self.x.form(mine), self.y.form(its))]
        return both(self._two_threads(), either(self._two_groups(WARP), *differ))  # else one lane makes both

    def _two_threads(self) -> Formula:
        ids = self.model.values.thread_ids()
        if self.model.shape.threads is not None:
            linear = self.model.shape.linear_id(ids)
            x, y = self.x.form(linear), self.y.form(linear)
            # a pair of instances of one access would appear twice, once in each order
            return less(x, y) if self.first is self.second and not self.carried else either(*unequal(x, y))
        return either(*(part for i in ids for part in unequal(self.x.form(i), self.y.form(i))))

    def _different_blocks(self) -> Formula:
        ids = [i for i in self.model.values.cluster_ids() if not i.is_constant]
        for naming in (self.x, self.y):
            for i in (*self.model.values.block_ids(), *self.model.values.thread_ids()):
                naming.form(i)
        sides = [part for i in ids for part in unequal(self.x.form(i), self.y.form(i))]
        if self.first is self.second:
            sides = sides[::2]
        return either(*sides) if sides else FALSE

    def _known_of_numbers(self) -> list[Formula]:
        """Facts about the uninterpreted numbers of both instances: numbers computed from equal
        parts are equal, and the multiples of different processors are at least a chunk apart."""
        values, out = self.model.values, []
        numbers = [each for each in values.made_up.values() if self.x.form(each.number) != self.y.form(each.number)]
        waiting = [(each.number, p, q) for each in numbers for p, q in product(each.ways, repeat=2)]
        while ready := [each for each in waiting if self._named(self.x, each[1]) and self._named(self.y, each[2])]:
            waiting = [each for each in waiting if each not in ready]  # the numbers found may be parts of others
            for number, p, q in ready:
                differ = [part for a, b in zip(p, q, strict=True) for part in unequal(self.x.form(a), self.y.form(b))]
                out.append(either(*differ, equal(self.x.form(number), self.y.form(number))))
        for each in values.multiples:
            if not (self._named(self.x, (each.value,)) and self._named(self.y, (each.value,))):
                continue
            ours, theirs = self.x.form(each.processor), self.y.form(each.processor)
            mine, other, chunk = self.x.form(each.value), self.y.form(each.value), self.x.form(each.chunk)
            apart = [
                both(less(ours, theirs), less(mine + chunk, other + 1)),
                both(less(theirs, ours), less(other + chunk, mine + 1)),
            ]
            if not at_or_above(each.chunk, 0):
                apart.append(less(chunk, Linear.of(0)))  # a negative chunk implies nothing
            out.append(either(both(equal(ours, theirs), equal(mine, other)), *apart))
        return out

    def _named(self, naming: Naming, forms: Iterable[Linear]) -> bool:
        """Whether all symbols of the forms are already dimensions of the instance."""
        return all(s in naming.names or s in self.shared_names.names for form in forms for s in form.symbols())

    # ---- barriers between --------------------------------------------------------------------------------------------

    def separated_by(self, barrier: Barrier) -> isl.Set | bool:
        """The collisions that `barrier` separates: all (True), none (False), or a set over the same
        dimensions."""
        if space_of_both(self.first, self.second) not in barrier.spaces:
            return False
        if is_sure(barrier, self.first.place, self.second.place, self.loop):
            return True
        above, before = meeting(self.first.place, barrier.place)
        below, after = meeting(barrier.place, self.second.place)
        key = barrier.place.steps, before, after, barrier.threads if barrier.narrow else 0
        if key not in self._separated:  # one result for all barriers of a block between the same two positions
            self._separated[key] = self._between(barrier, (len(above), before), (len(below), after))
        found = self._separated[key]
        if found is None:
            raise Unknown
        return found

    def keeps_known(self, barrier: Barrier) -> bool:
        """Whether the place of the barrier alone proves that it does not separate the `known`
        collision: the collision is between neighbouring iterations, and in the loop's body the
        barrier comes before the first access and after the second."""
        loop, steps = self.loop, barrier.place.steps
        if loop is None or self.known is None or not steps or steps[-1].loop is not loop:
            return False
        sides = (self.first.place, barrier.place), (barrier.place, self.second.place)
        try:
            return all(meeting(*side)[1] > 0 for side in sides) and self.known.iterations_apart(loop) == 1
        except Unknown:
            return False

    def may_separate(self, barrier: Barrier) -> bool:
        """Whether an instance of the barrier may come in between if the conditions around it are
        ignored."""
        above, before = meeting(self.first.place, barrier.place)
        below, after = meeting(barrier.place, self.second.place)
        in_time = (before < 0 or len(above) > self.equal) and (after < 0 or len(below) > self.equal)
        return in_time and space_of_both(self.first, self.second) in barrier.spaces

    def _between(self, barrier: Barrier, up: tuple[int, int], down: tuple[int, int]) -> isl.Set | bool | None:
        """The union of all pieces of `first < barrier < second`; None if ISL gave up on one."""
        try:
            out: isl.Set | bool = False
            for piece in self._pieces(barrier, up, down):
                if isinstance(piece, bool):
                    out = True
                    break
                out = piece if isinstance(out, bool) else self.solver.union(out, piece)
            return self._of_group(out, barrier.threads) if barrier.narrow else out
        except Unknown:
            return None

    def _two_groups(self, threads: int) -> Formula:
        """The condition that the two threads are in different groups of `threads` threads."""
        group = self.model.group_of(threads)
        if group is None:
            raise Unknown
        return either(*unequal(self.x.form(group), self.y.form(group)))

    @cached_property
    def in_one_warp(self) -> bool:
        """Whether all collisions are between two threads of one warp. Raises Unknown."""
        return self._once("in one warp", self._never_two_warps, bool)

    def _never_two_warps(self) -> bool:
        if self.still is not None and self._invariant(self.still):
            return self.still.in_one_warp
        if self.known_in_two_warps:
            return False
        if (self.model.shape.threads or WARP + 1) <= WARP or self.model.in_rows_of_warps(self.first, self.second):
            return True
        names, parts = self._described
        far = [part for part in parts if part is not self._apart]  # different warps imply different threads
        return self.solver.point(names, [*far, self._two_groups(WARP)], names) is None

    @property
    def known_in_two_warps(self) -> bool:
        """Whether the `known` collision is between threads of two warps; a cheap test."""
        return self.known is not None and self.known.in_two_warps

    def _of_group(self, separated: isl.Set | bool, threads: int) -> isl.Set | bool:
        """The part of `separated` in which both threads are in one group: a barrier of `threads`
        threads separates no other pairs."""
        if separated is False or self.in_one_warp:
            return separated
        across = self.solver.set(self.names, [self._two_groups(threads)])
        return self.solver.subtract(self.collisions if separated is True else separated, across)

    def _pieces(self, barrier: Barrier, up: tuple[int, int], down: tuple[int, int]) -> Iterator[isl.Set | bool]:
        """The non-empty pieces, one for each pair of levels: the level at which `first` and the
        barrier diverge, and that of the barrier and `second`."""
        static = len(barrier.place.loops) + 1
        # pieces that part by static positions come first: most of them need no ISL
        for i in (*((static,) if up[1] < 0 else ()), *range(up[0])):
            for j in (*((static,) if down[1] < 0 else ()), *range(down[0])):
                if i >= self.equal and j >= self.equal:
                    piece = self._piece(barrier, (i, up[0]), (j, down[0]))
                    if piece is not False:
                        yield piece

    def _piece(self, barrier: Barrier, up: tuple[int, int], down: tuple[int, int]) -> isl.Set | bool:
        """The piece in which `first` and the barrier diverge at level `up[0]` of the `up[1]` loops
        around both, and the barrier and `second` at level `down[0]` of `down[1]`."""
        loops = barrier.place.loops
        as_x, as_y = min(up), min(down)  # the number of the barrier's counters shared with x, with y
        x, y = self.x, self.y
        if self.carried and min(as_x, as_y) > self.equal:
            return False  # one iteration cannot be that of both: theirs differ
        numbers = [loop.number for loop in loops]
        naming = BarrierNaming(x, y, set(numbers[:as_x]), set(numbers[:as_y]), of_thread=barrier.narrow)
        formulas = [
            equal(Linear.of(x(lp.counter)), Linear.of(y(lp.counter))) for lp in loops[self.equal : min(as_x, as_y)]
        ]
        for level, other, earlier in ((up[0], x, True), (down[0], y, False)):
            if level < len(loops):
                counter = loops[level].counter
                pair = (other(counter), naming(counter)) if earlier else (naming(counter), other(counter))
                if not (self.carried and level == self.equal and pair == (x(counter), y(counter))):
                    formulas.append(less(*map(Linear.of, pair)))
        placed = (self.first.place, as_x), (self.second.place, as_y)
        formulas += map(naming.formula, executed_if(barrier.place, placed))
        formulas += naming.definitions()
        if naming.unsure:
            return False
        own = list(naming.names.values())
        if not formulas and not own:
            return True
        return self.solver.project(self.solver.set([*self.names, *own], formulas, own), len(self.names))
