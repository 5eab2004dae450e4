"""Traffic of global memory, counted as the kernel runs: what lanes read and write of a buffer, and how widely.

An access of a lane moves 16 bytes at most; a vector that is wider takes several. What a cache serves, and what lanes of
a warp that read the same sector share, is not looked at: these are the bytes that the kernel asks for, which the memory
moves where each element is asked for once. Whether it is, is told for as long as it may be: elements are marked until
more were met than there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod

import numpy as np

from ...devices.report import Kind, Site, Traffic
from .banks import WIDEST
from .lanes import Lanes
from .shadow import Index, Mask


class TrafficTally:
    """What was read, or written, of a buffer of `size` elements."""

    def __init__(self, size: int) -> None:
        self.lanes: Counter[tuple[int, tuple[int, ...]]] = Counter()
        self.elements = 0
        self.met: np.ndarray | None = np.zeros(size, np.bool_)

    def note(self, flat: Index, mask: Mask, site: int, lanes: Lanes) -> None:
        """An access of a batch. Called for every one: what is done here is done a million times."""
        vector, here = np.shape(flat)[2:], lanes.nt * lanes.nb
        if mask is not None:
            here = int(np.count_nonzero(mask)) * (here // np.size(mask))
        self.lanes[site, vector] += here
        self.elements += here * prod(vector)
        if self.met is None:
            return
        if self.elements > self.met.size:
            self.met = None
        else:
            where = np.broadcast_to(flat, (*lanes.shape, *vector))
            self.met[where if mask is None else where[lanes.full(mask)]] = True

    def note_box(self, elements: np.ndarray, site: int, itemsize: int) -> None:
        """What of a box lies in the tensor, moved in pieces as wide as an access is at most."""
        count = WIDEST // itemsize
        self.lanes[site, (count,)] += -(-len(elements) // count)
        self.elements += len(elements)
        if self.met is not None and self.elements > self.met.size:
            self.met = None
        if self.met is not None:
            self.met[elements] = True

    def traffic(self, buffer: str, kind: Kind, size: int, itemsize: int, sites: Sequence[Site]) -> Traffic:
        accesses: Counter[int] = Counter()
        for (site, vector), times in self.lanes.items():
            whole = prod(vector) * itemsize
            width = itemsize  # sizes that are not powers of two are moved element by element
            if not whole & (whole - 1):
                width = max(itemsize, min(whole, WIDEST, sites[site].alignment or WIDEST))
            accesses[width] += times * (whole // width)
        distinct = None if self.met is None else int(np.count_nonzero(self.met))
        wide_first = tuple(sorted(accesses.items(), reverse=True))
        return Traffic(buffer, kind, size, self.elements, self.elements * itemsize, wide_first, distinct)
