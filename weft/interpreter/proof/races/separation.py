"""The collisions of a class of pairs that barriers leave unseparated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import islpy as isl

from ..kernels.model import Barrier
from ..solver import Unknown
from .relations import PairClass


def residue(pair: PairClass, barriers: Iterable[Barrier]) -> isl.Set | None:
    """The collisions that the barriers leave; None if unknown: callers assume that some are
    left."""
    left = pair.found
    pair.unsure = next((b for b in pair.model.divergent if b.assumed and pair.may_separate(b)), None)
    subtracted: set[int] = set()
    for barrier in barriers:
        if not barrier.place.settled and pair.may_separate(barrier):
            pair.unsure = barrier
        try:
            separated = pair.separated_by(barrier)
            if separated is True:
                return pair.solver.nothing(pair.names)
            if left is not None and not isinstance(separated, bool) and id(separated) not in subtracted:
                subtracted.add(id(separated))
                left = pair.solver.subtract(left, separated)
        except Unknown:
            pair.unsure = barrier  # unknown effect: the barrier is assumed to separate nothing
    return left


def all_separated(pair: PairClass, barriers: Sequence[Barrier]) -> bool:
    """Whether the barriers are known to separate all collisions. One known collision that no
    barrier separates disproves it."""
    if pair.known is not None:
        try:
            if not any(_holds(pair, barrier, pair.known.point) for barrier in barriers):
                return False
        except Unknown:
            pass
    return empty(pair, residue(pair, barriers))


def empty(pair: PairClass, left: isl.Set | None) -> bool:
    """Whether it is proven that no collision remains."""
    try:
        return left is not None and pair.solver.is_empty(left)
    except Unknown:
        return False


def _holds(pair: PairClass, barrier: Barrier, known: isl.Point) -> bool:
    """Whether a barrier may separate a known collision."""
    if pair.keeps_known(barrier):
        return False
    separated = pair.separated_by(barrier)
    return separated if isinstance(separated, bool) else not pair.solver.disjoint(separated, known.to_set())
