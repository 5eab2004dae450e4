"""Collective operations of a warp or a block, and atomics."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....interpreter.hardware.lanes import ALL_LANES
from ....interpreter.hardware.limits import WARP
from ...form.kernel_form import WarpShuffle
from ..values import numeric
from ..values.numeric import COMBINE
from .lanes import Lane, Lanes
from .memory import Memory, poison_of


def by_thread(lanes: Lanes, value: Lane) -> np.ndarray:
    """The value, with the lanes in the order of their linear thread ids."""
    full = np.broadcast_to(value, lanes.shape)
    out = np.empty_like(full)
    out[lanes.local] = full
    return out


def whole_warps(lanes: Lanes, mask: Any, site: int) -> None:
    """Records a fault if some lanes of a warp are inactive, or have diverged."""
    if mask is None and lanes.nt % WARP == 0:
        return
    here = np.zeros((-(-lanes.nt // WARP) * WARP, lanes.nb), bool)
    here[lanes.local] = lanes.full(mask)
    warps = here.reshape(-1, WARP, lanes.nb)
    torn = (warps.any(axis=1) & ~warps.all(axis=1)).repeat(WARP, axis=0)[lanes.local] & lanes.full(mask)
    if torn.any():
        lanes.fault("divergent barrier", torn, site, f"not all {WARP} lanes of the warp execute it together")


def barrier(lanes: Lanes, named: Lane, mask: Any, site: int) -> None:
    """`nvvm.bar.warp.sync`: all lanes of a warp reach it together, with a mask of all of them."""
    whole_warps(lanes, mask, site)
    here = lanes.full(mask)
    fewer = here & (np.broadcast_to(np.asarray(named).astype(np.int64) & ALL_LANES, lanes.shape) != ALL_LANES)
    if fewer.any():
        lanes.fault("divergent barrier", fewer, site, f"its mask is not one of all {WARP} lanes")
    if mask is None:
        return lanes.meet(1)
    warps = np.zeros((-(-lanes.nt // WARP), lanes.nb), np.int64)
    np.maximum.at(warps, lanes.local // WARP, here.astype(np.int64))
    lanes.meet(warps[lanes.local // WARP])


def shuffle(lanes: Lanes, value: Lane, offset: Lane, asked: WarpShuffle, mask: Any, site: int) -> tuple[Lane, Lane]:
    """`gpu.shuffle`: the value of another lane of the warp, and whether that lane is in the group;
    if it is not, the value is poison."""
    whole_warps(lanes, mask, site)
    table = by_thread(lanes, numeric.typed(value))
    thread = lanes.local[:, None].astype(np.int64)
    own = thread % asked.width
    offset = np.asarray(offset).astype(np.uint32).astype(np.int64)
    source = {"xor": own ^ offset, "up": own - offset, "down": own + offset, "idx": offset}[asked.mode]
    valid = (source >= 0) & (source < asked.width) & (thread - own + source < lanes.nt)
    chosen = np.broadcast_to(np.where(valid, thread - own + source, thread), lanes.shape)
    got = np.where(valid, np.take_along_axis(table, chosen, axis=0), poison_of(table.dtype))
    return got, np.broadcast_to(valid, lanes.shape)


def reduce(lanes: Lanes, value: Lane, kind: str, mask: Any, site: int) -> Lane:
    """Combines the values of a block's threads, in the order of the threads. If only some threads
    are active, that is the fault of a divergent barrier."""
    table = by_thread(lanes, numeric.typed(value))
    here = lanes.full(mask)
    total = table[0]
    for row in table[1:]:
        total = COMBINE[kind](total, row)
    torn = here & ~here.all(axis=0)
    if torn.any():
        lanes.fault("divergent barrier", torn, site, "not all threads of the group reduce together")
    return np.broadcast_to(total, lanes.shape)


def atomic(
    memory: Memory, flat: Any, value: Lane, mask: Any, site: int, indices: tuple[Lane, ...], bounds: tuple[int, ...],
    kind: str,
) -> Lane:  # fmt: skip
    """One read-modify-write per active lane, in the order of the lanes; returns the previous
    values."""
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
