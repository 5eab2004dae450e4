"""Kernels of clusters as text, and their launches in a plan; barriers of some of a block's threads."""

from __future__ import annotations

import re

import numpy as np
import pytest
from contexts import one_context
from cuda_cases import emit_text
from native import run_native
from sass import compiled, resources, whole

from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir.mlir import parse
from weft.runtime.host.host import make_plan
from weft.runtime.plan.plan import Plan

KERNEL = """
!map = !nvgpu.tensormap.descriptor<tensor = memref<64x32xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none,
  oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!tile = memref<64x32xf32, #gpu.address_space<workgroup>>
module attributes {gpu.container_module} {
  func.func @shared_rows(%A: memref<GRID_ROWSx32xf32> {weft.name = "A"}, %B: memref<4xf32> {weft.name = "B"}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %blocks = GRID
    %c64 = arith.constant 64 : index
    %c32 = arith.constant 32 : index
    %u = memref.cast %A : memref<GRID_ROWSx32xf32> to memref<*xf32>
    %m = nvgpu.tma.create.descriptor %u box[%c64, %c32] : memref<*xf32> -> !map
    gpu.launch_func @m::@k clusters in (%CLUSTER, %c1, %c1) blocks in (%blocks, %c1, %c1) threads in (%c32, %c1, %c1)
      args(%m : !map, %B : memref<4xf32>)
    return
  }
  gpu.module @m {
    gpu.func @k(%map: !map {weft.name = "map"}, %B: memref<4xf32> {weft.name = "B"}) workgroup(%tile: !tile {weft.name = "tile"})
        kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %bytes = arith.constant 8192 : index
      %ticks = arith.constant 1000 : index
      %no = arith.constant false
      %both = arith.constant 3 : i16
      %rank0 = arith.constant 0 : i32
      %t = gpu.thread_id x
      %rank = gpu.cluster_block_id x
      %size = gpu.cluster_dim_blocks x
      %bar = nvgpu.mbarrier.create {weft.name = "full"} -> !bars
      %first = arith.cmpi eq, %t, %c0 : index
      nvgpu.mbarrier.init %bar[%c0], %size, predicate = %first : !bars
      nvvm.fence.mbarrier.init
      nvvm.cluster.arrive.relaxed
      nvvm.cluster.wait
      scf.if %first {
        nvgpu.mbarrier.arrive.expect_tx %bar[%c0], %bytes : !bars
        %leads = arith.cmpi eq, %rank, %c0 : index
        nvgpu.tma.async.load %map[%c0, %c0], %bar[%c0] to %tile multicast_mask = %both, predicate = %leads : !map, !bars -> !tile
        %address = nvgpu.mbarrier.get %bar[%c0] : !bars -> i32
        %here = llvm.inttoptr %address : i32 to !llvm.ptr<3>
        %there = nvvm.mapa %here, %rank0 : !llvm.ptr<3> -> !llvm.ptr<7>
        nvvm.mbarrier.arrive %there {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
        nvvm.mbarrier.arrive %here : !llvm.ptr<3>
      }
      nvgpu.mbarrier.try_wait.parity %bar[%c0], %no, %ticks : !bars
      %v = memref.load %tile[%t, %c0] : !tile
      memref.store %v, %B[%rank] : memref<4xf32>
      nvvm.cluster.arrive {aligned}
      nvvm.cluster.wait {aligned}
      gpu.return
    }
  }
}
"""


def module(blocks: str = "arith.constant 4 : index", cluster: str = "c2", rows: str = "64") -> str:
    return KERNEL.replace("GRID_ROWS", rows).replace("GRID", blocks).replace("CLUSTER", cluster)


def plan(text: str) -> Plan:
    return make_plan(parse(text, one_context()))


def test_the_text() -> None:
    text = emit_text(module())
    kernel = text[text.index('extern "C"') :]
    assert "void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(" in kernel
    assert "const int idx = bx % 2;" in kernel
    assert "if (idx == 0) load_box_2d_for(&tile[0][0], map, &full[0], 0, 0, (unsigned short)3);" in kernel
    found = re.findall(r"(barrier_arrive\w*|barrier_wait\w*|cluster_[a-z_]+[a-z])\(([^)]*)\)", kernel)
    assert found == [
        ("cluster_arrive_relaxed_each", ""), ("cluster_wait_each", ""), ("barrier_arrive_in", "&full[0], 0"),
        ("barrier_arrive", "&full[0]"), ("barrier_wait_in_cluster", "&full[0], false"), ("cluster_arrive", ""),
        ("cluster_wait", ""),
    ]  # fmt: skip


def relaxed_arrival() -> str:
    scope = "{scope = #nvvm.mem_scope<cluster>}"
    return emit_text(module().replace(scope, scope.replace("{", "{relaxed = true, ")))


def test_an_arrival_that_is_relaxed() -> None:
    text = relaxed_arrival()
    assert "  barrier_arrive_relaxed_in(&full[0], 0);" in text and "barrier_arrive_in" not in text
    fences = [whole(made, "k", "sm_90a").by_mnemonic["MEMBAR"] for made in (text, emit_text(module()))]
    assert fences[0] < fences[1]


