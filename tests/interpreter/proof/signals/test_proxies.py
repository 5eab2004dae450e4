"""What threads store themselves and tensor cores read: written, fenced, in front of a barrier; and loops over tiles."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hopper import Product
from persistent import persistent
from proven import expect_proven
from test_products import judged, said

from weft.dsl.diagnostics import WeftError

FENCE = "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}"
STAGED = f"""
!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero,
                                    interleave = none>
!matrix = !nvgpu.warpgroup.descriptor<tensor = memref<64x64xf16, 3>>
!sums = !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>
gpu.module @m {{
  gpu.func @f(%map: !map, %in: memref<4x64x64xf16>, %out: memref<128xf32>)
      workgroup(%a: memref<64x64xf16, 3>, %b: memref<64x64xf16, 3>)
      kernel attributes {{known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %rows = arith.constant 64 : index
    %t = gpu.thread_id x
    %zero = nvgpu.warpgroup.mma.init.accumulator -> !sums
    %last = scf.for %k = %c0 to %c4 step %c1 iter_args(%before = %zero) -> !sums {{
      scf.for %r = %c0 to %rows step %c1 {{
        %mine = arith.cmpi slt, %t, %c64 : index
        scf.if %mine {{
          %v = memref.load %in[%k, %r, %t] : memref<4x64x64xf16>
          memref.store %v, %a[%r, %t] : memref<64x64xf16, 3>
          memref.store %v, %b[%r, %t] : memref<64x64xf16, 3>
        }}
      }}
      {FENCE}
      gpu.barrier
      %x = nvgpu.warpgroup.generate.descriptor %a, %map : memref<64x64xf16, 3>, !map -> !matrix
      %y = nvgpu.warpgroup.generate.descriptor %b, %map : memref<64x64xf16, 3>, !map -> !matrix
      %next = nvgpu.warpgroup.mma %x, %y, %before {{waitGroup = 0 : i64}} : !matrix, !matrix, !sums -> !sums
      gpu.barrier {{second}}
      scf.yield %next : !sums
    }}
    gpu.return
  }}
}}
"""


def test_stores_fenced_in_front_of_a_barrier_are_proven() -> None:
    found = judged(STAGED)
    expect_proven(found)
    assert found.superfluous() == []


MISTAKES = {
    "no fence": (FENCE, "", "W0666"),
    "a fence of another memory": (FENCE, "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.global>}", "W0666"),
    "a fence of one thread": (FENCE, f"%one = arith.cmpi eq, %t, %c0 : index\nscf.if %one {{ {FENCE} }}", "W0666"),
    "no barrier": ("gpu.barrier\n", "\n", "W0667"),
    "no second barrier": ("gpu.barrier {second}", "", "W0667"),
    "rows that nobody stores": ("%rows = arith.constant 64", "%rows = arith.constant 56", "W0610"),
    "products in flight": ("waitGroup = 0", "waitGroup = 1", "W0667"),
    "half of a warp group": ("array<i32: 256, 1, 1>", "array<i32: 192, 1, 1>", "W0603"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_found(name: str) -> None:
    old, new, code = MISTAKES[name]
    assert old in STAGED
    try:
        found = said(STAGED.replace(old, new))
    except WeftError as error:
        found = list(error.diagnostics)
    assert code in [d.code for d in found], [(d.code, d.message) for d in found]


def test_a_fence_behind_the_barrier_is_too_late() -> None:
    late = STAGED.replace(FENCE, "").replace("gpu.barrier\n", f"gpu.barrier\n{FENCE}\n", 1)
    assert "W0666" in [d.code for d in said(late)]


TILES = {
    "whole laps": persistent(Product(k=1024), 3),
    "laps that run on from tile to tile": persistent(Product(k=1024, stages=3), 3),
    "one step each": persistent(Product(k=64, stages=2), 7),
    "one stage": persistent(Product(k=256, stages=1), 3),
    "as many tiles as the block says": persistent(
        Product(k=1024, stages=3), 0, "%two = arith.constant 2 : index\n%tiles = arith.addi %bx, %two : index\n"
    ),
    "a number of tiles that is known at run time": persistent(
        replace(Product(k=1024, stages=3), open_sizes=True), 0, "%tiles = memref.dim %C, %c0 : !C\n"
    ),
}


@pytest.mark.parametrize("name", TILES)
def test_rings_that_go_on_from_tile_to_tile_are_proven(name: str) -> None:
    found = judged(TILES[name])
    expect_proven(found)


@pytest.mark.parametrize("side", [0, 1])
def test_a_ring_that_begins_anew_with_each_tile_on_one_side_is_found(side: int) -> None:
    parts = TILES["laps that run on from tile to tile"].split("} else {")
    parts[side] = parts[side].replace("%lap = arith.divui %it", "%lap = arith.divui %k")
    assert "W0662" in [d.code for d in said("} else {".join(parts))]


def test_a_product_ends_for_all_threads_of_its_group() -> None:
    """Where there is one group, its next stores need no barrier behind the product."""
    alone = STAGED.replace("array<i32: 256, 1, 1>", "array<i32: 128, 1, 1>").replace("gpu.barrier {second}", "")
    expect_proven(judged(alone))
