"""Order by streams and events: finds launches, copies and fills that touch the same elements, at
least one as a write, and have no order.

Every stream has a vector clock (C. J. Fidge, F. Mattern, 1988): it counts the stream's own
operations, and those of other streams for which the stream has waited. For each element, the times
of the last read and of the last write by each stream are kept, so that the cost does not grow with
the number of operations. Operations of one stream are in order.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from ..devices.report import Operation, Race, RaceKind, Recorder
from .machine.memory import MemoryWindow

Clock = dict[int, int]
"""By stream: the number of its completed operations."""


@dataclass(eq=False)
class Footprint:
    """The elements of one memory that an operation touches.

    Args:
        window: gives the indices of the elements in reports.
        touched: the elements by kind: `read`, `write`, or the name of an atomic update, which
            commutes with updates of the same name.
        size: of the memory.
        first: the number of the first of these elements in the memory.
        ratio: elements of the memory that are one of the window.
    """

    window: MemoryWindow
    touched: dict[str, np.ndarray]
    size: int
    first: int = 0
    ratio: int = 1


_Times = dict[str, dict[int, np.ndarray]]
"""By kind and stream, for each element, the stream's clock at its last access."""


class StreamOrder:
    """The clocks of one device, and the races between operations.

    Attributes:
        found: the races by kind, buffer and operations, with the first element; further ones are
            only counted.
    """

    def __init__(self) -> None:
        self.numbers: dict[Hashable, int] = {}
        self.clocks: list[Clock] = []
        self.done: list[list[str]] = []
        self.marks: dict[Hashable, Clock] = {}
        self.memories: dict[Hashable, _Times] = {}
        self.found = Recorder(most=math.inf)

    @property
    def several(self) -> bool:
        """Whether any operations can be unordered."""
        return len(self.clocks) > 1

    def open(self, stream: Hashable) -> None:
        self.numbers[stream] = len(self.clocks)
        self.clocks.append({})
        self.done.append([])

    def record(self, event: Hashable, stream: Hashable) -> None:
        number = self.numbers[stream]
        self.marks[event] = {**self.clocks[number], number: len(self.done[number])}

    def wait(self, stream: Hashable, event: Hashable) -> None:
        own = self.clocks[self.numbers[stream]]
        for number, time in self.marks.get(event, {}).items():
            own[number] = max(own.get(number, 0), time)

    def synchronize(self) -> None:
        """Records that all operations are complete, and ordered before later ones."""
        now = {number: len(done) for number, done in enumerate(self.done)}
        self.clocks = [dict(now) for _ in self.clocks]

    def forget(self, memory: Hashable) -> None:
        self.memories.pop(memory, None)

    def enter(self, stream: Hashable, what: str, touched: Sequence[tuple[Hashable, Footprint]]) -> None:
        """Records the operation `what` on `stream`, and the memory that it touches."""
        number = self.numbers[stream]
        self.done[number].append(what)
        now = len(self.done[number])
        for memory, footprint in touched:
            times = self.memories.setdefault(memory, {"read": {}})
            for does, elements in footprint.touched.items():
                for did, others in times.items():
                    if does != did or does == "write":
                        kind: RaceKind = "RAW" if does == "read" else "WAR" if did == "read" else "WAW"
                        self._meets(others, number, kind, elements, footprint)
            for does, elements in footprint.touched.items():
                if elements.any():
                    of_stream = times.setdefault(does, {})
                    if number not in of_stream:
                        of_stream[number] = np.zeros(footprint.size, np.int32)
                    of_stream[number][footprint.first :][: elements.size][elements] = now

    def _meets(
        self, others: dict[int, np.ndarray], number: int, kind: RaceKind, elements: np.ndarray, footprint: Footprint
    ) -> None:
        known = self.clocks[number]
        for other, times in others.items():
            if other == number or not self.done[other]:
                continue
            own = times[footprint.first :][: elements.size]
            open_ = elements & (own > known.get(other, 0))
            if not open_.any():
                continue
            at = int(open_.argmax())
            first = Operation(self.done[other][int(own[at]) - 1], other)
            second = Operation(self.done[number][-1], number)
            element = footprint.window.element(at // footprint.ratio) or (at // footprint.ratio,)
            self.found.race(Race(kind, footprint.window.name, element, first, second, int(np.count_nonzero(open_))))
