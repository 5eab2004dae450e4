"""The registers of all threads, and what operands mean: registers, predicates, constants, places in memory.

A value is an `int` where all threads have the same (a uniform register, a loop counter), an array of a number for each thread, or
None: not known, as is all that was loaded from memory. Registers hold 32 bits, unsigned.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Value = Any
"""`int`, array or None; of a predicate `bool`, array or None."""

MASK = 0xFFFFFFFF
_TERM = re.compile(r"^([-~!|]*)(U?R\d+|U?RZ|U?P\d|U?PT|0x[0-9a-f]+|\d+)(\.64|\.U32|\.X\d+)*\|?$")
_CONSTANT = re.compile(r"^(-?)c\[0x0\]\[0x([0-9a-f]+)\]$")
PREDICATE = re.compile(r"^!?U?P[T\d]$")


@dataclass
class Registers:
    """The registers of all threads.

    Args:
        constants: offset in the kernel's constant bank → the 32 bits there.
        specials: special registers, such as `SR_TID.X`.
    """

    constants: dict[int, int]
    specials: dict[str, Value]
    registers: dict[str, Value] = field(default_factory=dict)
    predicates: dict[str, Value] = field(default_factory=dict)


def read(state: Registers, text: str) -> Value:
    """An operand of 32 bits, or a predicate. A negative one is its complement and 1, which may carry."""
    if found := _TERM.match(text):
        signs, name = found[1], found[2]
        if PREDICATE.match(name):
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
    if found := _CONSTANT.match(text):
        value = state.constants.get(int(found[2], 16))
        return None if value is None else (-value & MASK) if found[1] else value
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


def address(state: Registers, text: str) -> Value:
    """What stands in brackets: `desc[UR4][R2.64+0x10]`, `[R5+UR4+0x80]`."""
    inside = text[text.rindex("[") + 1 : -1]
    wide = ".64" in inside or ".U32" in inside
    total: Value = 0
    for term in re.findall(r"[-+]?[^-+]+", inside):
        bare, negative = term.lstrip("+-"), term.startswith("-")
        scale = re.search(r"\.X(\d+)", bare)
        name = re.sub(r"\.(64|U32|X\d+)", "", bare)
        value = pair(state, name) if wide and (".64" in bare or name.startswith("UR")) else read(state, name)
        if value is None:
            return None
        if scale is not None:
            value = value * int(scale[1])
        total = total - value if negative else total + value
    return total & (2**64 - 1 if wide else MASK) if not many(total) else total & (2**62 - 1 if wide else MASK)


def many(value: Value) -> bool:
    """Whether each thread has its own."""
    return isinstance(value, np.ndarray)
