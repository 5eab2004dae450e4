"""Memory inside a block: workgroup memory, with a copy for each block, and private memory, with a
copy for each thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...devices.report import Kind
from ..values.vector_values import gather
from .banks import BankCounter, Tally
from .lanes import Lane, Lanes, first_lane
from .memory import Memory, MemoryWindow, Tracked, poison_of, put, taking_part
from .shadow import Index, Mask, Shadow

WindowParts = tuple[str, int, tuple[int, ...], tuple[int, ...]]
"""The parts of a `MemoryWindow`, as generated code passes them."""


def _window(name: str, shape: tuple[int, ...], parts: WindowParts | None) -> MemoryWindow:
    return MemoryWindow.whole(name, shape) if parts is None else MemoryWindow(*parts)


class Shared(Tracked):
    """Workgroup memory as an array (elements, blocks): an access to the same element in all blocks
    moves a whole row.

    As long as all blocks access the same elements, they share one shadow memory. The first access
    that differs gives each block its own.
    """

    space = "shared"

    def __init__(
        self, name: str, shape: tuple[int, ...], dtype: np.dtype, lanes: Lanes, window: WindowParts | None = None
    ) -> None:
        """`window`: the layout of its elements, where not row-major."""
        seen = _window(name, shape, window)
        size = seen.end
        super().__init__([seen], dtype, size)
        self.lanes = lanes
        self.layout = layout = replace(lanes.layout, block=0)
        self.data = np.full((size, lanes.nb), poison_of(dtype), dtype)
        self.width = 1
        self.banks, self.atomics = lanes.banks, lanes.atomics
        self.loads: dict[int, Tally] = {}
        self.stores: dict[int, Tally] = {}
        self.keys = lanes.threads.astype(np.int64) << layout.site
        # where warp groups share it: its number, and its type
        self.origin: tuple[int, str, tuple[int, ...], np.dtype, WindowParts | None] = (0, name, shape, dtype, window)
        self.flying: np.ndarray | None = None  # by element the key of the copy in flight to it, or -1
        if lanes.check:
            self.shadow = Shadow(size, layout, self.address, self.report, lanes.atomics)
            self.written = np.zeros(size, dtype=bool)
        lanes.memories.append(self)

    def load(self, flat: Index, mask: Mask, site: int) -> Lane:
        self.lanes.loads += 1
        if self.shadow is not None:
            self.note_read(flat, mask, site)
        if self.banks is not None:
            (self.loads.get(site) or self._tally(self.banks, site, "load")).note(np.asarray(flat), mask, self.lanes.nb)
        if not isinstance(flat, np.ndarray) or flat.ndim == 0:
            return self.data[flat][None, :].copy()
        if flat.shape[1] == 1:
            rows = self.data.take(flat[:, 0], axis=0)
            return rows if flat.ndim == 2 else np.ascontiguousarray(np.moveaxis(rows, -1, 1))
        return self.data.reshape(-1).take(self._linear(flat))

    def store(self, flat: Index, value: Lane, mask: Mask, site: int) -> None:
        self.put(flat, value, mask, site)
        self.note_write(flat, mask, site)

    def put(self, flat: Index, value: Lane, mask: Mask, site: int | None) -> None:
        """The unchecked store; it is counted if it has a `site`."""
        lanes = self.lanes
        if _alike(flat, mask) and np.ndim(flat) <= 2:
            what = np.broadcast_to(value, lanes.shape)
            rows = np.broadcast_to(flat, (lanes.nt, 1))[:, 0]
            if mask is None:
                self.data[rows] = what
            else:
                active = np.broadcast_to(mask, (lanes.nt, 1))[:, 0]
                self.data[rows[active]] = what[active]
        else:
            put(self.data.reshape(-1), self._linear(np.asarray(flat)), value, mask, lanes)
        if site is None:
            return
        lanes.stores += 1
        if self.banks is not None:
            (self.stores.get(site) or self._tally(self.banks, site, "store")).note(np.asarray(flat), mask, lanes.nb)

    def _tally(self, banks: BankCounter, site: int, kind: Kind) -> Tally:
        """The tally of an op's wavefronts; None for atomics, which hardware serves in another
        way."""
        window = self.windows[0]
        tally = banks.tally(site, window.name, kind, window.shape, self.dtype.itemsize, site not in self.atomics)
        (self.loads if kind == "load" else self.stores)[site] = tally
        return tally

    def note_write(self, flat: Index, mask: Mask, site: int) -> None:
        super().note_write(flat, mask, site)
        self._all_written()

    def _all_written(self) -> None:
        if self.written is not None and self.written.all():
            self.written = None

    # ---- asynchronous copies into it -------------------------------------------------------------

    def begin(self, flat: Index, mask: Mask, site: int) -> None:
        """Begins a copy to these elements. It is checked like a write; accesses before its end
        conflict with it."""
        if self.shadow is None:
            return
        elements, keys, _ = self.shadow.meet(flat, mask, site)
        if self.flying is None:
            self.flying, self.watched = np.full(self.size * self.width, -1, dtype=np.int64), self._meet
        self._meet(flat, mask, site)
        self.flying[elements] = keys
        won = self.flying.take(elements)
        if (won != keys).any():
            self.report("in-flight", elements[won != keys], won[won != keys], keys[won != keys])

    def _meet(self, flat: Index, mask: Mask, site: int, write: bool = True) -> None:
        """Checks an access against the copies in flight."""
        assert self.flying is not None
        where = flat if self.width == 1 else self._linear(np.asarray(flat))
        if (self.flying.take(where) < 0).all():
            return
        elements, keys = self.address(flat, mask, site)
        old = self.flying.take(elements)
        if (found := old >= 0).any():
            self.report("in-flight", elements[found], old[found], keys[found])

    def end(self, flat: Index, mask: Mask, site: int) -> None:
        """Ends a copy: from now on it counts as a write by its thread."""
        if self.shadow is None or self.flying is None:
            return
        self.shadow.end(flat, mask, site, write=True)
        elements, _ = self.address(flat, mask, site)
        self.flying[elements] = -1
        if self.written is not None:
            self.written[elements] = True
            self._all_written()

    def barrier(self, everyone: bool) -> None:
        if self.shadow is not None:
            self.shadow.barrier(everyone)

    def address(self, flat: Index, mask: Mask, site: int) -> tuple[np.ndarray, np.ndarray]:
        stamp = self.lanes.stamp("shared", self.layout, site)
        if not _alike(flat, mask) or stamp.shape[1:] not in ((), (1,)):
            self._widen()
        where = np.asarray(flat) if self.width == 1 else self._linear(np.asarray(flat))
        return taking_part(where, self.keys[:, None] + stamp, mask, (self.lanes.nt, self.width))

    def where(self, key: Any, position: int) -> tuple[int, int]:
        return position // self.width, int(self.lanes.blocks[position % self.width])

    def _widen(self) -> None:
        copies = self.lanes.nb // self.width
        if copies > 1:
            self.width = self.lanes.nb
            if self.shadow is not None:
                self.shadow.widen(copies)
            if self.written is not None:
                self.written = np.repeat(self.written, copies)
            if self.flying is not None:
                self.flying = np.repeat(self.flying, copies)

    def _linear(self, flat: np.ndarray) -> np.ndarray:
        """Positions in (elements, blocks)."""
        columns = self.lanes.columns.reshape((1, -1) + (1,) * (flat.ndim - 2 if flat.ndim > 2 else 0))
        return flat * self.lanes.nb + columns


def _alike(flat: Index, mask: Mask) -> bool:
    """Whether all blocks access the same elements, in the same threads."""
    return (np.ndim(flat) < 2 or np.shape(flat)[1] == 1) and (mask is None or mask.shape[1] == 1)


class Private(Memory):
    """Private memory: for each element, a value for all lanes, which is never changed in place.

    An access to the same elements in all lanes moves these values. The first access to elements
    that differ between lanes moves all values into one array, until a uniform store.
    """

    def __init__(
        self, name: str, shape: tuple[int, ...], dtype: np.dtype, lanes: Lanes, window: WindowParts | None = None
    ) -> None:
        """`window`: the layout of its elements, where not row-major."""
        seen = _window(name, shape, window)
        size = seen.end
        super().__init__([seen], dtype, size)
        self.lanes = lanes
        self.check = lanes.check
        self.values: list[Lane] = [poison_of(dtype)] * size
        self.written: list[Any] = [False] * size  # False, None (in all lanes) or a mask
        self.dense: tuple[np.ndarray, np.ndarray] | None = None  # `values` and `written` are then its rows

    def load(self, flat: Index, mask: Mask, site: int) -> Lane:
        if not isinstance(flat, np.ndarray) or not flat.ndim:
            return self._load_one(int(flat), mask, site)
        if flat.shape[:2] != (1, 1):
            return self._load_dense(flat, mask, site)
        same = flat.ravel().tolist()
        if flat.ndim == 2:
            return self._load_one(same[0], mask, site)
        if self.check:
            self._check_written(same, mask, site)
        return gather([self.values[at] for at in same], flat.shape[2:], self.dtype)

    def _load_one(self, at: int, mask: Mask, site: int) -> Lane:
        if self.check and self.written[at] is not None:
            self._check_written([at], mask, site)
        return self.values[at] if self.dense is None else self.values[at].copy()

    def store(self, flat: Index, value: Lane, mask: Mask, site: int) -> None:
        if not isinstance(flat, np.ndarray) or not flat.ndim:
            self._store_one(int(flat), value, mask)
        elif flat.shape[:2] != (1, 1):
            self._store_dense(flat, value, mask)
        elif flat.ndim == 2 or not np.ndim(value):
            for at in flat.ravel().tolist():
                self._store_one(at, value, mask)
        else:
            lanes = np.shape(value)[:2]
            parts = np.broadcast_to(value, (*lanes, *flat.shape[2:])).reshape(*lanes, -1)
            for at, part in zip(flat.ravel().tolist(), np.ascontiguousarray(np.moveaxis(parts, -1, 0)), strict=True):
                self._store_one(at, part, mask)

    def _store_one(self, at: int, value: Lane, mask: Mask) -> None:
        self.dense = None
        if mask is None:
            self.values[at], self.written[at] = value, None
        else:
            self.values[at] = np.where(mask, value, self.values[at])
            if self.written[at] is not None:
                everywhere = self._where_written(at) | mask
                self.written[at] = None if everywhere.all() else everywhere

    def _check_written(self, same: Sequence[int], mask: Mask, site: int) -> None:
        """Records a fault for the lanes that read an element that they have not written."""
        unsure = [at for at in same if self.written[at] is not None]
        if unsure:
            missing = np.stack([~self._where_written(at) for at in unsure], axis=-1) & self.lanes.full(mask)[..., None]
            self._report(missing, site, np.asarray(unsure).reshape(1, 1, -1))

    def _where_written(self, at: int) -> np.ndarray:
        return self.lanes.full(self.written[at]) if self.written[at] is not False else np.zeros(self.lanes.shape, bool)

    def _densify(self) -> tuple[np.ndarray, np.ndarray]:
        if self.dense is None:
            shape = (self.size, *self.lanes.shape)
            values, written = np.empty(shape, self.dtype), np.empty(shape, bool)
            for at, value in enumerate(self.values):
                values[at], written[at] = value, self._where_written(at)
            self.dense = values, written
            self.values, self.written = list(values), list(written)
        return self.dense

    def _positions(self, flat: np.ndarray) -> np.ndarray:
        nt, nb = self.lanes.shape
        own = np.arange(nt * nb, dtype=np.int64).reshape((nt, nb) + (1,) * max(flat.ndim - 2, 0))
        return flat * (nt * nb) + own

    def _load_dense(self, flat: np.ndarray, mask: Mask, site: int) -> Lane:
        dense, written = self._densify()
        at = self._positions(flat)
        if self.check:
            missing = ~written.reshape(-1).take(at).reshape(*self.lanes.shape, -1) & self.lanes.full(mask)[..., None]
            self._report(missing, site, flat.reshape(*flat.shape[:2], -1))
        return dense.reshape(-1).take(at)

    def _store_dense(self, flat: np.ndarray, value: Lane, mask: Mask) -> None:
        dense, written = self._densify()
        at = self._positions(flat)
        put(dense.reshape(-1), at, value, mask, self.lanes)
        put(written.reshape(-1), at, True, mask, self.lanes)

    def _report(self, missing: np.ndarray, site: int, flat: np.ndarray) -> None:
        """Records the faults. `missing`: for each lane and read element, whether it is unwritten;
        `flat`: the numbers of the elements."""
        if missing.any():
            bad = np.asarray(missing.any(axis=-1))
            row, column = first_lane(bad)
            at = np.broadcast_to(flat, missing.shape)[row, column, missing[row, column].argmax()]
            self.fault("uninitialized read", bad, site, int(at), " is read and this thread has not written it")
