"""Convolutions of any size as matrix products: one kernel for images, channels and filters of sizes that are known at run time."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest
from convolution_oracle import bias_relu, convolved
from test_any_size import RECIPES, SIZES, parameters

import weft
from weft.interpreter.ir.mlir import operations
from weft.interpreter.proof.kernels.kernels import kernel_model
from weft.interpreter.proof.races.proof import Findings
from weft.pipeline import Planned, applied, planned
from weft.runtime.plan.plan import Copy
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

Sizes = Mapping[str, int]
OPEN: Sizes = {"r": 3, "s": 3}
"""What is a number in a payload: the filter's taps, and nothing else."""
STEPS: dict[str, Sizes] = {
    "igemm": {"stride": 2, "pad": 1, "dilation": 1},
    "igemm_nchw": {"stride": 1, "pad": 0, "dilation": 2},
    "igemm_bias_relu": {"stride": 1, "pad": 2, "dilation": 1},
    "igemm_split_k": {"stride": 2, "pad": 0, "dilation": 1},
}
ENDS = [(1, 1, 1, 5, 5), (0, 5, 4, 6, 6), (2, 0, 4, 6, 5), (2, 3, 0, 5, 6), (1, 9, 33, 7, 12)]
"""n, c, k, h, w."""


def tensor(fixed: Sizes, names: str) -> str:
    return f"tensor<{'x'.join([*(str(fixed.get(name, '?')) for name in names), 'f32'])}>"


def convolution(fixed: Sizes, steps: Sizes, *, first: bool = False, finish: bool = False, add: bool = False) -> str:
    """A payload whose open sizes are those that `fixed` does not name. `first`: channels first; `finish`: bias, residual and ReLU
    behind it; `add`: onto an argument."""
    fixed = {**fixed, **{o: outside(fixed[i], fixed[t], steps) for o, i, t in ("yhr", "xws") if i in fixed and t in fixed}}
    image, filters, result = ("nchw", "kcrs", "nkyx") if first else ("nhwc", "rsck", "nyxk")
    reach = f"{2 * steps['pad']} - {steps['dilation']} * (t - 1) - 1"
    windows = f"affine_map<()[i, t] -> ((i + {reach}) floordiv {steps['stride']} + 1)>"
    lines: list[str] = [f"%c{n} = arith.constant {n} : index" for n in range(4)]
    for value, axes, its in (("X", image, "nhwc"), ("W", filters, "rsk")):
        lines += [f"%{axis} = tensor.dim %{value}, %c{axes.index(axis)} : {tensor(fixed, axes)}" for axis in its]
    lines += [f"%{o} = affine.apply {windows}()[%{i}, %{t}]" for o, i, t in ("yhr", "xws")]
    kind, padded = tensor(fixed, result), {**fixed, **{a: fixed[a] + 2 * steps["pad"] for a in "hw" if a in fixed}}
    lines += ["%zero = arith.constant 0.0 : f32"]
    images, operand = tensor(fixed, image), "%X"
    if steps["pad"]:
        widths, images, operand = ", ".join(str(steps["pad"] * (a in "hw")) for a in image), tensor(padded, image), "%P"
        lines += [f"%P = tensor.pad %X low[{widths}] high[{widths}] {{", "^bb0(%d0: index, %d1: index, %d2: index, %d3: index):"]
        lines += ["tensor.yield %zero : f32", f"}} : {tensor(fixed, image)} to {images}"]
    sizes = ", ".join(f"%{name}" for name in result if name not in fixed)
    lines += [f"%E = tensor.empty({sizes}) : {kind}", f"%F = linalg.fill ins(%zero : f32) outs(%E : {kind}) -> {kind}"]
    named, given = "conv_2d_nchw_fchw" if first else "conv_2d_nhwc_hwcf", tensor(fixed, filters)
    attributes = ", ".join(f"{a}s = dense<{steps[a]}> : tensor<2xi64>" for a in ("dilation", "stride"))
    lines += [f"%Y = linalg.{named} {{{attributes}}} ins({operand}, %W : {images}, {given})"]
    lines += [f"outs({'%init' if add else '%F'} : {kind}) -> {kind}"]
    arguments = f"%X: {tensor(fixed, image)}, %W: {given}" + (f", %init: {kind}" if add else "")
    if finish:
        bias = tensor(fixed, "k")
        arguments += f", %bias: {bias}, %residual: {kind}"
        traits = 'iterator_types = ["parallel", "parallel", "parallel", "parallel"]'
        whole, channel = "affine_map<(a, b, c, d) -> (a, b, c, d)>", "affine_map<(a, b, c, d) -> (d)>"
        lines += [f"%B = linalg.generic {{indexing_maps = [{whole}, {channel}, {whole}], {traits}}}"]
        lines += [f"ins(%Y, %bias : {kind}, {bias}) outs(%E : {kind}) {{ ^bb0(%u: f32, %v: f32, %w_: f32):"]
        lines += ["%o = arith.addf %u, %v : f32", f"linalg.yield %o : f32 }} -> {kind}"]
        lines += [f"%S = linalg.add ins(%B, %residual : {kind}, {kind}) outs(%E : {kind}) -> {kind}"]
        lines += [f"%R = linalg.generic {{indexing_maps = [{whole}, {whole}], {traits}}}"]
        lines += [f"ins(%S : {kind}) outs(%E : {kind}) {{ ^bb0(%u: f32, %w_: f32):"]
        lines += ["%o = arith.maximumf %u, %zero : f32", f"linalg.yield %o : f32 }} -> {kind}"]
    text = "\n  ".join([*lines, f"return {'%R' if finish else '%Y'} : {kind}"])
    return f"func.func @conv({arguments}) -> {kind} {{\n  {text}\n}}\n"


