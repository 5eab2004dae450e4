"""The proposed barriers that a kernel with memory barriers needs: a minimal set that orders what is
unordered without them.

A path may lead through several barriers and through memory barriers, so each set of candidates is
judged as a whole: first the empty set, then each single candidate, the cheapest first. If none
suffices, the search begins with all candidates, and removes those that are not needed, the most
expensive first. Then each chosen barrier gets the smallest sufficient scope: one warp group, if the
threads of the group wait for no others.

A pair that is ordered without the candidates is ordered with any set of them. So a set is tested
only on the pairs that are unordered without candidates, and barriers near these pairs are tried
first. The final choice is judged in full.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import islpy as isl

from ....dsl.records import record
from ...hardware.hopper.warpgroups import GROUP
from ..kernels.model import Barrier, KernelModel
from ..races.barriers import ChosenBarriers
from ..races.conflicts import Conflict
from ..solver import Unknown
from .conflicts import Asynchronous, Unordered
from .counts import SignalFault
from .instances import VagueError
from .judgement import SignalTrials, judge_signals


@record
class OrderedChoice:
    """Chosen barriers, and the faults that no choice of barriers removes."""

    choice: ChosenBarriers
    faults: tuple[SignalFault, ...]
    proven: bool


Settles = Callable[[Iterable[Barrier]], bool]
"""Whether these barriers order all pairs that are unordered without any."""


def choose_for_signals(model: KernelModel, existing: frozenset[int]) -> OrderedChoice:
    """The candidates that a kernel with asynchronous accesses needs, in addition to the barriers
    that are no candidates."""
    fixed = [b for b in model.barriers if b.candidate is None]
    proposed = {b.candidate: b for b in sorted(model.barriers, key=lambda b: b.place.order) if b.candidate is not None}
    cost = {n: (b.weight, n not in existing, -place) for place, (n, b) in enumerate(proposed.items())}
    trials = SignalTrials(model)
    some = _Unordered.of(trials, fixed)
    ways = [trials.are_ordered] if some is None else [some.settled, trials.are_ordered]
    for settles in ways:
        near = [n for n, b in proposed.items() if some is None or b.place.steps in some.around]
        for order in dict.fromkeys((tuple(near), tuple(proposed))):
            chosen = _chosen(order, fixed, proposed, cost, settles)
            if chosen is None:
                continue
            numbers, exact = chosen
            narrower = _narrowed(model, numbers, fixed, proposed, settles)
            for barriers in (narrower, {n: proposed[n] for n in numbers}):
                if trials.are_ordered((*fixed, *barriers.values())):
                    return _choice(trials, fixed, barriers, exact)
    everything = judge_signals(model, (*fixed, *proposed.values()), trials)
    return OrderedChoice(ChosenBarriers((), {}, {}, tuple(everything.conflicts)), tuple(everything.faults), False)


def _chosen(
    order: Iterable[int],
    fixed: list[Barrier],
    proposed: dict[int, Barrier],
    cost: dict[int, tuple[int, bool, int]],
    settles: Settles,
) -> tuple[list[int], bool] | None:
    """The numbers of barriers that suffice together, in the given order; and whether the set is
    known to be minimal. None if not even all of them suffice."""

    def having(numbers: Iterable[int]) -> list[Barrier]:
        return [*fixed, *(proposed[n] for n in numbers)]

    chosen = list(order)
    if not settles(having(chosen)):
        return None
    cheapest = [[], *([n] for n in sorted(chosen, key=cost.__getitem__))]
    if (few := next((numbers for numbers in cheapest if settles(having(numbers))), None)) is not None:
        return few, True
    for number in sorted(chosen, key=cost.__getitem__, reverse=True):
        fewer = [n for n in chosen if n != number]
        chosen = fewer if settles(having(fewer)) else chosen
    return chosen, len(chosen) <= 2  # neither the empty set nor a single one suffices


def _narrowed(
    model: KernelModel, numbers: list[int], fixed: list[Barrier], proposed: dict[int, Barrier], settles: Settles
) -> dict[int, Barrier]:
    """The chosen barriers, each narrowed to one warp group where that suffices."""
    chosen = {n: proposed[n] for n in numbers}
    for n in numbers if (model.shape.threads or 1) % GROUP == 0 else ():
        narrower = {**chosen, n: replace(chosen[n], narrow=True, threads=GROUP, number=None)}
        chosen = narrower if settles((*fixed, *narrower.values())) else chosen
    return chosen


def _choice(trials: SignalTrials, fixed: list[Barrier], barriers: dict[int, Barrier], exact: bool) -> OrderedChoice:
    reasons: dict[int, tuple[Conflict, ...]] = {}
    for n in barriers:
        others = (b for m, b in barriers.items() if m != n)
        reasons[n] = tuple(judge_signals(trials.model, (*fixed, *others), trials).conflicts)
    spaces = {n: frozenset(c.space for c in found) | {"workgroup"} for n, found in reasons.items()}
    of_groups = frozenset(n for n, b in barriers.items() if b.threads == GROUP and b.narrow)
    choice = ChosenBarriers(tuple(barriers), reasons, spaces, (), exact, of_groups=of_groups)
    return OrderedChoice(choice, (), judge_signals(trials.model, (*fixed, *barriers.values()), trials).clean)


@record
class _Unordered:
    """The pairs of accesses that are unordered without the proposed barriers, in a kernel that has
    no other fault.

    Args:
        pairs: for each two accesses, their unordered instances; None where unknown.
        around: the blocks of ops around the accesses, by their paths.
    """

    trials: SignalTrials
    pairs: tuple[tuple[Unordered, isl.Map | None], ...]
    around: frozenset[object]

    @classmethod
    def of(cls, trials: SignalTrials, fixed: list[Barrier]) -> _Unordered | None:
        try:
            judge = trials.judge(fixed)
            found = Asynchronous(judge)
            if next(judge.faults(), None) is not None or next(found.faults(), None) is not None:
                return None
            pairs = tuple(found.unordered())
        except (VagueError, Unknown):
            return None
        places = [access.place for pair, _ in pairs for access in (pair.first, pair.second)]
        return cls(trials, pairs, frozenset(p.steps[:depth] for p in places for depth in range(len(p.steps) + 1)))

    def settled(self, barriers: Iterable[Barrier]) -> bool:
        """Whether these barriers order all pairs."""
        try:
            found = Asynchronous(self.trials.judge(barriers))
            return all(found.orders(pair, left) for pair, left in self.pairs)
        except (VagueError, Unknown):
            return False
