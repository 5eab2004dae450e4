"""Convolutions of any size as matrix products: one kernel for images, channels and filters of sizes that are known at run time."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from convolution_oracle import bias_relu, convolved
from executors import expect_clean, expect_equal
from native_device import NativeDevice, for_all_sizes
from test_any_size import RECIPES, SIZES, parameters

import weft
from weft.interpreter.ir.mlir import operations
from weft.interpreter.proof.kernels.kernels import kernel_model
from weft.interpreter.proof.races.proof import Findings
from weft.pipeline import Planned, applied, planned
from weft.runtime.plan.plan import Copy
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

pytestmark = pytest.mark.filterwarnings("error:W0082")
"""What the kernels combine is proven for all sizes."""

Sizes = Mapping[str, int]
OPEN: dict[str, int | str] = dict.fromkeys("nchwk", "?")
STEPS: dict[str, Sizes] = {
    "igemm": {"stride": 2, "pad": 1, "dilation": 1},
    "igemm_nchw": {"stride": 1, "pad": 0, "dilation": 2},
    "igemm_bias_relu": {"stride": 1, "pad": 2, "dilation": 1},
    "igemm_split_k": {"stride": 2, "pad": 0, "dilation": 1},
}
ENDS = [(1, 1, 1, 5, 5), (0, 5, 4, 6, 6), (2, 0, 4, 6, 5), (2, 3, 0, 5, 6), (1, 9, 33, 7, 12)]
"""n, c, k, h, w."""


def loaded(recipe: str) -> dict[str, int | str]:
    """What `weft.load` and `weft.compile` take: all sizes open, small tiles, and perhaps a residual."""
    tiles = {name: value for name, value in RECIPES["simt"].items() if name in parameters(recipe)}
    return {**OPEN, **STEPS[recipe], **tiles, **({"residual": 1} if recipe == "igemm_bias_relu" else {})}


@cache
def made(recipe: str) -> Planned:
    return planned(applied(weft.load(recipe, settings=loaded(recipe))))


def arrays_of(first: bool, steps: Sizes, sizes: Sizes, *, finish: bool = False) -> dict[str, np.ndarray]:
    """`first`: channels first; `finish`: also a bias and a residual."""
    draw, sizes = np.random.default_rng(sizes["n"]), {"r": 3, "s": 3, **sizes}
    image, filters = ("nchw", "kcrs") if first else ("nhwc", "rsck")
    shapes = {"X": [sizes[a] for a in image], "W": [sizes[a] for a in filters]}
    if finish:
        spans = [(sizes[a], steps["dilation"] * (sizes[t] - 1) + 1) for a, t in ("hr", "ws")]
        out = [(size + 2 * steps["pad"] - span) // steps["stride"] + 1 for size, span in spans]
        shapes |= {"bias": [sizes["k"]], "residual": [sizes["n"], *out, sizes["k"]]}
    return {name: draw.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def arrays_for(recipe: str, sizes: Sizes) -> dict[str, np.ndarray]:
    return arrays_of(recipe == "igemm_nchw", STEPS[recipe], sizes, finish=recipe == "igemm_bias_relu")


def expected(recipe: str, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    result = convolved(arrays, first=recipe == "igemm_nchw", **STEPS[recipe])
    return bias_relu(result, arrays) if recipe == "igemm_bias_relu" else result


def random_sizes(recipe: str) -> list[Sizes]:
    draw = random.Random(recipe)
    ranges = {"n": (1, 4), "c": (1, 40), "k": (1, 40), "h": (5, 18), "w": (5, 18)}
    own = [{name: draw.randrange(*within) for name, within in ranges.items()} for _ in range(SIZES)]
    for sizes in own[::2]:
        sizes |= {"c": 4 * (sizes["c"] // 4), "k": 4 * (sizes["k"] // 4)}
    return [*(dict(zip(ranges, end, strict=True)) for end in ENDS), *own]


@pytest.mark.few(2)
@pytest.mark.parametrize("recipe", STEPS)
def test_a_convolution_of_any_size(recipe: str) -> None:
    one = made(recipe)
    remarks = [remark for step in one.applied.session.steps for remark in step.remarks]
    assert not any("assumed race-free" in remark for remark in remarks), "it is proven for all sizes at once"
    assert one.applied.assumed == []
    assert not any(isinstance(step, Copy) for step in one.plan.steps), "results are computed in place"
    native = weft.compile(recipe, settings=loaded(recipe), target="cpu")
    for sizes in random_sizes(recipe):
        arrays = arrays_for(recipe, sizes)
        done, wanted = run_plan(one.plan, SimDevice(), arrays, text=one.applied.located_text), expected(recipe, arrays)
        assert not done.races and not done.faults, sizes
        assert done.version == (1 if sizes["c"] % 4 or (recipe != "igemm_nchw" and sizes["k"] % 4) else 0), sizes
        texts = [run_plan(plan, NativeDevice(), arrays, text=one.cuda) for plan in (one.plan, for_all_sizes(one.plan))]
        names = [{kernel.name for kernel in text.kernels} for text in texts]
        assert names[0] & {f"{name}_32" for name in names[1]} or 0 in wanted.shape
        for result in (done.outputs["Y"], *(text.outputs["Y"] for text in texts), native(*arrays.values())):
            assert result.shape == wanted.shape and np.allclose(result, wanted, atol=1e-3), sizes


@pytest.mark.few(1)
@pytest.mark.parametrize("recipe", STEPS)
def test_each_deleted_barrier_is_found_by_the_proof_and_at_some_size(recipe: str) -> None:
    one = made(recipe)
    kernels = list(operations(one.applied.module.operation, "gpu.func"))
    for position, whole in enumerate(kernels):
        narrow = position >= len(kernels) // 2
        arrays = arrays_for(recipe, {"n": 2, "c": 8 + narrow, "k": 32 + narrow, "h": 8, "w": 9})
        for number in range(len(list(operations(whole, "gpu.barrier")))):
            module = one.applied.module.operation.clone()
            kernel = list(operations(module, "gpu.func"))[position]
            list(operations(kernel, "gpu.barrier"))[number].erase()
            assert any(c.space == "workgroup" for c in Findings(kernel_model(kernel)).conflicts), number
            done = run_plan(one.plan, SimDevice(), arrays, text=module.get_asm(enable_debug_info=True))
            assert done.races and done.version == narrow, number


def test_channels_that_are_assumed_to_be_multiples_are_read_four_at_a_time() -> None:
    """Four in a row of k are four channels of one tap: k is divided by a multiple of four."""
    folder = Path(weft.__file__).parent / "recipes" / "conv2d"
    called = (folder / "igemm.weft").read_text()
    tiles = ", ".join(f"{name} = {value}" for name, value in RECIPES["simt"].items() if name in parameters("igemm"))
    assumed = "schedule assumed() {\n  assume X.3 % 4 == 0\n  assume W.3 % 4 == 0\n" + f"  igemm({tiles})\n}}\n"
    one = planned(applied(weft.load(called + assumed, settings=OPEN)))
    remarks = [remark for step in one.applied.session.steps for remark in step.remarks]
    staged = [remark for remark in remarks if remark.startswith(("X_shared", "W_shared"))]
    assert len(staged) == 2 and all("loads 4-wide under one guard" in remark for remark in staged)
    divided = [line for line in one.cuda.splitlines() if re.search("floor(div|mod)", line) and "inline" not in line]
    assert one.cuda.count("float4*>(&X[") == 3  # a text of 32-bit indices, one of 64, and one of a folded grid
    assert all(re.search(r"= floormod\(tx \* 4 / 8 \* 3 - .*, 4\) \* 4;", line) for line in divided), divided  # swizzles' exchanges
    steps = {"stride": 1, "pad": 1, "dilation": 1}
    for n, c, k, h, w in ((1, 4, 4, 3, 3), (2, 12, 36, 7, 5), (1, 20, 8, 1, 9)):
        arrays = arrays_of(False, steps, {"n": n, "c": c, "k": k, "h": h, "w": w})
        for device, text in ((SimDevice(), one.applied.located_text), (NativeDevice(), one.cuda)):
            done = run_plan(one.plan, device, arrays, text=text)
            expect_equal(device, "Y", done.outputs["Y"], convolved(arrays, first=False, **steps), atol=1e-3, rtol=1e-5)
            expect_clean(device, done)


TILES = """payload conv2d()

