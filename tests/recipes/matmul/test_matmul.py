"""The matmul recipes: right at any size, type and parameter; race-free, and seen to be racy with a barrier missing; no spills."""

from __future__ import annotations

import os
import random
import re
from functools import cache

import pytest
from executors import expect_computed, expect_report
from native_device import NativeDevice
from scheduled import run_schedule

from weft.dsl.diagnostics import Source
from weft.interpreter.ir import mlir
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.cuda.nvrtc import ARCHITECTURES, compile_cubin
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.run.execution import RunOptions
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice
from weft.verify import verify_source

RECIPES = ("naive", "shared")
SIZES = ((1, 1, 1), (16, 16, 16), (127, 129, 65), (64, 48, 40))
TYPES = ("f32", "f64", "f16", "bf16", "i32", "i8")
SOAK = "WEFT_SOAK" in os.environ
LARGE = (1000, 777, 333) if SOAK else (250, 389, 333)


def settings(m: int, n: int, k: int, dtype: str = "f32", **rest: int) -> dict[str, str]:
    return {key: str(value) for key, value in {"m": m, "n": n, "k": k, "type": dtype, **rest}.items()}


@cache
def ready(recipe: str, m: int, n: int, k: int, dtype: str = "f32") -> Planned:
    return planned(applied(Choice(recipe, None, settings(m, n, k, dtype)).open()))


EVERY = [(size, dtype) for size in SIZES for dtype in TYPES]
HARDEST = [(size, dtype) for n, (size, dtype) in enumerate(EVERY) if dtype == "f32" or size == SIZES[2] or n % 3 == n // 6 % 3]


@pytest.mark.few()
@pytest.mark.parametrize(("size", "dtype"), EVERY if SOAK else HARDEST, ids=str)
@pytest.mark.parametrize("recipe", RECIPES)
def test_right_and_race_free(recipe: str, size: tuple[int, int, int], dtype: str) -> None:
    report = run_schedule(recipe, None, settings(*size, dtype), None, RunOptions("sim", 3)).report
    expect_report(report)
    assert report.races == ()
    assert report.faults == ()


@pytest.mark.parametrize("recipe", RECIPES)
def test_large_and_ragged(recipe: str) -> None:
    report = run_schedule(recipe, None, settings(*LARGE), None, RunOptions("sim", 0)).report
    expect_report(report)
    assert report.max_rel_error is not None
    assert report.max_rel_error <= 1e-5


def members(recipe: str) -> list[dict[str, int]]:
    """Members of the recipe's parameter space: a sample, all of them in a soak."""
    sides = (8, 16, 32)
    names = ("bm", "bn", "bk") if recipe == "shared" else ("bm", "bn")
    every = [dict(zip(names, (a, b, c), strict=False)) for a in sides for b in sides for c in sides]
    unique = [dict(t) for t in dict.fromkeys(tuple(m.items()) for m in every)]
    return unique if SOAK else random.Random(5).sample(unique, 2)


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_member(recipe: str) -> None:
    for member in members(recipe):
        report = run_schedule(recipe, None, settings(70, 45, 50, **member), None, RunOptions("sim", 1)).report
        expect_report(report, member)


@pytest.mark.few()
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("recipe", RECIPES)
def test_text_on_the_cpu(recipe: str, dtype: str) -> None:
    made = ready(recipe, 37, 35, 20, dtype)
    signature = functions.signature(made.applied.payload, made.plan.entry)
    inputs = random_inputs(signature, 11)
    result = run_plan(made.plan, NativeDevice(reverse=True), inputs, text=made.cuda)
    expect_computed("the text by g++", result, signature, reference(made.applied.payload, None, inputs))


@pytest.mark.parametrize("recipe", RECIPES)
def test_no_spills(recipe: str) -> None:
    """Each type on one chip, and each chip with one type; all of them in a soak."""
    for number, dtype in enumerate(("f32", "f64", "f16", "i32"), RECIPES.index(recipe)):
        for arch in ARCHITECTURES if SOAK else (ARCHITECTURES[number % len(ARCHITECTURES)],):
            compiled = compile_cubin(ready(recipe, 1000, 777, 333, dtype).cuda, arch)
            assert compiled.spill_bytes == 0, (dtype, arch, compiled.log)


# ---- barriers ---------------------------------------------------------------------------------------------------------

BARRIER = re.compile(r"^ *__syncthreads\(\);\n", re.M)


def races_of_text(made: Planned, text: str) -> list[str]:
    device = NativeDevice("tsan")
    inputs = random_inputs(functions.signature(made.applied.payload, made.plan.entry), 2)
    run_plan(made.plan, device, inputs, text=text)
    return device.races


def races_simulated(made: Planned, module: str) -> int:
    inputs = random_inputs(functions.signature(made.applied.payload, made.plan.entry), 2)
    return len(run_plan(made.plan, SimDevice(), inputs, text=module).races or ())


def without_barrier(module: mlir.ir.Module, number: int) -> str:
    """The module's text without its `number`-th barrier."""
    copy = mlir.parse(str(module), module.context)
    list(mlir.operations(copy.operation, "gpu.barrier"))[number].erase()
    return str(copy)


@pytest.mark.parametrize("size", [(32, 32, 32), (20, 40, 25)], ids=str)
def test_exactly_two_barriers_each_needed(size: tuple[int, int, int]) -> None:
    made = ready("shared", *size)
    module = made.applied.module
    places = list(BARRIER.finditer(made.cuda))
    assert len(places) == len(list(mlir.operations(module.operation, "gpu.barrier"))) == 2
    assert races_of_text(made, made.cuda) == []
    assert races_simulated(made, str(module)) == 0
    for number, place in enumerate(places):
        text = made.cuda[: place.start()] + made.cuda[place.end() :]
        assert races_of_text(made, text), f"the thread sanitizer misses barrier {number}"
        assert races_simulated(made, without_barrier(module, number)), f"the simulator misses barrier {number}"
        left = verify_source(Source("less.mlir", without_barrier(module, number)))
        assert [d.code for d in left.diagnostics] and not left.ok, f"the analysis misses barrier {number}"
        assert all(d.code == "W0601" and "shared memory" in d.message for d in left.diagnostics), left.diagnostics
    whole = verify_source(Source("whole.mlir", str(module)))
    assert whole.ok and [k.superfluous for k in whole.kernels] == [()], whole.diagnostics
