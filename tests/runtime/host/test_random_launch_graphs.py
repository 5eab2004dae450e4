"""Random graphs of launches, from text to numbers: plans keep the order that buffers ask for, on as few streams as can be
busy at once; every order that they allow gives the same result; what is made is given back, whatever fails.

2 graphs of 200 launches in a test run, a tenth of whose launches fail; 1,000 in a soak, all of them.
"""

from __future__ import annotations

import os
from functools import cache

import numpy as np
import pytest
from given_back import expect_given_back
from launch_graphs import LaunchSpec, parsed, program, random_launches

from weft.dsl.diagnostics import WeftError, fail
from weft.interpreter.forking.forking import async_fork
from weft.interpreter.ir.mlir import ir
from weft.runtime.host.host import make_plan
from weft.runtime.plan.plan import Plan
from weft.runtime.run.runner import run_plan
from weft.runtime.run.work import interleaved
from weft.runtime.simulator.device import SimDevice

SOAK = "WEFT_SOAK" in os.environ
COUNT = 1000 if SOAK else 2


def planned(launches: list[LaunchSpec], buffers: int, attributes: str = "") -> tuple[Plan, str]:
    module = parsed(program(launches, buffers, attributes=attributes))
    with module.context, ir.Location.unknown():
        async_fork(module, noalias=())
    return make_plan(module), str(module)


@cache
def large(seed: int) -> tuple[list[LaunchSpec], Plan]:
    """A graph of 200 launches, and its plan."""
    buffers = 5 + seed * 7 % 150
    launches = random_launches(200, buffers, seed)
    return launches, planned(launches, buffers)[0]


def before(launches: list[LaunchSpec]) -> list[set[int]]:
    """For each launch those that must be done before, closed."""
    found: list[set[int]] = []
    for i, later in enumerate(launches):
        direct = {j for j in range(i) if launches[j].conflicts(later)}
        found.append(direct.union(*(found[j] for j in direct)))
    return found


def ordered(plan: Plan) -> list[set[int]]:
    """For each step those that streams and events put before it."""
    last: dict[int, int] = {}
    found: list[set[int]] = []
    for i, step in enumerate(plan.steps):
        sources = {*step.after, *([last[step.stream]] if step.stream in last else [])}
        found.append(sources.union(*(found[s] for s in sources)))
        last[step.stream] = i
    return found


def width(order: list[set[int]]) -> int:
    """The size of the largest unordered set: operations less the largest matching of those that may follow each other."""
    match: dict[int, int] = {}

    def follow(op: int, seen: set[int]) -> bool:
        for earlier in order[op] - seen:
            if earlier in seen:
                continue
            seen.add(earlier)
            if earlier not in match or follow(match[earlier], seen):
                match[earlier] = op
                return True
        return False

    return len(order) - sum(follow(op, set()) for op in range(len(order)))


@pytest.mark.parametrize("seed", range(COUNT))
def test_order_and_streams(seed: int) -> None:
    launches, plan = large(seed)
    needed, given = before(launches), ordered(plan)
    assert all(n <= g for n, g in zip(needed, given, strict=True))
    assert len({s.stream for s in plan.steps}) == width(needed)
    for order in (0, 1, 2):
        expect_legal(plan, interleaved(plan.steps, order))


@pytest.mark.parametrize("seed", range(COUNT))
def test_every_launch_fails_in_turn(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _, plan = large(seed)
    assert len(plan.launches) == 200
    failing = range(200) if SOAK else range(seed % 10, 200, 10)  # all of them, over ten seeds
    expect_given_back(plan, seed, failing, monkeypatch)


def expect_legal(plan: Plan, order: list[int]) -> None:
    place = {number: i for i, number in enumerate(order)}
    assert sorted(order) == list(range(len(plan.steps)))
    assert all(place[b] < place[i] for i, found in enumerate(ordered(plan)) for b in found)


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(6))
def test_every_order_gives_the_same(seed: int) -> None:
    launches = random_launches(12, 6, seed)
    plan, text = planned(launches, 6)
    inputs = {f"b{i}": np.full(64, i + 1, np.float32) for i in range(6) if f"b{i}" in {b.name for b in plan.inputs}}
    serial = make_plan(parsed(program(launches, 6)))
    expected = run_plan(serial, SimDevice(), inputs, text=text).outputs
    device = SimDevice()
    for order in range(8):
        result = run_plan(plan, device, inputs, text=text, order=order)
        for name, array in expected.items():
            np.testing.assert_array_equal(result.outputs[name], array)
        assert result.streams_created == result.streams_destroyed > 0
        assert result.events_created == result.events_destroyed
    assert device.alive.total() == 0


def test_a_missing_edge_gives_other_numbers_in_some_order() -> None:
    """b1 = f(b0) and b0 = g() on two streams, unordered: not every order agrees."""
    launches = [LaunchSpec((0,), (1,)), LaunchSpec((), (0,))]
    text = program(launches, 2)
    calls = [line for line in text.splitlines() if line.startswith("gpu.launch_func")]
    racy = text
    for i, call in enumerate(calls):
        racy = racy.replace(
            call,
            f"%r{i} = gpu.wait async\n" + call.replace("gpu.launch_func", f"%t{i} = gpu.launch_func async [%r{i}]"),
        )
    module = parsed(racy.replace("return\n}\n}", "gpu.wait [%t0, %t1]\nreturn\n}\n}"))
    plan = make_plan(module)
    inputs = {f"b{i}": np.full(64, i + 1, np.float32) for i in range(2)}
    found = {run_plan(plan, SimDevice(), inputs, text=str(module), order=o).outputs["b1"].tobytes() for o in range(6)}
    assert len(found) == 2


class _FailingSimulator(SimDevice):
    """The launch with that number fails."""

    def __init__(self, fail_at: int) -> None:
        super().__init__(check=False)
        self.left = fail_at

    def launch(self, *args: object) -> object:  # type: ignore[override]
        self.left -= 1
        if self.left < 0:
            raise fail("W0723", "made to fail")
        return super().launch(*args)  # type: ignore[arg-type]


@pytest.mark.parametrize("streams", [None, 2])
def test_a_fault_at_every_launch(streams: int | None) -> None:
    launches = random_launches(12, 8, 7)
    attributes = "" if streams is None else f"attributes {{weft.streams = {streams} : i64}}"
    plan, text = planned(launches, 8, attributes)
    assert len({s.stream for s in plan.steps}) > 1
    inputs = {b.name: np.ones(64, np.float32) for b in plan.inputs}
    for fail_at in range(len(plan.launches)):
        device = _FailingSimulator(fail_at)
        with pytest.raises(WeftError, match="W0723: made to fail") as caught:
            run_plan(plan, device, inputs, text=text, order=fail_at)
        assert caught.value.diagnostics[0].message == "made to fail"
        assert device.alive.total() == 0, fail_at
    device = _FailingSimulator(len(plan.launches))
    result = run_plan(plan, device, inputs, text=text)
    assert result.streams_created == result.streams_destroyed == len({s.stream for s in plan.steps})
    assert result.events_created == result.events_destroyed > 0 == device.alive.total()
