"""Random rings of more kinds: the proof, the simulator, and all runs of a machine that knows nothing of either, agree on each.

Four programs in a test run, 300 in a soak (`WEFT_SOAK`), all different. Where a mistake needs a slow thread, the simulator
is asked for orders in which one after the other is, and then in which one after the other falls behind at some point.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from itertools import chain

import numpy as np
import pytest
from group_kernels import kernel
from hopper import rankings
from signal_rings import TILE, Machine
from test_rings import found
from wide_rings import WideRing, wide_rings

from weft.runtime.devices.report import LaunchReport
from weft.runtime.simulator.kernel import Order

BATCHES, EACH = 4, 75 if "WEFT_SOAK" in os.environ else 1
SEEDS: tuple[Order, ...] = ("forward", "reverse", 0, 1, 2)


def programs() -> Iterator[WideRing]:
    """Different ones."""
    seen: set[WideRing] = set()
    for seed in range(10**6):
        ring = wide_rings(random.Random(seed))
        if ring not in seen:
            seen.add(ring)
            yield ring


class Simulated:
    """A ring on the simulator."""

    def __init__(self, ring: WideRing) -> None:
        self.ring, self.kernel = ring, kernel(ring.text())

    def run(self, order: Order) -> LaunchReport:
        ring = self.ring
        arrays = [np.zeros(TILE * (ring.trips + 1), np.float32), np.zeros((ring.trips, ring.readers + 1), np.float32)]
        return self.kernel.launch((1, 1, 1), (ring.readers + 1, 1, 1), arrays, order=order)

    def alarms(self, orders: Iterator[Order]) -> Iterator[Order]:
        """Those of the orders in which something is found."""
        return (order for order in orders if not self.run(order).clean)

    def dropped(self) -> Iterator[Order]:
        """Orders in which somebody falls behind, as long as the others can go on."""
        yield from rankings(1, self.run(next(rankings(1))).statistics.turns + 2)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_all_three_agree(batch: int) -> None:
    counts: Counter[bool] = Counter()
    made = programs()
    for number in range((batch + 1) * EACH):
        ring = next(made)
        if number < batch * EACH:
            continue
        machine, findings, simulated = Machine(ring, most=150_000), found(ring), Simulated(ring)
        assert machine.complete, f"too many runs: {ring}"
        said = [f.message for f in findings.faults], [str(c) for c in findings.conflicts], findings.unwritten
        assert findings.clean == (not machine.faults), f"{ring}\nruns: {machine.faults}\nproof: {said}"
        alarm = next(simulated.alarms(chain(SEEDS, rankings(1))), None)
        if machine.faults and alarm is None:
            alarm = next(simulated.alarms(simulated.dropped()), None)
        assert (alarm is not None) == bool(machine.faults), f"{ring}\nruns: {machine.faults}\nsimulator: {alarm}"
        counts[findings.clean] += 1
    assert EACH < 10 or min(counts[True], counts[False]) > EACH / 4, counts
