"""Random pipelined schedules: proven, right and race-free on the simulator, right as text on the CPU; and where an order is
missing, the proof and the simulator both see it."""

from __future__ import annotations

import os
import random
from collections import Counter

import numpy as np
import pytest
from executors import expect_computed
from mutations import context
from native_device import NativeDevice
from ring_mutants import ORDERS, VALUES
from rings import SCHEDULE, WARPS, ring_schedule
from verdicts import CHANGES, Right, Witnesses

from weft.dsl.diagnostics import Source, WeftError
from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import operations
from weft.interpreter.proof.kernels.kernels import kernel_model
from weft.interpreter.proof.races.proof import Findings
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs, sized
from weft.runtime.host.functions import signature
from weft.runtime.run.compare import compare
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

RINGS, CHANGED = (500, 500) if "WEFT_SOAK" in os.environ else (5, 5)


def made(text: str) -> Planned:
    return planned(applied(Choice("", text=Source("ring.weft", text)).open()))


def inputs(done: Planned, seed: int) -> dict[str, np.ndarray]:
    open_sizes = {"A.0": "19", "A.1": "37", "B.1": "21"} if "?" in str(done.applied.payload) else {}
    return random_inputs(sized(signature(done.applied.payload), open_sizes, done.plan.agreements, None), seed)


def expect_found(done: Planned, arrays: dict[str, np.ndarray], what: str, seed: int) -> bool:
    """Where an order is missing, both witnesses see it; where the proof sees nothing, the simulator sees nothing either."""
    module = done.applied.module.operation.clone()
    (kernel,) = operations(module, "gpu.func")
    if not ORDERS[what](kernel):
        return False
    try:
        found = Findings(kernel_model(kernel)).diagnostics()
    except WeftError as error:
        found = error.diagnostics
    ran = run_plan(done.plan, SimDevice(), arrays, text=module.get_asm(enable_debug_info=True))
    if not found:
        assert not ran.races, (seed, what)
    elif min(len(a) for a in arrays.values()):
        assert ran.races or all("assumed" in str(d) or d.code == "W0610" for d in found) or "?" in str(kernel), (seed, what, found)
    return bool(found) and bool(ran.races)


@pytest.mark.parametrize("start", range(0, RINGS, 5))
def test_random_rings(start: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(start, start + 5):
        ring = ring_schedule(seed)
        done = made(ring.text)
        arrays = inputs(done, seed)
        expected = reference(done.applied.payload, None, dict(arrays))
        outputs, rounded = signature(done.applied.payload), done.plan.rounded
        ran = run_plan(done.plan, SimDevice(), arrays, text=done.applied.located_text)
        assert not ran.races and not ran.faults, (seed, ring.text)
        expect_computed("the simulator", ran, outputs, expected, rounded=rounded, shown=f"\nseed {seed}\n{ring.text}")
        if seed % 5 == 0:
            native = run_plan(done.plan, NativeDevice(), arrays, text=done.cuda)
            expect_computed("the text by g++", native, outputs, expected, rounded=rounded, shown=f"\nseed {seed}\n{ring.text}")
        what = list(ORDERS)[seed % len(ORDERS)]
        seen[what] += expect_found(done, arrays, what, seed)
    assert sum(seen.values()), "some order must be missing in some of them"


@pytest.mark.parametrize("start", range(0, CHANGED, 5))
def test_values_from_the_wrong_place(start: int) -> None:
    """Swizzles of one side, fragments off by one: wrong on the simulator and as text; or the same on both, bit by bit."""
    seen = 0
    for seed in range(start, start + 5):
        done, draw = made(ring_schedule(seed, open_sizes=False).text), random.Random(seed)
        mutants: list[tuple[str, str]] = []
        for change in VALUES:
            module = mlir.parse(done.applied.text, context())
            what = change(next(operations(module.operation, "gpu.func")), draw)
            mutants += [(what, str(module))] if what else []
        right = Right(done.applied.payload, done.plan.entry, done.applied.text)
        asked = Witnesses(right, [right.text, *(text for _, text in mutants)], seed)
        simulator, text = asked.simulator(0), asked.cpu(0)
        assert not simulator.objections and not text.objections, seed
        for number, (what, _) in enumerate(mutants, start=1):
            ran, cpu = asked.simulator(number, simulator), asked.cpu(number, text)
            shown = (seed, what, sorted(ran.objections), sorted(cpu.objections))
            if "out-of-bounds write" in ran.objections:
                pass  # the simulator stops there; the text writes what lies beside the array, which may be read by nobody
            elif "race" in ran.objections:
                assert asked.proof(number).objections, shown
            else:
                assert not (cpu.objections and not ran.objections) and not (ran.objections & CHANGES and not cpu.objections), shown
            seen += bool(ran.objections)
    assert seen > 2, "most of them change something"


@pytest.mark.parametrize(("a", "b"), [("pad 4", "pad 8"), ("pad 8", "pad 4"), ("swizzle 64", "swizzle 32")])
def test_rows_of_matrices(a: str, b: str) -> None:
    """Matrices are loaded whole where their rows begin at multiples of 16 bytes, by elements otherwise."""
    inner = WARPS.format(im=16, ik=16, wm=16, wn=16, word="")
    text = SCHEDULE.format(m=32, n=32, k=64, type="bf16", bm=32, bn=32, bk=32, a=a, b=b, va=4, vb=4, inner=inner, stages=3)
    done = made(text)
    arrays = inputs(done, 1)
    ran = run_plan(done.plan, SimDevice(), arrays, text=done.applied.located_text)
    assert not ran.races and not ran.faults
    assert compare(signature(done.applied.payload), ran.outputs, reference(done.applied.payload, None, dict(arrays))).ok
    assert ("load_matrices_x4(" in done.cuda) == ("pad 4" not in a)
    assert ("load_matrices_x2" in done.cuda) == ("pad 4" not in b)
