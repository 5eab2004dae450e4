"""What orders the threads of warp groups: who arrives speaks for himself, and for those that he has met."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_kernels import WORKGROUP
from group_kernels import kernel

from weft.runtime.devices.report import LaunchReport
from weft.runtime.simulator.kernel import Order

ORDERS: list[Order] = ["forward", "reverse", 0, 1]
ALL_ARRIVE = "%said = nvgpu.mbarrier.arrive %empty[%c0] : !bars -> !nvgpu.mbarrier.token"
ONE_ARRIVES = f"scf.if %one {{ {ALL_ARRIVE} }}"
OF_WARPS = f"%lanes = arith.constant -1 : i32\n nvvm.bar.warp.sync %lanes : i32\n scf.if %speaks {{ {ALL_ARRIVE} }}"


def ring(release: str, arrivals: int, *, read: str = "%sA[%c0, %back] : !tile", after: str = "", blocks: str = "%bx") -> str:
    """Four boxes, one after the other through one tile: a group copies each to where it belongs, by ordinary accesses."""
    return f"""
!bars = !nvgpu.mbarrier.group<memorySpace = {WORKGROUP}, num_barriers = 1>
!tile = memref<1x128xf32, {WORKGROUP}>
!map = !nvgpu.tensormap.descriptor<tensor = !tile, swizzle = none, l2promo = none, oob = zero, interleave = none>
module {{ gpu.module @kernels {{
  gpu.func @f(%map: !map, %out: memref<2x4x128xf32> {{weft.name = "out"}}) workgroup(%sA: !tile {{weft.name = "tile"}}) kernel
      attributes {{known_block_size = array<i32: 256, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %bytes = arith.constant 512 : index
    %arrivals = arith.constant {arrivals} : index
    %ticks = arith.constant 10000000 : index
    %number = arith.constant 3 : i32
    %many = arith.constant 128 : i32
    %true = arith.constant true
    %t = gpu.thread_id x
    %bx = gpu.block_id x
    %full = nvgpu.mbarrier.create {{weft.name = "full"}} -> !bars
    %empty = nvgpu.mbarrier.create {{weft.name = "empty"}} -> !bars
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {{
      nvgpu.mbarrier.init %full[%c0], %c1 : !bars
      nvgpu.mbarrier.init %empty[%c0], %arrivals : !bars
      nvvm.fence.mbarrier.init
    }}
    gpu.barrier
    %loads = arith.cmpi ult, %t, %c128 : index
    scf.if %loads {{
      scf.if %first {{
        scf.for %k = %c0 to %c4 step %c1 {{
          %odd = arith.andi %k, %c1 : index
          %phase = arith.cmpi ne, %odd, %c0 : index
          %other = arith.xori %phase, %true : i1
          nvgpu.mbarrier.try_wait.parity %empty[%c0], %other, %ticks : !bars
          nvgpu.mbarrier.arrive.expect_tx %full[%c0], %bytes : !bars
          nvgpu.tma.async.load %map[%c0, %k], %full[%c0] to %sA : !map, !bars -> !tile
        }}
      }}
    }} else {{
      %lane = arith.subi %t, %c128 : index
      %back = arith.subi %c127, %lane : index
      %one = arith.cmpi eq, %lane, %c0 : index
      %of_warp = arith.remui %t, %c32 : index
      %speaks = arith.cmpi eq, %of_warp, %c0 : index
      scf.for %k = %c0 to %c4 step %c1 {{
        %odd = arith.andi %k, %c1 : index
        %phase = arith.cmpi ne, %odd, %c0 : index
        nvgpu.mbarrier.try_wait.parity %full[%c0], %phase, %ticks : !bars
        %v = memref.load {read}
        memref.store %v, %out[{blocks}, %k, %lane] : memref<2x4x128xf32>
        {release}
        {after}
      }}
    }}
    gpu.return
  }}
}} }}"""


def run(text: str, order: Order) -> tuple[LaunchReport, bool]:
    """The report, and whether each block has copied all."""
    source, out = np.arange(512, dtype=np.float32).reshape(4, 128), np.zeros((2, 4, 128), np.float32)
    report = kernel(text).launch((2, 1, 1), (256, 1, 1), [source, out], order=order)
    return report, np.array_equal(out, np.stack([source[:, ::-1]] * 2))


OF_GROUP = f"nvvm.barrier id = %number number_of_threads = %many\n {ONE_ARRIVES}"
RELEASES = {
    "one, behind a barrier of the group": (OF_GROUP, 1, set()),
    "all arrive": (ALL_ARRIVE, 128, set()), "one arrives": (ONE_ARRIVES, 1, {"WAR"}), "one of each warp": (OF_WARPS, 4, set()),
    "one of each warp that has not met": (OF_WARPS.replace("nvvm.bar.warp.sync %lanes : i32", ""), 4, {"WAR"}),
}  # fmt: skip


@pytest.mark.parametrize("name", RELEASES)
def test_who_arrives_speaks_for_those_that_he_has_met(name: str) -> None:
    release, arrivals, found = RELEASES[name]
    text = ring(release, arrivals)
    for order in ORDERS:
        report, right = run(text, order)
        assert {race.kind for race in report.races} == found and not report.faults
        assert right or found


def test_a_store_into_a_tile_that_comes_again() -> None:
    """What is written behind the release meets the next box."""
    text = ring(ALL_ARRIVE, 128, after="memref.store %v, %sA[%c0, %lane] : !tile")
    for order in ORDERS:
        report, _ = run(text, order)
        assert {race.kind for race in report.races} & {"in-flight", "WAW", "WAR"}


def test_blocks_that_write_the_same() -> None:
    report, _ = run(ring(ALL_ARRIVE, 128, blocks="%c0"), "forward")
    assert {(race.kind, race.buffer) for race in report.races} == {("WAW", "out")}
    (race, *_) = report.races
    assert {race.first.block, race.second.block} == {(0, 0, 0), (1, 0, 0)}  # type: ignore[union-attr]


def test_atomics_of_groups_do_not_race() -> None:
    text = ring(ALL_ARRIVE, 128, after="%a = memref.atomic_rmw addf %v, %out[%c0, %c0, %c0] : (f32, memref<2x4x128xf32>) -> f32")
    text = text.replace("memref.store %v, %out[%bx, %k, %lane] : memref<2x4x128xf32>", "")
    report, _ = run(text, 3)
    assert report.clean


def test_a_stage_that_nobody_waits_for() -> None:
    text = ring(ALL_ARRIVE, 128).replace("nvgpu.mbarrier.try_wait.parity %full[%c0], %phase, %ticks : !bars", "")
    for order in ORDERS:
        report, _ = run(text, order)
        assert {found.kind for found in (*report.races, *report.faults)} & {"in-flight", "uninitialized read"}


NUMBERED = {
    "too many": ("%many = arith.constant 128", "%many = arith.constant 96", "divergent barrier"),
    "too few": ("%many = arith.constant 128", "%many = arith.constant 256", "deadlock"),
    "no such barrier": ("%number = arith.constant 3", "%number = arith.constant 16", "divergent barrier"),
    "not of a whole warp": (OF_GROUP, f"scf.if %one {{ {OF_GROUP} }}", "divergent barrier"),
}


@pytest.mark.parametrize("name", NUMBERED)
def test_a_barrier_by_its_number_is_for_as_many_as_it_says(name: str) -> None:
    wrong, right, found = NUMBERED[name]
    text = ring(OF_GROUP, 1)
    assert text.count(wrong) == 1
    report, _ = run(text.replace(wrong, right), "forward")
    assert found in {fault.kind for fault in report.faults}
