"""What lanes of a warp (or of a block) exchange without memory, and atomics."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..values import numeric
from ..values.numeric import COMBINE
from .lanes import Lane, Lanes
from .memory import Memory

WARP = 32


def by_thread(lanes: Lanes, value: Lane) -> np.ndarray:
    """The value by linear thread id, whatever order the lanes are in."""
    full = np.broadcast_to(value, lanes.shape)
    out = np.empty_like(full)
    out[lanes.threads] = full
    return out


def shuffle(lanes: Lanes, value: Lane, offset: Lane, width: Lane, mode: str, mask: Any) -> tuple[Lane, Lane]:
    """`gpu.shuffle`: the value of another lane of the warp, and whether that lane is there and active."""
    table = by_thread(lanes, numeric.typed(value))
    present = by_thread(lanes, lanes.full(mask))
    thread = lanes.threads[:, None].astype(np.int64)
    lane = thread % WARP
    width = np.asarray(width).astype(np.int64)
    offset = np.asarray(offset).astype(np.int64)
    group = lane // width * width
    source = {"xor": lane ^ offset, "up": lane - offset, "down": lane + offset, "idx": group + offset}[mode]
    valid = (source >= group) & (source < group + width)
    chosen = np.where(valid, thread - lane + source, thread)
    valid = valid & (chosen < lanes.nt)
    chosen = np.broadcast_to(np.where(valid, chosen, thread), lanes.shape)
    valid = valid & np.take_along_axis(present, chosen, axis=0)
    own = np.broadcast_to(value, lanes.shape)
    return np.where(valid, np.take_along_axis(table, chosen, axis=0), own), np.broadcast_to(valid, lanes.shape)


def reduce(lanes: Lanes, value: Lane, kind: str, size: int, mask: Any, site: int) -> Lane:
    """Combine over each `size` consecutive threads, in their order; a partly active group is a divergent barrier."""
    table = by_thread(lanes, numeric.typed(value))
    here = by_thread(lanes, lanes.full(mask))
    out = np.empty_like(table)
    for first in range(0, lanes.nt, size):
        members = slice(first, min(first + size, lanes.nt))
        total = table[first]
        for row in table[members][1:]:
            total = COMBINE[kind](total, row)
        out[members] = total
        torn = here[members].any(axis=0) & ~here[members].all(axis=0)
        if torn.any():
            bad = np.zeros(lanes.shape, bool)
            bad[members] = torn & here[members]
            lanes.fault("divergent barrier", bad[lanes.threads], site, "not all threads of the group reduce together")
    return out[lanes.threads]


def atomic(
    memory: Memory, flat: Any, value: Lane, mask: Any, site: int, indices: tuple[Lane, ...], bounds: tuple[int, ...],
    kind: str,
) -> Lane:  # fmt: skip
    """One read-modify-write per active lane, in the order of the lanes; returns what each found."""
    lanes = memory.lanes
    active = lanes.full(mask)
    old = np.full(lanes.shape, memory.poison, memory.dtype)
    where = [np.broadcast_to(index, lanes.shape) for index in indices]
    spots = np.broadcast_to(flat, lanes.shape)
    what = np.broadcast_to(value, lanes.shape)
    remaining = active.copy()
    while remaining.any():
        now = np.zeros_like(remaining)
        # The first remaining lane of each element acts in this round.
        columns = spots if memory.space == "global" else spots * lanes.nb + lanes.columns
        order = np.flatnonzero(remaining)
        _, first = np.unique(columns.ravel()[order], return_index=True)
        now.ravel()[order[first]] = True
        mask_now = None if now.all() else now
        found = memory.load_checked(spots, mask_now, site, tuple(where), bounds)
        memory.store_checked(spots, COMBINE[kind](found, what), mask_now, site, tuple(where), bounds)
        old = np.where(now, found, old)
        remaining &= ~now
    return old
