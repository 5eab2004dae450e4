"""Private memory against one dictionary per lane: random accesses, scalar and vector, alike in all lanes or not, under masks."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from weft.runtime.devices.report import Recorder, Site
from weft.runtime.simulator.machine.lanes import Lanes
from weft.runtime.simulator.machine.local_memory import Private

SIZE, NT, NB = 8, 4, 3
VECTORS = ((), (2,), (4,), (2, 2))
SHAPES = ((1, 1), (NT, 1), (1, NB), (NT, NB))


def private() -> Private:
    lanes = Lanes((NB, 1, 1), (NT, 1, 1), np.arange(NT), np.arange(NB), [Site(0, "memref.load", "here")], Recorder())
    return Private("p", (SIZE,), np.dtype(np.int32), lanes)


@dataclass
class Model:
    """What a thread wrote, and what its faulty reads are: (thread, block, the first element that is missing)."""

    values: dict[tuple[int, int, int], int] = field(default_factory=dict)

    def store(self, flat: np.ndarray, value: np.ndarray, mask: np.ndarray) -> None:
        for t, b in np.argwhere(mask):
            for at, v in zip(flat[t, b].ravel(), value[t, b].ravel(), strict=True):
                self.values[t, b, int(at)] = int(v)

    def missing(self, flat: np.ndarray, mask: np.ndarray) -> list[tuple[int, int, int]]:
        found = []
        for t, b in np.argwhere(mask):
            absent = [int(at) for at in flat[t, b].ravel() if (t, b, int(at)) not in self.values]
            found += [(int(t), int(b), absent[0])] if absent else []
        return found


def everywhere(value, vector: tuple[int, ...]) -> np.ndarray:
    return np.broadcast_to(value, (NT, NB, *vector))


@pytest.mark.few(4)
@pytest.mark.parametrize("spread", [0.0, 0.3], ids=["alike", "mixed"])
@pytest.mark.parametrize("seed", range(12))
def test_accesses_read_what_the_thread_wrote(seed: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    memory, model = private(), Model()
    for number in range(60):
        vector = VECTORS[rng.integers(len(VECTORS))]
        ramp = np.arange(int(np.prod(vector))).reshape(vector)
        start_shape = SHAPES[rng.integers(4)] if rng.random() < spread else (1, 1)
        start = rng.integers(0, SIZE - ramp.size + 1, start_shape)
        flat = start.reshape(*start_shape, *(1,) * len(vector)) + ramp
        if not vector and start_shape == (1, 1) and rng.random() < 0.5:
            flat = np.int64(start.item())
        mask = None if rng.random() < 0.5 else rng.random(SHAPES[1 + rng.integers(3)]) < 0.6
        if mask is not None and not mask.any():
            continue
        where, active = everywhere(flat, vector), np.broadcast_to(True if mask is None else mask, (NT, NB))
        if rng.random() < 0.5:
            value = rng.integers(-99, 99, (*SHAPES[rng.integers(4)], *vector)).astype(np.int32)
            memory.store(flat, value, mask, 0)
            model.store(where, everywhere(value, vector), active)
            continue
        memory.lanes.found = found = Recorder()
        got = everywhere(memory.load(flat, mask, 0), vector)
        for t, b in np.argwhere(active):
            for at, v in zip(where[t, b].ravel(), got[t, b].ravel(), strict=True):
                assert model.values.get((t, b, int(at)), v) == v, f"access {number}: element {at} of thread {t}, block {b}"
        missing = model.missing(where, active)
        assert found.fault_count == len(missing)
        if missing:
            (fault,), first = found.faults, min(missing, key=lambda lane: (lane[1], lane[0]))
            assert (fault.access.thread[0], fault.access.block[0], *(fault.element or ())) == first
    assert spread or memory.dense is None, "what all lanes agree on keeps no array of all lanes"


def test_a_value_that_was_read_stays_as_it_was() -> None:
    for start in (np.int64(1), np.arange(NT).reshape(NT, 1)):  # element by element, and as one array
        memory = private()
        memory.store(start, np.int32(7), None, 0)
        read = memory.load(np.int64(1), None, 0)
        held = np.array(read)
        memory.store(np.int64(1), np.int32(9), None, 0)
        assert np.array_equal(read, held)
