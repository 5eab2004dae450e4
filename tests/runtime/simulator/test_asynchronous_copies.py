"""Asynchronous copies: all that run kernels agree on their values, and the simulator finds whoever touches one on its way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from async_kernels import Ring
from contexts import one_context
from gpu_kernels import WORKGROUP, func, sim
from native_device import NativeDevice

from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir import mlir
from weft.runtime.cpu.device import CpuDevice
from weft.runtime.cpu.reference import reference
from weft.runtime.cuda.module import emit
from weft.runtime.devices.report import LaunchReport, ThreadOp
from weft.runtime.host.host import make_plan
from weft.runtime.plan import codec
from weft.runtime.run.runner import RunResult, run_plan
from weft.runtime.simulator.device import SimDevice

RINGS = [
    *(Ring(kind, wide) for kind in ("f32", "f16", "i32") for wide in (16, 8, 4)),
    *(Ring(stages=stages, k=k) for stages, k in ((2, 70), (4, 9), (5, 48))),
    Ring(m=1, n=1, k=1),
]


def run_on(device: Any, ring: Ring) -> tuple[RunResult, bool]:
    """The result, and whether it is right."""
    module, (a, b, c) = mlir.parse(ring.module(), one_context()), ring.arguments()
    text = emit(module) if device.wants == "cuda" else str(module)
    result = run_plan(make_plan(module), device, {"A": a, "B": b, "C": c}, text=text)
    return result, np.array_equal(result.outputs["C"], ring.expected(a, b))


@pytest.mark.few(5)
@pytest.mark.parametrize("ring", RINGS, ids=str)
def test_all_who_run_it_agree(ring: Ring) -> None:
    simulated, right = run_on(SimDevice(), ring)
    assert right and simulated.races == () and simulated.faults == ()
    assert run_on(SimDevice(check=False), ring)[1]
    assert run_on(NativeDevice("quick"), ring)[1]
    assert run_on(CpuDevice(2), ring)[1]
    a, b, c = ring.arguments()
    inputs = {"A": a, "B": b, "C": c}
    computed = reference(mlir.parse(ring.module(), one_context()), None, inputs)["C"]
    assert np.array_equal(computed, ring.expected(a, b))


MUTANTS = {
    "no wait": ({"pending": None}, "in-flight", "memref.load"),
    "a wait for one group too few": ({"pending": 2}, "in-flight", "memref.load"),
    "no barrier behind the wait": ({"barrier": False}, "RAW", "memref.load"),
    "a stage too few": ({"parts": 2}, "WAR", "nvgpu.device_async_copy"),
    "the source changes": ({"overwrites": True}, "in-flight", "memref.store"),
}


@pytest.mark.few()
@pytest.mark.parametrize("mutant", MUTANTS)
@pytest.mark.parametrize(("kind", "wide"), [("f32", 16), ("i32", 4)])
def test_mutants_are_found(mutant: str, kind: str, wide: int) -> None:
    change, word, second = MUTANTS[mutant]
    ring = replace(Ring(kind, wide), **change)
    kernel = sim(ring.text())
    for order in ("forward", "reverse", 5):
        report = kernel.launch(ring.grid, (32, 1, 1), ring.arguments(), order=order)
        assert (word, second) in {(race.kind, race.second.op) for race in report.races if isinstance(race.second, ThreadOp)}


@pytest.mark.parametrize("mutant", ["no wait", "a wait for one group too few"])
def test_values_are_wrong_without_the_wait(mutant: str) -> None:
    ring = replace(Ring(), **MUTANTS[mutant][0])
    assert not run_on(NativeDevice("quick"), ring)[1]
    assert not run_on(SimDevice(check=False), ring)[1]


# ---- one copy --------------------------------------------------------------------------------------------------------

TILE = f"memref<2x32xf32, {WORKGROUP}>"
COPY = f"nvgpu.device_async_copy %A[%c0, %tx], %S[%c0, %tx], 1 : memref<2x32xf32> to {TILE}"


def launch(body: str, *, order: Any = "forward", **options: Any) -> tuple[LaunchReport, np.ndarray]:
    """A block of 32 threads; `A` and `C` are 2 x 32 in global memory, `S` in shared memory. What is in C then."""
    kernel = func(
        "%A: memref<2x32xf32>, %C: memref<2x32xf32>", body.replace("COPY", COPY), shared=f"%S: {TILE}", attributes=""
    )
    a, c = np.arange(64, dtype=np.float32).reshape(2, 32), np.zeros((2, 32), np.float32)
    return kernel.launch((1, 1, 1), (32, 1, 1), [a, c], order=order, names=["A", "C"], **options), c


def read(index: str) -> str:
    return f"%v = memref.load %S[%c0, {index}] : {TILE}\nmemref.store %v, %C[%c0, %tx] : memref<2x32xf32>"


NEXT = "%i = arith.constant 31 : index\n%other = arith.subi %i, %tx : index\n"
GROUP = "%t = COPY\n%g = nvgpu.device_async_create_group %t\n"
WAIT = "nvgpu.device_async_wait %g\n"


@pytest.mark.parametrize(
    ("body", "races"),
    [
        (GROUP + WAIT + read("%tx"), set()),
        (GROUP + read("%tx"), {"in-flight"}),
        (GROUP + "gpu.barrier\n" + NEXT + read("%other"), {"in-flight"}),
        (GROUP + WAIT + NEXT + read("%other"), {"RAW"}),
        (GROUP + "gpu.barrier\n" + WAIT + NEXT + read("%other"), {"RAW"}),
        (GROUP + WAIT + "gpu.barrier\n" + NEXT + read("%other"), set()),
        ("%t = COPY\n%g = nvgpu.device_async_create_group {a}\n" + WAIT + read("%tx"), set()),
        ("%g = nvgpu.device_async_create_group {a}\n%t = COPY\n" + WAIT + read("%tx"), {"in-flight"}),
        (GROUP + "%u = COPY\n" + WAIT, {"in-flight"}),
        (GROUP + WAIT + "%u = COPY\n", set()),
    ],
)
def test_who_may_touch_it_when(body: str, races: set[str]) -> None:
    report, found = launch(body)
    assert {race.kind for race in report.races} == races
    if not races and "memref.load" in body:
        assert np.array_equal(found[0], np.arange(32)[:: -1 if "%other" in body else 1])


def test_what_the_report_says() -> None:
    report, _ = launch(GROUP + NEXT + read("%other"))
    (race,) = report.races
    assert (race.buffer, race.element, race.count) == ("shared0", (0, 31), 32)
    for access, op, thread in ((race.first, "nvgpu.device_async_copy", 31), (race.second, "memref.load", 0)):
        assert str(access).startswith(f"{op} at") and str(access).endswith(f"by thread ({thread}, 0, 0) of block (0, 0, 0)")
    (uninitialized,) = report.faults
    assert str(race).startswith("[W0656] in-flight race on shared0[0, 31]: nvgpu.device_async_copy at")
    assert str(uninitialized).startswith("[W0653] uninitialized read: ")


def test_other_threads_must_be_done_with_what_it_overwrites() -> None:
    used = f"%one = arith.constant 1.0 : f32\nmemref.store %one, %S[%c0, %tx] : {TILE}\ngpu.barrier\n" + NEXT + read("%other")
    report, _ = launch(used + "\n" + GROUP)
    assert [(race.kind, race.second.op) for race in report.races] == [("WAR", "nvgpu.device_async_copy")]  # type: ignore[union-attr]
    assert launch(used + "\ngpu.barrier\n" + GROUP)[0].clean


@pytest.mark.parametrize("behind", ["", WAIT, "gpu.barrier\n" + WAIT, WAIT + "gpu.barrier\n"])
def test_the_source_stays_as_it_is_until_it_was_read(behind: str) -> None:
    """By the next thread: behind the wait it is another race, which the barrier resolves."""
    wanted = "WAR" if behind.startswith("gpu") else "" if behind.endswith("barrier\n") else "WAR" if behind else "in-flight"
    write = "%one = arith.constant 1.0 : f32\nmemref.store %one, %A[%c0, %other] : memref<2x32xf32>"
    report, _ = launch(GROUP + NEXT + behind + write)
    assert wanted in {race.kind for race in report.races} if wanted else report.clean


def test_the_source_must_be_there_when_it_starts() -> None:
    write = "%one = arith.constant 1.0 : f32\nmemref.store %one, %A[%c0, %other] : memref<2x32xf32>\n"
    report, _ = launch(NEXT + write + GROUP + WAIT)
    assert {(race.kind, race.buffer) for race in report.races} == {("RAW", "A")}
    assert launch(NEXT + write + "gpu.barrier\n" + GROUP + WAIT)[0].clean
    nothing = [np.zeros((2, 32), np.bool_), None]
    assert {f.kind for f in launch(GROUP + WAIT, written=nothing)[0].faults} == {"uninitialized read"}


def test_the_same_store_before_and_behind_a_start_is_not_one() -> None:
    store = "vector.store %one, %A[%c0, %tx] : memref<2x32xf32>, vector<1xf32>\n"
    report, _ = launch("%one = arith.constant dense<1.0> : vector<1xf32>\n" + store + GROUP + store + WAIT)
    assert {(race.kind, race.buffer) for race in report.races} == {("in-flight", "A")}


def test_groups_are_each_threads_own() -> None:
    """Half of the threads make one group more: for them alone the first has ended."""
    first = GROUP + "%sixteen = arith.constant 16 : index\n%few = arith.cmpi slt, %tx, %sixteen : index\n"
    more = f"""scf.if %few {{
      %u = nvgpu.device_async_copy %A[%c1, %tx], %S[%c1, %tx], 1 : memref<2x32xf32> to {TILE}
      %h = nvgpu.device_async_create_group %u
    }}
    nvgpu.device_async_wait %g {{numGroups = 1 : i32}}
    """
    report, _ = launch(first + more + read("%tx"))
    (race,) = report.races
    assert (race.kind, race.count, race.second.thread) == ("in-flight", 16, (16, 0, 0))  # type: ignore[union-attr]
    for condition in ("%few", "%many"):  # who waits may be some threads, too
        some = f"%many = arith.xori %few, %true : i1\nscf.if {condition} {{ nvgpu.device_async_wait %g }}\n"
        report, _ = launch(first + "%true = arith.constant true\n" + some + read("%tx"))
        assert [race.count for race in report.races] == [16]
        report, found = launch(first + "%true = arith.constant true\n" + some + WAIT + read("%tx"))
        assert report.clean and np.array_equal(found[0], np.arange(32))


def test_it_ends_at_any_time() -> None:
    """Without a wait the values are there in some runs and not in others; nobody finds what was there before."""
    before = f"%one = arith.constant 1.0 : f32\nmemref.store %one, %S[%c0, %tx] : {TILE}\n"
    found = [launch(before + GROUP + read("%tx"), order=seed, check=False)[1][0] for seed in range(12)]
    there = [np.array_equal(row, np.arange(32)) for row in found]
    assert True in there and False in there
    assert all(np.isnan(row).all() for row, arrived in zip(found, there, strict=True) if not arrived)


def test_the_source_is_read_as_late_as_the_wait() -> None:
    change = "%one = arith.constant -1.0 : f32\nmemref.store %one, %A[%c0, %tx] : memref<2x32xf32>\n"
    found = {launch(GROUP + change + WAIT + read("%tx"), order=seed, check=False)[1][0, 5] for seed in range(12)}
    assert found == {5.0, -1.0}


def test_bank_conflicts_are_those_of_a_store() -> None:
    kernel = func(
        "%A: memref<32x32xf32>",
        f"%t = nvgpu.device_async_copy %A[%tx, %c0], %S[%tx, %c0], 4 : memref<32x32xf32> to memref<32x32xf32, {WORKGROUP}>",
        shared=f"%S: memref<32x32xf32, {WORKGROUP}>",
    )
    uses = kernel.launch((1, 1, 1), (32, 1, 1), [np.zeros((32, 32), np.float32)]).banks or ()
    assert [(use.kind, use.width, use.wavefronts, use.ideal) for use in uses] == [("store", 16, 32, 4)]


# ---- faults, and what is refused -----------------------------------------------------------------------------------------


def copied(source: str, target: str, count: int, given: str = "") -> str:
    return f"%t = nvgpu.device_async_copy %A[{source}], %S[{target}], {count}{given} : memref<2x32xf32> to {TILE}"


@pytest.mark.parametrize(
    ("body", "fault", "message"),
    [
        (copied("%c0, %tx", "%tx, %c0", 1), "out-of-bounds write", "[2, 0] in `shared0`, where 2 x 32"),
        (copied("%tx, %c0", "%c0, %tx", 1), "out-of-bounds read", "[2, 0] in `A`, where 2 x 32"),
        (copied("%c0, %tx", "%c0, %tx", 1, ", %c2"), "out-of-bounds read", "to read is 2, of a copy of 1"),
        (copied("%c1, %tx", "%c1, %c0", 4, ", %c3"), "out-of-bounds read", "[1, 30] in `A`, where 2 x 30"),
        (copied("%c0, %tx", "%c0, %c4", 4), "misaligned access", "a multiple of its size"),
        (copied("%c0, %c4", "%c0, %c2", 4), "misaligned access", "a multiple of its size"),
    ],
)
def test_faults(body: str, fault: str, message: str) -> None:
    report, _ = launch(body)
    assert any(f.kind == fault and message in f.message for f in report.faults), report.faults


@pytest.mark.parametrize("amount", range(5))
def test_what_is_not_read_is_zero(amount: int) -> None:
    """Its source may lie outside; the copies are of one row, of which the last elements do not exist."""
    body = f"""
    %col = arith.muli %tx, %c4 : index
    %part = arith.constant 8 : index
    %lanes = arith.cmpi slt, %tx, %part : index
    %row = arith.constant {0 if amount else 7} : index
    scf.if %lanes {{
      %t = nvgpu.device_async_copy %A[%row, %col], %S[%c0, %col], 4, %c{amount} : memref<2x32xf32> to {TILE}
    }}
    %g = nvgpu.device_async_create_group {{a}}
    {WAIT} gpu.barrier
    {read("%tx")}"""
    report, found = launch(body)
    assert report.clean
    assert np.array_equal(found[0], np.where(np.arange(32) % 4 < amount, np.arange(32), 0))


@pytest.mark.parametrize(
    ("source", "target", "count"),
    [("memref<64xi1>", f"memref<64xi1, {WORKGROUP}>", 32), (f"memref<64xf32, {WORKGROUP}>", f"memref<64xf32, {WORKGROUP}>", 4)],
)
def test_what_no_gpu_copies_is_refused(source: str, target: str, count: int) -> None:
    text = f"""module {{ gpu.module @m {{ gpu.func @k(%A: {source}) workgroup(%S: {target}) kernel {{
      %c0 = arith.constant 0 : index
      %t = nvgpu.device_async_copy %A[%c0], %S[%c0], {count} : {source} to {target}
      gpu.return }} }} }}"""
    with pytest.raises(WeftError, match=r"W0750.*(4, 8 or 16 bytes|its source is in global memory)"):
        sim(text.split("@m {", 1)[1].rsplit("} }", 1)[0])
    with pytest.raises(WeftError, match=r"W0503.*(4, 8 or 16 bytes|its source is in global memory)"):
        emit(mlir.parse(text, one_context()))


def test_the_plan_says_which_chip_it_takes() -> None:
    plan = make_plan(mlir.parse(Ring().module(), one_context()))
    assert plan.kernels[0].requires == "sm_80" and codec.load(codec.dump(plan)) == plan
    with pytest.raises(WeftError, match=r"W0703.*kernels\[0\]\.requires: `new` is not a chip"):
        codec.load(codec.dump(plan).replace('"sm_80"', '"new"'))
