"""The runner does what the plan says, and gives everything back, whatever fails."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy_device import NumpyDevice
from runtime_programs import two_stream_plan, whole

from weft.dsl.diagnostics import WeftError
from weft.runtime.plan.plan import Buffer, BufferView, Copy, DimOf, Free, KernelEntry, Launch, Param, Plan
from weft.runtime.run.runner import run_plan

X = np.arange(8, dtype=np.float32)
INPUTS = {"x": X, "factor": np.float32(3)}


def scale(source: np.ndarray, target: np.ndarray, factor: np.float32) -> None:
    assert type(factor) is np.float32
    target[...] = source * factor


def device(fail_at: int | None = None) -> NumpyDevice:
    return NumpyDevice({"scale": scale}, fail_at)


def test_it_runs() -> None:
    numpy = device()
    result = run_plan(two_stream_plan(), numpy, INPUTS, text="kernels")
    np.testing.assert_array_equal(result.outputs["y"], 3 * X)
    assert (result.streams_created, result.streams_destroyed) == (2, 2)
    assert (result.events_created, result.events_destroyed) == (1, 1)
    assert [(k.name, k.grid, k.block, k.shared_bytes) for k in result.kernels] == [
        ("scale", (1, 1, 1), (8, 1, 1), 128)
    ] * 2
    assert set(result.seconds) == {"load", "upload", "run", "download"}
    assert result.races is None and result.faults is None and result.barriers is None
    assert numpy.alive.total() == 0
    assert ("poison", "y", 0xFF) in numpy.log and ("poison", "t", 0xFF) in numpy.log
    np.testing.assert_array_equal(X, np.arange(8))


def test_streams_wait_for_each_other() -> None:
    numpy = device()
    run_plan(two_stream_plan(), numpy, INPUTS)
    order = [call[0] for call in numpy.log if call[0] in ("launch", "copy", "record", "wait")]
    assert order == ["launch", "record", "wait", "copy", "record", "wait", "launch"]
    records = [call[1:] for call in numpy.log if call[0] == "record"]  # event, stream
    waits = [call[1:] for call in numpy.log if call[0] == "wait"]  # stream, event
    (event, first), (again, second) = records
    assert waits == [(second, event), (first, again)] and first != second
    assert event == again, "an event is recorded anew when all that wait for it were told"


@pytest.mark.parametrize("graph", [False, True])
def test_a_temporary_that_the_plan_never_frees_is_freed_with_the_run(graph: bool) -> None:
    numpy, plan = device(), two_stream_plan()
    kept = replace(plan, steps=tuple(s for s in plan.steps if not isinstance(s, Free)))
    assert len(kept.steps) < len(plan.steps)
    run_plan(kept, numpy, INPUTS, text="kernels", repeat=2, graph=graph)
    assert numpy.alive.total() == 0


CALLS = 50


def test_the_fault_injection_covers_every_call() -> None:
    numpy = device()
    run_plan(two_stream_plan(), numpy, INPUTS, text="kernels", repeat=1)
    assert 30 < numpy.calls <= CALLS


@pytest.mark.parametrize("fail_at", range(CALLS))
def test_everything_is_freed_when_a_call_fails(fail_at: int) -> None:
    numpy = device(fail_at)
    try:
        run_plan(two_stream_plan(), numpy, INPUTS, text="kernels", repeat=1)
    except WeftError as error:
        assert error.diagnostics[0].message.startswith("made to fail")
    else:
        assert numpy.calls <= fail_at
    assert numpy.alive.total() == 0
    created = sum(call[0] == "create_stream" for call in numpy.log)
    assert created == sum(call[0] == "destroy_stream" for call in numpy.log)


def test_everything_is_freed_when_releases_fail_too() -> None:
    numpy = device()

    def stubborn(stream: int) -> None:
        NumpyDevice.destroy_stream(numpy, stream)
        raise RuntimeError("a stream will not go")

    numpy.destroy_stream = stubborn  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="will not go"):
        run_plan(two_stream_plan(), numpy, INPUTS)
    assert numpy.alive.total() == 0


def test_an_interrupt_frees_everything() -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    numpy = NumpyDevice({"scale": interrupted})
    with pytest.raises(KeyboardInterrupt):
        run_plan(two_stream_plan(), numpy, INPUTS)
    assert numpy.alive.total() == 0


def test_repeats_are_measured() -> None:
    numpy = device()
    result = run_plan(two_stream_plan(), numpy, INPUTS, repeat=3)
    assert len(result.repeats) == 3 and all(s > 0 for s in result.repeats)
    assert sum(call[0] == "launch" for call in numpy.log) == 8


def test_unwritten_outputs_stay_poisoned() -> None:
    result = run_plan(two_stream_plan(), NumpyDevice({"scale": lambda *_: None}), INPUTS)
    assert np.isnan(result.outputs["y"]).all()


def test_an_unsound_plan_touches_nothing() -> None:
    plan = two_stream_plan()
    first = plan.steps[1]
    assert isinstance(first, Launch)
    wrong = replace(plan, steps=(plan.steps[0], replace(first, kernel="missing"), *plan.steps[2:]))
    numpy = device()
    with pytest.raises(WeftError, match="W0702"):
        run_plan(wrong, numpy, INPUTS)
    assert numpy.log == []


@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ({"x": X}, "W0716: the inputs do not fit: missing `factor`"),
        ({**INPUTS, "z": X}, "unknown `z`"),
        ({**INPUTS, "x": X[:4]}, "W0717: `x` is 4xfloat32, expected 8xf32"),
        ({**INPUTS, "x": X.astype(np.float64)}, "W0717: `x` is 8xfloat64"),
    ],
)
def test_wrong_inputs(inputs: dict[str, np.ndarray], code: str) -> None:
    numpy = device()
    with pytest.raises(WeftError, match=code):
        run_plan(two_stream_plan(), numpy, inputs)
    assert numpy.log == []


def test_dynamic_shapes_and_strided_copies() -> None:
    n = DimOf("x", 0)
    column = BufferView("x", 1, (n,), (2,))
    plan = Plan(
        "f",
        (Buffer("x", "i32", (n, 2), "input"), Buffer("y", "i32", (n,), "output")),
        (),
        (Copy(source=column, target=BufferView("y", 0, (n,), (1,))),),
        (),
    )
    x = np.arange(6, dtype=np.int32).reshape(3, 2)
    np.testing.assert_array_equal(run_plan(plan, device(), {"x": x}).outputs["y"], [1, 3, 5])


def test_constants_and_inout_and_empty_grids() -> None:
    param = Param("v", "f32", (2,), (1,))
    never = Launch(kernel="never", grid=(0, 1, 1), block=(1, 1, 1), args=(whole("x", 2),))
    plan = Plan(
        "f",
        (Buffer("k", "f32", (2,), "constant", np.array([5, 6], "<f4").tobytes()), Buffer("x", "f32", (2,), "inout")),
        (),
        (Copy(source=whole("k", 2), target=whole("x", 2)), never),
        (KernelEntry("never", "g::never", (param,)),),
    )
    x = np.zeros(2, np.float32)
    result = run_plan(plan, NumpyDevice({}), {"x": x})
    np.testing.assert_array_equal(result.outputs["x"], [5, 6])
    assert not x.any()
