"""Memory barriers and what is counted on them: what a trace notes of each, and when their phases end.

A phase ends when all arrivals are made and all bytes are there, whose time is known from when their copy was issued.
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
"""What the word of a new barrier counts up to."""
BLOCK_SHIFT = 24
"""Of an address in the shared memory of a cluster: the block's number stands above the place in its memory."""

Kind = Literal["init", "arrive", "expect", "wait", "load", "store"]


@record
class BarrierUse:
    """What an instruction does to a memory barrier.

    Args:
        place: the barrier's address.
        amount: arrivals that a new one expects; bytes that an arrival expects, or are copied; the awaited parity.
        blocks: a bit for each block of the cluster to which a box goes, whose barriers count its bytes; 0: one.
    """

    kind: Kind
    place: Value
    amount: Value
    blocks: Value = 0

    def of(self, lane: int) -> tuple[int, int]:
        """Both, of a thread."""
        place, amount = (int(value[lane]) if many(value) else int(value) for value in (self.place, self.amount))
        return place, amount

    def for_blocks(self, lane: int) -> list[int]:
        """The numbers of these blocks, for a thread."""
        mask = int(self.blocks[lane]) if many(self.blocks) else int(self.blocks)
        return [n for n in range(MASK_BITS) if mask >> n & 1]


def signal(state: Registers, one: MachineInstruction, boxes: Mapping[int, int], thread: int) -> BarrierUse | None:
    """What an instruction does; None where its operands are not known.

    Args:
        boxes: by where in the constant bank a tensor map lies, how many bytes a box has.
        thread: one that executes it: all copy boxes of the same map.
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
            blocks = None if mask is None else mask >> MASK_BITS  # the upper half of the register
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
    """That of a thread; -1 where it is not known."""
    return -1 if value is None else int(value[thread]) if many(value) else int(value)


BEFORE = -2
"""The phase that has been seen by who has not waited yet: a wait for parity 1 is for phase -1 then."""


def _following(phase: int, parity: int) -> int:
    """The next phase that has the parity."""
    return phase + 1 + (phase + 1 - parity) % 2


@dataclass(eq=False)
class MemoryBarrier:
    """One barrier of a block, in time.

    Args:
        expected: arrivals of each phase; `missing`: of this one.
        bytes: expected, and not yet on their way.
        coming: when the last of those that are on their way is there.
        phase: the number of the one under way; `ended`: when the one before was over.
        waiting: who waits for the end of this one.
    """

    expected: int = 1
    missing: int = 1
    bytes: int = 0
    coming: float = 0.0
    phase: int = 0
    ended: float = 0.0
    waiting: list[Any] = field(default_factory=list)

    def change(self, now: float, arrivals: int, expected: int, copied: int = 0, when: float = 0.0) -> list[Any]:
        """Arrivals, bytes that they expect; bytes that are copied, and when these are there. Who may go on when it has
        `ended`."""
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
        """When the phase of that parity is over; None where that is not known yet. `seen`: the last one that was
        waited for, where that is known: who is late is not taken to wait for one that is still to come."""
        late = seen is not None and self.phase > _following(seen, parity)
        return None if self.phase % 2 == parity and not late else self.ended

    def passed(self, parity: int, seen: int) -> int:
        """The phase that one has waited for, which is over."""
        newest = self.phase - 1
        return min(_following(seen, parity), newest - (newest - parity) % 2)
