"""Which multiprocessor has most to do where all blocks of a launch run at once, and how much one has of that on
average: of blocks that stay some take a tile more than others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from .operands import Grid
from .pipes import flops
from .sass import Disassembly
from .trace import Execution
from .tracks import Trace, Track


def busiest(
    program: Disassembly, trace: Trace, known: list[int], placed: Sequence[list[int]], grid: Callable[[list[int]], Grid]
) -> tuple[list[int], float]:
    """The clusters of the multiprocessors that have most to do, and the share of that which all have on average. Of
    warps that do the same in the clusters whose trace is known one is executed, where it does anything on floats.

    Args:
        known: the numbers of these clusters. `placed`: of all multiprocessors'.
        grid: the blocks of the clusters of some numbers.
    """
    each = np.array([flops(one) for one in program.instructions])

    def done(tracks: Sequence[Track]) -> dict[int, tuple[int, int]]:
        """Instructions of each, and what they do on floats."""
        every = {id(track): track for track in tracks}
        return {key: (len(track.code), int(each[track.code].sum())) for key, track in every.items()}

    tracks = trace.tracks[: grid(known).warps]
    work = done(tracks)
    on_floats = [id(track) for track in tracks if work[id(track)][1]]
    alike = Counter(on_floats or map(id, tracks))
    warps = tuple(next(n for n, track in enumerate(tracks) if id(track) == key) for key in alike)
    numbers = list(dict.fromkeys(n for clusters in [known, *placed] for n in clusters))
    asked = replace(grid(numbers), some=warps)
    found = Execution(program, asked).run().tracks
    work = done(found)
    length, sums = dict.fromkeys(numbers, 0), dict.fromkeys(numbers, 0)
    for at, track in enumerate(found):
        number, times = numbers[at // (len(warps) * asked.together)], [*alike.values()][at % len(warps)]
        length[number] += work[id(track)][0] * times
        sums[number] += work[id(track)][1] * times
    most = max([known, *placed], key=lambda clusters: sum(length[n] for n in clusters))
    average = sum(sums.values()) / len(sums) * len(most)
    return most, average / (sum(sums[n] for n in most) or 1)
