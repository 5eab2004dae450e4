"""Boxes of one tensor, loaded and stored, and what threads do to it and to the tiles: each pair in both orders, with what separates
it and without. Both witnesses agree with what the PTX ISA says (asynchronous proxy, bulk groups, memory barriers)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from contexts import one_context
from test_products import said

from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir import mlir
from weft.runtime.simulator.kernel import Order, SimKernel

TILE = "memref<64x32xf32, 3>"
WINDOWS = {"beside": "%v", "itself": "%u", "half of it": "%half", "behind it": "%behind", "a row before": "%early"}
ORDERS: tuple[Order, ...] = ("forward", 1)


@dataclass(frozen=True)
class Case:
    """What a block of 64 threads does.

    `codes`: what the proof finds; `kinds`: what the simulator finds. None of either: it is right.
    `%map` and `%g` are of a tensor of 512 x 32, `%map2`, of boxes of `rows` rows, of that, or of `window`.
    """

    body: str
    codes: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    window: str = "itself"
    rows: int = 64
    blocks: int = 1

    def text(self) -> str:
        tile2 = f"memref<{self.rows}x32xf32, 3>"
        window = "memref<64x32xf32, strided<[32, 1], offset: {}>>"
        parts = {"%half": 1024, "%behind": 2048, "%early": 2016}
        made = "\n".join(
            f"{name}_w = memref.reinterpret_cast %g to offset: [{at}], sizes: [64, 32], strides: [32, 1] :"
            f" memref<512x32xf32> to {window.format(at)}\n{name} = memref.cast {name}_w : {window.format(at)} to memref<*xf32>"
            for name, at in parts.items()
        )
        return f"""
