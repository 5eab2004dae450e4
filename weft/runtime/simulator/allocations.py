"""Memory of the simulated device, and parts of an allocation that have bytes in common."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

import numpy as np

from ...dsl.diagnostics import fail
from ..devices.device import DeviceView
from ..devices.report import Operation
from ..plan.dtypes import NUMPY, poison_byte, windowed
from .machine.memory import MemoryWindow
from .stream_order import Footprint


@dataclass(eq=False)
class Allocation:
    """Memory of the simulated device.

    Attributes:
        written: by element, whether it has been written, and not been overwritten by another part.
        storage: the allocation that it is a part of; None: it is none.
        place: the first byte of a part in its storage.
        parts: those of this storage that are in use.
        lost: of a part, the elements that another part has overwritten.
        overwriter: the last operation that did so.
    """

    name: str
    dtype: str
    data: np.ndarray
    written: np.ndarray
    storage: Allocation | None = None
    place: int = 0
    parts: list[Allocation] = field(default_factory=list)
    lost: np.ndarray = field(default_factory=lambda: np.zeros(0, np.bool_))
    overwriter: Operation | None = None
    freed: bool = False

    @classmethod
    def made(cls, name: str, dtype: str, count: int) -> Allocation:
        data = np.empty(count, NUMPY[dtype])
        data.view(np.uint8).fill(poison_byte(dtype))
        return cls(name, dtype, data, np.zeros(count, np.bool_))

    def part(self, name: str, dtype: str, count: int, place: int) -> Allocation:
        data = np.frombuffer(self.data.view(np.uint8).data, NUMPY[dtype], count, place)
        made = Allocation(name, dtype, data, np.zeros(count, np.bool_), self, place, lost=np.zeros(count, np.bool_))
        self.parts.append(made)
        return made

    def free(self) -> None:
        self.expect_alive()
        self.freed = True
        if self.storage is not None:
            self.storage.parts.remove(self)

    def expect_alive(self) -> None:
        if self.freed:
            raise fail("W0758", f"`{self.name}` is used after it was freed")

    @property
    def key(self) -> Hashable:
        """The memory, in the order of streams: parts of one storage may have bytes in common."""
        return self.storage or self

    @property
    def others(self) -> Iterator[Allocation]:
        """The parts in use that have bytes in common with this one."""
        for other in self.storage.parts if self.storage is not None else ():
            if other is not self and self.place < other.end and other.place < self.end:
                yield other

    @property
    def end(self) -> int:
        return self.place + self.data.nbytes

    def footprint(self, window: MemoryWindow, touched: dict[str, np.ndarray]) -> Footprint:
        """The elements that an operation touches; those of a storage, if this is a part of one."""
        if self.storage is None:
            return Footprint(window, touched, self.data.size)
        unit = self.storage.data.itemsize
        ratio = self.data.itemsize // unit
        found = {does: np.repeat(elements, ratio) for does, elements in touched.items()}
        return Footprint(window, found, self.storage.data.size, self.place // unit, ratio)

    def overwrite(self, elements: np.ndarray, by: Operation) -> None:
        """Marks the elements of other parts that a write of these has replaced."""
        for other in self.others:
            start, stop = max(self.place, other.place), min(self.end, other.end)
            mine = np.repeat(elements, self.data.itemsize)[start - self.place : stop - self.place]
            bytes_ = np.zeros(other.data.nbytes, np.bool_)
            bytes_[start - other.place : stop - other.place] = mine
            replaced = bytes_.reshape(-1, other.data.itemsize).any(1)
            if replaced.any():
                other.written[replaced] = False
                other.lost[replaced] = True
                other.overwriter = by


def flat_window(flat: np.ndarray, view: DeviceView) -> np.ndarray:
    """The elements of a view in an array of all elements of its memory."""
    steps = [(n - 1) * s for n, s in zip(view.shape, view.strides, strict=True)]
    first, last = (view.offset + sum(side(step, 0) for step in steps) for side in (min, max))
    if view.count and not 0 <= first <= last < flat.size:
        raise fail("W0752", f"a window of `{view.name}` reaches element {first if first < 0 else last} of {flat.size}")
    strides = tuple(s * flat.itemsize for s in view.strides)
    return windowed(flat[min(view.offset, flat.size) :], view.shape, strides)
