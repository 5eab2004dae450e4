"""Kernels of warp groups that count steps through tiles of sizes which only a run knows, and hand on nothing but turns."""

from __future__ import annotations

import numpy as np
from mutations import context

from weft.interpreter.ir import mlir
from weft.runtime.host.host import make_plan
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice
from weft.runtime.simulator.kernel import Order

ORDERS: list[Order] = ["forward", "reverse", 0]
RING, ONE = (f"<memorySpace = #gpu.address_space<workgroup>, num_barriers = {n}>" for n in (3, 1))
RINGS = ("full1", "empty1", "full2", "empty2")
ONCE = 3
"""How many barriers there are of one phase."""


def thread(group: int, number: int = 0) -> str:
    """Whether it is the first one of this warp of a warp group."""
    return f"%is{128 * group + 32 * number}"


def steps(who: str, *turns: tuple[str, str]) -> str:
    """A loop over the steps of a tile, by one thread: it waits for a phase of one ring, arrives in one of another, and so on."""
    body = ""
    for number, (waits, arrives) in enumerate(turns):
        odd = "before" if waits.startswith("empty") else "odd"
        body += f"""
            %at{number} = affine.apply #{odd}(%done, %i)
            %odd{number} = arith.cmpi ne, %at{number}, %c0 : index
            nvgpu.mbarrier.try_wait.parity %{waits}[%stage], %odd{number}, %ticks : {RING}
            %token{number} = nvgpu.mbarrier.arrive %{arrives}[%stage] : {RING} -> !nvgpu.mbarrier.token"""
    return f"""
        scf.if {who} {{
          %done = arith.muli %turn, %steps : index
          scf.for %i = %c0 to %steps step %c1 {{
            %stage = affine.apply #stage(%done, %i){body}
          }}
        }}"""


def tiles(*parts: str) -> str:
    return f"""
      scf.for %t = %block to %tiles step %c2 {{
        %turn = affine.apply #half(%t){"".join(parts)}
      }}"""


def meet(group: int) -> str:
    return f"\n      nvvm.barrier id = %id{group} number_of_threads = %many"


def told(who: str, number: int = 0) -> str:
    token = f"nvgpu.mbarrier.arrive %once{number}[%c0] : {ONE} -> !nvgpu.mbarrier.token"
    return f"\n      scf.if {who} {{\n        %told = {token}\n      }}"


def awaited(who: str, number: int = 0) -> str:
    return f"\n      scf.if {who} {{\n        nvgpu.mbarrier.try_wait.parity %once{number}[%c0], %false, %ticks : {ONE}\n      }}"


def roles(*groups: str) -> str:
    """The module."""
    once = [f"once{n}" for n in range(ONCE)]
    made = "".join(f"\n      %{name} = nvgpu.mbarrier.create -> {RING if name in RINGS else ONE}" for name in (*RINGS, *once))
    begun = "".join(f"\n          nvgpu.mbarrier.init %{name}[%i], %c1 : {RING}" for name in RINGS)
    begun += "\n        }" + "".join(f"\n        nvgpu.mbarrier.init %{name}[%c0], %c1 : {ONE}" for name in once)
    asked = "".join(
        f"\n      %n{n} = arith.constant {n} : index\n      %is{n} = arith.cmpi eq, %thread, %n{n} : index"
        for group in range(len(groups)) for n in (128 * group, 128 * group + 32)
    )  # fmt: skip
    asked += "".join(f"\n      %id{group} = arith.constant {group + 1} : i32" for group in range(len(groups)))
    body = groups[-1]
    for group, text in reversed(list(enumerate(groups[:-1]))):
        end = 128 * (group + 1)
        body = f"""
      %end{group} = arith.constant {end} : index
      %in{group} = arith.cmpi slt, %thread, %end{group} : index
      scf.if %in{group} {{{text}
      }} else {{{body}
      }}"""
    return f"""
#stage = affine_map<(d0, d1) -> ((d0 + d1) mod 3)>
#odd = affine_map<(d0, d1) -> (((d0 + d1) floordiv 3) mod 2)>
#before = affine_map<(d0, d1) -> (((d0 + d1) floordiv 3 + 1) mod 2)>
#half = affine_map<(d0) -> (d0 floordiv 2)>
module attributes {{gpu.container_module}} {{
  func.func @main(%sizes: memref<?x?xf32> {{weft.name = "sizes"}}) {{
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %all = arith.constant {128 * len(groups)} : index
    gpu.launch_func @kernels::@kernel blocks in (%c2, %c1, %c1) threads in (%all, %c1, %c1) args(%sizes : memref<?x?xf32>)
    return
  }}
  gpu.module @kernels {{
    gpu.func @kernel(%sizes: memref<?x?xf32>) kernel
        attributes {{known_block_size = array<i32: {128 * len(groups)}, 1, 1>, known_grid_size = array<i32: 2, 1, 1>}} {{
      %false = arith.constant false
      %many = arith.constant 128 : i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %ticks = arith.constant 10000000 : index
      %thread = gpu.thread_id x
      %block = gpu.block_id x
      %tiles = memref.dim %sizes, %c0 : memref<?x?xf32>
      %steps = memref.dim %sizes, %c1 : memref<?x?xf32>{asked}{made}
      scf.if {thread(0)} {{
        scf.for %i = %c0 to %c3 step %c1 {{{begun}
        nvvm.fence.mbarrier.init
      }}
      gpu.barrier{body}
      gpu.return
    }}
  }}
}}
"""


def simulated(text: str, tiles: int, steps: int) -> list[set[str]]:
    """What is found in runs in several orders."""
    plan, inputs = make_plan(mlir.parse(text, context())), {"sizes": np.zeros((tiles, steps), np.float32)}
    ran = [run_plan(plan, SimDevice(order=order), inputs, text=text) for order in ORDERS]
    return [{found.kind for found in (*(each.races or ()), *(each.faults or ()))} for each in ran]
