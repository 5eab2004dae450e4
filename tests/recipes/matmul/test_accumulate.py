"""`mma … accumulate f32`: products that a payload adds up in f16 or bf16 are added up in f32, and rounded
once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from executors import expect_clean, named
from native_device import NativeDevice

from weft.api import load
from weft.dsl.diagnostics import WeftError
from weft.pipeline import Planned, applied, planned
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host.functions import signature
from weft.runtime.plan.dtypes import widen
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

PRODUCT = """func.func @f(%x: tensor<MxKxT>, %w: tensor<KxNxT>) -> tensor<MxNxT> {
  %z = arith.constant 0.0 : T
  %e = tensor.empty() : tensor<MxNxT>
  %f = linalg.fill ins(%z : T) outs(%e : tensor<MxNxT>) -> tensor<MxNxT>
  %r = linalg.matmul ins(%x, %w : tensor<MxKxT>, tensor<KxNxT>) outs(%f : tensor<MxNxT>) -> tensor<MxNxT>
  return %r : tensor<MxNxT>
}
"""
ONTO = """func.func @f(%x: tensor<MxKxT>, %w: tensor<KxNxT>, %f: tensor<MxNxT>) -> tensor<MxNxT> {
  %r = linalg.matmul ins(%x, %w : tensor<MxKxT>, tensor<KxNxT>) outs(%f : tensor<MxNxT>) -> tensor<MxNxT>
  return %r : tensor<MxNxT>
}
"""
BATCH = """func.func @f(%x: tensor<2xMxKxT>, %w: tensor<2xKxNxT>) -> tensor<2xMxNxT> {
  %z = arith.constant 0.0 : T
  %e = tensor.empty() : tensor<2xMxNxT>
  %f = linalg.fill ins(%z : T) outs(%e : tensor<2xMxNxT>) -> tensor<2xMxNxT>
  %r = linalg.batch_matmul ins(%x, %w : tensor<2xMxKxT>, tensor<2xKxNxT>) outs(%f : tensor<2xMxNxT>) -> tensor<2xMxNxT>
  return %r : tensor<2xMxNxT>
}
"""
DOUBLED = """func.func @f(%x: tensor<MxKxT>, %w: tensor<KxNxT>) -> tensor<MxNxT> {
  %z = arith.constant 0.0 : T
  %e = tensor.empty() : tensor<MxNxT>
  %f = linalg.fill ins(%z : T) outs(%e : tensor<MxNxT>) -> tensor<MxNxT>
  %r = linalg.matmul ins(%x, %w : tensor<MxKxT>, tensor<KxNxT>) outs(%f : tensor<MxNxT>) -> tensor<MxNxT>
  %o = tensor.empty() : tensor<MxNxT>
  %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%r : tensor<MxNxT>) outs(%o : tensor<MxNxT>) {
    ^bb0(%a: T, %b: T):
      %s = arith.addf %a, %a : T
      linalg.yield %s : T
  } -> tensor<MxNxT>
  return %d : tensor<MxNxT>
}
"""
WARPS = """schedule warps() {
  let init = match linalg.fill
  let gemm = match linalg.matmul
  let (tiles, tile_mm) = tile gemm [32, 32]
  fuse init into tiles
  map tiles to blocks(y, x)
  let (k, step) = tile tile_mm [_, _, 32]
  let (a, copy_a) = promote-to-shared step.lhs
  map copy_a to threads(*) cyclic
  let (b, copy_b) = promote-to-shared step.rhs
  map copy_b to threads(*) cyclic
  let (kk, part) = tile step [_, _, 16]
  let (warps, warp_mm) = tile part [16, 16]
  map warps to warps(y, x)
  let one = mma warp_mm [16, 8, 16] accumulate f32
  promote-to-registers one.acc across k
  insert-barriers
  launch tiles
}
"""
BATCHES = (
    WARPS.replace("linalg.matmul", "linalg.batch_matmul").replace("tile gemm [32", "tile gemm [1, 32")
    .replace("blocks(y, x)", "blocks(z, y, x)").replace("[_, _, ", "[_, _, _, ").replace("tile part [16", "tile part [1, 16")
    .replace("warps(y, x)", "warps(z, y, x)")
)  # fmt: skip
NO_FILL = WARPS.replace("  let init = match linalg.fill\n", "").replace("  fuse init into tiles\n", "")
GROUPS = """schedule groups() {
  let init = match linalg.fill
  let gemm = match linalg.matmul
  let (tiles, tile_mm) = tile gemm [128, 128]
  fuse init into tiles
  map tiles to blocks(y, x)
  let (k, step) = tile tile_mm [_, _, 64]
  let (a, copy_a) = promote-to-shared step.lhs swizzle 128
  map copy_a to tma
  let (b, copy_b) = promote-to-shared step.rhs swizzle 128
  map copy_b to tma
  let (groups, group_mm) = tile step [64, _]
  map groups to warpgroups(y)
  let product = mma group_mm [64, 128, 16] accumulate f32
  promote-to-registers product.acc across k
  pipeline k stages 2 producer
  insert-barriers
  launch tiles
}
"""
LIKE_SUMS = (
    WARPS.replace("let (tiles, tile_mm) = tile gemm [32, 32]", """let twice = match linalg.generic
  let (tiles, tile) = tile twice [32, 32]
  fuse gemm into tiles""").replace("tile tile_mm [_", "tile gemm [_")
    .replace("  insert-barriers\n", """  let (of_warps, of_warp) = tile tile [16, 16]
  map of_warps to warps(y, x)
  let (pieces, piece) = tile of_warp [16, 8]
  map pieces to registers
  let (halves, half) = tile piece [8, 8]
  map halves to registers
  let (pairs, pair) = tile half [1, 2]
  let lanes = coalesce pairs
  map lanes to lanes
  insert-barriers
