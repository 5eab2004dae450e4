"""The cost of a warp's memory access, from its addresses: wavefronts of shared memory, lines and
sectors of global memory."""

from __future__ import annotations

import math

import numpy as np

from ....dsl.records import record
from ....interpreter.hardware.limits import WARP
from ...simulator.machine.banks import count
from ..sass import MachineInstruction
from ..tracks import Track

SECTOR, LINE = 32, 128
"""Bytes that caches transfer at a time, and bytes that one access of a warp obtains at a time."""
OF_LINE = LINE // SECTOR


@record
class GlobalAccess:
    """One warp's access of global memory.

    Args:
        wavefronts: minimum number of wavefronts for its data in L1, which is the memory of shared
            memory and has its banks.
        sectors: the sectors that it touches.
    """

    wavefronts: int
    sectors: tuple[int, ...]


class Accesses:
    """The cost of the accesses of a track. Equal patterns are counted once: an equal shift of all
    lanes does not change bank conflicts."""

    def __init__(self, instructions: tuple[MachineInstruction, ...], warps: int) -> None:
        self.instructions, self.warps = instructions, warps
        self._patterns: dict[tuple[object, ...], float] = {}
        self._shared: dict[tuple[int, int], float] = {}
        self._global: dict[tuple[int, int], list[GlobalAccess]] = {}

    def wavefronts(self, track: Track, at: int) -> float:
        """The wavefronts of a shared-memory access, averaged over warps, by CUDA's documented rule
        (see `simulator/machine/banks.py`)."""
        key = (id(track), at)
        if key not in self._shared:
            self._shared[key] = self._counted(track, at)
        return self._shared[key]

    def _counted(self, track: Track, at: int) -> float:
        place, active = self._lanes(track, at)
        if place is None:
            return self.instructions[track.code[at]].bits / 32
        taking = active if active is not None else np.ones(len(place), bool)
        if not taking.any():
            return 0
        key = (track.code[at], (place - place[0]).tobytes(), None if active is None else active.tobytes())
        if key not in self._patterns:
            one = self.instructions[track.code[at]]
            width = one.bits // 8
            if one.mnemonic == "LDSM":  # each of eight lanes addresses a row of 16 bytes of a matrix
                matrices = int(one.modifiers[-1]) if one.modifiers[-1].isdigit() else 1
                width, taking = 16, taking & (np.arange(len(place)) % WARP < 8 * matrices)
            if width >= 4:
                found = count((place[:, None] // 4 + np.arange(width // 4))[:, None, :], taking[:, None], 4)
            else:
                found = count(place[:, None, None], taking[:, None], 1)
            self._patterns[key] = found.wavefronts / max(found.executions, 1)
        return self._patterns[key]

    def of_global(self, track: Track, at: int, warp: int) -> GlobalAccess:
        """The global-memory access of a warp. Unknown addresses count as one sector for each lane."""
        key = (id(track), at)
        if key not in self._global:
            self._global[key] = self._touched(track, at)
        return self._global[key][warp]

    def _touched(self, track: Track, at: int) -> list[GlobalAccess]:
        one = self.instructions[track.code[at]]
        width = one.bits // 8
        place, active = self._lanes(track, at)
        if place is None:
            return [GlobalAccess(WARP, tuple(range(-WARP * (w + 1), -WARP * w))) for w in range(self.warps)]
        found = []
        conflicts = self.wavefronts(track, at)
        rows = place.reshape(-1, WARP)
        taking = None if active is None else active.reshape(-1, WARP)
        for warp in range(self.warps):
            mine = rows[warp] if taking is None else rows[warp][taking[warp]]
            sectors = tuple(np.unique(mine // SECTOR).tolist())
            found.append(GlobalAccess(max(math.ceil(conflicts), -(-len(mine) * width // LINE)), sectors))
        return found

    def _lanes(self, track: Track, at: int) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Each lane's address, and the mask of the participating lanes (None: all)."""
        place, active = track.places[at], track.active[at]
        lanes = self.warps * WARP
        if active is False:
            active = np.zeros(lanes, bool)
        where = None if place is None else np.broadcast_to(np.asarray(place, np.int64), (lanes,))
        return where, active if isinstance(active, np.ndarray) else None
