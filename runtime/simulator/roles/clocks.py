"""Vector clocks: which thread, and which asynchronous operation, knows of what others did (Fidge, Mattern, 1988; FastTrack, 2009).

Who acts is a row: the threads of a cluster, one block after the other, and behind them the asynchronous operations. A row knows of
each other one up to which epoch what that did is ordered before what it does itself; at its own place stands its own epoch, which
ends whenever it tells others something. An operation starts with what all of the threads know that issue it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MOST_OPERATIONS = 4096
"""Rows of asynchronous operations; where more are unordered at a time, the oldest lends its own."""
SHARED, GLOBAL = "shared", "global"


@dataclass(frozen=True, eq=False)
class Moment:
    """What somebody knew: by row the epochs, of what was done to shared and to global memory; and up to which of its epochs a
    thread's stores are fenced for the async proxy."""

    shared: np.ndarray
    globally: np.ndarray
    fenced: np.ndarray

    def joined(self, other: Moment | None) -> Moment:
        """What both knew."""
        if other is None:
            return self
        return Moment(
            _most(self.shared, other.shared), _most(self.globally, other.globally), _most(self.fenced, other.fenced)
        )


def _most(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    short, long = sorted((one, other), key=len)
    made = long.copy()
    np.maximum(made[: len(short)], short, out=made[: len(short)])
    return made


class VectorClocks:
    """Those of a cluster of `threads` threads.

    Attributes:
        known: by space, and by row, what that knows of each other one.
        fenced: by row, what it knows of fences.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.operations = 0
        size = threads + 32
        self.known = {space: np.zeros((size, size), np.int32) for space in (SHARED, GLOBAL)}
        self.fenced = np.zeros((size, size), np.int32)
        self._end(np.arange(threads))

    def epochs(self, rows: np.ndarray) -> np.ndarray:
        return self.known[SHARED][rows, rows]

    def _end(self, rows: np.ndarray | int) -> None:
        """The rows' epochs end."""
        for table in self.known.values():
            table[rows, rows] += 1

    def told(self, rows: np.ndarray) -> Moment:
        """The threads tell what they know together; their epochs end."""
        made = Moment(*(table[rows].max(axis=0) for table in (*self.known.values(), self.fenced)))
        self._end(rows)
        return made

    def learn(self, rows: np.ndarray, moment: Moment | None, spaces: Sequence[str] = (SHARED, GLOBAL)) -> None:
        """The threads know from here on what was told, of some spaces."""
        if moment is None:
            return
        news = {SHARED: moment.shared, GLOBAL: moment.globally}
        tables = [(self.known[space], news[space]) for space in spaces]
        for table, told in [*tables, *([(self.fenced, moment.fenced)] if SHARED in spaces else [])]:
            table[rows, : len(told)] = np.maximum(table[rows, : len(told)], told)

    def fence(self, rows: np.ndarray) -> None:
        """What the threads stored so far may be read by the async proxy, for those who learn of it."""
        self.fenced[rows, rows] = self.epochs(rows)
        self._end(rows)

    # ---- asynchronous operations ---------------------------------------------------------------------------------------

    def start(self, rows: np.ndarray) -> int:
        """The row of an operation that the threads issue together: it knows what all of them know. Their epochs end."""
        tables = (*self.known.values(), self.fenced)
        common = [table[rows].min(axis=0) for table in tables]
        row = self._free(np.minimum(common[0], common[1]))
        epoch = self.epochs(np.array([row]))[0] + 1
        for table, known in zip((*self.known.values(), self.fenced), common, strict=True):
            table[row, : len(known)] = known
        for table in self.known.values():
            table[row, row] = epoch
        self._end(rows)
        return row

    def _free(self, known: np.ndarray) -> int:
        """The row of an operation that is known to have ended, or a new one."""
        first = self.threads
        used = np.arange(first, first + self.operations)
        ended = np.flatnonzero(known[used] >= self.epochs(used))
        if len(ended):
            return first + int(ended[0])
        if self.operations == MOST_OPERATIONS:
            return first + int(self.epochs(used).argmin())
        self.operations += 1
        if first + self.operations > len(self.fenced):
            more = min(len(self.fenced), MOST_OPERATIONS)
            self.known = {space: np.pad(table, ((0, more), (0, more))) for space, table in self.known.items()}
            self.fenced = np.pad(self.fenced, ((0, more), (0, more)))
        return first + self.operations - 1

    def ended(self, row: int, *, more: bool = False) -> Moment:
        """An operation, or a part of it where there are `more`, has ended: what it knows, itself included."""
        made = Moment(*(table[row].copy() for table in (*self.known.values(), self.fenced)))
        if more:
            self._end(row)
        return made
