"""Asynchronous copies: what the threads of a batch have started and not waited for yet.

A copy may end at any time between its start and its thread's wait, so it ends at an adversarial one: by a seeded draw
its values arrive when it is started, or its source is read when the thread waits; until then the destination holds what
a reader would notice. Whoever touches the destination meanwhile, or writes the source, is in a race with it. What it
wrote counts as written by its thread when that waits: others see it behind the next barrier.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ....dsl.records import record
from ..values.conversion import beside, typed
from .lanes import Lane, Lanes
from .local_memory import Shared
from .memory import Global
from .shadow import Index, Mask

MISUSED = "the number of elements to read is {0}, of a copy of {1}"


@record(eq=False)
class StartedCopy:
    """One op that a batch has executed.

    Args:
        to, begin: the elements' numbers in both memories; of lanes that read nothing any.
        mask: the lanes whose copy is under way.
        reads: which lanes read anything (None: all); `there`: which elements (None: all), the others are zero.
        group: of each lane, the number of the group that it belongs to.
        late: the source is read when the thread waits.
    """

    target: Shared
    source: Global
    to: np.ndarray
    begin: np.ndarray
    mask: Mask
    reads: np.ndarray | None
    there: np.ndarray | None
    group: int | np.ndarray
    site: int
    late: bool

    @property
    def readers(self) -> Any:
        """The lanes that read the source; False: none."""
        return self.mask if self.reads is None else Lanes.split(self.mask, self.reads)[0]

    def values(self) -> np.ndarray:
        """What the source holds now, zero where nothing is read."""
        found = self.source.data.take(self.begin) if self.source.size else np.zeros((1, 1, 1), self.source.dtype)
        return found if self.there is None else np.where(self.there, found, found.dtype.type(0))


class CopiesUnderWay:
    """Those of one batch; `groups`: how many each lane has made."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.groups: int | np.ndarray = 0
        self.copies: list[StartedCopy] = []
        self.random = np.random.default_rng(lanes.seed)

    @staticmethod
    def of(lanes: Lanes) -> CopiesUnderWay:
        if lanes.copies is None:
            lanes.copies = CopiesUnderWay(lanes)
        return lanes.copies

    def start(self, copy: StartedCopy) -> None:
        """Start it: the source is read, whenever the values arrive, and the target is not to be touched any more."""
        copy = replace(copy, group=self.groups, late=bool(self.random.integers(2)))
        source, readers = copy.source, copy.readers
        if readers is not False:
            source.load(copy.begin, readers, copy.site)
        if source.shadow is not None:
            source.shadow.release()
            source.watched = partial(self._overwrites, source)
        copy.target.begin(copy.to, copy.mask, copy.site)
        values = copy.values()
        copy.target.put(copy.to, noticed(values) if copy.late else values, copy.mask, copy.site)
        self.copies.append(copy)

    def commit(self, mask: Mask) -> None:
        """What the lanes have started since their last group is a group."""
        self.groups = self.groups + (1 if mask is None else self.lanes.full(mask).astype(np.int64))

    def wait(self, most: int, mask: Mask) -> None:
        """The lanes wait until at most so many of their last groups are pending."""
        kept: list[StartedCopy] = []
        for copy in self.copies:
            due: Any = np.less(copy.group, self.groups - most)
            ended, rest = self.lanes.split(copy.mask, due if due.ndim else bool(due))
            if ended is not False and mask is not None:
                ended, waiting = self.lanes.split(ended, mask)
                rest = waiting if rest is False else rest if waiting is False else self.lanes.full(rest) | waiting
            if ended is not False:
                if copy.late:
                    copy.target.put(copy.to, copy.values(), ended, None)
                copy.target.end(copy.to, ended, copy.site)
                if copy.source.shadow is not None and (readers := replace(copy, mask=ended).readers) is not False:
                    copy.source.shadow.end(copy.begin, readers, copy.site, write=False)
            if rest is not False:
                kept.append(replace(copy, mask=rest))
        self.copies = kept

    def _overwrites(self, source: Global, flat: Index, mask: Mask, site: int, write: bool) -> None:
        """A write to global memory meets the copies that may still read there."""
        if not write:
            return
        elements, keys = source.address(flat, mask, site)
        for copy in self.copies:
            if copy.source is not source or copy.readers is False:
                continue
            read, readers = source.address(copy.begin, copy.readers, copy.site)
            order = np.argsort(read, kind="stable")
            at = order[np.searchsorted(read, elements, sorter=order).clip(max=len(read) - 1)]
            if (found := read[at] == elements).any():
                source.report("in-flight", elements[found], readers[at][found], keys[found])


def noticed(values: np.ndarray) -> np.ndarray:
    """What stands in the destination while the values are on their way: NaN, or the inverse of each bit."""
    if values.dtype.kind in "iub":
        return ~values
    return np.full_like(values, np.nan)


# ---- what generated code calls -------------------------------------------------------------------


def start(
    lanes: Lanes, target: Shared, to: Index, at: tuple[Lane, ...], bounds: tuple[int, ...], fine: bool,
    source: Global, begin: Index, indices: tuple[Lane, ...], sizes: tuple[int, ...], inside: bool,
    count: int, read: Lane | None, mask: Mask, site: int,
) -> None:  # fmt: skip
    """A copy of `count` elements, `read` of them read (None: all), to `to`, where indices `at` have so many starts, and
    from `begin`, where `indices` have such sizes. `fine`, `inside`: all lanes are inside of the target, the source."""
    active: Any = mask
    reads, there, more = None, None, count - 1
    if not fine:
        good, active = target.inside(to, active, site, at, bounds, write=True)
        to = _inside(to, good)
    if read is not None:
        amount = np.asarray(typed(read))
        amount = amount if amount.ndim else amount.reshape(1, 1)
        reads, there, more = amount > 0, np.arange(count) < amount[..., None], amount - 1
        active = _expect_count(lanes, amount, count, active, site)
        begin = np.where(there, begin, np.asarray(begin)[..., :1])
    readers, others = (active, False) if reads is None or active is False else lanes.split(active, reads)
    if not inside:
        good: Any = False
        if readers is not False:
            starts = (*sizes[:-1], np.subtract(sizes[-1], more))
            good, readers = source.inside(begin, readers, site, indices, starts, write=False)
        begin = _inside(begin, good if reads is None else good & reads)
        active = others if readers is False else readers if others is False else lanes.full(readers) | others
    if active is not False:
        copy = StartedCopy(target, source, np.asarray(to), np.asarray(begin), active, reads, there, 0, site, False)
        CopiesUnderWay.of(lanes).start(copy)


def _inside(flat: Index, good: Any) -> np.ndarray:
    """Element numbers, 0 in lanes that must not access any."""
    return np.where(beside(good, 1), flat, 0)


def _expect_count(lanes: Lanes, read: np.ndarray, count: int, mask: Any, site: int) -> Any:
    """The lanes of `mask` that read as many elements as a copy has, at most; it is a fault of others."""
    good = (read >= 0) & (read <= count)
    if good.all() or mask is False:
        return mask
    bad = lanes.full(mask) & ~np.broadcast_to(good, lanes.shape)
    if bad.any():
        said = MISUSED.format(int(np.broadcast_to(read, lanes.shape)[bad][0]), count)
        lanes.fault("out-of-bounds read", bad, site, said)
    return lanes.split(mask, good)[0]
