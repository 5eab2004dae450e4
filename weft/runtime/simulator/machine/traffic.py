"""Traffic of global memory, counted during execution: the bytes of a buffer that are read and
written, and the width of the accesses.

An access of a lane moves at most 16 bytes; a wider vector takes several accesses. Caches, and
sectors shared by lanes of a warp, are not modelled: the count is of the bytes that the kernel
requests. Memory moves exactly these if each element is requested once. To find out whether that
holds, requested elements are marked, until more were requested than exist.
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
    """Traffic of a buffer of `size` elements, in one direction."""

    def __init__(self, size: int) -> None:
        self.lanes: Counter[tuple[int, tuple[int, ...]]] = Counter()
        self.elements = 0
        self.met: np.ndarray | None = np.zeros(size, np.bool_)

    def note(self, flat: Index, mask: Mask, site: int, lanes: Lanes) -> None:
        """Records an access of a batch. Called for every access: it must be cheap."""
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
        """Records the part of a box inside the tensor, in pieces of the widest access."""
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
