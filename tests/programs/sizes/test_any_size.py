"""One kernel for every size: sizes are parameters of the proof, the guards and the host plan; the simulator runs it at many."""

from __future__ import annotations

import os
import random
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from executors import expect_clean, expect_equal

import weft
from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir.mlir import operations
from weft.interpreter.proof.kernels.kernels import kernel_model
from weft.interpreter.proof.races.proof import Findings
from weft.pipeline import Planned, applied, planned
from weft.runtime.run.runner import RunResult, run_plan
from weft.runtime.simulator.device import SimDevice

SIZES = 60 if "WEFT_SOAK" in os.environ else 1
"""Random ones of each recipe, beside those at the ends."""
ENDS = [(0, 5, 7), (5, 7, 0), (5, 0, 7), (1, 1, 1), (2, 300, 3)]

PRODUCT = """
func.func @product(%A: tensor<?x?xf32>, %B: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %A, %c0 : tensor<?x?xf32>
  %n = tensor.dim %B, %c1 : tensor<?x?xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%m, %n) : tensor<?x?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %sum = linalg.matmul ins(%A, %B : tensor<?x?xf32>, tensor<?x?xf32>) outs(%start : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %sum : tensor<?x?xf32>
}
"""
RECIPES = {
    "naive": {},
    "shared": {"bm": 8, "bn": 8, "bk": 8},
    "simt": {"bm": 32, "bn": 32, "bk": 8, "wm": 16, "wn": 32, "tm": 4, "tn": 4},
    "simt_pipelined": {"bm": 32, "bn": 32, "bk": 8, "wm": 16, "wn": 32, "tm": 4, "tn": 4},
}
WIDE = ["simt", "simt_pipelined"]
"""Those of two versions."""


@cache
def made(recipe: str) -> Planned:
    settings = {name: value for name, value in RECIPES[recipe].items() if name in parameters(recipe)}
    return planned(applied(weft.load(recipe, payload=PRODUCT, settings=settings)))


def parameters(recipe: str) -> set[str]:
    return {p.name for p in weft.load(recipe).file.main.parameters}


def simulated(one: Planned, *arrays: np.ndarray) -> RunResult:
    given: dict[str, np.ndarray] = dict(zip("AB", arrays, strict=True))
    return run_plan(one.plan, SimDevice(), given, text=one.applied.located_text)


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_product_of_any_size(recipe: str) -> None:
    one = made(recipe)
    remarks = [remark for step in one.applied.session.steps for remark in step.remarks]
    assert not any("assumed race-free" in remark for remark in remarks), "it is proven for all sizes at once"
    draw = random.Random(recipe)
    assert len(one.plan.versions) == (2 if recipe in WIDE else 0)
    for number, (m, k, n) in enumerate([*ENDS, *(tuple(draw.randrange(1, 90) for _ in range(3)) for _ in range(SIZES))]):
        if number % 2:
            k, n = k - k % 4, n - n % 4
        generator = np.random.default_rng(m)
        a, b = generator.standard_normal((m, k), np.float32), generator.standard_normal((k, n), np.float32)
        done = simulated(one, a, b)
        assert done.outputs["result0"].shape == (m, n), (m, k, n)
        assert np.allclose(done.outputs["result0"], a @ b, atol=1e-3), (m, k, n)
        assert not done.races and not done.faults, (m, k, n)
        assert done.version == (None if recipe not in WIDE else 1 if k % 4 or n % 4 else 0), (m, k, n)


@pytest.mark.parametrize("recipe", WIDE)
def test_the_version_for_rows_of_vectors_reads_them_four_at_a_time(recipe: str) -> None:
    """Alone: that for any rows guards each element."""
    texts = made(recipe).cuda.split('extern "C"')[1:]
    for text, wide in zip(texts, [True] * 3 + [False] * 3, strict=True):  # each for all sizes, of 32 bits, and folded
        reads = [line for line in text.splitlines() if re.search(r"[^_\w][AB]\[", line)]
        assert len(reads) > 1 and all(("float4*" in line) == wide for line in reads)
    remarks = [remark for step in made(recipe).applied.session.steps for remark in step.remarks]
    assert sum("loads 4-wide" in remark for remark in remarks) == sum("loads scalar" in remark for remark in remarks) >= 2


