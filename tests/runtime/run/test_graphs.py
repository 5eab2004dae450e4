"""A plan captured into a graph and replayed: the numbers are right in any order the graph allows, nothing is done while it is
captured, nothing that a graph cannot hold gets into it, and everything is given back whatever fails."""

from __future__ import annotations

import gc
import importlib.util
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy_device import NumpyDevice
from places import STAND_INS, TESTS
from runtime_programs import whole

from weft.dsl.diagnostics import WeftError
from weft.runtime.devices.device import Device
from weft.runtime.host.streams import assign_streams, waited
from weft.runtime.plan.plan import (
    Alloc,
    AnyStep,
    Buffer,
    BufferView,
    Copy,
    Fill,
    Free,
    KernelEntry,
    Launch,
    Param,
    Plan,
    ScalarValue,
)
from weft.runtime.run import cupy_device
from weft.runtime.run.cupy_device import CupyDevice
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

X = np.arange(8, dtype=np.float32)
FAKE = STAND_INS / "cupy.py"


def fork() -> Plan:
    """y = 6 * x and z = 2 * x + 7 in every second element: two streams from one launch, a strided fill and a strided copy."""
    vector = Param("v", "f32", (8,), (1,))
    scale = KernelEntry("scale", "g::scale", (vector, vector, Param("f", "f32")))

    def launch(source: str, target: str, factor: float, **order: object) -> Launch:
        args = (whole(source, 8), whole(target, 8), ScalarValue("f32", factor))
        return Launch(kernel="scale", grid=(1, 1, 1), block=(8, 1, 1), args=args, **order)  # type: ignore[arg-type]

    even, odd = BufferView("z", 0, (4,), (2,)), BufferView("z", 1, (4,), (2,))
    steps: tuple[AnyStep, ...] = (
        Alloc(buffer="t"),
        launch("x", "t", 2.0),
        launch("t", "y", 3.0),
        Alloc(buffer="u", stream=1),
        Copy(source=whole("t", 8), target=whole("u", 8), stream=1, after=(1,)),
        Free(buffer="t", after=(4,)),
        Copy(source=BufferView("u", 0, (4,), (2,)), target=even, stream=1),
        Fill(target=odd, value=ScalarValue("f32", 7.0), stream=1),
        Free(buffer="u", stream=1),
    )
    buffers = (
        Buffer("x", "f32", (8,), "input"), Buffer("y", "f32", (8,), "output"), Buffer("z", "f32", (8,), "output"),
        Buffer("t", "f32", (8,), "temp"), Buffer("u", "f32", (8,), "temp"),
    )  # fmt: skip
    return Plan("f", buffers, (), steps, (scale,))


def expect_right(outputs: dict[str, np.ndarray]) -> None:
    np.testing.assert_array_equal(outputs["y"], 6 * X)
    np.testing.assert_array_equal(outputs["z"], np.where(np.arange(8) % 2, 7, 2 * X))


def scale(source: np.ndarray, target: np.ndarray, factor: np.float32) -> None:
    target[...] = source * factor


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("cupy", FAKE)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "cupy", made)
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cupy_device, "_memory", {})
    spec.loader.exec_module(made)
    yield made


# ---- what a graph does -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [None, *range(6)])
def test_it_is_captured_once_and_replayed(seed: int | None) -> None:
    numpy = NumpyDevice({"scale": scale}, order=seed)
    result = run_plan(fork(), numpy, {"x": X}, text="kernels", repeat=3, order=seed, graph=True)
    expect_right(dict(result.outputs))
    calls = [call[0] for call in numpy.log]
    assert calls.count("begin_capture") == calls.count("end_capture") == 1 and calls.count("launch_graph") == 4
    assert calls.count("launch") == 8 and len(result.repeats) == len(result.issued) == 3
    assert (result.graphs_created, result.graphs_destroyed) == (1, 1)
    assert (result.streams_created, result.streams_destroyed) == (2, 2)
    assert "capture" in result.seconds and numpy.alive.total() == 0


def test_nothing_is_done_while_it_is_captured() -> None:
    numpy = NumpyDevice({"scale": scale})
    run_plan(fork(), numpy, {"x": X}, graph=True)
    calls = [call[0] for call in numpy.log]
    captured = calls[calls.index("begin_capture") + 1 : calls.index("end_capture")]
    assert set(captured) == {"captured", "record", "wait"} and captured.count("captured") == 5
    assert "launch" not in calls[: calls.index("launch_graph")] and calls.count("alloc") == 4
    assert calls.count("part") == 2


