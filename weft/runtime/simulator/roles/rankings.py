"""Orders of warp groups and of what they started, one after the other: who is slow, and from when on.

    for ranking in rankings(3): …             each order in which three groups, and what they started, go first
    for ranking in rankings(3, 200): …        and each in which one that would go on is behind all others from there on

A mistake that shows where somebody is slow all the time shows in the first ones, and one that needs that from some point on in the
others (S. Burckhardt et al., "A randomized scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010: there by chance).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

from ....dsl.records import record

STARTED = -1
"""What was started asynchronously, among agents."""


@record
class Ranking:
    """Who goes on: of those that can, the one that stands first.

    Args:
        agents: warp groups of a cluster, by their numbers, and `STARTED`; what it does not name stands behind.
        last_arm: of the parts of a warp group that are elsewhere, the last one is first.
        dropped: at these turns the one that would go on falls behind all others, for good.
    """

    agents: tuple[int, ...] = ()
    last_arm: bool = False
    dropped: tuple[int, ...] = ()

    def rank(self, agent: int) -> float:
        """Who has more of it goes first."""
        return float(len(self.agents) - self.agents.index(agent)) if agent in self.agents else 0.0

    def arm(self, number: int, of: int) -> float:
        """What a part of a group has more than the group, less than there is between two groups."""
        return (number if self.last_arm else of - 1 - number) / (2 * of)


def rankings(agents: int, turns: int = 0) -> Iterator[Ranking]:
    """Those of so many warp groups: without a turn at which one is dropped, then with one of so many."""
    bases = [Ranking(order, arm) for order, arm in product(permutations((STARTED, *range(agents))), (False, True))]
    yield from bases
    for base, turn in product(bases, range(turns)):
        yield Ranking(base.agents, base.last_arm, (turn,))