@pytest.mark.parametrize("recipe", ["shared", *WIDE])
def test_each_deleted_barrier_is_found_by_the_proof_and_at_some_size(recipe: str) -> None:
    one, generator = made(recipe), np.random.default_rng(0)
    for version, whole in enumerate(operations(one.applied.module.operation, "gpu.func")):
        columns = 39 + (version == 0)
        a, b = generator.standard_normal((40, 72), np.float32), generator.standard_normal((72, columns), np.float32)
        for number in range(len(list(operations(whole, "gpu.barrier")))):
            module = one.applied.module.operation.clone()
            kernel = list(operations(module, "gpu.func"))[version]
            list(operations(kernel, "gpu.barrier"))[number].erase()
            assert any(c.space == "workgroup" for c in Findings(kernel_model(kernel)).conflicts), number
            text = module.get_asm(enable_debug_info=True)
            assert run_plan(one.plan, SimDevice(), {"A": a, "B": b}, text=text).races, number


def test_sizes_that_do_not_agree_are_refused_before_anything_runs() -> None:
    a, b = np.ones((4, 5), np.float32), np.ones((6, 7), np.float32)
    with pytest.raises(WeftError, match="axis 1 of `A` has 5 elements, and axis 0 of `B` has 6 elements: they are one dimension"):
        simulated(made("shared"), a, b)


LARGE = """
func.func @large(%A: tensor<?x?xi8>, %B: tensor<?x?xi8>, %C: tensor<?x?xi8>) -> tensor<?x?xi8> {
  %r = linalg.matmul ins(%A, %B : tensor<?x?xi8>, tensor<?x?xi8>) outs(%C : tensor<?x?xi8>) -> tensor<?x?xi8>
  return %r : tensor<?x?xi8>
}
"""
TALL = """schedule tall() {
  let op = match linalg.matmul
  let (blocks, tile) = tile op [64, 1]
  map blocks to blocks(y, x)
  let (lanes, one) = tile tile [1, 1]
  map lanes to threads(y: 64, x: 1)
  launch blocks
}
"""


def test_an_array_of_more_than_2_31_elements() -> None:
    """One that is zero but for three elements, whose pages alone are ever made."""
    kernel = weft.compile(TALL, LARGE, target="cpu")
    matrix = np.zeros((2**20 + 3, 2100), np.int8)
    matrix[-1, -1], matrix[-2, 5], matrix[1_023_000, 0] = 3, 7, 2
    assert matrix.size > 2**31
    found = kernel(matrix, np.ones((2100, 1), np.int8), np.zeros((2**20 + 3, 1), np.int8))
    assert (found[-1, 0], found[-2, 0], found[1_023_000, 0], np.count_nonzero(found)) == (3, 7, 2, 3)
    assert "long long" in kernel.text
    column = np.arange(64 * 65535 + 1, dtype=np.int64).astype(np.int8)[:, None]
    assert np.array_equal(kernel(column, np.ones((1, 1), np.int8), np.ones_like(column)), column + 1), "65,536 blocks in y"


SUMS = """
func.func @sums(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %t = math.exp %a : f32
    %u = arith.addf %t, %b : f32
    linalg.yield %u : f32
  } -> tensor<?xf32>
  return %s : tensor<?xf32>
}
"""
ROWS = """schedule rows() {
  let op = match linalg.generic
  let (tiles, tile) = tile op [8]
  map tiles to blocks(x)
  KSTEP
  let (lanes, one) = tile STEP [1]
  map lanes to threads(x: 8)
  insert-barriers
  launch tiles
}
"""


