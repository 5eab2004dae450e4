"""The grid of simulated threads, their registers, and the evaluation of operands: registers,
predicates, constants, addresses.

A value is an `int` if it is the same for all threads (a uniform register, a loop counter), an array
with one element per thread, or None if unknown, as is everything loaded from memory. Registers hold
32 bits, unsigned.
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
"""`int`, array or None; for a predicate `bool`, array or None."""

MASK = 0xFFFFFFFF
_TERM = re.compile(r"^([-~!|]*)(U?R\d+|U?RZ|U?P\d|U?PT|0x[0-9a-f]+|\d+)(\.64|\.U32|\.X\d+)*\|?$")
_CONSTANT = re.compile(r"^(-?)c\[0x0\]\[0x([0-9a-f]+)\]$")
PREDICATE = re.compile(r"^!?U?P[T\d]$")


@record
class Grid:
    """The blocks with the threads that are executed.

    Args:
        block: threads of a block along x, y, z.
        blocks: indices (x, y, z) of the blocks that one multiprocessor holds at the same time; with
            clusters, all
            blocks of one cluster after another: `together` multiprocessors hold one block of each.
        constants: the kernel's constant bank: offset → 32 bits.
    """

    block: tuple[int, int, int]
    blocks: Sequence[tuple[int, int, int]]
    constants: Mapping[int, int]
    boxes: Mapping[int, int] = field(default_factory=dict)
    """Offset of a tensor map in the constant bank → bytes of a box."""
    cluster: tuple[int, int, int] = (1, 1, 1)
    """Blocks of a cluster along x, y, z."""
    some: tuple[int, ...] | None = None
    """Numbers of the warps of each block that are executed; None: all."""

    @property
    def together(self) -> int:
        """The number of blocks in a cluster."""
        return math.prod(self.cluster)

    @property
    def ranks(self) -> list[int]:
        """The rank of each block in its cluster."""
        x, y, z = self.cluster
        return [bx % x + x * (by % y + y * (bz % z)) for bx, by, bz in self.blocks]

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def numbers(self) -> Sequence[int]:
        """The numbers of a block's executed warps."""
        return range(-(-self.threads // WARP)) if self.some is None else self.some

    @property
    def warps(self) -> int:
        """The number of a block's executed warps."""
        return len(self.numbers)


@dataclass
class Registers:
    """The registers of all threads.

    Args:
        constants: offset in the kernel's constant bank → the 32 bits there.
        specials: special registers, such as `SR_TID.X`.
        known: register or predicate with a value that is known only for some threads → mask of
            these threads.
    """

    constants: dict[int, int]
    specials: dict[str, Value]
    registers: dict[str, Value] = field(default_factory=dict)
    predicates: dict[str, Value] = field(default_factory=dict)
    known: dict[str, np.ndarray] = field(default_factory=dict)

    def known_of(self, names: frozenset[str]) -> np.ndarray | None:
        """The mask of the threads for which all of `names` that have such a mask are known; None:
        all threads."""
        found = None
        for name in names & self.known.keys() if self.known else ():
            found = self.known[name] if found is None else found & self.known[name]
        return found

    def put(
        self, name: str, value: Value, mask: np.ndarray | None, known: np.ndarray | None, certain: np.ndarray | None
    ) -> None:
        """Sets a register or predicate in the threads of `mask` (None: all).

        Args:
            known: mask of the threads for which the value is known.
            certain: mask of the threads for which it is known whether the instruction executes.
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
    """An operand's signs, its name, whether it is a predicate, and its offset if it is a constant
    (then without a name)."""
    if found := _TERM.match(text):
        return found[1], found[2], PREDICATE.match(found[2]) is not None, None
    found = _CONSTANT.match(text)
    return ("", "", False, None) if found is None else (found[1], "", False, int(found[2], 16))


def is_unset(state: Registers, text: str) -> bool:
    """Whether an operand is a register that has never been written."""
    return text.startswith(("R", "UR")) and not text.endswith("Z") and text not in state.registers


def read(state: Registers, text: str) -> Value:
    """The value of a 32-bit operand or a predicate. A negated register is its complement plus 1,
    not wrapped: the sum may carry."""
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
                return -value & MASK  # a literal is given as in the machine word
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
    """The 64-bit value of a register pair or a constant."""
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
    """Whether a bracketed address has 64 bits, and its terms: name, whether it is a register pair,
    factor."""
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
    """The value of a bracketed address: `desc[UR4][R2.64+0x10]`, `[R5+UR4+0x80]`."""
    total: Value = 0
    wide, terms = _terms(text)
    for name, two, scale in terms:
        value = pair(state, name) if two else read(state, name)
        if value is None:
            return None
        total = total + (value if scale == 1 else value * scale)
    return total & (2**64 - 1 if wide else MASK) if not many(total) else total & (2**62 - 1 if wide else MASK)


def many(value: Value) -> bool:
    """Whether a value differs by thread."""
    return isinstance(value, np.ndarray)
