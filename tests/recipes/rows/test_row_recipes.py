"""The recipes of rows: right at any size and type by every witness, one read and one write of each element, nothing spilled."""

from __future__ import annotations

import os
import random
from math import prod

import pytest
from executors import expect_report
from judging import assert_barriers_needed, assert_lanes_needed, expect_right  # pyright: ignore[reportMissingImports]
from sass import COMPILED_FOR
from scheduled import run_schedule

from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir.mlir import operations
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.cuda.nvrtc import compile_cubin
from weft.runtime.plan.dtypes import itemsize
from weft.runtime.predict.chips import CHIPS, Gpu
from weft.runtime.predict.prediction import predict
from weft.runtime.run.execution import RunOptions

SOAK = "WEFT_SOAK" in os.environ
RECIPES = ("softmax", "layernorm", "layernorm_welford", "argmax")
KEPT = RECIPES[:3]
"""Those that keep rows in registers."""
TYPES = ("f32", "f16", "bf16")
LARGE = {"m": 8192, "n": 8192}


def made(recipe: str, **settings: object) -> Planned:
    return planned(applied(Choice(recipe, None, {name: str(value) for name, value in settings.items()}).open()))


def random_size(r: random.Random) -> dict[str, int]:
    """Rows shorter than a warp, of whole vectors, of odd length, longer than a block keeps."""
    n = r.choice((1, r.randint(1, 40), r.randint(1, 1024), 8 * r.randint(1, 300), r.randint(1025, 3000), r.randint(8193, 9000)))
    return {"m": r.randint(1, 9 if n < 1025 else 3), "n": n}


@pytest.mark.parametrize("seed", range(40 if SOAK else 1))
@pytest.mark.parametrize("recipe", RECIPES)
def test_random_sizes_and_types(recipe: str, seed: int) -> None:
    """On the simulator, as text, and as loops; without any of its barriers it is a race, without a lane of a shuffle
    divergent."""
    r = random.Random(f"{recipe} {seed}")
    settings = {**random_size(r), "type": TYPES[seed % len(TYPES)]}
    done = made(recipe, **settings)
    expect_right(done, seed, f"\n{recipe} {settings}\n", native=True)
    assert_barriers_needed(done, seed, f"\n{recipe} {settings}\n")
    assert_lanes_needed(done, seed, f"\n{recipe} {settings}\n", native=SOAK)


@pytest.mark.parametrize("seed", range(40 if SOAK else 1))
def test_sums_of_random_sizes_and_types(seed: int) -> None:
    """By one block, and in parts."""
    r = random.Random(seed)
    n = (r.randint(1, 40), r.randint(1, 65536), r.randint(65537, 200_000), 8 * r.randint(9000, 20_000))[seed % 4]
    settings = {"n": n, "type": r.choice(TYPES), "parts": r.choice((1, 2, 7, 64, 1056))}
    done = made("sum", **settings)
    expect_right(done, seed, f"\n{settings}\n", native=True, whole=True)
    assert_barriers_needed(done, seed, f"\n{settings}\n")
    assert_lanes_needed(done, seed, f"\n{settings}\n", native=SOAK)


OPEN_ROWS = {"m": "?", "n": 70}, {"X.0": "5"}
OPEN_ALL = {"m": "?", "n": "?", "kept": 0}, {"X.0": "3", "X.1": "90"}
OPEN = [
    *((recipe, *sizes) for recipe in KEPT for sizes in (OPEN_ROWS, OPEN_ALL)), ("argmax", *OPEN_ROWS),
    ("argmax", {"m": "?", "n": "?"}, {"X.0": "3", "X.1": "90"}), ("sum", {"n": "?", "parts": 1}, {"X.0": "3000"}),
]  # fmt: skip


@pytest.mark.few(3)
@pytest.mark.parametrize(("recipe", "settings", "sizes"), OPEN)
def test_sizes_known_at_run_time(recipe: str, settings: dict[str, object], sizes: dict[str, str]) -> None:
    given = {name: str(value) for name, value in settings.items()}
    report = run_schedule(recipe, None, given, None, RunOptions("sim", 3, sizes=sizes)).report
    expect_report(report)


@pytest.mark.parametrize("recipe", KEPT)
def test_rows_of_unknown_length_are_not_kept(recipe: str) -> None:
    with pytest.raises(WeftError, match="W0332"):
        made(recipe, n="?")


def reached(chip: Gpu) -> float:
    """Bytes per second that kernels reach of DRAM."""
    return chip.dram * chip.dram_share


@pytest.mark.few(3)
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("recipe", RECIPES)
def test_as_fast_as_memory(recipe: str, type: str) -> None:
    """One read and one write of each element, 16 bytes at a time; nothing in local memory on any chip."""
    done = made(recipe, **LARGE, type=type)
    (kernel,) = operations(done.applied.module.operation, "gpu.func")
    x, *_, out = list(kernel.regions[0].blocks[0].arguments)[: len(done.plan.buffers)]
    assert [use.owner.name for use in x.uses] == ["vector.load"]
    assert [use.owner.name for use in out.uses] == ["vector.store" if recipe in KEPT else "memref.store"]
    for chip in COMPILED_FOR:
        found = compile_cubin(done.cuda, chip)
        assert (found.spill_bytes, *(one.stack_bytes for one in found.kernels.values())) == (0, 0), chip
    chip = CHIPS["h200"]
    moved = sum(prod(map(int, map(str, b.shape))) * itemsize(b.dtype) for b in done.plan.buffers)
    most = 1.3 if recipe == "layernorm_welford" and type != "f32" else 1.1  # whose instructions take as long
    assert sum(one.seconds for one in predict(done.plan, done.cuda, chip).kernels) < most * moved / reached(chip) + chip.launch


@pytest.mark.few(2)
@pytest.mark.parametrize("type", TYPES)
def test_a_sum_as_fast_as_memory(type: str) -> None:
    done = made("sum", n=2**26, type=type)
    for chip in COMPILED_FOR:
        found = compile_cubin(done.cuda, chip)
        assert (found.spill_bytes, *(one.stack_bytes for one in found.kernels.values())) == (0, 0, 0, 0), chip
    chip = CHIPS["h200"]
    seconds = sum(one.seconds for one in predict(done.plan, done.cuda, chip).kernels)
    assert seconds < 1.1 * 2**26 * itemsize(type) / reached(chip) + 2 * chip.launch


@pytest.mark.few(4)
@pytest.mark.parametrize("settings", [{"n": 1024}, {"n": 8192}, {"n": 8192, "type": "f16"}, {"n": 77}], ids=str)
@pytest.mark.parametrize("recipe", RECIPES)
def test_no_bank_conflicts(recipe: str, settings: dict[str, object]) -> None:
    given = {"m": "5", **{name: str(value) for name, value in settings.items()}}
    report = run_schedule(recipe, None, given, None, RunOptions("sim", 3)).report
    assert report.ok and not [access for access in report.bank_conflicts or () if access.conflicts], report
