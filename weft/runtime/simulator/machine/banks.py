"""Bank conflicts of shared memory, counted during execution: the wavefronts of the accesses of each
warp, and the minimum for these.

The model is the documented one. Shared memory has 32 banks; successive 32-bit words are in
successive banks. Lanes that touch the same word do not conflict: a load broadcasts the word, and of
several stores one wins (CUDA C++ Programming Guide, Shared Memory of compute capability 5.x). An
access of up to 4 bytes per lane is served for the whole warp at once; one of 8 bytes in two halves
of the warp; one of 16 bytes in four quarters. Only lanes of the same part can conflict (the Guide's
64-bit and 128-bit accesses). A part takes as many wavefronts as the largest number of distinct
words in one bank.

Hardware may do better: from compute capability 7.0 on, two parts of a wide load merge if
neighbouring lanes read the same address (NVIDIA's engineers in
forums.developer.nvidia.com/t/77228). That is not fully documented, so it is not modelled. The
minimum is counted by the same rule, so that such loads have no conflict in either case.

Access patterns repeat from warp to warp, from iteration to iteration and from batch to batch,
except for an offset, and an offset common to all lanes does not change conflicts. So each pattern
is counted once, exactly, and then looked up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ....dsl.records import record
from ....interpreter.hardware.limits import WARP
from ...devices.report import BankUse, Kind, Site

BANKS = 32
WORD = 4
WIDEST = 16
"""Bytes that one instruction moves for a lane; wider vectors take several."""
MOST_PATTERNS = 64
"""Patterns remembered per op. An op with more (data-dependent indices) is counted, but no padding
is proposed."""

MOST_PENDING = 32
LARGE = 4096
"""Accesses of this many elements are counted one by one."""

MOST_PADDING = 64
"""The largest padding of a row that is proposed, in bytes."""
MOST_TRIALS = 2048
"""The largest number of patterns and offsets, of all ops on a buffer together, for which a padding
is searched."""


@record
class Count:
    """The cost of an op: the number of its executions by warps, their wavefronts, and the minimum
    of wavefronts."""

    executions: int = 0
    wavefronts: int = 0
    ideal: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.executions + other.executions, self.wavefronts + other.wavefronts, self.ideal + other.ideal)

    def times(self, factor: int) -> Count:
        return Count(self.executions * factor, self.wavefronts * factor, self.ideal * factor)


def count(elements: np.ndarray, active: np.ndarray, itemsize: int) -> Count:
    """The cost of one execution of an access by whole blocks.

    Args:
        elements: an array (threads, blocks, …) of the numbers of the elements that each lane
            touches; threads are in the order of their linear ids.
        active: an array (threads, blocks), the mask of participating lanes.
        itemsize: bytes of an element. The memory begins at a multiple of 16 bytes.
    """
    threads, blocks = active.shape
    warps = -(-threads // WARP)
    each = elements.reshape(threads, blocks, -1)
    here = np.zeros((warps * WARP, blocks), dtype=bool)
    here[:threads] = active
    here = np.ascontiguousarray(here.T).reshape(blocks * warps, WARP)
    total = Count(int(here.any(axis=1).sum()))
    step = max(WIDEST // itemsize, 1)
    for first in range(0, each.shape[2], step):
        piece = each[:, :, first : first + step]
        words = np.zeros((warps * WARP, blocks, piece.shape[2] * max(itemsize // WORD, 1)), dtype=np.int64)
        words[:threads] = _words(piece, itemsize)
        total += _instruction(words.swapaxes(0, 1), here, piece.shape[2] * itemsize)
    return total


def _words(elements: np.ndarray, itemsize: int) -> np.ndarray:
    """The 32-bit words of each lane's elements, along the last axis."""
    if itemsize <= WORD:
        return elements * itemsize // WORD
    parts = itemsize // WORD
    return (elements[..., None] * parts + np.arange(parts)).reshape(*elements.shape[:-1], -1)


