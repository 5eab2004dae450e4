"""`promote-to-registers` of what a loop of the payload loads and stores: right by every witness, an element for each access of
memory; else refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from judged import Program, Sizes, codes, program, refusal
from judging import assert_barriers_needed, expect_right  # pyright: ignore[reportMissingImports]
from test_staged_loops import PRODUCT as STEPS

from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice


def right(made: Program, seed: int = 1) -> Program:
    expect_right(made.ready, seed, "", native=True)
    return made


def accesses(made: Program, buffer: str) -> tuple[int, int]:
    """How many elements of a buffer are loaded and stored, by all threads together."""
    inputs = random_inputs(functions.signature(made.ready.applied.payload, made.ready.plan.entry), 0)
    done = run_plan(made.ready.plan, SimDevice(), inputs, text=made.module)
    used = {use.kind: use.elements for _, use in done.traffic or () if use.buffer == buffer}
    return used.get("load", 0), used.get("store", 0)


PRODUCT = """\
func.func @f(%A: memref<{m}x{k}x{type}>, %B: memref<{k}x{n}x{type}>, %C: memref<{m}x{n}x{type}>) {{
  affine.for %i = 0 to {m} {{
    affine.for %j = 0 to {n} {{
      affine.for %l = 0 to {k} {{
        %a = affine.load %A[%i, %l] : memref<{m}x{k}x{type}>
        %b = affine.load %B[%l, %j] : memref<{k}x{n}x{type}>
        %c = affine.load %C[%i, %j] : memref<{m}x{n}x{type}>
        %p = arith.mul{f} %a, %b : {type}
        %s = arith.add{f} %c, %p : {type}
        affine.store %s, %C[%i, %j] : memref<{m}x{n}x{type}>
      }}
    }}
  }}
  return
}}
"""
IN_A_REGISTER = """\
let i = match affine.for #0
let l = match affine.for #2
{map}
promote-to-registers l.C
launch t"""
TILED = "let (t, one) = tile i [8, 4]\nmap t to blocks(y, x)\nmap one to threads(y, x)"


@pytest.mark.few()
@pytest.mark.parametrize("type", ["f32", "f64", "i32"])
@pytest.mark.parametrize("map", [TILED, "map i to grid(y, x)\nlet t = match scf.forall"])
def test_a_sum_in_a_register(map: str, type: str, tmp_path: Path) -> None:
    payload = PRODUCT.format(m=14, n=9, k=7, type=type, f="i" if type[0] == "i" else "f")
    made = right(program(tmp_path, payload, IN_A_REGISTER.format(map=map)))
    assert accesses(made, "C") == (14 * 9, 14 * 9)
    assert "C_tile += " in made.cuda and "C_tile[" not in made.cuda


SMALL_TILES = """\
#rows = affine_map<(i, u) -> (2 * i + u)>
#columns = affine_map<(j, v) -> (3 * j + v)>
func.func @f(%A: memref<12x5xf32>, %B: memref<5x9xf32>, %C: memref<12x9xf32>) {
  affine.for %i = 0 to 6 {
    affine.for %j = 0 to 3 {
      affine.for %l = 0 to 5 {
        affine.for %u = 0 to 2 {
          affine.for %v = 0 to 3 {
            %row = affine.apply #rows(%i, %u)
            %column = affine.apply #columns(%j, %v)
            %a = affine.load %A[%row, %l] : memref<12x5xf32>
            %b = affine.load %B[%l, %column] : memref<5x9xf32>
            %c = affine.load %C[%row, %column] : memref<12x9xf32>
            %p = arith.mulf %a, %b : f32
            %s = arith.addf %c, %p : f32
            affine.store %s, %C[%row, %column] : memref<12x9xf32>
          }
        }
      }
    }
  }
  return
}
"""


def test_a_tile_of_several_elements(tmp_path: Path) -> None:
    """Of the accumulator across the sum, of the operands for a step of it."""
    lines = """\
