"""Tensor maps in host functions stand for the buffers that they were made of: for orders, lifetimes and footprints."""

from __future__ import annotations

import pytest
from contexts import one_context

from weft.dsl.diagnostics import Source
from weft.interpreter.forking.forking import async_fork
from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir, operations
from weft.verify import verify_source

MODULE = """
!A = memref<64x16xf32>
!map = !nvgpu.tensormap.descriptor<tensor = memref<16x16xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
module attributes {gpu.container_module} {
  func.func @f(%A: !A {llvm.noalias}, %B: !A {llvm.noalias}, %out: memref<1x16xf32> {llvm.noalias}) {
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %u = memref.cast BUFFER : TYPE to memref<*xf32>
    %map = nvgpu.tma.create.descriptor %u box[%c16, %c16] : memref<*xf32> -> !map
    BODY
    return
  }
  gpu.module @k {
    gpu.func @fill(%x: !A) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %t = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %v = arith.constant 1.0 : f32
      memref.store %v, %x[%t, %c0] : !A
      gpu.return
    }
    gpu.func @use(%map: !map, %y: memref<1x16xf32>) workgroup(%tile: memref<16x16xf32, 3>)
        kernel attributes {known_block_size = array<i32: 16, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %row = arith.constant 0 : index
      %bytes = arith.constant 1024 : index
      %even = arith.constant false
      %t = gpu.thread_id x
      %full = nvgpu.mbarrier.create -> !bars
      %first = arith.cmpi eq, %t, %c0 : index
      scf.if %first {
        nvgpu.mbarrier.init %full[%c0], %c1 : !bars
        nvvm.fence.mbarrier.init
      }
      gpu.barrier
      scf.if %first {
        nvgpu.mbarrier.arrive.expect_tx %full[%c0], %bytes : !bars
        nvgpu.tma.async.load %map[%c0, %row], %full[%c0] to %tile : !map, !bars -> memref<16x16xf32, 3>
      }
      nvgpu.mbarrier.try_wait.parity %full[%c0], %even, %bytes : !bars
      %v = memref.load %tile[%c0, %t] : memref<16x16xf32, 3>
      memref.store %v, %y[%c0, %t] : memref<1x16xf32>
      gpu.return
    }
  }
}
"""
FILL = "gpu.launch_func {} @k::@fill blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args({} : !A)"
USE = "gpu.launch_func {} @k::@use blocks in (%c1, %c1, %c1) threads in (%c16, %c1, %c1) args(%map : !map, %out : memref<1x16xf32>)"


def module(*body: str, buffer: str = "%A") -> str:
    kind = "!A" if buffer in ("%A", "%B") else "memref<16x16xf32, strided<[16, 1], offset: 512>>"
    text = MODULE.replace("BODY", "\n    ".join(body)).replace("BUFFER", buffer).replace("TYPE", kind)
    cut = "%cut = memref.subview %A[32, 0] [16, 16] [1, 1] : !A to memref<16x16xf32, strided<[16, 1], offset: 512>>\n    %u ="
    return text.replace("%u =", cut) if buffer == "%cut" else text


def codes(text: str) -> list[str]:
    return [d.code for d in verify_source(Source("maps.mlir", text)).diagnostics]


def test_a_launch_that_loads_by_a_map_is_ordered_behind_who_writes() -> None:
    ordered = module("%s = " + FILL.format("async", "%A"), "%t = " + USE.format("async [%s]"), "gpu.wait [%t]")
    assert codes(ordered) == []
    alone = module("%s = " + FILL.format("async", "%A"), "%t = " + USE.format("async"), "gpu.wait [%s, %t]")
    assert codes(alone) == ["W0629"]
    other = module("%s = " + FILL.format("async", "%A"), "%t = " + USE.format("async"), "gpu.wait [%s, %t]", buffer="%B")
    assert codes(other) == []


def test_memory_is_not_freed_while_a_map_of_it_is_used() -> None:
    text = module("%t = " + USE.format("async"), "memref.dealloc %A : !A", "gpu.wait [%t]")
    assert "W0633" in codes(text)


@pytest.mark.parametrize(("buffer", "edges"), [("%A", True), ("%cut", True), ("%B", False)])
def test_forking_waits_for_the_buffer_behind_a_map(buffer: str, edges: bool) -> None:
    made = mlir.parse(module(FILL.format("", "%A"), USE.format(""), buffer=buffer), one_context())
    with made.context, ir.Location.unknown():
        async_fork(made)
    launches = list(operations(made.operation, "gpu.launch_func"))
    assert len(launches) == 2
    token = launches[0].results[0]
    behind = {use.owner.operation.name for use in token.uses}
    assert ("gpu.launch_func" in behind) == edges