schedule s() {
  let conv = match linalg.conv_2d_nhwc_hwcf
  let init = match? linalg.fill
  let gemm = as-gemm conv PADDING
  let (tiles, tile_mm) = tile gemm [30, 7]
  fuse init into tiles
  map tiles to blocks(y, x)
  let (k, step) = tile tile_mm [_, _, 10]
  let (a, copy_a) = promote-to-shared step.lhs
  map copy_a to threads(*) cyclic
  let (lanes, one) = tile step [1, 1]
  map lanes to threads(y: 30, x: 7)
  promote-to-registers one.acc across k
  insert-barriers
  launch tiles
}
"""
PADDED, PLAIN = {"stride": 2, "pad": 1, "dilation": 2}, {"stride": 1, "pad": 0, "dilation": 1}
WHOLE = {"n": 2, "c": 3, "k": 5, "h": 8, "w": 9}


@pytest.mark.few(3)
@pytest.mark.parametrize("open_", ["n", "c", "k", "h", "w", "hw"])
@pytest.mark.parametrize("steps", [PADDED, PLAIN], ids=["padded", "plain"])
def test_any_of_the_sizes_may_be_open(open_: str, steps: Sizes) -> None:
    schedule = TILES.replace("PADDING", f"padding [{steps['pad']}, {steps['pad']}]")
    one = planned(applied(weft.load(schedule, settings={**WHOLE, **steps, **dict.fromkeys(open_, "?")})))
    assert one.applied.assumed == []
    for sizes in (WHOLE, WHOLE | dict.fromkeys(open_, 6)):
        arrays = arrays_of(False, steps, sizes)
        done = run_plan(one.plan, SimDevice(), arrays, text=one.applied.located_text)
        expect_equal("the simulator", "Y", done.outputs["Y"], convolved(arrays, first=False, **steps), atol=1e-3, rtol=1e-5)
        assert not done.races and not done.faults


DIRECT = """payload conv2d()

