"""Results that go to memory by tensor maps: written to shared memory by those that own them, fenced, and stored by one thread."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from executors import expect_computed
from native_device import NativeDevice

from weft.dsl.diagnostics import Source, WeftError
from weft.interpreter.ir.mlir import operations
from weft.interpreter.proof.kernels.kernels import kernel_uses, model_of
from weft.interpreter.proof.races.proof import Findings
from weft.payloads.payload import parse_payload
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host.functions import signature
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice
from weft.runtime.simulator.kernel import Order

PAYLOAD = """
func.func @layer(%A: tensor<{m}x{k}xbf16>, %B: tensor<{k}x{n}xbf16>, %bias: tensor<{n}xf32>) -> tensor<{m}x{n}x{out}> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{m}x{n}xf32>
  %place = tensor.empty() : tensor<{m}x{n}x{out}>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %C = linalg.matmul ins(%A, %B : tensor<{m}x{k}xbf16>, tensor<{k}x{n}xbf16>) outs(%init : tensor<{m}x{n}xf32>)
      -> tensor<{m}x{n}xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}}
      ins(%C, %bias : tensor<{m}x{n}xf32>, tensor<{n}xf32>) outs(%place : tensor<{m}x{n}x{out}>) {{
    ^bb0(%a: f32, %b: f32, %o: {out}):
      %s = arith.addf %a, %b : f32
      %x = arith.maximumf %s, %zero : f32
      {round}
      linalg.yield %y : {out}
  }} -> tensor<{m}x{n}x{out}>
  return %r : tensor<{m}x{n}x{out}>
}}
"""
"""A product, bias and ReLU, and a conversion."""


RING = "pipeline k stages {} producer registers 24"


@dataclass(frozen=True)
class Layer:
    """How a layer is stored: in parts of so many columns, `rows` at a time (0: the block's, by one thread)."""

    m: int = 200
    n: int = 160
    k: int = 72
    bm: int = 128
    bn: int = 64
    out: str = "bf16"
    width: int = 64
    rows: int = 64
    swizzle: str = "swizzle 128"
    tiles: str = "blocks(y, x)"
    pipeline: str = RING.format(2)
    barriers: str = "insert-barriers"
    take: str = "tma"
    turns: str = ""

    @property
    def payload(self) -> str:
        narrower = f"%y = arith.truncf %x : f32 to {self.out}"
        return PAYLOAD.format(
            m=self.m, n=self.n, k=self.k, out=self.out, round="%y = arith.addf %x, %zero : f32" if self.out == "f32" else narrower
        )

    @property
    def schedule(self) -> str:
        cut = f"let (stores, store) = tile taken [{self.rows}, _]\n map stores to warpgroups(y)\n map store to {self.take}"
        return f"""
        payload "x.mlir"
        schedule layer() {{
          let gemm = match linalg.matmul
          let init = match linalg.fill
          let relu = match linalg.generic
          let (tiles, relu_tile) = tile relu [{self.bm}, {self.bn}]
          fuse gemm into tiles
          fuse init into tiles
          map tiles to {self.tiles}
          let (parts, part) = tile relu_tile [_, {self.width}]
          map parts to registers
          let (c, taken) = promote-to-shared part.out0 {self.swizzle}
          {cut if self.rows else f"map taken to {self.take}"}

          let (k, step) = tile gemm [_, _, 64]
          let (a, copy_a) = promote-to-shared step.lhs swizzle 128
          let (b, copy_b) = promote-to-shared step.rhs swizzle 128
          map copy_a to tma
          map copy_b to tma
          let (groups, group_mm) = tile step [64, _]
          map groups to warpgroups(y)
          let product = mma group_mm [64, {self.bn}, 16]

          let (of_groups, of_group) = tile part [64, _]
          map of_groups to warpgroups(y)
          let (quarters, quarter) = tile of_group [16, _]
          map quarters to quarters
          let (columns, column) = tile quarter [16, 8]
          map columns to registers
          let (halves, half) = tile column [8, 8]
          map halves to registers
          let (pairs, pair) = tile half [1, 2]
          let lanes = coalesce pairs
          map lanes to lanes

          promote-to-registers product.acc across k
          vectorize pair
          {self.pipeline}
          {self.turns}
          {self.barriers}
          launch tiles {"" if self.barriers else "unproven"}
        }}"""

    def made(self, folder: Path) -> Planned:
        (folder / "x.mlir").write_text(self.payload)
        (folder / "case.weft").write_text(self.schedule)
        return planned(applied(Choice(str(folder / "case.weft")).open()))


def turns(buffers: int) -> str:
    return f"pipeline parts stages {buffers} async"


STAYING = "blocks(x: 3) cyclic"
RIGHT = {
    "bf16, each warp group by itself": Layer(),
    "f16, tiles that divide": Layer(m=256, n=128, out="f16"),
    "f32 in narrow panels": Layer(out="f32", width=32, swizzle="swizzle 32"),
    "f32 as a whole": Layer(out="f32", swizzle="swizzle 32", n=72),
    "a thread of the block": Layer(rows=0),
    "together": Layer(rows=0, pipeline=""),
    "ahead": Layer(pipeline="pipeline k stages 3 async"),
    "two parts": Layer(bn=128, m=136),
    "blocks that stay": Layer(m=300, n=264, bn=64, tiles="blocks(x: 3) cyclic order grouped(2)"),
    "blocks that stay, in parts": Layer(bn=128, tiles="blocks(x: 3) cyclic", rows=0),
    "no swizzle": Layer(swizzle="", out="f32", width=8),
    "two buffers in turn": Layer(bn=128, width=32, swizzle="swizzle 64", turns=turns(2)),
    "two buffers of f32 for three parts": Layer(n=264, bn=192, out="f32", swizzle="swizzle 32", turns=turns(2)),
    "three of four parts": Layer(bn=128, width=32, swizzle="swizzle 64", turns=turns(3)),
    "more buffers than parts": Layer(bn=128, turns=turns(4)),
    "one part": Layer(turns=turns(2)),
    "a thread of the block, two buffers": Layer(bn=128, width=32, swizzle="swizzle 64", rows=0, pipeline="", turns=turns(2)),
    "blocks that stay, two buffers": Layer(m=300, n=264, bn=128, width=32, swizzle="swizzle 64", tiles=STAYING, turns=turns(2)),
    "blocks that stay, two buffers of three parts": Layer(m=300, n=264, bn=192, tiles=STAYING, turns=turns(2)),
    "blocks that stay, three buffers of four": Layer(
        m=300, n=264, bn=128, width=32, swizzle="swizzle 64", tiles=STAYING, rows=0, turns=turns(3)),
    "blocks that stay, a buffer for each part": Layer(m=300, n=264, bn=128, tiles=STAYING, turns=turns(2)),
    "blocks that stay, ahead": Layer(bn=192, tiles=STAYING, pipeline="pipeline k stages 2 async", turns=turns(2)),
}


@pytest.mark.few(3)
@pytest.mark.parametrize("name", RIGHT)
def test_right_and_proven(name: str, tmp_path: Path) -> None:
    """On the simulator and as text: what is outside of the matrix is not stored, and no banks conflict under a swizzle."""
    case = RIGHT[name]
    done = case.made(tmp_path)
    payload = done.applied.payload
    arrays = random_inputs(signature(payload), 1)
    wanted = reference(payload, None, dict(arrays))
    for device in (SimDevice(), NativeDevice()):
        ran = run_plan(done.plan, device, arrays, text=done.cuda if device.wants == "cuda" else done.applied.located_text)
        assert not ran.races and not ran.faults
        if case.swizzle:
            assert not ran.banks or all(use.wavefronts == use.ideal for _, use in ran.banks)
        expect_computed(device, ran, signature(payload), wanted, rounded=done.plan.rounded)


SCOPES = {
    "each warp group stores its own rows": (Layer(bn=128), ["meet_at(tx / 128 + 1, 128);"] * 2),
    "one thread stores those of all that multiply": (Layer(bn=128, rows=0), ["meet_at(3, 256);"] * 2),
    "no producer": (Layer(bn=128, rows=0, pipeline=""), ["__syncthreads();"] * 3),
    "one part": (Layer(), ["meet_at(tx / 128 + 1, 128);"]),
    "two buffers": (Layer(bn=128, width=32, swizzle="swizzle 64", turns=turns(2)), ["meet_at(tx / 128 + 1, 128);"]),
    "blocks that stay, two buffers of two parts": (
        Layer(m=300, bn=128, tiles=STAYING, turns=turns(2)), ["meet_at(tx / 128 + 1, 128);"] * 2),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", SCOPES)
def test_barriers_have_the_least_scope(name: str, tmp_path: Path) -> None:
    """Behind the first one, of the memory barriers: as many as it takes, of the threads that wait for each other."""
    case, wanted = SCOPES[name]
    text = case.made(tmp_path).cuda.split('extern "C"')[1]
    lines = [re.sub(r"v\d+,", "tx / 128 + 1,", line.strip()) for line in text.splitlines()]
    assert [line for line in lines if line.startswith(("meet_at", "__syncthreads"))][1:] == wanted, text


MISTAKES = {
    "fence": ("nvvm.fence.proxy", 0, "W0666"),
    "first barrier": ("nvvm.barrier", 0, "W0667"),
    "second barrier": ("nvvm.barrier", 1, "W0667"),
    "wait before": ("nvvm.cp.async.bulk.wait_group", 0, "W0667"),
    "wait at the end": ("nvvm.cp.async.bulk.wait_group", 1, "W0665"),
    "group": ("nvvm.cp.async.bulk.commit.group", 0, "W0665"),
}


@cache
def stored_text(folder: Path) -> tuple[str, Planned]:
    done = Layer(bn=128, m=64, n=128).made(folder)
    return done.applied.located_text, done


@pytest.mark.parametrize("name", MISTAKES)
def test_what_is_left_out_is_found_by_proof_and_simulator(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    op, number, code = MISTAKES[name]
    text, done = stored_text(Path(tmp_path_factory.getbasetemp()))
    module = parse_payload(Source("launched.mlir", text))
    list(operations(module.operation, op))[number].erase()
    with module.context:
        module.operation.verify()
    (use,) = kernel_uses(module)
    found = Findings(model_of(use)).diagnostics()
    assert code in [d.code for d in found], found
    arrays = random_inputs(signature(done.applied.payload), 1)
    orders: tuple[Order, ...] = ("forward", "reverse", 0, 1, 2)
    reports = (run_plan(done.plan, SimDevice(order=order), arrays, text=str(module)) for order in orders)
    assert any(ran.races or ran.faults for ran in reports)


REFUSED = {
    "rows that no map has": (Layer(n=132), "W0405", "begin at multiples of 16 bytes"),
    "no rows of the tile": (Layer(swizzle="pad 8"), "W0405", "parts of rows of its tile"),
    "columns of the other order": (Layer(swizzle="transpose"), "W0405", "whole rows of a tile"),
    "without a barrier": (Layer(barriers="verify-sync"), "W066", ""),
    "two tiles in registers": (Layer(bn=128, turns="pipeline parts stages 2"), "W0366", "the accelerator makes"),
    "a producer of what goes out": (Layer(bn=128, turns="pipeline parts stages 2 producer"), "W0366", "threads that compute"),
    "buffers of two pipelines": (Layer(bn=128, turns=f"{turns(2)}\n{turns(2)}"), "W0389", "already"),
    "barriers that are there": (Layer(bn=128, turns=f"insert-barriers\n{turns(2)}"), "W0388", "already"),
    "more than a block's memory": (
        Layer(n=512, bn=256, width=32, out="f32", swizzle="swizzle 32", turns=turns(8), pipeline=RING.format(3)),
        "W0355", "at most"),
    "a loop of sums": (Layer(bn=128, turns="pipeline of_groups stages 2 async"), "W0374", "parallel"),
    "a distribution": (Layer(take="tma cyclic"), "W0349", "copied whole"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path) -> None:
    case, code, said = REFUSED[name]
    with pytest.raises(WeftError) as raised:
        case.made(tmp_path)
    found = raised.value.diagnostics[0]
    assert found.code.startswith(code) and said in found.message, str(found)
    assert found.hint
