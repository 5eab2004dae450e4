"""The recipe `igemm_split_k`: right and race-free for random layers, one buffer of partial sums, no spills, no divisions."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from functools import cache
from math import ceil, prod
from pathlib import Path

import numpy as np
import pytest
import sass
from convolution_oracle import bias_relu, convolved, random_sizes
from executors import expect_report
from native_device import NativeDevice
from scheduled import run_schedule
from test_matmul import BARRIER, races_of_text, races_simulated, without_barrier

from weft.dsl.diagnostics import Source
from weft.pipeline import Choice, Planned, applied, planned
from weft.recipes import builders
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.run.execution import RunOptions
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice
from weft.verify import verify_source

RECIPE = "igemm_split_k"
SOAK = "WEFT_SOAK" in os.environ
SMALL = {"n": "1", "c": "8", "h": "5", "w": "4", "k": "10", "parts": "2"}


ATOMIC = str(Path(__file__).with_name("igemm_atomic.weft"))
"""The recipe with its parts added up by the blocks that make them."""


def made(settings: Mapping[str, str], layer: str | None = None, recipe: str = RECIPE) -> Planned:
    return _made(tuple(settings.items()), layer, recipe)


@cache
def _made(settings: tuple[tuple[str, str], ...], layer: str | None, recipe: str) -> Planned:
    return planned(applied(Choice(recipe, None, dict(settings), layer=layer).open()))


def by_plain_loops(settings: Mapping[str, str], arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    values = {p.name: settings.get(p.name, str(p.default)) for p in builders()["conv2d"].parameters}
    return convolved(arrays, first=False, **{step: int(values[step]) for step in ("stride", "pad", "dilation")})


def random_layer(seed: int) -> dict[str, str]:
    r = random.Random(9000 + seed)
    layer = random_sizes(9000 + seed)
    while layer["c"] * layer["r"] * layer["s"] <= 16:  # two steps of k and more
        layer["c"] += 7
    type = r.choice(("f32", "f32", "f64", "f16", "bf16"))
    return {name: str(size) for name, size in layer.items()} | {"type": type, "parts": r.choice(("2", "4", "8"))}


@pytest.mark.parametrize("recipe", [RECIPE, ATOMIC], ids=["launches", "atomic"])
@pytest.mark.parametrize("seed", range(200 if SOAK else 1))
def test_random_layers(seed: int, recipe: str) -> None:
    settings = random_layer(seed)
    done = made(settings, recipe=recipe)
    arrays = random_inputs(functions.signature(done.applied.payload, done.plan.entry), seed)
    result = run_plan(done.plan, SimDevice(), arrays, text=done.applied.text)
    assert not result.races and not result.faults, (settings, result.races, result.faults)
    wanted, got = by_plain_loops(settings, arrays), result.outputs["Y"]
    allowed = 1e-12 if settings["type"] == "f64" else 1e-5
    assert np.max(np.abs(got - wanted)) <= allowed * max(np.max(np.abs(wanted)), 1e-30), settings
    summands, step = prod(int(settings[s]) for s in "crs"), 16
    length = ceil(summands / int(settings["parts"]) / step) * step
    temporary = [prod(map(int, map(str, b.shape))) for b in done.plan.buffers if b.role == "temp"]
    sums = [ceil(summands / length) * got.size] if recipe == RECIPE else []
    assert temporary == sums, "the partial sums where a second launch adds them up, and nothing besides"


@pytest.mark.parametrize("recipe", [RECIPE, ATOMIC], ids=["launches", "atomic"])
def test_the_text_on_the_cpu(recipe: str) -> None:
    done = made(SMALL, recipe=recipe)
    arrays = random_inputs(functions.signature(done.applied.payload, done.plan.entry), 4)
    for reverse in (False, True):
        got = run_plan(done.plan, NativeDevice(reverse=reverse), arrays, text=done.cuda).outputs["Y"]
        np.testing.assert_allclose(got, by_plain_loops(SMALL, arrays), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("recipe", [RECIPE, ATOMIC], ids=["launches", "atomic"])
def test_barriers_exactly_and_each_needed(recipe: str) -> None:
    done = made(SMALL, recipe=recipe)
    assert verify_source(Source("whole.mlir", str(done.applied.module))).ok
    found = list(BARRIER.finditer(done.cuda))
    assert len(found) == 2, "the sum of the parts needs none"
    assert races_of_text(done, done.cuda) == []
    for number, barrier in enumerate(found):
        less = without_barrier(done.applied.module, number)
        assert not verify_source(Source("less.mlir", less)).ok
        assert races_simulated(done, less)
        assert races_of_text(done, done.cuda[: barrier.start()] + done.cuda[barrier.end() :])


CHIPS = ("sm_80", "sm_90a")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("type", "chip"),
    [(t, c) for t in ("f32", "f64", "f16") for c in CHIPS if SOAK or (t == "f64") == (c == "sm_80") or t == "f32"],
)
def test_machine_code(chip: str, type: str) -> None:
    done = made({"n": "8", "type": type}, "resnet50.layer4.1.conv2")
    assert [b.shape for b in done.plan.buffers if b.role == "temp"] == [(4, 8 * 7 * 7, 512)]
    assert [launch.grid for launch in done.plan.launches] == [(8, 4, 4) if type != "f64" else (16, 7, 4), (784, 1, 1)]
    for kernel in ("conv2d", "conv2d_1"):
        used = sass.resources(done.cuda, kernel, chip)
        assert used.spill_bytes == used.stack_bytes == 0 and used.registers <= 168, used
    inner = sass.inner_loop(done.cuda, "conv2d", chip)
    assert inner.divisions == 0 and set(inner.global_loads) == {128}, inner


@pytest.mark.parametrize(
    ("type", "chip"), [(t, c) for t in ("f32", "f64") for c in CHIPS if SOAK or (t == "f64") == (c == "sm_90a")]
)
def test_machine_code_of_atomic_sums(chip: str, type: str) -> None:
    done = made({"n": "8", "type": type}, "resnet50.layer4.1.conv2", ATOMIC)
    assert not [b for b in done.plan.buffers if b.role == "temp"]
    used = sass.resources(done.cuda, "conv2d_1", chip)
    assert used.spill_bytes == used.stack_bytes == 0 and used.registers <= 168, used
    counts = sass.whole(done.cuda, "conv2d_1", chip).by_mnemonic
    values = done.applied.recipe.values
    micro = int(values["tm"]) * int(values["tn"])  # type: ignore[call-overload]
    assert counts["RED"] + counts["REDG"] == micro and not counts["ATOM"] + counts["ATOMG"], "no old value comes back"


def test_what_follows_the_convolution_follows_the_sum(tmp_path: Path) -> None:
    """Bias, residual and ReLU in the second kernel, on the element that it adds up."""
    (tmp_path / "s.weft").write_text("""\