!map = !nvgpu.tensormap.descriptor<tensor = {TILE}, swizzle = none, l2promo = none, oob = zero, interleave = none>
!map2 = !nvgpu.tensormap.descriptor<tensor = {tile2}, swizzle = none, l2promo = none, oob = zero, interleave = none>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 1>
module attributes {{gpu.container_module}} {{
  func.func @host(%g: memref<512x32xf32>, %other: memref<512x32xf32>) {{
    %c1 = arith.constant 1 : index
    %blocks = arith.constant {self.blocks} : index
    %rows = arith.constant {self.rows} : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %u = memref.cast %g : memref<512x32xf32> to memref<*xf32>
    %v = memref.cast %other : memref<512x32xf32> to memref<*xf32>
    {made}
    %map = nvgpu.tma.create.descriptor %u box[%c64, %c32] : memref<*xf32> -> !map
    %map2 = nvgpu.tma.create.descriptor {WINDOWS[self.window]} box[%rows, %c32] : memref<*xf32> -> !map2
    gpu.launch_func @m::@f blocks in (%blocks, %c1, %c1) threads in (%c64, %c1, %c1)
      args(%map : !map, %map2 : !map2, %g : memref<512x32xf32>)
    return
  }}
  gpu.module @m {{
    gpu.func @f(%map: !map, %map2: !map2, %g: memref<512x32xf32>) workgroup(%s: {TILE}, %r: {tile2})
        kernel attributes {{known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: {self.blocks}, 1, 1>}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      %c63 = arith.constant 63 : index
      %c64 = arith.constant 64 : index
      %bytes = arith.constant {self.rows * 128} : index
      %ticks = arith.constant 1000 : index
      %even = arith.constant false
      %x = arith.constant 1.0 : f32
      %t = gpu.thread_id x
      %b = gpu.block_id x
      %first = arith.cmpi eq, %t, %c0 : index
      %second = arith.cmpi eq, %t, %c1 : index
      %bars = nvgpu.mbarrier.create -> !bars
      scf.if %first {{
        nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
        nvvm.fence.mbarrier.init
      }}
      gpu.barrier
      scf.for %j = %c0 to %c32 step %c1 {{
        memref.store %x, %s[%t, %j] : {TILE}
      }}
      nvvm.fence.proxy {{kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}}
      gpu.barrier
      {self.body}
      gpu.return
    }}
  }}
}}
"""


def one(*ops: str, who: str = "first") -> str:
    """What a thread does alone."""
    return f"scf.if %{who} {{\n{''.join(ops)}\n}}\n"


def load(at: str = "%c0", rows: int = 64) -> str:
    tile = f"memref<{rows}x32xf32, 3>"
    return (
        "nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars\n"
        f"nvgpu.tma.async.load %map2[%c0, {at}], %bars[%c0] to %r : !map2, !bars -> {tile}\n"
    )


STORE = f"nvgpu.tma.async.store %s to %map[%c0, %c0] : {TILE} -> !map\nnvvm.cp.async.bulk.commit.group\n"
DONE, READ = "nvvm.cp.async.bulk.wait_group 0\n", "nvvm.cp.async.bulk.wait_group 0 {read}\n"
LOOK = "nvgpu.mbarrier.try_wait.parity %bars[%c0], %even, %ticks : !bars\n"
BARRIER, OWN = "gpu.barrier\n", "memref<512x32xf32>"
GET, PUT = f"%v = memref.load %g[%t, %c0] : {OWN}\n", f"memref.store %x, %g[%t, %c0] : {OWN}\n"
ADD = f"%v = memref.atomic_rmw addf %x, %g[%t, %c0] : (f32, {OWN}) -> f32\n"
USE = f"%v = memref.load %r[%t, %c0] : {TILE}\n"
AGAIN = f"memref.store %x, %s[%t, %c0] : {TILE}\n"
SHARED = "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}\n"
GLOBAL, ALL = (f"nvvm.fence.proxy {{kind = #nvvm.proxy_kind<{kind}>}}\n" for kind in ("async.global", "async"))
MEETS, FLIES = frozenset({"W0667"}), frozenset({"in-flight"})
UNFENCED, MISSING = frozenset({"W0666"}), frozenset({"missing proxy fence"})
BLOCKS = frozenset({"W0602"})

CASES = {
    "a store that is done, and a load": Case(one(STORE, DONE, load()) + LOOK),
    "a store that has read its tile, and a load": Case(one(STORE, READ, load()) + LOOK, MEETS, FLIES),
    "and a load of another tensor": Case(one(STORE, READ, load()) + LOOK, window="beside"),
    "and a load of the next box": Case(one(STORE, READ, load("%c64")) + LOOK),
    "and a load of a box that begins with its last row": Case(one(STORE, READ, load("%c63")) + LOOK, MEETS, FLIES),
    "and a load of a smaller box in it": Case(one(STORE, READ, load("%c32", 16)) + LOOK, MEETS, FLIES, rows=16),
    "and a load of a smaller box behind it": Case(one(STORE, READ, load("%c64", 16)) + LOOK, rows=16),
    "and a load of a window that it reaches into": Case(one(STORE, READ, load()) + LOOK, MEETS, FLIES, window="half of it"),
    "and a load of a window behind it": Case(one(STORE, READ, load()) + LOOK, window="behind it"),
    "and a load of a window that begins a row too early": Case(
        one(STORE, READ, load()) + LOOK, MEETS, FLIES, window="a row before"
    ),
    "a store that is done, and threads read": Case(one(STORE, DONE) + BARRIER + GET),
    "a store that has read its tile, and threads read": Case(one(STORE, READ) + BARRIER + GET, MEETS, FLIES),
    "a store that is done, and threads write": Case(one(STORE, DONE) + BARRIER + PUT),
    "a store on its way, and threads write": Case(one(STORE) + BARRIER + PUT + one(DONE), MEETS, FLIES),
    "a store that has read its tile, and threads write that": Case(one(STORE, READ) + BARRIER + AGAIN),
    "another thread waits for the store": Case(
        one(STORE) + one(DONE, who="second") + BARRIER + AGAIN + one(DONE), MEETS, FLIES
    ),
    "threads write, and a load": Case(PUT + BARRIER + one(load()) + LOOK, UNFENCED, MISSING),
    "threads write, a fence of shared memory, and a load": Case(PUT + SHARED + BARRIER + one(load()) + LOOK, UNFENCED, MISSING),
    "threads write, a fence behind the barrier, and a load": Case(PUT + BARRIER + GLOBAL + one(load()) + LOOK, UNFENCED, MISSING),
    "threads write, a fence, and a load": Case(PUT + GLOBAL + BARRIER + one(load()) + LOOK),
    "threads write, a fence of all, and a load": Case(PUT + ALL + BARRIER + one(load()) + LOOK),
    "threads add, and a load": Case(ADD + BARRIER + one(load()) + LOOK, UNFENCED, MISSING),
    "threads add, a fence, and a load": Case(ADD + GLOBAL + BARRIER + one(load()) + LOOK),
    "a load, and threads write": Case(one(load()) + LOOK + BARRIER + PUT),
    "a load on its way, and threads write": Case(one(load()) + PUT + LOOK, MEETS, FLIES),
    "a load that one thread waits for": Case(one(load(), LOOK) + USE, MEETS, FLIES),
    "a load that one thread waits for, in front of a barrier": Case(one(load(), LOOK) + BARRIER + USE),
    "two blocks store one box": Case(one(STORE, DONE), BLOCKS, FLIES, blocks=2),
}


@pytest.mark.parametrize("name", CASES)
def test_both_witnesses(name: str) -> None:
    case = CASES[name]
    text = case.text()
    found = {d.code for d in said(text)}
    assert found == case.codes, found
    module = mlir.parse(text, one_context())
    function = next(mlir.operations(module.operation, "gpu.func"))
    tensor, beside = (np.zeros((512, 32), np.float32) for _ in range(2))
    start = {"half of it": 32, "behind it": 64, "a row before": 63}.get(case.window)
    window = tensor[start : start + 64] if start is not None else beside if case.window == "beside" else tensor
    kinds: set[str] = set()
    for order in ORDERS:
        report = SimKernel(function).launch((case.blocks, 1, 1), (64, 1, 1), [tensor, window, tensor], order=order)
        kinds |= {race.kind for race in report.races} | {fault.kind for fault in report.faults}
    assert kinds == case.kinds, kinds


SWITCH = """%chosen = scf.index_switch %b -> f32
case 1 {{
  {}
  scf.yield %x : f32
}}
default {{
  scf.yield %x : f32
}}
memref.store %chosen, %s[%t, %c0] : memref<64x32xf32, 3>
"""


def test_a_switch_in_a_kernel_with_boxes() -> None:
    """The simulator runs one in which nothing waits for others, and refuses one in which something does."""
    module = mlir.parse(Case(one(STORE, DONE) + BARRIER + SWITCH.format("")).text(), one_context())
    function = next(mlir.operations(module.operation, "gpu.func"))
    report = SimKernel(function).launch((1, 1, 1), (64, 1, 1), [np.zeros((512, 32), np.float32)] * 3)
    assert not report.races and not report.faults
    waiting = mlir.parse(Case(SWITCH.format("gpu.barrier")).text(), one_context())
    with pytest.raises(WeftError, match="W0750"):
        SimKernel(next(mlir.operations(waiting.operation, "gpu.func")))
