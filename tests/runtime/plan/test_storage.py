"""Temporaries share bytes only where streams and events put all uses of one before the other; a reuse that is too early is found
by the check of the plan, and by the simulator."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from temporary_graphs import SHAPES, planned, random_graph
from test_random_launch_graphs import ordered

import weft
from weft import api
from weft.dsl.diagnostics import WeftError
from weft.pipeline import Planned, applied
from weft.pipeline import planned as planned_
from weft.runtime.cpu.device import CpuDevice
from weft.runtime.files.bundle import read_bundle, write_bundle
from weft.runtime.plan import resolve, storage
from weft.runtime.plan.check import check
from weft.runtime.plan.codec import dump, load
from weft.runtime.plan.plan import Alloc, Buffer, Free, Plan, used_buffers
from weft.runtime.plan.storage import ALIGNMENT, placed, storage_bytes, storage_of
from weft.runtime.run.runner import RunResult, run_plan
from weft.runtime.simulator.device import SimDevice

X = {"x": np.arange(64, dtype=np.float32), "y": np.zeros(64, np.float32)}
BOTH = pytest.mark.parametrize("streams", [False, True], ids=["one stream", "streams"])


def inputs(plan: Plan) -> dict[str, np.ndarray]:
    return {buffer.name: X[buffer.name] for buffer in plan.inputs}


def temporaries(plan: Plan) -> list[Buffer]:
    return [buffer for buffer in plan.buffers if buffer.role == "temp"]


def overlapping(plan: Plan) -> Iterator[tuple[Buffer, Buffer]]:
    """Pairs of temporaries with bytes in common."""
    for one, other in combinations(temporaries(plan), 2):
        starts = [buffer.place for buffer in (one, other)]
        ends = [(b.place or 0) + 4 * int(np.prod([int(str(n)) for n in b.shape])) for b in (one, other)]
        assert None not in starts
        if starts[0] < ends[1] and starts[1] < ends[0]:  # type: ignore[operator]
            yield one, other


def moved(plan: Plan, name: str, place: int) -> Plan:
    return replace(plan, buffers=tuple(replace(b, place=place) if b.name == name else b for b in plan.buffers))


def alone(plan: Plan) -> Plan:
    """The plan with temporaries that share nothing."""
    places = {buffer.name: 4 * ALIGNMENT * number for number, buffer in enumerate(temporaries(plan))}
    return replace(plan, buffers=tuple(replace(b, place=places.get(b.name)) for b in plan.buffers))


def without_event(plan: Plan, step: int, earlier: int) -> Plan:
    steps = list(plan.steps)
    steps[step] = replace(steps[step], after=tuple(n for n in steps[step].after if n != earlier))
    return replace(plan, steps=tuple(steps))


def codes(plan: Plan) -> set[str]:
    return {found.code for found in check(plan)}


def simulated(plan: Plan, text: str, order: int | None = None, **options: bool) -> RunResult:
    """The run of a plan that nothing has checked."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resolve, "validate", lambda plan, _: plan)
        return run_plan(plan, SimDevice(), inputs(plan), text=text, order=order, **options)


def is_noticed(plan: Plan, text: str) -> bool:
    result = simulated(plan, text)
    return bool(result.races or result.faults)