def outside(size: int, taps: int, steps: Sizes) -> int:
    """How many windows there are along an axis."""
    return (size + 2 * steps["pad"] - steps["dilation"] * (taps - 1) - 1) // steps["stride"] + 1


def payload(recipe: str) -> str:
    return convolution(OPEN, STEPS[recipe], first=recipe == "igemm_nchw", finish=recipe == "igemm_bias_relu")


def settings(recipe: str) -> dict[str, int]:
    return {name: value for name, value in RECIPES["simt"].items() if name in parameters(recipe)}


@cache
def made(recipe: str) -> Planned:
    return planned(applied(weft.load(recipe, payload=payload(recipe), settings=settings(recipe))))


def arrays_of(recipe: str, sizes: Sizes) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(sizes["n"])
    out = [outside(sizes[a], sizes[t], STEPS[recipe]) for a, t in ("hr", "ws")]
    image, filters = ("nchw", "kcrs") if recipe == "igemm_nchw" else ("nhwc", "rsck")
    shapes = {"X": [sizes[a] for a in image], "W": [sizes[a] for a in filters]}
    if recipe == "igemm_bias_relu":
        shapes |= {"bias": [sizes["k"]], "residual": [sizes["n"], *out, sizes["k"]]}
    return {name: draw.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def expected(recipe: str, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    result = convolved(arrays, first=recipe == "igemm_nchw", **STEPS[recipe])
    return bias_relu(result, arrays) if recipe == "igemm_bias_relu" else result


def random_sizes(recipe: str) -> list[Sizes]:
    draw = random.Random(recipe)
    ranges = {"n": (1, 4), "c": (1, 40), "k": (1, 40), "h": (5, 18), "w": (5, 18)}
    own = [{name: draw.randrange(*within) for name, within in ranges.items()} for _ in range(SIZES)]
    return [{**OPEN, **each} for each in (*(dict(zip(ranges, end, strict=True)) for end in ENDS), *own)]


@pytest.mark.parametrize("recipe", STEPS)
def test_a_convolution_of_any_size(recipe: str) -> None:
    one = made(recipe)
    remarks = [remark for step in one.applied.session.steps for remark in step.remarks]
    assert not any("assumed race-free" in remark for remark in remarks), "it is proven for all sizes at once"
    assert not any(isinstance(step, Copy) for step in one.plan.steps), "results are computed in place"
    native = weft.compile(recipe, payload(recipe), settings=settings(recipe), target="cpu")
    for sizes in random_sizes(recipe):
        arrays = arrays_of(recipe, sizes)
        done, wanted = run_plan(one.plan, SimDevice(), arrays, text=one.applied.located_text), expected(recipe, arrays)
        assert not done.races and not done.faults, sizes
        for result in (done.outputs["result0"], native(*arrays.values())):
            assert result.shape == wanted.shape and np.allclose(result, wanted, atol=1e-3), sizes


@pytest.mark.parametrize("recipe", STEPS)
def test_each_deleted_barrier_is_found_by_the_proof_and_at_some_size(recipe: str) -> None:
    one = made(recipe)
    (whole, *_) = operations(one.applied.module.operation, "gpu.func")
    arrays = arrays_of(recipe, {**OPEN, "n": 2, "c": 9, "k": 33, "h": 8, "w": 9})
    for number in range(len(list(operations(whole, "gpu.barrier")))):
        module = one.applied.module.operation.clone()
        (kernel, *_) = operations(module, "gpu.func")
        list(operations(kernel, "gpu.barrier"))[number].erase()
        assert any(c.space == "workgroup" for c in Findings(kernel_model(kernel)).conflicts), number
        text = module.get_asm(enable_debug_info=True)
        assert run_plan(one.plan, SimDevice(), arrays, text=text).races, number


TILES = """schedule s() {
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
WHOLE = {"n": 2, "c": 3, "k": 5, "h": 8, "w": 9, "r": 3, "s": 2}


@pytest.mark.parametrize("open_", ["n", "c", "k", "h", "w", "hw", "rs", "nckhwrs"])
@pytest.mark.parametrize("steps", [PADDED, PLAIN], ids=["padded", "plain"])
def test_any_of_the_sizes_may_be_open(open_: str, steps: Sizes) -> None:
    program = convolution({name: size for name, size in WHOLE.items() if name not in open_}, steps)
    schedule = TILES.replace("PADDING", f"padding [{steps['pad']}, {steps['pad']}]")
    one = planned(applied(weft.load(schedule, payload=program)))
    for change in ({}, dict.fromkeys(open_, 3) | ({"n": 1} if open_ == "n" else {})):
        sizes = WHOLE | ({} if "rs" in open_ and not change else change)
        draw = np.random.default_rng(0)
        x = draw.standard_normal([sizes[a] for a in "nhwc"]).astype(np.float32)
        w = draw.standard_normal([sizes[a] for a in "rsck"]).astype(np.float32)
        wanted = convolved({"X": x, "W": w}, first=False, **steps)
        done = run_plan(one.plan, SimDevice(), {"X": x, "W": w}, text=one.applied.located_text)
        assert np.allclose(done.outputs["result0"], wanted, atol=1e-3) and not done.races and not done.faults, sizes
