"""Combination proofs by class: windows, coalesced loops, reshapes, several launches, loops of the host."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from proven import expect_no_assumption

import weft
from weft import cli, compiled
from weft.pipeline import Choice, applied

POOLING = """
func.func @pool(%x: tensor<2x9x9x3xf32>) -> tensor<2x4x4x3xf32> {
  %low = arith.constant 0xFF800000 : f32
  %window = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : tensor<2x4x4x3xf32>
  %i = linalg.fill ins(%low : f32) outs(%e : tensor<2x4x4x3xf32>) -> tensor<2x4x4x3xf32>
  %r = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>} ins(%x, %window : tensor<2x9x9x3xf32>, tensor<3x3xf32>)
    outs(%i : tensor<2x4x4x3xf32>) -> tensor<2x4x4x3xf32>
  return %r : tensor<2x4x4x3xf32>
}"""
POOLED = """
  let pool = match linalg.pooling_nhwc_max
  let init = match linalg.fill
  let (tiles, tile) = tile pool [1, 2, 2, 3]
  fuse init into tiles
  let tiles = coalesce tiles
  map tiles to blocks(x)
  let (cells, one) = tile tile [1, 1, 1, 1]
  fuse init into cells
  let cells = coalesce cells
  map cells to threads(x: 32) cyclic
  launch tiles"""
PRODUCT = """
func.func @product(%a: tensor<12x40xf32>, %b: tensor<40x8xf32>) -> tensor<12x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12x8xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<12x8xf32>) -> tensor<12x8xf32>
  %r = linalg.matmul ins(%a, %b : tensor<12x40xf32>, tensor<40x8xf32>) outs(%i : tensor<12x8xf32>) -> tensor<12x8xf32>
  return %r : tensor<12x8xf32>
}"""
ATOMIC = """
  let gemm = match linalg.matmul
  let init = match linalg.fill
  let (parts, zero, sum) = split-k gemm 4 atomic
  let (tiles, one) = tile parts [1, 1, 1]
  fuse zero into tiles
  fuse sum into tiles
  let tiles = coalesce tiles
  map tiles to grid(x)
  map init to grid(y, x)
  launch init
  launch tiles"""
COPIED = """
  let gemm = match linalg.matmul
  let init = match linalg.fill
  let (product, lhs, rhs) = pack gemm
  let (rows, row) = tile rhs [4, 8]
  map rows to blocks(x, y)
  map row to threads(x: 32) cyclic
  launch rows
  let (tiles, one) = tile product [1, 1]
  fuse init into tiles
  map tiles to grid(y, x)
  launch tiles"""
SUM = """
func.func @sum(%x: tensor<6000xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<6000xf32>) outs(%i : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}"""
THRICE = """
  let sum = match linalg.reduce
  let (first, init, rest) = split-k sum 300
  let (tiles, one) = tile first [1]
  fuse init into tiles
  map tiles to grid(x)
  let (second, start, last) = split-k rest 10
  let (groups, other) = tile second [1]
  fuse start into groups
  map groups to grid(x)
  map last to threads(x: 1)
  launch tiles
  launch groups
  launch last"""
HALVES = """
func.func @largest(%x: tensor<6x40xf32>) -> tensor<6x8xf32> {
  %low = arith.constant 0xFF800000 : f32
  %parts = tensor.expand_shape %x [[0], [1, 2]] output_shape [6, 5, 8] : tensor<6x40xf32> into tensor<6x5x8xf32>
  %e = tensor.empty() : tensor<6x8xf32>
  %i = linalg.fill ins(%low : f32) outs(%e : tensor<6x8xf32>) -> tensor<6x8xf32>
  %r = linalg.reduce { arith.maximumf } ins(%parts : tensor<6x5x8xf32>) outs(%i : tensor<6x8xf32>) dimensions = [1]
  return %r : tensor<6x8xf32>
}"""
ROWS = """
  let largest = match linalg.reduce
  let init = match linalg.fill
  let (rows, row) = tile largest [1, _, 1]
  fuse init into rows
  map rows to grid(y, x)
  launch rows"""
POWER = """
func.func @power(%a: tensor<12x12xf32>, %v: tensor<12xf32>) -> tensor<12xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %t = %c0 to %c3 step %c1 iter_args(%x = %v) -> (tensor<12xf32>) {
    %e = tensor.empty() : tensor<12xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<12xf32>) -> tensor<12xf32>
    %y = linalg.matvec ins(%a, %x : tensor<12x12xf32>, tensor<12xf32>) outs(%i : tensor<12xf32>) -> tensor<12xf32>
    scf.yield %y : tensor<12xf32>
  }
  return %r : tensor<12xf32>
}"""
STEPPED = """
  let init = match linalg.fill
  let product = match linalg.matvec
  let (tiles, one) = tile product [1]
  fuse init into tiles
  map tiles to grid(x)
  launch tiles"""
STENCIL = """
func.func @smooth(%a: memref<20xf32>, %b: memref<20xf32>) {
  affine.for %t = 0 to 4 {
    affine.for %i = 1 to 19 {
      %l = affine.load %a[%i - 1] : memref<20xf32>
      %r = affine.load %a[%i + 1] : memref<20xf32>
      %s = arith.addf %l, %r : f32
      affine.store %s, %b[%i] : memref<20xf32>
    }
    affine.for %i = 1 to 19 {
      %v = affine.load %b[%i] : memref<20xf32>
      affine.store %v, %a[%i] : memref<20xf32>
    }
  }
  return
}"""
LOOPS = """
  let there = match affine.for #1
  let back = match affine.for #2
  map there to grid(x)
  map back to grid(x)
  launch there
  launch back"""
PADDED = """
func.func @sums(%x: tensor<5x8xf32>) -> tensor<7xf32> {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1, 0] high[1, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %one : f32
  } : tensor<5x8xf32> to tensor<7x10xf32>
  %e = tensor.empty() : tensor<7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<7xf32>) -> tensor<7xf32>
  %r = linalg.reduce { arith.addf } ins(%p : tensor<7x10xf32>) outs(%f : tensor<7xf32>) dimensions = [1]
  return %r : tensor<7xf32>
}"""
BY_ROWS = """
  let sums = match linalg.reduce
  let init = match linalg.fill
  let (rows, row) = tile sums [1]
  fuse init into rows
  map rows to grid(x)
  launch rows"""
MATRIX = """
func.func @sums(%x: tensor<16x14xi32>, %y: tensor<16xi32>) -> tensor<16xi32> {
  %r = linalg.reduce { arith.addi } ins(%x : tensor<16x14xi32>) outs(%y : tensor<16xi32>) dimensions = [1]
  return %r : tensor<16xi32>
}"""
ALL_ROWS = """
  let sums = match linalg.reduce
  let (tiles, tile) = tile sums [8]
  map tiles to blocks(x)
  map tile to threads(y: 3) block-cyclic(2)
  insert-barriers
  launch tiles"""
LONGER = """
  let sums = match linalg.reduce
  let (tiles, tile) = tile sums [1]
  map tiles to blocks(x)
  let (rows, row) = tile tile [4]
  map rows to threads(y: 1) cyclic
  map row to threads(x: 4) cyclic
  insert-barriers
  launch tiles"""
IDLE_WARPS = """
  let sums = match linalg.reduce
  let (tiles, tile) = tile sums [1]
  map tiles to blocks(x)
  let (rows, row) = tile tile [5]
  map rows to warps(x: 8) block-cyclic(3)
  let (_, step) = tile row [_, 4]
  map step to lanes block
  insert-barriers
  launch tiles"""
INNER_RAGGED = """
  let largest = match linalg.reduce
  let (tiles, tile) = tile largest [4]
  map tiles to blocks(x)
  let (rows, row) = tile tile [3]
  map rows to threads(y: 2) cyclic
  insert-barriers
  launch tiles"""
LARGEST = MATRIX.replace("addi", "maxsi").replace("16x14", "7x14").replace("tensor<16x", "tensor<7x")
CUT_BY_THE_HOST = """
  let sum = match linalg.reduce
  let init = match linalg.fill
  let (_, part) = tile sum [700]
  map part to lanes cyclic
  map init to threads(x: 1)
  launch init
  insert-barriers
  launch part"""
OPEN_ROWS = """
func.func @products(%x: tensor<?x5x7xf32>, %y: tensor<?xf32>, %i: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %r = linalg.generic {
    indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a)>, affine_map<(a, b, c) -> (a, b)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %y : tensor<?x5x7xf32>, tensor<?xf32>) outs(%i : tensor<?x5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x5xf32>
  return %r : tensor<?x5xf32>
}"""
BY_LANES = """
  let products = match linalg.generic
  let (tiles, tile) = tile products [4, 2, _]
  map tiles to blocks(x, y)
  map tile to lanes block-cyclic(2)
  insert-barriers
  launch tiles"""
LEAST = """
func.func @least(%x: tensor<?xi64>, %i: tensor<i64>, %j: tensor<i32>) -> (tensor<i64>, tensor<i32>) {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> ()>, affine_map<(a) -> ()>],
    iterator_types = ["reduction"]} ins(%x : tensor<?xi64>) outs(%i, %j : tensor<i64>, tensor<i32>) {
  ^bb0(%a: i64, %o: i64, %p: i32):
    %n = linalg.index 0 : index
    %k = arith.index_cast %n : index to i32
    %c = arith.cmpi slt, %a, %o : i64
    %s = arith.select %c, %a, %o : i64
    %t = arith.select %c, %k, %p : i32
    linalg.yield %s, %t : i64, i32
  } -> (tensor<i64>, tensor<i32>)
  return %r#0, %r#1 : tensor<i64>, tensor<i32>
}"""
ALONE = """
  let least = match linalg.generic
  map least to grid(x)
  launch least"""
PROGRAMS = {
    "padded rows of an inner tile, which are thrown away": (LARGEST, INNER_RAGGED, ["7·14 terms"]),
    "a tile that is launched on its own, in a loop of the host": (SUM, CUT_BY_THE_HOST, ["6000 terms"]),
    "rows of two arguments, as many as each other": (OPEN_ROWS, BY_LANES, ["?·5·7 products"]),
    "a choice by integers, which is no mask": (LEAST, ALONE, ["? terms"]),
    "a reduction that threads share, each of all rows": (MATRIX, ALL_ROWS, ["16·14 terms"]),
    "tiles that are longer than the one row that is left": (MATRIX, LONGER, ["16·14 terms"]),
    "rows of which a warp may have none": (MATRIX, IDLE_WARPS, ["16·14 terms"]),
    "a window that is read for its sizes alone": (POOLING, POOLED, ["2·4·4·3·3·3 terms"]),
    "parts of coalesced loops, added atomically": (PRODUCT, ATOMIC, ["12·8·40 products"]),
    "an operand that an earlier launch has copied": (PRODUCT, COPIED, ["12·8·40 products"]),
    "parts of parts, in three launches": (SUM, THRICE, ["6000 terms", "300 parts", "10 parts"]),
    "digits of a reshaped dimension": (HALVES, ROWS, ["6·5·8 terms"]),
    "a tensor that a loop of the host carries": (POWER, STEPPED, ["12·12 products"]),
    "loops in a loop of the host": (STENCIL, LOOPS, ["18 iterations", "18 iterations"]),
    "the payload's own padding, which counts": (PADDED, BY_ROWS, ["7·10 terms"]),
}


def program(folder: Path, payload: str, lines: str) -> str:
    (folder / "p.mlir").write_text(payload)
    (folder / "s.weft").write_text(f'payload "p.mlir"\n\nschedule s() {{{lines}\n}}\n')
    return str(folder / "s.weft")


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_iteration_of_a_program_once(name: str, tmp_path: Path) -> None:
    payload, lines, wanted = PROGRAMS[name]
    done = applied(Choice(program(tmp_path, payload, lines)).open())
    said = [line for step in done.session.steps for line in step.remarks if line.startswith("combination ") and " (" in line]
    expect_no_assumption(done.assumed)
    assert [line.partition("each of ")[2].partition(" once")[0] for line in said] == wanted


LAYER = """
  %e{n} = tensor.empty() : tensor<16x16xf32>
  %f{n} = linalg.fill ins(%zero : f32) outs(%e{n} : tensor<16x16xf32>) -> tensor<16x16xf32>
  %m{n} = linalg.matmul ins(%x{n}, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f{n} : tensor<16x16xf32>) -> tensor<16x16xf32>
  %g{n} = tensor.empty() : tensor<16x16xf32>
  %x{m} = linalg.exp ins(%m{n} : tensor<16x16xf32>) outs(%g{n} : tensor<16x16xf32>) -> tensor<16x16xf32>"""
BY_KIND = """
  let fills = match* linalg.fill
  let products = match* linalg.matmul
  let exps = match* linalg.exp
  foreach f in fills {
    map f to grid(y, x)
    launch f
  }
  foreach g in products {
    let (tiles, one) = tile g [1, 1]
    map tiles to grid(y, x)
    launch tiles
  }
  foreach e in exps {
    map e to grid(y, x)
    launch e
  }"""


@pytest.mark.parametrize("layers", [3, 12])
def test_launches_in_another_order_than_the_payload(layers: int, tmp_path: Path) -> None:
    """A product reads what is launched later, which the later launch makes good; in a large module, what is not in the part."""
    body = "".join(LAYER.format(n=n, m=n + 1) for n in range(layers))
    kind = "tensor<16x16xf32>"
    head = f"func.func @layers(%x0: {kind}, %w: {kind}) -> {kind} {{\n  %zero = arith.constant 0.0 : f32"
    done = applied(Choice(program(tmp_path, f"{head}{body}\n  return %x{layers} : {kind}\n}}", BY_KIND)).open())
    expect_no_assumption(done.assumed)


SPREAD = """
func.func @spread(%x: tensor<8x4xf32>, %y: tensor<8x8xf32>, %n: i32) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %i = arith.index_castui %n : i32 to index
  %five = arith.constant 5 : index
  %o = arith.remui %i, %five : index
  %s = tensor.insert_slice %x into %y[0, %o] [8, 4] [1, 1] : tensor<8x4xf32> into tensor<8x8xf32>
  %r = tensor.empty() : tensor<8xf32>
  %b = linalg.fill ins(%zero : f32) outs(%r : tensor<8xf32>) -> tensor<8xf32>
  %t = linalg.reduce { arith.addf } ins(%s : tensor<8x8xf32>) outs(%b : tensor<8xf32>) dimensions = [1]
  return %t : tensor<8xf32>
}"""


def test_what_is_not_proven_is_not_built(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is compared all the same, and `--assumed` builds it; what is built says what is assumed."""
    name = program(tmp_path, SPREAD, BY_ROWS)
    bundle = tmp_path / "bundle"
    assert cli.run(["build", name, "-o", str(bundle)]) == 1
    refused = capsys.readouterr().err
    assert "W0082" in refused and "values compared: to 1e-05" in refused and "--assumed" in refused and not bundle.exists()
    assert cli.run(["build", name, "-o", str(bundle), "--assumed"]) == 0
    assert "combination assumed" in capsys.readouterr().err
    assert "combination assumed" in (bundle / "plan.json").read_text()
    assert cli.run(["build", name, "-o", str(tmp_path / "other"), "--unchecked"]) == 0
    assert "values not compared" in capsys.readouterr().err