@BOTH
@pytest.mark.parametrize("graph", [*SHAPES.values(), *map(random_graph, range(4))], ids=[*SHAPES, *map(str, range(4))])
def test_bytes_are_shared_only_in_order(graph: list[tuple[str, tuple[str, ...]]], streams: bool) -> None:
    draw = random.Random(len(graph))
    sizes = {name: draw.choice((64, 128, 192, 256)) for name, _ in graph if name != "y"}
    plan, text = planned(graph, streams=streams, sizes=sizes)
    assert check(plan) is not None and not codes(plan)
    before = ordered(plan)
    uses = {
        b.name: {i for i, s in enumerate(plan.steps) if b.name in used_buffers(s) and not isinstance(s, Alloc | Free)}
        for b in temporaries(plan)
    }
    for one, other in overlapping(plan):
        first, last = sorted((uses[one.name], uses[other.name]), key=min)
        assert all(first <= before[use] for use in last), (one.name, other.name)
    expected = run_plan(alone(plan), SimDevice(), inputs(plan), text=text)
    for order in (None, 0, 1, 2, 3):
        result = run_plan(plan, SimDevice(), inputs(plan), text=text, order=order)
        assert not result.races and not result.faults
        np.testing.assert_array_equal(result.outputs["y"], expected.outputs["y"])
    for repeated in (run_plan(plan, SimDevice(), inputs(plan), text=text, repeat=2, graph=graph_) for graph_ in (False, True)):
        assert not repeated.races and not repeated.faults
        np.testing.assert_array_equal(repeated.outputs["y"], expected.outputs["y"])
    native = run_plan(plan, CpuDevice(2), inputs(plan), text=text, repeat=1)
    np.testing.assert_array_equal(native.outputs["y"], expected.outputs["y"])


@BOTH
@pytest.mark.parametrize("shape", SHAPES)
def test_a_place_of_another_temporary_that_is_in_use(shape: str, streams: bool) -> None:
    """Each pair that the check refuses to share bytes: the simulator finds it as well, without the check."""
    plan, text = planned(SHAPES[shape], streams=streams)
    apart = alone(plan)
    assert not codes(apart) and not is_noticed(apart, text)
    refused = 0
    for one, other in combinations(temporaries(apart), 2):
        mutant = moved(apart, other.name, one.place or 0)
        found = codes(mutant)
        assert found <= {"W0769"}
        refused += bool(found)
        assert is_noticed(mutant, text) == bool(found), (one.name, other.name)
    assert refused >= len(temporaries(plan)) - 1


@pytest.mark.parametrize("shape", ["diamond", "fork"])
def test_an_event_that_is_missing(shape: str) -> None:
    """Where the event orders a reuse, check and simulator find it; and the simulator finds every event that is missing."""
    plan, text = planned(SHAPES[shape], streams=True)
    found: list[set[str]] = []
    for number, step in enumerate(plan.steps):
        for earlier in step.after:
            mutant = without_event(plan, number, earlier)
            found.append(codes(mutant))
            if "W0769" in found[-1]:
                result = simulated(mutant, text)
                shared = {b.name for pair in overlapping(plan) for b in pair}
                assert any(race.buffer in shared for race in result.races or ()), (number, earlier)
    assert any("W0769" in each for each in found), found


def test_a_plan_with_wrong_places() -> None:
    plan, _ = planned(SHAPES["chain"], streams=False)
    a, b, *_ = temporaries(plan)
    assert codes(moved(plan, a.name, b.place or 0)) == {"W0769"}
    for place in (-ALIGNMENT, 2**50, 100):
        assert "W0703" in codes(moved(plan, a.name, place))
    assert codes(replace(plan, buffers=tuple(replace(x, place=None) if x == a else x for x in plan.buffers))) == {"W0703"}
    assert codes(replace(plan, buffers=tuple(replace(x, place=0) if x.role != "temp" else x for x in plan.buffers))) == {"W0703"}
    with pytest.raises(WeftError) as error:
        load(dump(moved(plan, a.name, b.place or 0)))
    (found,) = error.value.diagnostics
    assert found.code == "W0769" and found.message.startswith(f"steps[2]: `{b.name}` takes bytes of `{a.name}`")


def test_what_a_chain_takes() -> None:
    """Two temporaries at a time, whatever its length."""
    plan, _ = planned(SHAPES["chain"], streams=False)
    found = storage_of(plan)
    assert (found.size, found.needed, found.apart, found.by_streams) == (512, 512, 1024, 0)
    assert found.live == (256, 512, 512, 512, 256)


def test_what_streams_add() -> None:
    plan, _ = planned(SHAPES["fork"], streams=True)
    serial, _ = planned(SHAPES["fork"], streams=False)
    found, alone = storage_of(plan), storage_of(serial)
    assert found.by_streams == found.size - alone.size > 0


