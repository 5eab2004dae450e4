"""Warp-wide operations: election of a thread, votes, and one thread's value for all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .integers import Outcome
from .operands import PREDICATE, Registers, many, read
from .sass import MachineInstruction


def _elected(state: Registers, one: MachineInstruction, lanes: np.ndarray) -> Outcome:
    """The first thread that executes the instruction."""
    return {one.arguments[0]: (lanes & (np.cumsum(lanes, axis=1) == 1)).reshape(-1)}


def _voted(state: Registers, one: MachineInstruction, lanes: np.ndarray) -> Outcome:
    """Whether the predicate is true in all executing threads (`ALL`), or in any (`ANY`)."""
    result, value = one.arguments[0], read(state, one.arguments[1])
    if not many(value) or not ("ALL" in one.modifiers or "ANY" in one.modifiers):
        return {result: value if "ALL" in one.modifiers or "ANY" in one.modifiers else None}
    said = value.reshape(lanes.shape)
    found = (said | ~lanes).all(axis=1) if "ALL" in one.modifiers else (said & lanes).any(axis=1)
    return {result: np.repeat(found, lanes.shape[1])}


def _of_one(state: Registers, one: MachineInstruction, lanes: np.ndarray) -> Outcome:
    """The first executing thread's value, for all.

    The predicate P2 of `R2UR P2, UR8, R3` is true in threads with a different value, which iterate
    again in the loop that serves one value after another (`.OR`: also where it was true before). It
    is false if each warp has a single executing thread, even if the value is unknown.
    """
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
    """An instruction's results for each thread. `lanes`: a row for each warp, the mask of its
    executing threads."""
    return TOGETHER[one.mnemonic](state, one, lanes)
