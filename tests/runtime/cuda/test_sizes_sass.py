"""What sizes that are known at run time only cost in machine code: the loop over k beside that for one size, registers, spills."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest
import sass

import weft
from weft.pipeline import Planned, applied, planned
from weft.runtime.cuda.nvrtc import ARCHITECTURES
from weft.runtime.plan.plan import Launch

FOLDERS = {"simt": "matmul", "simt_pipelined": "matmul", "igemm": "conv2d", "igemm_nchw": "conv2d", "igemm_bias_relu": "conv2d"}
ONE = {
    "matmul": {"m": 1024, "n": 1024, "k": 1024},
    "conv2d": {"n": 8, "c": 64, "h": 56, "w": 56, "k": 64},
}
TILES = {
    "simt": ("A.0 % 128", "A.1 % 16", "B.1 % 128"),
    "simt_pipelined": ("A.0 % 128", "A.1 % 16", "B.1 % 128"),
    "igemm": ("X.3 % 16", "W.3 % 64"),
    "igemm_nchw": ("X.1 % 16", "W.0 % 64"),
    "igemm_bias_relu": ("X.3 % 16", "W.3 % 64"),
}
PRODUCTS = {"simt_pipelined": 2048}
"""FFMA of a step along k, where they are not 1024."""
SOAK = "WEFT_SOAK" in os.environ
CHIPS = [(recipe, chip) for recipe in FOLDERS for chip in (ARCHITECTURES if SOAK else ("sm_80", "sm_90a"))]
EACH_ONCE = [(recipe, ("sm_80", "sm_90a")[n % 2]) for n, recipe in enumerate(FOLDERS)]


@cache
def made(recipe: str, *, whole_tiles: bool = False, static: bool = False) -> Planned:
    """A recipe for one size, for all whose tiles are whole, or for all."""
    folder = FOLDERS[recipe]
    sizes: dict[str, str | int] = dict(ONE[folder]) if static else dict.fromkeys(ONE[folder], "?")
    if not whole_tiles:
        return planned(applied(weft.load(recipe, settings=sizes)))
    lines = "".join(f"  assume {one} == 0\n" for one in TILES[recipe])
    called = (Path(weft.__file__).parent / "recipes" / folder / f"{recipe}.weft").read_text()
    return planned(applied(weft.load(f"{called}\nschedule assumed() {{\n{lines}  {recipe}()\n}}\n", settings=sizes)))


def instructions(one: Planned, recipe: str, kernel: str, chip: str) -> int:
    """Of the loop over k. It divides by nothing, and the kernel does not spill."""
    used, loop = sass.resources(one.cuda, kernel, chip), sass.product_loop(one.cuda, kernel, chip)
    assert used.spill_bytes == used.stack_bytes == 0, (kernel, used)
    assert loop.divisions == 0 and loop.ffma == PRODUCTS.get(recipe, 1024), (kernel, loop)
    return sum(loop.by_mnemonic.values())


def measured(one: Planned, recipe: str, launch: Launch, chip: str) -> tuple[int, int]:
    """With indices of 32 bits, and of 64."""
    assert launch.narrow is not None
    return instructions(one, recipe, launch.narrow.kernel, chip), instructions(one, recipe, launch.kernel, chip)


def at_one_size(recipe: str, chip: str) -> int:
    one = made(recipe, static=True)
    return sum(sass.product_loop(one.cuda, one.plan.kernels[0].name, chip).by_mnemonic.values())


@pytest.mark.few(2)
@pytest.mark.parametrize(("recipe", "chip"), CHIPS)
def test_whole_tiles_cost_five_percent_at_most(recipe: str, chip: str) -> None:
    one = made(recipe, whole_tiles=True)
    (launch,) = one.plan.launches
    narrow, wide = measured(one, recipe, launch, chip)
    assert narrow <= (1.015 if FOLDERS[recipe] == "matmul" else 1.05) * at_one_size(recipe, chip)
    assert wide <= 1.2 * at_one_size(recipe, chip)


@pytest.mark.few(2)
@pytest.mark.parametrize(("recipe", "chip"), CHIPS if SOAK else EACH_ONCE)
def test_rows_of_whole_vectors_and_any_rows(recipe: str, chip: str) -> None:
    one = made(recipe)
    fours, any_rows = one.plan.launches
    assert measured(one, recipe, fours, chip)[0] <= 1.05 * at_one_size(recipe, chip)
    assert measured(one, recipe, any_rows, chip)[0] <= 1.22 * at_one_size(recipe, chip)
