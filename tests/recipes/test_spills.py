"""No recipe's kernel spills: some sizes of each kind, each on one chip, in every run; all of them and random ones on every chip
in a soak, which draws others with WEFT_SEED=WORD.

`benchmarks/registers.py` prints the same as a table.
"""

from __future__ import annotations

import os
import random
import sys
from functools import cache

import pytest
from places import ROOT

from weft.dsl.diagnostics import WeftError
from weft.recipes import schedules
from weft.runtime.cuda.nvrtc import ARCHITECTURES

sys.path.insert(0, str(ROOT / "benchmarks"))
from registers import compiled, random_sizes, sizes_of, types_of  # pyright: ignore[reportMissingImports]

SOAK = "WEFT_SOAK" in os.environ
SEED = os.environ.get("WEFT_SEED", "")
RANDOM = 25 if SOAK else 1
REFUSED = {"W0211", "W0240", "W0379", "W0453", "W0610"}
"""Types that a recipe does not take, sums too short to be parted, and kernels that the proof cannot decide: none is built."""


@cache
def cases() -> list[tuple[str, str | None, int]]:
    """Recipe, type, and the number of a size; not at import, since it reads all recipes."""
    return [(recipe, type, size) for recipe in schedules() for type in types_of(recipe) for size in range(len(sizes_of(recipe)))]


SPREAD = {"n": "2", "c": "66", "h": "29", "w": "31", "k": "130", "stride": "2", "dilation": "2"}


def expect_no_spills(recipe: str, settings: dict[str, str], *chips: str) -> bool:
    """False for what the recipe refuses."""
    try:
        for chip, kernels in compiled(recipe, settings, chips):
            for name, used in kernels.items():
                assert used.spill_bytes == used.stack_bytes == 0, (recipe, settings, chip, name, used)
    except WeftError as error:
        assert {one.code for one in error.diagnostics} <= REFUSED, error
        return False
    return True


@pytest.mark.parametrize("number", range(len(cases())) if SOAK else random.Random(1).sample(range(10**6), 5))
def test_sizes_of_each_kind(number: int) -> None:
    number %= len(cases())
    recipe, type, size = cases()[number]
    settings = {**sizes_of(recipe)[size], **({"type": type} if type else {})}
    expect_no_spills(recipe, settings, *(ARCHITECTURES if SOAK else (ARCHITECTURES[number % len(ARCHITECTURES)],)))


@pytest.mark.few(3)
@pytest.mark.parametrize(("recipe", "size", "chip"), [
    ("simt_pipelined", {"m": "1000", "n": "777", "k": "333"}, "sm_100a"),
    ("simt_pipelined", {"m": "66", "n": "573", "k": "64"}, "sm_80"),
    ("simt_pipelined", {"m": "200", "n": "200", "k": "9"}, "sm_100a"),
    ("simt_pipelined", {"m": "?", "n": "80", "k": "5"}, "sm_86"),
    ("simt_pipelined", {"m": "?", "n": "77", "k": "16"}, "sm_89"),
    ("simt", {"type": "f64"}, "sm_90a"),
    ("igemm", {**SPREAD, "type": "f64"}, "sm_80"),
    ("igemm_bias_relu", {"n": "3", "h": "13", "w": "11", "c": "5", "k": "7"}, "sm_86"),
    ("igemm_bias_relu", {"residual": "1"}, "sm_90a"),
    ("igemm_bias_relu", {"residual": "0"}, "sm_100a"),
    ("igemm_bias_relu", {"n": "3", "h": "13", "w": "13", "c": "7", "k": "65", "r": "1", "s": "1", "pad": "0"}, "sm_90a"),
    ("igemm_pipelined", {**SPREAD, "type": "f16"}, "sm_100a"),
    ("tensor", {"m": "?", "n": "?", "k": "?", "type": "bf16"}, "sm_90a"),
    *(("tensor", {**dict.fromkeys("mnk", "?"), "type": "f32", "as_type": word}, "sm_100a") for word in ("tf32", "3xtf32")),
    ("igemm_pipelined", {**dict.fromkeys("nchwk", "?"), "r": "5", "s": "3", "pad": "3", "type": "bf16"}, "sm_80"),
    ("igemm_pipelined", {**dict.fromkeys("nchwk", "?"), "r": "2", "s": "7", "dilation": "3", "type": "bf16"}, "sm_86"),
    ("igemm_tensor", {**dict.fromkeys("nchwk", "?"), "r": "2", "s": "2", "dilation": "2", "pad": "3", "type": "f16"}, "sm_100a"),
    ("igemm_split_k", {**dict.fromkeys("nchwk", "?"), "type": "f32"}, "sm_100a"),
    ("igemm_tensor_nchw", {**dict.fromkeys("nchwk", "?"), "type": "f64"}, "sm_100a"),
    ("hopper", {**dict.fromkeys("mnk", "?"), "bm": "64", "bn": "128", "overlap": "true"}, "sm_90a"),
    ("hopper", {"m": "1000", "n": "776", "k": "328", "rounded": "1", "overlap": "true", "blocks": "132"}, "sm_90a"),
    ("igemm_hopper", {**dict.fromkeys("nchwk", "?"), "bm": "128", "bn": "64", "rounded": "1"}, "sm_90a"),
    ("igemm_hopper", {**SPREAD, "c": "64", "k": "136", "bm": "64", "bn": "64", "resident": "4"}, "sm_90a"),
    ("layernorm", {"m": "?", "n": "?", "kept": "0", "type": "f32"}, "sm_86"),
    ("layernorm_welford", {"m": "?", "n": "?", "kept": "0", "type": "f32"}, "sm_86"),
    ("layernorm", {"m": "1802", "n": "320"}, "sm_80"),
    ("layernorm_welford", {"m": "?", "n": "1000", "type": "bf16"}, "sm_80"),
])  # fmt: skip
def test_where_the_compiler_is_short_of_registers(recipe: str, size: dict[str, str], chip: str) -> None:
    """Caps that it fills to the last, targets of its own that are too low, sums of one step, gathers that keep what they could
    compute again, an address for each swizzled row, rows that lanes share, taps of a filter and neighbours of a
    column as numbers of 64 bits, in arrays of any size."""
    assert expect_no_spills(recipe, size, chip)


@pytest.mark.few(4)
@pytest.mark.parametrize("recipe", schedules())
def test_random_sizes(recipe: str) -> None:
    draw, wrong = random.Random(recipe + SEED), list[AssertionError]()
    for _ in range(RANDOM):
        type = draw.choice(types_of(recipe))
        settings = {**random_sizes(recipe, draw), **({"type": type} if type else {})}
        try:
            expect_no_spills(recipe, settings, *(ARCHITECTURES if SOAK else draw.sample(ARCHITECTURES, 1)))
        except AssertionError as error:
            wrong.append(error)
    assert not wrong  # all of them: what is behind the first is told, too
