"""What a rung's counts allow on one multiprocessor: the slowest of its pipes, and what is left waiting between barriers.

A small model, for the tutorial. It knows throughputs and one latency, no caches but what a block keeps of its own reads, no
clock that falls under load. `docs/performance.md` states its assumptions beside what was measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from rung import LINE, SECTOR, Counts


@dataclass(frozen=True)
class Machine:
    """One multiprocessor's numbers per clock, and how many there are.

    Args:
        warps_per_clock: FFMA instructions of warps, and instructions of any kind: four schedulers, 32 lanes each.
        l2, dram: bytes per clock that a multiprocessor's part of it is.
        latency: clocks from a load of global memory to its value in shared memory and past the barrier.
    """

    name: str
    processors: int
    gigahertz: float
    l2: float
    dram: float
    latency: int
    warps_per_clock: int = 4
    shared: int = 128
    threads: int = 2048
    most_blocks: int = 32
    registers: int = 65536
    shared_bytes: int = 228 * 1024

    @property
    def peak(self) -> float:
        """FLOP/s."""
        return self.processors * self.warps_per_clock * 32 * 2 * self.gigahertz * 1e9


H200 = Machine("H200", 132, 1.98, 5120 / 132, 4.8e12 / 1.98e9 / 132, 700)


@dataclass(frozen=True)
class Prediction:
    """A rung on a machine.

    Args:
        pipes: clocks that each pipe takes for an FFMA per scheduler: 1 is the peak.
        waiting: what waiting adds to the slowest pipe's time, as a share of it.
        share: of the machine's peak.
    """

    blocks: int
    pipes: dict[str, float]
    waiting: float
    limit: str
    share: float


def resident_blocks(found: Counts, machine: Machine) -> int:
    """How many blocks a multiprocessor holds: registers are handed out to warps 256 at a time, a KiB of shared memory is CUDA's."""
    warps = math.ceil(found.threads / 32)
    per_warp = math.ceil(found.resources.registers * 32 / 256) * 256
    by_shared = machine.shared_bytes // (found.resources.shared_bytes + 1024)
    return min(machine.registers // per_warp // warps, machine.threads // found.threads, machine.most_blocks, by_shared)


def predict(found: Counts, machine: Machine, panels_per_wave: float | None, tile: tuple[int, int]) -> Prediction:
    """The prediction for a rung.

    Args:
        panels_per_wave: rows and columns of tiles that the blocks of one wave read; None: the rung's blocks stage nothing.
        tile: rows and columns of a block's tile of C.
    """
    blocks = resident_blocks(found, machine)
    work, rate = found.product_warps, machine.warps_per_clock
    dram = 0.0
    if panels_per_wave is not None:
        per_product = panels_per_wave * sum(tile) / 2 * 4 / (blocks * machine.processors * tile[0] * tile[1])
        dram = per_product * 32 * rate / machine.dram
    data_path = "shared memory" if found.wavefronts > found.lines else "L1"
    pipes = {
        "instruction issue": 1 / found.share,
        data_path: (found.wavefronts + found.lines * LINE / machine.shared) * rate / work,
        "L2": found.sectors * SECTOR / machine.l2 * rate / work,
        "DRAM": dram,
    }
    slowest = max(pipes, key=lambda name: pipes[name])
    clocks = pipes[slowest]
    waiting = 0.0
    if found.barriers > 1:  # loads are waited for between two barriers; with one they are under way while the block computes
        own = found.step_products / 32 / rate * clocks
        waiting = max(0.0, (own + machine.latency) / (blocks * own) - 1)
    limit = slowest if not waiting else f"{slowest}, then waiting"
    return Prediction(blocks, pipes, waiting, limit, 1 / (clocks * (1 + waiting)))
