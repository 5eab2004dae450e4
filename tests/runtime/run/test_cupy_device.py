"""`CupyDevice` on a stand-in for CuPy: exact options, the cache, argument bits, streams, memory and failures."""

from __future__ import annotations

import gc
import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from places import STAND_INS
from runtime_programs import two_stream_plan, whole

from weft.dsl.diagnostics import WeftError
from weft.runtime.cuda.nvrtc import UNFOLDED
from weft.runtime.devices.device import DeviceView
from weft.runtime.plan.dtypes import narrow
from weft.runtime.plan.plan import Alloc, Buffer, BufferView, Copy, Free, KernelEntry, Launch, Param, Plan, ScalarValue
from weft.runtime.run import cupy_device
from weft.runtime.run.cupy_device import CupyDevice, architecture, cuda_problem
from weft.runtime.run.cupy_work import Adopted, parameters
from weft.runtime.run.runner import run_plan

FAKE = STAND_INS / "cupy.py"
INPUTS = {"x": np.arange(8, dtype=np.float32), "factor": np.float32(3)}


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("cupy", FAKE)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "cupy", made)
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cupy_device, "_memory", {})
    spec.loader.exec_module(made)
    yield made


def logged(cupy: ModuleType, what: str) -> list[tuple[Any, ...]]:
    return [entry[1:] for entry in cupy.LOG if entry[0] == what]


def test_a_plan_runs(cupy: ModuleType) -> None:
    result = run_plan(two_stream_plan(), CupyDevice(), INPUTS, text="text", repeat=2)
    np.testing.assert_array_equal(result.outputs["y"], 3 * INPUTS["x"])
    assert result.device == "Fake GPU"
    assert result.races is None and result.barriers is None
    assert (result.streams_created, result.streams_destroyed) == (2, 2)
    assert cupy.LIVE["bytes"] == 0


@pytest.mark.parametrize("graph", [False, True])
def test_temporaries_share_an_allocation(cupy: ModuleType, graph: bool) -> None:
    """Four in a chain take the bytes of two, also where all stay allocated: in repeated runs and in graphs."""
    scale, live = cupy.KERNELS["scale"], []

    def watched(*launched: Any) -> None:
        live.append(cupy.LIVE["bytes"])
        scale(*launched)

    cupy.KERNELS["scale"] = watched
    plan, names = two_stream_plan(), ("x", "a", "b", "c", "d", "y")
    launch = plan.launches[1]
    steps = [
        replace(launch, stream=0, after=(), args=(whole(source, 8), whole(target, 8), ScalarValue("f32", 2.0)))
        for source, target in pairwise(names)
    ]
    inside = names[1:-1]
    ordered = [Alloc(buffer="a"), steps[0]]
    for step, name, following in zip(steps[1:], inside, (*inside[1:], None), strict=True):
        ordered += [*([Alloc(buffer=following)] if following else []), step, Free(buffer=name)]
    buffers = (*plan.buffers[:2], *(Buffer(name, "f32", (8,), "temp") for name in inside))
    chain = replace(plan, buffers=buffers, steps=tuple(ordered), scalars=())
    result = run_plan(chain, CupyDevice(), {"x": INPUTS["x"]}, text="text", repeat=2, graph=graph)
    np.testing.assert_array_equal(result.outputs["y"], 32 * INPUTS["x"])
    assert len(live) == 15 and set(live) == {2 * 32 + 2 * 256} and cupy.LIVE["bytes"] == 0


def test_one_stream_is_timed_by_events(cupy: ModuleType) -> None:
    plan = two_stream_plan()
    serial = replace(plan, steps=tuple(replace(s, stream=0, after=()) for s in plan.steps))
    assert run_plan(serial, CupyDevice(), INPUTS, text="text", repeat=2).repeats == (0.0015, 0.0015)


def test_options_are_exact(cupy: ModuleType) -> None:
    CupyDevice().load("text", ())
    ((options,),) = logged(cupy, "compile")
    assert "--gpu-architecture=sm_90a" in options
    assert "--ftz=false" in options
    assert not any("ftz=true" in o or "fast" in o for o in options)


