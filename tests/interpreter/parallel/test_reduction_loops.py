"""Loops of the payload that carry numbers, shared by lanes and threads: right and proven, whatever is carried."""

from __future__ import annotations

import os
import random
from pathlib import Path

import numpy as np
import pytest
from judged import Program, codes, program, refusal
from proven import expect_no_assumption

from weft.pipeline import Choice, applied

SPMV = """\
func.func @spmv(%ptr: memref<101xi32>, %col: memref<900xi32>, %val: memref<900xf32>, %x: memref<64xf32>, %y: memref<100xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  scf.parallel (%i) = (%c0) to (%c100) step (%c1) {
    %i1 = arith.addi %i, %c1 : index
    %p = memref.load %ptr[%i] : memref<101xi32>
    %q = memref.load %ptr[%i1] : memref<101xi32>
    %lo = arith.index_cast %p : i32 to index
    %hi = arith.index_cast %q : i32 to index
    %s = scf.for %k = %lo to %hi step %c1 iter_args(%acc = %zero) -> (f32) {
      %a = memref.load %val[%k] : memref<900xf32>
      %c = memref.load %col[%k] : memref<900xi32>
      %j = arith.index_cast %c : i32 to index
      %b = memref.load %x[%j] : memref<64xf32>
      %m = arith.mulf %a, %b : f32
      %n = arith.addf %acc, %m : f32
      scf.yield %n : f32
    }
    memref.store %s, %y[%i] : memref<100xf32>
    scf.reduce
  }
  return
}
"""
SPARSE = "let rows = match scf.parallel\nlet sum = match scf.for\n"
IN_EIGHTS = f"{SPARSE}let (blocks, each) = tile rows [8]\nmap blocks to blocks(x)\n"
ROWS = {
    "a warp": f"{IN_EIGHTS}map each to warps(x)\nmap sum to lanes cyclic\nlaunch blocks",
    "four lanes": f"{IN_EIGHTS}map each to lanes(y: 8)\nmap sum to lanes(x: 4) cyclic\nlaunch blocks",
    "a row of threads": f"{IN_EIGHTS}map each to threads(y: 8)\nmap sum to threads(x: 4) cyclic\nlaunch blocks",
    "three warps": f"{IN_EIGHTS}map each to threads(y: 3) cyclic\nmap sum to threads(x: 96) cyclic\nlaunch blocks",
    "a block": f"{SPARSE}map rows to blocks(x)\nmap sum to threads(x: 64) cyclic\nlaunch rows",
}
"""Who has a row of a sparse matrix; 100 rows are no multiple of eight."""


def sparse() -> dict[str, np.ndarray]:
    """Rows without elements, with a few, and one with more than a warp has lanes; the last are beyond a tile's end."""
    r = np.random.default_rng(1)
    lengths = r.integers(0, 15, 100)
    lengths[[0, 50, 99]] = 0, 70, 33
    columns, values = r.integers(0, 64, 900).astype(np.int32), r.random(900, dtype=np.float32) - 0.5
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    assert starts[-1] <= 900
    return {"ptr": starts, "col": columns, "val": values, "x": r.random(64, dtype=np.float32), "y": np.zeros(100, np.float32)}


def assumed(made: Program) -> list[str]:
    """What is not proven of what the kernels combine; there is a verdict on each loop."""
    assert any(remark.startswith("combination proven: s") for remark in made.remarks), made.remarks
    return [remark for remark in made.remarks if remark.startswith("combination assumed")]


@pytest.mark.parametrize("who", ROWS)
def test_rows_of_a_sparse_matrix(who: str, tmp_path: Path) -> None:
    made = program(tmp_path, SPMV, ROWS[who])
    assert not made.wrong(sparse(), folder=tmp_path)
    expect_no_assumption(assumed(made))
    assert sum("·? iterations once" in remark for remark in made.remarks) == 1


def test_the_text_of_a_warp_per_row(tmp_path: Path) -> None:
    """Nothing but the row's range, its terms, five shuffles, and one store."""
    lines = [line.strip() for line in program(tmp_path, SPMV, ROWS["a warp"]).cuda.splitlines()]
    assert "part += val[idx3] * x[col[idx3]];" in lines and "for (long long i = lane; i < idx2; i += 32) {" in lines
    assert sum("__shfl_xor_sync" in line for line in lines) == 5 and not any("__sync" in line[:6] for line in lines)


