"""The multiprocessor with most work if all blocks of a launch run at once, and the average share of
that work: persistent blocks differ by one tile."""

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
    """Finds the clusters of the multiprocessor with most work, and the average work of all
    multiprocessors (floating-point operations) as a share of its work.

    Of the warps that share a track in the known clusters, one is executed; warps without
    floating-point operations only if no warp has any.

    Args:
        known: numbers of the clusters that `trace` executed.
        placed: numbers of the clusters of each multiprocessor.
        grid: cluster numbers → the grid of their blocks.
    """
    each = np.array([flops(one) for one in program.instructions])

    def done(tracks: Sequence[Track]) -> dict[int, tuple[int, int]]:
        """Track id → number of its instructions, and of their floating-point operations."""
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
