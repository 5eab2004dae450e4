"""The wait at which an asynchronous copy of a thread is complete, by an exact count of commit
groups, in any loops and under any affine conditions.

A copy belongs to the group that its thread commits next, and a wait that leaves n groups pending
waits for all but the n newest. So it waits for a copy if and only if the thread commits more than n
times between the copy and the wait. That is a path:

    copy → commit → … → commit → wait        with n + 1 commits, each after the previous one in the order of the thread

A commit or a wait is left out if it is unknown when it is executed. Then a copy may be assumed to
arrive later than it does, but never earlier.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import islpy as isl

from ....dsl.records import record
from ..kernels.model import Access
from ..solver import Unknown
from .instances import Instances, Point, VagueError


class CopyGroups:
    """The commit groups of a kernel.

    Args:
        instances: the instances of the kernel's ops.

    Attributes:
        vague: the copies that may arrive earlier than is known, by their `flight`.
    """

    def __init__(self, instances: Instances) -> None:
        self.instances = instances
        groups = instances.model.groups
        self.commits = [_Event(Point(e.place, "a group of copies")) for e in groups if e.pending is None]
        self.waits = [_Event(Point(e.place, "a wait for copies"), e.pending) for e in groups if e.pending is not None]
        self.vague = set[int]()
        self._arrived: dict[int, list[tuple[Point, isl.Map]]] = {}
        self._steps: dict[tuple[_Event, _Event], isl.Map | None] = {}

    def arrived(self, copy: Access) -> list[tuple[Point, isl.Map]]:
        """The waits after which a copy has arrived: instances of the copy → instances of each wait."""
        if copy.flight not in self._arrived:
            self._arrived[copy.flight] = list(self._find(copy))
        return self._arrived[copy.flight]

    def _find(self, copy: Access) -> Iterator[tuple[Point, isl.Map]]:
        start = _Event(Point(copy.place, copy.op, sure=False))
        paths: dict[_Event, isl.Map] = {}
        for pending in range(1 + max((wait.pending for wait in self.waits), default=-1)):
            longer: dict[_Event, isl.Map] = {}
            for commit in self.commits:
                found = self._joined(copy, [(start, None)] if pending == 0 else paths.items(), commit)
                if found is not None:
                    longer[commit] = found
            paths = longer
            for wait in self.waits:
                found = self._joined(copy, paths.items(), wait) if wait.pending == pending else None
                if found is not None:
                    yield wait.point, found

    def _joined(self, copy: Access, ways: Iterable[tuple[_Event, isl.Map | None]], end: _Event) -> isl.Map | None:
        """The union of all paths, each extended to `end`; None if there is none."""
        out: isl.Map | None = None
        for middle, way in ways:
            try:
                step = self._step(middle, end)
                if step is None:
                    self.vague.add(copy.flight)
                elif not step.plain_is_empty():
                    further = step if way is None else self.instances.then(way, step)
                    if not self.instances.is_empty(further):
                        out = self.instances.union(out, further)
            except Unknown:
                self.vague.add(copy.flight)
        return out

    def _step(self, first: _Event, second: _Event) -> isl.Map | None:
        """The order between two events of one thread; None if it is unknown when one of them is
        executed. Raises Unknown."""
        if (first, second) not in self._steps:
            try:
                self._steps[first, second] = self.instances.before(first.point, second.point)
            except VagueError:
                self._steps[first, second] = None
        return self._steps[first, second]


@record(eq=False)
class _Event:
    """A copy, a commit, or a wait with the number of groups that it leaves pending."""

    point: Point
    pending: int = 0