@pytest.mark.parametrize("seed", range(20))
def test_random_lifetimes(seed: int) -> None:
    """Of random sizes on one stream: within a tenth of what is live at once, and never less."""
    draw = random.Random(seed)
    buffers = [Buffer(f"t{n}", "f32", (draw.choice((16, 1000, 5000, 40_000, 200_000)),), "temp") for n in range(60)]
    starts = sorted((draw.random(), b.name, True) for b in buffers)
    events = sorted([*starts, *((t + draw.expovariate(12), name, False) for t, name, _ in starts)])
    steps = tuple(Alloc(buffer=name) if begins else Free(buffer=name) for _, name, begins in events)
    plan = placed(Plan("f", tuple(buffers), (), steps, ()))
    assert not codes(plan)
    sizes = {b.name: -(-4 * int(str(b.shape[0])) // ALIGNMENT) * ALIGNMENT for b in buffers}
    live = most = 0
    for step in steps:
        assert isinstance(step, Alloc | Free)
        live += sizes[step.buffer] if isinstance(step, Alloc) else -sizes[step.buffer]
        most = max(most, live)
    assert most <= storage_bytes(plan) <= 1.1 * most


OPEN = """func.func @open(%x: tensor<?x16xf32>, %w: tensor<16x16xf32>) -> tensor<?x16xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x16xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  %a = linalg.matmul ins(%x, %w : tensor<?x16xf32>, tensor<16x16xf32>) outs(%z : tensor<?x16xf32>) -> tensor<?x16xf32>
  %b = linalg.matmul ins(%a, %w : tensor<?x16xf32>, tensor<16x16xf32>) outs(%z : tensor<?x16xf32>) -> tensor<?x16xf32>
  %c = linalg.matmul ins(%b, %w : tensor<?x16xf32>, tensor<16x16xf32>) outs(%z : tensor<?x16xf32>) -> tensor<?x16xf32>
  %d = linalg.matmul ins(%c, %w : tensor<?x16xf32>, tensor<16x16xf32>) outs(%z : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %d : tensor<?x16xf32>
}"""


@pytest.fixture(scope="module")
def open_program() -> Planned:
    return planned_(applied(api.load(None, payload=OPEN)))


def test_open_sizes_get_their_places_at_the_run(open_program: Planned, tmp_path: Path) -> None:
    """Also from a bundle, which has the sizes no sooner, and no MLIR."""
    plan = open_program.plan
    assert {buffer.place for buffer in temporaries(plan)} == {None} and len(temporaries(plan)) == 3
    folder = write_bundle(tmp_path / "bundle", plan, open_program.cuda, open_program.applied.text)
    bundled = read_bundle(folder).plan
    for rows in (0, 1, 9, 40):
        known = resolve.resolve(bundled, {"x": (rows, 16), "w": (16, 16)}, {})
        assert storage_of(known).size == 2 * -(-rows * 64 // ALIGNMENT) * ALIGNMENT
        given = {"x": np.ones((rows, 16), np.float32), "w": np.eye(16, dtype=np.float32)}
        result = run_plan(bundled, SimDevice(), given, text=open_program.applied.text, repeat=1)
        assert not result.races and not result.faults
        (output,) = result.outputs.values()
        np.testing.assert_array_equal(output, given["x"])


def test_calls_of_several_sizes() -> None:
    """Each layout of arguments has a storage of its own, which its calls use again."""
    kernel = weft.compile(None, payload=OPEN, target="cpu")
    draw = np.random.default_rng(0)
    w = draw.random((16, 16), dtype=np.float32)
    for rows in (3, 40, 3, 0, 17):
        x = draw.random((rows, 16), dtype=np.float32)
        for _ in range(2):
            np.testing.assert_allclose(kernel(x, w), x @ w @ w @ w @ w, rtol=1e-4)


def test_too_many_temporaries_on_streams_share_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    shared, _ = planned(SHAPES["fork"], streams=True)
    monkeypatch.setattr(storage, "MOST_ON_STREAMS", 3)
    plan, text = planned(SHAPES["fork"], streams=True)
    assert storage_of(plan).size == storage_of(plan).apart > storage_of(shared).size
    assert not codes(plan) and not is_noticed(plan, text)
