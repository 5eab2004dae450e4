"""Asynchronous copies (`cp.async`) in flight: the threads of a batch have issued them, and have not
waited for them yet.

A copy may complete at any time between its issue and the wait of its thread. The simulator draws
one of the two extremes, by a seed: the source is read at issue, or only at the wait. Until the wait
the destination is poisoned. An access to the destination in this time, or a write to the source, is
a race. The copy counts as a write by its thread at the wait: other threads observe it after the
next barrier.
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
    """The copies that a batch has started by one execution of an op.

    Args:
        to, begin: the numbers of the first elements in the target and in the source; arbitrary for
            lanes that read nothing.
        mask: the lanes with a copy in flight.
        reads: the lanes that read at least one element (None: all).
        there: the elements that are read (None: all); the others are set to zero.
        group: for each lane, the number of the copy's commit group.
        late: the source is read at the wait, not at issue.
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
        """Current values of the source, zero where nothing is read."""
        found = self.source.data.take(self.begin) if self.source.size else np.zeros((1, 1, 1), self.source.dtype)
        return found if self.there is None else np.where(self.there, found, found.dtype.type(0))


class CopiesUnderWay:
    """The copies of one batch that are in flight. `groups`: the number of commit groups of each
    lane so far."""

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
        """Records a copy: from now on its source is being read, and its target must not be
        accessed."""
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
        """Commits all copies of the lanes since their last commit as a group."""
        self.groups = self.groups + (1 if mask is None else self.lanes.full(mask).astype(np.int64))

    def wait(self, most: int, mask: Mask) -> None:
        """Makes the lanes wait until at most `most` of their newest groups are pending."""
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
        """Reports races of a write to global memory with copies that may still read the element."""
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
    """Poison in the destination until the copy lands: NaN, or the inverse of each bit."""
    if values.dtype.kind in "iub":
        return ~values
    return np.full_like(values, np.nan)


# ---- what generated code calls -------------------------------------------------------------------


def start(
    lanes: Lanes, target: Shared, to: Index, at: tuple[Lane, ...], bounds: tuple[int, ...], fine: bool,
    source: Global, begin: Index, indices: tuple[Lane, ...], sizes: tuple[int, ...], inside: bool,
    count: int, read: Lane | None, mask: Mask, site: int,
) -> None:  # fmt: skip
    """Issues a copy of `count` elements, of which `read` come from the source (None: all), and the
    others are zero. The target begins at element `to` (indices `at`, with their `bounds`), the
    source at element `begin` (`indices`, with their `sizes`). `fine`, `inside`: all lanes are known
    to be in bounds of the target, and of the source."""
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
    """The numbers of elements, with 0 in lanes that must not access an element."""
    return np.where(beside(good, 1), flat, 0)


def _expect_count(lanes: Lanes, read: np.ndarray, count: int, mask: Any, site: int) -> Any:
    """The lanes of `mask` that read at most `count` elements; records a fault for the others."""
    good = (read >= 0) & (read <= count)
    if good.all() or mask is False:
        return mask
    bad = lanes.full(mask) & ~np.broadcast_to(good, lanes.shape)
    if bad.any():
        message = MISUSED.format(int(np.broadcast_to(read, lanes.shape)[bad][0]), count)
        lanes.fault("out-of-bounds read", bad, site, message)
    return lanes.split(mask, good)[0]
