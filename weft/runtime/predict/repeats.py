"""Loops that do the same many times over: their iterations need not all be executed clock by clock."""

from __future__ import annotations

import bisect

import numpy as np

from ...dsl.records import record
from .sass import Disassembly
from .tracks import Track

WINDOW = 4
"""Iterations whose time is compared with that of as many before."""
FEWEST = 6 * WINDOW
"""Of loops with fewer iterations each is executed."""


@record
class Repeat:
    """Where a warp stands: in the loop at instruction `head`; how many instructions an iteration has, and follow it."""

    head: int
    length: int
    left: int


class Repeats:
    """The stretches of a track that repeat themselves, the innermost ones."""

    def __init__(self, track: Track, program: Disassembly) -> None:
        self._at: dict[int, Repeat] = {}
        code = np.array(track.code, dtype=np.int32)
        taken = np.zeros(len(code) + 1, bool)
        for loop in sorted(program.loops(), key=len):
            outside = np.concatenate([[0], np.cumsum((code < loop.start) | (code >= loop.stop))])
            heads = [int(h) for h in np.flatnonzero(code == loop.start)]
            first = 0
            while first + 1 < len(heads):
                last = self._end(code, heads, first)
                begin, end = heads[first], heads[last]
                if last - first >= FEWEST and outside[begin] == outside[end] and not taken[begin:end].any():
                    taken[begin:end] = True
                    length = heads[first + 1] - begin
                    for number in range(first, last):
                        self._at[heads[number]] = Repeat(loop.start, length, last - number)
                first = max(last, first + 1)
        self._heads = sorted(self._at)

    @staticmethod
    def _end(code: np.ndarray, heads: list[int], first: int) -> int:
        """The iteration up to which all do what this one does."""
        body, last = code[heads[first] : heads[first + 1]], first + 1
        while last + 1 < len(heads) and np.array_equal(code[heads[last] : heads[last + 1]], body):
            last += 1
        return last

    def begins(self, position: int) -> bool:
        """Whether an iteration begins there."""
        return position in self._at

    def at(self, position: int) -> Repeat | None:
        """What a position belongs to."""
        index = bisect.bisect_right(self._heads, position) - 1
        found = self._at[self._heads[index]] if index >= 0 else None
        return found if found is not None and position < self._heads[index] + found.length else None
