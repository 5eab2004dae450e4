"""The choice among the proposed barriers: a cheapest set that separates all conflicts.

Each colliding class (`relations.PairClass`) requires barriers that together separate all of its
collisions. One barrier suffices for most classes; some need several together. The choice is a
hitting-set problem, small enough for an exact solution by branch and bound. Beyond a limit of nodes
the result is a greedy choice from which no barrier can be removed: sound, maybe not cheapest.

The choice includes the narrowest scope. Where all collisions of a class are between two threads of
one warp, a barrier of each warp at a candidate's place does the work of a barrier of the block. A
candidate `n` has such a twin, `~n`. The search considers twins only where they may make the choice
cheaper.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import invert

from ....dsl.records import record
from ...hardware.limits import WARP
from ..kernels.model import Barrier, KernelModel, space_of_both
from ..kernels.places import Place
from ..solver import Unknown
from .conflicts import Conflict, as_conflict, colliding_classes, in_flight, possible_classes
from .phases import Phases, Row, Steps, is_sure, pieces, position_at
from .relations import PairClass
from .separation import all_separated, residue

NODE_LIMIT = 20_000

Cost = tuple[int, ...]


@record
class ChosenBarriers:
    """The chosen barriers.

    Args:
        chosen: candidate numbers, in text order.
        reasons: by candidate, the conflicts that would be unordered without it, without witnesses.
        spaces: by candidate, the memory spaces that its fence must cover.
        unseparated: conflicts that no proposed barrier separates.
        exact: whether the choice is proven to be a cheapest one.
        of_warps: the chosen candidates that are, or become, barriers of each warp.
        of_groups: the chosen candidates that are, or become, barriers of each warp group.
    """

    chosen: tuple[int, ...]
    reasons: dict[int, tuple[Conflict, ...]]
    spaces: dict[int, frozenset[str]]
    unseparated: tuple[Conflict, ...] = ()
    exact: bool = True
    of_warps: frozenset[int] = frozenset()
    of_groups: frozenset[int] = frozenset()


def choose_barriers(model: KernelModel, *, existing: frozenset[int] = frozenset()) -> ChosenBarriers:
    """The cheapest set of candidates that separates all conflicts of the model, together with the
    barriers that are not candidates.

    Cheapest means: fewest block barriers executed per thread, then fewest warp barriers, then
    fewest in the text, then as many of `existing` (candidates that are already in the program) as
    possible, then as late in the text as possible.
    """
    return _Search(model, existing).run()


@dataclass(eq=False)
class _Demand:
    """What a set of classes (`pairs`) with the same description, between the same barriers, demands
    of the choice. `whole`: the candidates that separate all collisions of a class. `part`: the
    candidates that separate a part of them; each maps to a representative of the barriers that
    separate the same part. `left` caches whether a set of barriers suffices."""

    pairs: list[PairClass]
    whole: frozenset[int]
    part: dict[int, Barrier]
    fixed: list[Barrier]
    left: dict[frozenset[Barrier], bool] = field(default_factory=dict)

    @property
    def pair(self) -> PairClass:
        """The first class, which represents all of them in queries."""
        return self.pairs[0]

    @property
    def useful(self) -> frozenset[int]:
        return self.whole | self.part.keys()

    def add_twins(self, twins: Mapping[Barrier, Barrier], wide: frozenset[int]) -> None:
        """Adds the warp twins of the block barriers (`wide`), if all collisions are within one warp."""
        if self.in_one_warp:
            self.whole |= frozenset(map(invert, self.whole & wide))
            self.part |= {~n: twins[barrier] for n, barrier in self.part.items() if n in wide}

    @property
    def in_one_warp(self) -> bool:
        try:
            return self.pair.in_one_warp
        except Unknown:
            return False

    def met(self, chosen: frozenset[int]) -> bool:
        if self.whole & chosen:
            return True
        parts = frozenset(self.part[n] for n in self.part.keys() & chosen)
        if not parts:
            return False
        if parts not in self.left:
            self.left[parts] = all_separated(
                self.pair, [*self.fixed, *sorted(parts, key=lambda each: each.place.order)]
            )
        return self.left[parts]


class _Search:
    def __init__(self, model: KernelModel, existing: frozenset[int]) -> None:
        fixed = [b for b in model.barriers if b.candidate is None]
        ordered = sorted(model.barriers, key=lambda b: b.place.order)
        self.barriers = {b.candidate: b for b in ordered if b.candidate is not None}
        self.order = list(self.barriers)
        rows: dict[Hashable, Row] = {}
        for b in self.barriers.values():
            rows.setdefault((b.place.steps, b.spaces, b.narrow, b.threads, b.of_cluster, b.number), Row()).append(b)
        self.rows = list(rows.values())
        self._marks: dict[Steps, list[int]] = {}
        for b in ordered:
            for depth in range(len(b.place.steps) + 1):
                self._marks.setdefault(b.place.steps[:depth], []).append(position_at(b.place, depth))
        self._gaps: dict[Place, Hashable] = {}
        self._apart: dict[Hashable, tuple[frozenset[int], list[list[Barrier]]]] = {}
        self._demands: dict[Hashable, _Demand] = {}
        self.cost: dict[int, Cost] = {}
        for place, (n, b) in enumerate(self.barriers.items()):
            rank = 1, 0 if n in existing else 1, -place
            self.cost[n] = (0, b.weight, *rank) if b.narrow else (b.weight, 0, *rank)
            self.cost[~n] = 0, b.weight, *rank
        self.whole_warps = model.shape.threads is not None and model.shape.threads % WARP == 0
        self.unseparated: list[Conflict] = []
        for pair in colliding_classes(model, Phases(fixed)):
            self._demand(pair, fixed)
        self.demands = list(self._demands.values())
        self.unseparated += in_flight(model)

    def _between(self, place: Place) -> Hashable:
        """A key that is equal for two places if there is no barrier, and no op with a barrier in
        it, between them."""
        if place not in self._gaps:
            marks = self._marks.get(place.steps, ())
            self._gaps[place] = place.steps, bisect_left(marks, place.position), bisect_right(marks, place.position)
        return self._gaps[place]

    def _demand(self, pair: PairClass, fixed: list[Barrier]) -> None:
        between = self._between(pair.first.place), self._between(pair.second.place)
        places = *between, space_of_both(pair.first, pair.second)
        key = pair.answers, places
        if key in self._demands:
            self._demands[key].pairs.append(pair)
            return
        if all_separated(pair, fixed):
            return
        places = places, pair.equal, pair.loop
        if places not in self._apart:
            self._apart[places] = self._by_place(pair)
        sure, perhaps = self._apart[places]
        demand = _Demand([pair], sure, {}, fixed)
        for piece in perhaps:
            one, numbers = self._separates(pair, piece[0]), _numbers(piece)
            if one is True or (one is None and all_separated(pair, [*fixed, piece[0]])):
                demand.whole |= numbers
            elif one is None:
                demand.part |= dict.fromkeys(numbers, piece[0])
        if demand.met(frozenset(demand.useful)):
            self._demands[key] = demand
        else:
            everything = residue(pair, [*fixed, *dict.fromkeys(demand.part.values())])
            self.unseparated.append(as_conflict(pair, everything))

    def _by_place(self, pair: PairClass) -> tuple[frozenset[int], list[list[Barrier]]]:
        """The candidates that are proven by their places alone to separate the pair's accesses, and
        the runs of candidates (`pieces`) that have to be examined. Both are the same for all pairs in
        one memory space between the same barriers."""
        sure: frozenset[int] = frozenset()
        perhaps: list[list[Barrier]] = []
        for piece in pieces(self.rows, pair.first.place, pair.second.place):
            if not pair.may_separate(piece[0]):
                continue
            if is_sure(piece[0], pair.first.place, pair.second.place, pair.loop):
                sure |= _numbers(piece)
            else:
                perhaps.append(piece)
        return sure, perhaps

    @staticmethod
    def _separates(pair: PairClass, barrier: Barrier) -> bool | None:
        """Whether the barrier separates all collisions (True), none (False), or perhaps some
        (None)."""
        if space_of_both(pair.first, pair.second) in barrier.spaces and pair.keeps_known(barrier):
            return None  # in a loop, the barrier may separate iterations that are further apart
        try:
            separated = pair.separated_by(barrier)
        except Unknown:
            return False  # unknown effect: the barrier is assumed to separate nothing
        return separated if isinstance(separated, bool) else None

    def run(self) -> ChosenBarriers:
        found = _cheapest(self.demands, self.cost)
        if self.whole_warps and self._warps_may_do(found):
            twins = {b: replace(b, narrow=True) for b in self.barriers.values() if not b.narrow}
            wide = frozenset(n for n, b in self.barriers.items() if b in twins)
            for demand in self.demands:
                demand.add_twins(twins, wide)
            found = _cheapest(self.demands, self.cost)
        chosen = found.chosen - {~n for n in found.chosen if n >= 0}
        needing = self._needing(chosen)
        reasons = {
            n: tuple(dict.fromkeys(as_conflict(pair, None) for d in needing[n] for pair in d.pairs)) for n in chosen
        }
        by_space: dict[str, set[int]] = {}
        for d in self.demands:
            for space in {pair.first.buffer.space for pair in d.pairs}:
                by_space.setdefault(space, set()).update(d.whole, d.part)
        numbers = {max(n, ~n): n for n in chosen}
        spaces = {n: frozenset(space for space in by_space if key in by_space[space]) for n, key in numbers.items()}
        in_order = tuple(n for n in self.order if n in numbers)
        return ChosenBarriers(
            in_order, {n: reasons[key] for n, key in numbers.items()}, spaces, tuple(self.unseparated), found.exact,
            frozenset(n for n in in_order if numbers[n] < 0 or self.barriers[n].narrow),
        )  # fmt: skip

    def _needing(self, chosen: frozenset[int]) -> dict[int, list[_Demand]]:
        """For each chosen barrier, the demands that would not be satisfied without it."""
        found: dict[int, list[_Demand]] = {n: [] for n in chosen}
        for demand in self.demands:
            whole = demand.whole & chosen
            for n in (whole or chosen) if len(whole) < 2 else ():
                if not demand.met(chosen - {n}):
                    found[n].append(demand)
        return found

    def _warps_may_do(self, found: _Choice) -> bool:
        """Whether warp barriers may lower the cost. The check collects, for each chosen barrier,
        one demand that needs it and that is not within one warp. If the cheapest choice for these
        demands alone costs as much as `found`, no warp barrier can lower the cost."""
        crossing: list[_Demand] = []
        for needing in self._needing(found.chosen).values():
            sure, rest = (d for d in needing if d.pair.known_in_two_warps), (d for d in needing if not d.in_one_warp)
            crossing += itertools.islice(itertools.chain(sure, rest), 1)
        return len(found.chosen) > 0 and _cheapest(crossing, self.cost).cost[:2] < found.cost[:2]


def _numbers(piece: Iterable[Barrier]) -> frozenset[int]:
    return frozenset(b.candidate for b in piece if b.candidate is not None)


@record
class _Choice:
    """A set of candidates that satisfies all demands, with its cost."""

    cost: Cost
    chosen: frozenset[int]
    exact: bool = True


def _cheapest(demands: Sequence[_Demand], cost: dict[int, Cost]) -> _Choice:
    demands = _hardest(demands)
    everything = frozenset(n for d in demands for n in d.useful)
    greedy = everything
    for number in sorted(
        everything, key=lambda n: cost[n], reverse=True
    ):  # remove what can be removed, the most expensive first
        if all(d.met(greedy - {number}) for d in demands):
            greedy -= {number}
    return _Branching(demands, cost, greedy).run()


def _hardest(demands: Sequence[_Demand]) -> list[_Demand]:
    """The demands that no other demand implies. A demand that few barriers satisfy implies each
    demand that a superset of these satisfies."""
    apart: dict[Hashable, _Demand] = {}
    for demand in demands:
        apart.setdefault((demand.whole, id(demand) if demand.part else 0), demand)
    out: list[_Demand] = []
    for demand in sorted(apart.values(), key=lambda d: (len(d.whole), bool(d.part))):
        if not any(hard.whole <= demand.whole for hard in out if not hard.part):
            out.append(demand)
    return out


class _Branching:
    def __init__(self, demands: Sequence[_Demand], cost: dict[int, Cost], greedy: frozenset[int]) -> None:
        self.demands, self.cost = demands, cost
        self.nodes = 0
        self.best = self._total(greedy), greedy

    def run(self) -> _Choice:
        self._branch(frozenset(), frozenset())
        return _Choice(*self.best, self.nodes <= NODE_LIMIT)

    def _total(self, chosen: frozenset[int]) -> Cost:
        return tuple(map(sum, zip((0, 0, 0, 0, 0), *(self.cost[n] for n in chosen), strict=True)))

    def _branch(self, chosen: frozenset[int], refused: frozenset[int]) -> None:
        self.nodes += 1
        if self.nodes > NODE_LIMIT or self._total(chosen)[:3] > self.best[0][:3]:
            return
        open_demands = [d for d in self.demands if not d.met(chosen)]
        if not open_demands:
            self.best = min(self.best, (self._total(chosen), chosen), key=lambda b: b[0])
            return
        demand = min(open_demands, key=lambda d: len(d.useful - chosen - refused))
        for number in sorted(demand.useful - chosen - refused, key=lambda n: self.cost[n]):
            self._branch(chosen | {number}, refused)
            refused = refused | {number}


def superfluous_barriers(model: KernelModel) -> list[Barrier]:
    """The barriers of a race-free kernel that are redundant one at a time: without any one of them,
    the others still separate all conflicts."""
    phases = Phases(model.barriers)
    idle = dict.fromkeys(model.barriers)
    for pair in possible_classes(model, Phases(())):
        sure = _two_that_suffice(pair, phases)
        for barrier in [b for b in sure or idle if b in idle] if len(sure) < 2 else ():
            others = [b for b in model.barriers if b is not barrier]
            if not all_separated(pair, ()) and not all_separated(pair, others):
                del idle[barrier]
    return list(idle)


def _two_that_suffice(pair: PairClass, phases: Phases) -> set[Barrier]:
    """Up to two barriers, each of which is sure to separate the class."""
    found: set[Barrier] = set()
    for barriers in phases.sure(pair.first.place, pair.second.place, space_of_both(pair.first, pair.second), pair.loop):
        found.update(barriers[:2])
        if len(found) > 1:
            break
    return found
