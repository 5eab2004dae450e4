"""Around `as-gemm`: bodies other than `linalg.matmul`'s, outputs that are not empty, and an image that two convolutions read."""

from __future__ import annotations

from pathlib import Path

import pytest
from executors import expect_report
from scheduled import ran

from weft.interpreter.ir import mlir
from weft.pipeline import Choice, applied

BODIES = {
    "differences": ("f32", "f32", "%m = arith.mulf %a, %b : f32\n    %r = arith.subf %o, %m : f32"),
    "unsigned": (
        "i8",
        "i32",
        """%p = arith.extui %a : i8 to i32
    %q = arith.extui %b : i8 to i32
    %m = arith.muli %p, %q : i32
    %r = arith.addi %o, %m : i32""",
    ),
    "rounded products": (
        "f16",
        "f32",
        "%m = arith.mulf %a, %b : f16\n    %e = arith.extf %m : f16 to f32\n    %r = arith.addf %e, %o : f32",
    ),
    "of matmul": ("f32", "f32", "%m = arith.mulf %b, %a : f32\n    %r = arith.addf %m, %o : f32"),
}

def part(number: int = 0, start: str = "gemm", fused: str = "") -> str:
    """Statements for one product of ragged tiles; `fused` goes into its blocks."""
    n = number
    return f"""
  let (tiles{n}, tile{n}) = tile {start} [5, 3]
  {fused}
  map tiles{n} to blocks(y, x)
  let (k{n}, step{n}) = tile {"gemm" if fused else f"tile{n}"} [_, _, 10]
  let (a{n}, copy_a{n}) = promote-to-shared step{n}.lhs
  let (b{n}, copy_b{n}) = promote-to-shared step{n}.rhs
  map copy_a{n} to threads(*) cyclic
  map copy_b{n} to threads(*) cyclic
  let (lanes{n}, one{n}) = tile step{n} [1, 1]
  map lanes{n} to threads(y, x)"""


def check(tmp_path: Path, payload: str, text: str) -> list[str]:
    """Right and race-free; what the module allocates."""
    source, weft = tmp_path / "payload.mlir", tmp_path / "product.weft"
    source.write_text(payload)
    weft.write_text(text)
    report, done = ran(weft, 1, source)
    expect_report(report)
    return [str(op) for op in mlir.operations(done.applied.session.module.operation, "memref.alloc")]


@pytest.mark.parametrize("name", BODIES)
def test_the_body_of_a_generic_stays(name: str, tmp_path: Path) -> None:
    narrow, wide, body = BODIES[name]
    x, w, y = f"tensor<1x6x6x4x{narrow}>", f"tensor<3x3x4x8x{narrow}>", f"tensor<1x4x4x8x{wide}>"
    payload = f"""#x = affine_map<(n, y, x, f, r, s, c) -> (n, y + r, x + s, c)>
#w = affine_map<(n, y, x, f, r, s, c) -> (r, s, c, f)>
#y = affine_map<(n, y, x, f, r, s, c) -> (n, y, x, f)>
func.func @f(%x: {x}, %w: {w}, %start: {y}) -> {y} {{
  %made = linalg.generic {{indexing_maps = [#x, #w, #y], iterator_types =
      ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}}
      ins(%x, %w : {x}, {w}) outs(%start : {y}) {{
  ^bb0(%a: {narrow}, %b: {narrow}, %o: {wide}):
    {body}
    linalg.yield %r : {wide}
  }} -> {y}
  return %made : {y}
}}"""
    text = f"""schedule bodies() {{
  let conv = match linalg.generic
  let gemm = as-gemm conv{part()}
  promote-to-registers one0.acc across k0
  insert-barriers
  launch tiles0
}}"""
    check(tmp_path, payload, text)
    kept = applied(Choice(str(_only_gemm(tmp_path)), tmp_path / "payload.mlir", {}).open())
    named = list(mlir.operations(kept.session.module.operation, "linalg.matmul"))
    assert bool(named) == (name == "of matmul")


def _only_gemm(tmp_path: Path) -> Path:
    weft = tmp_path / "gemm.weft"
    weft.write_text("schedule gemm() {\n  let conv = match linalg.generic\n  let gemm = as-gemm conv\n}\n")
    return weft


def test_a_consumer_adds_to_what_its_output_is_filled_with(tmp_path: Path) -> None:
    y = "tensor<1x4x4x8xf32>"
    payload = f"""#all = affine_map<(n, y, x, f) -> (n, y, x, f)>
#channel = affine_map<(n, y, x, f) -> (f)>
func.func @f(%x: tensor<1x6x6x4xf32>, %w: tensor<3x3x4x8xf32>, %bias: tensor<8xf32>, %start: {y}) -> {y} {{
  %two = arith.constant 2.0 : f32
  %empty = tensor.empty() : {y}
  %conv = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x6x6x4xf32>, tensor<3x3x4x8xf32>) outs(%start : {y}) -> {y}
  %out = linalg.fill ins(%two : f32) outs(%empty : {y}) -> {y}
  %made = linalg.generic {{indexing_maps = [#all, #channel, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}}
      ins(%conv, %bias : {y}, tensor<8xf32>) outs(%out : {y}) {{
  ^bb0(%value: f32, %offset: f32, %before: f32):
    %sum = arith.addf %value, %offset : f32
    %r = arith.addf %sum, %before : f32
    linalg.yield %r : f32
  }} -> {y}
  return %made : {y}
}}"""
    fused = "fuse gemm into tiles0\n  fuse out into tiles0"
    text = f"""schedule outputs() {{
  let conv = match linalg.conv_2d_nhwc_hwcf
  let bias = match linalg.generic
  let out = match linalg.fill
  let gemm = as-gemm conv{part(0, "bias", fused)}
  let (finish, added) = tile tile0 [1, 1]
  fuse out into finish
  map finish to threads(y, x)
  promote-to-registers one0.acc across k0
  insert-barriers
  launch tiles0
}}"""
    check(tmp_path, payload, text)


def test_two_convolutions_of_one_image_gather_it_apart(tmp_path: Path) -> None:
    """Their gathers are the same op, and neither is made in memory: tiles that divide nothing have their own each."""
    y = "tensor<1x4x4x8xf32>"
    payload = f"""func.func @f(%x: tensor<1x6x6x4xf32>, %v: tensor<3x3x4x8xf32>, %w: tensor<3x3x4x8xf32>,
    %a: {y}, %b: {y}) -> ({y}, {y}) {{
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %v : tensor<1x6x6x4xf32>, tensor<3x3x4x8xf32>) outs(%a : {y}) -> {y}
  %1 = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x6x6x4xf32>, tensor<3x3x4x8xf32>) outs(%b : {y}) -> {y}
  return %0, %1 : {y}, {y}
}}"""
    text = f"""schedule two() {{
  let first = match linalg.conv_2d_nhwc_hwcf #0
  let second = match linalg.conv_2d_nhwc_hwcf #1
  let gemm0 = as-gemm first
  let gemm1 = as-gemm second{part(0, "gemm0")}{part(1, "gemm1")}
  promote-to-registers one0.acc across k0
  promote-to-registers one1.acc across k1
  insert-barriers
  launch tiles0
  launch tiles1
}}"""
    assert not [made for made in check(tmp_path, payload, text) if "x36x" in made]
