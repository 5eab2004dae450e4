"""Random rings of memory barriers: the proof, and all runs of a machine that knows nothing of it, agree."""

from __future__ import annotations

import os
import random
from collections import Counter

import numpy as np
import pytest
from contexts import one_context
from group_kernels import kernel
from signal_rings import TILE, Machine, Ring, rings

from weft.interpreter.ir import mlir
from weft.interpreter.proof.kernels.kernels import kernel_uses, model_of
from weft.interpreter.proof.races.proof import Findings

BATCHES, EACH = 4, 400 if "WEFT_SOAK" in os.environ else 20


def found(ring: Ring) -> Findings:
    module = mlir.parse(ring.text(), one_context())
    return Findings(model_of(kernel_uses(module)[0]))


@pytest.mark.parametrize("batch", range(BATCHES))
def test_proof_and_runs_agree(batch: int) -> None:
    counts: Counter[bool] = Counter()
    for seed in range(batch * EACH, (batch + 1) * EACH):
        ring = rings(random.Random(seed))
        machine, findings = Machine(ring), found(ring)
        assert machine.complete, f"too many runs: {ring}"
        said = [f.message for f in findings.faults], [str(c) for c in findings.conflicts], findings.unwritten
        assert findings.clean == (not machine.faults), f"{ring}\nruns: {machine.faults}\nproof: {said}"
        counts[findings.clean] += 1
    assert min(counts[True], counts[False]) > EACH / 5, counts


def test_the_simulator_agrees() -> None:
    """What is proven raises no alarm; what is not raises one, but for what goes wrong in few of all orders."""
    counts: Counter[tuple[bool, bool]] = Counter()
    for seed in range(1000, 1000 + 2 * EACH):
        ring = rings(random.Random(seed))
        made, clean = kernel(ring.text()), found(ring).clean
        arrays = [np.zeros(TILE * (ring.trips + 1), np.float32), np.zeros((ring.trips, ring.readers + 1), np.float32)]
        alarm = False
        for order in ("forward", "reverse", 0):
            report = made.launch((1, 1, 1), (ring.readers + 1, 1, 1), arrays, order=order)
            alarm |= bool(report.races or report.faults)
        assert not (clean and alarm), ring
        counts[clean, alarm] += 1
    assert counts[True, False] > EACH / 3 and counts[False, True] > EACH / 3 and counts[False, False] <= EACH / 10, counts


FAULTS = {
    "deadlock": (Ring(arrivals=1), "deadlock", "W0665"),
    "conflict": (Ring(looks=False), "conflict", "W0667"),
    "early": (Ring(early=True), "conflict", "W0667"),
    "end": (Ring(readers=1, looks=False, trips=1), "a load under way at the end", "W0665"),
    "phases": (Ring(stages=1, waits=False), "another phase", "W0663"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_machine_sees_what_the_proof_names(name: str) -> None:
    ring, fault, code = FAULTS[name]
    assert fault in Machine(ring).faults
    assert code in [d.code for d in found(ring).diagnostics()]
