"""Random host programs with windows, copies, temporaries, loops and branches, from text to plan: what conflicts is ordered, in
every order that streams allow the numbers are the same, and whatever fails, all that was made is given back.

2 programs of 200 launches and copies in a test run, 1,000 in a soak. Every launch fails in turn in each tenth of them, and
eight in the others.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from given_back import expect_given_back, ones
from launch_graphs import host, parsed
from random_programs import Node, Step, flattened, random_program, spelled
from test_random_launch_graphs import expect_legal, ordered, width

from weft.dsl.diagnostics import Source
from weft.interpreter.forking.forking import async_fork
from weft.interpreter.ir.mlir import ir
from weft.interpreter.proof.hosts.effects import Effects
from weft.interpreter.proof.hosts.faults import judge_host
from weft.runtime.host.host import make_plan
from weft.runtime.plan.plan import Alloc, Copy, Free, Launch, Plan
from weft.runtime.run.runner import run_plan
from weft.runtime.run.work import interleaved
from weft.runtime.simulator.device import SimDevice

COUNT = 1000 if "WEFT_SOAK" in os.environ else 2


def planned(program: tuple[Node, ...], buffers: int, noalias: tuple[str, ...] | None) -> tuple[Plan, str]:
    """The forked program's plan, and its text. It is proven free of faults, too."""
    module = parsed(spelled(program, buffers))
    with module.context, ir.Location.unknown():
        async_fork(module, noalias)
    text = str(module)
    found = judge_host(host(module), Effects(module), source=Source("forked", text), may_alias=noalias is None)
    assert not found.diagnostics, found.diagnostics[0]
    return make_plan(module), text


@pytest.mark.parametrize("seed", range(COUNT))
def test_conflicts_are_ordered(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    buffers = 5 + seed * 7 % 150
    program = random_program(seed, buffers=buffers, launches=200)
    steps = flattened(program)
    plan, _ = planned(program, buffers, ())
    order = ordered(plan)
    work = [i for i, step in enumerate(plan.steps) if isinstance(step, Launch | Copy)]
    assert len(work) == len(steps)
    needed: list[set[int]] = []
    for i, later in enumerate(steps):
        direct = {j for j in range(i) if steps[j].conflicts(later)}
        assert {work[j] for j in direct} <= order[work[i]], i
        needed.append(direct.union(*(needed[j] for j in direct)))
    assert len({plan.steps[i].stream for i in work}) <= width(needed)
    expect_memory_lives(plan, order)
    expect_legal(plan, interleaved(plan.steps, seed))
    count = len(plan.launches)
    expect_given_back(plan, seed, range(0, count + 1, 1 if seed % 10 == 3 else -(-count // 8)), monkeypatch)


@pytest.mark.parametrize("seed", range(COUNT // 2))
def test_what_may_overlap_is_ordered(seed: int) -> None:
    """Nothing is stated of the arguments: few are written, in halves, so that others are still on their way when one is."""
    buffers = 2 + seed % 3
    program = random_program(5000 + seed, buffers=buffers, launches=120, writes=0.4, whole=0.1)
    plan, _ = planned(program, buffers, None)
    expect_ordered(plan, flattened(program), overlapping=True)
    stated, _ = planned(program, buffers, ("b0", "b1"))
    expect_ordered(stated, flattened(program))
    assert {s.stream for s in stated.steps} >= {s.stream for s in plan.steps}


def expect_ordered(plan: Plan, steps: list[Step], overlapping: bool = False) -> None:
    """Streams and events keep each conflicting pair of launches and copies in program order; `overlapping`: and those on different
    arguments of which one is written."""
    order = ordered(plan)
    work = [i for i, step in enumerate(plan.steps) if isinstance(step, Launch | Copy)]
    assert len(work) == len(steps)
    for i, later in enumerate(steps):
        for j in range(i):
            if work[j] not in order[work[i]]:
                assert not steps[j].conflicts(later), (j, i)
                assert not overlapping or not steps[j].may_overlap(later), (j, i)


def expect_memory_lives(plan: Plan, order: list[set[int]]) -> None:
    """Each temporary is allocated before all that touches it, and freed behind."""
    users: dict[str, list[int]] = {}
    for i, step in enumerate(plan.steps):
        views = step.args if isinstance(step, Launch) else (step.source, step.target) if isinstance(step, Copy) else ()
        for name in {v.buffer for v in views if hasattr(v, "buffer")}:  # type: ignore[union-attr]
            users.setdefault(name, []).append(i)
    for i, step in enumerate(plan.steps):
        if isinstance(step, Alloc):
            assert all(i in order[user] for user in users.get(step.buffer, ()))
        elif isinstance(step, Free):
            assert all(user in order[i] for user in users.get(step.buffer, ()))


@pytest.mark.few()
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("noalias", [None, ()])
def test_every_order_gives_the_same(seed: int, noalias: tuple[str, ...] | None) -> None:
    program = random_program(1000 + seed, buffers=5, launches=14)
    serial = make_plan(parsed(spelled(program, 5)))
    inputs = ones(serial)
    expected = run_plan(serial, SimDevice(), inputs, text=spelled(program, 5)).outputs
    plan, text = planned(program, 5, noalias)
    device = SimDevice()
    for order in range(4):
        result = run_plan(plan, device, inputs, text=text, order=order)
        for name, array in expected.items():
            np.testing.assert_array_equal(result.outputs[name], array)
    assert device.alive.total() == 0
