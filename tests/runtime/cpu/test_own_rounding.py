"""Payloads whose own rounding shows: they add up in halves. What computes them as they are written, in f32 or in parts is
right, and what leaves out a term is wrong, however far off the payload is itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import weft
from weft.api import load
from weft.execution import _program
from weft.pipeline import applied
from weft.runtime.plan.signature import Argument, FunctionSignature
from weft.runtime.run.compare import compare
from weft.runtime.run.execution import Program, RunOptions, open_device
from weft.runtime.run.judging import Arbiter, _sparse
from weft.runtime.run.report import Report

MATMUL = """func.func @f(%x: tensor<16xKxT>, %w: tensor<Kx16xT>) -> tensor<16x16xT> {
  %z = arith.constant 0.0 : T
  %e = tensor.empty() : tensor<16x16xT>
  %f = linalg.fill ins(%z : T) outs(%e : tensor<16x16xT>) -> tensor<16x16xT>
  %r = linalg.matmul ins(%x, %w : tensor<16xKxT>, tensor<Kx16xT>) outs(%f : tensor<16x16xT>) -> tensor<16x16xT>
  return %r : tensor<16x16xT>
}
"""
BATCH = """func.func @f(%x: tensor<2x8xKxT>, %w: tensor<2xKx8xT>) -> tensor<2x8x8xT> {
  %z = arith.constant 0.0 : T
  %e = tensor.empty() : tensor<2x8x8xT>
  %f = linalg.fill ins(%z : T) outs(%e : tensor<2x8x8xT>) -> tensor<2x8x8xT>
  %r = linalg.batch_matmul ins(%x, %w : tensor<2x8xKxT>, tensor<2xKx8xT>) outs(%f : tensor<2x8x8xT>) -> tensor<2x8x8xT>
  return %r : tensor<2x8x8xT>
}
"""
CONV = """func.func @f(%x: tensor<1x6x6xKxT>, %w: tensor<3x3xKx8xT>) -> tensor<1x4x4x8xT> {
  %z = arith.constant 0.0 : T
  %e = tensor.empty() : tensor<1x4x4x8xT>
  %f = linalg.fill ins(%z : T) outs(%e : tensor<1x4x4x8xT>) -> tensor<1x4x4x8xT>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x6x6xKxT>, tensor<3x3xKx8xT>)
    outs(%f : tensor<1x4x4x8xT>) -> tensor<1x4x4x8xT>
  return %r : tensor<1x4x4x8xT>
}
"""
ROWS = """func.func @f(%x: tensor<8xKxT>) -> tensor<8xT> {
  %z = arith.constant 0.0 : T
  %e = tensor.empty() : tensor<8xT>
  %f = linalg.fill ins(%z : T) outs(%e : tensor<8xT>) -> tensor<8xT>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8xKxT>) outs(%f : tensor<8xT>) {
    ^bb0(%a: T, %b: T):
      BODY
      %s = arith.addf %b, %q : T
      linalg.yield %s : T
  } -> tensor<8xT>
  return %r : tensor<8xT>
}
"""
MIXED = """func.func @f(%x: tensor<8xKxT>) -> tensor<8xT> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8xKxT>) outs(%f : tensor<8xf32>) {
    ^bb0(%a: T, %b: f32):
      %big = arith.constant 100.0 : T
      %p = arith.addf %a, %big : T
      %q = arith.subf %p, %big : T
      %w = arith.extf %q : T to f32
      %s = arith.addf %b, %w : f32
      linalg.yield %s : f32
  } -> tensor<8xf32>
  %o = tensor.empty() : tensor<8xT>
  %c = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%r : tensor<8xf32>) outs(%o : tensor<8xT>) {
    ^bb0(%a: f32, %b: T):
      %t = arith.truncf %a : f32 to T
      linalg.yield %t : T
  } -> tensor<8xT>
  return %c : tensor<8xT>
}
"""
HEAD = "schedule s() {\n  let init = match linalg.fill\n  let op = match "
ONE_BY_ONE = """  let (tiles, tile_op) = tile op [8, 8]
  fuse init into tiles
  map tiles to blocks(y, x)
  let (lanes, one) = tile tile_op [1, 1]
  fuse init into lanes
  map lanes to threads(y, x)
  launch tiles
}
"""
BATCHED = "  let (tiles, one) = tile op [1, 1, 1]\n  fuse init into tiles\n  map tiles to grid(z, y, x)\n  launch tiles\n}\n"
CONVOLVED = """  let (tiles, one) = tile op [1, 1, 1, 1]
  fuse init into tiles
  let flat = coalesce tiles
  map flat to grid(x)
  launch flat
}
"""
ROW = "  let (rows, one) = tile op [1]\n  fuse init into rows\n  map rows to grid(x)\n  launch rows\n}\n"
TWO_LAUNCHES = """schedule s() {
  let init = match linalg.fill
  let sum = match linalg.generic #0
  let cut = match linalg.generic #1
  let (rows, one) = tile sum [1]
  fuse init into rows
  map rows to grid(x)
  launch rows
  map cut to grid(x: 8)
  launch cut
}
"""
PARTS = """  let (tiles, one) = tile op [1, 1]
  fuse init into tiles
  map tiles to blocks(y, x)
  map one to threads(x: 32) cyclic
  insert-barriers
  launch tiles
}
"""
MATMULS = HEAD + "linalg.matmul\n"
CASES = {
    "product of bf16": (MATMUL, MATMULS + ONE_BY_ONE, "bf16", 384),
    "long product of f16": (MATMUL, MATMULS + ONE_BY_ONE, "f16", 4096),
    "batch": (BATCH, HEAD + "linalg.batch_matmul\n" + BATCHED, "bf16", 700),
    "convolution": (CONV, HEAD + "linalg.conv_2d_nhwc_hwcf\n" + CONVOLVED, "bf16", 64),
    "sum of squares": (ROWS.replace("BODY", "%q = arith.mulf %a, %a : T"), HEAD + "linalg.generic\n" + ROW, "bf16", 2000),
    "sum of exponentials": (ROWS.replace("BODY", "%q = math.exp %a : T"), HEAD + "linalg.generic\n" + ROW, "bf16", 2000),
    "bf16 inside, f32 sums": (MIXED, TWO_LAUNCHES, "bf16", 50),
}


def program(payload: str, schedule: str, type_: str, k: int) -> Program:
    text = payload.replace("K", str(k)).replace("xT", f"x{type_}").replace(": T", f": {type_}").replace("to T", f"to {type_}")
    return _program(applied(load(schedule, payload=text)), None, "jit", text=False)


def ran(done: Program, change: Callable[[str], str] = str) -> Report:
    text = done.module()
    changed = replace(done, module=lambda: change(text))
    return changed.run(RunOptions(target="sim"), open_device("sim")).report


def shorter(k: int, by: int = 1) -> Callable[[str], str]:
    """The last terms of each sum are left out."""

    def change(text: str) -> str:
        assert f"arith.constant {k} : index" in text
        return text.replace(f"arith.constant {k} : index", f"arith.constant {k - by} : index")

    return change


@pytest.mark.parametrize("name", CASES)
def test_the_payload_in_its_own_types_is_the_measure(name: str) -> None:
    payload, schedule, type_, k = CASES[name]
    done = program(payload, schedule, type_, k)
    report = ran(done)
    assert report.ok and report.max_rel_error == 0
    assert report.reference is not None and report.reference.startswith("the payload in its own types (off by 0.")
    wrong = ran(done, shorter(k, by=1 if k < 1000 or payload is MATMUL else 9 * k // 10))  # it stops growing when it is large
    assert wrong.ok is False and wrong.reference == "the payload, compiled for the CPU"


def test_short_sums_are_compared_with_f32() -> None:
    report = ran(program(MATMUL, MATMULS + ONE_BY_ONE, "bf16", 8))
    assert report.ok and report.reference == "the payload, compiled for the CPU"


def test_parts_that_are_added_up_in_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are near neither measure; a term too many is found since small integers are exact."""
    done = program(MATMUL, MATMULS + PARTS, "bf16", 1024)
    report = ran(done)
    assert report.ok and report.reference == "the payload in f32, as far off as it is in its own types (0.096)"
    zero = "arith.constant 0.000000e+00 : bf16"
    assert ran(done, lambda text: text.replace(zero, zero.replace("0.0", "1.0"), 1)).ok is False
    monkeypatch.setattr(Arbiter, "_witnesses", lambda *_: [])
    assert ran(done).ok is False, "without a witness nothing is excused"