# ---- what is carried -----------------------------------------------------------------------------------------------------------

LOOP = """\
func.func @f(%x: memref<20x100x{kind}>, %y: memref<20x{kind}>, %z: memref<20xi32>) {{
  %first = arith.constant {first} : {kind}
  %none = arith.constant 0 : i32
  affine.for %i = 0 to 20 {{
    {loop}
    affine.store %s, %y[%i] : memref<20x{kind}>
    {more}
  }}
  return
}}
"""
ONE = """%s = affine.for %k = {bounds} iter_args(%a = %first) -> ({kind}) {{
      %v = affine.load %x[%i, {at}] : memref<20x100x{kind}>
      {body}
      affine.yield %n : {kind}
    }}"""
BEST = """%s, %t = affine.for %k = 3 to 100 iter_args(%a = %first, %p = %none) -> ({kind}, i32) {{
      %v = affine.load %x[%i, %k] : memref<20x100x{kind}>
      %c = arith.cmpf olt, %v, %a : {kind}
      %j = arith.index_cast %k : index to i32
      %n = arith.select %c, %v, %a : {kind}
      %q = arith.select %c, %j, %p : i32
      affine.yield %n, %q : {kind}, i32
    }}"""
PLAIN = {"kind": "f32", "first": "0.0", "bounds": "0 to 100", "at": "%k", "body": "%n = arith.addf %a, %v : f32"}
CARRIED = {
    "a sum": PLAIN,
    "every third": PLAIN | {"bounds": "2 to 98 step 3", "at": "%k + 1"},
    "every second element": PLAIN | {"bounds": "1 to 40", "at": "2 * %k + 3"},
    "squares from seven on": PLAIN | {
        "first": "7.0", "body": "%m = arith.mulf %v, %v : f32\n%n = arith.addf %m, %a : f32",
    },
    "a term with its index": PLAIN | {
        "kind": "i32", "first": "5",
        "body": "%j = arith.index_cast %k : index to i32\n%m = arith.muli %v, %j : i32\n%n = arith.addi %m, %a : i32",
    },
    "a difference": PLAIN | {"kind": "f64", "body": "%n = arith.subf %a, %v : f64"},
    "the largest": PLAIN | {"kind": "f64", "first": "-1.0", "body": "%n = arith.maximumf %v, %a : f64"},
    "the smallest unsigned": PLAIN | {"kind": "i32", "first": "-1", "body": "%n = arith.minui %a, %v : i32"},
    "bits": PLAIN | {"kind": "i64", "first": "3", "body": "%n = arith.xori %a, %v : i64"},
    "from the end on": PLAIN | {"at": "99 - %k"},
    "each element twice": PLAIN | {"at": "%k floordiv 2"},
    "the same element": PLAIN | {"at": "7"},
    "up to the row": PLAIN | {"bounds": "affine_map<(d0) -> (d0)>(%i) to affine_map<(d0) -> (3 * d0 + 1)>(%i)"},
    "the smallest and its index": {"kind": "f32", "first": "0x7F800000"},
}  # fmt: skip
WAYS = {
    "lanes": "map rows to blocks(x)\nmap sum to lanes cyclic\nlaunch rows",
    "threads": "let (b, e) = tile rows [4]\nmap b to blocks(x)\nmap e to threads(y: 4)\n"
    "map sum to threads(x: 8) block-cyclic(2)\nlaunch b",
}


def carried(name: str) -> str:
    given = CARRIED[name]
    two = "bounds" not in given
    loop = (BEST if two else ONE).format(**given)
    return LOOP.format(**given, loop=loop, more="affine.store %t, %z[%i] : memref<20xi32>" if two else "")


@pytest.mark.parametrize("name", CARRIED)
def test_what_is_carried(name: str, tmp_path: Path) -> None:
    for way in WAYS.values():
        made = program(tmp_path, carried(name), f"let rows = match affine.for #0\nlet sum = match affine.for #1\n{way}")
        assert not made.wrong()
        expect_no_assumption(assumed(made))


