"""Which of the proposed barriers to keep: a cheapest set that separates every conflict.

Each colliding class (`relations.PairClass`) asks for barriers that together separate all of its collisions; most are separated
whole by one barrier, some only by several together. Choosing is a hitting-set problem, small enough to be solved exactly by
branch and bound; beyond a limit of nodes, a greedy choice from which nothing can be removed is taken (sound, maybe not cheapest).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..kernels.model import Barrier, KernelModel, space_of_both
from ..solver import Unknown
from .conflicts import Conflict, as_conflict, colliding_classes, in_flight, possible_classes
from .phases import Phases
from .relations import PairClass
from .separation import all_separated, residue

NODE_LIMIT = 20_000

Cost = tuple[int, ...]


@dataclass(frozen=True)
class ChosenBarriers:
    """The chosen barriers.

    Args:
        chosen: candidate numbers, in text order.
        reasons: by candidate, what would be unordered without it, without witnesses.
        spaces: by candidate, the memory its fence must cover.
        unseparated: conflicts that no proposed barrier separates.
        exact: whether the choice is proven to be a cheapest one.
    """

    chosen: tuple[int, ...]
    reasons: dict[int, tuple[Conflict, ...]]
    spaces: dict[int, frozenset[str]]
    unseparated: tuple[Conflict, ...] = ()
    exact: bool = True


def choose_barriers(model: KernelModel, *, existing: frozenset[int] = frozenset()) -> ChosenBarriers:
    """The cheapest set of candidates that, with the barriers that are no candidates, separates all conflicts of the model.

    Cheapest: fewest executed per thread, then fewest in the text, then as many of `existing` (candidates that stand in the
    program already) as possible, then as late in the text as possible.
    """
    return _Search(model, existing).run()


@dataclass(eq=False)
class _Demand:
    """A class, what separates all of it (`whole`), and what some of it (`part`). `left` remembers which unions suffice."""

    pair: PairClass
    whole: set[int]
    part: dict[int, Barrier]
    fixed: list[Barrier]
    left: dict[frozenset[int], bool] = field(default_factory=dict)

    @property
    def useful(self) -> set[int]:
        return self.whole | set(self.part)

    def met(self, chosen: frozenset[int]) -> bool:
        if self.whole & chosen:
            return True
        parts = frozenset(self.part.keys() & chosen)
        if not parts:
            return False
        if parts not in self.left:
            standing = [*self.fixed, *(self.part[n] for n in sorted(parts))]
            self.left[parts] = all_separated(self.pair, standing)
        return self.left[parts]


class _Search:
    def __init__(self, model: KernelModel, existing: frozenset[int]) -> None:
        fixed = [b for b in model.barriers if b.candidate is None]
        ordered = sorted(model.barriers, key=lambda b: b.place.order)
        self.barriers = {b.candidate: b for b in ordered if b.candidate is not None}
        self.order = list(self.barriers)
        self.cost: dict[int, Cost] = {
            n: (b.weight, 1, 0 if n in existing else 1, -place) for place, (n, b) in enumerate(self.barriers.items())
        }
        self.demands: list[_Demand] = []
        self.unseparated: list[Conflict] = []
        self.nodes = 0
        self.best: tuple[Cost, frozenset[int]] | None = None
        for pair in colliding_classes(model, Phases(fixed)):
            self._demand(pair, fixed)
        self.unseparated += in_flight(model)

    def _demand(self, pair: PairClass, fixed: list[Barrier]) -> None:
        if all_separated(pair, fixed):
            return
        demand = _Demand(pair, set(), {}, fixed)
        for number, barrier in self.barriers.items():
            one = self._separates(pair, barrier)
            if one is True:
                demand.whole.add(number)
            elif one is not False:
                demand.part[number] = barrier
        for number in [n for n in demand.part if demand.met(frozenset({n}))]:
            demand.whole.add(number)
            del demand.part[number]
        if demand.met(frozenset(demand.useful)):
            self.demands.append(demand)
        else:
            everything = residue(pair, [*fixed, *demand.part.values()])
            self.unseparated.append(as_conflict(pair, everything))

    @staticmethod
    def _separates(pair: PairClass, barrier: Barrier) -> bool | None:
        """True: all; False: none; None: perhaps some."""
        try:
            separated = pair.separated_by(barrier)
        except Unknown:
            return False  # a barrier of which it is not known what it separates is taken to separate nothing
        return separated if isinstance(separated, bool) else None

    def run(self) -> ChosenBarriers:
        everything = frozenset(n for d in self.demands for n in d.useful)
        greedy = everything
        for number in sorted(everything, key=lambda n: self.cost[n], reverse=True):  # remove what can be removed, dearest first
            if all(d.met(greedy - {number}) for d in self.demands):
                greedy -= {number}
        self.best = (self._total(greedy), greedy)
        self._branch(frozenset(), frozenset())
        exact = self.nodes <= NODE_LIMIT
        chosen = self.best[1]
        reasons = {
            n: tuple(dict.fromkeys(as_conflict(d.pair, None) for d in self.demands if not d.met(chosen - {n})))
            for n in chosen
        }
        spaces = {n: frozenset(d.pair.first.buffer.space for d in self.demands if n in d.useful) for n in chosen}
        in_order = tuple(n for n in self.order if n in chosen)
        return ChosenBarriers(in_order, reasons, spaces, tuple(self.unseparated), exact)

    def _total(self, chosen: frozenset[int]) -> Cost:
        return tuple(map(sum, zip((0, 0, 0, 0), *(self.cost[n] for n in chosen), strict=True)))

    def _branch(self, chosen: frozenset[int], refused: frozenset[int]) -> None:
        self.nodes += 1
        assert self.best is not None
        if self.nodes > NODE_LIMIT or self._total(chosen)[:2] > self.best[0][:2]:
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
    """The barriers of a race-free kernel each of which could go: the others separate all conflicts without it."""
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
    """Of the barriers that are sure to separate the class, as many as tell whether there are several."""
    found: set[Barrier] = set()
    for barriers in phases.sure(pair.first.place, pair.second.place, space_of_both(pair.first, pair.second), pair.loop):
        found.update(barriers[:2])
        if len(found) > 1:
            break
    return found
