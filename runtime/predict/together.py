"""What the threads of a warp compute together: one of them, votes, a value of one for all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .operands import Registers, Value, many, read
from .sass import Instruction


def _elected(state: Registers, one: Instruction, lanes: np.ndarray) -> Value:
    """The first that executes it."""
    return (lanes & (np.cumsum(lanes, axis=1) == 1)).reshape(-1)


def _voted(state: Registers, one: Instruction, lanes: np.ndarray) -> Value:
    """Whether all that execute it say so, or any."""
    value = read(state, one.arguments[1])
    if not many(value) or not ("ALL" in one.modifiers or "ANY" in one.modifiers):
        return value if "ALL" in one.modifiers or "ANY" in one.modifiers else None
    said = value.reshape(lanes.shape)
    found = (said | ~lanes).all(axis=1) if "ALL" in one.modifiers else (said & lanes).any(axis=1)
    return np.repeat(found, lanes.shape[1])


def _of_one(state: Registers, one: Instruction, lanes: np.ndarray) -> Value:
    """The value that the first of them has."""
    value = read(state, one.arguments[1])
    if not many(value):
        return value
    return np.repeat(value.reshape(lanes.shape)[np.arange(len(lanes)), lanes.argmax(axis=1)], lanes.shape[1])


TOGETHER: dict[str, Callable[[Registers, Instruction, np.ndarray], Value]] = {
    "ELECT": _elected, "VOTE": _voted, "VOTEU": _voted, "R2UR": _of_one,
}  # fmt: skip


def per_warp(state: Registers, one: Instruction, lanes: np.ndarray) -> Value:
    """What an instruction gives, of each thread. `lanes`: a row for each warp, of which threads execute it."""
    return TOGETHER[one.mnemonic](state, one, lanes)
