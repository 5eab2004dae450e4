"""The recipes `tensor` and `igemm_tensor`: each type at random sizes, right and race-free; their machine code."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sass
from executors import expect_computed
from native_device import NativeDevice

from weft.interpreter.hardware.ampere.fragments import MMA
from weft.interpreter.ir.cloning import clone_module
from weft.interpreter.ir.mlir import ir, operations
from weft.pipeline import Choice, Planned, applied, planned
from weft.recipes import builders
from weft.runtime.cpu.device import CpuDevice
from weft.runtime.cpu.reference import reference
from weft.runtime.cuda.module import emit
from weft.runtime.cuda.nvrtc import ARCHITECTURES
from weft.runtime.files.inputs import random_inputs, sized
from weft.runtime.host.functions import signature
from weft.runtime.plan.dtypes import widen
from weft.runtime.run.compare import compare
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

SOAK = "WEFT_SOAK" in os.environ
TYPES = ("f16", "bf16", "i8", "f64", "f32")
SIZES = 30 if SOAK else 1
CONVOLUTIONS = {"igemm_tensor": "conv2d", "igemm_tensor_nchw": "conv2d_nchw"}
Arrays = dict[str, np.ndarray]
SMALL = {"bm": "32", "bn": "32", "wm": "16", "wn": "16"}


def made(recipe: str = "tensor", layer: str | None = None, **settings: object) -> Planned:
    return planned(applied(Choice(recipe, None, {name: str(value) for name, value in settings.items()}, layer).open()))


def inputs(done: Planned, sizes: dict[str, str]) -> dict[str, np.ndarray]:
    return random_inputs(sized(signature(done.applied.payload), sizes, done.plan.agreements, None), 1)


def expect_right(
    done: Planned, arrays: dict[str, np.ndarray], device: SimDevice | NativeDevice | CpuDevice, expected: Arrays | None = None
) -> None:
    """`expected`: the reference's results, if nothing else is."""
    ran = run_plan(done.plan, device, arrays, text=done.cuda if device.wants == "cuda" else done.applied.located_text)
    wanted = expected or reference(done.applied.payload, None, dict(arrays))
    expect_computed(device, ran, signature(done.applied.payload), wanted, rounded=done.plan.rounded)


WAYS = (*TYPES, *(("tf32", "bf16x3") if SOAK else ()))
"""Types, and what f32 becomes if it is not three of tf32."""
RANDOM = [(way, stages) for way in WAYS for stages in (range(1, 6) if SOAK else (2, 5))]


def product(arrays: dict[str, np.ndarray], type: str) -> dict[str, np.ndarray]:
    """By NumPy, in f64; of integers, exact."""
    a, b = (widen(arrays[name], type).astype("i8" if type == "i8" else "f8") for name in "AB")
    return {"C": a @ b}


