"""What a kernel combines, changed before the kernel is made: found by the coverage proof, which no longer says that it is proven,
and by the comparison of values; or equal."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from coverage_mutations import CHANGES, ELEMENTS, LOOPS, Place, changing, copies, end_moved, mutants, opened

from weft.dsl.diagnostics import WeftError
from weft.interpreter.session.session import Session
from weft.pipeline import Applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import integral_inputs
from weft.runtime.host.functions import signature
from weft.runtime.run.compare import compare
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

PROGRAMS = {
    "naive": {"m": "20", "n": "18", "k": "10"},
    "shared": {"m": "20", "n": "18", "k": "20", "bm": "8", "bn": "8", "bk": "8"},
    "simt_pipelined": {"m": "70", "n": "70", "k": "40"},
    "igemm": {"n": "1", "c": "4", "k": "8", "h": "6", "w": "6"},
    "layernorm_welford": {"m": "5", "n": "77"},
    "argmax": {"m": "5", "n": "77"},
    "softmax": {"m": "5", "n": "77"},
    "sum": {"n": "70000", "parts": "8", "threads": "64"},
    "scan": {"n": "9000", "threads": "64"},
    "simt_split_k": {"m": "20", "n": "18", "k": "300"},
    "histogram": {"n": "3000", "bins": "40", "threads": "128", "items": "256"},
    "concurrent_convs": {"batch": "2", "filters": "2", "size": "7", "threads": "64"},
    "attention": {"b": "1", "n": "20", "m": "40", "d": "16"},
}
COMBINATION = ("combination proven: each of", "combination assumed")
SOAK = "WEFT_SOAK" in os.environ
FEW = 1
"""Mutants of a program in `make test`."""


@pytest.mark.few(5)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_proven_is_equal(name: str) -> None:
    session, done = opened(name, PROGRAMS[name])
    made = [(where, mutant, None) for where, mutant in mutants(session)]
    moved = copies(session)
    assert made and moved
    few = random.Random(name)
    chosen = [*made, *moved] if SOAK else [*few.sample(made, min(FEW, len(made))), *few.sample(moved, min(FEW, len(moved)))]
    assert expect_equal(session, done, chosen) or not SOAK


def expect_equal(session: Session, done: Applied, chosen: Sequence[tuple[str, Session, Place | None]]) -> int:
    """Of mutants, and of the session itself, what is proven is equal. Returns how many are neither."""
    named = signature(done.payload)
    inputs = integral_inputs(named, 3, seed=1)
    expected = reference(done.payload, named.entry, inputs)
    found = 0
    for where, mutant, place in [("", session.fork(unproven=True), None), *chosen]:
        try:
            with changing(place):
                mutant.run()
            one = planned(Applied(done.recipe, done.payload, mutant))
            result = run_plan(one.plan, SimDevice(), inputs, text=one.applied.text)
        except (WeftError, LookupError):  # no place, or refused
            assert where
            continue
        said = [remark for step in mutant.steps for remark in step.remarks if remark.startswith(COMBINATION)]
        proven = all(line.startswith("combination proven") for line in said) and not one.applied.unproven
        equal = compare(named, result.outputs, expected).ok and not result.faults
        assert equal or not proven, f"{where}: proven, and other values: {said}"
        assert where or (equal and proven), said
        found += not proven and not equal
    return found


ROWS = """
func.func @rows(%x: memref<7x50xi32>, %y: memref<7xi32>) {
  %three = arith.constant 3 : i32
  affine.for %i = 0 to 7 {
    %s = affine.for %k = 1 to 48 iter_args(%a = %three) -> (i32) {
      %v = affine.load %x[%i, %k] : memref<7x50xi32>
      %n = COMBINE %a, %v : i32
      affine.yield %n : i32
    }
    affine.store %s, %y[%i] : memref<7xi32>
  }
  return
}"""
ROW_BY_ROW = """
payload "p.mlir"
schedule s() {
  let rows = match affine.for #0
  let sum = match affine.for #1
  let (tiles, each) = tile rows [3]
  map tiles to blocks(x)
  map each to threads(y: 3)
  map sum to threads(x: 8) cyclic
  launch tiles
}"""


@pytest.mark.parametrize("combine", ["arith.addi", "arith.maxsi"])
def test_loops_with_carried_numbers(combine: str, tmp_path: Path) -> None:
    """What is proven of one is equal to the payload: its range, its terms, its start, its combiner."""
    (tmp_path / "p.mlir").write_text(ROWS.replace("COMBINE", combine))
    (tmp_path / "s.weft").write_text(ROW_BY_ROW)
    session, done = opened(str(tmp_path / "s.weft"), {})
    made = [(where, mutant, None) for where, mutant in mutants(session, {**LOOPS, **CHANGES})]
    assert len({where.split(":")[0] for where, _, _ in made}) >= 5
    assert expect_equal(session, done, made) >= 2


RAGGED = """
func.func @largest(%x: tensor<7x3xi32>, %y: tensor<7xi32>) -> tensor<7xi32> {
  %r = linalg.reduce { arith.maxsi } ins(%x : tensor<7x3xi32>) outs(%y : tensor<7xi32>) dimensions = [1]
  return %r : tensor<7xi32>
}"""
IN_TILES = """
payload "p.mlir"
schedule s() {
  let largest = match linalg.reduce
  let (tiles, tile) = tile largest [4]
  map tiles to blocks(x)
  let (rows, row) = tile tile [3]
  map rows to threads(y: 2) cyclic
  insert-barriers
  launch tiles
}"""


def test_rows_beyond_a_tile_are_not_written(tmp_path: Path) -> None:
    """Padded rows of an inner tile hold anything: where the end of what is written is moved, nothing is proven any more."""
    (tmp_path / "p.mlir").write_text(RAGGED)
    (tmp_path / "s.weft").write_text(IN_TILES)
    session, _ = opened(str(tmp_path / "s.weft"), {})
    made = [mutant for by in (1, -1, 9) for _, mutant in mutants(session, {"an end is moved": partial(end_moved, by=by)})]
    assert len(made) == 6
    for number, mutant in enumerate([session.fork(unproven=True), *made]):
        mutant.run()
        said = [remark for step in mutant.steps for remark in step.remarks if remark.startswith(COMBINATION)]
        assert all(line.startswith("combination proven") for line in said) == (number == 0)


SUMS = """
func.func @sums(%x: tensor<7x12xi32>) -> tensor<7xi32> {
  %three = arith.constant 3 : i32
  %e = tensor.empty() : tensor<7xi32>
  %f = linalg.fill ins(%three : i32) outs(%e : tensor<7xi32>) -> tensor<7xi32>
  %r = linalg.reduce { arith.addi } ins(%x : tensor<7x12xi32>) outs(%f : tensor<7xi32>) dimensions = [1]
  return %r : tensor<7xi32>
}"""
FROM_A_CONSTANT = """
payload "p.mlir"
schedule s() {
  let start = match linalg.fill
  let sums = match linalg.reduce
  let (tiles, tile) = tile sums [4]
  fuse start into tiles
  map tiles to blocks(x)
  map start to threads(x: 2) cyclic
  map tile to threads(x: 2) cyclic
  insert-barriers
  launch tiles
}"""
IN_TWO_LAUNCHES = """
payload "p.mlir"
schedule s() {
  let start = match linalg.fill
  map start to grid(x)
  launch start
  let sums = match linalg.reduce
  map sums to threads(x: 4) cyclic
  insert-barriers
  launch sums
}"""
IMAGES = """
#id = affine_map<(n, h, w, c) -> (n, h, w, c)>
func.func @f(%x: tensor<2x9x9x3xi32>, %w: tensor<3x3x3x4xi32>) -> tensor<2x4x4x4xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x4x4x4xi32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<2x4x4x4xi32>) -> tensor<2x4x4x4xi32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>}
      ins(%x, %w : tensor<2x9x9x3xi32>, tensor<3x3x3x4xi32>) outs(%i : tensor<2x4x4x4xi32>) -> tensor<2x4x4x4xi32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<2x4x4x4xi32>) outs(%e : tensor<2x4x4x4xi32>) {
  ^bb0(%y: i32, %o: i32):
    %t = arith.maxsi %y, %zero : i32
    linalg.yield %t : i32
  } -> tensor<2x4x4x4xi32>
  return %s : tensor<2x4x4x4xi32>
}"""
OF_BOTH_IMAGES = """
payload "p.mlir"
schedule s() {
  let conv = match linalg.conv_2d_nhwc_hwcf
  let init = match linalg.fill
  let relu = match linalg.generic
  let (tiles, one) = tile relu [2, 2, 2, 4]
  fuse conv into tiles
  fuse init into tiles
  let tiles = coalesce tiles
  map tiles to blocks(x)
  let (inits, start) = tile init [2, 1, 1, 1]
  let inits = coalesce inits
  map inits to threads(x: 32) cyclic
  let (cells, cell) = tile conv [1, 1, 1, 1]
  let cells = coalesce cells
  map cells to threads(x: 32) cyclic
  let (outs, each) = tile one [1, 1, 1, 1]
  let outs = coalesce outs
  map outs to threads(x: 32) cyclic
  insert-barriers
  launch tiles
}"""
CHAIN = """
#id = affine_map<(i, j) -> (i, j)>
#col = affine_map<(i, j) -> (j)>
func.func @f(%x: tensor<7x20xi32>, %b: tensor<20xi32>) -> tensor<7x20xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<7x20xi32>
  %p = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<7x20xi32>, tensor<20xi32>) outs(%e : tensor<7x20xi32>) {
  ^bb0(%u: i32, %v: i32, %o: i32):
    %t = arith.addi %u, %v : i32
    linalg.yield %t : i32
  } -> tensor<7x20xi32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<7x20xi32>) outs(%e : tensor<7x20xi32>) {
  ^bb0(%u: i32, %o: i32):
    %t = arith.maxsi %u, %zero : i32
    linalg.yield %t : i32
  } -> tensor<7x20xi32>
  return %r : tensor<7x20xi32>
}"""
OF_ONE_TILE = """
payload "p.mlir"
schedule s() {
  let sum = match linalg.generic #0
  let relu = match linalg.generic #1
  let (tiles, tile) = tile relu [4, 8]
  fuse sum into tiles
  map tiles to blocks(y, x)
  map sum to threads(y: 2, x: 8) cyclic
  map tile to threads(y: 2, x: 8) cyclic
  insert-barriers
  launch tiles
}"""
STARTS = {
    "an argument, in tiles of tiles": (RAGGED, IN_TILES), "a constant, in tiles of tiles": (SUMS, FROM_A_CONSTANT),
    "a constant, of an earlier launch": (SUMS, IN_TWO_LAUNCHES), "a constant, in each image": (IMAGES, OF_BOTH_IMAGES),
    "no sums, but a tile": (CHAIN, OF_ONE_TILE),
}  # fmt: skip


@pytest.mark.parametrize("name", STARTS)
def test_sums_begin_with_what_the_payloads_do(name: str, tmp_path: Path) -> None:
    for file, text in zip(("p.mlir", "s.weft"), STARTS[name], strict=True):
        (tmp_path / file).write_text(text)
    session, done = opened(str(tmp_path / "s.weft"), {})
    assert expect_equal(session, done, copies(session))


EPILOGUE = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
func.func @f(%a: tensor<20x6xi32>, %b: tensor<6x18xi32>, %bias: tensor<18xi32>, %res: tensor<20x18xi32>) -> tensor<20x18xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<20x18xi32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<20x18xi32>) -> tensor<20x18xi32>
  %m = linalg.matmul ins(%a, %b : tensor<20x6xi32>, tensor<6x18xi32>) outs(%i : tensor<20x18xi32>) -> tensor<20x18xi32>
  %s = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%bias : tensor<18xi32>) outs(%m : tensor<20x18xi32>) {
  ^bb0(%y: i32, %o: i32):
    %t = arith.addi %y, %o : i32
    linalg.yield %t : i32
  } -> tensor<20x18xi32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%s, %res : tensor<20x18xi32>, tensor<20x18xi32>) outs(%e : tensor<20x18xi32>) {
  ^bb0(%x: i32, %z: i32, %o: i32):
    %u = arith.subi %x, %z : i32
    %t = arith.maxsi %u, %zero : i32
    linalg.yield %t : i32
  } -> tensor<20x18xi32>
  return %r : tensor<20x18xi32>
}"""
IN_ONE_KERNEL = """
payload "p.mlir"
schedule s() {
  let gemm = match linalg.matmul
  let init = match linalg.fill
  let bias = match linalg.generic #0
  let relu = match linalg.generic #1
  let (tiles, tile) = tile relu [8, 8]
  fuse bias into tiles
  fuse gemm into tiles
  fuse init into tiles
  map tiles to blocks(y, x)
  map init to threads(y: 4, x: 32) cyclic
  let (lanes, micro) = tile gemm [1, 1]
  map lanes to threads(y: 4, x: 32) cyclic
  let (rows, row) = tile bias [2, _]
  map rows to threads(y: 4) cyclic
  map row to threads(x: 32) cyclic
  let (out, one) = tile tile [_, 4]
  map out to threads(y: 4) cyclic
  map one to threads(x: 32) cyclic
  insert-barriers
  launch tiles
}"""
IN_KERNELS_OF_THEIR_OWN = """
payload "p.mlir"
schedule s() {
  let gemm = match linalg.matmul
  let init = match linalg.fill
  let bias = match linalg.generic #0
  let relu = match linalg.generic #1
  map init to grid(y, x)
  launch init
  let (tiles, tile) = tile gemm [1, 1]
  map tiles to grid(y, x)
  launch tiles
  map bias to grid(y, x)
  launch bias
  let (rows, row) = tile relu [3, _]
  map rows to blocks(x)
  map row to threads(x: 32) cyclic
  launch rows
}"""
QUOTIENTS = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @f(%x: tensor<12x33xf32>) -> tensor<12x33xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<12xf32>) -> tensor<12xf32>
  %m = linalg.reduce { arith.addf } ins(%x : tensor<12x33xf32>) outs(%i : tensor<12xf32>) dimensions = [1]
  %q = tensor.empty() : tensor<12x33xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<12x33xf32>, tensor<12xf32>) outs(%q : tensor<12x33xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %t = arith.divf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<12x33xf32>
  return %r : tensor<12x33xf32>
}"""
IN_PARTS_OF_ROWS = """
payload "p.mlir"
schedule s() {
  let sum = match linalg.reduce
  let init = match linalg.fill
  let quotients = match linalg.generic
  let (rows, row) = tile quotients [1, _]
  fuse sum into rows
  fuse init into rows
  map rows to blocks(x)
  map init to threads(x: 64) cyclic
  map sum to threads(x: 64) cyclic
  let (parts, part) = tile row [_, 8]
  map parts to warps(x: 2) cyclic
  map part to lanes cyclic
  insert-barriers
  launch rows
}"""
HALVES = """
#id = affine_map<(i, j) -> (i, j)>
func.func @f(%x: tensor<6x16xi32>, %c: tensor<6x8xi32>) -> tensor<6x16xi32> {
  %e = tensor.empty() : tensor<6x8xi32>
  %o = tensor.empty() : tensor<6x16xi32>
  %a = tensor.extract_slice %x[0, 0] [6, 8] [1, 1] : tensor<6x16xi32> to tensor<6x8xi32>
  %b = tensor.extract_slice %x[0, 8] [6, 8] [1, 1] : tensor<6x16xi32> to tensor<6x8xi32>
  %p = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b, %c : tensor<6x8xi32>, tensor<6x8xi32>, tensor<6x8xi32>) outs(%e : tensor<6x8xi32>) {
  ^bb0(%u: i32, %v: i32, %w: i32, %q: i32):
    %m = arith.muli %u, %w : i32
    %t = arith.addi %m, %v : i32
    linalg.yield %t : i32
  } -> tensor<6x8xi32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b, %c : tensor<6x8xi32>, tensor<6x8xi32>) outs(%e : tensor<6x8xi32>) {
  ^bb0(%v: i32, %w: i32, %q: i32):
    %t = arith.muli %v, %w : i32
    linalg.yield %t : i32
  } -> tensor<6x8xi32>
  %i = tensor.insert_slice %p into %o[0, 0] [6, 8] [1, 1] : tensor<6x8xi32> into tensor<6x16xi32>
  %j = tensor.insert_slice %r into %i[0, 8] [6, 8] [1, 1] : tensor<6x8xi32> into tensor<6x16xi32>
  return %j : tensor<6x16xi32>
}"""
IN_A_LAUNCH_EACH = """
payload "p.mlir"
schedule s() {
  let first = match linalg.generic #0
  let second = match linalg.generic #1
  map first to grid(y, x)
  let (rows, row) = tile second [2, _]
  map rows to blocks(x)
  map row to threads(y: 2, x: 8)
  launch first
  launch rows
}"""
AFTER_REDUCTIONS = {
    "bias, residual and ReLU of a product": (EPILOGUE, IN_ONE_KERNEL), "in launches": (EPILOGUE, IN_KERNELS_OF_THEIR_OWN),
    "quotients of rows": (QUOTIENTS, IN_PARTS_OF_ROWS), "halves of one result": (HALVES, IN_A_LAUNCH_EACH),
}  # fmt: skip
LAST = {"softmax": PROGRAMS["softmax"], "layernorm_welford": PROGRAMS["layernorm_welford"], "attention": PROGRAMS["attention"],
        "igemm_bias_relu": PROGRAMS["igemm"]}  # fmt: skip
MOST = 1
"""Mutants of a program and a kind of change in `make test`, of element-wise ops."""


@pytest.mark.parametrize("name", AFTER_REDUCTIONS)
def test_element_wise_ops_after_a_reduction(name: str, tmp_path: Path) -> None:
    """An op dropped, a tile fewer, a narrower guard, a shifted map, an op repeated, results beside their places: found."""
    for file, text in zip(("p.mlir", "s.weft"), AFTER_REDUCTIONS[name], strict=True):
        (tmp_path / file).write_text(text)
    _expect_found(name, *opened(str(tmp_path / "s.weft"), {}))


@pytest.mark.parametrize("name", LAST if SOAK else [])
def test_element_wise_ops_of_recipes(name: str) -> None:
    _expect_found(name, *opened(name, LAST[name]))


def _expect_found(name: str, session: Session, done: Applied) -> None:
    made = copies(session, ELEMENTS)
    random.Random(name).shuffle(made)
    of_kinds = [[each for each in made if each[0].startswith(what)] for what in ELEMENTS]
    found = expect_equal(session, done, made if SOAK else [each for kind in of_kinds for each in kind[-MOST:]])
    assert found
    if SOAK:
        print(f"{name}: of {len(made)} changes {found} are found by both")