def test_one_entry_answers_for_what_it_launches_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is not proven of another function's kernels is nothing against it, and not said of it either."""
    other = """
func.func @exact(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  %t = linalg.exp ins(%x : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %t : tensor<8x4xf32>
}"""
    lines = BY_ROWS
    lines += "\n  let e = match linalg.exp\n  map e to grid(y, x)\n  launch e"
    name = program(tmp_path, SPREAD + other, lines)
    assert cli.run(["build", name, "-o", str(tmp_path / "a"), "--entry", "spread"]) == 1
    assert "W0082" in capsys.readouterr().err
    assert cli.run(["build", name, "-o", str(tmp_path / "b"), "--entry", "exact"]) == 0
    assert "assumed" not in capsys.readouterr().err + (tmp_path / "b/plan.json").read_text()


def test_a_kernel_of_what_is_not_proven_warns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as it is not accepted, also where it was before, in this process or in another one."""
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path / "cache"))
    name = program(tmp_path, SPREAD, BY_ROWS)
    for _ in range(2):
        with pytest.warns(UserWarning, match="W0082: it is not proven that the kernels of") as caught:
            kernel = weft.compile(name, target="cpu")
        assert caught[0].filename == __file__ and kernel.assumed[0].startswith("combination assumed")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert "combination assumed" in weft.compile(name, target="cpu", assumed=True).report["compared"]
            assert weft.compile(name, target="cpu", unchecked=True).report["compared"] is None
            assert not weft.compile("naive", settings={"m": 8, "n": 8, "k": 8}, target="cpu").assumed
        compiled._kernels.clear()
