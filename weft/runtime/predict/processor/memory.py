"""What an access of a warp costs: wavefronts of shared memory, lines and sectors of global memory, by addresses."""

from __future__ import annotations

import math

import numpy as np

from ....dsl.records import record
from ....interpreter.hardware.limits import WARP
from ...simulator.machine.banks import count
from ..sass import MachineInstruction
from ..tracks import Track

SECTOR, LINE = 32, 128
"""Bytes that caches move at a time, and bytes that one access of a warp gets at a time."""
OF_LINE = LINE // SECTOR


@record
class GlobalAccess:
    """One warp's access of global memory: wavefronts that its data take from L1 at least, which is shared memory's
    and has its banks; and the sectors that it touches."""

    wavefronts: int
    sectors: tuple[int, ...]


class Accesses:
    """What a track's accesses cost. What repeats is counted once: a shift of all lanes leaves bank conflicts alike."""

    def __init__(self, instructions: tuple[MachineInstruction, ...], warps: int) -> None:
        self.instructions, self.warps = instructions, warps
        self._patterns: dict[tuple[object, ...], float] = {}
        self._shared: dict[tuple[int, int], float] = {}
        self._global: dict[tuple[int, int], list[GlobalAccess]] = {}

    def wavefronts(self, track: Track, at: int) -> float:
        """Of shared memory, for a warp on average, by CUDA's documented rule (see `simulator/machine/banks.py`)."""
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
            if one.mnemonic == "LDSM":  # a row of 16 bytes of a matrix for each of its eight lanes
                matrices = int(one.modifiers[-1]) if one.modifiers[-1].isdigit() else 1
                width, taking = 16, taking & (np.arange(len(place)) % WARP < 8 * matrices)
            if width >= 4:
                found = count((place[:, None] // 4 + np.arange(width // 4))[:, None, :], taking[:, None], 4)
            else:
                found = count(place[:, None, None], taking[:, None], 1)
            self._patterns[key] = found.wavefronts / max(found.executions, 1)
        return self._patterns[key]

    def of_global(self, track: Track, at: int, warp: int) -> GlobalAccess:
        """Of global memory. A place that is not known is one sector for each lane."""
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
        """Each lane's address, and which take part (None: all)."""
        place, active = track.places[at], track.active[at]
        lanes = self.warps * WARP
        if active is False:
            active = np.zeros(lanes, bool)
        where = None if place is None else np.broadcast_to(np.asarray(place, np.int64), (lanes,))
        return where, active if isinstance(active, np.ndarray) else None