def test_orders_differ_and_keep_what_the_plan_says() -> None:
    seen: set[tuple[str, ...]] = set()
    for seed in range(20):
        numpy = NumpyDevice({"scale": scale}, order=seed)
        run_plan(fork(), numpy, {"x": X}, graph=True)
        seen.add(tuple(call[1] for call in numpy.log if call[0] in ("launch", "copy", "fill")))
    assert len(seen) > 1, "the streams take turns"
    assert all(order.index("scale") == 0 and order.index("u") < order.index("z") for order in seen)


def test_without_streams_and_without_work() -> None:
    serial = fork()
    plan = replace(serial, steps=tuple(replace(s, stream=0, after=()) for s in serial.steps))
    expect_right(dict(run_plan(plan, NumpyDevice({"scale": scale}), {"x": X}, graph=True).outputs))
    nothing = replace(plan, steps=())
    result = run_plan(nothing, NumpyDevice({}), {"x": X}, graph=True)
    assert np.isnan(result.outputs["y"]).all() and result.graphs_created == 1


def test_a_trace_is_refused_before_anything_runs() -> None:
    numpy = NumpyDevice({"scale": scale})
    with pytest.raises(WeftError, match="W0724: a graph is replayed as a whole"):
        run_plan(fork(), numpy, {"x": X}, trace=True, graph=True)
    assert numpy.log == []


def random_plan(seed: int) -> Plan:
    """Forty launches on six buffers, each of which reads two and writes one, on as many streams as their order allows."""
    draw = random.Random(seed)
    names = [f"b{i}" for i in range(6)]
    made: list[tuple[str, str, str]] = []
    needs: list[set[int]] = []
    for number in range(40):
        left, right, target = draw.choice(names), draw.choice(names), draw.choice(names)
        touched = ({left, right}, target)
        needs.append({i for i in range(number) if made[i][2] in {*touched[0], target} or target in made[i][:2]})
        made.append((left, right, target))
    streams, _ = assign_streams(needs)
    param = Param("v", "i64", (4,), (1,))
    steps = tuple(
        Launch(kernel="mix", grid=(1, 1, 1), block=(4, 1, 1), args=tuple(whole(n, 4) for n in one), stream=stream, after=after)
        for one, stream, after in zip(made, streams, waited(needs, streams), strict=True)
    )
    buffers = tuple(Buffer(n, "i64", (4,), "inout") for n in names)
    return Plan("f", buffers, (), steps, (KernelEntry("mix", "g::mix", (param, param, param)),))


def mix(left: np.ndarray, right: np.ndarray, target: np.ndarray) -> None:
    target[...] = (3 * left + 5 * right + 7) % 1009


@pytest.mark.parametrize("seed", range(10))
def test_random_plans_give_the_same_in_any_order_of_their_graph(seed: int) -> None:
    plan = random_plan(seed)
    given = {b.name: np.arange(4) + 10 * i for i, b in enumerate(plan.buffers)}
    serial = replace(plan, steps=tuple(replace(s, stream=0, after=()) for s in plan.steps))
    expected = run_plan(serial, NumpyDevice({"mix": mix}), given).outputs
    assert len({s.stream for s in plan.steps}) > 1
    for order in (None, *range(5)):
        got = run_plan(plan, NumpyDevice({"mix": mix}, order=order), given, graph=True).outputs
        for name, array in expected.items():
            np.testing.assert_array_equal(got[name], array)


# ---- what fails -------------------------------------------------------------------------------------------------------

CALLS = 70


@pytest.mark.parametrize("fail_at", range(CALLS))
def test_everything_is_given_back_when_a_call_fails(fail_at: int) -> None:
    numpy = NumpyDevice({"scale": scale}, fail_at)
    try:
        run_plan(fork(), numpy, {"x": X}, text="kernels", repeat=1, graph=True)
    except WeftError as error:
        assert error.diagnostics[0].message.startswith("made to fail")
    else:
        assert 45 < numpy.calls <= fail_at
    assert numpy.alive.total() == 0 and numpy.capture is None


def test_an_interrupt_gives_everything_back() -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    numpy = NumpyDevice({"scale": interrupted})
    with pytest.raises(KeyboardInterrupt):
        run_plan(fork(), numpy, {"x": X}, graph=True)
    assert numpy.alive.total() == 0


def captured(device: Device) -> tuple[object, object]:
    first, second = device.create_stream(), device.create_stream()
    device.begin_capture(first)
    return first, second


def test_a_stream_that_is_not_joined() -> None:
    device = NumpyDevice({})
    first, second = captured(device)
    event = device.create_event()
    device.record(event, first)  # type: ignore[arg-type]
    device.wait(second, event)  # type: ignore[arg-type]
    memory = device.alloc("m", "f32", 4) if device.capture is None else {"data": X, "alive": True, "name": "m"}
    from weft.runtime.devices.device import DeviceView

    device.filler(DeviceView(memory, "m", "f32", 0, (4,), (1,)), np.float32(0), second)()
    with pytest.raises(WeftError, match="W0724: 1 of 1 captured steps"):
        device.end_capture(first)  # type: ignore[arg-type]


