"""Resources shared by all warps of a multiprocessor: the pipe of memory instructions, L1, a part of
L2; the barrier of clusters."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from .clocks import Clocks, Warp
from .memory import OF_LINE, SECTOR, GlobalAccess

GLOBAL, L1 = 650, 40
"""Clocks from issue to result: of global loads that miss in L1, and of loads that hit. Both are
calibrated."""
L2 = 300
"""Clocks from the completion of a load in L2 to its result."""
TAGS = 4
"""Lines of L1 that an access can look up per clock. Measured with rows of different lengths: an
access of 32 lines takes 32 clocks if all lines begin in the same bank, and eight or slightly more
otherwise."""
PORT = 64
"""Bytes per clock that a multiprocessor receives. A box for several blocks is read from L2 once,
and is delivered to each of them: PTX ISA, `cp.async.bulk.tensor … .multicast::cluster`; CUTLASS
uses multicast to save this traffic."""
REMOTE = 180
"""Clocks until an arrival reaches a barrier of another multiprocessor. An estimate: an access of
another multiprocessor's shared memory takes this long by Luo et al. (arXiv 2402.13499), quoted from
memory; docs/performance.md states the effect of 0 and 360 instead."""
MEETING = 2 * REMOTE
"""Clocks from the last arrival of a cluster's threads to the waiting threads: there and back. This
is an estimate."""


@dataclass(eq=False)
class MemoryPorts:
    """The memory ports of one multiprocessor.

    Args:
        l2: bytes per clock that it reads from L2.
        stores: bytes per clock that it writes to L2.
        l1_sectors: sectors that its L1 cache holds.
        timing: the counts to which its transfers are added.

    Attributes:
        shared_free, l2_free, port_free: the clock from which each resource is free.
        l1: sector in the cache → the clock at which its data arrive.
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
        """The clock at which L2 has read `size` bytes for the multiprocessor."""
        self.l2_free = max(self.l2_free, now) + size / self.l2
        return self.l2_free

    def write(self, size: int, now: float) -> float:
        """The clock at which L2 has accepted `size` bytes from the multiprocessor."""
        self.l2_free = max(self.l2_free, now) + size / self.stores
        return self.l2_free

    def take(self, size: int, now: float) -> float:
        """The clock at which `size` bytes have been received."""
        self.port_free = max(self.port_free, now) + size / PORT
        return self.port_free

    def shared(self, wavefronts: float, now: float) -> float:
        """The clock at which the last wavefront of a shared-memory access is complete."""
        self.shared_free = max(self.shared_free, now + 2) + wavefronts
        self.timing.busy["shared"] += wavefronts
        return self.shared_free

    def access(self, mnemonic: str, access: GlobalAccess, now: float) -> tuple[float, float]:
        """The clocks at which a global-memory access begins, and at which its data arrive: from L1
        or from L2."""
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
    """The barrier of a cluster, over time.

    Args:
        warps: number of participating warps.
        count: arrivals since the last completion.
        generation: number of completions.
        ended: clock of the last completion.
    """

    warps: int
    count: int = 0
    generation: int = 0
    ended: float = 0.0
    waiting: list[Warp] = field(default_factory=list)

    def arrive(self, warp: Warp, now: float) -> list[Warp]:
        """Counts an arrival. Returns the warps that it releases, at `ended`; none unless it is the
        last arrival."""
        warp.meetings += 1
        self.count += 1
        if self.count < self.warps:
            return []
        self.count, self.generation, self.ended = 0, self.generation + 1, now + MEETING
        woken, self.waiting = self.waiting, []
        return woken

    def over(self, warp: Warp) -> float | None:
        """The clock at which the barrier that a warp waits for completes; None if not known yet."""
        return self.ended if self.generation >= warp.meetings else None