PARALLEL = """\
func.func @f(%x: memref<8x10x20xi32>, %y: memref<8xi32>) {
  %one = arith.constant 1 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c10 = arith.constant 10 : index
  %c20 = arith.constant 20 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    %s = scf.parallel (%j, %k) = (%c1, %c0) to (%c10, %c20) step (%c2, %c1) init (%one) -> i32 {
      %v = memref.load %x[%i, %j, %k] : memref<8x10x20xi32>
      %w = arith.muli %v, %v : i32
      scf.reduce(%w : i32) {
      ^bb0(%p: i32, %q: i32):
        %t = arith.addi %p, %q : i32
        scf.reduce.return %t : i32
      }
    }
    memref.store %s, %y[%i] : memref<8xi32>
    scf.reduce
  }
  return
}
"""


def test_an_atomic_update_with_what_is_reduced(tmp_path: Path) -> None:
    """The first lane alone makes it."""
    update = "%old = memref.atomic_rmw addi %s, %y[%i] : (i32, memref<20xi32>) -> i32"
    text = carried("a term with its index").replace("affine.store %s, %y[%i] : memref<20xi32>", update)
    made = program(tmp_path, text, f"let rows = match parallel loop\nlet sum = match reduction loop\n{WAYS['lanes']}")
    assert not made.wrong() and "atomicAdd(" in made.cuda
    expect_no_assumption(assumed(made))


AFFINE_PARALLEL = """\
func.func @f(%x: memref<8x10x20xi32>, %y: memref<8xi32>) {
  affine.parallel (%i) = (0) to (8) {
    %s = affine.parallel (%j, %k) = (1, 0) to (10, 20) step (2, 1) reduce ("addi") -> (i32) {
      %v = affine.load %x[%i, %j, %k] : memref<8x10x20xi32>
      %w = arith.muli %v, %v : i32
      affine.yield %w : i32
    }
    affine.store %s, %y[%i] : memref<8xi32>
  }
  return
}
"""


@pytest.mark.parametrize(
    ("text", "space"),
    [
        (PARALLEL, "threads(x: 64) cyclic"), (PARALLEL, "threads(y: 2, x: 16) cyclic"), (PARALLEL, "lanes block"),
        (AFFINE_PARALLEL, "threads(x: 8) cyclic"),
    ],
)  # fmt: skip
def test_a_parallel_loop_that_reduces(text: str, space: str, tmp_path: Path) -> None:
    loops = "let rows = match parallel loop\nlet sum = match reduction loop in rows\n"
    made = program(tmp_path, text, f"{loops}map rows to blocks(x)\nmap sum to {space}\nlaunch rows")
    assert not made.wrong()
    expect_no_assumption(assumed(made))


NEST = """\
func.func @f(%x: memref<8x10x20xi32>, %w: memref<10xi32>, %y: memref<8xi32>) {
  %c5 = arith.constant 5 : i32
  affine.for %i = 0 to 8 {
    %s = affine.for %j = 1 to 10 iter_args(%a = %c5) -> (i32) {
      %u = affine.load %w[%j] : memref<10xi32>
      %r = arith.addi %u, %c5 : i32
      %t = affine.for %k = 0 to 20 step 3 iter_args(%b = %a) -> (i32) {
        %v = affine.load %x[%i, %j, %k] : memref<8x10x20xi32>
        %p = arith.muli %v, %r : i32
        %n = arith.addi %b, %p : i32
        affine.yield %n : i32
      }
      affine.yield %t : i32
    }
    affine.store %s, %y[%i] : memref<8xi32>
  }
  return
}
"""


@pytest.mark.parametrize("space", ["threads(y: 4, x: 8) cyclic", "lanes cyclic"])
def test_loops_that_go_on_with_what_is_carried(space: str, tmp_path: Path) -> None:
    """They are one reduction of several dimensions."""
    found = "let rows = match parallel loop\nlet sum = match reduction loop #0\n"
    made = program(tmp_path, NEST, f"{found}map rows to blocks(x)\nmap sum to {space}\nlaunch rows")
    assert not made.wrong() and any("each of 8·9·7 iterations once" in remark for remark in made.remarks)
    expect_no_assumption(assumed(made))