@pytest.mark.few(3)
@pytest.mark.parametrize(("way", "stages"), RANDOM if SOAK else [*RANDOM, ("bf16", 1)])
def test_random_sizes(way: str, stages: int) -> None:
    """One kernel for rows of whole vectors and one for any rows, at sizes that a run brings; in a soak, as text, too."""
    draw, type = random.Random(f"{way} {stages}"), way if way in TYPES else "f32"
    words = {} if way == type else {"as_type": way}
    done = made(type=type, m="?", n="?", k="?", stages=stages, **words, **SMALL)
    for turn in range(SIZES):
        m, n, k = (draw.randrange(1, 80) for _ in range(3))
        if turn % 2:
            n, k = -(-n // 16) * 16, -(-k // 16) * 16
        arrays = inputs(done, {"A.0": str(m), "B.1": str(n), "A.1": str(k)})
        expected = product(arrays, type)
        for device in (SimDevice(), CpuDevice(2), *([NativeDevice(reverse=turn % 4 > 1)] if SOAK else [])):
            expect_right(done, arrays, device, expected)


@pytest.mark.few(2)
@pytest.mark.parametrize("type", TYPES)
def test_random_sizes_in_parts(type: str) -> None:
    draw = random.Random(type)
    done = made("tensor_split_k", type=type, parts=draw.choice([2, 4, 8]), m="?", n="?", k="?", stages=3, **SMALL)
    for turn in range(SIZES // 2):
        m, n, k = draw.randrange(1, 80), draw.randrange(1, 80), draw.randrange(1, 400)
        if turn % 2:
            n, k = -(-n // 16) * 16, -(-k // 16) * 16
        expect_right(done, inputs(done, {"A.0": str(m), "B.1": str(n), "A.1": str(k)}), SimDevice())


@pytest.mark.few(2)
@pytest.mark.parametrize("type", TYPES)
def test_text(type: str) -> None:
    done = made(type=type, m=40, n=64, k=96, **SMALL)
    expect_right(done, inputs(done, {}), NativeDevice())


WORDS = {"tf32": (1e-3, 1), "3xtf32": (1e-5, 3), "bf16x3": (1e-5, 3)}
"""What operands of f32 become: the error that is allowed, and how many products each takes."""


def test_few_products_of_bf16_in_three_parts() -> None:
    """Longer sums even out what a product of two numbers in two parts each is off by."""
    done = made(type="f32", as_type="bf16x3", m=32, n=32, k=16, **SMALL)
    worst = np.full((32, 16), 1.0039138793945312, "f4")  # 3e-5, found by looking at all
    expect_right(done, {"A": worst, "B": worst.T.copy()}, SimDevice())


@pytest.mark.parametrize("word", WORDS)
def test_words(word: str) -> None:
    """Three products are as good as f32, and the loss of any of them shows, on the simulator and in the text."""
    allowed, count = WORDS[word]
    done = made(type="f32", as_type=word, m=32, n=32, k=64, **SMALL)
    arrays = inputs(done, {})
    expected = reference(done.applied.payload, None, dict(arrays))
    assert done.plan.rounded == word

    def error(module: ir.Module, device: SimDevice | NativeDevice) -> float:
        text = module.operation.get_asm(enable_debug_info=True) if isinstance(device, SimDevice) else emit(module)
        ran = run_plan(done.plan, device, arrays, text=text)
        return compare(signature(done.applied.payload), ran.outputs, expected).max_rel_error

    for device in (SimDevice(), NativeDevice()):
        assert error(done.applied.module, device) <= allowed
        assert len(list(operations(done.applied.module, MMA))) == count
        for lost in range(count):
            module = clone_module(done.applied.module)
            product = list(operations(module, MMA))[lost]
            product.results[0].replace_all_uses_with(product.operands[2])
            product.erase()
            assert error(module, device) > allowed


def test_what_is_not_finite() -> None:
    """An infinite operand of a product in parts gives NaN, in its row alone; the largest number is taken apart like any other."""
    done = made(type="f32", m=32, n=32, k=32, **SMALL)
    for device in (SimDevice(), NativeDevice()):
        arrays = inputs(done, {})
        arrays["A"][3, 5], arrays["A"][4, 5] = np.inf, np.finfo(np.float32).max
        text = done.applied.located_text if isinstance(device, SimDevice) else done.cuda
        with np.errstate(all="ignore"):
            got = run_plan(done.plan, device, arrays, text=text).outputs["C"]
        assert np.isnan(got[3]).all() and np.isfinite(got[[*range(3), *range(5, 32)]]).all()
        assert not np.isnan(got[4]).any()


INSTRUCTIONS = {"f16": "HMMA", "bf16": "HMMA", "f32": "HMMA", "i8": "IMMA", "f64": "DMMA"}
EACH = [(type, chip, even) for type in TYPES for chip in ARCHITECTURES for even in (True, False)]
RAGGED = [("f16", "sm_90a", False), ("i8", "sm_89", False), ("f64", "sm_80", False), ("f32", "sm_90a", False)]
CODE = EACH if SOAK else [("bf16", "sm_80", True), ("f32", "sm_80", True), *RAGGED]


@pytest.mark.few(2)
@pytest.mark.parametrize(("type", "chip", "even"), CODE)
def test_machine_code(type: str, chip: str, even: bool) -> None:
    """No spills; tiles by LDGSTS, fragments of 16 bits by LDSM, products by the tensor cores."""
    sizes: dict[str, Any] = {"m": 512, "n": 512, "k": 2048} if even else {"m": 1000, "n": 777, "k": 333}  # k: a loop stays
    done = made(type=type, **sizes)
    used = sass.resources(done.cuda, "matmul", chip)
    assert used.spill_bytes == used.stack_bytes == 0, used
    inner = sass.compute_region(done.cuda, "matmul", chip).by_mnemonic
    assert inner[INSTRUCTIONS[type]], inner
    assert bool(inner["LDSM"]) == (type in ("f16", "bf16")), inner
    assert not inner["BSSY"], inner
    assert bool(sass.whole(done.cuda, "matmul", chip).by_mnemonic["LDGSTS"]) == even


@pytest.mark.parametrize("recipe", ["tensor", "tensor_split_k", "igemm_tensor"])
def test_warps_are_as_wide_as_their_sums_allow(recipe: str) -> None:
    """Of f32 in parts sums take registers twice, as tf32 once: a block has half as many warps, each of which loads less."""
    expected = {"tf32": 128, "3xtf32": 256, **({"bf16x3": 256} if SOAK or recipe == "tensor" else {})}
    assert {word: made(recipe, type="f32", as_type=word).plan.launches[0].block[0] for word in expected} == expected


WIDTHS = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}


@pytest.mark.parametrize("size", [512, 333, "?"])
def test_one_exchange_for_all_rows_of_a_thread(size: int | str) -> None:
    """They are whole periods of the swizzle apart: what their subscripts are exchanged by is computed in front of the loop."""
    text = made(m=size, n=size, k=size).cuda
    parts = re.split(r"\n +for \((?:int|long long) k = ", text)[1:]
    steps = [part.partition("\n}\n")[0] for part in parts if "load_matrices" in part]
    assert steps
    for step in steps:
        by = re.findall(r" \^ ([^][()]+)[])]", step)
        assert len(by) == 4 and all(word.isidentifier() and f" {word} = " not in step for word in by)


@pytest.mark.few(3)
@pytest.mark.parametrize("recipe", CONVOLUTIONS)
@pytest.mark.parametrize("type", WIDTHS)
def test_random_convolutions(recipe: str, type: str) -> None:
    """Channels last, tiles of an image whose rows are whole vectors are gathered by asynchronous copies, others by elements."""
    draw = random.Random(type)
    for turn in range(SIZES):
        sizes = {"n": draw.randrange(1, 4), "h": draw.randrange(3, 12), "w": draw.randrange(3, 12), "stride": draw.choice([1, 2])}
        c, k = (draw.randrange(1, 5) * (8 if turn % 2 else 5) for _ in range(2))
        stages = draw.choice([2, 4] if recipe == "igemm_tensor" else [1, 2])
        done = made(recipe, type=type, c=c, k=k, pad=draw.choice([0, 1]), stages=stages, **sizes, **SMALL)
        if recipe == "igemm_tensor":
            whole = c * WIDTHS[type] % 16 == k * WIDTHS[type] % 16 == 0
            assert whole == ("copy_async" in done.cuda), "rows of whole vectors are copied asynchronously"
        expect_right(done, inputs(done, {}), SimDevice())
        if not turn:
            expect_right(done, inputs(done, {}), NativeDevice())


@pytest.mark.few(1)
@pytest.mark.parametrize("type", WIDTHS)
def test_an_image_that_is_padding_alone(type: str) -> None:
    """A step of the filter that meets no element has nothing to copy asynchronously: threads store the zeros."""
    done = made("igemm_tensor", type=type, c=16, k=8, h=16, w=1, s=1, stride=3, pad=1, **SMALL)
    assert "copy_async" in done.cuda  # of the filter
    for device in (SimDevice(), NativeDevice()):
        expect_right(done, inputs(done, {}), device)


LAYERS = list(builders()["conv2d"].layers)
COMPILED = [(recipe, layer, chip) for recipe in CONVOLUTIONS for layer in LAYERS for chip in ARCHITECTURES]
FEW = [(recipe, *which) for recipe in CONVOLUTIONS for which in ((LAYERS[0], "sm_90a"), (LAYERS[2], "sm_80"))]


@pytest.mark.few(1)
@pytest.mark.parametrize(("recipe", "layer", "chip"), COMPILED if SOAK else FEW)
def test_machine_code_of_layers(recipe: str, layer: str, chip: str) -> None:
    for type in ("bf16", "f32") if SOAK else ("bf16",):
        done = made(recipe, layer, type=type, n=8)
        used = sass.resources(done.cuda, CONVOLUTIONS[recipe], chip)
        assert used.spill_bytes == used.stack_bytes == 0, used
        assert sass.whole(done.cuda, CONVOLUTIONS[recipe], chip).by_mnemonic["HMMA"]


OF_F32: dict[str, dict[str, int]] = {
    "tensor": {"m": 128, "n": 128}, "tensor_split_k": {"m": 128, "n": 128, "parts": 2},
    **{recipe: {"n": 1} for recipe in CONVOLUTIONS},
}  # fmt: skip


@pytest.mark.few(3)
@pytest.mark.parametrize("as_type", ["tf32", "3xtf32", "bf16x3"])
@pytest.mark.parametrize("recipe", OF_F32)
def test_no_bank_conflicts_whatever_f32_becomes(recipe: str, as_type: str) -> None:
    done = made(recipe, type="f32", as_type=as_type, **OF_F32[recipe])
    ran = run_plan(done.plan, SimDevice(), inputs(done, {}), text=done.applied.located_text)
    assert ran.banks and all(use.wavefronts == use.ideal for _, use in ran.banks)


@pytest.mark.few(2)
@pytest.mark.parametrize("layer", LAYERS if SOAK else [LAYERS[0], LAYERS[8], LAYERS[21]])
@pytest.mark.parametrize("recipe", CONVOLUTIONS)
def test_layers(recipe: str, layer: str) -> None:
    """Each layer's own filters, strides and channels, on images of fewer rows: right, and race-free."""
    sizes = builders()["conv2d"].layers[layer]
    rows = min(int(sizes["h"]), 15)
    done = made(recipe, layer, type="bf16", h=rows, w=rows, c=min(int(sizes["c"]), 64), k=min(int(sizes["k"]), 160))
    expect_right(done, inputs(done, {}), SimDevice())


def test_sums_of_halves(tmp_path: Path) -> None:
    """Sums of f16 stay in pairs, as the instruction takes them, and none is packed in the loop."""
    kinds = "tensor<256x2048xf16>", "tensor<2048x256xf16>", "tensor<256x256xf16>"
    path = tmp_path / "halves.mlir"
    path.write_text(f"""func.func @matmul(%A: {kinds[0]}, %B: {kinds[1]}) -> {kinds[2]} {{
      %zero = arith.constant 0.0 : f16
      %empty = tensor.empty() : {kinds[2]}
      %init = linalg.fill ins(%zero : f16) outs(%empty : {kinds[2]}) -> {kinds[2]}
      %C = linalg.matmul ins(%A, %B : {kinds[0]}, {kinds[1]}) outs(%init : {kinds[2]}) -> {kinds[2]}
      return %C : {kinds[2]}
    }}""")
    done = planned(applied(Choice("tensor", path, {"type": "f16"}).open()))
    for chip in ("sm_80", "sm_90a"):
        used = sass.resources(done.cuda, "matmul", chip)
        assert used.spill_bytes == used.stack_bytes == 0, used
        inner = sass.compute_region(done.cuda, "matmul", chip).by_mnemonic
        assert inner["HMMA"] == 64 and inner["PRMT"] < 8, inner
    done = planned(applied(Choice("tensor", path, {"type": "f16", **SMALL}).open()))
    for device in (SimDevice(), NativeDevice()):
        expect_right(done, inputs(done, {}), device)
