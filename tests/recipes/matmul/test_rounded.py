"""Results in half precision: whoever has summed rounds, whichever recipe it is, at any size; and what is not rounded."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pytest
import sass
from contexts import one_context
from executors import expect_equal
from native_device import NativeDevice
from test_hopper import SOAK, expect_right

from weft.dsl.diagnostics import WeftError
from weft.pipeline import Choice, Planned, applied, planned
from weft.recipes import builders
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host.functions import signature
from weft.runtime.plan.dtypes import widen
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

GROUPS: dict[str, object] = {"bm": 128, "bn": 64, "stages": 2}
WARPS: dict[str, object] = {"bm": 32, "bn": 32, "wm": 16, "wn": 16}
PRODUCTS: dict[str, tuple[str, dict[str, object]]] = {
    "groups": ("hopper", GROUPS), "groups in pieces": ("hopper", {**GROUPS, "gm": 128, "store": 16}),
    "threads of groups": ("hopper", {**GROUPS, "store": 0}), "a cluster": ("hopper", {**GROUPS, "cluster": 2}),
    "warps": ("tensor", WARPS),
}  # fmt: skip
IMAGES: dict[str, tuple[str, dict[str, object]]] = {"groups": ("igemm_hopper", GROUPS), "warps": ("igemm_tensor", WARPS)}


def made(recipe: str, **settings: object) -> Planned:
    chosen = {name: str(value) for name, value in {"rounded": 1, **settings}.items()}
    return planned(applied(Choice(recipe, None, chosen).open()))


@pytest.mark.few(2)
@pytest.mark.parametrize("type", ["f16", "bf16"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_random_sizes(name: str, type: str) -> None:
    """One kernel for rows of whole 16 bytes, and one for any others, at sizes that a run brings."""
    recipe, tiles = PRODUCTS[name]
    draw = random.Random(f"{name} {type}")
    done = made(recipe, type=type, m="?", n="?", k="?", **tiles)
    for turn in range(12 if SOAK else 1):
        m, n, k = (draw.randrange(1, 200) for _ in range(3))
        if turn % 2 == 0:
            n, k = -(-n // 8) * 8, -(-k // 8) * 8
        expect_right(done, {"A.0": str(m), "B.1": str(n), "A.1": str(k)}, SimDevice(), NativeDevice())


@pytest.mark.soak
@pytest.mark.parametrize("name", IMAGES)
@pytest.mark.parametrize("window", [{}, {"stride": 2, "type": "f16"}], ids=str)
def test_images_of_random_sizes(name: str, window: dict[str, object]) -> None:
    recipe, tiles = IMAGES[name]
    draw = random.Random(f"{name} {window}")
    done = made(recipe, **dict.fromkeys("nhwck", "?"), **window, **tiles)
    for turn in range(8 if SOAK else 1):
        n, h, w, c, k = (draw.randrange(a, b) for a, b in ((1, 3), (5, 12), (5, 12), (1, 3), (1, 12)))
        sizes = {"X.0": n, "X.1": h, "X.2": w, "X.3": 64 * c if turn != 1 else 7 * c, "W.3": 8 * k}
        expect_right(done, {name: str(size) for name, size in sizes.items()}, SimDevice(), NativeDevice())


@pytest.mark.few(1)
@pytest.mark.parametrize("recipe", ["hopper", "tensor", "igemm_hopper", "igemm_tensor"])
def test_what_accumulates_into_its_argument(recipe: str, tmp_path: Path) -> None:
    """There is no fill; whoever rounds has read what the sum begins with."""
    builder, tiles = builders()["conv2d" if recipe.startswith("igemm") else "matmul"], GROUPS if "hopper" in recipe else WARPS
    values = {p.name: p.default for p in builder.parameters} | {"type": "bf16", "rounded": 1, "n": 8, "k": 64, "c": 64, "m": 72}
    text = builder.build(**{p.name: values[p.name] for p in builder.parameters})
    (sums,) = re.findall(r"outs\(%init : (\S+)\) ->", text)
    text = re.sub(r"  %(zero|empty|init) = .*\n", "", text).replace(") -> (", f", %init: {sums}) -> (", 1)
    (tmp_path / "p.mlir").write_text(text)
    chosen = {name: str(value) for name, value in {"type": "bf16", **tiles}.items()}
    done = planned(applied(Choice(recipe, tmp_path / "p.mlir", chosen).open()))
    expect_right(done, {}, SimDevice(), NativeDevice())


@pytest.mark.parametrize("recipe", ["hopper", "igemm_hopper"])
def test_too_few_columns_at_a_time(recipe: str) -> None:
    with pytest.raises(WeftError, match=r"W0240: .*`store` must be at least 16"):
        made(recipe, store=8)


def test_blocks_that_stay() -> None:
    done = made("hopper", m=300, n=264, k=136, blocks=2, **GROUPS)
    expect_right(done, {}, SimDevice(), NativeDevice())


@pytest.mark.few(2)
@pytest.mark.parametrize("name", PRODUCTS)
def test_no_bank_conflicts(name: str) -> None:
    recipe, tiles = PRODUCTS[name]
    done = made(recipe, m=128, n=128, k=128, **tiles)
    arrays = random_inputs(signature(done.applied.payload), 1)
    ran = run_plan(done.plan, SimDevice(), arrays, text=done.applied.located_text)
    assert (ran.banks or tiles.get("store") == 0) and all(use.wavefronts == use.ideal for _, use in ran.banks)


def test_a_sum_is_rounded_once() -> None:
    """To the nearest, from f32: bit by bit what NumPy makes of exact sums."""
    done = made("hopper", type="f16", m=64, n=64, k=128, bm=64, bn=64, stages=2)
    draw = np.random.default_rng(0)
    arrays = {name: draw.integers(-30, 31, shape).astype(np.float16) for name, shape in (("A", (64, 128)), ("B", (128, 64)))}
    wanted = (arrays["A"].astype(np.float64) @ arrays["B"].astype(np.float64)).astype(np.float16)
    assert np.any(np.abs(wanted) > 2048), "sums that f16 has not"
    for device in (SimDevice(), NativeDevice()):
        ran = run_plan(done.plan, device, arrays, text=done.cuda if device.wants == "cuda" else done.applied.located_text)
        expect_equal(device, "C", ran.outputs["C"], wanted)


def test_images_beside_numpy() -> None:
    done = made("igemm_hopper", n=1, h=6, w=7, c=64, k=64, bm=64, bn=64, stages=2)
    arrays = random_inputs(signature(done.applied.payload), 1)
    values = {"n": 1, "h": 6, "w": 7, "c": 64, "k": 64, "r": 3, "s": 3, "stride": 1, "pad": 1, "dilation": 1, "type": "bf16"}
    wide = {name: widen(array, "bf16").astype(np.float64) for name, array in arrays.items()}
    wanted = builders()["conv2d"].baseline(np, wide, rounded=1, **values)
    ran = run_plan(done.plan, SimDevice(), arrays, text=done.applied.located_text)
    assert np.allclose(widen(ran.outputs["Y"], "bf16"), wanted, rtol=1e-2, atol=1e-2)


OPEN: dict[str, object] = dict.fromkeys("mnk", "?")
EVEN: dict[str, object] = {"m": 4096, "n": 4096, "k": 4096}
CODE: list[tuple[str, str, dict[str, object]]] = [
    ("hopper", "matmul", EVEN), ("hopper", "matmul_32", OPEN), ("hopper", "matmul", EVEN | {"blocks": 132, "cluster": 2}),
    ("hopper", "matmul", {"m": 1000, "n": 776, "k": 328, "type": "f16"}), ("igemm_hopper", "conv2d", {"n": 8}),
    ("tensor", "matmul", EVEN), ("tensor", "matmul", {"m": 101, "n": 77, "k": 33}), ("tensor", "matmul_32", OPEN),
    ("igemm_tensor", "conv2d", {}),
]  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize(("recipe", "kernel", "sizes"), CODE, ids=str)
def test_machine_code(recipe: str, kernel: str, sizes: dict[str, object]) -> None:
    """Two sums are rounded together, and nothing spills; warp groups store by tensor maps alone."""
    text = made(recipe, **sizes).cuda
    groups = "hopper" in recipe
    for chip in ["sm_90a"] if groups else sass.COMPILED_FOR:
        used, code = sass.resources(text, kernel, chip), sass.whole(text, kernel, chip).by_mnemonic
        assert used.spill_bytes == used.stack_bytes == 0, (chip, used)
        assert code["F2FP"], (chip, code)
        assert not groups or (code["UTMASTG"] and not code["STG"]) or "?" in sizes.values(), code


@pytest.mark.parametrize("type", ["f32", "f8E4M3FN", "i8"])
def test_what_is_not_rounded(type: str) -> None:
    with one_context(), pytest.raises(WeftError, match="sums of products") as caught:
        Choice("tensor", None, {"type": type, "rounded": "1"}).open()
    assert caught.value.diagnostics[0].code == "W0483"