FIVE = "%r = arith.addi %u, %c5 : i32"


@pytest.mark.parametrize("new", ["%r = arith.addi %u, %a : i32", f"{FIVE}\naffine.store %a, %w[%j] : memref<10xi32>"])
def test_loops_that_do_more_with_what_is_carried(new: str, tmp_path: Path) -> None:
    text = NEST.replace(FIVE, new)
    said = refusal(tmp_path, text, "let sum = match affine.for #1\nmap sum to lanes cyclic")
    assert codes(said) == ["W0343"], said


TOTAL = """\
func.func @total(%x: memref<1000xi32>, %y: memref<2xi32>) {
  %c3 = arith.constant 3 : i32
  %s = affine.for %k = 4 to 1000 step 3 iter_args(%acc = %c3) -> (i32) {
    %v = affine.load %x[%k - 2] : memref<1000xi32>
    %n = arith.maxsi %v, %acc : i32
    affine.yield %n : i32
  }
  %t = arith.addi %s, %c3 : i32
  affine.store %t, %y[0] : memref<2xi32>
  affine.store %s, %y[1] : memref<2xi32>
  return
}
"""


def test_a_block_shares_a_loop_that_is_in_no_loop(tmp_path: Path) -> None:
    made = program(tmp_path, TOTAL, "let sum = match affine.for\nmap sum to threads(x: 256) cyclic\nlaunch sum")
    assert not made.wrong()
    expect_no_assumption(assumed(made))


TOPK = """\
func.func @topk(%x: memref<9x100xf32>, %val: memref<9x4xf32>, %idx: memref<9x4xi32>) {
  %least = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i32
  affine.for %i = 0 to 9 {
    affine.for %t = 0 to 4 {
      %s, %a = affine.for %j = 0 to 100 iter_args(%best = %least, %at = %none) -> (f32, i32) {
        %v = affine.load %x[%i, %j] : memref<9x100xf32>
        %g = arith.cmpf ogt, %v, %best : f32
        %k = arith.index_cast %j : index to i32
        %b1 = arith.select %g, %v, %best : f32
        %a1 = arith.select %g, %k, %at : i32
        affine.yield %b1, %a1 : f32, i32
      }
      affine.store %s, %val[%i, %t] : memref<9x4xf32>
      affine.store %a, %idx[%i, %t] : memref<9x4xi32>
      %p = arith.index_cast %a : i32 to index
      memref.store %least, %x[%i, %p] : memref<9x100xf32>
    }
  }
  return
}
"""


def test_the_largest_elements_of_each_row(tmp_path: Path) -> None:
    """A warp removes the largest element again and again: what its first lane stores, all lanes read, after a barrier."""
    found = "let rows = match parallel loop #0\nlet best = match reduction loop in rows\n"
    made = program(tmp_path, TOPK, f"{found}map rows to blocks(x)\nmap best to lanes cyclic\ninsert-barriers\nlaunch rows")
    assert not made.wrong() and made.cuda.count("__syncwarp(") == 2
    expect_no_assumption(assumed(made))
    said = refusal(tmp_path, TOPK, f"{found}map rows to blocks(x)\nmap best to lanes cyclic\nlaunch rows")
    assert codes(said)[0] == "W0601", said


SOFTMAX = """\
func.func @softmax(%x: memref<20x100xf32>, %y: memref<20x100xf32>) {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 20 {
    %s = affine.for %k = 0 to 100 iter_args(%a = %least) -> (f32) {
      %v = affine.load %x[%i, %k] : memref<20x100xf32>
      %n = arith.maximumf %a, %v : f32
      affine.yield %n : f32
    }
    %t = affine.for %k = 0 to 100 iter_args(%a = %zero) -> (f32) {
      %v = affine.load %x[%i, %k] : memref<20x100xf32>
      %d = arith.subf %v, %s : f32
      %e = math.exp %d : f32
      %n = arith.addf %a, %e : f32
      affine.yield %n : f32
    }
    affine.for %k = 0 to 100 {
      %v = affine.load %x[%i, %k] : memref<20x100xf32>
      %d = arith.subf %v, %s : f32
      %e = math.exp %d : f32
      %n = arith.divf %e, %t : f32
      affine.store %n, %y[%i, %k] : memref<20x100xf32>
    }
  }
  return
}
"""


