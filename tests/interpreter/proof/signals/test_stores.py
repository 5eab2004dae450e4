"""Stores of the tensor memory accelerator: tiles are written, fenced, stored by a thread, and written again once they were read."""

from __future__ import annotations

import pytest
from proven import expect_proven
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
    expect_proven(found)


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
    expect_proven(found)


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


WAIT = "scf.if %first {{\n  nvvm.cp.async.bulk.wait_group {} {{read}}\n}}\n"


def of_tiles(
    *, pending: int = 0, buffers: int = 1, head: str = "", last: str = WAIT.format(0), parts: int = 3, turns: int = 1
) -> str:
    """A loop over tiles around that over parts, which waits in front of what it writes. `head`: in front of a tile's parts."""
    text = STORED.replace("512x32", "4096x32").replace("2x64x32", f"{buffers}x64x32")
    text = text.replace("arith.remui %i, %c2", "arith.remui %i, %buffers")
    text = text.replace("  nvvm.cp.async.bulk.wait_group 1 {read}\n", "").replace("gpu.barrier {second}", "")
    text = text.replace(f"}}\n      {LAST}", f"}} }} }}\n{last}")
    loops = f"scf.for %lap = %c0 to %c4 step %c1 {{\nscf.for %turn = %c0 to %turns step %c1 {{\n{head}scf.for %i = %c0 to %parts"
    text = text.replace("scf.for %i = %c0 to %c4", loops).replace("%half =", f"{WAIT.format(pending)}gpu.barrier\n%half =")
    rows = "affine.apply affine_map<(b, t, u) -> (b * 32 + t * 8 + u * 4)>(%bx, %lap, %turn)"
    text = text.replace("arith.muli %bx, %c4 : index", rows)
    sizes = {"buffers": buffers, "parts": parts, "turns": turns}
    constants = "".join(f"%{name} = arith.constant {size} : index\n" for name, size in sizes.items())
    return text.replace("%t = gpu", f"{constants}%t = gpu")


TILES = {
    "the next tile waits for the last part of one": of_tiles(),
    "of one part": of_tiles(parts=1),
    "two buffers": of_tiles(pending=1, buffers=2, head=WAIT.format(0)),
    "three buffers of which a tile takes two": of_tiles(pending=2, buffers=3, parts=2, head=WAIT.format(0)),
    "a loop between": of_tiles(turns=2, parts=2),
}
WRONG_TILES = {
    "nobody waits in the end": (of_tiles(last=""), "W0665"),
    "in the end for all but one": (of_tiles(last=WAIT.format(1)), "W0665"),
    "for all but one": (of_tiles(pending=1), "W0667"),
    "two buffers, of which the first is taken again": (of_tiles(pending=1, buffers=2), "W0667"),
    "a buffer too few": (of_tiles(pending=2, buffers=2, head=WAIT.format(0)), "W0667"),
    "a tile waits for all but one": (of_tiles(pending=1, buffers=2, head=WAIT.format(1)), "W0667"),
    "a tile waits behind its first part": (of_tiles(parts=1, pending=1, buffers=2), "W0667"),
}


@pytest.mark.parametrize("name", TILES)
def test_tiles_of_parts_are_proven(name: str) -> None:
    found = judged(TILES[name])
    expect_proven(found)


@pytest.mark.parametrize("name", WRONG_TILES)
def test_mistakes_between_tiles_are_found(name: str) -> None:
    text, code = WRONG_TILES[name]
    found = said(text)
    assert code in [d.code for d in found], [(d.code, d.message) for d in found]
