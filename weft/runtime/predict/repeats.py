"""Loops that repeat the same iteration many times: not all iterations need be executed clock by
clock."""

from __future__ import annotations

import bisect

import numpy as np

from ...dsl.records import record
from .sass import Disassembly
from .tracks import Track

WINDOW = 4
"""Iterations per window: the time of one window is compared with that of the window before."""
FEWEST = 6 * WINDOW
"""Iterations from which a loop can be skipped; all iterations of shorter loops are executed."""


@record
class Repeat:
    """A warp's position in a repeating loop.

    Args:
        head: index of the loop's first instruction.
        length: instructions of an iteration.
        left: iterations from this one to the end of the repetition.
    """

    head: int
    length: int
    left: int


class Repeats:
    """The stretches of a track that repeat, for the innermost loops."""

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
        """The index of the first iteration after `first` that differs from it."""
        body, last = code[heads[first] : heads[first + 1]], first + 1
        while last + 1 < len(heads) and np.array_equal(code[heads[last] : heads[last + 1]], body):
            last += 1
        return last

    def begins(self, position: int) -> bool:
        """Whether a repeated iteration begins at a position."""
        return position in self._at

    def at(self, position: int) -> Repeat | None:
        """The repetition that contains a position; None outside."""
        index = bisect.bisect_right(self._heads, position) - 1
        found = self._at[self._heads[index]] if index >= 0 else None
        return found if found is not None and position < self._heads[index] + found.length else None
