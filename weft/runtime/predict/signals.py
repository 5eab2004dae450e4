"""Memory barriers: what a trace records of each use, and when their phases complete.

A phase completes when all arrivals are made and all bytes have arrived; the latter time is known
once the copies are issued.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ...dsl.records import record
from ...interpreter.hardware.limits import MASK_BITS
from .operands import Registers, Value, address, many, read
from .sass import MachineInstruction

SIGNALS = frozenset(["SYNCS", "UTMALDG", "UTMASTG"])
MOST_ARRIVALS = 0x100000
"""The value at which the count in the word of a new barrier ends."""
BLOCK_SHIFT = 24
"""In a cluster's shared-memory address, the block's rank is in the bits from this one up, above the
offset in its memory."""

Kind = Literal["init", "arrive", "expect", "wait", "load", "store"]


@record
class BarrierUse:
    """The effect of an instruction on a memory barrier.

    Args:
        place: the barrier's address.
        amount: by kind: arrivals that a new barrier expects; bytes that an arrival expects, or that
            are copied; the awaited parity.
        blocks: mask of the cluster's blocks that receive a multicast box, at whose barriers its
            bytes are counted; 0: one block.
    """

    kind: Kind
    place: Value
    amount: Value
    blocks: Value = 0

    def of(self, lane: int) -> tuple[int, int]:
        """The address and the amount, for one thread."""
        place, amount = (int(value[lane]) if many(value) else int(value) for value in (self.place, self.amount))
        return place, amount

    def for_blocks(self, lane: int) -> list[int]:
        """The ranks of the receiving blocks, for one thread."""
        mask = int(self.blocks[lane]) if many(self.blocks) else int(self.blocks)
        return [n for n in range(MASK_BITS) if mask >> n & 1]


def signal(state: Registers, one: MachineInstruction, boxes: Mapping[int, int], thread: int) -> BarrierUse | None:
    """The effect of an instruction on a memory barrier; None if its operands are unknown.

    Args:
        boxes: offset of a tensor map in the constant bank → bytes of a box.
        thread: a thread that executes the instruction: all threads copy boxes of the same map.
    """
    if one.mnemonic != "SYNCS":
        first, *_, last = (text.strip("[]") for text in one.arguments if text.startswith("["))
        size = next(
            (n for name in (last, first) if (n := boxes.get(_number(read(state, name), thread))) is not None), None
        )
        place = read(state, f"UR{int(first[2:]) + 1}") if one.mnemonic == "UTMALDG" else 0
        blocks: Value = 0
        if "MULTICAST" in one.modifiers:
            mask = read(state, one.arguments[-1])
            blocks = None if mask is None else mask >> MASK_BITS  # the mask is the upper half of the register
        made = BarrierUse("load" if one.mnemonic == "UTMALDG" else "store", place, size, blocks)
    else:
        where = next(text for text in one.arguments if text.startswith("["))
        given = read(state, one.arguments[-1])
        if "EXCH" in one.modifiers:
            made = BarrierUse("init", address(state, where), None if given is None else MOST_ARRIVALS - (given >> 1))
        elif "PHASECHK" in one.modifiers:
            made = BarrierUse("wait", address(state, where), None if given is None else given >> 31)
        else:
            kind: Kind = "expect" if any(word.startswith("A0") for word in one.modifiers) else "arrive"
            bytes_ = 0 if any(word.endswith("T0") for word in one.modifiers) else given
            made = BarrierUse(kind, address(state, where), bytes_)
    return None if made.place is None or made.amount is None or made.blocks is None else made


def _number(value: Value, thread: int) -> int:
    """The value for one thread; -1 if unknown."""
    return -1 if value is None else int(value[thread]) if many(value) else int(value)


BEFORE = -2
"""The last phase seen by a warp that has not waited yet: its wait for parity 1 is then for phase
-1."""


def _following(phase: int, parity: int) -> int:
    """The next phase with the given parity."""
    return phase + 1 + (phase + 1 - parity) % 2


@dataclass(eq=False)
class MemoryBarrier:
    """One barrier of a block, over time.

    Args:
        expected: arrivals of each phase.
        missing: arrivals that the current phase still lacks.
        bytes: bytes expected for which no copy has been issued yet.
        coming: arrival time of the last copy in flight.
        phase: number of the current phase.
        ended: completion time of the previous phase.
        waiting: warps that wait for the end of the current phase.
    """

    expected: int = 1
    missing: int = 1
    bytes: int = 0
    coming: float = 0.0
    phase: int = 0
    ended: float = 0.0
    waiting: list[Any] = field(default_factory=list)

    def change(self, now: float, arrivals: int, expected: int, copied: int = 0, when: float = 0.0) -> list[Any]:
        """Counts arrivals, the bytes they expect, and copied bytes, which arrive at `when`.

        Returns the warps that this change releases, at `ended`; none unless the phase completes.
        """
        self.missing -= arrivals
        self.bytes += expected - copied
        self.coming = max(self.coming, when)
        if self.missing > 0 or self.bytes > 0:
            return []
        self.ended, self.coming = max(now, self.coming), 0.0
        self.phase, self.missing = self.phase + 1, self.expected
        woken, self.waiting = self.waiting, []
        return woken

    def over(self, parity: int, seen: int | None = None) -> float | None:
        """The completion time of the phase with that parity; None if not known yet.

        Args:
            seen: the last phase waited for, if known: a warp that lags is then not taken to wait
                for a phase still to come.
        """
        late = seen is not None and self.phase > _following(seen, parity)
        return None if self.phase % 2 == parity and not late else self.ended

    def passed(self, parity: int, seen: int) -> int:
        """The completed phase that a wait for `parity` refers to."""
        newest = self.phase - 1
        return min(_following(seen, parity), newest - (newest - parity) % 2)
