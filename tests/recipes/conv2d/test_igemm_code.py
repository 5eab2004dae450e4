"""The machine code of the implicit GEMMs on layers of ResNet-50: no spills, no division in the loop over k, matmul's inner loop."""

from __future__ import annotations

import os
import re
from functools import cache

import pytest
import sass
from random_layers import PAYLOADS

from weft.pipeline import Choice, applied, planned
from weft.recipes import builders
from weft.runtime.cuda.nvrtc import ARCHITECTURES, compile_cubin

RECIPES = {"igemm": "conv2d", "igemm_nchw": "conv2d_nchw", "igemm_bias_relu": "conv2d_bias_relu"}
LAYERS = (
    "",  # the payload's own sizes
    "conv1",  # 7x7 taps of 3 channels, 2 apart
    "layer1.0.conv2",  # 3x3 taps
    "layer2.0.downsample.0",  # 1x1 taps, 2 apart
    "layer3.0.conv2",  # 3x3 taps, 2 apart
    "layer4.1.conv2",  # images of 7x7
)
SOAK = "WEFT_SOAK" in os.environ
EVERY = [(recipe, layer, chip) for recipe in RECIPES for layer in LAYERS for chip in ARCHITECTURES]
EACH_ONCE = [
    (recipe, layer, ARCHITECTURES[(row + column) % len(ARCHITECTURES)])
    for row, recipe in enumerate(RECIPES)
    for column, layer in enumerate(LAYERS)
]
"""Every recipe with every layer, and with every chip; all three together in a soak."""
COMPILED = EVERY if SOAK else EACH_ONCE
DIVISION = re.compile(r"[\w)] [/%] [\w(]")


@cache
def text(recipe: str, layer: str = "", **settings: str) -> str:
    """The CUDA text at a batch of 8, with a residual where there may be one."""
    if layer:
        settings["n"] = "8"
    if "residual" in {p.name for p in builders()[PAYLOADS[recipe]].parameters}:
        settings["residual"] = "1"
    return planned(applied(Choice(recipe, None, settings, layer=f"resnet50.{layer}" if layer else None).open())).cuda


def loop_over_k(cuda: str) -> str:
    """What stands between the braces of the kernel's outermost loop that has barriers."""
    lines = cuda.splitlines()
    (start,) = (n for n, line in enumerate(lines) if line.startswith("  for (int k = 0; "))
    length = lines[start:].index("  }")
    body = "\n".join(lines[start + 1 : start + length])
    assert body.count("__syncthreads();") == cuda.count("__syncthreads();") == 2
    return body


def wide_where_channels_are(layer: str) -> bool:
    channels = builders()["conv2d"].layers[f"resnet50.{layer}"]["c"] if layer else 16
    return channels % 4 == 0


@pytest.mark.few(3)
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("recipe", ["igemm", "igemm_bias_relu"])
def test_an_image_of_whole_vectors_of_channels_is_read_16_bytes_at_a_time(recipe: str, layer: str) -> None:
    body = loop_over_k(text(recipe, layer))
    assert bool(re.search(r"[=?] X\[", body)) != wide_where_channels_are(layer)
    assert ("reinterpret_cast<const float4*>(&X[" in body) == wide_where_channels_are(layer)


@pytest.mark.few(5)
@pytest.mark.parametrize(("recipe", "layer", "chip"), COMPILED)
def test_machine_code(recipe: str, layer: str, chip: str) -> None:
    cuda, kernel = text(recipe, layer), RECIPES[recipe]
    used = sass.resources(cuda, kernel, chip)
    assert used.spill_bytes == used.stack_bytes == 0, used
    blocks = 2 if recipe == "igemm_bias_relu" else 3  # of 128 threads on a multiprocessor; with 3 it spills where k is one step
    assert used.registers <= 65536 // (128 * blocks) // 8 * 8, used
    over_k = sass.inner_loop(cuda, kernel, chip)
    assert over_k.barriers == 2 and over_k.ffma == 16 * 8 * 8, "it is the loop over k, and nothing in it is a loop"
    assert over_k.by_mnemonic["BRA"] == 1 and not over_k.by_mnemonic["BSSY"], "guards are predicates: it only branches back"
    assert over_k.divisions == 0 and not {"I2F", "I2FP", "F2I", "MUFU"} & set(over_k.by_mnemonic), over_k
    sums = sass.compute_region(cuda, kernel, chip)
    assert not sums.besides("FFMA", "LDS", "SHF", "HFMA2") and sums.integer <= 56, sums  # the digits step forth behind the sums
    assert sums.by_mnemonic["HFMA2"] <= 1, sums  # a number
    assert set(sums.shared_loads) == {128} and sums.ffma >= 16 * sums.by_mnemonic["LDS"], sums
    if recipe != "igemm_nchw" and wide_where_channels_are(layer):
        assert over_k.global_loads == {128: 6} and over_k.integer <= (88 if chip == "sm_100a" else 72), over_k
    # 7x7 taps of 3 channels: each of four neighbours has digits of its own
    assert over_k.integer <= (232 if chip == "sm_100a" else 208), over_k


