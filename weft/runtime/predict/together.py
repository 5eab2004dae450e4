"""What the threads of a warp compute together: one of them, votes, a value of one for all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .integers import Outcome
from .operands import PREDICATE, Registers, many, read
from .sass import MachineInstruction


def _elected(state: Registers, one: MachineInstruction, lanes: np.ndarray) -> Outcome:
    """The first that executes it."""
    return {one.arguments[0]: (lanes & (np.cumsum(lanes, axis=1) == 1)).reshape(-1)}


def _voted(state: Registers, one: MachineInstruction, lanes: np.ndarray) -> Outcome:
    """Whether all that execute it say so, or any."""
    result, value = one.arguments[0], read(state, one.arguments[1])
    if not many(value) or not ("ALL" in one.modifiers or "ANY" in one.modifiers):
        return {result: value if "ALL" in one.modifiers or "ANY" in one.modifiers else None}
    said = value.reshape(lanes.shape)
    found = (said | ~lanes).all(axis=1) if "ALL" in one.modifiers else (said & lanes).any(axis=1)
    return {result: np.repeat(found, lanes.shape[1])}


def _of_one(state: Registers, one: MachineInstruction, lanes: np.ndarray) -> Outcome:
    """The value that the first of them has; `R2UR P2, UR8, R3`: who has another one, and goes round again in the loop
    that serves one value after the other (`.OR`: or had one before). One thread has one value, whatever that is."""
    *other, result, source = one.arguments[:3] if PREDICATE.match(one.arguments[0]) else one.arguments[:2]
    value = first = read(state, source)
    if many(value):
        first = np.repeat(value.reshape(lanes.shape)[np.arange(len(lanes)), lanes.argmax(axis=1)], lanes.shape[1])
    before = read(state, other[0]) if other and "OR" in one.modifiers else False
    alone = not (lanes.sum(axis=1) > 1).any()
    others = False if alone else None if value is None else value != first
    left = None if others is None or before is None else others | before
    return {result: first, **dict.fromkeys(other, left)}


TOGETHER: dict[str, Callable[[Registers, MachineInstruction, np.ndarray], Outcome]] = {
    "ELECT": _elected,
    "VOTE": _voted,
    "VOTEU": _voted,
    "R2UR": _of_one,
}


def per_warp(state: Registers, one: MachineInstruction, lanes: np.ndarray) -> Outcome:
    """What an instruction gives, to each thread. `lanes`: a row for each warp, of which threads execute it."""
    return TOGETHER[one.mnemonic](state, one, lanes)
