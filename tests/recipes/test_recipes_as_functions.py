"""Recipes are functions of ops: those of products and of convolutions take their ops as handles, and schedule these in a larger
program."""

from __future__ import annotations

from pathlib import Path

import pytest
from executors import expect_report
from scheduled import run_schedule

from weft.dsl.parser import parse_file
from weft.dsl.tree import StatementNode
from weft.recipes import schedules
from weft.runtime.run.execution import RunOptions

HANDLES = {"matmul": ["gemm", "init"], "conv2d": ["conv", "init"]}
RECIPES = {name: path for name, path in schedules().items() if path.parent.name in HANDLES}

CHAIN = """func.func @chain(%A: tensor<37x20xf32>, %B: tensor<20x35xf32>, %C: tensor<35x41xf32>) -> tensor<37x41xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<37x35xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<37x35xf32>) -> tensor<37x35xf32>
  %AB = linalg.matmul ins(%A, %B : tensor<37x20xf32>, tensor<20x35xf32>) outs(%z0 : tensor<37x35xf32>) -> tensor<37x35xf32>
  %e1 = tensor.empty() : tensor<37x41xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<37x41xf32>) -> tensor<37x41xf32>
  %Y = linalg.matmul ins(%AB, %C : tensor<37x35xf32>, tensor<35x41xf32>) outs(%z1 : tensor<37x41xf32>) -> tensor<37x41xf32>
  return %Y : tensor<37x41xf32>
}
"""
"""Two products, each with a fill of its own."""


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_ops_are_parameters(recipe: str) -> None:
    parameters = parse_file(RECIPES[recipe]).main.parameters
    subject = RECIPES[recipe].parent.name
    assert [p.name for p in parameters[:2]] == HANDLES[subject], f"call it with the names of the other recipes in {subject}/"
    assert all(p.type == "handle" and isinstance(p.default, StatementNode) for p in parameters[:2]), "a caller may leave them out"


@pytest.mark.parametrize(("first", "second"), [("shared", "naive"), ("naive", "shared"), ("simt", "shared")])
def test_two_products_by_two_recipes(first: str, second: str, tmp_path: Path) -> None:
    (tmp_path / "chain.mlir").write_text(CHAIN)
    path = tmp_path / "chain.weft"
    path.write_text(f"""include "weft:matmul/{first}"
include "weft:matmul/{second}"
payload "chain.mlir"
schedule chain() {{
  let a = match linalg.matmul #0
  let b = match linalg.matmul #1
  let za = match fill of a.acc
  let zb = match fill of b.acc
  {first}(gemm = a, init = za, bn = 32)
  {second}(gemm = b, init = zb, bm = 32)
}}
""")
    report = run_schedule(str(path), None, {}, None, RunOptions("sim", 0)).report
    expect_report(report)
    blocks, staged = zip(*((kernel.block, kernel.shared_bytes > 0) for kernel in report.kernels), strict=True)
    assert blocks == ((64, 1, 1) if first == "simt" else (32, 16, 1), (16, 32, 1))
    assert staged == (first != "naive", second != "naive"), "each product by its own recipe"