def test_no_term_is_hidden_by_a_payload_that_is_far_off() -> None:
    """The payload's own error is 0.4, and a kernel that leaves out a fifth of the terms is nearer to the truth than it is."""
    payload, _, type_, k = CASES["sum of exponentials"]
    parts = HEAD + "linalg.generic\n" + PARTS.replace("[1, 1]", "[1]").replace("blocks(y, x)", "blocks(x)")
    done = program(payload, parts, type_, k)
    assert ran(done).ok
    wrong = ran(done, shorter(k, by=k // 5))
    assert wrong.ok is False and 0.1 < (wrong.max_rel_error or 0) < 0.4


def test_outputs_no_farther_from_f64_than_the_payload_in_f32() -> None:
    """Up to 16 times the tolerance, which is 1e-5; farther than the payload is wrong."""
    signature = FunctionSignature("f", (), (Argument("y", "f32", (2,), "output"),))

    def judged(kernel: float, payload: float) -> bool:
        exact = {"y": np.array([1.0, 0.5])}
        mine, theirs = ({"y": (exact["y"] * (1 + error)).astype(np.float32)} for error in (kernel, payload))
        arbiter = Arbiter(signature, lambda _: exact, lambda *_: theirs, lambda _: mine)
        found = compare(signature, mine, theirs)
        assert not found.ok
        better = arbiter.reconsidered({}, mine, theirs, found)
        return better is not None and better[0].ok

    assert judged(-3e-5, 4e-5) and judged(1.2e-5, -1.3e-5)
    assert not judged(5e-5, -4e-5)
    assert not judged(-3e-4, 4e-4), "beyond 16 tolerances"


def test_witnesses_are_small_integers_and_leave_indices_alone() -> None:
    inputs = {"x": np.ones((50, 50), np.float32), "at": np.arange(4), "s": np.float32(3)}
    made = _sparse(inputs, 0.25, 0.0, 1)
    assert set(np.unique(made["x"])) == {-1.0, 0.0, 1.0} and 0.15 < np.mean(made["x"] != 0) < 0.35
    assert made["at"] is inputs["at"] and made["s"] == 1


def test_a_bundle_carries_both(tmp_path: Path) -> None:
    payload, schedule, type_, k = CASES["product of bf16"]
    text = payload.replace("K", str(k)).replace("xT", f"x{type_}").replace(": T", f": {type_}")
    weft.build(schedule, tmp_path / "b", payload=text, data_seed=0)
    assert (tmp_path / "b" / "expected_own.npz").is_file()
    report = weft.run(tmp_path / "b", target="sim")
    assert report.ok and report.reference == "the payload in its own types (off by 0.028 from f32)"
    module = tmp_path / "b" / "module.mlir"
    module.write_text(shorter(k)(module.read_text()))
    assert weft.run(tmp_path / "b", target="sim").ok is False
    weft.build(MATMULS + ONE_BY_ONE, tmp_path / "c", payload=text.replace("bf16", "f32"), data_seed=0)
    assert not (tmp_path / "c" / "expected_own.npz").exists()
