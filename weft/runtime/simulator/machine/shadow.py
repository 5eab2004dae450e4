"""Shadow memory: the last accesses of each element, precise enough to miss no race.

For each element it keeps the last writer; the last reader, and another reader of the interval; and
for global memory, a reader of another block than the last reader's. Two readers suffice: a write
conflicts with any reader other than its own thread, and one of two distinct readers is not the
writer. This is FastTrack's idea (Flanagan, Freund, PLDI 2009) with barrier intervals for clocks.

An access is one 64-bit key: barrier interval | block | turn | thread | site. Two accesses are
unordered if they are from different blocks, or from different threads of one block in the same
interval. There is one exception: a barrier of a warp orders the accesses of threads of the warp;
the turn counts these barriers. In kernels with warp barriers, a reader of another warp than the
last reader's is kept, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ....dsl.records import record
from ....interpreter.hardware.limits import WARP
from ...devices.report import RaceKind

MOST_PENDING = 64
"""Pending reads that are kept before they are entered in the shadow; a barrier in between makes
that unnecessary."""

Index = int | np.integer | np.ndarray
Mask = np.ndarray | None
Address = Callable[[Index, Mask, int], tuple[np.ndarray, np.ndarray]]
Report = Callable[[RaceKind, np.ndarray, np.ndarray, np.ndarray], None]


@record
class KeyLayout:
    """The numbers of bits in a key. `block`: 0 for shared memory, which belongs to one block;
    `turn`: 0 without warp barriers."""

    site: int
    thread: int
    block: int
    turn: int = 0

    @property
    def turns(self) -> int:
        """The first bit of the turn."""
        return self.site + self.thread

    @property
    def blocks(self) -> int:
        """The first bit of the block."""
        return self.turns + self.turn

    @property
    def interval(self) -> int:
        """The first bit of the interval."""
        return self.blocks + self.block

    def threads_of(self, keys: Any) -> Any:
        return (keys >> self.site) & ((1 << self.thread) - 1)

    def blocks_of(self, keys: Any) -> Any:
        return (keys >> self.blocks) & ((1 << self.block) - 1)

    def sites_of(self, keys: Any) -> Any:
        return keys & ((1 << self.site) - 1)

    def unordered(self, old: np.ndarray, new: np.ndarray) -> np.ndarray:
        """A mask of unordered pairs. The key -1 (no access) is ordered with every access."""
        found = self.beside(old, new)
        return found | self.elsewhere(old, new) if self.block else found

    def beside(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """A mask of pairs of two threads of a block, in the same interval, and of one warp in the
        same turn."""
        if self.turn:
            return self.in_warp(one, other) | self.in_block(one, other)
        differ = (one ^ other) >> self.site
        return (differ > 0) & (differ < (1 << self.thread))

    def in_warp(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """A mask of pairs of two threads of a warp, in the same interval and turn."""
        differ = (one ^ other) >> self.site
        return (differ > 0) & (differ < WARP)

    def in_block(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """A mask of pairs of two warps of a block, in the same interval."""
        differ = (one ^ other) >> self.site
        return (differ > 0) & (differ < (1 << (self.thread + self.turn))) & (differ & ((1 << self.thread) - 1) >= WARP)

    def elsewhere(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """A mask of pairs of two blocks."""
        return (one >= 0) & (self.blocks_of(one ^ other) != 0)


class Slots:
    """For each element, up to four accesses that represent a set of accesses without conflicts
    among them.

    They are the last access; an access of another thread of the same block in the same interval
    (with turns: one of the same warp in the same turn, and one of another warp); and an access of
    another block. An access that conflicts with any access of the set conflicts with one of these.
    """

    def __init__(self, layout: KeyLayout) -> None:
        self.layout = layout
        self.kinds = [layout.in_warp, layout.in_block] if layout.turn else [layout.beside]
        self.kinds += [layout.elsewhere] if layout.block else []
        self.slots: list[np.ndarray] = []
        self.used = False

    def enter(self, size: int, elements: np.ndarray, keys: np.ndarray) -> None:
        if not self.slots:
            self.slots = [np.full(size, -1, dtype=np.int64) for _ in range(1 + len(self.kinds))]
        self.used = True
        last = self.slots[0]
        before = last.take(elements)
        last[elements] = keys
        now = last.take(elements)
        self._keep(elements, before, now)
        self._keep(elements, keys, now)

    def _keep(self, elements: np.ndarray, other: np.ndarray, last: np.ndarray) -> None:
        """Keeps the accesses `other` that the accesses `last` do not represent."""
        for slot, differs in zip(self.slots[1:], self.kinds, strict=True):
            kept = differs(other, last)
            if kept.any():
                slot[elements[kept]] = other[kept]


@dataclass(eq=False)
class Shadow:
    """The shadow of one buffer.

    Args:
        size: elements.
        layout: the layout of the keys.
        address: gives the flat element numbers and the keys of the lanes of an access (flat index,
            mask, site).
        report: receives the kind, the elements, and the keys of the first and of the second
            accesses.
        atomics: the sites of atomic accesses, which never race with each other.
    """

    size: int
    layout: KeyLayout
    address: Address
    report: Report
    atomics: frozenset[int]
    writer: np.ndarray | None = None
    wrote: bool = False
    pending: list[tuple[Index, Mask, int]] = field(default_factory=list)
    held: tuple[Index, Mask] | None = None
    repeated: dict[bool, int] = field(default_factory=dict)
    """The site that last repeated the held access, for reads and for writes."""

    def __post_init__(self) -> None:
        self.readers, self.updaters = Slots(self.layout), Slots(self.layout)  # updaters: atomics

    def repeats(self, flat: Index, mask: Mask, site: int, write: bool) -> bool:
        """Whether the access needs no check, because each lane accesses again the element that it
        has just written.

        As long as no other access touches the buffer, such an access conflicts only with accesses
        with which the first write has conflicted. It is entered later, when another access comes or
        the interval ends.
        """
        if self.held is None or site in self.atomics:
            return False
        if not (_same(flat, self.held[0]) and _same(mask, self.held[1])):
            return False
        self.repeated[write] = site
        return True

    def settle(self) -> None:
        """Enters the repetitions of the held access (see `repeats`)."""
        if self.held is not None and self.repeated:
            for write, site in self.repeated.items():
                elements, keys = self.address(*self.held, site)
                if write and self.writer is not None:
                    self.writer[elements] = keys
                    self.wrote = True
                else:
                    self.readers.enter(self.size, elements, keys)
            self.repeated = {}

    def release(self) -> None:
        """Ends the held access: another access touches the buffer, or the lanes change."""
        self.settle()
        self.held = None

    def read(self, flat: Index, mask: Mask, site: int) -> None:
        if site in self.atomics:
            return  # the write that follows subsumes it
        self.release()
        if self.wrote or self.updaters.used:
            elements, keys = self.address(flat, mask, site)
            self._check_writer("RAW", elements, keys)
            self._check_slots("RAW", self.updaters, elements, keys)
        self._wait(flat, mask, site)

    def _wait(self, flat: Index, mask: Mask, site: int) -> None:
        self.pending.append((flat, mask, site))
        if len(self.pending) >= MOST_PENDING:
            self.flush()

    def write(self, flat: Index, mask: Mask, site: int) -> None:
        elements, keys, met = self.meet(flat, mask, site)
        if site in self.atomics:
            self.updaters.enter(self.size, elements, keys)
            return
        won = self._enter(elements, keys)
        met |= self._emit("WAW", elements, won, keys, won != keys)
        if not met:
            self.held = (flat, mask)

    def meet(self, flat: Index, mask: Mask, site: int) -> tuple[np.ndarray, np.ndarray, bool]:
        """Checks a write against earlier accesses, without entering it. Returns its elements, its
        keys, and whether it races."""
        self.release()
        self.flush()
        elements, keys = self.address(flat, mask, site)
        met = self._check_writer("WAW", elements, keys)
        met |= self._check_slots("WAR", self.readers, elements, keys)
        if site not in self.atomics:
            met |= self._check_slots("WAW", self.updaters, elements, keys)
        return elements, keys, met

    def _enter(self, elements: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Enters a write, as the last one of each element."""
        if self.writer is None:
            self.writer = np.full(self.size, -1, dtype=np.int64)
        self.writer[elements] = keys
        self.wrote = True
        return self.writer.take(elements)

    def end(self, flat: Index, mask: Mask, site: int, write: bool) -> None:
        """Enters the access of an asynchronous copy when the copy ends; it was checked when the
        copy was issued."""
        self.release()
        if write:
            self._enter(*self.address(flat, mask, site))
        else:
            self._wait(flat, mask, site)

    def barrier(self, everyone: bool) -> None:
        """Must run before a barrier ends the interval. `everyone`: the barrier orders all
        earlier accesses before all later ones."""
        if everyone:
            self.pending.clear()
            self.held, self.repeated = None, {}
            self.wrote = self.readers.used = self.updaters.used = False
        else:
            self.settle()
            self.flush()

    def flush(self) -> None:
        """Enters the pending reads."""
        pending, self.pending = self.pending, []
        for flat, mask, site in pending:
            # Addressing may widen the shadow: it comes before the size is read.
            elements, keys = self.address(flat, mask, site)
            self.readers.enter(self.size, elements, keys)

    def widen(self, copies: int) -> None:
        """Gives each element `copies` shadows: from now on each block has its own, instead of one
        for all blocks."""
        self.size *= copies
        if self.writer is not None:
            self.writer = np.repeat(self.writer, copies)
        for group in (self.readers, self.updaters):
            group.slots = [np.repeat(slot, copies) for slot in group.slots]

    def _check_writer(self, kind: RaceKind, elements: np.ndarray, keys: np.ndarray) -> bool:
        return self.wrote and self.writer is not None and self._check(kind, self.writer, elements, keys)

    def _check_slots(self, kind: RaceKind, group: Slots, elements: np.ndarray, keys: np.ndarray) -> bool:
        return group.used and any(self._check(kind, slot, elements, keys) for slot in group.slots)

    def _check(self, kind: RaceKind, slot: np.ndarray, elements: np.ndarray, keys: np.ndarray) -> bool:
        old = slot.take(elements)
        return self._emit(kind, elements, old, keys, self.layout.unordered(old, keys))

    def _emit(self, kind: RaceKind, elements: np.ndarray, old: np.ndarray, new: np.ndarray, found: np.ndarray) -> bool:
        if not found.any():
            return False
        self.report(kind, elements[found], old[found], new[found])
        return True


def _same(a: Index | Mask, b: Index | Mask) -> bool:
    return a is b or (a is not None and b is not None and np.shape(a) == np.shape(b) and bool(np.all(a == b)))
