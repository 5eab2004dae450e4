"""`promote-to-shared` of what a loop of the payload loads: right, race-free, each element loaded once a tile; else refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from judged import codes, program, refusal

from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

PRODUCT = """\
func.func @f(%A: memref<{m}x{k}xf32>, %B: memref<{k}x{n}xf32>, %C: memref<{m}x{n}xf32>) {{
  affine.for %i0 = 0 to {m} step 16 {{
    affine.for %j0 = 0 to {n} step 8 {{
      affine.for %k0 = 0 to {k} step 4 {{
        affine.for %i = 0 to min affine_map<(d) -> (16, {m} - d)>(%i0) {{
          affine.for %j = 0 to min affine_map<(d) -> (8, {n} - d)>(%j0) {{
            affine.for %l = affine_map<(d) -> (d)>(%k0) to min affine_map<(d) -> (d + 4, {k})>(%k0) {{
              %a = affine.load %A[%i0 + %i, %l] : memref<{m}x{k}xf32>
              %b = affine.load %B[%l, %j0 + %j] : memref<{k}x{n}xf32>
              %c = affine.load %C[%i0 + %i, %j0 + %j] : memref<{m}x{n}xf32>
              %p = arith.mulf %a, %b : f32
              %s = arith.addf %c, %p : f32
              affine.store %s, %C[%i0 + %i, %j0 + %j] : memref<{m}x{n}xf32>
            }}
          }}
        }}
      }}
    }}
  }}
  return
}}
"""
STAGED = """\
let tiles = match affine.for #0
let row = match affine.for #3
let col = match affine.for #4
map tiles to blocks(y, x)
map row to threads(y: 16)
map col to threads(x: 8)
let (a, copy_a) = promote-to-shared row.A {options}
let (b, copy_b) = promote-to-shared row.B
map copy_a to threads(*) cyclic
map copy_b to threads(*) cyclic
insert-barriers
launch tiles"""


@pytest.mark.few(3)
@pytest.mark.parametrize("sizes", [(32, 16, 8), (30, 13, 7), (5, 3, 2)])
@pytest.mark.parametrize("options", ["", "pad 1", "transpose pad 1"])
def test_operands_of_a_product(sizes: tuple[int, int, int], options: str, tmp_path: Path) -> None:
    m, n, k = sizes
    made = program(tmp_path, PRODUCT.format(m=m, n=n, k=k), STAGED.format(options=options))
    assert not made.wrong() and not made.wrong(native=True)
    assert "A_shared" in made.cuda and "B_shared" in made.cuda
    inputs = random_inputs(functions.signature(made.ready.applied.payload, made.ready.plan.entry), 0)
    done = run_plan(made.ready.plan, SimDevice(), inputs, text=made.module)
    loads = {use.buffer: use.elements for _, use in done.traffic or () if use.kind == "load"}
    assert (loads["A"], loads["B"]) == (m * k * -(-n // 8), n * k * -(-m // 16))


STENCIL = """\
func.func @f(%x: memref<{size}xf32>, %y: memref<200xf32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %c32 = arith.constant 32 : index
  %last = arith.constant 199 : index
  scf.parallel (%i0) = (%c0) to (%c200) step (%c32) {{
    %left = arith.subi %c200, %i0 : index
    %n = arith.minsi %left, %c32 : index
    scf.for %i = %c0 to %c32 step %c1 {{
      %at = arith.addi %i0, %i : index
      %in = arith.cmpi slt, %at, %c200 : index
      scf.if %in {{
        %next = arith.addi %at, %c1 : index
        %back = arith.subi %last, %at : index
        %a = memref.load %x[{first}] : memref<{size}xf32>
        %b = memref.load %x[{second}] : memref<{size}xf32>
        %s = arith.subf %a, %b : f32
        memref.store %s, %y[%at] : memref<200xf32>
      }}
    }}
  }}
  return
}}
"""
LINES = """\
let tiles = match scf.parallel
let one = match scf.for
map tiles to blocks(x)
map one to threads(x)
let (s, copy) = promote-to-shared one.x
map copy to threads(*) cyclic
insert-barriers
launch tiles"""


@pytest.mark.parametrize(("first", "second", "shape"), [("%at", "%next", 33), ("%back", "%back", 32), ("%at", "%at", 32)])
def test_neighbours_forwards_and_backwards(first: str, second: str, shape: int, tmp_path: Path) -> None:
    made = program(tmp_path, STENCIL.format(size=201, first=first, second=second), LINES)
    assert not made.wrong() and not made.wrong(native=True)
    assert f"x_shared[{shape}]" in made.cuda


def test_two_places_without_a_distance_are_no_tile(tmp_path: Path) -> None:
    said = refusal(tmp_path, STENCIL.format(size=201, first="%at", second="%back"), LINES)
    assert codes(said) == ["W0468"] and "without a constant distance" in said


def test_loops_that_no_variable_counts_are_no_tile(tmp_path: Path) -> None:
    counted, inner = "scf.for %i = %c0 to %c32 step %c1 {", "scf.parallel (%i) = (%c0) to (%c32) step (%c1) {"
    text = STENCIL.format(size=201, first="%at", second="%at").replace(counted, f"scf.for %o = %c0 to %c1 step %c1 {{\n{inner}")
    text = text.replace("      }\n    }\n  }", "      }\n    }\n    }\n  }")
    lines = LINES.replace("match scf.parallel", "match scf.parallel #0").replace("map one to threads(x)\n", "")
    said = refusal(tmp_path, text, lines)
    assert codes(said) == ["W0468"] and "not affine in the loops' variables" in said


ROWS = """\
func.func @f(%x: memref<{size}xf32>, %y: memref<6x40xf32>) {{
  {loop} {{
    affine.for %t = 0 to 40 {{
      %a = affine.load %x[%r, %t] : memref<{size}xf32>
      %b = arith.addf %a, %a : f32
      affine.store %b, %x[%r, %t] : memref<{size}xf32>
    }}
    affine.for %t = 0 to 39 {{
      %a = affine.load %x[%r, %t] : memref<{size}xf32>
      %b = affine.load %x[%r, %t + 1] : memref<{size}xf32>
      %c = arith.mulf %a, %b : f32
      affine.store %c, %y[%r, %t] : memref<6x40xf32>
    }}
    affine.for %t = 0 to 20 {{
      %a = affine.load %x[%r, %t * 2] : memref<{size}xf32>
      %b = math.exp %a : f32
      affine.store %b, %y[%r, %t + 20] : memref<6x40xf32>
    }}
  }}
  return
}}
"""
STAGED_ROWS = """\
let rows = match {match}
let steps = match* affine.for in rows
map rows to blocks(x)
{before}
let (x, copy, merge) = promote-to-shared rows.x
map copy to threads(*) cyclic
map merge to threads(*) cyclic
{after}
insert-barriers
launch rows"""
OUTER = {"affine.for #0": "affine.for %r = 0 to 6", "affine.parallel": "affine.parallel (%r) = (0) to (6)"}


@pytest.mark.few(3)
@pytest.mark.parametrize("match", OUTER)
@pytest.mark.parametrize("mapped", ["before", "after"])
@pytest.mark.parametrize("size", ["6x40", "6x41"])
def test_what_all_loops_of_a_block_access_is_staged_once(match: str, mapped: str, size: str, tmp_path: Path) -> None:
    maps = {"before": "", "after": "", mapped: "map steps to threads(x: 40) cyclic"}
    text = ROWS.format(loop=OUTER[match], size=size)
    made = program(tmp_path, text, STAGED_ROWS.format(match=match, **maps))
    assert not made.wrong() and not made.wrong(native=True)
    assert "x_shared[" in made.cuda and "for (" not in made.cuda
    inputs = random_inputs(functions.signature(made.ready.applied.payload, made.ready.plan.entry), 0)
    done = run_plan(made.ready.plan, SimDevice(), inputs, text=made.module)
    moved = {(use.kind, use.elements) for _, use in done.traffic or () if use.buffer == "x"}
    assert moved == {("load", 240), ("store", 240)}
