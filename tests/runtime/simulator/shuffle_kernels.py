"""Kernels with shuffles, written by hand: lanes of two warps exchange what they have loaded, in each of the four modes.

    Shuffles("f16").module()      # of A, by offsets that are constant or read from O, of 32 lanes and of 8
    Shuffles("f32").expected(a, o)

A lane whose source is not in its group stores `ELSE` instead. `exchanging` makes kernels of other exchanges.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import ml_dtypes
import numpy as np

DTYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
          "f32": np.float32, "f64": np.float64}  # fmt: skip
MODES = ("xor", "up", "down", "idx")
THREADS = 64
ELSE = 99
OFFSETS = (3, None)
"""None: each lane has its own, in O."""
CASES = list(product(MODES, (32, 8), OFFSETS))


@dataclass(frozen=True)
class Shuffles:
    """B[i, t] is what thread t gets by the i-th of `CASES`.

    Args:
        kind: the type of the elements.
        condition: makes `%some`, which the shuffles stand under; `%warp`, `%lane` and `%tx` are there.
        block: the sizes of a block.
    """

    kind: str
    condition: str = ""
    block: tuple[int, int, int] = (THREADS, 1, 1)

    def arguments(self, seed: int = 0) -> list[np.ndarray]:
        """A, O and B; offsets are up to 40, and some would be negative if they had a sign."""
        random = np.random.default_rng(seed)
        offsets = random.integers(0, 41, THREADS).astype(np.int32)
        offsets[::7] = -1
        made = random.integers(-100, 100, THREADS).astype(DTYPES[self.kind])
        return [made, offsets, np.full((len(CASES), THREADS), ELSE).astype(DTYPES[self.kind])]

    @staticmethod
    def expected(a: np.ndarray, o: np.ndarray) -> np.ndarray:
        rows = []
        for mode, width, offset in CASES:
            row = []
            for t in range(THREADS):
                by, own = int(np.uint32(o[t])) if offset is None else offset, t % width
                source = {"xor": own ^ by, "up": own - by, "down": own + by, "idx": by}[mode]
                row.append(a[t - own + source] if 0 <= source < width else ELSE)
            rows.append(row)
        return np.array(rows).astype(a.dtype)

    def text(self) -> str:
        """The kernel."""
        kind, body = self.kind, []
        for number, (mode, width, offset) in enumerate(CASES):
            by = "%o" if offset is None else f"%w{offset}"
            body.append(f"""%g{number}, %ok{number} = gpu.shuffle {mode} %v, {by}, %w{width} : {kind}
              %s{number} = arith.select %ok{number}, %g{number}, %else : {kind}
              %i{number} = arith.constant {number} : index
              memref.store %s{number}, %B[%i{number}, %tid] : memref<{len(CASES)}x{THREADS}x{kind}>""")
        work = "\n".join(body)
        if self.condition:
            work = f"{self.condition}\nscf.if %some {{ {work} }}"
        sizes = ", ".join(map(str, self.block))
        return f"""gpu.func @k(%A: memref<{THREADS}x{kind}> {{weft.name = "A"}}, %O: memref<{THREADS}xi32> {{weft.name = "O"}},
            %B: memref<{len(CASES)}x{THREADS}x{kind}> {{weft.name = "B"}}) kernel attributes {{
            known_block_size = array<i32: {sizes}>, known_grid_size = array<i32: 1, 1, 1>}} {{
          %lane = gpu.lane_id
          %warp = gpu.subgroup_id : index
          %tx = gpu.thread_id x
          %c32 = arith.constant 32 : index
          %first = arith.muli %warp, %c32 : index
          %tid = arith.addi %first, %lane : index
          %w3 = arith.constant 3 : i32
          %w8 = arith.constant 8 : i32
          %w32 = arith.constant 32 : i32
          %else = arith.constant {ELSE}{"" if kind[0] == "i" else ".0"} : {kind}
          %v = memref.load %A[%tid] : memref<{THREADS}x{kind}>
          %o = memref.load %O[%tid] : memref<{THREADS}xi32>
          {work}
          gpu.return
        }}"""

    def module(self) -> str:
        """With a host function that launches it."""
        types = {"A": f"memref<{THREADS}x{self.kind}>", "O": f"memref<{THREADS}xi32>",
                 "B": f"memref<{len(CASES)}x{THREADS}x{self.kind}>"}  # fmt: skip
        named = ", ".join(f'%{name}: {kind} {{weft.name = "{name}"}}' for name, kind in types.items())
        given = ", ".join(f"%{name}: {kind}" for name, kind in types.items())
        sizes = "\n".join(f"%{axis} = arith.constant {size} : index" for axis, size in zip("xyz", self.block, strict=True))
        return f"""module attributes {{gpu.container_module}} {{
gpu.module @m {{ {self.text()} }}
func.func @host({named}) {{
  %c1 = arith.constant 1 : index
  {sizes}
  gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%x, %y, %z) args({given})
  return
}} }}"""


def exchanging(body: str, kind: str = "f32", threads: int = THREADS) -> str:
    """A module whose kernel makes `%r`, of B, of `%v`, of A; `%warp` and `%lane` are there."""
    types = f"memref<{threads}x{kind}>"
    return f"""module attributes {{gpu.container_module}} {{
gpu.module @m {{ gpu.func @k(%A: {types} {{weft.name = "A"}}, %B: {types} {{weft.name = "B"}}) kernel attributes {{
    known_block_size = array<i32: {threads}, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}} {{
  %lane = gpu.lane_id
  %warp = gpu.subgroup_id : index
  %tx = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %w1 = arith.constant 1 : i32
  %w32 = arith.constant 32 : i32
  %v = memref.load %A[%tx] : {types}
  {body}
  memref.store %r, %B[%tx] : {types}
  gpu.return
}} }}
func.func @host(%A: {types} {{weft.name = "A"}}, %B: {types} {{weft.name = "B"}}) {{
  %c1 = arith.constant 1 : index
  %t = arith.constant {threads} : index
  gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%t, %c1, %c1) args(%A: {types}, %B: {types})
  return
}} }}"""


BUTTERFLY = """%r, %d = scf.for %i = %c0 to {to} step %c1 iter_args(%s = %v, %o = %w1) -> (f32, i32) {{
    %g, %ok = gpu.shuffle xor %s, %o, %w32 : f32
    %n = arith.addf %s, %g : f32
    %p = arith.addi %o, %o : i32
    scf.yield %n, %p : f32, i32
  }}"""