@pytest.mark.parametrize("space", ["lanes cyclic", "threads(x: 64) cyclic"])
def test_a_loop_that_reads_what_another_has_reduced(space: str, tmp_path: Path) -> None:
    found = "let rows = match parallel loop #0\nlet ops = match* reduction loop\nlet row = match parallel loop #1\n"
    ways = f"map rows to blocks(x)\nforeach op in ops {{\n  map op to {space}\n}}\nmap row to {space}\ninsert-barriers\nlaunch rows"
    made = program(tmp_path, SOFTMAX, found + ways)
    assert not made.wrong()
    expect_no_assumption(assumed(made))


# ---- at random -----------------------------------------------------------------------------------------------------------------

SPACES = [
    "map rows to blocks(x)\nmap sum to lanes{how}\nlaunch rows",
    "map rows to blocks(x: 3) cyclic\nmap sum to threads(x: 64){how}\ninsert-barriers\nlaunch rows",
    "let (b, e) = tile rows [4]\nmap b to blocks(x)\nmap e to warps(x: 2) cyclic\nmap sum to lanes{how}\nlaunch b",
    "let (b, e) = tile rows [5]\nmap b to blocks(x)\nmap e to threads(y: 2) cyclic\nmap sum to threads(x: 16){how}\nlaunch b",
    "let (b, e) = tile rows [8]\nmap b to blocks(x)\nmap e to lanes(y: 4) cyclic\nmap sum to lanes(x: 8){how}\nlaunch b",
]
RANDOM = """\
func.func @f(%x: memref<{m}x70x{kind}>, %b: memref<{m}x{kind}>, %n: memref<{m}xi32>, %y: memref<{m}x{kind}>) {{
  %first = arith.constant {first} : {kind}
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c70 = arith.constant 70 : index
  %step = arith.constant {step} : index
  affine.for %i = 0 to {m} {{
    %w = affine.load %n[%i] : memref<{m}xi32>
    %data = arith.index_cast %w : i32 to index
    %begin = affine.load %b[%i] : memref<{m}x{kind}>
    %s = scf.for %k = %{low} to %{high} step %step iter_args(%a = %{init}) -> ({kind}) {{
      %j = affine.apply affine_map<(d0) -> ({at})>(%k)
      %v = memref.load %x[%i, %j] : memref<{m}x70x{kind}>
      %t = {term}
      %u = {combine}
      scf.yield %u : {kind}
    }}
    %r = arith.{add} %s, %begin : {kind}
    affine.store %r, %y[%i] : memref<{m}x{kind}>
  }}
  return
}}
"""


def at_random(r: random.Random) -> tuple[str, str]:
    kind = r.choice(["i32", "i64", "f64"])
    add, mul, largest = ("addf", "mulf", "maximumf") if kind == "f64" else ("addi", "muli", "maxsi")
    by = r.choice([add, add, largest, add.replace("add", "sub"), *([] if kind == "f64" else ["xori", "minui"])])
    operands = ["%a, %t", "%a, %t" if by.startswith("sub") else "%t, %a"]
    text = RANDOM.format(
        m=r.choice([2, 7, 12]), kind=kind, add=add, first="3" if kind != "f64" else "3.0", step=r.choice([1, 1, 2, 5]),
        low=r.choice(["c0", "c3", "i"]), high=r.choice(["c70", "data", "data"]), init=r.choice(["first", "begin"]),
        at=r.choice(["d0", "69 - d0", "d0 floordiv 2"]) if r.random() < 0.3 else "d0",
        term=r.choice([f"arith.{mul} %v, %v : {kind}", f"arith.{add} %v, %begin : {kind}"]),
        combine=f"arith.{by} {r.choice(operands)} : {kind}",
    )  # fmt: skip
    return text, r.choice(SPACES).format(how=r.choice([" cyclic", " cyclic", " block", " block-cyclic(3)"]))