@pytest.mark.parametrize("what", ["synchronize", "alloc"])
def test_what_a_graph_cannot_hold(what: str) -> None:
    device = NumpyDevice({})
    captured(device)
    with pytest.raises(WeftError, match="nothing that a graph can hold"):
        device.synchronize() if what == "synchronize" else device.alloc("m", "f32", 1)


# ---- on the stand-in for CuPy -----------------------------------------------------------------------------------------


def test_a_graph_of_cuda(cupy: ModuleType) -> None:
    result = run_plan(fork(), CupyDevice(), {"x": X}, text="text", repeat=2, graph=True)
    expect_right(dict(result.outputs))
    launched = [entry for entry in cupy.LOG if entry[0] == "graph launch"]
    assert len(launched) == 3 and (result.graphs_created, result.graphs_destroyed) == (1, 1)
    assert [entry[1] for entry in cupy.LOG if entry[0] == "launch"] == ["scale", "scale", "weft_copy_4_1", "weft_fill_4_1"]
    del result
    gc.collect()
    assert not any(cupy.LIVE.values())


def calls_of_cuda(cupy: ModuleType, graph: bool) -> int:
    run_plan(fork(), CupyDevice(), {"x": X}, text="text", repeat=1, graph=graph)
    gc.collect()
    return cupy.CALLS[0]


@pytest.mark.parametrize("graph", [False, True])
def test_every_call_of_cuda_may_fail(cupy: ModuleType, graph: bool) -> None:
    """Also in the middle of a capture, at its end, and when the graph is instantiated."""
    calls = calls_of_cuda(cupy, graph)
    assert calls > 40
    messages = set()
    gc.freeze()  # what is there before needs not be looked at each time
    for fail_at in range(calls):
        cupy.CALLS[0], cupy.FAIL_CALL[:] = 0, [fail_at]
        try:
            run_plan(fork(), CupyDevice(), {"x": X}, text="text", repeat=1, graph=graph)
        except WeftError as error:
            messages.add(error.diagnostics[0].message.split(":")[0])
        gc.collect()
        assert not any(cupy.LIVE.values()) and not cupy.CAPTURES, f"call {fail_at}: {cupy.LIVE}"
    graphs = {"capturing a graph", "instantiating a graph", "launching a graph"}
    assert messages & graphs == (graphs if graph else set())
    assert {"launching `scale`", "recording an event", "waiting for an event", "filling `z`", "copying `t` to `u`"} <= messages
    cupy.FAIL_CALL.clear()
    expect_right(dict(run_plan(fork(), CupyDevice(), {"x": X}, text="text", graph=True).outputs))


# ---- on the simulator, from the command line --------------------------------------------------------------------------


def test_weft_run_replays_a_graph_on_the_simulator(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from weft.cli import run

    example = str(TESTS / "interpreter" / "statements" / "examples" / "async-fork.weft")
    arguments = ["run", example, "--target", "sim", "--reference", "none", "--json", "--graph"]
    outputs = []
    for seed in ("0", "1", "2"):
        assert run([*arguments, "--seed", seed, "--save", str(tmp_path / "y.npz")]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["graphs_created"] == found["graphs_destroyed"] == 1 and found["races"] == []
        assert found["streams_created"] == found["streams_destroyed"] == 2 and "capture" in found["seconds"]
        outputs.append(len(found["kernels"]))
    assert outputs == [3, 3, 3]
    assert run([*arguments, "--trace", str(tmp_path / "t.json")]) == 2
    assert "without --graph" in capsys.readouterr().err and not (tmp_path / "t.json").exists()


def test_the_simulator_keeps_nothing_and_sees_races_in_a_replay() -> None:
    """Two fills that a missing edge leaves unordered: other turns give other numbers, and each of them names the pair."""
    step = Fill(target=whole("y", 8), value=ScalarValue("f32", 1.0))
    other = Fill(target=whole("y", 8), value=ScalarValue("f32", 2.0), stream=1)
    plan = Plan("f", (Buffer("y", "f32", (8,), "output"),), (), (step, other), ())
    seen = set()
    for seed in range(8):
        device = SimDevice()
        result = run_plan(plan, device, {}, order=seed, graph=True, repeat=2)
        assert [(race.kind, race.buffer) for race in result.races or ()] == [("WAW", "y")]
        seen.add(float(result.outputs["y"][0]))
        assert not any(device.alive.values())
    assert seen == {1.0, 2.0}
    ordered = replace(plan, steps=(step, replace(other, after=(0,))))
    assert run_plan(ordered, SimDevice(), {}, order=1, graph=True, repeat=2).races == ()
