"""A product whose operands come to shared memory by asynchronous copies, written by hand: a ring of tiles, filled ahead.

A block of 32 threads makes 4 x 8 elements of C; its tiles are 16 wide along k. Ragged edges are filled with zeros by the copies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from gpu_kernels import WORKGROUP

DTYPES = {"f32": np.float32, "f16": np.float16, "i32": np.int32}


@dataclass(frozen=True)
class Ring:
    """One such kernel, and what is wrong with it.

    Args:
        kind: the type of A and B; products are added in f32 (or i32).
        wide: bytes of a copy.
        m, n, k: sizes; the rows of A and B are `stride_a`, `stride_b` elements apart.
        stages: tiles of the ring; `parts`: those there is room for.
        pending: how many groups the wait in the loop leaves pending; None: there is no wait.
        barrier: one stands behind the wait.
        overwrites: each thread writes to A while its copies are under way.
    """

    kind: str = "f32"
    wide: int = 16
    m: int = 7
    n: int = 21
    k: int = 70
    stages: int = 3
    parts: int = 0
    pending: int | None = -1
    barrier: bool = True
    overwrites: bool = False

    @property
    def stride_a(self) -> int:
        return -(-self.k // 16) * 16

    @property
    def stride_b(self) -> int:
        return -(-self.n // 16) * 16

    @property
    def total(self) -> str:
        return "i32" if self.kind == "i32" else "f32"

    @property
    def grid(self) -> tuple[int, int, int]:
        return (-(-self.n // 8), -(-self.m // 4), 1)

    def arguments(self, seed: int = 0) -> list[np.ndarray]:
        """A, B and C; what no copy may read is out of all bounds."""
        random, dtype = np.random.default_rng(seed), np.dtype(DTYPES[self.kind])
        a = random.integers(-4, 5, (self.m, self.stride_a)).astype(dtype)
        b = random.integers(-4, 5, (self.k, self.stride_b)).astype(dtype)
        a[:, self.k :] = b[:, self.n :] = 99
        return [a, b, np.full((self.m, self.n), 77, np.int32 if self.kind == "i32" else np.float32)]

    def expected(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a[:, : self.k].astype(np.float64) @ b[:, : self.n].astype(np.float64)

    # ---- the text --------------------------------------------------------------------------------------------------

    def text(self) -> str:
        """The `gpu.module`'s body."""
        kind, total, parts, ahead = self.kind, self.total, self.parts or self.stages, self.stages - 1
        pending = self.stages - 2 if self.pending == -1 else self.pending
        dot = "i" if kind == "i32" else "f"
        widened = f"%xw = arith.extf %x : {kind} to f32\n %yw = arith.extf %y : {kind} to f32" if kind == "f16" else ""
        x, y = ("%xw", "%yw") if widened else ("%x", "%y")
        numbers = sorted({0, 1, 4, 8, 16, 32, self.m, self.n, self.k, parts, ahead, self._each, -(-self.k // 16)})
        constants = "\n".join(f"%c{n} = arith.constant {n} : index" for n in numbers)
        waits = "" if pending is None else f"nvgpu.device_async_wait %g {{numGroups = {pending} : i32}}"
        return f"""
gpu.func @ring(%A: {self._global("a")} {{weft.name = "A"}}, %B: {self._global("b")} {{weft.name = "B"}},
               %C: memref<{self.m}x{self.n}x{total}> {{weft.name = "C"}})
    workgroup(%As: {self._shared("a")}, %Bs: {self._shared("b")}) kernel attributes
    {{known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: {self.grid[0]}, {self.grid[1]}, 1>,
     workgroup_attrib_attrs = [{{weft.name = "A_shared"}}, {{weft.name = "B_shared"}}]}} {{
  {constants}
  %tx = gpu.thread_id x
  %bx = gpu.block_id x
  %by = gpu.block_id y
  %row = arith.divui %tx, %c8 : index
  %col = arith.remui %tx, %c8 : index
  %row0 = arith.muli %by, %c4 : index
  %col0 = arith.muli %bx, %c8 : index
  %none = nvgpu.device_async_create_group {{first}}
  %g0 = scf.for %t = %c0 to %c{ahead} step %c1 iter_args(%last = %none) -> (!nvgpu.device.async.token) {{
    {self._fill()}
    scf.yield %made : !nvgpu.device.async.token
  }}
  %zero = arith.constant {"0" if dot == "i" else "0.0"} : {total}
  %sum, %gn = scf.for %i = %c0 to %c{-(-self.k // 16)} step %c1 iter_args(%acc = %zero, %g = %g0)
      -> ({total}, !nvgpu.device.async.token) {{
    {waits}
    {"gpu.barrier" if self.barrier else ""}
    %now = arith.remui %i, %c{parts} : index
    %part = scf.for %j = %c0 to %c16 step %c1 iter_args(%s = %acc) -> {total} {{
      %x = memref.load %As[%now, %row, %j] : {self._shared("a")}
      %y = memref.load %Bs[%now, %j, %col] : {self._shared("b")}
      {widened}
      %p = arith.mul{dot} {x}, {y} : {total}
      %q = arith.add{dot} %s, %p : {total}
      scf.yield %q : {total}
    }}
    %t = arith.addi %i, %c{ahead} : index
    {self._fill()}
    {self._overwrite() if self.overwrites else ""}
    scf.yield %part, %made : {total}, !nvgpu.device.async.token
  }}
  %r = arith.addi %row0, %row : index
  %c = arith.addi %col0, %col : index
  %rin = arith.cmpi slt, %r, %c{self.m} : index
  %cin = arith.cmpi slt, %c, %c{self.n} : index
  %in = arith.andi %rin, %cin : i1
  scf.if %in {{ memref.store %sum, %C[%r, %c] : memref<{self.m}x{self.n}x{total}> }}
  gpu.return
}}"""

    def module(self) -> str:
        """With a host function that launches it."""
        types = {"A": self._global("a"), "B": self._global("b"), "C": f"memref<{self.m}x{self.n}x{self.total}>"}
        named = ", ".join(f'%{name}: {kind} {{weft.name = "{name}"}}' for name, kind in types.items())
        given = ", ".join(f"%{name}: {kind}" for name, kind in types.items())
        x, y, _ = self.grid
        return f"""module attributes {{gpu.container_module}} {{
gpu.module @kernels {{ {self.text()} }}
func.func @host({named}) {{
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %x = arith.constant {x} : index
  %y = arith.constant {y} : index
  gpu.launch_func @kernels::@ring blocks in (%x, %y, %c1) threads in (%c32, %c1, %c1) args({given})
  return
}} }}"""

    @property
    def _each(self) -> int:
        return self.wide // np.dtype(DTYPES[self.kind]).itemsize

    def _global(self, name: str) -> str:
        rows, stride = (self.m, self.stride_a) if name == "a" else (self.k, self.stride_b)
        return f"memref<{rows}x{stride}x{self.kind}>"

    def _shared(self, name: str) -> str:
        return f"memref<{self.parts or self.stages}x{'4x16' if name == 'a' else '16x8'}x{self.kind}, {WORKGROUP}>"

    def _fill(self) -> str:
        """The thread's copies of both operands' tile %t, as one group, %made."""
        each = self._each
        a = self._copies("a", 64 // each, 16 // each, "%row0", "%k0", self.m, self.k)
        b = self._copies("b", 128 // each, 8 // each, "%k0", "%col0", self.k, self.n)
        return f"""
    %k0 = arith.muli %t, %c16 : index
    %to = arith.remui %t, %c{self.parts or self.stages} : index
    {a}
    {b}
    %made = nvgpu.device_async_create_group {{next}}"""

    def _copies(self, name: str, count: int, row: int, first_row: str, first_col: str, rows: int, columns: int) -> str:
        """A tile of `count` copies, `row` to a row: elements behind `rows` and `columns` are zero."""
        each = self._each
        return f"""
    %count{name} = arith.constant {count} : index
    %in_row{name} = arith.constant {row} : index
    scf.for %n = %tx to %count{name} step %c32 {{
      %r = arith.divui %n, %in_row{name} : index
      %q = arith.remui %n, %in_row{name} : index
      %c = arith.muli %q, %c{each} : index
      %gr = arith.addi {first_row}, %r : index
      %gc = arith.addi {first_col}, %c : index
      %rest = affine.apply affine_map<(c) -> ({columns} - c)>(%gc)
      %less = arith.minsi %rest, %c{each} : index
      %some = arith.maxsi %less, %c0 : index
      %inside = arith.cmpi slt, %gr, %c{rows} : index
      %read = arith.select %inside, %some, %c0 : index
      %token = nvgpu.device_async_copy %{name.upper()}[%gr, %gc], %{name.upper()}s[%to, %r, %c], {each}, %read
        {"{bypassL1} " if self.wide == 16 else ""}: {self._global(name)} to {self._shared(name)}
    }}"""

    def _overwrite(self) -> str:
        one = "1" if self.kind == "i32" else "1.0"
        return f"""
    %one = arith.constant {one} : {self.kind}
    %behind = arith.addi %k0, %c1 : index
    %there = arith.cmpi slt, %behind, %c{self.k} : index
    scf.if %there {{
      memref.store %one, %A[%row0, %behind] : {self._global("a")}
    }}"""
