"""Which earlier operations must be done before one may start: read after write, write after read, write after write.

Operations are numbered in program order. A buffer remembers, window by window, who wrote it last and who has read it
since; so each operation looks at few others, however many there are. Sets of operations are the bits of an integer.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from ..proof.hosts.aliasing import Outside
from ..proof.hosts.effects import Effect
from ..proof.hosts.windows import Buffer, Window

Grid = tuple[tuple[int, int], ...] | None
"""What `Window.cell` says."""


@dataclass
class _Users:
    """Who touched a window: the last that changed it, and who has read it since."""

    changer: int | None = None
    readers: list[int] = field(default_factory=list)


@dataclass
class _History:
    """The windows of one buffer that were touched, and which of them overlap."""

    users: dict[Window, _Users] = field(default_factory=dict)
    overlaps: dict[Window, list[Window]] = field(default_factory=dict)
    starts: dict[Grid, list[tuple[int, int, Window]]] = field(default_factory=dict)
    """By grid, windows in the order in which they begin."""
    wide: list[Window] = field(default_factory=list)
    longest: int = 0

    def touched_by(self, window: Window) -> list[Window]:
        """The windows so far that overlap `window`, itself included; it is one of them from now on."""
        if window not in self.users:
            found = [w for w in self._near(window) if not w.disjoint(window)]
            for other in found:
                self.overlaps[other].append(window)
            self.overlaps[window] = [*found, window]
            self.users[window] = _Users()
            self._enter(window)
        return self.overlaps[window]

    def forget(self) -> None:
        """Everybody so far is done before whoever comes next: the whole buffer was changed."""
        self.users, self.overlaps, self.starts, self.wide, self.longest = {}, {}, {}, [], 0

    def _near(self, window: Window) -> Iterator[Window]:
        """Those whose extents may meet: a few, where the windows are tiles. Other cells of the same grid are disjoint."""
        yield from self.wide
        extent = window.extent
        for grid, starts in self.starts.items():
            if extent is None:
                yield from (w for _, _, w in starts)
            elif grid is None or grid != window.cell:
                low = bisect_left(starts, extent[0] - self.longest, key=lambda entry: entry[0])
                high = bisect_right(starts, extent[1], key=lambda entry: entry[0])
                yield from (w for _, _, w in starts[low:high])

    def _enter(self, window: Window) -> None:
        extent = window.extent
        if extent is None:
            self.wide.append(window)
            return
        self.longest = max(self.longest, extent[1] - extent[0])
        starts = self.starts.setdefault(window.cell, [])
        insort(starts, (extent[0], len(self.users), window), key=lambda entry: entry[:2])


@dataclass
class Dependences:
    """The operations so far, and what each must wait for.

    `before[i]` are all operations that must be done before operation i starts, as bits; `direct[i]` those of them that
    are not implied by others (the transitive reduction).
    """

    loose: Callable[[Buffer], bool] = lambda buffer: False
    """Whether a buffer may overlap any other of which this is true."""
    direct: list[tuple[int, ...]] = field(default_factory=list)
    before: list[int] = field(default_factory=list)
    first: tuple[int, ...] = ()
    """What an operation waits for that needs nothing else."""
    assumed: Counter[frozenset[Buffer]] = field(default_factory=Counter)
    """How many operations wait for another only because two buffers may overlap, by these."""
    _histories: dict[Buffer, _History] = field(default_factory=dict)
    _unknown: dict[Buffer, None] = field(default_factory=dict)
    _outside: Outside = field(default_factory=Outside)

    def start(self) -> int:
        """Begin with an operation that all others wait for; its number."""
        self.direct.append(())
        self.before.append(0)
        self.first = (0,)
        return 0

    def add(self, effects: Iterable[Effect], done: int = 0) -> int:
        """Append an operation; its number. `done`: operations that the host has waited for, as bits."""
        number = len(self.direct)
        effects = tuple(effects)
        needed = self.needed(effects, done) or self.first
        for effect in effects:
            self._enter(effect, number)
        self.direct.append(needed)
        self.before.append(self.closure(needed))
        return number

    def needed(self, effects: Iterable[Effect], done: int = 0) -> tuple[int, ...]:
        """What must be done before something with these effects, without what is `done` and what is implied."""
        effects = tuple(effects)
        known = {op for effect in effects for op in self._conflicting(effect)}
        assumed = {op: pair for effect in effects for op, pair in self._overlapping(effect, known) if op not in known}
        needed = self.reduced(op for op in (*known, *assumed) if not done >> op & 1)
        self.assumed.update(assumed[op] for op in needed if op in assumed)
        return needed

    def reduced(self, found: Iterable[int]) -> tuple[int, ...]:
        """Those that none of the others waits for, in program order."""
        kept: list[int] = []
        implied = 0
        for op in sorted(set(found), reverse=True):
            if not implied >> op & 1:
                kept.append(op)
                implied |= self.before[op]
        return tuple(reversed(kept))

    def closure(self, ops: Iterable[int]) -> int:
        """The operations and all that they wait for, as bits."""
        bits = 0
        for op in ops:
            bits |= self.before[op] | 1 << op
        return bits

    def _conflicting(self, effect: Effect) -> Iterator[int]:
        for history, window in self._histories_of(effect):
            for touched in history.touched_by(window):
                users = history.users[touched]
                if users.changer is not None:
                    yield users.changer
                if effect.changes:
                    yield from users.readers

    def _overlapping(self, effect: Effect, known: set[int]) -> Iterator[tuple[int, frozenset[Buffer]]]:
        """Who touched other memory that may be the effect's."""
        if self.loose(effect.buffer):
            for op, other in self._outside.before(effect.buffer, effect.changes, known):
                yield op, frozenset((other, effect.buffer))

    def _histories_of(self, effect: Effect) -> Iterator[tuple[_History, Window]]:
        """The histories in which the effect's window may be; memory that cannot be followed may be in any of them."""
        buffer = effect.buffer
        yield self._histories.setdefault(buffer, _History()), effect.window
        if buffer.kind == "unknown":
            self._unknown[buffer] = None
        for other in tuple(self._histories if buffer.kind == "unknown" else self._unknown):
            if other != buffer:
                yield self._histories[other], Window(buffer)

    def _enter(self, effect: Effect, number: int) -> None:
        if self.loose(effect.buffer):
            self._outside.enter(effect.buffer, effect.changes, number)
        history = self._histories.setdefault(effect.buffer, _History())
        if effect.changes and effect.window.everything:
            history.forget()
        history.touched_by(effect.window)
        users = history.users[effect.window]
        if effect.changes:
            users.changer, users.readers = number, []
        elif users.changer != number and (not users.readers or users.readers[-1] != number):
            users.readers.append(number)