""")
)  # fmt: skip
CASES = {
    "warps": (PRODUCT, WARPS, (64, 64, 512)),
    "ragged": (PRODUCT, WARPS, (45, 50, 70)),
    "onto an argument": (ONTO, NO_FILL, (32, 64, 96)),
    "a batch": (BATCH, BATCHES, (32, 64, 96)),
    "an op on the sums": (DOUBLED, LIKE_SUMS, (64, 32, 96)),
    "warp groups": (PRODUCT, GROUPS, (128, 128, 256)),
}


def text(payload: str, type_: str, sizes: tuple[int, int, int]) -> str:
    for letter, size in zip("MNK", sizes, strict=True):
        payload = payload.replace(f"{letter}x", f"{size}x")
    return payload.replace("xT", f"x{type_}").replace(": T", f": {type_}")


def made(payload: str, schedule: str) -> Planned:
    return planned(applied(load(schedule, payload=payload)))


@pytest.mark.few()
@pytest.mark.parametrize("type_", ["bf16", "f16"])
@pytest.mark.parametrize("name", CASES)
def test_sums_are_rounded_once(name: str, type_: str) -> None:
    payload, schedule, sizes = CASES[name]
    done = made(text(payload, type_, sizes), schedule)
    inputs = random_inputs(signature(done.applied.payload))
    wide = {n: widen(a, type_).astype(np.float64) for n, a in inputs.items()}
    exact = wide["x"] @ wide["w"] + wide.get("f", 0.0)
    step = 2.0 ** (-8 if type_ == "bf16" else -11)
    devices: list[Any] = [SimDevice(), NativeDevice()]
    for device in devices:
        result = run_plan(done.plan, device, inputs, text=done.cuda if device.wants == "cuda" else done.applied.text)
        got = widen(result.outputs["result0"], type_).astype(np.float64) / (2 if "%d" in payload else 1)
        expect_clean(device, result)
        wrong = np.abs(got - exact) > step * np.abs(exact) * 1.01 + 1e-3
        at = tuple(np.unravel_index(int(wrong.argmax()), wrong.shape))
        assert not wrong.any(), f"{named(device)}: `result0`{list(map(int, at))}: got {got[at]}, expected {exact[at]}, rounded once"


@pytest.mark.parametrize(
    ("payload", "schedule", "message"),
    [
        (PRODUCT, WARPS.replace(" accumulate f32", ""), "into bf16 in tiles"),
        (PRODUCT, GROUPS.replace(" accumulate f32", ""), "warp groups multiplies bf16 by bf16 into bf16"),
    ],
)
def test_the_way_out_is_named(payload: str, schedule: str, message: str) -> None:
    with pytest.raises(WeftError, match=message) as refused:
        made(text(payload, "bf16", (128, 128, 128)), schedule)
    assert "`accumulate f32`" in str(refused.value.diagnostics[0].hint)


@pytest.mark.parametrize(
    ("type_", "schedule", "code", "message"),
    [
        ("bf16", WARPS.replace("accumulate f32", "accumulate f64"), "W0379", "tensor cores add up in f32, and not in f64"),
        ("i8", WARPS, "W0379", "is for sums of f16 or bf16, and these are of i8"),
        ("bf16", NO_FILL.replace("across k\n", "across kk\n"), "W0379", "would be rounded in each iteration of a loop around"),
        ("bf16", NO_FILL.replace("  promote-to-registers one.acc across k\n", ""), "W0369", "not in registers"),
    ],
)
def test_what_would_not_be_rounded_once_is_refused(type_: str, schedule: str, code: str, message: str) -> None:
    payload = ONTO if "init" not in schedule else PRODUCT
    constant = "arith.constant 0 : i8" if type_ == "i8" else "arith.constant 0.0"
    with pytest.raises(WeftError, match=f"{code}: .*{message}"):
        made(text(payload, type_, (64, 64, 96)).replace("arith.constant 0.0 : i8", constant), schedule)


def test_registers_are_counted_as_they_are_kept() -> None:
    """128 x 64 sums of a warp: 256 of f32 a thread, and not 128 words of bf16."""
    large = WARPS.replace("[32, 32]", "[128, 64]").replace("tile part [16, 16]", "tile part [128, 64]")
    with pytest.raises(WeftError, match=r"W0387: .* takes 256 registers"):
        made(text(PRODUCT, "bf16", (128, 64, 64)), large)


