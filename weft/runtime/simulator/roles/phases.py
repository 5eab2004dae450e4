"""Memory barriers: arrivals, bytes, phases (`interpreter/hardware/hopper/mbarriers.py`), and the
order they establish."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ...devices.report import Fault
from ..machine.lanes import Lane
from ..machine.shadow import Mask
from .clocks import SHARED, Moment
from .cluster import BlockState, Flight, GroupLanes
from .schedule import Steps


@dataclass(eq=False)
class PhasedBarrier:
    """A memory barrier.

    Args:
        count: the number of arrivals that complete a phase; 0: not initialized.
        made: the row and epoch of its initialization.
        fenced: the row and epoch of the fence after its initialization.
        gathering: the joined clock of the arrivals and copies of the current phase.
        told: the clock that the previous phase published.
    """

    count: int = 0
    pending: int = 0
    bytes: int = 0
    phase: int = 0
    made: tuple[int, int] = (0, 0)
    fenced: tuple[int, int] | None = None
    gathering: Moment | None = None
    told: Moment | None = None

    def settle(self) -> None:
        """Begins the next phase if the current one is complete."""
        if self.pending == 0 and self.bytes == 0:
            self.told, self.gathering = self.gathering, None
            self.phase, self.pending = self.phase + 1, self.count

    def gather(self, moment: Moment) -> None:
        self.gathering = moment.joined(self.gathering)


@dataclass(eq=False)
class BarrierGroup:
    """An array of memory barriers in the shared memory of a block."""

    key: int
    name: str
    home: BlockState
    all: list[PhasedBarrier]
    last: tuple[GroupLanes, int, int] | None = field(default=None)

    def named(self, number: int) -> str:
        return f"`{self.name}`[{number}]"

    def usable(self, number: int, group: GroupLanes, lanes: np.ndarray, site: int) -> bool:
        """Whether the barrier is initialized, and those lanes have observed it; records a fault if
        not."""
        lane = int(lanes[0])
        self.last = group, lane, site
        if not 0 <= number < len(self.all):
            return _misused(
                group, lane, site, f"{self.named(number)}, where there are {len(self.all)} barriers", self.name
            )
        one = self.all[number]
        if not one.count:
            return _misused(group, lane, site, f"{self.named(number)} is used and was never initialized", self.name)
        row, epoch = one.made
        known = group.cluster.clocks.known[SHARED][group.rows[lanes], row]
        if (known < epoch).any():
            lane = int(lanes[int((known < epoch).argmax())])
            message = f"{self.named(number)} is used, and nothing orders that after its initialization"
            _misused(group, lane, site, message, self.name)
        return True

    def expect_fenced(self, number: int, group: GroupLanes, lane: int, site: int) -> None:
        """Records a fault if a copy or another block arrives at a barrier, and the lane has not
        observed a fence after the barrier's initialization."""
        fence, row = self.all[number].fenced, group.rows[lane]
        if fence is None or group.cluster.clocks.known[SHARED][row, fence[0]] < fence[1]:
            message = (
                f"{self.named(number)} is used by copies or another block, and no fence follows its initialization"
            )
            _misused(group, lane, site, message, self.name)

    def at_end(self) -> None:
        """Checks at the end of the block that the bytes of each barrier add up."""
        for number, one in enumerate(self.all):
            if one.bytes and self.last is not None:
                _misused(*self.last, f"{self.named(number)}: at the end of the block {_bytes(one)}", self.name)


def _misused(group: GroupLanes, lane: int, site: int, message: str, name: str) -> bool:
    group.cluster.fault("mbarrier misuse", group, lane, site, message, name)
    return False


def by_number(
    group: GroupLanes, mask: Mask, number: Lane, *others: Lane
) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """The distinct tuples of a barrier number and further operands, each with the active lanes that
    have these values."""
    active = group.active(mask)
    columns = [
        np.broadcast_to(np.asarray(value), group.shape)[:, 0][active].astype(np.int64) for value in (number, *others)
    ]
    if all((one == one[0]).all() for one in columns):
        yield tuple(int(one[0]) for one in columns), active
        return
    together = np.stack(columns, axis=1)
    for each in np.unique(together, axis=0):
        yield tuple(int(n) for n in each), active[(together == each).all(axis=1)]


# ---- what generated code calls -------------------------------------------------------------------


