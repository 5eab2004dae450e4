"""Barriers with a number, at which a group of threads meets: each orders what its own group does, if no other one has it."""

from __future__ import annotations

import pytest
from proven import expect_proven
from test_products import judged, said

from weft.dsl.diagnostics import WeftError

KERNEL = """
module attributes {gpu.container_module} {
  func.func @host(%out: memref<256xf32>) {
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func @m::@f blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1) args(%out : memref<256xf32>)
    return
  }
  gpu.module @m {
    gpu.func @f(%out: memref<256xf32>) workgroup(%tile: memref<256xf32, 3>)
        kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c127 = arith.constant 127 : index
      %c128 = arith.constant 128 : index
      %many = arith.constant 128 : i32
      %value = arith.constant 1.0 : f32
      %t = gpu.thread_id x
      %group = arith.divui %t, %c128 : index
      %mine = arith.addi %group, %c1 : index
      %number = arith.index_cast %mine : index to i32
      %lane = arith.remui %t, %c128 : index
      %back = arith.subi %c127, %lane : index
      %start = arith.muli %group, %c128 : index
      %from = arith.addi %start, %back : index
      %first = arith.cmpi ult, %t, %c128 : index
      scf.for %i = %c0 to %c3 step %c1 {
        memref.store %value, %tile[%t] : memref<256xf32, 3>
        nvvm.barrier id = %number number_of_threads = %many
        %v = memref.load %tile[%from] : memref<256xf32, 3>
        memref.store %v, %out[%t] : memref<256xf32>
        nvvm.barrier id = %number number_of_threads = %many {second}
      }
      gpu.return
    }
  }
}
"""
"""Two groups of 128 threads; each writes a row and reads it backwards."""


def test_each_group_by_itself_is_proven() -> None:
    found = judged(KERNEL)
    expect_proven(found)


def test_one_group_alone() -> None:
    """A number that is the same for all is right where one group gets there."""
    alone = KERNEL.replace("scf.for %i", "scf.if %first {\n scf.for %i").replace(
        "      gpu.return", "      }\n      gpu.return"
    )
    alone = alone.replace("arith.addi %group, %c1", "arith.addi %c0, %c1")
    found = judged(alone)
    expect_proven(found)


MISTAKES = {
    "one number for two groups": ("arith.addi %group, %c1", "arith.addi %c0, %c1", "W0603"),
    "the block's own number": ("arith.addi %group, %c1", "arith.addi %group, %c0", "W0603"),
    "a number for each warp group, for both": ("arith.constant 128 : i32", "arith.constant 256 : i32", "W0603"),
    "half of a group": ("arith.constant 128 : i32", "arith.constant 64 : i32", "W0601"),
    "another group's elements": ("arith.subi %c127, %lane", "arith.subi %c128, %lane", "W0601"),
    "no barrier in front": ("nvvm.barrier id = %number number_of_threads = %many\n", "\n", "W0601"),
    "no barrier behind": ("nvvm.barrier id = %number number_of_threads = %many {second}", "", "W0601"),
    "not all of a group": ("scf.for %i = %c0 to %c3", "scf.for %i = %lane to %c3", "W0603"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_found(name: str) -> None:
    old, new, code = MISTAKES[name]
    assert old in KERNEL
    assert code in [d.code for d in said(KERNEL.replace(old, new, 1))]


BARRIER = "nvvm.barrier id = %number number_of_threads = %many"
ONE_ARM = f"%warp = arith.cmpi ult, %lane, %from : index\nscf.if %warp {{ {BARRIER} }}"
APART = {
    "two arms meet at one number": (ONE_ARM + f" else {{ {BARRIER} }}", True),
    "one arm alone": (ONE_ARM, False),
    "two arms, each with its number": (ONE_ARM + f" else {{ {BARRIER.replace('%number', '%another')} }}", False),
    "a part in each iteration": (ONE_ARM.replace("ult, %lane, %from", "eq, %lane, %i"), True),
    "two groups at one op": (ONE_ARM.replace("%number", "%c9"), True),
}


@pytest.mark.parametrize("name", APART)
def test_who_may_meet_elsewhere_is_not_known_to_be_missing(name: str) -> None:
    """The hardware counts who arrives at a number, at whichever op: that some threads of a group execute another one is
    no fact against them."""
    text, assumed = APART[name]
    constants = "%c9 = arith.constant 9 : i32\n%many = arith.constant"
    another = "%number = arith.index_cast %mine : index to i32\n%another = arith.addi %number, %c9 : i32"
    text = KERNEL.replace(f"{BARRIER} {{second}}", "").replace(BARRIER, text).replace("%many = arith.constant", constants)
    text = text.replace("%number = arith.index_cast %mine : index to i32", another)
    found = [d for d in said(text) if d.code == "W0603"]
    assert found and all(("may not reach" in d.message and "assumed" in d.message) == assumed for d in found), found
    assert all("group of 128 threads" in d.message and any("others may arrive" in n for n in d.notes) == assumed for d in found)


@pytest.mark.parametrize("plain", ["nvvm.barrier", "nvvm.barrier id = %zeroth"])
def test_without_a_number_of_threads_it_is_the_blocks_own(plain: str) -> None:
    text = KERNEL.replace("%t = gpu.thread_id x", "%zeroth = arith.constant 0 : i32\n%t = gpu.thread_id x", 1)
    text = text.replace("nvvm.barrier id = %number number_of_threads = %many", plain)
    expect_proven(judged(text))
    (missing,) = said(text.replace(f"{plain} {{second}}", ""))
    assert missing.code == "W0601" and "WAR" in missing.message
    first = "%c = arith.cmpi eq, %t, %c0 : index\nscf.if %c {"
    assert {d.code for d in said(text.replace(f"{plain} {{second}}", f"{first} {plain} }}"))} >= {"W0603"}
    with pytest.raises(WeftError, match="W0640"):
        judged(text.replace(plain, "nvvm.barrier id = %number"))