schedule s() {
  let conv = match linalg.conv_2d_nhwc_hwcf
  let init = match linalg.fill
  let (tiles, tile_conv) = tile conv [1, 4, 4, 8]
  fuse init into tiles
  let tile_number = coalesce tiles
  map tile_number to blocks(x)
  let (c, step) = tile tile_conv [_, _, _, _, _, _, 4]
  let (a, copy_a) = promote-to-shared step.lhs
  map copy_a to threads(*) cyclic
  let (lanes, one) = tile step [1, 1, 1, 1]
  let lane = coalesce lanes
  map lane to threads(x)
  promote-to-registers one.acc across c
  insert-barriers
  launch tile_number
}
"""


@pytest.mark.parametrize("steps", [PADDED, PLAIN], ids=["padded", "plain"])
def test_a_convolution_that_is_tiled_as_it_is(steps: Sizes) -> None:
    one = planned(applied(weft.load(DIRECT, settings={**OPEN, **steps})))
    assert one.applied.assumed == [], "loops over open numbers of tiles that were coalesced are digits"
    for n, c, k, h, w in ((1, 1, 1, 5, 5), (2, 5, 11, 9, 7), (0, 2, 3, 6, 6), (1, 0, 3, 6, 7)):
        arrays = arrays_of(False, steps, {"n": n, "c": c, "k": k, "h": h, "w": w})
        done = run_plan(one.plan, SimDevice(), arrays, text=one.applied.located_text)
        expect_equal("the simulator", "Y", done.outputs["Y"], convolved(arrays, first=False, **steps), atol=1e-3, rtol=1e-5)
        assert not done.races and not done.faults


AROUND = """
func.func @around(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3.0 : f32
  %p = tensor.pad %x low[1, 2] high[3, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %two : f32
  } : tensor<?x?xf32> to tensor<?x?xf32>
  %q = tensor.pad %p low[0, 1] high[1, -1] {
  ^bb0(%i: index, %j: index):
    tensor.yield OUTER : f32
  } : tensor<?x?xf32> to tensor<?x?xf32>
  %m = tensor.dim %q, %c0 : tensor<?x?xf32>
  %n = tensor.dim %q, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %y = linalg.exp ins(%q : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
"""
EACH = """schedule s() {
  let op = match linalg.exp
  let (tiles, tile_op) = tile op [8, 8]
  map tiles to blocks(y, x)
  let (lanes, one) = tile tile_op [1, 1]
  map lanes to threads(y, x)
  launch tiles
}
"""


@pytest.mark.parametrize("outer", [2, 3])
def test_paddings_around_what_has_any_size(outer: int) -> None:
    """One around the other, and one that crops: one box where both put the same value there."""
    one = planned(applied(weft.load(EACH, payload=AROUND.replace("OUTER", "%two" if outer == 2 else "%three"))))
    assert [type(step).__name__ for step in one.plan.steps] == ["Launch"], "no padded copy"
    for shape in ((1, 1), (0, 3), (9, 17), (4, 6), (8, 5)):
        x = np.random.default_rng(0).random(shape).astype(np.float32)
        padded = np.pad(np.pad(x, ((1, 3), (2, 0)), constant_values=2), ((0, 1), (1, 0)), constant_values=outer)[:, :-1]
        done = run_plan(one.plan, SimDevice(), {"x": x}, text=one.applied.located_text)
        expect_clean("the simulator", done)
        expect_equal("the simulator", "result0", done.outputs["result0"], np.exp(padded), rtol=1e-5, atol=1e-8)


TAPS = """
func.func @taps(%X: tensor<?x?x?x?xf32>, %W: tensor<?x?x?x?xf32>, %Y: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %y = linalg.conv_2d_nhwc_hwcf ins(%X, %W : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>)
    outs(%Y : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %y : tensor<?x?x?x?xf32>
}
"""


@pytest.mark.parametrize("kind", ["tensor", "memref"])
def test_filters_of_any_size_and_a_result_that_is_added_to(kind: str) -> None:
    program = TAPS if kind == "tensor" else TAPS.replace("tensor", "memref").replace(" -> memref<?x?x?x?xf32>", "")
    program = program if kind == "tensor" else program.replace("%y = ", "").replace("return %y : memref<?x?x?x?xf32>", "return")
    kernel = weft.compile(TILES.replace("PADDING", "").replace("payload conv2d()", ""), program, target="cpu")
    for taps in ({"r": 1, "s": 1}, {"r": 2, "s": 4}, {"r": 8, "s": 9}):
        arrays = arrays_of(False, PLAIN, {**WHOLE, **taps})
        wanted = convolved(arrays, first=False, **PLAIN)
        result = np.ones(wanted.shape, np.float32)
        made = kernel(arrays["X"], arrays["W"], result)
        assert np.allclose(result if made is None else made, wanted + 1, atol=1e-3), taps