def test_an_arrival_that_is_relaxed_compiles_with_all_of_cuda_12() -> None:
    """PTX ISA has no `mbarrier.arrive.relaxed` before 8.6, of CUDA 12.7; without a qualifier it is the same to the chip."""
    text = relaxed_arrival()
    plain, relaxed = (f"mbarrier.arrive{how}.shared::cluster.b64 _, [there];" for how in ("", ".relaxed.cluster"))
    assert plain in text and "mbarrier.arrive.relaxed" not in text
    assert compiled(text, "sm_90a").cubin == compiled(text.replace(plain, relaxed), "sm_90a").cubin


def test_the_machine_code() -> None:
    text = emit_text(module())
    counts = whole(text, "k", "sm_90a")
    assert resources(text, "k", "sm_90a").spill_bytes == 0 and "warning" not in compiled(text, "sm_90a").log
    assert counts.by_mnemonic["UCGABAR_ARV"] == counts.by_mnemonic["UCGABAR_WAIT"] == 2
    assert counts.by_mnemonic["UTMALDG"] == 1 and "mapa" in text and ".multicast::cluster" in text


def test_a_plan_is_of_whole_clusters() -> None:
    assert plan(module()).kernels[0].requires == "sm_90"
    open_ = plan(module("memref.dim %A, %c1 : memref<64x?xf32>").replace("64x32xf32>", "64x?xf32>").replace(
        "memref<64x?xf32, #gpu", "memref<64x32xf32, #gpu"))  # fmt: skip
    assert [(one.multiple, one.by) for one in open_.assumptions] == [(2, "")]


WRONG = {
    "W0737: .*3 blocks along x are not whole clusters of 2": ("arith.constant 3 : index", "c2", 2),
    r"W0737: known_cluster_size of @k is \[2, 1, 1\], the launch states \[1, 1, 1\]": ("arith.constant 4 : index", "c1", 2),
    "W0731: .*clusters of 16 blocks; a chip has room for 8": ("arith.constant 16 : index", "c16", 16),
}  # fmt: skip


@pytest.mark.parametrize("message", WRONG)
def test_clusters_that_there_are_not(message: str) -> None:
    blocks, cluster, size = WRONG[message]
    text = module(blocks, cluster).replace("%c1 = arith", "%c16 = arith.constant 16 : index\n    %c1 = arith", 1)
    with pytest.raises(WeftError, match=message):
        plan(text.replace("known_cluster_size = array<i32: 2", f"known_cluster_size = array<i32: {size}"))


def test_what_is_refused_of_clusters() -> None:
    with pytest.raises(WeftError, match=r"W0503: .*`gpu.cluster_block_id` in a kernel without a known cluster size"):
        emit_text(module().replace(", known_cluster_size = array<i32: 2, 1, 1>", ""))
    count = "%count = arith.constant 2 : i32\n        nvvm.mbarrier.arrive %here, %count : !llvm.ptr<3>"
    with pytest.raises(WeftError, match=r"W0503: .*`nvvm.mbarrier.arrive` at an address of another form"):
        emit_text(module().replace("nvvm.mbarrier.arrive %here : !llvm.ptr<3>", count))


NUMBERED = """gpu.module @m {
  gpu.func @k(%A: memref<128xf32> {weft.name = "A"}, %B: memref<128xf32> {weft.name = "B"})
      workgroup(%s: memref<128xf32, #gpu.address_space<workgroup>> {weft.name = "s"})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %n = arith.constant 64 : i32
    %one = arith.constant 1 : i32
    %t = gpu.thread_id x
    %half = arith.divui %t, %c64 : index
    %h = arith.index_cast %half : index to i32
    %number = arith.addi %h, %one : i32
    %v = memref.load %A[%t] : memref<128xf32>
    memref.store %v, %s[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    nvvm.barrier id = %number number_of_threads = %n
    %other = arith.xori %t, %c63 : index
    %w = memref.load %s[%other] : memref<128xf32, #gpu.address_space<workgroup>>
    memref.store %w, %B[%t] : memref<128xf32>
    gpu.return
  }
}"""


def test_barriers_with_numbers() -> None:
    text = emit_text(NUMBERED)
    assert "meet_at((int)(tx / 64) + 1, 64);" in text or "meet_at(tx / 64 + 1, 64);" in text
    assert whole(text, "k", "sm_80").barriers == 1
    a, b = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    for mode in ("fibers", "tsan"):
        found = run_native(text, "k", (1, 1, 1), (128, 1, 1), [a, b], mode)
        np.testing.assert_array_equal(b, np.concatenate([a[63::-1], a[:63:-1]]))
        assert not found.diverged and not found.races
    assert run_native(text.replace("meet_at(", "(void)("), "k", (1, 1, 1), (128, 1, 1), [a, b], "tsan").races
