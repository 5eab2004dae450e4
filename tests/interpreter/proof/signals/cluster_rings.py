"""Small random rings over the blocks of a cluster: in each a thread loads a part of every stage for all, and others read."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Literal

from signal_rings import TILE

APART = "gpu.barrier"
MEET = "nvvm.cluster.arrive {aligned}\n nvvm.cluster.wait {aligned}"
RELAXED = "nvvm.cluster.arrive.relaxed {aligned}\n nvvm.cluster.wait {aligned}"


@dataclass(frozen=True)
class ClusterRing:
    """A ring; each field beside the sizes that is not the default is a mistake, or harmless.

    Args:
        expect, into, look, read, release: what is added to the iteration for the number of a barrier or of a stage.
        odd_refill, odd_look: what is added to the parity.
        waits, looks: whether the ones that load wait for empty stages, the others for full ones.
        early: they arrive before they read; `relaxed`: and tell nothing of it.
        begin, end: how all meet before the ring, and behind it.
        to: at whose barriers those arrive that have read.
        mask: what is taken from the mask of all blocks, by `xor`.
        arrivals, bytes: what is added to the right ones.
    """

    blocks: int = 2
    stages: int = 2
    trips: int = 4
    readers: int = 1
    expect: int = 0
    into: int = 0
    look: int = 0
    read: int = 0
    release: int = 0
    odd_refill: int = 0
    odd_look: int = 0
    waits: bool = True
    looks: bool = True
    early: bool = False
    relaxed: bool = False
    begin: str = MEET
    end: str = MEET
    to: Literal["all", "own", "others", "nobody"] = "all"
    mask: int = 0
    arrivals: int = 0
    bytes: int = 0

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of the result: by block, iteration and thread."""
        return self.blocks, self.trips, self.readers + 1

    def text(self) -> str:
        """A module with the kernel."""
        elements = self.blocks * TILE
        numbers = {
            "c0": 0, "c1": 1, "c2": 2, "S": self.stages, "trips": self.trips, "ticks": 1000, "tile": TILE, "far": elements - 1,
            "count": self.readers * self.blocks + self.arrivals, "bytes": 4 * elements + self.bytes,
        }  # fmt: skip
        constants = "\n".join(f"%{name} = arith.constant {n} : index" for name, n in numbers.items())
        ranks = "\n".join(f"%rank{n} = arith.constant {n} : i32" for n in range(self.blocks))
        out = f"memref<{'x'.join(map(str, self.shape))}xf32>"
        return f"""
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = {self.stages}>
!map = !nvgpu.tensormap.descriptor<tensor = memref<{TILE}xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
gpu.module @m {{
  gpu.func @f(%map: !map, %out: {out}) workgroup(%buf: memref<{self.stages}x{elements}xf32, 3>)
      kernel attributes {{known_block_size = array<i32: {self.readers + 1}, 1, 1>,
        known_cluster_size = array<i32: {self.blocks}, 1, 1>, known_grid_size = array<i32: {self.blocks}, 1, 1>}} {{
    {constants}
    {ranks}
    %mask = arith.constant {(2**self.blocks - 1) ^ self.mask} : i16
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %rank = gpu.cluster_block_id x
    %part = arith.muli %rank, %tile : index
    %full = nvgpu.mbarrier.create -> !bars
    %empty = nvgpu.mbarrier.create -> !bars
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {{
      scf.for %i = %c0 to %S step %c1 {{
        nvgpu.mbarrier.init %full[%i], %c1 : !bars
        nvgpu.mbarrier.init %empty[%i], %count : !bars
      }}
      nvvm.fence.mbarrier.init
    }}
    {self.begin}
    scf.for %k = %c0 to %trips step %c1 {{
      scf.if %first {{ {self._fill()}
      }} else {{ {self._use(out)}
      }}
    }}
    {self.end}
    gpu.return
  }}
}}
"""

    def _number(self, name: str, shift: int) -> str:
        return f"""
        %{name}_d = arith.constant {shift} : index
        %{name}_k = arith.addi %k, %{name}_d : index
        %{name} = arith.remui %{name}_k, %S : index"""

    def _wait(self, group: str, name: str, shift: int, odd: int) -> str:
        return f"""{self._number(name, shift)}
        %{name}_lap = arith.divui %{name}_k, %S : index
        %{name}_o = arith.constant {odd} : index
        %{name}_n = arith.addi %{name}_lap, %{name}_o : index
        %{name}_p = arith.remui %{name}_n, %c2 : index
        %{name}_q = arith.cmpi ne, %{name}_p, %c0 : index
        nvgpu.mbarrier.try_wait.parity %{group}[%{name}], %{name}_q, %ticks : !bars"""

    def _fill(self) -> str:
        whole = f"memref<{self.stages}x{self.blocks * TILE}xf32, 3>"
        part = f"memref<{TILE}xf32, strided<[1], offset: ?>, 3>"
        wait = self._wait("empty", "w", 0, 1 + self.odd_refill) if self.waits else ""
        return f"""{wait}{self._number("e", self.expect)}
        nvgpu.mbarrier.arrive.expect_tx %full[%e], %bytes : !bars{self._number("l", 0)}{self._number("i", self.into)}
        %box = memref.subview %buf[%i, %part] [1, {TILE}] [1, 1] : {whole} to {part}
        nvgpu.tma.async.load %map[%k], %full[%l] to %box multicast_mask = %mask : !map, !bars -> {part}"""

    def _use(self, out: str) -> str:
        look = self._wait("full", "u", self.look, self.odd_look) if self.looks else ""
        buffer = f"memref<{self.stages}x{self.blocks * TILE}xf32, 3>"
        read = f"""{self._number("r", self.read)}
        %v = memref.load %buf[%r, %c0] : {buffer}
        %x = memref.load %buf[%r, %far] : {buffer}
        %sum = arith.addf %v, %x : f32
        memref.store %sum, %out[%b, %k, %t] : {out}"""
        arrive = self._number("a", self.release) + self._arrivals()
        return look + (arrive + read if self.early else read + arrive)

    def _arrivals(self) -> str:
        if self.to == "own":
            return "\n        %own = nvgpu.mbarrier.arrive %empty[%a] : !bars -> !nvgpu.mbarrier.token"
        return "" if self.to == "nobody" else "".join(map(self._arrival, range(self.blocks)))

    def _arrival(self, block: int) -> str:
        how = "relaxed = true, " if self.relaxed else ""
        there = f"nvvm.mbarrier.arrive %m{block} {{{how}scope = #nvvm.mem_scope<cluster>}} : !llvm.ptr<7>"
        if self.to == "others":
            there = f"""%n{block} = arith.constant {block} : index
        %other{block} = arith.cmpi ne, %rank, %n{block} : index
        scf.if %other{block} {{ {there} }}"""
        return f"""
        %g{block} = nvgpu.mbarrier.get %empty[%a] : !bars -> i32
        %h{block} = llvm.inttoptr %g{block} : i32 to !llvm.ptr<3>
        %m{block} = nvvm.mapa %h{block}, %rank{block} : !llvm.ptr<3> -> !llvm.ptr<7>
        {there}"""


def cluster_rings(r: random.Random) -> ClusterRing:
    """A random one: right, or with one or two mistakes."""
    right = ClusterRing(r.choice((2, 2, 4)), r.randint(1, 3), r.randint(1, 5), r.randint(1, 2))
    changes: dict[str, object] = {}
    for _ in range(r.choice((0, 1, 1, 2))):
        name = r.choice(["expect", "into", "look", "read", "release", "odd_refill", "odd_look", "waits", "looks", "early",
                         "relaxed", "begin", "end", "to", "mask", "arrivals", "bytes"])  # fmt: skip
        if name in ("waits", "looks", "early", "relaxed"):
            changes[name] = not getattr(right, name)
        elif name in ("begin", "end"):
            changes[name] = r.choice((APART, RELAXED))
        elif name == "to":
            changes[name] = r.choice(("own", "others", "nobody"))
        elif name == "mask":
            changes[name] = 1 << r.randrange(right.blocks)
        elif name in ("arrivals", "bytes"):
            changes[name] = r.choice((-1, 1)) * (1 if name == "arrivals" else 4 * TILE)
        else:
            changes[name] = 1
    found = replace(right, **changes)  # type: ignore[arg-type]
    return found if found.readers * found.blocks + found.arrivals > 0 else right
