"""Vector clocks of threads and asynchronous operations (Fidge, Mattern, 1988; FastTrack).

Each agent has a row: first the threads of a cluster, block by block, then the asynchronous
operations. For every other agent, a row holds the last epoch of that agent that happens before the
row's own next access. Its entry for itself is its current epoch, which ends when it publishes its
clock. An operation begins with the minimum of the clocks of the threads that issue it.

Completion in time and visibility of memory are tracked separately: a relaxed arrival publishes only
completion.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ....dsl.records import record

MOST_OPERATIONS = 4096
"""Rows of asynchronous operations at most; beyond, the oldest row is used again."""
MOST_IN_TIME = 256
"""Rows of one kind from which on the row of an operation that is complete, but not yet visible to
all, is used again."""
SHARED, GLOBAL = "shared", "global"
OperationKind = Literal["load", "store", "product"]


@record(eq=False)
class Moment:
    """A published clock: a row of each table, in the order of `VectorClocks.tables`."""

    tables: tuple[np.ndarray, ...]

    def joined(self, other: Moment | None) -> Moment:
        """The join of two clocks."""
        if other is None:
            return self
        tables = []
        for one in zip(self.tables, other.tables, strict=True):
            short, long = sorted(one, key=len)
            tables.append(long.copy())
            np.maximum(tables[-1][: len(short)], short, out=tables[-1][: len(short)])
        return Moment(tuple(tables))


class VectorClocks:
    """The vector clocks of a cluster of `threads` threads.

    Attributes:
        known: for each memory space and row, the last epoch of every other row of which the memory
            accesses are visible.
        over: for each row, the last epoch of every other row that is complete in time.
        fenced: for each memory space and row, the last epoch of every other row of which the stores
            are fenced for the async proxy.
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
        """All tables: per space `known`, then `fenced`; last, `over`."""
        return (*self.known.values(), *self.fenced.values(), self.over)

    def epochs(self, rows: np.ndarray) -> np.ndarray:
        return self.known[SHARED][rows, rows]

    def _end(self, rows: np.ndarray | int) -> None:
        """Begins the next epoch of these rows."""
        for table in (*self.known.values(), self.over):
            table[rows, rows] += 1

    def told(self, rows: np.ndarray, *, relaxed: bool = False) -> Moment:
        """Ends the epochs of these threads, and returns the joined clock that they publish. If
        `relaxed`, it holds only `over`."""
        *of_memory, over = (table[rows].max(axis=0) for table in self.tables)
        made = Moment((*(np.zeros_like(one) if relaxed else one for one in of_memory), over))
        self._end(rows)
        return made

    def strangers(self, rows: np.ndarray, moment: Moment) -> np.ndarray:
        """The positions of those `rows` for which some access in the published clock is not
        complete."""
        told = moment.tables[-1]
        return np.flatnonzero((self.over[rows, : len(told)] < told).any(axis=1))

    def learn(self, rows: np.ndarray, moment: Moment | None, spaces: Sequence[str] = (SHARED, GLOBAL)) -> None:
        """The threads acquire a published clock, in some spaces."""
        if moment is None:
            return
        for space, table, told in zip((SHARED, GLOBAL, SHARED, GLOBAL, ""), self.tables, moment.tables, strict=True):
            if not space or space in spaces:
                table[rows, : len(told)] = np.maximum(table[rows, : len(told)], told)

    def fence(self, rows: np.ndarray, spaces: Sequence[str]) -> None:
        """Fences the threads' stores so far for the async proxy, for threads that acquire their
        clocks later."""
        for space in spaces:
            self.fenced[space][rows, rows] = self.epochs(rows)
        self._end(rows)

    # ---- asynchronous operations -----------------------------------------------------------------

    def start(self, rows: np.ndarray, kind: OperationKind) -> int:
        """A row for an operation that the threads issue together. Memory accesses are visible to it
        if they are visible to all threads. Accesses count as complete if they are for any of the
        threads, because the operation begins when all of them have arrived. The threads' epochs
        end."""
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
        """The row of a completed operation of that kind, to be used again, or a new row."""
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
        """The clock of an operation, or of a part of it (`more`), that has completed."""
        made = Moment(tuple(table[row].copy() for table in self.tables))
        if more:
            self._end(row)
        return made


STARTED = -1
"""The agent number of asynchronous operations."""


@record
class Ranking:
    """A priority order of agents: among the agents that are ready, the first in this order runs.

    Args:
        agents: warp groups of a cluster, and `STARTED`, highest priority first; others come last.
        last_arm: in a diverged warp group, the last arm runs first.
        dropped: the numbers of decisions at which the agent that would run moves to the end for
            good.
    """

    agents: tuple[int, ...] = ()
    last_arm: bool = False
    dropped: tuple[int, ...] = ()

    def rank(self, agent: int) -> float:
        """Priority of an agent; the highest runs first."""
        return float(len(self.agents) - self.agents.index(agent)) if agent in self.agents else 0.0

    def arm(self, number: int, of: int) -> float:
        """The priority of an arm relative to its group; it is less than the difference between two
        groups."""
        return (number if self.last_arm else of - 1 - number) / (2 * of)
