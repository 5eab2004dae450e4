"""`gpu.memset` and strided moves: from a host function to the plan, its JSON, its check, and every device."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from native import run_native
from numpy_device import NumpyDevice
from places import STAND_INS
from runtime_programs import COPY_KERNEL, host, launch
from thinning import SOAK

from weft.dsl.diagnostics import WeftError
from weft.interpreter.forking.forking import async_fork
from weft.interpreter.ir.mlir import ir
from weft.runtime.cuda import copies_and_fills
from weft.runtime.cuda.nvrtc import ARCHITECTURES, compile_cubin
from weft.runtime.devices.device import Device
from weft.runtime.host.host import make_plan
from weft.runtime.plan.check import check
from weft.runtime.plan.codec import dump, load
from weft.runtime.plan.dtypes import NUMPY, narrow, poisoned
from weft.runtime.plan.plan import Buffer, BufferView, Copy, Fill, Plan, ScalarOf, ScalarValue
from weft.runtime.run import cupy_device
from weft.runtime.run.cupy_device import CupyDevice
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

FAKE = STAND_INS / "cupy.py"
M = "memref<8xf32>"


@pytest.fixture(params=["numpy", "simulator", "cupy"])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Device]:
    if request.param == "numpy":
        yield NumpyDevice({})
    elif request.param == "simulator":
        yield SimDevice()
    else:
        monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path))
        monkeypatch.setattr(cupy_device, "_memory", {})
        fake_cupy(monkeypatch)
        yield CupyDevice()


def fake_cupy(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("cupy", FAKE)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "cupy", made)
    spec.loader.exec_module(made)
    return made


# ---- from the host function to the plan ------------------------------------------------------------------------------


def test_a_memset_becomes_a_fill() -> None:
    module = host(
        f"""func.func @f(%a: {M} {{weft.name = "a"}}, %b: {M} {{weft.name = "b"}}, %s: f32 {{weft.name = "s"}}) {{
        %c1 = arith.constant 1 : index
        %zero = arith.constant 0.0 : f32
        %t = gpu.wait async
        %t1 = gpu.memset async [%t] %a, %zero : {M}, f32
        gpu.wait [%t1]
        gpu.memset %b, %s : {M}, f32
        {launch("copy", f"%a : {M}, %b : {M}")}
        return }}""",
        COPY_KERNEL,
    )
    plan = make_plan(module)
    first, second, third = plan.steps
    assert isinstance(first, Fill) and first.target.buffer == "a" and first.value == ScalarValue("f32", 0.0)
    assert isinstance(second, Fill) and second.value == ScalarValue("f32", ScalarOf("s"))
    assert [b.role for b in plan.buffers] == ["inout", "inout"] and third.stream == 0
    assert load(dump(plan)) == plan


def test_a_memset_of_a_part() -> None:
    view = "memref<4xf32, strided<[2], offset: 1>>"
    module = host(f"""func.func @f(%a: {M}) {{
        %v = memref.subview %a[1] [4] [2] : {M} to {view}
        %x = arith.constant 2.5 : f32
        gpu.memset %v, %x : {view}, f32
        return }}""")
    result = run_plan(make_plan(module), SimDevice(), {"arg0": np.zeros(8, np.float32)})
    np.testing.assert_array_equal(result.outputs["arg0"], [0, 2.5] * 4)


def test_memsets_run_on_streams_of_their_own() -> None:
    module = host(f"""func.func @f(%a: {M}, %b: {M}) {{
        %x = arith.constant 1.0 : f32
        %r0 = gpu.wait async
        %r1 = gpu.wait async
        %t = gpu.memset async [%r0] %a, %x : {M}, f32
        %u = gpu.memset async [%r1] %b, %x : {M}, f32
        gpu.wait [%t, %u]
        return }}""")
    assert [s.stream for s in make_plan(module).steps] == [0, 1]


def test_async_fork_runs_memsets_at_once() -> None:
    """Two fills, a copy that needs one of them, a launch that needs both: right in any order of the streams, and as a graph."""
    module = host(
        f"""func.func @f(%a: {M} {{llvm.noalias}}, %b: {M} {{llvm.noalias}}, %c: {M} {{llvm.noalias}}) {{
        %c1 = arith.constant 1 : index
        %c8 = arith.constant 8 : index
        %x = arith.constant 1.0 : f32
        %y = arith.constant 2.0 : f32
        gpu.memset %a, %x : {M}, f32
        gpu.memset %b, %y : {M}, f32
        gpu.memcpy %c, %b : {M}, {M}
        {launch("copy", f"%a : {M}, %b : {M}", block="%c8, %c1, %c1")}
        return }}""",
        COPY_KERNEL,
    )
    with module.context, ir.Location.unknown():
        async_fork(module)
    plan = make_plan(module)
    assert len({step.stream for step in plan.steps}) == 2
    given = {b.name: np.zeros(8, np.float32) for b in plan.inputs}
    for seed in range(6):
        for graph in (False, True):
            outputs = run_plan(plan, SimDevice(), given, text=str(module), order=seed, graph=graph).outputs
            assert {name: set(array) for name, array in outputs.items()} == {"arg0": {1.0}, "arg1": {1.0}, "arg2": {2.0}}


# ---- what is wrong with one ------------------------------------------------------------------------------------------


def fills(dtype: str, target: BufferView, value: float, shape: tuple[int, ...] = (4, 6)) -> Plan:
    step = Fill(target=target, value=ScalarValue(dtype, value))
    return Plan("f", (Buffer("y", dtype, shape, "output"),), (), (step,), ())


WHOLE = BufferView("y", 0, (4, 6), (6, 1))


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (replace(fills("f32", WHOLE, 1), buffers=(Buffer("y", "f16", (4, 6), "output"),)), "fills f16 with f32"),
        (fills("f32", BufferView("y", 1, (4, 6), (6, 1)), 1), "elements 1 … 24 are touched, `y` has 24"),
        (fills("f32", BufferView("z", 0, (4,), (1,)), 1), "no buffer `z`"),
        (fills("f33", WHOLE, 1), "`f33` is not an element type"),
        (fills("i32", WHOLE, 2**64), "has more than 64 bits"),
    ],
)
def test_unsound_fills(plan: Plan, message: str) -> None:
    assert any(message in d.message for d in check(plan)), [d.message for d in check(plan)]


@pytest.mark.parametrize("key", ["target", "value", "stream"])
def test_a_fill_without_a_key(key: str) -> None:
    document = json.loads(dump(fills("f32", WHOLE, 1)))
    del document["steps"][0][key]
    with pytest.raises(WeftError, match=rf"W0700: steps\[0\].*{key}"):
        load(json.dumps(document))


# ---- every width, on every device ------------------------------------------------------------------------------------

VALUES = {"f64": 0.1, "f32": 1.5, "f16": 0.1, "bf16": 3.0, "i64": -7, "i32": 9, "i16": -2, "i8": -3, "i1": True, "index": 2**40}
VIEWS = {
    "all": WHOLE,
    "a column": BufferView("y", 2, (4,), (6,)),
    "every other one": BufferView("y", 1, (2, 3), (12, 2)),
    "backwards": BufferView("y", 5, (4, 6), (6, -1)),
    "one": BufferView("y", 7, (), ()),
    "none": BufferView("y", 0, (0, 6), (6, 1)),
}


def shown(view: BufferView, array: np.ndarray) -> np.ndarray:
    flat = array.reshape(-1)
    strides = [int(s) * flat.itemsize for s in view.strides]  # type: ignore[arg-type]
    return np.lib.stride_tricks.as_strided(flat[int(view.offset) :], view.shape, strides)  # type: ignore[arg-type]


@pytest.mark.few()
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("dtype", VALUES)
def test_every_type_and_view(device: Device, dtype: str, view: BufferView) -> None:
    value = narrow(np.array([VALUES[dtype]]), dtype)[0]
    got = run_plan(fills(dtype, view, VALUES[dtype]), device, {}).outputs["y"]
    untouched = np.full((4, 6), True)
    shown(view, untouched)[...] = False
    np.testing.assert_array_equal(shown(view, got), np.full(shown(view, got).shape, value, NUMPY[dtype]))
    assert poisoned(got, dtype)[untouched].all(), "nothing else is touched"


def test_a_fill_of_equal_bytes_is_a_memset(monkeypatch: pytest.MonkeyPatch) -> None:
    cupy = fake_cupy(monkeypatch)
    run_plan(fills("i32", WHOLE, -1), CupyDevice(), {})
    run_plan(fills("f32", WHOLE, 0.0), CupyDevice(), {})
    assert [entry for entry in cupy.LOG if entry[0] == "memset" and entry[1] in (0, 255)][-3:] == [
        ("memset", 255, 96),
        ("memset", 255, 96),
        ("memset", 0, 96),
    ]
    assert not [entry for entry in cupy.LOG if entry[0] == "launch"]


def test_strided_copies(device: Device) -> None:
    x = np.arange(24, dtype=np.float64).reshape(4, 6)
    turned = Copy(source=BufferView("x", 0, (6, 4), (1, 6)), target=BufferView("y", 0, (6, 4), (4, 1)))
    plan = Plan("f", (Buffer("x", "f64", (4, 6), "input"), Buffer("y", "f64", (6, 4), "output")), (), (turned,), ())
    np.testing.assert_array_equal(run_plan(plan, device, {"x": x}).outputs["y"], x.T)


# ---- the text of the moves -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", copies_and_fills.WORDS)
def test_the_text_is_right_and_does_not_spill(width: int) -> None:
    """Run by g++ as it stands, compiled by NVRTC for every chip; out of a soak each width for another one."""
    turn = list(copies_and_fills.WORDS).index(width) % len(ARCHITECTURES)
    dtype = np.dtype(f"u{width}")
    x = np.arange(2 * 3 * 5, dtype=dtype)
    shape, to, source = (2, 3, 5), (1, 10, 2), (15, 5, 1)
    dimensions = copies_and_fills.extents(shape, to, source)
    got, expected = np.zeros(64, dtype), np.zeros(64, dtype)
    np.lib.stride_tricks.as_strided(expected, shape, [s * width for s in to])[...] = x.reshape(shape)
    for move, first in (("copy", x), ("fill", dtype.type(77))):
        columns = dimensions if move == "copy" else copies_and_fills.extents(shape, to)
        text = copies_and_fills.move_text(move, width, len(columns))  # type: ignore[arg-type]
        arguments = [got, first, *copies_and_fills.numbers(30, columns)]
        run_native(text, copies_and_fills.move_name(move, width, len(columns)), (1,), (copies_and_fills.THREADS,), arguments)  # type: ignore[arg-type]
        np.testing.assert_array_equal(got, np.where(expected > 0, 77, 0) if move == "fill" else expected)
        got[0] = expected[0] = 77 if move == "copy" else got[0]
        for arch in ARCHITECTURES if SOAK else ARCHITECTURES[turn : turn + 1]:
            assert compile_cubin(text, arch).spill_bytes == 0


@pytest.mark.parametrize(
    ("shape", "strides", "expected"),
    [
        ((4, 6), ((6, 1),), [(24, 1)]),
        ((4, 6), ((8, 1),), [(4, 8), (6, 1)]),
        ((4, 1, 6), ((6, 99, 1), (1, 99, 4)), [(4, 6, 1), (6, 1, 4)]),
        ((2, 3, 4), ((24, 8, 2), (12, 4, 1)), [(24, 2, 1)]),
        ((), ((),), [(1, 1)]),
        ((1, 1), ((5, 5),), [(1, 1)]),
    ],
)
def test_dimensions_are_merged(shape: tuple[int, ...], strides: tuple[tuple[int, ...], ...], expected: list) -> None:
    assert copies_and_fills.extents(shape, *strides) == expected


def test_many_elements_take_turns() -> None:
    assert [copies_and_fills.blocks(n) for n in (1, 256, 257, 10**9)] == [1, 1, 2, copies_and_fills.MOST_BLOCKS]
    text = copies_and_fills.move_text("fill", 2, 1)
    got = np.zeros(1000, np.uint16)
    numbers = copies_and_fills.numbers(1000, [(1000, 1)])
    run_native(text, "weft_fill_2_1", (2,), (copies_and_fills.THREADS,), [got, np.uint16(5), *numbers])
    assert (got == 5).all()
