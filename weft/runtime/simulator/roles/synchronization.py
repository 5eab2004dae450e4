"""Points at which threads synchronize: the arms of a branch, barriers of a block, and barriers of a
cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from ....dsl.records import record
from ....interpreter.hardware.limits import NUMBERED, WARP
from ...devices.report import Fault
from ..machine.lanes import Lane
from ..machine.shadow import Mask
from ..machine.warp import whole_warps
from .cluster import GroupLanes
from .schedule import Steps

AtBarrier = TypeVar("AtBarrier", bound="BlockBarrier | NumberedBarrier")


def fork(lanes: GroupLanes, *arms: tuple[Any, Callable[[], Steps]]) -> Steps:
    """Runs, concurrently, the arms of a branch that have lanes."""
    yield from lanes.cluster.split([arm() for mask, arm in arms if mask is not False])


def _there(one: AtBarrier) -> list[AtBarrier]:
    """The lanes of the same block that wait at a barrier of the same kind, and have not passed
    it."""
    found = (other.waits for other in one.group.cluster.coroutines)
    return [w for w in found if isinstance(w, type(one)) and w.group.home is one.group.home and not w.passed]


@dataclass(eq=False)
class BlockBarrier:
    """Lanes of a group at a barrier of their block."""

    releases: ClassVar[bool] = True
    group: GroupLanes
    mask: Mask
    site: int
    spaces: Sequence[str]
    passed: bool = False

    def ready(self) -> bool:
        here = [] if self.passed else _there(self)
        if (
            sum(len(w.group.active(w.mask)) for w in here) == self.group.cluster.threads
            and len({w.site for w in here}) == 1
        ):
            self._pass(here)
        return self.passed

    @staticmethod
    def _pass(here: Sequence[BlockBarrier]) -> None:
        rows = np.concatenate([w.group.rows[w.group.active(w.mask)] for w in here])
        clocks = here[0].group.cluster.clocks
        clocks.learn(rows, clocks.told(rows), here[0].spaces)
        for w in here:
            w.passed = True

    def stuck(self) -> Iterator[Fault]:
        if self.passed:
            return
        group, here = self.group, _there(self)
        there = {int(t) for w in here if w.site == self.site for t in w.group.threads[w.group.active(w.mask)]}
        (missing, *_) = sorted(set(range(group.cluster.threads)) - there) or [0]
        absent = group.access(self.site, missing, group.home.number).thread
        doing = group.doing(int(group.active(self.mask)[0]), self.site)
        message = f"thread {absent} of its block does not reach this barrier together with it"
        yield Fault("divergent barrier", message, doing, count=len(there))
        self._pass([w for w in here if w.site == self.site])


def barrier(lanes: GroupLanes, mask: Mask, spaces: Sequence[str], site: int) -> Steps:
    """`gpu.barrier`."""
    lanes.executed = lanes.executed + 1
    yield BlockBarrier(lanes, mask, site, spaces)


# ---- barriers with a number ----------------------------------------------------------------------


@dataclass(eq=False)
class NumberedBarrier:
    """Lanes of a group at a named barrier of the block, at which a given number of threads meet."""

    releases: ClassVar[bool] = False
    group: GroupLanes
    mask: Mask
    number: int
    count: int
    site: int
    passed: bool = False

    def here(self) -> list[NumberedBarrier]:
        """The lanes that have arrived."""
        return [w for w in _there(self) if w.number == self.number]

    @property
    def rows(self) -> np.ndarray:
        return self.group.rows[self.group.active(self.mask)]

    def ready(self) -> bool:
        here = [] if self.passed else self.here()
        if sum(len(w.rows) for w in here) >= self.count:
            clocks, rows = self.group.cluster.clocks, np.concatenate([w.rows for w in here])
            home, before = self.group.home, self.group.home.met.get(self.number)
            if before is not None and len(late := clocks.strangers(rows, before)):
                late_one = next(w for w in here if rows[late[0]] in w.rows)
                lane = int(np.flatnonzero(late_one.group.rows == rows[late[0]])[0])
                message = (
                    f"nothing orders it after others that have met at barrier {self.number}: it might be one of them"
                )
                self.group.cluster.fault("divergent barrier", late_one.group, lane, late_one.site, message)
            home.met[self.number] = told = clocks.told(rows)
            clocks.learn(rows, told)
            if len(rows) > self.count or len({w.count for w in here}) > 1:
                message = f"{len(rows)} threads meet at barrier {self.number}, which is for {self.count}"
                lane = int(self.group.active(self.mask)[0])
                self.group.cluster.fault("divergent barrier", self.group, lane, self.site, message)
            for w in here:
                w.passed = True
        return self.passed

    def stuck(self) -> Iterator[Fault]:
        arrived, lanes = sum(len(w.rows) for w in self.here()), self.group.active(self.mask)
        message = f"waits at barrier {self.number}, where {arrived} of {self.count} threads have arrived"
        yield Fault("deadlock", message, self.group.doing(int(lanes[0]), self.site), count=len(lanes))


def numbered_barrier(group: GroupLanes, number: Lane, count: Lane | None, mask: Mask, site: int) -> Steps:
    """`nvvm.barrier`; without a count, all threads of the block."""
    whole_warps(group, mask, site)
    at = group.same(number, mask, "barriers", site)
    most = group.cluster.threads if count is None else group.same(count, mask, "counts", site)
    if not 0 <= at < NUMBERED or most % WARP or not 0 < most <= group.cluster.threads:
        message = f"barrier {at} for {most} threads: a block has {NUMBERED}, each for whole warps of it"
        group.cluster.fault("divergent barrier", group, int(group.active(mask)[0]), site, message)
        return
    yield NumberedBarrier(group, mask, at, most, site)


# ---- clusters ------------------------------------------------------------------------------------


@record(eq=False)
class ClusterWait:
    """Lanes that have arrived, and wait for the other lanes of their cluster."""

    releases: ClassVar[bool] = False
    group: GroupLanes
    mask: Mask
    site: int

    @property
    def rows(self) -> list[int]:
        return self.group.rows[self.group.active(self.mask)].tolist()

    def ready(self) -> bool:
        meeting = self.group.cluster.meeting
        return all(meeting.generation >= meeting.arrivals[row] for row in self.rows)

    def passed(self) -> None:
        meeting = self.group.cluster.meeting
        self.group.cluster.clocks.learn(np.array(self.rows), meeting.told)
        meeting.waits.update(self.rows)

    def stuck(self) -> Iterator[Fault]:
        cluster, lanes = self.group.cluster, self.group.active(self.mask)
        message = (
            f"waits for its cluster, of which {cluster.meeting.count} of {cluster.clocks.threads} threads have arrived"
        )
        yield Fault("deadlock", message, self.group.doing(int(lanes[0]), self.site), count=len(lanes))


def arrive(group: GroupLanes, ordering: bool, mask: Mask, site: int) -> None:
    """`nvvm.cluster.arrive`; a relaxed one orders nothing."""
    cluster, meeting = group.cluster, group.cluster.meeting
    rows = group.rows[group.active(mask)]
    ahead = [row for row in rows.tolist() if meeting.arrivals[row] > meeting.waits[row]]
    if ahead:
        lane = int(np.flatnonzero(group.rows == ahead[0])[0])
        message = "arrives at its cluster's barrier again before it has waited"
        cluster.fault("mbarrier misuse", group, lane, site, message)
    meeting.arrivals.update(rows.tolist())
    meeting.count += len(rows)
    if ordering:
        meeting.gathering = cluster.clocks.told(rows).joined(meeting.gathering)
    if meeting.count >= cluster.clocks.threads:
        meeting.count, meeting.generation = 0, meeting.generation + 1
        meeting.told, meeting.gathering = meeting.gathering, None


def wait(group: GroupLanes, mask: Mask, site: int) -> Steps:
    """`nvvm.cluster.wait`."""
    meeting, lanes = group.cluster.meeting, group.active(mask)
    for lane in lanes[[meeting.waits[row] >= meeting.arrivals[row] for row in group.rows[lanes].tolist()]][:1]:
        message = "waits at its cluster's barrier, where it has not arrived"
        group.cluster.fault("mbarrier misuse", group, int(lane), site, message)
    request = ClusterWait(group, mask, site)
    yield request
    request.passed()