let i = match affine.for #0
let l = match affine.for #2
let u = match affine.for #3
let v = match affine.for #4
map i to grid(y, x)
promote-to-registers u.C across l
promote-to-registers u.A
promote-to-registers u.B
launch t"""
    made = right(program(tmp_path, SMALL_TILES, lines.replace("promote", "let t = match scf.forall\npromote", 1)))
    assert accesses(made, "C") == (12 * 9, 12 * 9)
    assert accesses(made, "A") == (12 * 5 * 3, 0) and accesses(made, "B") == (5 * 9 * 6, 0)
    assert "C_tile[2][3]" in made.cuda


UNROLLED = """\
func.func @f(%x: memref<40xf32>, %y: memref<40xf32>) {
  affine.for %i = 0 to 20 {
    affine.for %l = 0 to 4 {
      %a = affine.load %x[2 * %i] : memref<40xf32>
      %b = affine.load %x[2 * %i + 1] : memref<40xf32>
      %s = arith.addf %a, %b : f32
      affine.store %s, %x[2 * %i + 1] : memref<40xf32>
      affine.store %b, %x[2 * %i] : memref<40xf32>
    }
    %e = affine.load %x[2 * %i] : memref<40xf32>
    affine.store %e, %y[2 * %i] : memref<40xf32>
  }
  return
}
"""


def test_elements_by_constant_subscripts(tmp_path: Path) -> None:
    lines = "let i = match affine.for #0\nlet l = match affine.for #1\nmap i to grid(x)\nlet t = match scf.forall\n"
    made = right(program(tmp_path, UNROLLED, f"{lines}promote-to-registers l.x\nlaunch t"))
    assert accesses(made, "x") == (40 + 20, 40)


WINDOW = """\
func.func @f(%x: memref<{n}xf32>, %y: memref<{n}xf32>) {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  affine.for %i0 = 0 to {n} step 4 {{
    affine.for %u = 0 to min affine_map<(d) -> (4, {n} - d)>(%i0) {{
      %before = affine.apply affine_map<(d, e) -> (d + e - 1)>(%i0, %u)
      %in = arith.cmpi sge, %before, %c0 : index
      %s = scf.if %in -> f32 {{
        %a = memref.load %x[%before] : memref<{n}xf32>
        scf.yield %a : f32
      }} else {{
        scf.yield %zero : f32
      }}
      %b = affine.load %x[%i0 + %u] : memref<{n}xf32>
      %t = arith.subf %b, %s : f32
      affine.store %t, %y[%i0 + %u] : memref<{n}xf32>
    }}
  }}
  return
}}
"""


@pytest.mark.parametrize("n", [32, 31, 3])
def test_a_window_is_read_once(n: int, tmp_path: Path) -> None:
    """Elements that the buffer does not have are neither read nor written; what is written needs not be read."""
    lines = "let i = match affine.for #0\nlet u = match affine.for #1\nmap i to grid(x)\nlet t = match scf.forall\n"
    made = right(program(tmp_path, WINDOW.format(n=n), f"{lines}promote-to-registers u.x\npromote-to-registers u.y\nlaunch t"))
    assert accesses(made, "x") == (n + (n - 1) // 4, 0) and accesses(made, "y") == (0, n)


BLOCKED = """\
let tiles = match affine.for #0
let steps = match affine.for #2
let row = match affine.for #3
let column = match affine.for #4
map tiles to blocks(y, x)
map row to {row}
map column to {column}
promote-to-registers column.C across steps
let (a, copy_a) = promote-to-shared row.A
let (b, copy_b) = promote-to-shared row.B
map copy_a to threads(*) cyclic
map copy_b to threads(*) cyclic
insert-barriers
launch tiles"""


@pytest.mark.few()
@pytest.mark.parametrize("sizes", [(32, 16, 8), (30, 13, 7), (5, 3, 2)])
@pytest.mark.parametrize(("row", "column"), [("threads(y: 16)", "threads(x: 8)"), ("warps(x)", "lanes")])
def test_a_sum_of_each_thread_across_steps_that_threads_share(sizes: Sizes, row: str, column: str, tmp_path: Path) -> None:
    """The operands go through shared memory, step by step; what is summed up is read once and written once."""
    m, n, k = sizes
    made = right(program(tmp_path, STEPS.format(m=m, n=n, k=k), BLOCKED.format(row=row, column=column)))
    assert_barriers_needed(made.ready, 1, "")
    assert accesses(made, "C") == (m * n, m * n) and "C_tile += A_shared[" in made.cuda


def test_threads_with_several_tiles_are_refused(tmp_path: Path) -> None:
    said = refusal(tmp_path, STEPS.format(m=32, n=16, k=8), BLOCKED.format(row="threads(y: 8) cyclic", column="threads(x: 8)"))
    assert codes(said) == ["W0380"] and "several tiles" in said
