"""Arrivals that are relaxed tell others what is over, and nothing else: known to the proof, the simulator, the thread sanitizer."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from cluster_kernels import CLUSTER, RELEASING
from cluster_rings import ClusterRing
from cuda_cases import emit_text
from group_kernels import arguments, kernel
from native import NativeMap, run_native
from proven import expect_proven, expect_refuted
from signal_rings import TILE
from test_products import judged, said
from thinning import SOAK

from weft.runtime.plan.plan import Boxes
from weft.runtime.simulator.kernel import Order

ORDERS: list[Order] = ["forward", "reverse", 0, 1] if SOAK else ["reverse", 0]
SCOPE = "{scope = #nvvm.mem_scope<cluster>}"
RELAXED = SCOPE.replace("{", "{relaxed = true, ")
Space = Literal["shared", "global"]


def told(space: Space, how: str) -> str:
    """A thread of each block stores a number, and arrives at a barrier of its own block or of the other one; who waits there, reads
    it: the second thread of the block, or the one of the other block."""
    place, block, reader = ("%buf[%c0] : memref<1xf32, 3>", "%rank", "%c1") if space == "shared" else (
        "%given[%x] : memref<2xf32>", "%next", "%c0")  # fmt: skip
    there = place.replace("%x", "%y")
    return f"""
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @m {{
  gpu.func @f(%given: memref<2xf32>, %out: memref<2xf32>) workgroup(%buf: memref<1xf32, 3>)
      kernel attributes {{known_block_size = array<i32: 2, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>,
        known_grid_size = array<i32: 2, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ticks = arith.constant 1000 : index
    %even = arith.constant false
    %number = arith.constant 3.0 : f32
    %t = gpu.thread_id x
    %x = gpu.cluster_block_id x
    %y = arith.subi %c1, %x : index
    %rank = arith.index_cast %x : index to i32
    %next = arith.index_cast %y : index to i32
    %bar = nvgpu.mbarrier.create -> !bars
    %first = arith.cmpi eq, %t, %c0 : index
    %reads = arith.cmpi eq, %t, {reader} : index
    scf.if %first {{
      nvgpu.mbarrier.init %bar[%c0], %c1 : !bars
      nvvm.fence.mbarrier.init
    }}
    nvvm.cluster.arrive {{aligned}}
    nvvm.cluster.wait {{aligned}}
    scf.if %first {{
      memref.store %number, {place}
      %address = nvgpu.mbarrier.get %bar[%c0] : !bars -> i32
      %here = llvm.inttoptr %address : i32 to !llvm.ptr<3>
      %there = nvvm.mapa %here, {block} : !llvm.ptr<3> -> !llvm.ptr<7>
      nvvm.mbarrier.arrive %there {how} : !llvm.ptr<7>
    }}
    scf.if %reads {{
      nvgpu.mbarrier.try_wait.parity %bar[%c0], %even, %ticks : !bars
      %v = memref.load {there}
      memref.store %v, %out[%x] : memref<2xf32>
    }}
    nvvm.cluster.arrive {{aligned}}
    nvvm.cluster.wait {{aligned}}
    gpu.return
  }}
}}
"""


def numbers(*sizes: tuple[int, ...]) -> list[np.ndarray]:
    return [np.zeros(size, np.float32) for size in sizes]


@pytest.mark.parametrize("space", ["shared", "global"])
def test_an_ordinary_store_is_not_told(space: Space) -> None:
    for how in (SCOPE, RELAXED):
        text, wrong = told(space, how), how == RELAXED
        (expect_refuted if wrong else expect_proven)(judged(text))
        assert [d.code for d in said(text)] == ["W0601"] * wrong
        for order in ORDERS:
            report = kernel(text).launch((2, 1, 1), (2, 1, 1), numbers((2,), (2,)), order=order)
            assert {race.kind for race in report.races} == ({"RAW"} if wrong else set()) and not report.faults
        found = run_native(emit_text(text), "f", (2, 1, 1), (2, 1, 1), numbers((2,), (2,)), "tsan")
        assert bool(found.races) == wrong and not found.wrong


@pytest.mark.parametrize("stages", [1, 3])
def test_an_ordinary_read_is_not_over(stages: int) -> None:
    """Of a stage that is filled again; where none is, nothing can happen."""
    for relaxed, trips in ((False, 4), (True, 4), (True, stages)):
        ring, wrong = ClusterRing(2, stages, trips, relaxed=relaxed), relaxed and trips > stages
        text, shape = ring.text(), ((2, 1, 1), (2, 1, 1))
        (expect_refuted if wrong else expect_proven)(judged(text))
        for order in ORDERS:
            report = kernel(text).launch(*shape, numbers((TILE * (trips + 1),), ring.shape), order=order)
            assert bool(report.races) == wrong and not report.faults
        box, out = numbers((TILE * (trips + 1),), ring.shape)
        found = run_native(emit_text(text), "f", *shape, [NativeMap(box, Boxes((TILE,), 0)), out], "tsan")
        assert bool(found.races) == wrong and not found.wrong


SPEAKS, SEEN = "scf.if %speaks { %address0", "%seen = memref.load %sA[%s, %c0, %c0, %c0] : !allA"


def test_a_tile_of_products_that_a_thread_reads_as_well() -> None:
    """The one that arrives reads an element of it: products tell nothing of that."""
    for ring, wrong in ((RELEASING, False), (CLUSTER, True)):
        text = ring.text().replace(SPEAKS, f"scf.if %speaks {{ {SEEN}\n %address0")
        assert SEEN in text and judged(text).clean == (not wrong)
        for order in ORDERS:
            product = ring.product
            made, (grid, block) = kernel(text), ((product.n // product.bn, 1, 1), (128 * (product.consumers + 1), 1, 1))
            report = made.launch(grid, block, arguments(product), order=order)
            assert bool(report.races) == wrong and not report.faults