def test_texts_for_folded_grids_are_compiled_where_one_is_launched(cupy: ModuleType) -> None:
    """The others do not wait for them; and a text without any is compiled as it was."""
    cupy.KERNELS["scale_folded"] = cupy.KERNELS["scale"]
    plan = two_stream_plan()
    (scale,) = plan.kernels
    kernels = (scale, replace(scale, name="scale_folded", folds=True))
    text, without = f"#ifndef {UNFOLDED}", f"--define-macro={UNFOLDED}"

    def launching(name: str) -> Plan:
        steps = (replace(step, kernel=name) if isinstance(step, Launch) else step for step in plan.steps)
        return replace(plan, kernels=kernels, steps=tuple(steps))

    run_plan(launching("scale"), CupyDevice(), INPUTS, text=text)
    ((options,),) = logged(cupy, "compile")
    assert options[-1] == without
    result = run_plan(launching("scale_folded"), CupyDevice(), INPUTS, text=text)
    np.testing.assert_array_equal(result.outputs["y"], 3 * INPUTS["x"])
    _, (options,) = logged(cupy, "compile")
    assert without not in options
    CupyDevice().load("text", kernels)
    assert without not in logged(cupy, "compile")[-1][0]


@pytest.mark.parametrize(("capability", "arch"), [(80, "sm_80"), (89, "sm_89"), (90, "sm_90a"), (120, "sm_120a")])
def test_architectures(capability: int, arch: str) -> None:
    assert architecture(capability) == arch


def loaded(cupy: ModuleType, text: str) -> bytes:
    """Of a new process: the cubin that the kernel of a text comes from."""
    cupy_device._memory.clear()
    cupy.LOADED.clear()
    CupyDevice().load(text, two_stream_plan().kernels)
    return logged(cupy, "load")[-1][0]


def test_the_cache(cupy: ModuleType, tmp_path: Path) -> None:
    def compiled() -> int:
        assert loaded(cupy, "text") == b"cubin of text"
        return len(logged(cupy, "compile"))

    assert compiled() == 1
    assert compiled() == 1, "the second time it comes from disk"
    (file,) = (tmp_path / "cache").iterdir()
    assert file.read_bytes() == b"cubin of text", "a cubin as it is: `RawModule` loads it"
    file.write_bytes(b"another cubin")
    assert compiled() == 2, "a damaged file counts as absent"
    CupyDevice().load("text", ())
    assert len(logged(cupy, "compile")) == 2, "and then from memory"
    assert loaded(cupy, "other text") == b"cubin of other text"
    assert len(logged(cupy, "compile")) == 3


def test_a_cubin_that_is_gone_from_the_cache_is_made_again(cupy: ModuleType, tmp_path: Path) -> None:
    CupyDevice().load("text", two_stream_plan().kernels)
    (file,) = (tmp_path / "cache").iterdir()
    file.unlink()
    CupyDevice().load("text", two_stream_plan().kernels)
    assert file.read_bytes() == b"cubin of text" and len(logged(cupy, "compile")) == 2


