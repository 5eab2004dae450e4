"""Grids with more blocks along y or z than hardware numbers there: folded into x, by text and launch alike."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from executors import expect_computed, expect_equal
from native_device import NativeDevice

import weft
from weft.dsl.diagnostics import WeftError
from weft.interpreter.hardware import limits
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs, sized
from weft.runtime.host.functions import signature
from weft.runtime.plan.codec import dump, load
from weft.runtime.plan.plan import KernelEntry
from weft.runtime.plan.resolve import resolve
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

FEW = (limits.GRID[0], 2, 2)
"""Blocks that hardware would number if it had still fewer: so small sizes have grids that are folded."""


class Hardware(NativeDevice):
    """Runs the text with the grid that it is given: `grids`."""

    def __init__(self) -> None:
        super().__init__("fibers")
        self.grids: list[tuple[int, ...]] = []

    def launch(
        self, kernel: KernelEntry, grid: tuple, block: tuple, shared_bytes: int, args: Sequence[Any], stream: Any
    ) -> None:
        self.grids.append(grid)
        super().launch(kernel, grid, block, shared_bytes, args, stream)


def expect_right(one: Planned, sizes: dict[str, str] | None = None) -> list[tuple[int, ...]]:
    """On the simulator and as text; the grids that the text was launched with."""
    payload, hardware = signature(one.applied.payload), Hardware()
    arrays = random_inputs(sized(payload, sizes or {}, one.plan.agreements, None), 1)
    wanted = reference(one.applied.payload, None, dict(arrays))
    for device in (SimDevice(), hardware):
        ran = run_plan(load(dump(one.plan)), device, arrays, text=one.cuda if device.wants == "cuda" else one.applied.located_text)
        expect_computed(device, ran, payload, wanted, rounded=one.plan.rounded)
    assert all(y <= limits.GRID[1] and z <= limits.GRID[2] for _, y, z in hardware.grids)
    return hardware.grids


SMALL = {"bm": "32", "bn": "32", "bk": "8", "wm": "16", "wn": "32", "tm": "4", "tn": "4"}
OF_CLUSTERS = {"bm": "64", "bn": "64", "gm": "64", "stages": "2", "cluster": "2", "group": "1"}
STATIC = {
    "two axes": ("naive", {"m": "50", "n": "40", "k": "5"}),
    "one axis": ("naive", {"m": "50", "n": "1", "k": "5"}),
    "staged": ("shared", {"m": "50", "n": "20", "k": "5", "bm": "8", "bn": "8", "bk": "8"}),
    "in groups of rows": ("simt", {"m": "130", "n": "40", "k": "20"} | SMALL),
    "parts of a sum": ("simt_split_k", {"m": "70", "n": "40", "k": "64", "parts": "4"} | SMALL),
    "three axes": ("igemm_nchw", {"n": "3", "h": "9", "w": "9", "c": "3", "k": "70"} | SMALL),
    "clusters": ("hopper", {"m": "200", "n": "200", "k": "64"} | OF_CLUSTERS),
}
ANY = {"m": "?", "n": "?", "k": "?"}
OPEN = {
    "two axes": ("naive", ANY, "50 40 5"),
    "in groups of rows": ("simt", ANY | SMALL, "800 40 20"),
    "three axes": ("igemm_nchw", {"n": "?", "h": "?", "w": "?", "c": "?", "k": "?"} | SMALL, "3 3 9 9 70"),
    "clusters": ("hopper", ANY | OF_CLUSTERS, "200 200 64"),
}


@pytest.mark.parametrize("case", STATIC)
def test_recipes_as_if_hardware_numbered_fewer(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "GRID", FEW)
    one = made(*STATIC[case])
    folded = [kernel.name for kernel in one.plan.kernels if kernel.folds]
    assert folded and "blockIdx.y" not in one.cuda.split(f" {folded[0]}(")[1].split("\n}\n")[0]
    assert any(max(map(int, step.grid[1:])) > 2 for step in one.plan.launches)  # pyright: ignore[reportArgumentType]
    assert (1, 1) in [grid[1:] for grid in expect_right(one)]


@pytest.mark.parametrize("case", OPEN)
def test_recipes_of_open_sizes_as_if_hardware_numbered_fewer(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "GRID", FEW)
    recipe, settings, sizes = OPEN[case]
    names = ("X.0", "X.1", "X.2", "X.3", "W.0") if recipe == "igemm_nchw" else ("A.0", "B.1", "A.1")
    one = made(recipe, settings)
    assert (1, 1) in [grid[1:] for grid in expect_right(one, dict(zip(names, sizes.split(), strict=True)))]
    assert all("blockIdx.y" not in text and "blockIdx.z" not in text for text in re.findall(r"_folded\((?s:.*?)#endif", one.cuda))


def made(recipe: str, settings: dict[str, str]) -> Planned:
    return planned(applied(Choice(recipe, None, settings).open()))


TWICE = """
func.func @twice(%x: tensor<{shape}xi8>, %y: tensor<{shape}xi8>) -> tensor<{shape}xi8> {{
  %r = linalg.add ins(%x, %x : tensor<{shape}xi8>, tensor<{shape}xi8>) outs(%y : tensor<{shape}xi8>) -> tensor<{shape}xi8>
  return %r : tensor<{shape}xi8>
}}
"""
ONE_EACH = """schedule one_each() {{
  let op = match linalg.add
  let (blocks, tile) = tile op [{tile}]
  map blocks to {space}
  let (lanes, one) = tile tile [{ones}]
  map lanes to threads({threads})
  launch blocks
}}
"""
GRID = "schedule s() {{\n  let op = match linalg.add\n  map op to {space}\n  launch op\n}}\n"


def elementwise(shape: str, space: str, tile: str = "") -> Planned:
    """Each element twice: blocks of one thread, or (no `tile`) what `map … to grid(…)` makes."""
    rank = shape.count("x") + 1
    ones, threads = ", ".join(["1"] * rank), ", ".join("zyx"[3 - rank :])
    text = ONE_EACH.format(tile=tile, space=space, ones=ones, threads=threads) if tile else GRID.format(space=space)
    return planned(weft.apply(text, payload=TWICE.format(shape=shape)))


def expect_twice(one: Planned, shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    x = np.arange(np.prod(shape), dtype=np.int64).reshape(shape).astype(np.int8)
    hardware = Hardware()
    for device in (SimDevice(), hardware):
        text = one.cuda if device.wants == "cuda" else one.applied.located_text
        ran = run_plan(one.plan, device, {"x": x, "y": np.zeros_like(x)}, text=text)
        expect_equal(device, "result0", ran.outputs["result0"], x + x)
        assert not ran.races and not ran.faults
    return hardware.grids


@pytest.mark.few()
@pytest.mark.parametrize(
    ("shape", "space", "tile", "grid"),
    [
        ((65_536, 2), "blocks(y, x)", "1, 1", (131_072, 1, 1)),
        ((70_001,), "blocks(y)", "1", (70_001, 1, 1)),
        ((70_001,), "blocks(z)", "1", (70_001, 1, 1)),
        ((65_537, 1, 2), "blocks(z, y, x)", "1, 1, 1", (131_074, 1, 1)),
        ((2, 65_539), "blocks(x, y)", "1, 1", (131_078, 1, 1)),
        ((65_535, 2), "blocks(y, x)", "1, 1", (2, 65_535, 1)),
        ((1_048_561, 1), "grid(y, x)", "", (65_536, 1, 1)),
        ((70_000, 3), "blocks(y: 66000, x: 3) cyclic", "1, 1", (198_000, 1, 1)),
    ],
)
@pytest.mark.parametrize("open_sizes", [False, True], ids=["static", "open"])
def test_more_than_hardware_numbers(
    shape: tuple[int, ...], space: str, tile: str, grid: tuple[int, ...], open_sizes: bool
) -> None:
    if open_sizes and not tile:
        tile, space = "1, 1", "blocks(y, x)"
        shape, grid = (66_001, 5), (330_005, 1, 1)
    one = elementwise("x".join("?" if open_sizes else str(n) for n in shape), space, tile)
    assert expect_twice(one, shape) == [grid]
    (step,) = resolve(one.plan, {"x": shape, "y": shape}, {}).launches
    assert step.kernel.endswith("_folded") == (open_sizes and grid[1:] == (1, 1) and ":" not in space)


def test_a_count_that_is_read_at_run_time() -> None:
    """`gpu.grid_dim` is of the grid that the schedule means, not of the one that hardware has."""
    one = elementwise("70001x3", "blocks(y: ?, x: 3) cyclic", "1, 1")
    assert expect_twice(one, (70_001, 3)) == [(210_003, 1, 1)]
    assert "blocks_y" in one.cuda.split("_folded(")[1]


@cache
def product() -> Planned:
    return planned(applied(Choice("naive", None, {"m": "?", "n": "?", "k": "?"}).open()))


@pytest.mark.parametrize(
    ("m", "n", "kernel"),
    [(16 * 65_535, 3, "matmul_32"), (16 * 65_535 + 1, 3, "matmul_folded"), (16 * 65_535, 2100, "matmul"),
     (16 * ((1 << 31) - 1), 1, "matmul_folded"), (16 << 28, 40, "matmul_folded"), (1, 16 << 20, "matmul_32")],
)  # fmt: skip
def test_the_text_that_a_size_takes(m: int, n: int, kernel: str) -> None:
    (step,) = resolve(load(dump(product().plan)), {"A": (m, 1), "B": (1, n)}, {}).launches
    assert step.kernel == kernel and (step.narrow, step.folded) == (None, None)


@pytest.mark.parametrize("shape", [(1 << 31, 1), (1 << 16, 1 << 16), (1, 1 << 31)])
def test_more_blocks_than_there_can_be(shape: tuple[int, int]) -> None:
    said = r"\d+ blocks in [xy] are more than (2147483647|65535, and all \d+ are more than the 2147483647 in x)$"
    with pytest.raises(WeftError) as refused:
        resolve(elementwise("?x?", "blocks(y, x)", "1, 1").plan, {"x": shape, "y": shape}, {})
    (found,) = refused.value.diagnostics
    assert found.code == "W0704" and re.search(said, found.message) and "by larger sizes" in str(found.hint)
    with pytest.raises(WeftError) as refused:
        elementwise(f"{shape[0]}x{shape[1]}", "blocks(y, x)", "1, 1")
    (found,) = refused.value.diagnostics
    assert found.code == "W0346" and re.search(said, found.message) and "by larger sizes" in str(found.hint)


def test_ordinary_sizes_have_the_text_that_they_had() -> None:
    """The other texts do not know of folded grids; those whose number of blocks is small enough have no more of them."""
    whole, narrow, folded = product().cuda.split('extern "C"')[1:]
    for text in (whole, narrow):
        assert "const int by = blockIdx.y;" in text and "const int bx = blockIdx.x;" in text and "blocks_x" not in text
    assert "blockIdx.y" not in folded and "blocks_x" in folded
    for few in (elementwise("?x9", "blocks(x)", "1, 0"), elementwise("9x?", "blocks(y, x)", "1, 1")):
        assert "folded" not in few.cuda
    assert re.search(r"by = blockIdx.x;", elementwise("70001", "blocks(y)", "1").cuda)


def test_a_text_that_does_not_fold_is_not_launched_so() -> None:
    """Of a bundle that an older Weft has written, or of a kernel that is the payload's own."""
    older = replace(product().plan, steps=tuple(replace(step, folded=None) for step in product().plan.launches))
    with pytest.raises(WeftError, match=r"W0704: .*65536 blocks in y are more than 65535"):
        resolve(older, {"A": (16 * 65_535 + 1, 1), "B": (1, 1)}, {})
    one = elementwise("70001", "blocks(y)", "1")
    with pytest.raises(WeftError, match=r"W0704: .*70001 blocks in y are more than 65535"):
        resolve(replace(one.plan, kernels=tuple(replace(kernel, folds=False) for kernel in one.plan.kernels)), {}, {})


def test_the_report_the_proof_and_the_prediction_know_the_grid_that_is_meant() -> None:
    one = elementwise("65537x2", "blocks(y, x)", "1, 1")
    remarks = [remark for step in one.applied.session.steps for remark in step.remarks]
    assert any("grid 2x65537x1" in remark for remark in remarks)
    assert not any("assumed" in remark for remark in remarks)
    from weft.runtime.predict.chips import CHIPS
    from weft.runtime.predict.prediction import predict

    (kernel,) = predict(resolve(one.plan, {}, {}), one.cuda, CHIPS["h100"]).kernels
    assert kernel.grid == (2, 65_537, 1) and kernel.working == 2 * 65_537
