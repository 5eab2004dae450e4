"""Products of warp groups with a left operand in registers: copied there by threads, or computed of another product."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace

import pytest
from hopper_kernels import Made
from hopper_verdicts import Runs, proof
from sass import compiled, whole
from schedules import Case, launched

from weft.dsl.diagnostics import Source, WeftError
from weft.payloads.payload import parse_payload
from weft.runtime.cuda.module import emit

SOAK = "WEFT_SOAK" in os.environ
"""All kinds, shapes, orders of threads and mutants; else a few."""

PAYLOAD = """
func.func @twice(%A: tensor<{m}x{d}x{kind}>, %B: tensor<{d}x{k}x{kind}>, %V: tensor<{k}x{n}x{kind}>)
    -> tensor<{m}x{n}xf32> {{
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty() : tensor<{m}x{k}xf32>
  %S0 = linalg.fill ins(%zero : f32) outs(%none : tensor<{m}x{k}xf32>) -> tensor<{m}x{k}xf32>
  %S = linalg.matmul ins(%A, %B : tensor<{m}x{d}x{kind}>, tensor<{d}x{k}x{kind}>) outs(%S0 : tensor<{m}x{k}xf32>)
    -> tensor<{m}x{k}xf32>
  %p = tensor.empty() : tensor<{m}x{k}x{kind}>
  %P = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]}} ins(%S : tensor<{m}x{k}xf32>) outs(%p : tensor<{m}x{k}x{kind}>) {{
    ^bb0(%s: f32, %_: {kind}):
      %positive = arith.maximumf %s, %zero : f32
      %narrow = arith.truncf %positive : f32 to {kind}
      linalg.yield %narrow : {kind}
  }} -> tensor<{m}x{k}x{kind}>
  %empty = tensor.empty() : tensor<{m}x{n}xf32>
  %O0 = linalg.fill ins(%zero : f32) outs(%empty : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %O = linalg.matmul ins(%P, %V : tensor<{m}x{k}x{kind}>, tensor<{k}x{n}x{kind}>) outs(%O0 : tensor<{m}x{n}xf32>)
    -> tensor<{m}x{n}xf32>
  return %O : tensor<{m}x{n}xf32>
}}
"""
FRAGMENTS = """
schedule fragments(op: handle) {
  let (groups, group) = tile op [64, _]
  map groups to warpgroups(y)
  let (quarters, quarter) = tile group [16, _]
  map quarters to quarters
  let (pieces, piece) = tile quarter [_, 8]
  map pieces to registers
  let (halves, half) = tile piece [8, _]
  map halves to registers
  let (lanes, one) = tile half [1, 2]
  map lanes to lanes(y: 8, x: 4)
  return one
}
"""
TO_GROUPS = FRAGMENTS.split("\n", 2)[2].split("  let (pieces")[0]
TWICE_AS_MANY_ROWS = """
  let (groups, group) = tile op [128, _]
  map groups to warpgroups(y)
  let (rows, row) = tile group [64, _]
  map rows to registers
  let (quarters, quarter) = tile row [16, _]
  map quarters to quarters
