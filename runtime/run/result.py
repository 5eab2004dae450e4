"""What came of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..simulator.report import BankUse, Fault, Race
from ..trace.timeline import Timed


@dataclass(frozen=True)
class KernelRun:
    """One launch of the plan, as reports show it. `shared_bytes` is all of a block's shared memory; `unproven` the kernel's."""

    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    unproven: str | None = None


@dataclass(frozen=True)
class RunResult:
    """What came of a run.

    Args:
        outputs: every output and inout buffer, by name.
        seconds: wall time of the phases `load`, `upload`, `run`, `download`.
        kernels: the launches, in order.
        races, faults: what a simulator found; None on a device that does not look.
        barriers: barriers that a thread executed, summed over the launches; None likewise.
        banks: kernel name and what an op on shared memory cost, launch by launch; None likewise.
        streams_created, streams_destroyed, events_created, events_destroyed: counted as it happened.
        timeline: launches and copies in the order in which they began; None where nobody asked, or the device keeps no time.
        repeats: seconds of each further run of the steps, where `repeat` asked for them.
        issued: seconds that the host took to issue each of them.
        graphs_created, graphs_destroyed: likewise counted.
    """

    device: str
    outputs: Mapping[str, np.ndarray]
    seconds: Mapping[str, float]
    kernels: tuple[KernelRun, ...]
    races: tuple[Race, ...] | None
    faults: tuple[Fault, ...] | None
    barriers: int | None
    streams_created: int
    streams_destroyed: int
    repeats: tuple[float, ...] = ()
    banks: tuple[tuple[str, BankUse], ...] | None = None
    events_created: int = 0
    events_destroyed: int = 0
    timeline: tuple[Timed, ...] | None = None
    issued: tuple[float, ...] = ()
    graphs_created: int = 0
    graphs_destroyed: int = 0
