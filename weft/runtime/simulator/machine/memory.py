"""Checks that global and workgroup memory share: bounds, initialization, shadow memory; and global
memory itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ....dsl.records import record
from ...devices.report import FaultKind, Kind, Race, RaceKind, Site, Traffic, out_of_bounds
from ..values.conversion import beside
from .lanes import Lane, Lanes, first_lane
from .shadow import Index, KeyLayout, Mask, Shadow
from .traffic import TrafficTally

MISALIGNED = "a vector access must start at a multiple of its size (at most 16 bytes)"


@record
class MemoryWindow:
    """The name, offset, shape and strides of an argument or allocation: they map indices to numbers
    of elements in memory."""

    name: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def whole(cls, name: str, shape: tuple[int, ...]) -> MemoryWindow:
        """The whole buffer, row-major."""
        return cls(name, 0, shape, tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape))))

    @property
    def end(self) -> int:
        """The number of the first element after the window."""
        reach = (max((n - 1) * stride, 0) for n, stride in zip(self.shape, self.strides, strict=True))
        return self.offset + sum(reach) + 1 if 0 not in self.shape else 0

    def element(self, flat: int) -> tuple[int, ...] | None:
        """The indices of element `flat` of the memory, or None if it lies outside the window."""
        rest = (
            flat
            - self.offset
            - sum((n - 1) * stride for n, stride in zip(self.shape, self.strides, strict=True) if stride < 0)
        )
        found = [0] * len(self.shape)
        for axis in sorted(range(len(self.shape)), key=lambda a: -abs(self.strides[a])):
            last, stride = self.shape[axis] - 1, self.strides[axis]
            if stride:
                found[axis] = max(0, min(rest // abs(stride), last))
                rest -= found[axis] * abs(stride)
                found[axis] = found[axis] if stride > 0 else last - found[axis]
        return tuple(found) if rest == 0 and 0 not in self.shape else None


class Memory:
    """A buffer, with the accesses that generated code makes.

    `load` and `store` take a flat element number that is in bounds in every lane: a scalar, or an
    array that broadcasts to the lanes. Their `_checked` forms take indices and bounds, and check
    them.
    """

    space = "private"

    def __init__(self, windows: list[MemoryWindow], dtype: np.dtype, size: int) -> None:
        self.windows = windows
        self.dtype = dtype
        self.size = size
        self.lanes: Lanes

    @property
    def name(self) -> str:
        return self.windows[0].name

    def element(self, flat: int) -> tuple[str, tuple[int, ...]]:
        """The name of the first window that contains an element, and the element's indices in
        it."""
        for window in self.windows:
            found = window.element(flat)
            if found is not None:
                return window.name, found
        return self.name, (flat,)

    def fault(self, kind: FaultKind, bad: np.ndarray, site: int, flat: int, message: str) -> None:
        """Records a fault of the lanes `bad` at an element."""
        name, element = self.element(flat)
        self.lanes.fault(kind, bad, site, f"`{name}`{list(element)}{message}", name, element)

    @property
    def poison(self) -> np.generic:
        """The value of a faulty read."""
        return poison_of(self.dtype)

    def load(self, flat: Index, mask: Mask, site: int) -> Lane:
        raise NotImplementedError

    def store(self, flat: Index, value: Lane, mask: Mask, site: int) -> None:
        raise NotImplementedError

    def barrier(self, everyone: bool) -> None:
        """Called before a barrier that orders this space ends the interval."""

    def load_checked(
        self, flat: Index, mask: Mask, site: int, indices: tuple[Lane, ...], bounds: tuple[int, ...]
    ) -> Lane:
        good, active = self.inside(flat, mask, site, indices, bounds, write=False)
        rank = max(np.ndim(flat) - 2, 0)
        if active is False:
            return np.full((1, 1, *np.shape(flat)[2:]), self.poison, self.dtype) if rank else self.poison
        value = self.load(np.where(beside(good, rank), flat, 0), active, site)
        return np.where(beside(good, rank), value, self.poison)

    def store_checked(
        self, flat: Index, value: Lane, mask: Mask, site: int, indices: tuple[Lane, ...], bounds: tuple[int, ...]
    ) -> None:
        good, active = self.inside(flat, mask, site, indices, bounds, write=True)
        if active is not False:
            self.store(np.where(beside(good, max(np.ndim(flat) - 2, 0)), flat, 0), value, active, site)

    def aligned(self, flat: Index, mask: Mask, site: int, elements: int) -> None:
        """Records a fault if the access of an active lane does not begin at a multiple of
        `elements`."""
        wrong = np.remainder(flat, elements) != 0
        if wrong.any():
            bad = np.broadcast_to(wrong, self.lanes.shape) & self.lanes.full(mask)
            if bad.any():
                at = np.broadcast_to(flat, self.lanes.shape)[first_lane(bad)]
                self.fault("misaligned access", bad, site, int(at), f": {MISALIGNED}")

    def inside(
        self, flat: Index, mask: Mask, site: int, indices: tuple[Lane, ...], bounds: tuple[Lane, ...], write: bool
    ) -> tuple[Any, Any]:
        """The lanes with indices in bounds, and the mask of those that are also active (None: all,
        False: none)."""
        lanes = self.lanes
        good: Any = np.bool_(True)
        for index, bound in zip(indices, bounds, strict=True):
            good = good & np.greater_equal(index, 0) & np.less(index, bound)
        rank = max(np.ndim(flat) - 2, 0)
        axes = tuple(range(2, 2 + rank))
        low, high = (np.min(flat, axes), np.max(flat, axes)) if rank else (flat, flat)
        good = good & np.greater_equal(low, 0) & np.less(high, self.size)
        bad = lanes.full(mask) & ~np.broadcast_to(good, lanes.shape)
        if bad.any():
            row, column = first_lane(bad)
            at = tuple(int(np.broadcast_to(index, lanes.shape)[row, column]) for index in indices)
            limits = [int(np.broadcast_to(bound, lanes.shape)[row, column]) for bound in bounds]
            message = out_of_bounds(at, self.name, limits)
            lanes.fault("out-of-bounds write" if write else "out-of-bounds read", bad, site, message, self.name, at)
        taken, _ = lanes.split(mask, good if isinstance(good, np.ndarray) and good.ndim else bool(good))
        return good, taken


class Tracked(Memory):
    """Memory that several threads access: it has a shadow, and records which elements were written."""

    def __init__(self, windows: list[MemoryWindow], dtype: np.dtype, size: int) -> None:
        super().__init__(windows, dtype, size)
        self.shadow: Shadow | None = None
        self.written: np.ndarray | None = None  # None: all of them
        self.layout: KeyLayout
        # called for every access (flat index, mask, site, whether it writes) while asynchronous copies are in flight
        self.watched: Callable[[Index, Mask, int, bool], None] | None = None

    def address(self, flat: Index, mask: Mask, site: int) -> tuple[np.ndarray, np.ndarray]:
        """The positions in shadow memory and the keys of the active lanes, as one-dimensional
        arrays."""
        raise NotImplementedError

    def note_read(self, flat: Index, mask: Mask, site: int) -> None:
        if self.shadow is not None and self.shadow.repeats(flat, mask, site, write=False):
            return
        if self.watched is not None:
            self.watched(flat, mask, site, False)
        if self.written is not None:
            self._check_written(flat, mask, site)
        if self.shadow is not None:
            self.shadow.read(flat, mask, site)

    def note_write(self, flat: Index, mask: Mask, site: int) -> None:
        if self.shadow is not None and self.shadow.repeats(flat, mask, site, write=True):
            return
        if self.watched is not None:
            self.watched(flat, mask, site, True)
        if self.shadow is not None:
            self.shadow.write(flat, mask, site)
        if self.written is not None:
            self.written[self.address(flat, mask, site)[0]] = True

    def _check_written(self, flat: Index, mask: Mask, site: int) -> None:
        elements, keys = self.address(flat, mask, site)
        if self.written is None:
            return
        unwritten = ~self.written.take(elements)
        if unwritten.any():
            at = int(unwritten.argmax())
            element, block = self.where(keys[at], int(elements[at]))
            lane = np.zeros(self.lanes.shape, dtype=bool)
            lane[self.lanes.ids == self.layout.threads_of(keys[at]), self.lanes.blocks == block] = True
            self.fault("uninitialized read", lane, site, element, " is read and was never written")
            self.lanes.found.fault_count += int(np.count_nonzero(unwritten)) - 1

    def where(self, key: Any, position: int) -> tuple[int, int]:
        """The element at a position in shadow memory, and the linear id of the block that accessed
        it with this key."""
        raise NotImplementedError

    def report(self, kind: RaceKind, positions: np.ndarray, old: np.ndarray, new: np.ndarray) -> None:
        """Records the races of one op, one for each op with which it conflicts."""
        layout, lanes = self.layout, self.lanes
        sites = layout.sites_of(old)
        for site in np.unique(sites):
            chosen = np.flatnonzero(sites == site)
            at = chosen[0]
            (flat, before), (_, block) = (self.where(key, int(positions[at])) for key in (old[at], new[at]))
            first, second = (
                lanes.access(int(layout.sites_of(key)), int(layout.threads_of(key)), around)
                for key, around in ((old[at], before), (new[at], block))
            )
            lanes.found.race(Race(kind, *self.element(flat), first, second, len(chosen)))


class Global(Tracked):
    """Global memory: a flat array that all blocks share, and the arguments that are windows into
    it."""

    space = "global"

    def __init__(
        self, windows: list[MemoryWindow], data: np.ndarray, written: np.ndarray | None = None, changes: bool = False
    ) -> None:
        super().__init__(windows, data.dtype, data.size)
        self.data = data
        self.written = written
        self.changes = changes  # a buffer that is never written can have no race
        self.single_block = False
        # the elements touched, by kind of access, where that is requested
        self.touched: dict[str, np.ndarray] = {}
        self.updates: dict[int, str] = {}
        self.traffic: dict[Kind, TrafficTally] = {}  # where traffic is counted

    def count(self) -> None:
        """Begins to count reads and writes."""
        self.traffic = {"load": TrafficTally(self.size), "store": TrafficTally(self.size)}

    def counted(self, sites: Sequence[Site]) -> Iterator[Traffic]:
        """The counted traffic; None if it is not counted."""
        name = ", ".join(dict.fromkeys(window.name for window in self.windows))
        for kind, tally in self.traffic.items():
            if tally.elements:
                yield tally.traffic(name, kind, self.size, self.dtype.itemsize, sites)

    def remember(self, updates: dict[int, str]) -> None:
        """Begins to record which elements are touched. `updates`: for each site with atomics that
        commute with each other, their kind."""
        self.touched = {does: np.zeros(self.size, np.bool_) for does in ("read", "write", *updates.values())}
        self.updates = updates

    def _mark(self, does: str, flat: Index, mask: Mask) -> None:
        put(self.touched[does], flat, True, mask, self.lanes)

    def watch(self, layout: KeyLayout, atomics: frozenset[int], single_block: bool) -> None:
        """Begins to check for races, in a launch of one or of several blocks."""
        self.layout = layout
        self.single_block = single_block
        if self.changes:
            self.shadow = Shadow(self.size, layout, self.address, self.report, atomics)

    def attach(self, lanes: Lanes) -> None:
        """Continues with another batch of blocks."""
        self.lanes, self.watched = lanes, None
        rows = lanes.threads.astype(np.int64)[:, None] << self.layout.site
        self.keys = rows | (lanes.blocks[None, :] << self.layout.blocks)

    def load(self, flat: Index, mask: Mask, site: int) -> Lane:
        self.lanes.loads += 1
        if self.shadow is not None or self.written is not None:
            self.note_read(flat, mask, site)
        if self.touched and site not in self.updates:
            self._mark("read", flat, mask)
        if self.traffic:
            self.traffic["load"].note(flat, mask, site, self.lanes)
        return self.data.take(flat) if isinstance(flat, np.ndarray) else self.data[flat]

    def store(self, flat: Index, value: Lane, mask: Mask, site: int) -> None:
        self.lanes.stores += 1
        put(self.data, flat, value, mask, self.lanes)
        if self.touched:
            self._mark(self.updates.get(site, "write"), flat, mask)
        if self.traffic:
            self.traffic["store"].note(flat, mask, site, self.lanes)
        self.note_write(flat, mask, site)

    def barrier(self, everyone: bool) -> None:
        if self.shadow is not None:
            self.shadow.barrier(everyone and self.single_block)

    def end_batch(self) -> None:
        """Enters pending reads into shadow memory, while the keys of the batch are known."""
        if self.shadow is not None:
            self.shadow.release()
            self.shadow.flush()

    def address(self, flat: Index, mask: Mask, site: int) -> tuple[np.ndarray, np.ndarray]:
        return taking_part(flat, self.keys + self.lanes.stamp("global", self.layout, site), mask, self.lanes.shape)

    def where(self, key: Any, position: int) -> tuple[int, int]:
        return position, self.lanes.block_of(int(self.layout.blocks_of(key)))


def constant(name: str, contents: np.ndarray, lanes: Lanes) -> Global:
    """A constant of the module."""
    made = Global([MemoryWindow.whole(name, contents.shape)], contents.reshape(-1))
    made.layout = lanes.layout
    made.attach(lanes)
    return made


def put(data: np.ndarray, where: Index, value: Lane, mask: Mask, lanes: Lanes) -> None:
    """Stores to the flat array `data` in the active lanes."""
    shape = (*lanes.shape, *np.shape(where)[2:])
    where, value = np.broadcast_to(where, shape), np.broadcast_to(value, shape)
    if mask is None:
        data[where] = value
    else:
        active = lanes.full(mask)
        data[where[active]] = value[active]


def taking_part(flat: Index, keys: np.ndarray, mask: Mask, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """The elements and keys of the active lanes, as one-dimensional arrays."""
    vector = np.shape(flat)[2:]
    where = np.broadcast_to(flat, (*shape, *vector))
    keys = np.broadcast_to(keys.reshape(keys.shape + (1,) * len(vector)), where.shape)
    if mask is None:
        return where.ravel(), keys.ravel()
    active = np.broadcast_to(mask, shape)
    return where[active].ravel(), keys[active].ravel()


def poison_of(dtype: np.dtype) -> np.generic:
    """NaN for floats, all bytes 0xA5 for integers, False for booleans."""
    if dtype.kind == "b":
        return np.bool_(False)
    if dtype.kind in "iu":
        return np.full(dtype.itemsize, 0xA5, dtype=np.uint8).view(dtype)[0]
    return dtype.type(np.nan)