def test_a_cache_that_cannot_be_written_stops_nobody(cupy: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_CACHE_DIR", str(FAKE))  # a file
    assert loaded(cupy, "text") == b"cubin of text"
    assert len(logged(cupy, "compile")) == 1
    run_plan(two_stream_plan(), CupyDevice(), INPUTS, text="text")
    assert len(logged(cupy, "compile")) == 1, "the file lasts as long as the process"


def test_no_file_at_all_is_a_diagnostic(cupy: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_CACHE_DIR", str(FAKE))
    monkeypatch.setattr(cupy_device, "_passing", lambda: FAKE)
    with pytest.raises(WeftError, match=r"W0054: cannot write `.*\.cubin`: not a directory"):
        CupyDevice().load("text", ())


def test_kernels_come_from_a_raw_module_alone(cupy: ModuleType, tmp_path: Path) -> None:
    """The stand-in has no other way: no `cupy.cuda.function`, no attributes by the driver, no compiling by `RawModule`."""
    assert not {"function", "funcGetAttribute", "funcSetAttribute"} & {*vars(cupy.cuda), *vars(cupy.cuda.driver)}
    with pytest.raises(TypeError):
        cupy.RawModule(code="text")
    run_plan(two_stream_plan(), CupyDevice(), INPUTS, text="text")
    assert [Path(path).parent for path, _ in cupy.LOADED] == [tmp_path / "cache"]
    module = CupyDevice().module("text")
    cupy.GLOBALS["table"] = object()
    assert type(module) is cupy.RawModule and module.get_global("table") is cupy.GLOBALS["table"]


def test_memref_arguments() -> None:
    view = DeviceView(Adopted(4096, 128), "v", "f32", 7, (3, 4), (8, 2))
    static = Param("v", "f32", (3, 4), (8, 2), 7)
    dynamic = Param("v", "f32", (None, 4), (None, None), None)
    assert [int(v) for v in parameters(view, static)] == [4096]
    assert [int(v) for v in parameters(view, dynamic)] == [4096, 3, 8, 2, 7]


@pytest.mark.parametrize(
    ("dtype", "value", "bits"),
    [("f16", 1.0, 0x3C00), ("bf16", 1.0, 0x3F80), ("i1", True, 1), ("i8", -1, 0xFF), ("index", 5, 5), ("f64", 0.0, 0)],
)
def test_scalars_are_passed_by_their_bits(dtype: str, value: float, bits: int) -> None:
    (passed,) = parameters(narrow(np.array([value]), dtype)[0], Param("s", dtype))
    assert type(passed) in {np.dtype(c).type for c in "bhilqBHILQefd"}
    assert int.from_bytes(passed.tobytes(), "little") == bits


def test_large_shared_memory_is_asked_for_once(cupy: ModuleType) -> None:
    plan = two_stream_plan()
    large = replace(plan.kernels[0], shared_bytes=65536, dynamic_shared_bytes=65536)
    result = run_plan(replace(plan, kernels=(large,)), CupyDevice(), INPUTS, text="text")
    assert logged(cupy, "attribute") == [("max_dynamic_shared_size_bytes", 65536)]
    assert [entry[3] for entry in logged(cupy, "launch")] == [65536, 65536]
    assert result.kernels[0].shared_bytes == 65536


def test_a_chip_without_the_instructions(cupy: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused before the text is compiled; on the chip that is asked for, and on newer ones, it runs."""
    plan = two_stream_plan()
    plan = replace(plan, kernels=tuple(replace(kernel, requires="sm_80") for kernel in plan.kernels))
    for capability in ("80", "90"):
        monkeypatch.setattr(cupy, "CAPABILITY", capability)
        run_plan(plan, CupyDevice(), INPUTS, text="text")
    cupy.LOG.clear()
    monkeypatch.setattr(cupy, "CAPABILITY", "75")
    with pytest.raises(WeftError) as refused:
        run_plan(plan, CupyDevice(), INPUTS, text="text")
    assert str(refused.value).startswith("W0727: `scale` takes instructions that chips have from sm_80 on; Fake GPU is sm_75")
    assert "--target cpu" in str(refused.value.diagnostics[0].hint) and not logged(cupy, "launch") + logged(cupy, "compile")


def test_a_chip_that_alone_has_the_instructions(cupy: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = two_stream_plan()
    plan = replace(plan, kernels=tuple(replace(kernel, requires="sm_90a") for kernel in plan.kernels))
    monkeypatch.setattr(cupy, "CAPABILITY", "90")
    run_plan(plan, CupyDevice(), INPUTS, text="text")
    monkeypatch.setattr(cupy, "CAPABILITY", "100")
    with pytest.raises(WeftError, match="W0727: `scale` takes instructions that sm_90a alone has; Fake GPU is sm_100a"):
        run_plan(plan, CupyDevice(), INPUTS, text="text")


@pytest.mark.parametrize("kib", [99, 163])
def test_a_chip_with_too_little_shared_memory(cupy: ModuleType, kib: int) -> None:
    """Nothing is launched, not even what comes first; kernels that no step launches do not matter."""
    cupy.SHARED[0] = kib * 1024
    plan = two_stream_plan()
    size = 163 * 1024 + 16
    large = replace(plan.kernels[0], name="large", shared_bytes=size, dynamic_shared_bytes=size)
    cupy.KERNELS["large"] = cupy.KERNELS["scale"]
    plan = replace(plan, kernels=(*plan.kernels, large))
    run_plan(plan, CupyDevice(), INPUTS, text="text")
    cupy.LOG.clear()
    last = max(n for n, step in enumerate(plan.steps) if isinstance(step, Launch))
    steps = tuple(replace(s, kernel="large") if n == last and isinstance(s, Launch) else s for n, s in enumerate(plan.steps))
    with pytest.raises(WeftError) as refused:
        run_plan(replace(plan, steps=steps), CupyDevice(), INPUTS, text="text")
    assert str(refused.value).startswith(
        f"W0726: a block of `large` needs 166928 bytes of shared memory, and Fake GPU has {kib * 1024}"
    )
    assert "sm_90" in str(refused.value.diagnostics[0].hint) and "sm_80" not in str(refused.value.diagnostics[0].hint)
    assert not logged(cupy, "launch")


def test_strided_copies_are_launches(cupy: ModuleType) -> None:
    plan = two_stream_plan()
    half = Copy(source=BufferView("t", 0, (4,), (2,)), target=BufferView("u", 4, (4,), (1,)), stream=1, after=(1,))
    result = run_plan(replace(plan, steps=(*plan.steps[:3], half, *plan.steps[4:])), CupyDevice(), INPUTS, text="t")
    np.testing.assert_array_equal(result.outputs["y"][4:], [0, 6, 12, 18])
    assert np.isnan(result.outputs["y"][:4]).all()
    assert [entry[0] for entry in logged(cupy, "launch")] == ["scale", "weft_copy_4_1", "scale"]
    assert not logged(cupy, "contiguous copy")


def test_freed_memory_outlives_the_kernels_that_use_it(cupy: ModuleType) -> None:
    device = CupyDevice()
    stream = device.create_stream()
    memory = device.alloc("m", "f32", 100)
    device.free(memory)
    del memory
    assert cupy.LIVE["bytes"] == 400
    device.synchronize()
    assert cupy.LIVE["bytes"] == 0
    device.destroy_stream(stream)


FAILURES = {
    "stream": "W0723: making a stream",
    "upload": "W0723: copying to the device",
    "memset": "W0723: filling memory",
    "launch": "W0723: launching `scale`",
    "synchronize": "W0723: running the kernels",
    "load": "W0723: looking for the kernel `scale`: .*: load",
    "attribute": "W0723: looking for the kernel `scale`: .*: attribute",
    "memory": "W0722: the device has no 32 bytes left",
}


@pytest.mark.parametrize("what", FAILURES)
def test_failures_are_diagnostics_and_leave_nothing(cupy: ModuleType, what: str) -> None:
    device = CupyDevice()
    cupy.FAIL.add(what)
    with pytest.raises(WeftError, match=FAILURES[what]):
        run_plan(two_stream_plan(), device, INPUTS, text="text")
    assert cupy.LIVE["bytes"] == 0


def test_a_text_that_does_not_compile(cupy: ModuleType) -> None:
    with pytest.raises(WeftError, match="W0721: NVRTC refuses") as error:
        CupyDevice().load("#error", ())
    assert error.value.diagnostics[0].notes == ("kernels.cu(1): error: made to fail",)
    assert logged(cupy, "destroy") == [()]


def test_a_kernel_that_is_not_in_the_text(cupy: ModuleType) -> None:
    kernel = replace(two_stream_plan().kernels[0], name="missing")
    with pytest.raises(WeftError, match="W0723: looking for the kernel `missing`"):
        CupyDevice().load("text", (kernel,))


def test_no_device(cupy: ModuleType) -> None:
    cupy.FAIL.add("device")
    assert cuda_problem() == "there is no CUDA device"
    with pytest.raises(WeftError, match="W0720") as caught:
        CupyDevice()
    hint = caught.value.diagnostics[0].hint or ""
    assert hint.startswith("`pip install 'weft-gpu[cuda12]'` or `pip install 'weft-gpu[cuda13]'`")


def test_no_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert cuda_problem() == "CuPy is not installed"


def forked_plan() -> Plan:
    """Two chains of two launches each that start from one, and a launch that needs both."""
    param = Param("v", "f32", (8,), (1,))

    def step(source: str, target: str, **order: Any) -> Launch:
        args = (whole(source, 8), whole(target, 8), ScalarValue("f32", 2.0))
        return Launch(kernel="scale", grid=(1, 1, 1), block=(8, 1, 1), args=args, **order)

    names = ("s", "l", "r", "m", "n")
    return Plan(
        "f",
        (
            Buffer("x", "f32", (8,), "input"),
            Buffer("y", "f32", (8,), "output"),
            *(Buffer(n, "f32", (8,), "temp") for n in names),
        ),
        (),
        (
            *(Alloc(buffer=n) for n in names),
            step("x", "s"),
            step("s", "l"),
            step("s", "r", stream=1, after=(5,)),
            step("l", "m"),
            step("r", "n", stream=1),
            step("n", "y", after=(9,)),
            *(Free(buffer=n) for n in names),
        ),
        (KernelEntry("scale", "kernels::scale", (param, replace(param, name="w"), Param("factor", "f32"))),),
    )


@pytest.mark.parametrize("fail_at", range(6))
def test_a_launch_that_fails_leaves_nothing(cupy: ModuleType, fail_at: int) -> None:
    cupy.FAIL_AT.append(fail_at)
    with pytest.raises(WeftError) as caught:
        run_plan(forked_plan(), CupyDevice(), {"x": INPUTS["x"]}, text="text")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "W0723" and "launching `scale`" in diagnostic.message
    del caught
    gc.collect()
    assert not any(cupy.LIVE.values())
    assert cupy.MADE["streams"] == 2


def test_events_are_used_again(cupy: ModuleType) -> None:
    result = run_plan(forked_plan(), CupyDevice(), {"x": INPUTS["x"]}, text="text", repeat=5)
    np.testing.assert_array_equal(result.outputs["y"], 16 * INPUTS["x"])
    made = cupy.MADE["events"]  # of the plan, a fork, a join, and two to measure
    assert result.events_created == result.events_destroyed == made == 5
    gc.collect()
    assert not any(cupy.LIVE.values())