payload conv2d_bias_relu(n = 2, c = 5, h = 6, w = 5, k = 9, stride = 2, residual = 1)
schedule s() {
  let conv = match linalg.conv_2d_nhwc_hwcf
  let init = match linalg.fill
  let bias = match linalg.generic #0
  let residual = match linalg.add
  let relu = match linalg.generic #1
  let gemm = as-gemm conv
  let (partial, zeros, sum) = split-k gemm 4
  let (tiles, tile_mm) = tile partial [1, 4, 4]
  fuse zeros into tiles
  map tiles to blocks(z, y, x)
  let (lanes, one) = tile tile_mm [_, 1, 1]
  fuse zeros into lanes
  map lanes to threads(y, x)
  let (each, last) = tile relu [1, 1]
  fuse residual into each
  fuse bias into each
  fuse sum into each
  fuse init into each
  map each to grid(y, x)
  launch tiles
  launch each
}
""")
    result = run_schedule(str(tmp_path / "s.weft"), None, {}, None, RunOptions("sim", 2))
    expect_report(result.report)
    done = planned(applied(Choice(str(tmp_path / "s.weft"), None, {}).open()))
    arrays = random_inputs(functions.signature(done.applied.payload, done.plan.entry), 3)
    wanted = bias_relu(convolved(arrays, first=False, stride=2, pad=1, dilation=1), arrays)
    got = run_plan(done.plan, SimDevice(), arrays, text=done.applied.text).outputs["Y"]
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)
    assert [b.shape for b in done.plan.buffers if b.role == "temp"] == [(4, 18, 9)]