@pytest.mark.parametrize(("cut", "step"), [("", "tile"), ("let (k, step) = tile tile [_, 16]", "step")])
def test_a_reduction_whose_update_is_masked(cut: str, step: str) -> None:
    """What is read beyond the end is no identity behind `exp`; and a dimension that is left whole has its real end."""
    kernel = weft.compile(ROWS.replace("KSTEP", cut).replace("STEP", step), SUMS, target="cpu")
    for rows, columns in ((3, 5), (17, 33), (8, 16), (0, 4), (4, 0), (1, 100)):
        x = np.random.default_rng(rows).standard_normal((rows, columns), np.float32)
        y = np.arange(rows, dtype=np.float32)
        assert np.allclose(kernel(x, y), y + np.exp(x).sum(1), rtol=1e-5), (rows, columns)


def test_a_result_has_its_arguments_sizes_and_no_copy(tmp_path: Path) -> None:
    one = made("shared")
    assert [type(step).__name__ for step in one.plan.steps] == ["Launch"]
    assert "memref.copy" not in one.applied.text


def test_sizes_for_random_inputs() -> None:
    done = weft.run("naive", payload=PRODUCT, target="sim", sizes={"A.0": 20, "B.0": 7, "B.1": 9})
    assert done.ok and done.outputs[0].shape == (20, 9)
    for wrong in ({"A.2": 4}, {"C.0": 4}, {"A": 4}, {"A.0": -1}):
        with pytest.raises(WeftError, match="W0718"):
            weft.run("naive", payload=PRODUCT, target="sim", sizes=wrong)
    with pytest.raises(WeftError, match="W0719"):
        weft.run("naive", payload=PRODUCT, target="sim", sizes={"A.0": 20})


CHAIN = """
func.func @chain(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %p = linalg.exp ins(%x : tensor<?x?xf32>) outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  %q = linalg.negf ins(%p : tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %q : tensor<?x?xf32>
}
"""
FIRST = "let (t, i) = tile a [8, 8]\nmap t to blocks(y, x)\nlet (l, o) = tile i [1, 1]\nmap l to threads(y: 8, x: 8)\n"
SECOND = FIRST.replace(" a ", " b ").replace("(t, i)", "(u, j)").replace("map t", "map u").replace("(l, o)", "(m, n)")
SECOND = SECOND.replace("tile i", "tile j").replace("map l", "map m")


def chained(*parts: str) -> str:
    return "schedule s() {\nlet a = match linalg.exp\nlet b = match linalg.negf\n" + "".join(parts) + "}\n"


@pytest.mark.parametrize(
    "schedule",
    [
        chained(FIRST, SECOND, "launch t\nlaunch u\n"),
        chained(SECOND.replace("map u", "fuse a into u\nmap u").replace("map m", "fuse a into m\nmap m"), "launch u\n"),
    ],
    ids=["launched one after the other", "fused"],
)
def test_a_tensor_between_two_ops_has_its_real_size(schedule: str) -> None:
    """Also where there are more tiles than the types of rounded tensors say."""
    assert "8209" not in weft.apply(schedule, payload=CHAIN).text and "65672" not in weft.apply(schedule, payload=CHAIN).text
    kernel = weft.compile(schedule, CHAIN, target="cpu")
    for shape in ((37, 21), (1, 70_001), (0, 3)):
        x = np.random.default_rng(0).standard_normal(shape, np.float32)
        assert np.allclose(kernel(x, x.copy(), x.copy()), -np.exp(x), rtol=1e-5)


def test_what_was_rounded_up_for_a_reader_is_not_taken_for_real() -> None:
    with pytest.raises(WeftError, match="W0322: this was rounded up for the tiles of an op that reads it"):
        weft.apply(chained(SECOND, FIRST, "launch t\nlaunch u\n"), payload=CHAIN)
    with pytest.raises(WeftError, match="W0322"):
        weft.apply(chained(SECOND, "map a to grid(x: 64) cyclic\nlaunch a\nlaunch u\n"), payload=CHAIN)


