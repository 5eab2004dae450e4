"""Ops of the LLVM dialect that only compute: in bodies of a payload they are those of arith and math; others are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from judged import codes, program, refusal

from weft.dsl.diagnostics import Source
from weft.interpreter.ir.mlir import operations
from weft.payloads.payload import parse_payload

PAYLOAD = """\
func.func @f(%x: tensor<20x12xf32>, %n: tensor<20x12xi32>) -> tensor<20x12xf32> {
  %half = llvm.mlir.constant(5.000000e-01 : f32) : f32
  %three = arith.constant 3 : i32
  %empty = tensor.empty() : tensor<20x12xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %n : tensor<20x12xf32>, tensor<20x12xi32>) outs(%empty : tensor<20x12xf32>) {
    ^bb0(%a: f32, %k: i32, %o: f32):
      BODY
      linalg.yield %m : f32
  } -> tensor<20x12xf32>
  return %y : tensor<20x12xf32>
}
"""

BODIES: dict[str, tuple[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    "largest": (
        "%m = llvm.intr.maxnum(%half, %a) : (f32, f32) -> f32",
        lambda a, k: np.maximum(0.5, a),
    ),
    "fused": (
        "%m = llvm.intr.fmuladd(%half, %a, %half) : (f32, f32, f32) -> f32",
        lambda a, k: 0.5 * a + 0.5,
    ),
    "roots": (
        "%p = llvm.intr.fabs(%a) : (f32) -> f32\n"
    "%m = llvm.intr.sqrt(%p) {fastmathFlags = #llvm.fastmath<contract>} : (f32) -> f32",
        lambda a, k: np.sqrt(np.abs(a)),
    ),
    "powers": (
        "%p = llvm.intr.powi(%a, %three) : (f32, i32) -> f32\n%m = llvm.intr.rint(%p) : (f32) -> f32",
        lambda a, k: np.rint(a**3),
    ),
    "arithmetic": (
        "%p = llvm.fmul %a, %a : f32\n%q = llvm.fsub %p, %half : f32\n%m = llvm.fneg %q : f32",
        lambda a, k: -(a * a - 0.5),
    ),
    "choices": (
        '%c = llvm.fcmp "olt" %a, %half : f32\n%i = llvm.icmp "sgt" %k, %three : i32\n%b = llvm.and %c, %i : i1\n'
    "%m = llvm.select %b, %a, %half : i1, f32",
        lambda a, k: np.where((a < 0.5) & (k > 3), a, 0.5),
    ),
    "integers": (
        "%p = llvm.add %k, %three overflow<nsw> : i32\n%q = llvm.ashr %p, %three : i32\n"
    "%s = llvm.intr.smax(%q, %k) : (i32, i32) -> i32\n%w = llvm.sext %s : i32 to i64\n%m = llvm.sitofp %w : i64 to f32",
        lambda a, k: np.maximum((k + 3) >> 3, k),
    ),
    "nothing, and constants of another width": (
        "%u = llvm.mlir.undef : f32\n%z = llvm.mlir.zero : f32\n%v = llvm.mlir.poison : vector<2xi32>\n"
        "%i = llvm.mlir.constant(-3 : index) : i32\n%j = llvm.add %k, %i : i32\n%l = llvm.sitofp %j : i32 to f32\n"
        "%true = arith.constant true\n%w = llvm.select %true, %l, %u : i1, f32\n%m = llvm.fadd %w, %z : f32",
        lambda a, k: k - 3,
    ),
    "bits": (
        '%c = "llvm.intr.ctlz"(%k) <{is_zero_poison = false}> : (i32) -> i32\n%m = llvm.sitofp %c : i32 to f32',
        lambda a, k: np.where(k < 0, 0, 31 - np.floor(np.log2(np.maximum(k, 0.5)))),
    ),
}

MAPPED = "let op = match linalg.generic\nmap op to grid(x) cyclic\nlaunch op"


@pytest.mark.parametrize("name", BODIES)
def test_what_only_computes_is_in_arith_and_math(name: str, tmp_path: Path) -> None:
    body, meaning = BODIES[name]
    made = program(tmp_path, PAYLOAD.replace("BODY", body), MAPPED)
    assert "llvm." not in made.module
    a = np.random.default_rng(3).uniform(-3, 3, (20, 12)).astype(np.float32)
    k = np.random.default_rng(4).integers(-20, 20, (20, 12), dtype=np.int32)
    arrays = {"x": a, "n": k}
    wanted = {"result0": meaning(a, k).astype(np.float32)}
    np.testing.assert_allclose(made.expected(arrays)["result0"], wanted["result0"], rtol=1e-6, atol=1e-6)
    assert not made.run(arrays, wanted)
    assert not made.run(arrays, wanted, native=True)


def test_what_has_no_counterpart_is_refused_with_a_way_out(tmp_path: Path) -> None:
    body = "%p = llvm.intr.bswap(%k) : (i32) -> i32\n%m = arith.sitofp %p : i32 to f32"
    refused = refusal(tmp_path, PAYLOAD.replace("BODY", body), MAPPED)
    assert codes(refused) == ["W0640"] and "llvm.intr.bswap" in refused and "`arith` and `math`" in refused


@pytest.mark.parametrize(
    "body",
    [
        "%p = llvm.alloca %three x f32 : (i32) -> !llvm.ptr\n%m = llvm.load %p : !llvm.ptr -> f32",
        "%m = llvm.inline_asm \"\", \"=f\" : () -> f32",
        "%v = llvm.bitcast %k : i32 to vector<4xi8>\n%m = llvm.bitcast %k : i32 to f32",
    ],
)  # fmt: skip
def test_memory_assembler_and_other_shapes_stay(body: str) -> None:
    module = parse_payload(Source("p.mlir", PAYLOAD.replace("BODY", body)))
    assert any(op.name.startswith("llvm.") for op in operations(module.operation))