def make(group: GroupLanes, key: int, name: str, count: int) -> BarrierGroup:
    """`nvgpu.mbarrier.create`: the block's barriers."""
    found = group.home.barriers.get(key)
    if found is None:
        found = group.home.barriers[key] = BarrierGroup(key, name, group.home, [PhasedBarrier() for _ in range(count)])
    return found


def of_rank(group: GroupLanes, barriers: BarrierGroup, rank: int) -> BarrierGroup:
    """The corresponding barriers of another block of the cluster."""
    return make(group.cluster.blocks[rank].groups[0], barriers.key, barriers.name, len(barriers.all))


def init(group: GroupLanes, barriers: BarrierGroup, number: Lane, count: Lane, mask: Mask, site: int) -> None:
    """`nvgpu.mbarrier.init`."""
    for (at, arrivals), lanes in by_number(group, mask, number, count):
        if not 0 <= at < len(barriers.all) or arrivals < 1:
            message = f"{barriers.named(at)} of {len(barriers.all)} is initialized for {arrivals} arrivals"
            _misused(group, int(lanes[0]), site, message, barriers.name)
            continue
        row = group.rows[lanes[-1:]]
        made = int(row[0]), int(group.cluster.clocks.epochs(row)[0])
        barriers.all[at] = PhasedBarrier(arrivals, arrivals, made=made)
        barriers.last = group, int(lanes[-1]), site


def fence_init(group: GroupLanes, mask: Mask) -> None:
    """`nvvm.fence.mbarrier.init`: makes a lane's initializations visible to asynchronous
    operations."""
    clocks, rows = group.cluster.clocks, group.rows[group.active(mask)]
    for row, epoch in zip(rows.tolist(), clocks.epochs(rows).tolist(), strict=True):
        for barriers in group.home.barriers.values():
            for one in barriers.all:
                if one.count and one.made[0] == row and one.fenced is None:
                    one.fenced = row, epoch
    clocks.told(rows)


def fence_proxy(group: GroupLanes, spaces: Sequence[str], mask: Mask) -> None:
    """`nvvm.fence.proxy`, of stores to some spaces."""
    if SHARED in spaces:
        fence_init(group, mask)
    group.cluster.clocks.fence(group.rows[group.active(mask)], spaces)


def arrive(group: GroupLanes, barriers: BarrierGroup, number: Lane, bytes_: Lane, mask: Mask, site: int) -> Steps:
    """`nvgpu.mbarrier.arrive`, and `arrive.expect_tx`."""
    yield from group.cluster.pause()
    for (at, more), lanes in by_number(group, mask, number, bytes_):
        if barriers.usable(at, group, lanes, site):
            arrived(barriers, at, group, lanes, more, site)


def arrive_there(
    group: GroupLanes, barriers: BarrierGroup, number: Lane, rank: Lane, relaxed: bool, mask: Mask, site: int
) -> Steps:
    """`nvvm.mbarrier.arrive` at a barrier of a block of the cluster; a relaxed one publishes only
    completion in time."""
    yield from group.cluster.pause()
    for (at, other), lanes in by_number(group, mask, number, rank):
        if not 0 <= other < len(group.cluster.blocks):
            message = f"{barriers.named(at)} of block {other} of a cluster that has {len(group.cluster.blocks)}"
            _misused(group, int(lanes[0]), site, message, barriers.name)
            continue
        there = of_rank(group, barriers, other)
        if there.usable(at, group, lanes, site):
            if there.home is not group.home:
                there.expect_fenced(at, group, int(lanes[0]), site)
                for lane, row in zip(lanes.tolist(), group.rows[lanes].tolist(), strict=True):
                    epoch = int(group.cluster.clocks.epochs(np.array([row]))[0])
                    group.cluster.owe(
                        there.home, row, epoch, group.doing(lane, site), f"it arrives at {there.named(at)}"
                    )
            arrived(there, at, group, lanes, 0, site, relaxed=relaxed)


def arrived(
    barriers: BarrierGroup,
    at: int,
    group: GroupLanes,
    lanes: np.ndarray,
    more: int,
    site: int,
    *,
    relaxed: bool = False,
) -> None:
    """Records that lanes arrive at a barrier of their own or of another block, and that each lane
    expects `more` bytes."""
    one, left, rows = barriers.all[at], len(lanes), group.rows[lanes]
    _expect_known(barriers, at, rows, group, lanes, site)
    told = group.cluster.clocks.told(rows, relaxed=relaxed)
    while left:
        if not one.pending:
            message = (
                f"more than {one.count} arrivals in phase {one.phase} of {barriers.named(at)}, where {_bytes(one)}"
            )
            _misused(group, int(lanes[-1]), site, message, barriers.name)
            return
        if left < len(lanes):
            _expect_known(barriers, at, rows[-left:], group, lanes[-left:], site)
        some = min(left, one.pending)
        left -= some
        one.pending, one.bytes = one.pending - some, one.bytes + some * more
        one.gather(told)
        one.settle()


