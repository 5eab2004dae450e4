"""Sums in parts, of any number of summands: parts that are shorter, or empty, add nothing."""

from __future__ import annotations

import random

import numpy as np
import pytest
from test_any_size import ENDS, PRODUCT, SIZES, simulated

import weft
from weft.dsl.diagnostics import WeftError
from weft.pipeline import applied, planned

PARTS = """schedule s() {
  let gemm = match linalg.matmul
  let init = match linalg.fill
  let (partial, zeros, sum) = split-k gemm 3 WHICH
  let (tiles, tile_mm) = tile partial [1, 8, 8]
  fuse zeros into tiles
  map tiles to blocks(z, y, x)
  let (k, step) = tile tile_mm [_, _, _, 6]
  let (a, copy_a) = promote-to-shared step.lhs
  map copy_a to threads(*) cyclic
  let (lanes, one) = tile step [_, 1, 1]
  map lanes to threads(y: 8, x: 8)
  SUM
  promote-to-registers one.acc across k
  insert-barriers
  launch tiles
}
"""
APART = """let (each, add) = tile sum [8, 8]
  fuse init into each
  map each to blocks(y, x)
  let (own, o) = tile add [1, 1]
  fuse init into own
  map own to threads(y, x)"""
BEFORE = """let (all, some) = tile init [8, 8]
  map all to blocks(y, x)
  let (own, o) = tile some [1, 1]
  map own to threads(y, x)"""


def schedule(which: str) -> str:
    text = PARTS.replace("WHICH", which)
    if "atomic" not in which:
        return text.replace("SUM", APART).replace("launch tiles", "launch tiles\n  launch each")
    text = text.replace("launch tiles", "launch all\n  launch tiles").replace("SUM", BEFORE)
    return text.replace("fuse zeros into tiles", "fuse zeros into tiles\n  fuse sum into tiles")


@pytest.mark.parametrize("which", ["", "by 4", "by 6 atomic"])
def test_a_sum_in_parts_of_any_size(which: str) -> None:
    one = planned(applied(weft.load(schedule(which), payload=PRODUCT)))
    assert not any("assumed race-free" in remark for step in one.applied.session.steps for remark in step.remarks)
    native, draw = weft.compile(schedule(which), PRODUCT, target="cpu"), random.Random(which)
    fewer = [(9, 2, 9), (8, 12, 8), (3, 13, 70)]
    for m, k, n in [*ENDS, *fewer, *(tuple(draw.randrange(1, 70) for _ in range(3)) for _ in range(SIZES))]:
        generator = np.random.default_rng(m)
        a, b = generator.standard_normal((m, k), np.float32), generator.standard_normal((k, n), np.float32)
        done = simulated(one, a, b)
        assert not done.races and not done.faults, (m, k, n)
        for result in (done.outputs["result0"], native(a, b)):
            assert np.allclose(result, a @ b, atol=1e-3), (m, k, n)


GATHERED = """
func.func @gathered(%x: tensor<?xf32>, %y: tensor<f32>) -> tensor<f32> {
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<?xf32>) outs(%y : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %i = linalg.index 0 : index
    %v = tensor.extract %x[%i] : tensor<?xf32>
    %t = arith.mulf %a, %v : f32
    %u = arith.addf %b, %t : f32
    linalg.yield %u : f32
  } -> tensor<f32>
  return %s : tensor<f32>
}
"""


def test_a_body_that_reads_memory_is_refused() -> None:
    text = "schedule s() {\nlet op = match linalg.generic\nlet (p, z, t) = split-k op 2\n}\n"
    with pytest.raises(WeftError, match=r"W0455: .* 2 parts do not divide a number of summands known only at run time"):
        weft.apply(text, payload=GATHERED)
