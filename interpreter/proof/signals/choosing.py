"""Which of the proposed barriers a kernel with memory barriers needs: as few as order what they leave unordered.

Paths may lead through several barriers and through memory barriers, so that each set of candidates is judged as a whole: none,
each one alone, the cheapest first; else all of them, from which those go that the others do without, the dearest first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..kernels.model import Barrier, KernelModel
from ..races.barriers import ChosenBarriers
from ..races.conflicts import Conflict
from .counts import SignalFault
from .judgement import are_ordered, judge_signals


@dataclass(frozen=True)
class OrderedChoice:
    """A choice, and what is wrong whatever is chosen."""

    choice: ChosenBarriers
    faults: tuple[SignalFault, ...]
    proven: bool


def choose_for_signals(model: KernelModel, existing: frozenset[int]) -> OrderedChoice:
    """The barriers that a kernel with asynchronous accesses needs, beside those that are no candidates."""
    fixed = [b for b in model.barriers if b.candidate is None]
    proposed = {b.candidate: b for b in sorted(model.barriers, key=lambda b: b.place.order) if b.candidate is not None}
    order = list(proposed)
    cost = {n: (b.weight, n not in existing, -order.index(n)) for n, b in proposed.items()}

    def having(numbers: Iterable[int]) -> list[Barrier]:
        return [*fixed, *(proposed[n] for n in numbers)]

    if not are_ordered(model, having(order)):
        everything = judge_signals(model, having(order))
        return OrderedChoice(ChosenBarriers((), {}, {}, tuple(everything.conflicts)), tuple(everything.faults), False)
    cheapest = [[], *([n] for n in sorted(order, key=cost.__getitem__))]
    chosen = next((numbers for numbers in cheapest if are_ordered(model, having(numbers))), None)
    exact = chosen is not None
    if chosen is None:
        chosen = list(order)
        for number in sorted(order, key=cost.__getitem__, reverse=True):
            fewer = [n for n in chosen if n != number]
            chosen = fewer if are_ordered(model, having(fewer)) else chosen
    reasons: dict[int, tuple[Conflict, ...]] = {}
    for n in chosen:
        reasons[n] = tuple(judge_signals(model, having(m for m in chosen if m != n)).conflicts)
    spaces = {n: frozenset(c.space for c in found) | {"workgroup"} for n, found in reasons.items()}
    choice = ChosenBarriers(tuple(chosen), reasons, spaces, (), exact or len(chosen) < 2)
    return OrderedChoice(choice, (), judge_signals(model, having(chosen)).clean)
