"""Stores of the tensor memory accelerator: tiles are written, fenced, stored by a thread, and written again once they were read."""

from __future__ import annotations

import pytest
from test_products import judged, said

FENCE = "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}"
STORED = f"""
!map = !nvgpu.tensormap.descriptor<tensor = memref<64x32xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
module attributes {{gpu.container_module}} {{
  func.func @host(%out: memref<512x32xf32>) {{
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %u = memref.cast %out : memref<512x32xf32> to memref<*xf32>
    %map = nvgpu.tma.create.descriptor %u box[%c64, %c32] : memref<*xf32> -> !map
    gpu.launch_func @m::@f blocks in (%c2, %c1, %c1) threads in (%c64, %c1, %c1) args(%map : !map)
    return
  }}
  gpu.module @m {{
    gpu.func @f(%map: !map) workgroup(%tiles: memref<2x64x32xf32, 3>)
        kernel attributes {{known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %c32 = arith.constant 32 : index
      %c64 = arith.constant 64 : index
      %value = arith.constant 1.0 : f32
      %t = gpu.thread_id x
      %bx = gpu.block_id x
      %first = arith.cmpi eq, %t, %c0 : index
      scf.for %i = %c0 to %c4 step %c1 {{
        %half = arith.remui %i, %c2 : index
        scf.for %j = %c0 to %c32 step %c1 {{
          memref.store %value, %tiles[%half, %t, %j] : memref<2x64x32xf32, 3>
        }}
        {FENCE}
        gpu.barrier
        %at = arith.muli %bx, %c4 : index
        %number = arith.addi %at, %i : index
        %row = arith.muli %number, %c64 : index
        scf.if %first {{
          %tile = memref.subview %tiles[%half, 0, 0] [1, 64, 32] [1, 1, 1]
            : memref<2x64x32xf32, 3> to memref<64x32xf32, strided<[32, 1], offset: ?>, 3>
          nvgpu.tma.async.store %tile to %map[%c0, %row] : memref<64x32xf32, strided<[32, 1], offset: ?>, 3> -> !map
          nvvm.cp.async.bulk.commit.group
          nvvm.cp.async.bulk.wait_group 1 {{read}}
        }}
        gpu.barrier {{second}}
      }}
      scf.if %first {{
        nvvm.cp.async.bulk.wait_group 0 {{read}}
      }}
      gpu.return
    }}
  }}
}}
"""
LAST = "scf.if %first {\n        nvvm.cp.async.bulk.wait_group 0 {read}\n      }"


def test_two_tiles_in_turn_are_proven() -> None:
    found = judged(STORED)
    assert found.clean, found.diagnostics()


RIGHT = {
    "one tile, waited for at once": (("arith.remui %i, %c2", "arith.remui %i, %c1"), ("wait_group 1", "wait_group 0")),
    "a wait for all that is done": (("wait_group 1 {read}", "wait_group 0"), (LAST, "")),
}


@pytest.mark.parametrize("name", RIGHT)
def test_other_right_ones_are_proven(name: str) -> None:
    text = STORED
    for old, new in RIGHT[name]:
        assert old in text
        text = text.replace(old, new)
    found = judged(text)
    assert found.clean, found.diagnostics()


MISTAKES = {
    "no fence": (FENCE, "", "W0666"),
    "no barrier in front": ("gpu.barrier\n", "\n", "W0667"),
    "no barrier behind": ("gpu.barrier {second}", "", "W0667"),
    "one more group may pend": ("wait_group 1", "wait_group 2", "W0667"),
    "one tile": ("%half = arith.remui %i, %c2", "%half = arith.remui %i, %c1", "W0667"),
    "no wait at the end": (LAST, "", "W0665"),
    "no group": ("nvvm.cp.async.bulk.commit.group", "", "W0665"),
    "rows of another block": ("%at = arith.muli %bx, %c4", "%at = arith.muli %bx, %c2", "W0602"),
    "all threads store": ("arith.cmpi eq, %t, %c0", "arith.cmpi sge, %t, %c0", "W0667"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_found(name: str) -> None:
    old, new, code = MISTAKES[name]
    assert old in STORED
    found = said(STORED.replace(old, new, 1))
    assert code in [d.code for d in found], [(d.code, d.message) for d in found]
