"""The register-tiled recipes: right and race-free for every member, no spills, and an inner loop of products and wide loads."""

from __future__ import annotations

import os
import random

import pytest
import sass
from executors import expect_computed, expect_report
from native_device import NativeDevice
from recipe_space import members
from scheduled import run_schedule
from test_matmul import BARRIER, races_of_text, races_simulated, ready, without_barrier

from weft.dsl.diagnostics import Source
from weft.interpreter.ir import mlir
from weft.pipeline import Choice, applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.cuda.nvrtc import ARCHITECTURES
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.run.execution import RunOptions
from weft.runtime.run.runner import run_plan
from weft.verify import verify_source

RECIPES = ("simt", "simt_pipelined")
SOAK = "WEFT_SOAK" in os.environ
SMALL = ((1, 1, 1), (127, 129, 65))
LARGE = ((1000, 777, 333), (512, 512, 512)) if SOAK else ((300, 389, 71), (256, 256, 64))
RAGGED = ((1, 1, 1), (200, 200, 9), (1000, 777, 13), (64, 64, 64))
MOST = {"simt": 128, "simt_pipelined": 255}
"""Registers of a thread with which two blocks fit on a multiprocessor."""
CHIPS = ARCHITECTURES if SOAK else ("sm_80", "sm_90a")
SPACE = [(recipe, dtype) for recipe in RECIPES for dtype in ("f32", "f64")]


def sample(recipe: str, dtype: str, count: int) -> list[dict[str, str]]:
    """So many members of the parameter space, each time the same; all of them in a soak."""
    every = members(recipe, type=dtype)
    assert len(every) > 20, every
    return every if SOAK else random.Random(f"{recipe} {dtype}").sample(every, count)


def check(recipe: str, member: dict[str, str], size: tuple[int, int, int]) -> None:
    m, n, k = map(str, size)
    report = run_schedule(recipe, None, {**member, "m": m, "n": n, "k": k}, None, RunOptions("sim", 3)).report
    expect_report(report, (member, size))
    assert report.races == () and report.faults == (), (member, size)
    loads = [c for c in report.bank_conflicts or () if c.kind == "load" and c.conflicts]
    assert not loads, (member, size, loads)


@pytest.mark.few()
@pytest.mark.parametrize(("recipe", "dtype"), SPACE)
@pytest.mark.parametrize("size", SMALL, ids=str)
def test_members_at_small_sizes(recipe: str, dtype: str, size: tuple[int, int, int]) -> None:
    for member in sample(recipe, dtype, 1 if size == (1, 1, 1) else 2):
        check(recipe, member, size)


@pytest.mark.few(2)
@pytest.mark.parametrize(("recipe", "dtype"), SPACE)
@pytest.mark.parametrize("size", LARGE, ids=str)
def test_members_at_large_sizes(recipe: str, dtype: str, size: tuple[int, int, int]) -> None:
    """Members at both in a soak; otherwise the recipe's own parameters where edges are ragged, and others where none is."""
    own = [{"type": dtype}] if SOAK or size == LARGE[0] else []
    for member in own + (sample(recipe, dtype, 1) if SOAK or size == LARGE[1] else []):
        check(recipe, member, size)


@pytest.mark.few(2)
@pytest.mark.parametrize("dtype", ["f16", "bf16", "i32"])
@pytest.mark.parametrize("recipe", RECIPES)
def test_other_types(recipe: str, dtype: str) -> None:
    check(recipe, {"type": dtype}, (130, 70, 40))


@pytest.mark.few()
@pytest.mark.parametrize("size", [(37, 35, 20), (128, 128, 32)], ids=str)
@pytest.mark.parametrize(("recipe", "dtype"), SPACE)
def test_text_on_the_cpu(recipe: str, dtype: str, size: tuple[int, int, int]) -> None:
    made = ready(recipe, *size, dtype)
    signature = functions.signature(made.applied.payload, made.plan.entry)
    inputs = random_inputs(signature, 11)
    expected = reference(made.applied.payload, None, inputs)
    for reverse in (False, True):
        result = run_plan(made.plan, NativeDevice(reverse=reverse), inputs, text=made.cuda)
        expect_computed("the text by g++", result, signature, expected)