@pytest.mark.parametrize("seed", range(300 if "WEFT_SOAK" in os.environ else 5))
def test_at_random(seed: int, tmp_path: Path) -> None:
    """Right by the simulator and by g++; what is only assumed has bounds from data, or from a row of lanes or threads."""
    text, ways = at_random(random.Random(seed))
    made = program(tmp_path, text, f"let rows = match loop #0\nlet sum = match reduction loop\n{ways}")
    numbers = np.random.default_rng(seed)
    m = int(text.split("memref<")[1].split("x")[0])
    dtype = {"i32": np.int32, "i64": np.int64, "f64": np.float64}[text.split("x70x")[1].split(">")[0]]
    some = {name: numbers.integers(-9, 9, shape).astype(dtype) for name, shape in (("x", (m, 70)), ("b", m), ("y", m))}
    inputs = some | {"n": numbers.integers(0, 71, m).astype(np.int32)}
    assert not made.wrong(inputs, folder=tmp_path) and not made.wrong(inputs, folder=tmp_path, native=True), f"{text}\n{ways}"
    if " block\n" not in ways and ("%k = %i" not in text or "(y" not in ways):
        expect_no_assumption(assumed(made))


# ---- found by structure --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "found"),
    [
        (SPMV, "parallel loop", 1), (SPMV, "reduction loop", 1), (SPMV, "loop", 2), (PARALLEL, "parallel loop", 1),
        (PARALLEL, "reduction loop", 1), (TOPK, "parallel loop", 1), (TOPK, "reduction loop", 1), (TOPK, "loop", 3),
        (TOTAL, "parallel loop", 0), (NEST, "reduction loop", 2),
    ],
)  # fmt: skip
def test_kinds_of_loops(text: str, kind: str, found: int, tmp_path: Path) -> None:
    (tmp_path / "p.mlir").write_text(text)
    (tmp_path / "s.weft").write_text(f'payload "p.mlir"\nschedule s() {{\n  let loops = match* {kind}\n}}')
    (step,) = applied(Choice(str(tmp_path / "s.weft")).open()).session.steps
    assert step.remarks == (f"{found} × {kind}",)


def test_a_miss_says_in_what_each_loop_differs(tmp_path: Path) -> None:
    said = refusal(tmp_path, carried("a sum").replace("arith.addf", "arith.divf"), "let sum = match reduction loop in @f")
    assert codes(said) == ["W0401"] and "it carries no numbers" in said and "not one associative operation" in said
    said = refusal(tmp_path, TOTAL, "let rows = match parallel loop")
    assert codes(said) == ["W0401"] and "hand values to each other" in said
    said = refusal(tmp_path, TOPK, "let rows = match parallel loop\nlet loop = match loop")
    assert codes(said) == ["W0403"] and "#2: affine.for" in said


# ---- refused -------------------------------------------------------------------------------------------------------------------

REFUSED = {
    "it stores": (
        "affine.store %n, %x[%i, %k] : memref<20x100xf32>\naffine.yield", "does more than read and compute", "affine.yield",
    ),
    "it is no combination": ("%n = arith.divf %a, %v", "not one associative operation", "%n = arith.addf %a, %v"),
    "it reads what is carried": (
        "%m = arith.mulf %a, %v : f32\n%n = arith.addf %a, %m", "not one associative operation", "%n = arith.addf %a, %v",
    ),
    "nothing is loaded": ("arith.constant 2.0 : f32", "nothing in it is loaded", "affine.load %x[%i, %k] : memref<20x100xf32>"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_loop_that_is_no_reduction(name: str, tmp_path: Path) -> None:
    new, why, old = REFUSED[name]
    text = carried("a sum")
    assert old in text
    said = refusal(
        tmp_path, text.replace(old, new), f"let rows = match affine.for #0\nlet sum = match affine.for #1\n{WAYS['lanes']}"
    )
    assert codes(said) == ["W0343"] and why in said, said


def test_blocks_do_not_share_a_loop(tmp_path: Path) -> None:
    said = refusal(tmp_path, carried("a sum"), "let sum = match affine.for #1\nmap sum to blocks(x: 4) cyclic")
    assert codes(said) == ["W0343"] and "do not combine" in said, said
