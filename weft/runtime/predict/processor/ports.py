"""What all warps of a multiprocessor share: the pipe of memory instructions, L1, part of L2; where clusters meet."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from .clocks import Clocks, Warp
from .memory import OF_LINE, SECTOR, GlobalAccess

GLOBAL, L1 = 650, 40
"""Clocks from issue to result: of global loads that miss in L1, and of those that hit. Both were calibrated."""
L2 = 300
"""Clocks from when L2 has got round to a load to its result."""
TAGS = 4
"""Lines of L1 that an access may find in a clock. By the measurement of rows of different lengths: an access of 32
lines takes 32 clocks where all begin in the same bank, and eight or little more where they do not."""
PORT = 64
"""Bytes per clock that a multiprocessor takes in. A box for several blocks is read from L2 once, and comes to each
of them: PTX ISA, `cp.async.bulk.tensor … .multicast::cluster`; CUTLASS multicasts for the traffic that this saves."""
REMOTE = 180
"""Clocks until an arrival is at a barrier of another multiprocessor. An estimate: an access of its shared memory takes
so long by Luo et al. (arXiv 2402.13499), quoted from memory; docs/performance.md says what 0 and 360 would change."""
MEETING = 2 * REMOTE
"""Clocks from the last arrival of a cluster's threads to who waits for it: there and back. This is an estimate."""


@dataclass(eq=False)
class MemoryPorts:
    """One multiprocessor.

    Args:
        l2: bytes per clock that it gets from there. `stores`: that it puts there.
        l1_sectors: that its cache has.
        timing: where what it moves is counted.

    Attributes:
        shared_free, l2_free, port_free: when each is free.
        l1: by sector, when it is there.
    """

    l2: float
    stores: float
    l1_sectors: int
    timing: Clocks
    shared_free: float = 0.0
    l2_free: float = 0.0
    port_free: float = 0.0
    l1: OrderedDict[int, float] = field(default_factory=OrderedDict)

    def read(self, size: int, now: float) -> float:
        """When L2 has read so many bytes for it."""
        self.l2_free = max(self.l2_free, now) + size / self.l2
        return self.l2_free

    def write(self, size: int, now: float) -> float:
        """When L2 has taken so many bytes of it."""
        self.l2_free = max(self.l2_free, now) + size / self.stores
        return self.l2_free

    def take(self, size: int, now: float) -> float:
        """When so many bytes have come in."""
        self.port_free = max(self.port_free, now) + size / PORT
        return self.port_free

    def shared(self, wavefronts: float, now: float) -> float:
        """When the data of an access of shared memory are through."""
        self.shared_free = max(self.shared_free, now + 2) + wavefronts
        self.timing.busy["shared"] += wavefronts
        return self.shared_free

    def access(self, mnemonic: str, access: GlobalAccess, now: float) -> tuple[float, float]:
        """When an access of global memory has begun, and when its data are there: from L1, or as L2 gives them."""
        begin = max(self.shared_free, now + 2)
        loads, done, missing = mnemonic in ("LDG", "LD", "LDL"), now + L1, 0
        found, fetched = set[int](), set[int]()
        for sector in access.sectors:
            if loads and (there := self.l1.pop(sector, None)) is not None:
                done = max(done, there)
                self.l1[sector] = there
                found.add(sector // OF_LINE)
            else:
                missing += 1
                fetched.add(sector // OF_LINE)
        wavefronts = max(access.wavefronts, len(fetched) + -(-len(found - fetched) // TAGS))
        self.shared_free = begin + wavefronts
        self.timing.busy["shared"] += wavefronts
        if missing:
            is_store = mnemonic in ("STG", "ST", "STL", "RED")
            through = (self.write if is_store else self.read)(missing * SECTOR, now)
            done = max(done, now + GLOBAL, through + L2)
            self.timing.moved["stored" if is_store else "loaded"] += missing * SECTOR
        if loads:
            for sector in access.sectors:
                self.l1.setdefault(sector, done)
            while len(self.l1) > self.l1_sectors:
                self.l1.popitem(last=False)
        return begin, done


@dataclass(eq=False)
class ClusterClock:
    """The barrier of a cluster, in time.

    Args:
        warps: that meet.
        count: how many have arrived since all last had; `generation`: how often all had; `ended`: when they last had.
    """

    warps: int
    count: int = 0
    generation: int = 0
    ended: float = 0.0
    waiting: list[Warp] = field(default_factory=list)

    def arrive(self, warp: Warp, now: float) -> list[Warp]:
        """Who may go on when it has `ended`."""
        warp.meetings += 1
        self.count += 1
        if self.count < self.warps:
            return []
        self.count, self.generation, self.ended = 0, self.generation + 1, now + MEETING
        woken, self.waiting = self.waiting, []
        return woken

    def over(self, warp: Warp) -> float | None:
        """When those have met whom a warp waits for; None where that is not known yet."""
        return self.ended if self.generation >= warp.meetings else None