@pytest.mark.few(2)
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("recipe", RECIPES)
def test_machine_code(recipe: str, chip: str) -> None:
    """Each size on each chip in a soak; otherwise the sizes by turns, so that each recipe and each chip has both."""
    sizes = ((512, 512, 512), (1000, 777, 333))
    for size in sizes if SOAK else (sizes[(CHIPS.index(chip) + RECIPES.index(recipe)) % 2],):
        text = ready(recipe, *size).cuda
        used = sass.resources(text, "matmul", chip)
        assert used.spill_bytes == used.stack_bytes == 0, used
        assert used.registers <= MOST[recipe], used
        inner = sass.compute_region(text, "matmul", chip)
        if recipe == "simt":
            assert not inner.besides("FFMA", "LDS") and inner.integer <= 4, inner  # the k loop's counter and condition
        elif size == (512, 512, 512):  # with one barrier a step the copies of the next tile stand among the sums
            assert not inner.besides("FFMA", "LDS", "LDG", "STS", "SHF", "LDC") and inner.integer <= 32, inner
            assert inner.by_mnemonic["LDG"] == 8 and set(inner.global_loads) == {128}, inner
        assert set(inner.shared_loads) == {128}, inner
        assert inner.by_mnemonic["FFMA"] >= 16 * inner.by_mnemonic["LDS"], inner
        assert sass.inner_loop(text, "matmul", chip).divisions == 0
    if SOAK or CHIPS.index(chip) == RECIPES.index(recipe):
        double = sass.resources(ready(recipe, 1000, 777, 333, "f64").cuda, "matmul", chip)
        assert double.spill_bytes == double.stack_bytes == 0, double


WIDE = ({"tm": "16", "bm": "256"}, {"tm": "8", "tn": "16"}, {"tm": "16", "bm": "128"})
"""128 sums a thread."""


@pytest.mark.few(2)
@pytest.mark.parametrize("wide", WIDE, ids=str)
@pytest.mark.parametrize("recipe", RECIPES)
def test_wide_tiles(recipe: str, wide: dict[str, str]) -> None:
    """On every chip at sizes of each kind in a soak; otherwise each on one chip at one size."""
    turn = WIDE.index(wide) + RECIPES.index(recipe)
    for number, size in enumerate(((512, 512, 512), (1000, 777, 333), *RAGGED)):
        m, n, k = map(str, size)
        for chip in ARCHITECTURES:
            if not SOAK and (number != turn % 2 or chip != CHIPS[turn // 2 % 2]):
                continue
            settings = {**wide, "m": m, "n": n, "k": k}
            made = planned(applied(Choice(recipe, None, settings).open()))
            used = sass.resources(made.cuda, "matmul", chip)
            assert used.spill_bytes == used.stack_bytes == 0, (settings, chip, used)
            inner = sass.compute_region(made.cuda, "matmul", chip)
            assert set(inner.shared_loads) == {128} and inner.ffma >= 20 * inner.by_mnemonic["LDS"], inner
    if turn % 2:
        check(recipe, settings | {"m": "300", "n": "270", "k": "20"}, (300, 270, 20))


@pytest.mark.few(2)
@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("size", RAGGED, ids=str)
def test_registers_where_guards_or_short_loops_cost_most(recipe: str, size: tuple[int, int, int]) -> None:
    """On every chip in a soak; otherwise each recipe on each of two, at sizes of each kind."""
    for chip in CHIPS if SOAK else (CHIPS[(RAGGED.index(size) + RECIPES.index(recipe)) % len(CHIPS)],):
        used = sass.resources(ready(recipe, *size).cuda, "matmul", chip)
        assert used.spill_bytes == used.stack_bytes == 0, (size, used)
        assert used.registers <= MOST[recipe], (size, used)


def test_a_ragged_result_goes_back_as_wide_as_its_rows_allow() -> None:
    for columns, width in ((200, 128), (202, 64), (201, 32)):
        text = ready("simt", 200, columns, 16).cuda
        assert set(sass.whole(text, "matmul", "sm_80").global_stores) == {width}, columns


@pytest.mark.parametrize(("recipe", "barriers"), [("simt", 2), ("simt_pipelined", 1)])
def test_barriers_exactly_and_each_needed(recipe: str, barriers: int) -> None:
    made = ready(recipe, 130, 100, 48)
    module = made.applied.module
    places = list(BARRIER.finditer(made.cuda))
    assert len(places) == len(list(mlir.operations(module.operation, "gpu.barrier"))) == barriers
    assert races_of_text(made, made.cuda) == []
    assert races_simulated(made, str(module)) == 0
    for number, place in enumerate(places):
        text = made.cuda[: place.start()] + made.cuda[place.end() :]
        assert races_of_text(made, text), f"the thread sanitizer misses barrier {number}"
        assert races_simulated(made, without_barrier(module, number)), f"the simulator misses barrier {number}"
        left = verify_source(Source("less.mlir", without_barrier(module, number)))
        assert not left.ok and {d.code for d in left.diagnostics} == {"W0601"}, f"the analysis misses barrier {number}"
    whole = verify_source(Source("whole.mlir", str(module)))
    assert whole.ok and [k.superfluous for k in whole.kernels] == [()], whole.diagnostics