def _instruction(words: np.ndarray, here: np.ndarray, width: int) -> Count:
    """The cost of an instruction of `width` bytes per lane. `words`: (blocks, lanes, words);
    `here`: the active lanes (warps, 32)."""
    together = WARP // max(-(-width // WORD), 1)
    together = 1 << (together.bit_length() - 1) if together else 1
    active = here.reshape(-1, together)
    each = words.reshape(len(active), together, -1)
    away = np.iinfo(np.int64).max
    each = np.sort(np.where(active[:, :, None], each, away).reshape(len(active), -1), axis=1)
    fresh = each != away
    fresh[:, 1:] &= each[:, 1:] != each[:, :-1]
    groups, _ = np.nonzero(fresh)
    banks = np.bincount(groups * BANKS + each[fresh] % BANKS, minlength=len(active) * BANKS)
    return Count(0, int(banks.reshape(-1, BANKS).max(axis=1).sum()), int(active.any(axis=1).sum()))


@record(eq=False)
class Pattern:
    """An access pattern: the elements that `columns` blocks access, relative to the first lane's
    element, and how often the pattern began at each offset (`times`)."""

    elements: np.ndarray
    mask: np.ndarray | None
    columns: int
    count: Count
    times: dict[int, int] = field(default_factory=dict)


