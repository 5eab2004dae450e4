"""Which of the proposed barriers a kernel with memory barriers needs: as few as order what they leave unordered.

Paths may lead through several barriers and through memory barriers, so that each set of candidates is judged as a
whole: none, each one alone, the cheapest first; else all of them, from which those go that the others do without, the
    dearest first. Then each
of them gets the least scope that does: each warp group's own threads, where these wait for no others.

What is ordered without a barrier is ordered with some. So a set is asked of nothing but the pairs that are unordered
without any, and those are taken first that stand around these; what is chosen in the end is judged in full.
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
    """A choice, and what is wrong whatever is chosen."""

    choice: ChosenBarriers
    faults: tuple[SignalFault, ...]
    proven: bool


Settles = Callable[[Iterable[Barrier]], bool]
"""Whether these barriers order what is unordered without one."""


def choose_for_signals(model: KernelModel, existing: frozenset[int]) -> OrderedChoice:
    """The barriers that a kernel with asynchronous accesses needs, beside those that are no candidates."""
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
                    return _said(trials, fixed, barriers, exact)
    everything = judge_signals(model, (*fixed, *proposed.values()), trials)
    return OrderedChoice(ChosenBarriers((), {}, {}, tuple(everything.conflicts)), tuple(everything.faults), False)


def _chosen(
    order: Iterable[int],
    fixed: list[Barrier],
    proposed: dict[int, Barrier],
    cost: dict[int, tuple[int, bool, int]],
    settles: Settles,
) -> tuple[list[int], bool] | None:
    """The numbers of those that do, in their order; and whether they are known to be the fewest. None where all of them
    do not."""

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
    return chosen, len(chosen) <= 2  # none does, nor does one alone


def _narrowed(
    model: KernelModel, numbers: list[int], fixed: list[Barrier], proposed: dict[int, Barrier], settles: Settles
) -> dict[int, Barrier]:
    """The chosen ones, of each warp group where that does."""
    chosen = {n: proposed[n] for n in numbers}
    for n in numbers if (model.shape.threads or 1) % GROUP == 0 else ():
        narrower = {**chosen, n: replace(chosen[n], narrow=True, threads=GROUP, number=None)}
        chosen = narrower if settles((*fixed, *narrower.values())) else chosen
    return chosen


def _said(trials: SignalTrials, fixed: list[Barrier], barriers: dict[int, Barrier], exact: bool) -> OrderedChoice:
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
    """What is unordered in a kernel without a barrier of those that are proposed, where nothing else is wrong with it.

    Args:
        pairs: those of each two accesses that are left, where it is known which.
        around: the blocks of ops that stand around it, by what leads there.
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
        """Whether these barriers order it."""
        try:
            found = Asynchronous(self.trials.judge(barriers))
            return all(found.orders(pair, left) for pair, left in self.pairs)
        except (VagueError, Unknown):
            return False
