"""Vector clocks: which thread, and asynchronous operation, knows what others did (Fidge, Mattern, 1988; FastTrack).

Who acts is a row: the threads of a cluster, block by block, and behind them the asynchronous operations. A row
knows of each other one up to which epoch its acts are ordered before its own; at its own place stands its epoch,
which ends whenever it tells others something. An operation starts with what all threads know that issue it.

What is known to be over in time is more than what is known of memory: arrivals that are relaxed say nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from typing import Literal

import numpy as np

from ....dsl.records import record

MOST_OPERATIONS = 4096
"""Rows of asynchronous operations; where more are unordered at a time, the oldest lends its own."""
MOST_IN_TIME = 256
"""Rows of one kind from which on one is lent that is over in time; with fewer, only one of which all is known."""
SHARED, GLOBAL = "shared", "global"
OperationKind = Literal["load", "store", "product"]


@record(eq=False)
class Moment:
    """What somebody knew, as `VectorClocks.tables` lists it."""

    tables: tuple[np.ndarray, ...]

    def joined(self, other: Moment | None) -> Moment:
        """What both knew."""
        if other is None:
            return self
        tables = []
        for one in zip(self.tables, other.tables, strict=True):
            short, long = sorted(one, key=len)
            tables.append(long.copy())
            np.maximum(tables[-1][: len(short)], short, out=tables[-1][: len(short)])
        return Moment(tuple(tables))


class VectorClocks:
    """Those of a cluster of `threads` threads.

    Attributes:
        known: by space, and by row, up to which epoch of each other one that knows what was done to memory.
        over: likewise, up to which epoch all is over in time.
        fenced: likewise, up to which of its epochs a thread's stores are fenced for the async proxy.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.kinds: list[OperationKind] = []
        size = threads + 32
        self.known, self.fenced = (
            {space: np.zeros((size, size), np.int32) for space in (SHARED, GLOBAL)} for _ in "kf"
        )
        self.over = np.zeros((size, size), np.int32)
        self._end(np.arange(threads))

    @property
    def tables(self) -> tuple[np.ndarray, ...]:
        """By space, first what is known and then what is fenced; last, what is over."""
        return (*self.known.values(), *self.fenced.values(), self.over)

    def epochs(self, rows: np.ndarray) -> np.ndarray:
        return self.known[SHARED][rows, rows]

    def _end(self, rows: np.ndarray | int) -> None:
        """The rows' epochs end."""
        for table in (*self.known.values(), self.over):
            table[rows, rows] += 1

    def told(self, rows: np.ndarray, *, relaxed: bool = False) -> Moment:
        """The threads tell what they know together, or what is over alone; their epochs end."""
        *of_memory, over = (table[rows].max(axis=0) for table in self.tables)
        made = Moment((*(np.zeros_like(one) if relaxed else one for one in of_memory), over))
        self._end(rows)
        return made

    def strangers(self, rows: np.ndarray, moment: Moment) -> np.ndarray:
        """Positions of rows that do not know that all that was told is over."""
        told = moment.tables[-1]
        return np.flatnonzero((self.over[rows, : len(told)] < told).any(axis=1))

    def learn(self, rows: np.ndarray, moment: Moment | None, spaces: Sequence[str] = (SHARED, GLOBAL)) -> None:
        """The threads know from here on what was told, of some spaces, and that it is over."""
        if moment is None:
            return
        for space, table, told in zip((SHARED, GLOBAL, SHARED, GLOBAL, ""), self.tables, moment.tables, strict=True):
            if not space or space in spaces:
                table[rows, : len(told)] = np.maximum(table[rows, : len(told)], told)

    def fence(self, rows: np.ndarray, spaces: Sequence[str]) -> None:
        """What the threads stored so far may be read by the async proxy, for those who learn of it."""
        for space in spaces:
            self.fenced[space][rows, rows] = self.epochs(rows)
        self._end(rows)

    # ---- asynchronous operations -----------------------------------------------------------------

    def start(self, rows: np.ndarray, kind: OperationKind) -> int:
        """The row of an operation that the threads issue together: it knows what all of them know, and it is behind
        what is over for any, since it begins once all have come. Their epochs end."""
        common = [*(table[rows].min(axis=0) for table in self.tables[:-1]), self.over[rows].max(axis=0)]
        row = self._free(np.minimum(common[0], common[1]), common[-1], kind)
        epoch = self.epochs(np.array([row]))[0] + 1
        for table, known in zip(self.tables, common, strict=True):
            table[row, : len(known)] = known
        for table in (*self.known.values(), self.over):
            table[row, row] = epoch
        self._end(rows)
        return row

    def _free(self, known: np.ndarray, over: np.ndarray, kind: OperationKind) -> int:
        """The row of an operation of that kind which is known to have ended, or a new one."""
        first = self.threads
        used = first + np.flatnonzero([one == kind for one in self.kinds])
        for told in (known, over) if len(used) >= MOST_IN_TIME else (known,):
            if len(ended := np.flatnonzero(told[used] >= self.epochs(used))):
                return int(used[ended[0]])
        if len(self.kinds) >= MOST_OPERATIONS and len(used):
            return int(used[self.epochs(used).argmin()])
        self.kinds.append(kind)
        if first + len(self.kinds) > len(self.over):
            more = ((0, min(len(self.over), MOST_OPERATIONS)),) * 2
            for tables in (self.known, self.fenced):
                tables |= {space: np.pad(table, more) for space, table in tables.items()}
            self.over = np.pad(self.over, more)
        return first + len(self.kinds) - 1

    def kind(self, row: int) -> OperationKind:
        return self.kinds[row - self.threads]

    def ended(self, row: int, *, more: bool = False) -> Moment:
        """An operation, or a part of it where there are `more`, has ended: what it knows, itself included."""
        made = Moment(tuple(table[row].copy() for table in self.tables))
        if more:
            self._end(row)
        return made


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
