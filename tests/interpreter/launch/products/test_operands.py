"""Products by tensor cores whose operands lie in any order: rows or columns first, in batches, in parts of a sum."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from executors import expect_computed
from native_device import NativeDevice

from weft.dsl.diagnostics import Source, WeftError
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.cpu.device import CpuDevice
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host.functions import signature
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

SOAK = "WEFT_SOAK" in os.environ
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i8": 1}
SUMS = {"f16": "f32", "bf16": "f32", "i8": "i32"}

SCHEDULE = """
schedule products() {{
  let gemm = match linalg.generic
  let init = match? linalg.fill
  let (tiles, tile_mm) = tile gemm [1, 32, 16]
  fuse init into tiles
  map tiles to blocks(z, y, x)
  let (k, step) = tile tile_mm [_, _, _, {bk}]
  let (a, copy_a) = promote-to-shared step.lhs {a}
  let (b, copy_b) = promote-to-shared step.rhs {b}
  map copy_a to threads(*) cyclic vector {width}
  map copy_b to threads(*) cyclic vector {width}
  let (kk, part) = tile step [_, _, _, {ik}]
  let (warps, warp_mm) = tile part [_, 16, 16]
  map warps to warps(y, x)
  let one = mma warp_mm [{im}, 8, {ik}]{word}
  promote-to-registers one.acc across k
  pipeline k stages {stages}
  insert-barriers
  launch tiles
}}
"""

PARTS = """
schedule parts() {
  let gemm = match linalg.matmul
  let init = match? linalg.fill
  let (partial, zeros, sum) = split-k gemm 3 by 32
  let (tiles, tile_mm) = tile partial [1, 32, 32]
  fuse zeros into tiles
  map tiles to blocks(z, y, x)
  let (k, step) = tile tile_mm [_, _, _, 32]
  let (a, copy_a) = promote-to-shared step.lhs swizzle 64
  let (b, copy_b) = promote-to-shared step.rhs swizzle 64
  map copy_a to threads(*) cyclic vector 8
  map copy_b to threads(*) cyclic vector 8
  let (kk, part) = tile step [_, _, _, 16]
  let (warps, warp_mm) = tile part [_, 16, 16]
  map warps to warps(y, x)
  let one = mma warp_mm [16, 8, 16]
  let (each, element) = tile sum [1, 1]
  fuse init into each
  let (s, add) = tile element [_, _, 1]
  let flat = coalesce each
  map flat to grid(x)
  promote-to-registers one.acc across k
  pipeline k stages STAGES
  promote-to-registers add.acc across s
  insert-barriers
  launch tiles
  launch flat
}
"""


def product(kind: str, lhs: str, rhs: str, sizes: dict[str, int]) -> str:
    """The payload's text. `lhs`, `rhs`: the order of the operands' dimensions, letters of `b`, `m`, `n`, `k`."""
    total = SUMS.get(kind, kind)
    a, b, c = (
        f"tensor<{'x'.join([*(str(sizes[d]) for d in dims), of])}>" for dims, of in ((lhs, kind), (rhs, kind), ("bmn", total))
    )
    maps = ", ".join(f"affine_map<(b, m, n, k) -> ({', '.join(dims)})>" for dims in (lhs, rhs, "bmn"))
    wide = "exts" if kind == "i8" else "ext"
    letter = "i" if kind == "i8" else "f"
    operands = "\n".join(
        f"%w{name} = arith.{wide}{letter} %{name} : {kind} to {total}" if kind != total else "" for name in "ab"
    )
    names = ("%wa", "%wb") if kind != total else ("%a", "%b")
    zero = "0" if letter == "i" else "0.0"
    return f"""func.func @f(%A: {a}, %B: {b}) -> {c} {{
      %zero = arith.constant {zero} : {total}
      %empty = tensor.empty() : {c}
      %init = linalg.fill ins(%zero : {total}) outs(%empty : {c}) -> {c}
      %C = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
          ins(%A, %B : {a}, {b}) outs(%init : {c}) {{
      ^bb0(%a: {kind}, %b: {kind}, %c: {total}):
        {operands}
        %p = arith.mul{letter} {names[0]}, {names[1]} : {total}
        %s = arith.add{letter} %c, %p : {total}
        linalg.yield %s : {total}
      }} -> {c}
      return %C : {c}
    }}"""


def expect_right(schedule: str, payload: str, folder: Path) -> Planned:
    (folder / "p.mlir").write_text(payload)
    done = planned(applied(Choice("", folder / "p.mlir", text=Source(str(folder / "s.weft"), schedule)).open()))
    named = signature(done.applied.payload)
    arrays = random_inputs(named, 1)
    expected = reference(done.applied.payload, None, dict(arrays))
    for device in (SimDevice(), NativeDevice(), CpuDevice(2)):
        text = done.cuda if device.wants == "cuda" else done.applied.located_text
        ran = run_plan(done.plan, device, arrays, text=text)
        expect_computed(device, ran, named, expected, rounded=done.plan.rounded, shown=f"\n{schedule}\n{payload}")
    return done


@pytest.mark.parametrize("seed", range(100) if SOAK else [0, 1, 75])
def test_any_order(seed: int, tmp_path: Path) -> None:
    """Whole matrices are loaded where 16-bit elements lie side by side along rows or along columns; others one by one."""
    draw = random.Random(seed)
    kind = list(BYTES)[seed % len(BYTES)]
    size = BYTES[kind]
    sizes = {d: draw.choice([16, 32, 48]) * (2 if size == 1 else 1) for d in "mnk"} | {"b": draw.choice([1, 2, 3])}
    lhs, rhs = (draw.choice(orders) for orders in (["bmk", "bkm", "mk", "km", "mbk"], ["bkn", "bnk", "kn", "nk", "knb"]))
    if "b" not in lhs + rhs:
        lhs = f"b{lhs}"
    word = draw.choice(["tf32", "3xtf32", "bf16x3"]) if kind == "f32" else ""
    wide = rhs[-1] != "b"
    width = 16 // size if wide else 1
    stages = draw.choice(["2 async", "3 async"] if wide or size > 2 else ["1", "2"])
    a, b = (draw.choice(["", f"pad {16 // size}"]) for _ in range(2))
    ik = 16 if word == "bf16x3" else 32 // size
    schedule = SCHEDULE.format(
        bk=max(32, ik), ik=ik, im=min(16, 64 // size), a=a, b=b, width=width, stages=stages, word=word and f" as {word}"
    )
    done = expect_right(schedule, product(kind, lhs, rhs, sizes), tmp_path)
    for name, order in (("A", lhs), ("B", rhs)):
        assert (f"vec<signed char, 4>*>(&{name}_shared" in " ".join(done.cuda.split())) == (size == 1 and order[-1] == "k")
    by_matrices = {transposed for transposed in ("", "_transposed") if f"load_matrices_x4{transposed}(A_frag" in done.cuda}
    assert by_matrices == ({"_transposed" if lhs[-1] == "m" else ""} if size == 2 else set())


@pytest.mark.parametrize(("n", "k", "stages"), [(48, 168, "3 async"), (45, 155, "2")])
def test_parts_of_a_sum(n: int, k: int, stages: str, tmp_path: Path) -> None:
    a, b, c = f"tensor<40x{k}xbf16>", f"tensor<{k}x{n}xbf16>", f"tensor<40x{n}xf32>"
    payload = f"""func.func @f(%A: {a}, %B: {b}) -> {c} {{
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty() : {c}
      %init = linalg.fill ins(%zero : f32) outs(%empty : {c}) -> {c}
      %C = linalg.matmul ins(%A, %B : {a}, {b}) outs(%init : {c}) -> {c}
      return %C : {c}
    }}"""
    done = expect_right(PARTS.replace("STAGES", stages), payload, tmp_path)
    assert "load_matrices_x4(" in done.cuda


FINISHED = """func.func @f(%A: tensor<32x32xbf16>, %B: tensor<32x32xbf16>) -> tensor<32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<32x32xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<32x32xf32>) -> tensor<32x32xf32>
  %C = linalg.matmul ins(%A, %B : tensor<32x32xbf16>, tensor<32x32xbf16>) outs(%init : tensor<32x32xf32>) -> tensor<32x32xf32>
  %D = linalg.negf ins(%C : tensor<32x32xf32>) outs(%empty : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %D : tensor<32x32xf32>
}"""
FINISHING = """
schedule finished() {
  let gemm = match linalg.matmul
  let init = match linalg.fill
  let neg = match linalg.negf
  let (tiles, tile_neg) = tile neg [32, 32]
  fuse gemm into tiles
  fuse init into tiles
  map tiles to blocks(y, x)
  let (k, step) = tile gemm [_, _, 16]
  let (warps, warp_mm) = tile step [16, 16]
  map warps to warps(y, x)
  let one = mma warp_mm [16, 8, 16]
  promote-to-registers one.acc across k
  let (out_warps, out) = tile tile_neg [16, 16]
  map out_warps to warps(y, x)
  PIECES
  let (pairs, pair) = tile half [1, 2]
  let lanes = coalesce pairs
  map lanes to lanes
  insert-barriers
  launch tiles
}
"""
PIECES = """let (pieces, piece) = tile out [16, 8]
  map pieces to registers
  let (halves, half) = tile piece [8, 8]
  map halves to registers
"""


def test_what_finishes_sums_is_cut_as_they_are(tmp_path: Path) -> None:
    expect_right(FINISHING.replace("PIECES", PIECES), FINISHED, tmp_path)
    otherwise = "let (halves, half) = tile out [8, 8]\n map halves to registers"  # the same elements, in another order
    expect_right(FINISHING.replace("PIECES", otherwise), FINISHED, tmp_path)
    with pytest.raises(WeftError, match=r"W0380: the 32x32 buffer cannot be in the registers of each thread") as refused:
        expect_right(FINISHING.replace("PIECES", PIECES).replace("half [1, 2]", "half [2, 1]"), FINISHED, tmp_path)
    said = str(refused.value)
    assert "32 to `lanes`, of 1x2 elements" in said and "32 to `lanes`, of 2x1 elements" in said