@dataclass(eq=False)
class Tally:
    """All executions of one op on one buffer.

    Args:
        shape: of the buffer, in elements.
        itemsize: bytes of an element.
        rows: position in the order of execution → linear id of the thread; None if the two are
            equal.
    """

    shape: tuple[int, ...]
    itemsize: int
    rows: np.ndarray | None
    threads: int
    width: int = 0
    exact: bool = True
    patterns: dict[tuple[object, ...], Pattern] = field(default_factory=dict)
    _folded: Count = field(default_factory=Count)
    _pending: list[np.ndarray] = field(default_factory=list)
    _mask: np.ndarray | None = None
    _shape: tuple[int, ...] = ()
    _blocks: int = 0

    def __post_init__(self) -> None:
        self.row = self.shape[-1] if self.shape else 1
        self.together = max(WORD // self.itemsize, 1)

    def note(self, flat: np.ndarray, mask: np.ndarray | None, blocks: int) -> None:
        """Records an execution by a batch of `blocks` blocks. This runs for every access, so
        small accesses of one kind are collected, and counted together. (Generated code never
        changes these arrays later.)"""
        pending = self._pending
        same = mask is self._mask and flat.shape == self._shape and blocks == self._blocks
        if not same or len(pending) == MOST_PENDING:
            self.settle()
            self._mask, self._shape, self._blocks = mask, flat.shape, blocks
            pending = self._pending
        pending.append(flat)
        if flat.size > LARGE:
            self.settle()

    def settle(self) -> None:
        """Counts the collected executions."""
        if not self._pending:
            return
        pending, shape, blocks = self._pending, self._shape, self._blocks
        self._pending = []
        relative = (np.concatenate(pending) if shape else np.array(pending)).reshape(len(pending), -1)
        firsts = relative[:, :1].copy()
        if self.together > 1:  # whole words, or the offset would move elements from one word to another
            firsts -= firsts % self.together
        relative -= firsts
        begins = (firsts[:, 0] % self.row).tolist()
        if (relative == relative[0]).all():
            self._enter(relative[0].reshape(shape), begins, blocks)
            return
        for one, begin in zip(relative, begins, strict=True):
            self._enter(one.reshape(shape), [begin], blocks)

    def _enter(self, relative: np.ndarray, begins: list[int], blocks: int) -> None:
        """Records executions of one pattern, by their offsets within a row."""
        mask = self._mask
        key = (relative.shape, relative.tobytes(), None if mask is None else (mask.shape, mask.tobytes()))
        pattern = self.patterns.get(key) or self._new(key, relative, mask)
        times, share = pattern.times, blocks // pattern.columns
        for begin in begins:
            times[begin] = times.get(begin, 0) + share

    def total(self) -> Count:
        found = self._folded
        for pattern in self.patterns.values():
            found += pattern.count.times(sum(pattern.times.values()))
        return found

    @property
    def begins(self) -> int:
        """The number of distinct pairs of a pattern and an offset within a row at which it
        began."""
        return sum(len(pattern.times) for pattern in self.patterns.values())

    def padded(self, more: int) -> Count | None:
        """The cost if rows were longer by `more` elements; None if not all patterns are known."""
        if not self.exact:
            return None
        row, found = self.row, Count()
        known: dict[tuple[object, ...], Count] = {}
        for pattern in self.patterns.values():
            for base, times in pattern.times.items():
                elements = pattern.elements + base
                elements = elements // row * (row + more) + elements % row
                first = elements.item(0)
                elements -= first - first % self.together
                key = (elements.tobytes(), pattern)
                if key not in known:
                    known[key] = self._count(elements, pattern.mask, pattern.columns)
                found += known[key].times(times)
        return found

    def _new(self, key: tuple[object, ...], relative: np.ndarray, mask: np.ndarray | None) -> Pattern:
        self.width = int(np.prod(relative.shape[2:], dtype=np.int64)) * self.itemsize
        columns = max(relative.shape[1] if relative.ndim > 1 else 1, 1 if mask is None else mask.shape[1])
        pattern = Pattern(relative, mask, columns, self._count(relative, mask, columns))
        if len(self.patterns) >= MOST_PATTERNS:
            self._folded, self.exact = self.total(), False
            self.patterns.clear()
        self.patterns[key] = pattern
        return pattern

    def _count(self, elements: np.ndarray, mask: np.ndarray | None, columns: int) -> Count:
        lanes = (self.threads, columns)
        elements = np.broadcast_to(elements, (*lanes, *elements.shape[2:]))
        active = np.broadcast_to(True if mask is None else mask, lanes)
        if self.rows is not None:
            elements, active = elements[self.rows], active[self.rows]
        return count(elements, active, self.itemsize)


class BankCounter:
    """The tallies of one launch, by site (the number of the op), buffer, direction, and number of
    threads that access together."""

    def __init__(self, threads: np.ndarray) -> None:
        inverse = np.argsort(threads)
        self.rows = None if (threads[1:] > threads[:-1]).all() else inverse
        self.threads = len(threads)
        self.tallies: dict[tuple[int, str, Kind, int], Tally] = {}

    def tally(
        self, site: int, name: str, kind: Kind, shape: tuple[int, ...], itemsize: int, kept: bool = True
    ) -> Tally:
        """The tally of an op on a buffer. Unless `kept`, it does not appear in reports."""
        made = Tally(shape, itemsize, self.rows, self.threads)
        return self.tallies.setdefault((site, name, kind, self.threads), made) if kept else made


def bank_uses(counter: BankCounter, sites: Sequence[Site]) -> tuple[BankUse, ...]:
    """An entry for each op and buffer, in the order of the kernel's text."""
    by_buffer: dict[str, list[Tally]] = {}
    for (_, name, *_), tally in counter.tallies.items():
        tally.settle()
        by_buffer.setdefault(name, []).append(tally)
    padding = {name: _padding(tallies) for name, tallies in by_buffer.items()}
    uses: list[BankUse] = []
    for (number, name, kind, _), tally in sorted(counter.tallies.items(), key=lambda item: (item[0][0], item[0][2])):
        total, site, pad = tally.total(), sites[number], padding[name]
        padded = tally.padded(pad) if pad is not None and total.wavefronts > total.ideal else None
        cost = total.executions, total.wavefronts, total.ideal
        advice = (None, None) if padded is None else (pad, padded.wavefronts)
        uses.append(BankUse(number, name, kind, site.op, site.location, tally.width, *cost, *advice))
    return tuple(uses)


def _padding(tallies: Sequence[Tally]) -> int | None:
    """The smallest padding, among those that keep accesses aligned, with the fewest wavefronts;
    None if no padding helps."""
    now = sum((tally.total() for tally in tallies), Count())
    shape, itemsize = tallies[0].shape, tallies[0].itemsize
    trials = sum(tally.begins for tally in tallies)
    if now.wavefronts == now.ideal or len(shape) < 2 or trials > MOST_TRIALS:
        return None
    unit = max(*(tally.width // itemsize for tally in tallies), WORD // itemsize, 1)
    if shape[-1] % unit:
        return None
    best, fewest = None, now.wavefronts
    for more in range(unit, MOST_PADDING // itemsize + 1, unit):
        tried = [tally.padded(more) for tally in tallies]
        found = sum((one for one in tried if one is not None), Count())
        if None in tried:
            return None
        if found.wavefronts < fewest:
            best, fewest = more, found.wavefronts
        if fewest == found.ideal:
            break
    return best
