"""Recipes of products, convolutions, rows, scans and histograms are scheduled whatever their payload is written with: generics
alone, or named ops where there are some, in any order; operands that are read by columns; a fill with a constant in its body."""

from __future__ import annotations

import random

import pytest
from executors import expect_report
from proven import expect_no_assumption
from scheduled import report_of
from test_found_by_structure import FORMS, shuffled

from weft.dsl.diagnostics import Source
from weft.interpreter.ir import mlir
from weft.payloads.payload import parse_payload
from weft.pipeline import Choice, applied

IMAGE = {"n": 1, "h": 6, "w": 6, "c": 8, "k": 8}
RECIPES = {
    "simt": {"m": 70, "n": 50, "k": 40}, "simt_pipelined": {"m": 70, "n": 50, "k": 40},
    "simt_split_k": {"m": 70, "n": 50, "k": 140}, "tensor": {"m": 70, "n": 50, "k": 40, "rounded": 1},
    "tensor_split_k": {"m": 70, "n": 50, "k": 140},
    "hopper": {"m": 128, "n": 256, "k": 64, "rounded": 1}, "igemm": IMAGE, "igemm_nchw": IMAGE, "igemm_bias_relu": IMAGE,
    "igemm_pipelined": IMAGE, "igemm_split_k": IMAGE, "igemm_tensor": IMAGE, "igemm_tensor_nchw": IMAGE, "igemm_hopper": IMAGE,
    "sum": {"n": 3000}, "argmax": {"m": 5, "n": 70}, "scan": {"n": 3000}, "histogram": {"n": 3000, "bins": 16},
}  # fmt: skip


def expect_built(recipe: str, text: str, settings: dict[str, str]) -> None:
    done = applied(Choice(recipe, None, settings, program=Source("p.mlir", text)).open())
    expect_no_assumption(done.assumed)
    assert done.unproven == []
    expect_report(report_of(done, 1))


@pytest.mark.few(7)
@pytest.mark.parametrize("form", FORMS[1:])
@pytest.mark.parametrize("recipe", RECIPES)
def test_forms_of_payloads(recipe: str, form: str) -> None:
    settings = {name: str(value) for name, value in RECIPES[recipe].items()}
    source = Choice(recipe, None, settings).open().payload
    module = parse_payload(Source("p.mlir", source.text))
    mlir.run_passes(module, form)
    shuffled(module, random.Random(f"{recipe} {form}"))
    expect_built(recipe, str(module), {"rounded": "1"} if recipe == "hopper" else {})


def product(m: int, n: int, k: int, type: str, a: str, b: str) -> str:
    """C = A·B of generics; `a` and `b` are the subscripts of the operands: `m, k`, or `k, m` for one that is read by columns."""
    sizes, widened = {"m": m, "n": n, "k": k}, type != "f32"
    of_a, of_b = (f"tensor<{'x'.join(str(sizes[d]) for d in at.split(', '))}x{type}>" for at in (a, b))
    of_c = f"tensor<{m}x{n}xf32>"
    wider = f"    %xw = arith.extf %x : {type} to f32\n    %yw = arith.extf %y : {type} to f32\n" if widened else ""
    return f"""\
func.func @product(%A: {of_a}, %B: {of_b}) -> {of_c} {{
  %empty = tensor.empty() : {of_c}
  %init = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}}
      outs(%empty : {of_c}) {{
  ^bb0(%o: f32):
    %zero = arith.constant 0.0 : f32
    linalg.yield %zero : f32
  }} -> {of_c}
  %C = linalg.generic {{
      indexing_maps = [affine_map<(m, n, k) -> ({a})>, affine_map<(m, n, k) -> ({b})>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}} ins(%A, %B : {of_a}, {of_b}) outs(%init : {of_c}) {{
  ^bb0(%x: {type}, %y: {type}, %o: f32):
{wider}    %p = arith.mulf %{"xw" if widened else "x"}, %{"yw" if widened else "y"} : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }} -> {of_c}
  return %C : {of_c}
}}
"""


@pytest.mark.few(3)
@pytest.mark.parametrize(("recipe", "text"), [
    ("simt", product(70, 50, 40, "f32", "m, k", "n, k")), ("simt", product(70, 50, 40, "f32", "k, m", "n, k")),
    ("simt_split_k", product(70, 50, 140, "f32", "k, m", "k, n")), ("tensor", product(70, 50, 40, "bf16", "k, m", "k, n")),
    ("hopper", product(128, 256, 64, "bf16", "m, k", "n, k")),
], ids=["simt, B", "simt, A and B", "simt_split_k, A", "tensor, A", "hopper, B"])  # fmt: skip
def test_operands_by_columns(recipe: str, text: str) -> None:
    expect_built(recipe, text, {})
