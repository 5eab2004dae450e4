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
from test_products import said

from weft.interpreter.ir import mlir
from weft.interpreter.proof.kernels.kernels import kernel_uses, model_of
from weft.interpreter.proof.races.proof import Findings

BATCHES, EACH = 4, 400 if "WEFT_SOAK" in os.environ else 12


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


STRAIGHT = """
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 1>
!token = !nvgpu.mbarrier.token
gpu.module @m {
  gpu.func @k(%a: memref<64xf32>, %b: memref<64xf32>) workgroup(%s: memref<64xf32, 3>)
    kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c63 = arith.constant 63 : index
    %ticks = arith.constant 10000000 : index
    %zero = arith.constant false
    %one = arith.constant true
    %t = gpu.thread_id x
    %o = arith.subi %c63, %t : index
    %bar = nvgpu.mbarrier.create -> !bars
    %first = arith.cmpi eq, %t, %c0 : index
    nvgpu.mbarrier.init %bar[%c0], %c64, predicate = %first : !bars
    gpu.barrier
    %v = memref.load %a[%t] : memref<64xf32>
    memref.store %v, %s[%t] : memref<64xf32, 3>
    %k0 = nvgpu.mbarrier.arrive %bar[%c0] : !bars -> !token
    nvgpu.mbarrier.try_wait.parity %bar[%c0], %zero, %ticks : !bars
    %w = memref.load %s[%o] : memref<64xf32, 3>
    %k1 = nvgpu.mbarrier.arrive %bar[%c0] : !bars -> !token
    nvgpu.mbarrier.try_wait.parity %bar[%c0], %one, %ticks : !bars
    memref.store %w, %s[%t] : memref<64xf32, 3>
    memref.store %w, %b[%t] : memref<64xf32>
    gpu.return
  }
}
"""
"""A barrier that 64 threads take twice, in straight code: right, each turn of it is a phase."""
ARRIVES = "%k1 = nvgpu.mbarrier.arrive %bar[%c0] : !bars -> !token"
TURN = f"{ARRIVES.replace('%k1', '%k2')}\n nvgpu.mbarrier.try_wait.parity %bar[%c0], %zero, %ticks : !bars\n"
TURNS = {
    "twice": ("", "", "W0668"),
    "three times": ("memref.store %w, %s", f"{TURN}memref.store %w, %s", "W0668"),
    "twice in each iteration": ("%k0 =", "scf.for %i = %c0 to %c64 step %c63 {\n%k0 =", "W0668"),
    "two arrivals of a thread, one wait": ("%k0 =", f"{ARRIVES.replace('%k1', '%k2')}\n%k0 =", "W0660"),
    "arrivals for half as many": ("%bar[%c0], %c64", "%bar[%c0], %c32", "W0660"),
}


@pytest.mark.parametrize("name", TURNS)
def test_a_barrier_taken_again_in_straight_code_is_no_fact_against_it(name: str) -> None:
    """Phases follow iterations: which one an arrival after a wait is of is not known, where both are in one iteration."""
    old, new, code = TURNS[name]
    text = STRAIGHT.replace(old, new, 1)
    if "iteration" in name:
        text = text.replace("memref.store %w, %s", "}\nmemref.store %v, %s").replace("store %w, %b", "store %v, %b")
    if code == "W0660":  # a single turn
        start, end = text.index(ARRIVES), text.index("memref.store %w, %s")
        text = (text[:start] + text[end:]).replace("%c63 =", "%c32 = arith.constant 32 : index\n%c63 =")
    found = said(text)
    assert code in {d.code for d in found} and ("(assumed)" in found[0].message) == (code == "W0668"), found
