"""Dependences on earlier operations: read after write, write after read, write after write.

Operations are numbered in program order; sets of them are the bits of an integer. Each window of a
buffer has its readers and writers. Dependences of an operation are searched from the last operation
backwards, skipping those that a found one implies.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import product

from ..ir.mlir import ir
from ..proof.hosts.effects import Effect
from ..proof.hosts.events import Touched
from ..proof.hosts.windows import HostBuffer, Window

Apart = Callable[[ir.Operation, Effect, ir.Operation, Effect], bool]


@dataclass
class _Windows:
    """The accessed windows of one buffer, each with its users, and with the users of all windows
    that overlap it."""

    overlapping: dict[Window, list[Touched]] = field(default_factory=dict)
    starts: dict[tuple[tuple[int, int], ...] | None, list[tuple[int, Window]]] = field(default_factory=dict)
    """Windows by their grid (`Window.cell`), in the order of their beginnings."""
    wide: list[Window] = field(default_factory=list)
    longest: int = 0

    def of(self, window: Window) -> list[Touched]:
        if window not in self.overlapping:
            mine = Touched()
            found = [self.overlapping[w] for w in self._near(window) if not w.disjoint(window)]
            self.overlapping[window] = [mine, *(users[0] for users in found)]
            for users in found:
                users.append(mine)
            self._enter(window)
        return self.overlapping[window]

    def _near(self, window: Window) -> Iterator[Window]:
        """Windows that may overlap this one: few, if the windows are tiles. Other cells of the same
        grid are disjoint."""
        yield from self.wide
        extent = window.extent
        for grid, starts in self.starts.items():
            if extent is None:
                yield from (w for _, w in starts)
            elif grid is None or grid != window.cell:
                low = bisect_left(starts, extent[0] - self.longest, key=lambda entry: entry[0])
                high = bisect_right(starts, extent[1], key=lambda entry: entry[0])
                yield from (w for _, w in starts[low:high])

    def _enter(self, window: Window) -> None:
        extent = window.extent
        if extent is None:
            self.wide.append(window)
            return
        self.longest = max(self.longest, extent[1] - extent[0])
        insort(self.starts.setdefault(window.cell, []), (extent[0], window), key=lambda entry: entry[0])


@dataclass
class Dependences:
    """The operations so far, with their dependences.

    `before[i]` are all operations that must complete before operation i starts, as bits;
    `direct[i]` those of them that are not implied by others (the transitive reduction).
    """

    may_alias: Callable[[HostBuffer], bool] = lambda buffer: False
    """Whether a buffer may overlap any other for which this is true."""
    direct: list[tuple[int, ...]] = field(default_factory=list)
    before: list[int] = field(default_factory=list)
    apart: Apart = lambda one, done, other, wanted: False
    """Whether two operations are proven to access no common element of a buffer, though their
    windows may overlap."""
    first: tuple[int, ...] = ()
    """The dependences of an operation without any others."""
    assumed: Counter[frozenset[HostBuffer]] = field(default_factory=Counter)
    """The number of orderings due only to two buffers that may overlap, by these."""
    _windows: defaultdict[HostBuffer, _Windows] = field(default_factory=lambda: defaultdict(_Windows))
    _unknown: dict[HostBuffer, None] = field(default_factory=dict)
    _outside: Touched = field(default_factory=Touched)
    """Users of buffers that may alias."""
    _alone: defaultdict[HostBuffer, Touched] = field(default_factory=lambda: defaultdict(Touched))
    """By such buffer, the users that access (or change) no other such buffer."""
    _effects: dict[int, tuple[ir.Operation | None, tuple[Effect, ...]]] = field(default_factory=dict)
    _may_alias: dict[int, dict[HostBuffer, bool]] = field(default_factory=dict)
    """By operation, such buffers that it accesses, and whether it changes them."""

    def start(self) -> int:
        """Begins with an operation that all others wait for; returns its number."""
        self.direct.append(())
        self.before.append(0)
        self.first = (0,)
        return 0

    def add(self, effects: Iterable[Effect], done: int = 0, op: ir.Operation | None = None) -> int:
        """Appends an operation; returns its number. `done`: operations that the host has waited
        for, as bits."""
        number, effects = len(self.direct), tuple(effects)
        needed = self.needed(effects, done, op) or self.first
        self._effects[number] = op, effects
        bit, may_alias = 1 << number, dict[HostBuffer, bool]()
        for effect in effects:
            self._windows[effect.buffer].of(effect.window)[0].enter(bit, changes=effect.changes)
            if self.may_alias(effect.buffer):
                may_alias[effect.buffer] = effect.changes or may_alias.get(effect.buffer, False)
        for buffer, changes in may_alias.items():
            self._outside.enter(bit, changes=changes)
            alone = self._alone[buffer]
            alone.any |= bit * (len(may_alias) == 1)
            alone.changed |= bit * (changes and sum(may_alias.values()) == 1)
        self._may_alias[number] = may_alias
        self.direct.append(needed)
        self.before.append(self.closure(needed))
        return number

    def needed(self, effects: Iterable[Effect], done: int = 0, op: ir.Operation | None = None) -> tuple[int, ...]:
        """The dependences of an operation with these effects, without those that are `done` or
        implied."""
        effects = tuple(effects)
        known = assumed = 0
        for effect in effects:
            for windows, window in self._where(effect):
                for touched in windows.of(window):
                    known |= touched.before(changes=effect.changes)
            if self.may_alias(effect.buffer):
                assumed |= self._outside.before(changes=effect.changes) & ~self._alone[effect.buffer].before(
                    changes=effect.changes
                )
        apart = partial(self._independent, op, effects)
        needed = self.reduced((known | assumed) & ~done, lambda other: not assumed >> other & 1 and apart(other))
        self.assumed.update(self._pair(op, effects) for op in needed if not known >> op & 1)
        return needed

    def reduced(self, found: int, left_out: Callable[[int], bool] = lambda other: False) -> tuple[int, ...]:
        """Those of the operations for which no other of them waits, in program order."""
        kept: list[int] = []
        while found:
            last = found.bit_length() - 1
            if left_out(last):
                found &= ~(1 << last)
            else:
                kept.append(last)
                found &= ~self.closure(kept[-1:])
        return tuple(reversed(kept))

    def _independent(self, op: ir.Operation | None, effects: Iterable[Effect], number: int) -> bool:
        """Whether `op` and an earlier operation share no element that one of them changes."""
        earlier, before = self._effects.get(number, (None, ()))
        if earlier is None or op is None:
            return False
        pairs = (
            (a, b) for a, b in product(before, effects) if (a.changes or b.changes) and not a.buffer.distinct(b.buffer)
        )
        return all(
            a.buffer == b.buffer and (a.window.disjoint(b.window) or self.apart(earlier, a, op, b)) for a, b in pairs
        )

    def closure(self, ops: Iterable[int]) -> int:
        """The operations and all their transitive dependences, as bits."""
        bits = 0
        for op in ops:
            bits |= self.before[op] | 1 << op
        return bits

    def _pair(self, op: int, effects: Iterable[Effect]) -> frozenset[HostBuffer]:
        """The two buffers that may overlap, which is why an operation with these effects waits for
        `op`."""
        for effect in effects:
            for other, changes in self._may_alias[op].items():
                if other != effect.buffer and self.may_alias(effect.buffer) and (changes or effect.changes):
                    return frozenset((other, effect.buffer))
        raise AssertionError("it waits for no such operation")

    def _where(self, effect: Effect) -> Iterator[tuple[_Windows, Window]]:
        """The windows that the effect may access; untraceable memory may be in any buffer."""
        buffer = effect.buffer
        yield self._windows[buffer], effect.window
        if buffer.kind == "unknown":
            self._unknown[buffer] = None
        for other in tuple(self._windows if buffer.kind == "unknown" else self._unknown):
            if other != buffer:
                yield self._windows[other], Window(buffer)
