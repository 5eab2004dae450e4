"""Products by tensor cores, written by hand: warps of a block hold fragments of a tile of C, operands come from shared memory.

    MatrixProduct("bf16", warps=(2, 1), tiles=(2, 2))    C tile: 2 warps, each of 2 x 2 instructions' tiles

Fragments of f16 and bf16 are loaded by `nvgpu.ldmatrix` (B transposed while it is loaded), others element by element.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod

import ml_dtypes
import numpy as np
from gpu_kernels import WORKGROUP

from weft.interpreter.hardware.ampere.fragments import PRODUCTS, TileProduct

DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "i8": np.int8, "i32": np.int32, "f64": np.float64}


def of(kind: str) -> TileProduct:
    """The largest instruction for a type."""
    return next(p for p in PRODUCTS if p.kind == kind)


@dataclass(frozen=True)
class MatrixProduct:
    """C = A B, of m x n x k, all multiples of the tiles.

    Args:
        product: the instruction.
        warps: of a block, along m and n.
        tiles: of a warp, along m and n.
        sizes: m, n, k.
        shift: added to the column that a lane takes from A, to the row that it takes from B (its column where matrices are loaded),
            and to the column of C.
        condition: makes `%some`, which the products in the loop stand under; `%warp` and `%lane` are there.
        barrier: one stands behind the products.
        pad: added to the rows of the tiles in shared memory.
    """

    product: TileProduct
    warps: tuple[int, int] = (2, 2)
    tiles: tuple[int, int] = (2, 4)
    sizes: tuple[int, int, int] = (64, 64, 64)
    shift: tuple[int, int, int] = (0, 0, 0)
    condition: str = ""
    barrier: bool = True
    pad: int = 8

    @property
    def kind(self) -> str:
        return "f32" if self.product.kind == "tf32" else self.product.kind

    @property
    def tile(self) -> tuple[int, int]:
        return (self.warps[0] * self.tiles[0] * self.product.m, self.warps[1] * self.tiles[1] * self.product.n)

    @property
    def threads(self) -> int:
        return 32 * prod(self.warps)

    @property
    def grid(self) -> tuple[int, int, int]:
        return (self.sizes[1] // self.tile[1], self.sizes[0] // self.tile[0], 1)

    @property
    def by_matrices(self) -> bool:
        return self.product.kind in ("f16", "bf16")

    def arguments(self, seed: int = 0, *, whole: bool = True) -> list[np.ndarray]:
        """A, B and C; `whole`: small integers, whose products and sums are exact in each type."""
        random, (m, n, k) = np.random.default_rng(seed), self.sizes
        made = [random.integers(-4, 5, s) if whole else random.standard_normal(s) for s in ((m, k), (k, n))]
        dtype = DTYPES[self.kind]
        return [*(x.astype(dtype) for x in made), np.full((m, n), 77, DTYPES[self.product.sum])]

    @staticmethod
    def expected(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a.astype(np.float64) @ b.astype(np.float64)

    # ---- the text --------------------------------------------------------------------------------------------------

    def text(self) -> str:
        """The `gpu.module`'s body."""
        (m, n, k), p, kind = self.sizes, self.product, self.kind
        (rows, columns), (mt, nt) = self.tile, self.tiles
        (ar, ae), (br, be), (cr, ce) = p.vectors
        acc = f"memref<{mt}x{nt}x{cr}x{ce}x{p.sum}>"
        c = f"vector<{cr}x{ce}x{p.sum}>"
        zero = "0" if p.sum == "i32" else "0.0"
        numbers = sorted({0, 1, 32, mt, nt, k, p.k, rows, columns, self.threads, *self.warps})
        constants = "\n".join(f"%c{number} = arith.constant {number} : index" for number in numbers)
        a_map, b_map = self._maps()
        types = f"(vector<{ar}x{ae}x{kind}>, vector<{br}x{be}x{kind}>, {c}) -> {c}"
        said = f"mmaShape = [{p.m}, {p.n}, {p.k}]{', tf32Enabled' if p.kind == 'tf32' else ''}"
        work = f"""
      scf.for %i = %c0 to %c{mt} step %c1 {{
        {self._fragment("a", ar, ae, a_map)}
        scf.for %j = %c0 to %c{nt} step %c1 {{
          {self._fragment("b", br, be, b_map)}
          %fc = vector.load %acc[%i, %j, %c0, %c0] : {acc}, {c}
          %d = nvgpu.mma.sync(%fa, %fb, %fc) {{{said}}} : {types}
          vector.store %d, %acc[%i, %j, %c0, %c0] : {acc}, {c}
        }} {{weft.unroll}}
      }} {{weft.unroll}}"""
        if self.condition:
            work = f"{self.condition}\n scf.if %some {{ {work} }}"
        stores = "\n".join(
            f"""%e{r}{e} = vector.extract %f[{r}, {e}] : {p.sum} from {c}
            %cr{r}{e} = affine.apply affine_map<(w, i, l) -> (w * {mt * p.m} + i * {p.m} + l floordiv 4 + {8 * r})>(%wm, %i, %lane)
            %cc{r}{e} = affine.apply affine_map<(w, j, l) -> (w * {nt * p.n} + j * {p.n} + (l mod 4) * 2 + {e + self.shift[2]})>
              (%wn, %j, %lane)
            %or{r}{e} = arith.addi %row0, %cr{r}{e} : index
            %oc{r}{e} = arith.addi %col0, %cc{r}{e} : index
            memref.store %e{r}{e}, %C[%or{r}{e}, %oc{r}{e}] : memref<{m}x{n}x{p.sum}>"""
            for r in range(cr) for e in range(ce)
        )  # fmt: skip
        return f"""
gpu.func @mm(%A: memref<{m}x{k}x{kind}> {{weft.name = "A"}}, %B: memref<{k}x{n}x{kind}> {{weft.name = "B"}},
             %C: memref<{m}x{n}x{p.sum}> {{weft.name = "C"}})
    workgroup(%As: {self._shared("a")}, %Bs: {self._shared("b")}) kernel attributes
    {{known_block_size = array<i32: {self.threads}, 1, 1>, known_grid_size = array<i32: {self.grid[0]}, {self.grid[1]}, 1>,
     workgroup_attrib_attrs = [{{weft.name = "A_shared"}}, {{weft.name = "B_shared"}}]}} {{
  {constants}
  %tx = gpu.thread_id x
  %bx = gpu.block_id x
  %by = gpu.block_id y
  %warp = arith.divui %tx, %c32 : index
  %lane = arith.remui %tx, %c32 : index
  %wm = arith.divui %warp, %c{self.warps[1]} : index
  %wn = arith.remui %warp, %c{self.warps[1]} : index
  %row0 = arith.muli %by, %c{rows} : index
  %col0 = arith.muli %bx, %c{columns} : index
  %acc = memref.alloca() : {acc}
  %nought = arith.constant dense<{zero}> : {c}
  scf.for %i = %c0 to %c{mt} step %c1 {{
    scf.for %j = %c0 to %c{nt} step %c1 {{
      vector.store %nought, %acc[%i, %j, %c0, %c0] : {acc}, {c}
    }} {{weft.unroll}}
  }} {{weft.unroll}}
  scf.for %k0 = %c0 to %c{k} step %c{p.k} {{
    {self._copy("a", rows, p.k, "%row0", "%k0")}
    {self._copy("b", p.k, columns, "%k0", "%col0")}
    gpu.barrier
    {work}
    {"gpu.barrier" if self.barrier else ""}
  }}
  scf.for %i = %c0 to %c{mt} step %c1 {{
    scf.for %j = %c0 to %c{nt} step %c1 {{
      %f = vector.load %acc[%i, %j, %c0, %c0] : {acc}, {c}
      {stores}
    }} {{weft.unroll}}
  }} {{weft.unroll}}
  gpu.return
}}"""

    def module(self) -> str:
        """With a host function that launches it."""
        (m, n, k), kind = self.sizes, self.kind
        types = {"A": f"memref<{m}x{k}x{kind}>", "B": f"memref<{k}x{n}x{kind}>", "C": f"memref<{m}x{n}x{self.product.sum}>"}
        named = ", ".join(f'%{name}: {kind} {{weft.name = "{name}"}}' for name, kind in types.items())
        given = ", ".join(f"%{name}: {kind}" for name, kind in types.items())
        x, y, _ = self.grid
        return f"""module attributes {{gpu.container_module}} {{
gpu.module @kernels {{ {self.text()} }}
func.func @host({named}) {{
  %c1 = arith.constant 1 : index
  %t = arith.constant {self.threads} : index
  %x = arith.constant {x} : index
  %y = arith.constant {y} : index
  gpu.launch_func @kernels::@mm blocks in (%x, %y, %c1) threads in (%t, %c1, %c1) args({given})
  return
}} }}"""

    def _maps(self) -> tuple[str, str]:
        """Where in the warp's tile of A and of B the element is that a lane loads, or the row that it names."""
        p, (mt, nt) = self.product, self.tiles
        if self.by_matrices:  # lane 8*t + r names row r of matrix t; matrices are in the order of the registers
            return (
                f"(w * {mt * p.m} + i * {p.m} + l mod 16, (l floordiv 16) * 8 mod {p.k})",
                f"(l mod {p.k}, w * {nt * p.n} + i * {p.n})",
            )
        return (
            f"(w * {mt * p.m} + i * {p.m} + l floordiv 4 + {{row}}, (l mod 4) * {p.each} + {{column}})",
            f"((l mod 4) * {p.each} + {{row}}, w * {nt * p.n} + i * {p.n} + l floordiv 4)",
        )

    def _fragment(self, name: str, registers: int, each: int, mapped: str) -> str:
        """`%fa` or `%fb`, of the instruction's tile %i or %j of the warp."""
        memory, big = self._shared(name), name.upper()
        warp, index = ("%wm", "%i") if name == "a" else ("%wn", "%j")
        vector, moved = f"vector<{registers}x{each}x{self.kind}>", self.shift["ab".index(name)]
        if self.by_matrices:
            lines = _applied(mapped.removesuffix(")") + f" + {moved})", name, "", warp, index)
            said = f"numTiles = {registers} : i32, transpose = {str(name == 'b').lower()}"
            return "\n".join([*lines, f"%f{name} = nvgpu.ldmatrix %{big}s[%f{name}r, %f{name}c] {{{said}}} : {memory} -> {vector}"])
        lines, parts, high = [], [], self.product.m // 8
        for r, e in product(range(registers), range(each)):
            if name == "a":
                here = mapped.format(row=8 * (r % high), column=e + 4 * each * (r // high) + moved)
            else:
                here = mapped.format(row=e + 4 * each * r + moved)
            lines += _applied(here, name, f"{r}_{e}", warp, index)
            parts.append(f"%f{name}v{r}_{e}")
            lines.append(f"{parts[-1]} = memref.load %{big}s[%f{name}r{r}_{e}, %f{name}c{r}_{e}] : {memory}")
        return "\n".join([*lines, f"%f{name} = vector.from_elements {', '.join(parts)} : {vector}"])

    def _shared(self, name: str) -> str:
        rows, columns = (self.tile[0], self.product.k) if name == "a" else (self.product.k, self.tile[1])
        return f"memref<{rows}x{columns + self.pad}x{self.kind}, {WORKGROUP}>"

    def _copy(self, name: str, rows: int, columns: int, first_row: str, first_column: str) -> str:
        (m, n, k), big = self.sizes, name.upper()
        assert rows * columns % self.threads == 0
        shape = f"{m}x{k}" if name == "a" else f"{k}x{n}"
        return f"""
    %n{name} = arith.constant {rows * columns} : index
    scf.for %e0 = %c0 to %n{name} step %c{self.threads} {{
      %e = arith.addi %e0, %tx : index
      %r = affine.apply affine_map<(e) -> (e floordiv {columns})>(%e)
      %c = affine.apply affine_map<(e) -> (e mod {columns})>(%e)
      %gr = arith.addi {first_row}, %r : index
      %gc = arith.addi {first_column}, %c : index
      %v = memref.load %{big}[%gr, %gc] : memref<{shape}x{self.kind}>
      memref.store %v, %{big}s[%r, %c] : {self._shared(name)}
    }}"""


def _applied(mapped: str, name: str, suffix: str, warp: str, index: str) -> list[str]:
    """Two ops of a map (row, column) in w, i and l."""
    row, column = mapped.removeprefix("(").removesuffix(")").split(", ")
    return [
        f"%f{name}{axis}{suffix} = affine.apply affine_map<(w, i, l) -> ({form})>({warp}, {index}, %lane)"
        for axis, form in (("r", row), ("c", column))
    ]