"""


@dataclass(frozen=True)
class Copied(Case):
    """A product whose left operand threads copy to registers."""

    flow: str = ""
    cut: tuple[str, str] = ("", "")

    @property
    def schedule(self) -> str:
        return f"""
        payload "x.mlir"
        {FRAGMENTS.replace(*self.cut)}
        schedule product() {{
          let gemm = match linalg.matmul
          let init = match linalg.fill
          let (tiles, tile_mm) = tile gemm [{self.bm}, {self.bn}]
          fuse init into tiles
          map tiles to blocks(y, x)
          let (k, step) = tile tile_mm [_, _, {self.bk}]
          let (a, copy_a) = promote-to-registers step.lhs
          let (b, copy_b) = promote-to-shared step.rhs swizzle 128
          map copy_b to tma
          let (groups, group_mm) = tile step [{self.own}, _]
          map groups to warpgroups(y)
          let one = mma group_mm {self.shape or f"[64, {self.bn}, 16]"}
          promote-to-registers one.acc across k
          let kept = fragments(copy_a)
          {self.flow}
          insert-barriers
          launch tiles
        }}"""


@dataclass(frozen=True)
class Computed(Case):
    """Two products, of which the first one's sums are the second one's left operand."""

    d: int = 64
    flow: str = "unroll k"

    @property
    def payload(self) -> str:
        return PAYLOAD.format(m=self.m, d=self.d, k=self.k, n=self.n, kind=self.kind)

    @property
    def schedule(self) -> str:
        return f"""
        payload "x.mlir"
        {FRAGMENTS}
        schedule twice() {{
          let first = match linalg.matmul #0
          let second = match linalg.matmul #1
          let positive = match linalg.generic
          let empty = match linalg.fill #0
          let init = match linalg.fill #1
          let (tiles, out) = tile second [{self.bm}, _]
          fuse init into tiles
          fuse positive into tiles
          fuse first into tiles
          fuse empty into tiles
          map tiles to blocks(y)
          let (a, copy_a) = promote-to-shared first.lhs swizzle 128
          let (b, copy_b) = promote-to-shared first.rhs swizzle 128
          let (k, step) = tile out [_, _, 64]
          let (v, copy_v) = promote-to-shared step.rhs swizzle 128
          map copy_a to tma
          map copy_b to tma
          map copy_v to tma
          let (groups, group) = tile first [64, _]
          map groups to warpgroups(y)
          let s = mma group [64, {self.k}, 16]
          let p = fragments(positive)
          let start = fragments(empty)
          let (out_groups, out_group) = tile step [64, _]
          map out_groups to warpgroups(y)
          let o = mma out_group [64, {self.n}, 16]
          promote-to-registers o.acc across k
          {self.flow}
          insert-barriers
          launch tiles
        }}"""


def made(case: Case) -> Made:
    return Made(parse_payload(Source("x.mlir", case.payload)), str(launched(case)))


COPIED = Copied(m=64, n=128, k=128, bm=64, bn=64)
COMPUTED = Computed(m=128, k=128, n=64, bm=64)


RIGHT = [COPIED, COMPUTED]
if SOAK:
    RIGHT += [replace(COPIED, kind="f16", along=True, bn=32, k=192), replace(COMPUTED, kind="f16", k=192, bm=128)]


@pytest.mark.parametrize("case", RIGHT, ids=str)
def test_right(case: Case) -> None:
    right = made(case)
    runs = Runs(right)
    assert "#gpu.address_space<private>" in right.text and not proof(right.text)
    assert not runs.simulated(right.text, 0) and not runs.native(right.text, reverse=True)
    assert not SOAK or not (runs.simulated(right.text) or runs.native(right.text))


@pytest.mark.parametrize(("case", "why"), [
    (replace(COPIED, kind="f8E4M3FN", along=True, bk=128, shape="[64, 64, 32]"), "W0380"),
    (replace(COPIED, m=128, bm=128, own=128, cut=(TO_GROUPS, TWICE_AS_MANY_ROWS)), "has 64 rows"),
    (replace(COPIED, cut=("[1, 2]\n  map lanes to lanes(y: 8, x: 4)", "[2, 1]\n  map lanes to lanes(y: 4, x: 8)")), "W0380"),
    (replace(COMPUTED, flow="pipeline k stages 2 producer overlap"), "overlap"),
    (replace(COMPUTED, flow="pipeline k stages 2 producer overlap\n unroll k"), "overlap"),
], ids=["type", "rows", "cut otherwise", "overlap", "unrolled overlap"])  # fmt: skip
def test_refused(case: Case, why: str) -> None:
    with pytest.raises(WeftError) as found:
        launched(case)
    assert any(why in f"{d.code} {d.message} {d.hint}" for d in found.value.diagnostics), found.value.diagnostics


@pytest.fixture(scope="module")
def right() -> Made:
    return made(COMPUTED)


@pytest.fixture(scope="module")
def runs(right: Made) -> Runs:
    return Runs(right)


MUTANTS: dict[str, tuple[str, str, set[str], set[str]]] = {
    "registers exchanged": (r"(vector\.shuffle .*) \[0, 1, 2, 3\]", r"\1 [2, 3, 0, 1]", set(), {"values"}),
    "elements exchanged": (r"(vector\.shuffle .*) \[0, 1, 2, 3\]", r"\1 [1, 0, 2, 3]", set(), {"values"}),
    "in flight": (r"(mma .*%arg\w+ \{transposeB, waitGroup =) 0", r"\1 1", {"W0640"}, {"refused"}),
    "nobody waits for what the product reads": (
        r"(?s)(.*)\n[^\n]*try_wait[^\n]*\n(.*?private)", r"\1\n\2", {"W0667"}, {"in-flight", "uninitialized read"}),
}  # fmt: skip
"""What is edited; what the proof says, and the simulator."""


def edited(right: Made, pattern: str, new: str) -> str:
    text = re.sub(pattern, new, right.text, count=1)
    assert text != right.text, pattern
    return text


@pytest.mark.parametrize("name", MUTANTS if SOAK else ["elements exchanged", "nobody waits for what the product reads"])
def test_mutants(name: str, right: Made, runs: Runs) -> None:
    pattern, new, codes, found = MUTANTS[name]
    text = edited(right, pattern, new)
    proven = proof(text)
    assert proven & codes if codes else not proven, proven
    assert all(runs.simulated(text, order) & found for order in (("forward", 0) if SOAK else (0,))), runs.simulated(text)
    if found in ({"values"}, {"refused"}):
        assert runs.native(text) == found


@pytest.mark.parametrize("case", [COMPUTED, replace(COMPUTED, k=256)] if SOAK else [COMPUTED], ids=lambda case: f"k={case.k}")
def test_machine_code(case: Case) -> None:
    """The sums become the operand where they are: no spills, none in local memory, and no instruction waits for the one before."""
    text = emit(launched(case))
    done = compiled(text, "sm_90a")
    assert "C75" not in done.log and "warning" not in done.log and done.spill_bytes == 0
    code = whole(text, "twice", "sm_90a")
    assert code.by_mnemonic["HGMMA"] > 0 and code.local == 0