OWN_BUFFER = """
func.func @own(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %t = memref.alloc(%n) : memref<?xf32>
  linalg.exp ins(%x: memref<?xf32>) outs(%t: memref<?xf32>)
  linalg.add ins(%t, %x: memref<?xf32>, memref<?xf32>) outs(%y: memref<?xf32>)
  memref.copy %t, %x : memref<?xf32> to memref<?xf32>
  return
}
"""
BOTH = """schedule s() {
  let e = match linalg.exp
  let a = match linalg.add
  let (l, t) = tile e [4]
  map l to grid(x: 64) cyclic
  launch l
  let (m, u) = tile a [4]
  map m to grid(x: 64) cyclic
  launch m
  run-pass "canonicalize,cse"
}
"""


def test_a_buffer_of_the_payloads_own_stays_one() -> None:
    kernel = weft.compile(BOTH, OWN_BUFFER, target="cpu")
    x, y = np.linspace(0, 1, 10, dtype=np.float32), np.zeros(10, np.float32)
    before = x.copy()
    kernel(x, y)
    assert np.allclose(y, np.exp(before) + before) and np.allclose(x, np.exp(before))


NEGATED = """
func.func @negated(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%y : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<?x?xf32>
  return %q : tensor<?x?xf32>
}
"""


@pytest.mark.parametrize("sizes", ["[1, 8]", "[8, 1]"])
def test_tiles_of_one_row_beside_larger_ones(sizes: str) -> None:
    lanes = "let (l, o) = tile i [1, 1]\nmap l to threads(y, x)\nlaunch t\n"
    schedule = f"schedule s() {{\nlet e = match linalg.generic\nlet (t, i) = tile e {sizes}\nmap t to blocks(y, x)\n{lanes}}}\n"
    kernel = weft.compile(schedule, NEGATED, target="cpu")
    x = np.random.default_rng(0).standard_normal((13, 21), np.float32)
    assert np.array_equal(kernel(x, x.copy()), -x)


def test_a_size_that_is_a_number_is_one() -> None:
    """Also where open sizes are spelled like it in types."""
    program = CHAIN.replace("?x?", "8209x3")
    text = weft.apply(chained(SECOND, FIRST, "launch t\nlaunch u\n"), payload=program).text
    assert "gpu.launch_func" in text


def test_an_element_that_all_tiles_read_is_staged_in_their_loop() -> None:
    program = NEGATED.replace("func.func @negated(", "func.func @negated(%s: tensor<?x?xf32>, ")
    program = program.replace("[affine_map<(i, j) -> (i, j)>,", "[affine_map<(i, j) -> (0, 0)>, affine_map<(i, j) -> (i, j)>,", 1)
    program = program.replace("ins(%x : tensor<?x?xf32>)", "ins(%s, %x : tensor<?x?xf32>, tensor<?x?xf32>)")
    program = program.replace("^bb0(%a: f32,", "^bb0(%c: f32, %a: f32,").replace("%n = arith.negf %a", "%n = arith.mulf %a, %c")
    schedule = """schedule s() {
  let op = match linalg.generic
  let (t, i) = tile op [8, 8]
  map t to blocks(y, x)
  let (shared, copy) = promote-to-shared i.in0
  map copy to threads(*) cyclic
  let (l, o) = tile i [1, 1]
  map l to threads(y, x)
  insert-barriers
  launch t
}
"""
    one = planned(weft.apply(schedule, payload=program))
    for shape in ((13, 21), (8, 8), (0, 3)):
        x, s = np.random.default_rng(0).standard_normal(shape, np.float32), np.full((2, 3), 4, np.float32)
        done = run_plan(one.plan, SimDevice(), {"s": s, "x": x, "y": x.copy()}, text=one.applied.located_text)
        expect_clean("the simulator", done)
        expect_equal("the simulator", "result0", done.outputs["result0"], 4 * x)
