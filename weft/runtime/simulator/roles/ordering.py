"""Shadow memory of kernels with memory barriers: the last accesses of each element, ordered by
vector clocks.

For each element it keeps the last write; and for each warp group, and each kind of operation that
the group has issued, the last read and another read that is not ordered before it. An access is one
number (`KeyLayout`): the epoch of a row, the cluster, the row, the site. It happens before another
access of its cluster if the row of that access has acquired its epoch; it is unordered with
accesses of other clusters. If an agent reads or overwrites an element through the async proxy, an
ordinary store to the element must also be fenced. In two cases completion in time suffices: a read
by a product before a write, and a box that arrives before another box.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from ...devices.report import RaceKind
from ..machine.shadow import Address, Index, KeyLayout, Mask
from .clocks import SHARED, VectorClocks

Elements = np.ndarray | slice
Found = Callable[[RaceKind, np.ndarray, np.ndarray, np.ndarray], None]
Unfenced = Callable[[np.ndarray, np.ndarray, np.ndarray], None]


class OrderedMemory:
    """Shadow memory of one buffer.

    Args:
        atomics: the sites of atomic accesses, which never race with each other.
    """

    def __init__(self, size: int, layout: KeyLayout, atomics: frozenset[int]) -> None:
        self.size, self.layout, self.atomics = size, layout, atomics
        self.writer: np.ndarray | None = None
        self.readers: dict[Hashable, list[np.ndarray]] = {}
        self.updaters: dict[Hashable, list[np.ndarray]] = {}

    def fresh(self) -> np.ndarray:
        return np.full(self.size, -1, dtype=np.int64)


class ClockShadow:
    """A warp group's view of `OrderedMemory`, with the interface of `Shadow`.

    Args:
        clocks: the clocks of the cluster.
        cluster: its number.
        group: the warp group's number.
        address: gives the flat element numbers and the keys of the lanes of an access.
        found: receives races: the kind, the elements, and the keys of the first and of
            the second accesses.
        unfenced: receives accesses through the async proxy after unfenced stores: the
            elements, the keys of the stores, and those of the accesses.
        space: the memory's address space.
    """

    def __init__(
        self, memory: OrderedMemory, clocks: VectorClocks, cluster: int, group: Hashable, address: Address, found: Found,
        unfenced: Unfenced, space: str,
    ) -> None:  # fmt: skip
        self.memory, self.clocks, self.cluster, self.group = memory, clocks, cluster, group
        self.address, self.found, self.unfenced = address, found, unfenced
        self.layout, self.space = memory.layout, space

    # ---- what lanes do ----------------------------------------------------------------------------------------------

    def repeats(self, flat: Index, mask: Mask, site: int, write: bool) -> bool:
        """False: every access is recorded."""
        return False

    def read(self, flat: Index, mask: Mask, site: int) -> None:
        memory = self.memory
        if site in memory.atomics:
            return  # the write that follows subsumes it
        elements, keys = self.address(flat, mask, site)
        self._check_writer("RAW", elements, keys)
        self._check_others("RAW", memory.updaters, elements, keys)
        self._enter(memory.readers, self.group, elements, keys)

    def write(self, flat: Index, mask: Mask, site: int) -> None:
        memory, (elements, keys) = self.memory, self.address(flat, mask, site)
        self._check_writer("WAW", elements, keys)
        self._check_others("WAR", memory.readers, elements, keys)
        if site in memory.atomics:
            self._enter(memory.updaters, self.group, elements, keys)
            return
        self._check_others("WAW", memory.updaters, elements, keys)
        writer = self._writer()
        writer[elements] = keys
        won = writer.take(elements)
        self._emit("WAW", elements, won, keys, won != keys)

    def barrier(self, everyone: bool) -> None:
        """Nothing to do: the clocks hold the order."""

    def release(self) -> None:
        """Nothing to do: no access is delayed."""

    flush = release

    # ---- what asynchronous operations do: `key` is that of all of their elements -----------------

    def operation_reads(self, elements: Elements, key: int) -> None:
        if self.memory.writer is not None:
            old = self.memory.writer[elements]
            self._expect_fenced(elements, old, key, self._compare("RAW", elements, old, key))
        self._compare_others("RAW", self.memory.updaters, elements, key)
        kind = self.clocks.kind(int(self.layout.threads_of(key)))
        last, other = self.memory.readers.setdefault((kind, self.group), [self.memory.fresh(), self.memory.fresh()])
        before = last[elements]
        kept = self._unordered(before, key)
        if kept.any():
            other[elements] = np.where(kept, before, other[elements])
        last[elements] = key

    def operation_writes(self, elements: Elements, key: int) -> None:
        if self.memory.writer is not None:
            old = self.memory.writer[elements]
            boxes = self.space == SHARED and self.layout.threads_of(old) >= self.clocks.threads
            self._expect_fenced(elements, old, key, self._compare("WAW", elements, old, key, boxes))
        self._compare_others("WAR", self.memory.readers, elements, key)
        self._compare_others("WAW", self.memory.updaters, elements, key)
        self._writer()[elements] = key

    def _expect_fenced(self, elements: Elements, old: np.ndarray, key: int, unordered: np.ndarray) -> None:
        """Reports operations that follow an ordinary store of a thread without a fence."""
        stored = (old >= 0) & ~unordered & (self.layout.threads_of(old) < self.clocks.threads)
        if stored.any():
            row, ours = int(self.layout.threads_of(key)), self._ours(old)
            agents = self.layout.threads_of(np.maximum(old, 0))
            fenced = self.clocks.fenced[self.space][row].take(agents, mode="clip") >= (old >> self.layout.interval)
            if (bad := stored & ours & ~fenced).any():
                self.unfenced(self._numbers(elements)[bad], old[bad], np.full(int(bad.sum()), key))

    # ---- order -----------------------------------------------------------------------------------

    def _writer(self) -> np.ndarray:
        if self.memory.writer is None:
            self.memory.writer = self.memory.fresh()
        return self.memory.writer

    def _ours(self, keys: np.ndarray) -> Any:
        """A mask of keys of this cluster (all, for shared memory)."""
        return self.layout.blocks_of(keys) == self.cluster if self.layout.block else np.True_

    def _unordered(self, old: np.ndarray, new: np.ndarray | int, lasting: np.ndarray | bool = False) -> np.ndarray:
        """A mask of unordered pairs. The key -1 (no access) is ordered with every access.
        `lasting`: the old accesses for which completion in time suffices."""
        layout, known = self.layout, self.clocks.known[self.space]
        agents = np.minimum(layout.threads_of(old), len(known) - 1)
        row = layout.threads_of(new)
        at = _from(known, row, agents)
        if np.any(lasting):
            at = np.where(lasting, _from(self.clocks.over, row, agents), at)
        return (old >= 0) & ((at < old >> layout.interval) | ~self._ours(old))

    def _enter(
        self, table: dict[Hashable, list[np.ndarray]], group: Hashable, elements: np.ndarray, keys: np.ndarray
    ) -> None:
        last, other = table.setdefault(group, [self.memory.fresh(), self.memory.fresh()])
        before = last.take(elements)
        last[elements] = keys
        now = last.take(elements)
        for one in (before, keys):
            kept = self._unordered(one, now) & (one != now)
            if kept.any():
                other[elements[kept]] = one[kept]

    def _check_writer(self, kind: RaceKind, elements: np.ndarray, keys: np.ndarray) -> None:
        if self.memory.writer is not None:
            old = self.memory.writer.take(elements)
            self._emit(kind, elements, old, keys, self._unordered(old, keys))

    def _check_others(
        self, kind: RaceKind, table: dict[Hashable, list[np.ndarray]], elements: np.ndarray, keys: np.ndarray
    ) -> None:
        for agents, slots in table.items():
            for slot in slots:
                old = slot.take(elements)
                self._emit(kind, elements, old, keys, self._unordered(old, keys, _by_products(agents)))

    def _emit(self, kind: RaceKind, elements: np.ndarray, old: np.ndarray, new: np.ndarray, bad: np.ndarray) -> None:
        if bad.any():
            self.found(kind, elements[bad], old[bad], new[bad])

    def _compare(
        self, kind: RaceKind, elements: Elements, old: np.ndarray, key: int, lasting: np.ndarray | bool = False
    ) -> np.ndarray:
        bad = self._unordered(old, key, lasting)
        if bad.any():
            self.found(kind, self._numbers(elements)[bad], old[bad], np.full(int(bad.sum()), key))
        return bad

    def _compare_others(
        self, kind: RaceKind, table: dict[Hashable, list[np.ndarray]], elements: Elements, key: int
    ) -> None:
        for agents, slots in table.items():
            for old in (slot[elements] for slot in slots):
                unordered = self._compare(kind, elements, old, key, _by_products(agents))
                if table is self.memory.updaters:  # they are ordinary stores, too
                    self._expect_fenced(elements, old, key, unordered)

    def _numbers(self, elements: Elements) -> np.ndarray:
        return np.arange(self.memory.size)[elements]


def _by_products(agents: Hashable) -> bool:
    """Whether an entry of the table holds reads by products."""
    return isinstance(agents, tuple) and agents[0] == "product"


def _from(table: np.ndarray, row: Any, agents: np.ndarray) -> np.ndarray:
    """The epochs of `agents` that a row, or each of several rows, has acquired."""
    return table[row].take(agents) if np.ndim(row) == 0 else table[row, agents]
