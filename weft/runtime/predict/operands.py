"""Where all threads are, their registers, and what operands mean: registers, predicates, constants, places in memory.

A value is an `int` where all threads have the same (a uniform register, a loop counter), an array of a number for each
thread, or None: not known, as is all that was loaded from memory. Registers hold 32 bits, unsigned.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from ...dsl.records import record
from ...interpreter.hardware.limits import WARP

Value = Any
"""`int`, array or None; of a predicate `bool`, array or None."""

MASK = 0xFFFFFFFF
_TERM = re.compile(r"^([-~!|]*)(U?R\d+|U?RZ|U?P\d|U?PT|0x[0-9a-f]+|\d+)(\.64|\.U32|\.X\d+)*\|?$")
_CONSTANT = re.compile(r"^(-?)c\[0x0\]\[0x([0-9a-f]+)\]$")
PREDICATE = re.compile(r"^!?U?P[T\d]$")


@record
class Grid:
    """Where the threads are that are executed.

    Args:
        blocks: indices (x, y, z) of the blocks that one multiprocessor has at the same time; of clusters, the blocks of
            each one behind the other: as many multiprocessors have one of each.
        constants: the kernel's constant bank: offset → 32 bits.
    """

    block: tuple[int, int, int]
    blocks: Sequence[tuple[int, int, int]]
    constants: Mapping[int, int]
    boxes: Mapping[int, int] = field(default_factory=dict)
    """By where a tensor map lies in the constant bank: bytes of a box."""
    cluster: tuple[int, int, int] = (1, 1, 1)
    """Blocks of a cluster along x, y, z."""
    some: tuple[int, ...] | None = None
    """Of each block these warps alone; None: all."""

    @property
    def together(self) -> int:
        """Blocks of a cluster."""
        return math.prod(self.cluster)

    @property
    def ranks(self) -> list[int]:
        """The number of each block in its cluster."""
        x, y, z = self.cluster
        return [bx % x + x * (by % y + y * (bz % z)) for bx, by, bz in self.blocks]

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def numbers(self) -> Sequence[int]:
        """Of the warps of a block."""
        return range(-(-self.threads // WARP)) if self.some is None else self.some

    @property
    def warps(self) -> int:
        """Of a block."""
        return len(self.numbers)


@dataclass
class Registers:
    """The registers of all threads.

    Args:
        constants: offset in the kernel's constant bank → the 32 bits there.
        specials: special registers, such as `SR_TID.X`.
        known: of registers and predicates that are known of some threads alone: of which.
    """

    constants: dict[int, int]
    specials: dict[str, Value]
    registers: dict[str, Value] = field(default_factory=dict)
    predicates: dict[str, Value] = field(default_factory=dict)
    known: dict[str, np.ndarray] = field(default_factory=dict)

    def known_of(self, names: frozenset[str]) -> np.ndarray | None:
        """Of which threads all of these are known, as far as anything is known of them; None: of all."""
        found = None
        for name in names & self.known.keys() if self.known else ():
            found = self.known[name] if found is None else found & self.known[name]
        return found

    def put(
        self, name: str, value: Value, mask: np.ndarray | None, known: np.ndarray | None, certain: np.ndarray | None
    ) -> None:
        """Set it, in the threads of `mask` (None: all).

        Args:
            known: of which threads the value is. `certain`: of which it is known whether it is set.
        """
        where = self.predicates if name.lstrip("U").startswith("P") else self.registers
        if mask is not None and name in where:
            old = where[name]
            if value is None:
                where[name] = None
                return
            known = np.where(
                mask, True if known is None else known, self.known.get(name, True) if old is not None else False
            )
            known = known if certain is None else known & certain
            value = value if old is None else np.where(mask, value, old)
        where[name] = value
        if known is None or known.all():
            self.known.pop(name, None)
        else:
            self.known[name] = known


@cache
def _parsed(text: str) -> tuple[str, str, bool, int | None]:
    """Signs and name of an operand, whether it is a predicate; of a constant its place, and no name."""
    if found := _TERM.match(text):
        return found[1], found[2], PREDICATE.match(found[2]) is not None, None
    found = _CONSTANT.match(text)
    return ("", "", False, None) if found is None else (found[1], "", False, int(found[2], 16))


def is_unset(state: Registers, text: str) -> bool:
    """Whether an operand is a register in which nothing has been put."""
    return text.startswith(("R", "UR")) and not text.endswith("Z") and text not in state.registers


def read(state: Registers, text: str) -> Value:
    """An operand of 32 bits, or a predicate. A negative one is its complement and 1, which may carry."""
    signs, name, is_predicate, constant = _parsed(text)
    if name:
        if is_predicate:
            value = True if name.endswith("T") else state.predicates.get(name)
            return value if value is None or "!" not in signs else np.logical_not(value) if many(value) else not value
        if name[0] in "UR":
            value = 0 if name.endswith("Z") else state.registers.get(name)
        else:
            value = int(name, 0)
            if "-" in signs:
                return -value & MASK  # a literal is what the machine word holds
        if value is None or "|" in signs:
            return None
        if "~" in signs:
            return value ^ MASK
        return (value ^ MASK) + 1 if "-" in signs else value
    if constant is not None:
        value = state.constants.get(constant)
        return None if value is None else (-value & MASK) if signs else value
    return None


def pair(state: Registers, text: str) -> Value:
    """64 bits of two registers, or of a constant."""
    low = read(state, text)
    if found := _CONSTANT.match(text):
        high = state.constants.get(int(found[2], 16) + 4)
    elif (name := re.match(r"^-?(U?R)(\d+)", text)) is not None:
        high = state.registers.get(f"{name[1]}{int(name[2]) + 1}")
        if text.startswith("-") and low is not None and high is not None:
            return (-((high << 32) | (low & MASK))) & (2**64 - 1)
    elif low is not None and text.startswith("-0x"):
        high = MASK
    else:
        high = 0
    return None if low is None or high is None else (high << 32) | (low & MASK)


@cache
def _terms(text: str) -> tuple[bool, list[tuple[str, bool, int]]]:
    """Of what stands in brackets, whether it has 64 bits, and its terms: a name, whether two registers, a factor."""
    inside = text[text.rindex("[") + 1 : -1]
    wide, found = ".64" in inside or ".U32" in inside, []
    for term in re.findall(r"[-+]?[^-+]+", inside):
        bare, sign = term.lstrip("+-"), -1 if term.startswith("-") else 1
        scale = re.search(r"\.X(\d+)", bare)
        name = re.sub(r"\.(64|U32|X\d+)", "", bare)
        two = wide and (".64" in bare or name.startswith("UR"))
        found.append((name, two, sign * (int(scale[1]) if scale is not None else 1)))
    return wide, found


def address(state: Registers, text: str) -> Value:
    """What stands in brackets: `desc[UR4][R2.64+0x10]`, `[R5+UR4+0x80]`."""
    total: Value = 0
    wide, terms = _terms(text)
    for name, two, scale in terms:
        value = pair(state, name) if two else read(state, name)
        if value is None:
            return None
        total = total + (value if scale == 1 else value * scale)
    return total & (2**64 - 1 if wide else MASK) if not many(total) else total & (2**62 - 1 if wide else MASK)


def many(value: Value) -> bool:
    """Whether each thread has its own."""
    return isinstance(value, np.ndarray)