def behind_the_loop(cuda: str, kernel: str, chip: str) -> sass.Counts:
    code = sass.program(cuda, kernel, chip).instructions
    return sass.Counts.of(code[sass.hottest_loop(cuda, kernel, chip).stop :])


@pytest.mark.few(2)
@pytest.mark.parametrize(("layer", "chip"), [(layer, chip) for recipe, layer, chip in COMPILED if recipe == "igemm_bias_relu"])
def test_bias_residual_and_result_move_16_bytes_at_a_time(layer: str, chip: str) -> None:
    """8x8 results of a thread are 16 stores; where rows or columns are ragged, four are inside together or outside."""
    cuda = text("igemm_bias_relu", layer)
    assert "reinterpret_cast<const float4*>(&bias[" in cuda and not re.search(r"= bias\[|\+ bias\[|residual\[[^&]*\];", cuda)
    after = behind_the_loop(cuda, "conv2d_bias_relu", chip)
    assert set(after.global_loads) == set(after.global_stores) == {128}, after
    columns = 16 + (2 if layer else 16)  # 32 filters in a tile of 64: the bias is read under a guard, for each row
    assert after.global_stores[128] == 16 and after.global_loads[128] == columns, after
    assert sum(after.by_mnemonic.values()) <= 360 and not after.local, after


@pytest.mark.parametrize(("k", "bits"), [("39", 32), ("42", 64)])
def test_rows_that_do_not_begin_at_16_bytes_are_moved_as_wide_as_they_may(k: str, bits: int) -> None:
    cuda = text("igemm_bias_relu", k=k)
    after = behind_the_loop(cuda, "conv2d_bias_relu", "sm_80")
    assert set(after.global_loads) == set(after.global_stores) == {bits}, after
    assert not re.search(r"float4\*>\(&(bias|residual|Y)\[", cuda)


EACH = [(layer, chip) for layer in LAYERS for chip in ARCHITECTURES]
PIPELINED = EACH if SOAK else [("conv1", "sm_80"), ("layer3.0.conv2", "sm_90a")]


@pytest.mark.parametrize(("layer", "chip"), PIPELINED)
def test_the_next_tile_of_a_gather_fits_beside_128_sums(layer: str, chip: str) -> None:
    cuda = text("igemm_pipelined", layer)
    used = sass.resources(cuda, "conv2d", chip)
    assert used.spill_bytes == used.stack_bytes == 0, used
    over_k = sass.inner_loop(cuda, "conv2d", chip)
    assert over_k.barriers == 1 and over_k.ffma == 8 * 16 * 8 and over_k.divisions == over_k.local == 0, over_k
    assert over_k.shared_loads == {128: 8 * 6}, over_k


TYPES = ("f64", "f16", "bf16")
TYPED = [(recipe, dtype) for n, recipe in enumerate(RECIPES) for dtype in (TYPES if SOAK else ("f64", TYPES[1 + n % 2]))]
"""Of the types of two bytes, which are staged alike, one for each recipe; both in a soak."""


@pytest.mark.few(2)
@pytest.mark.parametrize(("recipe", "dtype"), TYPED)
def test_other_types_do_not_spill(recipe: str, dtype: str) -> None:
    for layer in LAYERS if SOAK else ("conv1",):
        cuda = text(recipe, layer, type=dtype)
        for chip in ARCHITECTURES if SOAK else ("sm_90a",):
            used = sass.resources(cuda, RECIPES[recipe], chip)
            assert used.spill_bytes == used.stack_bytes == 0, (layer, chip, used)
            assert sass.inner_loop(cuda, RECIPES[recipe], chip).divisions == 0, (layer, chip)


@pytest.mark.parametrize("layer", ["resnet50.layer4.1.conv2", "resnet50.layer1.0.conv2"])
def test_no_name_is_left_that_nothing_reads(layer: str) -> None:
    """Of 49 rows in a tile of 128 whole copies lie outside: NVRTC would warn of their indices."""
    text = planned(applied(Choice("igemm", None, {"n": "1"}, layer=layer).open()), None).cuda
    assert "warning" not in compile_cubin(text, "sm_80").log
