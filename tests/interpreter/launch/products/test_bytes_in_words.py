"""Fragments of i8, four elements of the sum in a register: loaded as words of shared memory where the copy has these side by side,
as it is staged or turned. What the machine loads is read from its code."""

from __future__ import annotations

import re

import numpy as np
import pytest
from executors import expect_equal
from sass import whole

from weft.dsl.diagnostics import Source
from weft.pipeline import Choice, applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

PAYLOAD = """#a = affine_map<(i, j, k) -> {a}>
#b = affine_map<(i, j, k) -> {b}>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @q(%A: tensor<{ta}xi8>, %B: tensor<{tb}xi8>) -> tensor<64x32xi32> {{
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<64x32xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<64x32xi32>) -> tensor<64x32xi32>
  %c = linalg.matmul indexing_maps = [#a, #b, #c] ins(%A, %B : tensor<{ta}xi8>, tensor<{tb}xi8>)
      outs(%z : tensor<64x32xi32>) -> tensor<64x32xi32>
  return %c : tensor<64x32xi32>
}}
"""
SCHEDULE = """schedule q() {{
  let gemm = match linalg.matmul
  let init = match linalg.fill
  let (tiles, t) = tile gemm [32, 32]
  fuse init into tiles
  map tiles to blocks(y, x)
  let (k, step) = tile t [_, _, 32]
  let (a, ca) = promote-to-shared step.lhs{lhs}
  let (b, cb) = promote-to-shared step.rhs{rhs}
  map ca to threads(*) cyclic
  map cb to threads(*) cyclic
  let (warps, w) = tile step [32, 16]
  map warps to warps(y, x)
  let p = mma w [16, 8, 32]
  promote-to-registers p.acc across k
  insert-barriers
  launch tiles
}}
"""
CASES = {  # what is staged how; whether the fragments of A and of B are words
    "both by rows of the sum": ("(i, k)", "(j, k)", "", "", True, True),
    "B turned": ("(i, k)", "(k, j)", "", " transpose", True, True),
    "B turned and padded": ("(i, k)", "(k, j)", " pad 16", " transpose pad 4", True, True),
    "A turned": ("(k, i)", "(j, k)", " transpose", "", True, True),
    "both turned": ("(k, i)", "(k, j)", " transpose pad 4", " transpose pad 4", True, True),
    "B as it is": ("(i, k)", "(k, j)", "", "", True, False),
    "B turned, rows that are no words": ("(i, k)", "(k, j)", "", " transpose pad 2", True, False),
}


@pytest.mark.few(3)
@pytest.mark.parametrize("case", CASES)
def test_fragments_of_bytes(case: str) -> None:
    a, b, lhs, rhs, *words = CASES[case]
    sizes = {"i": 64, "j": 32, "k": 64}
    shapes = [tuple(sizes[d] for d in re.findall(r"\w", places)) for places in (a, b)]
    kinds = ["x".join(map(str, shape)) for shape in shapes]
    payload, schedule = PAYLOAD.format(a=a, b=b, ta=kinds[0], tb=kinds[1]), SCHEDULE.format(lhs=lhs, rhs=rhs)
    one = planned(applied(Choice("", text=Source("s.weft", schedule), program=Source("p.mlir", payload)).open()))
    for name, wide in zip("AB", words, strict=True):
        fragment = re.search(rf"{name}_frag\[.*?;", one.cuda.partition(f"signed char {name}_frag")[2].partition(";")[2], re.DOTALL)
        assert fragment and ((".at[" in fragment[0]) == wide), one.cuda
    loads = whole(one.cuda, "q", "sm_80").shared_loads
    assert (loads[8] == 0) == all(words), loads
    random = np.random.default_rng(0)
    inputs = dict(zip("AB", (random.integers(-128, 128, shape).astype(np.int8) for shape in shapes), strict=True))
    ran = run_plan(one.plan, SimDevice(), dict(inputs), text=one.applied.located_text)
    assert not ran.races and not ran.faults
    expect_equal("the simulator", "result0", ran.outputs["result0"], reference(one.applied.payload, None, dict(inputs))["result0"])