def landed(barriers: BarrierGroup, at: int, flight: Flight, count: int) -> None:
    """`count` bytes have arrived."""
    one = barriers.all[at]
    _expect_known(barriers, at, np.array([flight.row]), flight.group, flight.lanes, flight.site)
    one.bytes -= count
    one.gather(flight.group.cluster.clocks.ended(flight.row))
    one.settle()


def _expect_known(
    barriers: BarrierGroup, at: int, rows: np.ndarray, group: GroupLanes, lanes: np.ndarray, site: int
) -> None:
    """Records a fault if an arrival, or arriving bytes, are not ordered after the end of the
    previous phase: that phase might still be incomplete."""
    one = barriers.all[at]
    if one.told is not None and len(found := group.cluster.clocks.strangers(rows, one.told)):
        arrival = f"an arrival in phase {one.phase} of {barriers.named(at)}"
        message = f"{arrival}, and nothing orders it after the end of the previous phase"
        _misused(group, int(lanes[min(int(found[0]), len(lanes) - 1)]), site, message, barriers.name)


def _bytes(one: PhasedBarrier) -> str:
    return f"{one.bytes} bytes are missing" if one.bytes >= 0 else f"{-one.bytes} bytes more came than were expected"


@dataclass(eq=False)
class PhaseWait:
    """Lanes that wait for phases: for each barrier and parity, the lanes, and the phase in which
    they began to wait."""

    releases: ClassVar[bool] = False
    group: GroupLanes
    barriers: BarrierGroup
    asked: Sequence[tuple[int, int, np.ndarray, int]]
    site: int

    def ready(self) -> bool:
        """Whether all lanes may proceed: the current phase has another parity, or a later phase has
        begun."""
        return all(self._over(at, parity, began) for at, parity, _, began in self.asked)

    def _over(self, at: int, parity: int, began: int) -> bool:
        phase = self.barriers.all[at].phase
        return began % 2 != parity or phase > began

    def passed(self) -> None:
        group, clocks = self.group, self.group.cluster.clocks
        for at, parity, lanes, began in self.asked:
            one = self.barriers.all[at]
            if began % 2 == parity and one.phase > began + 1:
                message = f"phase {began} of {self.barriers.named(at)} ended, and the next one as well, before the thread looked"
                _misused(group, int(lanes[0]), self.site, f"{message}: it may wait forever", self.barriers.name)
            clocks.learn(group.rows[lanes], one.told)

    def stuck(self) -> Iterator[Fault]:
        for at, parity, lanes, began in self.asked:
            one = self.barriers.all[at]
            if not self._over(at, parity, began):
                message = (
                    f"waits for phase {one.phase} of {self.barriers.named(at)}: {one.pending} of {one.count} arrivals"
                    f" and "
                    f"{max(one.bytes, 0)} bytes are missing"
                )
                doing = self.group.doing(int(lanes[0]), self.site)
                yield Fault("deadlock", message, doing, self.barriers.name, (at,), count=len(lanes))


def wait(group: GroupLanes, barriers: BarrierGroup, number: Lane, parity: Lane, mask: Mask, site: int) -> Steps:
    """`nvgpu.mbarrier.try_wait.parity`; other groups may run before the test."""
    yield from group.cluster.pause()
    asked: list[tuple[int, int, np.ndarray, int]] = []
    for (at, odd), lanes in by_number(group, mask, number, np.asarray(parity).astype(np.int64)):
        if barriers.usable(at, group, lanes, site):
            asked.append((at, odd & 1, lanes, barriers.all[at].phase))
    request = PhaseWait(group, barriers, asked, site)
    if not request.ready():
        yield request
    request.passed()


def whole(group: GroupLanes, mask: Mask, site: int, what: str) -> None:
    """Records a fault if threads of a warp group are inactive, or have diverged."""
    here: Any = group.full(mask)
    if group.nt != 128 or not here.all():
        group.fault("divergent barrier", here, site, f"not all 128 threads of its warp group are there, which {what}")
