"""Schedules of products by warp groups: the IR of their launches, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from executors import expect_computed
from pinned import pinned
from schedules import Case, launched

from weft.dsl.diagnostics import WeftError
from weft.interpreter.hardware.hopper.mbarriers import REGISTERS, registers_of
from weft.interpreter.hardware.hopper.tensor_maps import tensor_map
from weft.interpreter.hardware.limits import registers_at_start
from weft.interpreter.ir.mlir import constant_of, ir, operations
from weft.pipeline import Choice, applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host.functions import signature
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

GOLDEN = Path(__file__).parent / "golden"
CASES = {
    "together_bf16": Case(),
    "together_f16_ragged": Case(m=250, n=264, k=200, kind="f16"),
    "along_two_pieces": Case(own=128, along=True),
    "ahead": Case(k=512, pipeline="pipeline k stages 3 async"),
    "over_tiles": Case(m=512, k=320, tiles="blocks(x: 3) cyclic order grouped(2)", pipeline="pipeline k stages 3 producer"),
    "integers": Case(kind="i8", along=True, bk=128, k=256, shape="[64, 128, 32]", pipeline="pipeline k stages 2 producer"),
    "producer": Case(k=512, pipeline="pipeline k stages 4 producer registers 24"),
    "overlap": Case(k=512, pipeline="pipeline k stages 4 producer overlap registers 24"),
    "overlap_over_tiles": Case(m=512, k=320, tiles="blocks(x: 3) cyclic", pipeline="pipeline k stages 3 producer overlap"),
    "two_blocks": Case(bn=64, k=512, pipeline="pipeline k stages 2 producer registers 24", most=80),
    "cluster": Case(m=384, k=512, tiles="blocks(y, x) order grouped(2)", pipeline="pipeline k stages 3 producer", cluster=2),
    "cluster_along_a_curve": Case(
        m=500, k=320, tiles="blocks(x: 4) cyclic order hilbert", pipeline="pipeline k stages 3 producer", cluster=2
    ),
    "cluster_over_tiles": Case(m=500, k=320, tiles="blocks(x: 4) cyclic", pipeline="pipeline k stages 3 producer", cluster=2),
}


@pytest.mark.parametrize("name", CASES)
def test_ir(name: str, update: bool) -> None:
    module = launched(CASES[name])
    with module.context:
        module.operation.verify()
    pinned(GOLDEN / f"{name}.mlir", str(module), update)


@pytest.mark.few()
@pytest.mark.parametrize("stages", [1, 2, 3, 4])
@pytest.mark.parametrize("groups", [1, 2])
def test_who_arrives(stages: int, groups: int) -> None:
    """A ring's barriers: one arrival and its bytes fill a tile, each consumer's warp group empties it."""
    case = Case(bm=64 * groups, k=512, pipeline=f"pipeline k stages {stages} producer")
    module = launched(case)
    kernel = next(operations(module.operation, "gpu.func"))
    counts = [constant_of(op.operands[1]) for op in operations(kernel, "nvgpu.mbarrier.init")]
    assert counts == [1, groups]
    assert list(ir.DenseI32ArrayAttr(kernel.attributes["known_block_size"])) == [128 * (groups + 1), 1, 1]
    assert len(list(operations(kernel, "nvgpu.mbarrier.arrive"))) == len(list(operations(kernel, "gpu.barrier"))) == 1


@pytest.mark.parametrize("case", [Case(), Case(bm=64, bn=256, n=512), Case(bk=128), Case(kind="f16", along=True, bn=96)])
def test_bytes_that_are_expected_are_those_of_the_boxes(case: Case) -> None:
    module = launched(case)
    expected = list(operations(module.operation, "nvgpu.mbarrier.arrive.expect_tx"))
    loads = list(operations(module.operation, "nvgpu.tma.async.load"))
    with module.context:
        maps = [tensor_map(op.operands[2].type) for op in loads]
    assert len(expected) == 1 and all(maps)
    assert constant_of(expected[0].operands[1]) == sum(one.bytes for one in maps if one is not None)
    assert constant_of(expected[0].operands[1]) == 2 * case.bk * (case.bm + case.bn)


@pytest.mark.parametrize("groups", [1, 2, 3, 4])
def test_registers_that_consumers_ask_for_are_there(groups: int) -> None:
    """A block begins with as many for each of its threads as a compiler gives all of them, in steps of 8; no more come."""
    case = Case(m=64 * groups, bm=64 * groups, n=64, bn=64, k=256, pipeline="pipeline k stages 2 producer registers 24",
                barriers="insert-barriers")  # fmt: skip
    module = launched(case)
    kernel = next(operations(module.operation, "gpu.func"))
    changes = dict(reversed(registers_of(op)) for op in operations(kernel, REGISTERS))
    start = registers_at_start(128 * (groups + 1), max(changes.values()))
    assert 128 * (groups * changes[True] + changes[False]) <= 128 * (groups + 1) * start
    assert changes[True] == {1: 240, 2: 240, 3: 160, 4: 112}[groups]


REFUSED = {
    "no such columns": (Case(shape="[64, 100, 16]"), "W0379", "for n = 8, 16, …, 256"),
    "another k": (Case(shape="[64, 128, 8]"), "W0379", "[64, n, 16]"),
    "no such columns of integers": (
        Case(kind="i8", along=True, bn=40, bk=128, shape="[64, 40, 32]"), "W0379", "[64, n, 32] for n = 8, 16, 24, 32, 48, …, 256"),
    "rows of integers": (
        Case(kind="i8", along=True, bk=128, own=128, shape="[64, 128, 32]"), "W0379", "128 rows of i8 are more than one"),
    "rows that are columns": (Case(kind="i8", bk=128, shape="[64, 128, 32]"), "W0369", "operand of i8 is stored row by row"),
    "rows of tf32": (Case(kind="f32", bk=32, shape="[64, 128, 8] as tf32"), "W0369", "the instruction takes it column by column"),
    "rows of bytes": (Case(kind="f8E5M2", bk=128, shape="[64, 128, 32]"), "W0369", "operand of f8E5M2 is stored row by row"),
    "another k of bytes": (Case(kind="f8E4M3FN", along=True, bk=128, shape="[64, 128, 16]"), "W0379", "there are [64, n, 32]"),
    "two parts of f32": (Case(kind="f32", bk=32, shape="[64, 128, 8] as 3xtf32"), "W0379", "a warp group multiplies f32 as tf32"),
    "rows": (Case(own=32), "W0379", "whole 64 rows"),
    "types": (Case(kind="f32", shape="[64, 128, 8]"), "W0379", "no instruction of warp groups multiplies f32 by f32"),
    "unaligned rows": (Case(k=140), "W0405", "`A` with rows 280 bytes apart, and a tensor map needs multiples of 16"),
    "half a swizzle of A": (Case(bk=32, swizzles=(64, 128)), "W0369", "swizzled by 128 bytes, and this one is by 64"),
    "half a swizzle of B": (Case(swizzles=(128, 64)), "W0369", "swizzled by 128 bytes, and this one is by 64"),
    "copies of threads": (Case(copy="threads(*) cyclic vector 8"), "W0369", "tiles that tensor maps bring"),
    "a large box": (Case(bm=512, m=512), "W0405", "a box of 512 elements along a dimension"),
    "no box ahead through registers": (Case(pipeline="pipeline k stages 2"), "W0366", "passes through no registers"),
    "a producer that copies nothing": (
        Case(copy="threads(*) cyclic vector 8", pipeline="pipeline k stages 2 producer"),
        "W0366",
        "the tensor memory accelerator makes",
    ),
    "registers of no producer": (Case(pipeline="pipeline k stages 2 async registers 24"), "W0373", "a producer's threads"),
    "registers in no steps of 8": (Case(pipeline="pipeline k stages 2 producer registers 25"), "W0373", "a multiple of 8"),
    "overlap of no producer": (Case(pipeline="pipeline k stages 2 async overlap"), "W0373", "tiles that a producer brings"),
    "overlap of one stage": (Case(pipeline="pipeline k stages 1 producer overlap"), "W0373", "two stages or more"),
    "overlap of integers": (
        Case(kind="i8", along=True, bk=128, k=256, shape="[64, 128, 32]", pipeline="pipeline k stages 2 producer overlap"),
        "W0369", "no product of the loop stays in flight",
    ),
    "fewer registers than an instruction takes": (
        Case(k=512, pipeline="pipeline k stages 2 producer", most=24), "W0373", "a thread may have 24"),
    "registers of no number of blocks": (
        Case(k=512, pipeline="pipeline k stages 2 producer registers 24", most=100), "W0373", "no number of blocks uses all",
    ),
    "too few registers for the instruction": (
        Case(k=512, pipeline="pipeline k stages 2 producer registers 24", most=80), "W0373", "takes 90 registers",
    ),
    "a ring that does not fit": (Case(bn=256, k=512, pipeline="pipeline k stages 5 producer"), "W0355", "take 245760 bytes"),
    "blocks that no map makes": (
        Case(tiles="", pipeline="pipeline k stages 2 producer", barriers="insert-barriers"), "W0361",
        "a loop around it makes them, which no map distributes",
    ),
    "a distribution": (Case(copy="tma cyclic"), "W0349", "copied whole"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    case, code, said = REFUSED[name]
    with pytest.raises(WeftError) as raised:
        launched(case)
    found = raised.value.diagnostics[0]
    assert found.code == code and said in found.message, str(found)
    assert found.hint


RINGS = ["pipeline k stages 3 producer", "pipeline k stages 1 producer registers 24"]
RIGHT = [
    *((pipeline, "blocks(y, x)") for pipeline in ("", "pipeline k stages 2 async", "pipeline k stages 3 async", *RINGS)),
    *((pipeline, tiles) for pipeline in RINGS for tiles in ("blocks(x: 3) cyclic", "blocks(x: 2) block")),
]


@pytest.mark.few()
@pytest.mark.parametrize(("pipeline", "tiles"), RIGHT)
def test_right_and_proven(pipeline: str, tiles: str, tmp_path: Path) -> None:
    """Alone, ahead of time, and by a producer, one tile a block and several: what is proven is right on the simulator."""
    expect_right(Case(m=200, n=136, k=168, bm=64, bn=64, tiles=tiles, pipeline=pipeline, barriers="insert-barriers"), tmp_path)


@pytest.mark.parametrize("start", ["0x7F800000", "0x7FC00000", "1.0", "-0.0"])
def test_sums_that_begin_elsewhere_than_at_zero(start: str) -> None:
    """Infinity is spelled as a number of bits, which begins with a zero."""
    assert "init.accumulator" not in str(launched(Case(start=start)))
    assert "init.accumulator" in str(launched(Case()))


@pytest.mark.few()
@pytest.mark.parametrize("kind", ["f8E4M3FN", "f8E5M2"])
@pytest.mark.parametrize("n", [8, 64])
def test_sums_of_f16(kind: str, n: int, tmp_path: Path) -> None:
    tiles = Case(m=100, n=112, k=160, bm=64, bn=n, bk=128, kind=kind, sum="f16", shape=f"[64, {n}, 32]", along=True)
    expect_right(replace(tiles, pipeline=RINGS[0], barriers="insert-barriers"), tmp_path)


KINDS = [
    ("f16", 64, "[64, 64, 16]"), ("bf16", 128, "[64, 64, 16]"), ("f32", 32, "[64, 64, 8] as tf32"),
    ("f8E4M3FN", 128, "[64, 64, 32]"), ("f8E5M2", 128, "[64, 64, 32]"), ("i8", 128, "[64, 64, 32]"), ("i8", 256, "[64, 64, 32]"),
]  # fmt: skip


@pytest.mark.few(3)
@pytest.mark.parametrize(("kind", "bk", "shape"), KINDS)
def test_right_operands_whose_rows_are_columns(kind: str, bk: int, shape: str, tmp_path: Path) -> None:
    tiles = Case(m=100, n=112, k=144, bm=64, bn=64, bk=bk, kind=kind, shape=shape, along=True)
    expect_right(replace(tiles, pipeline=RINGS[0], barriers="insert-barriers"), tmp_path)


@pytest.mark.parametrize(("kind", "n", "k"), [("i8", 8, 32), ("bf16", 8, 16), ("f16", 24, 16)])
def test_few_columns(kind: str, n: int, k: int, tmp_path: Path) -> None:
    """Of 8 columns there is one piece, which is the whole tile."""
    tiles = Case(m=72, n=40, k=144, bm=64, bn=n, bk=4 * k, kind=kind, shape=f"[64, {n}, {k}]", along=True)
    expect_right(replace(tiles, pipeline=RINGS[0], barriers="insert-barriers"), tmp_path)


@pytest.mark.few(2)
@pytest.mark.parametrize(("stages", "k"), [(2, 256), (2, 192), (3, 192), (4, 256)])
def test_blocks_that_stay_and_load_together(stages: int, k: int, tmp_path: Path) -> None:
    """The first tiles of each pass are started in front of its loop, whether or not a pass leaves off where the ring ends."""
    ring = f"pipeline k stages {stages} async"
    tiles = Case(m=200, n=136, k=k, bm=64, bn=64, tiles="blocks(x: 3) cyclic", pipeline=ring, barriers="insert-barriers")
    expect_right(tiles, tmp_path)


def test_an_epilogue() -> None:
    """Bias and ReLU on the threads' own parts of the accumulator, in the consumers' role, at ragged edges."""
    run_right(Path(__file__).parent / "layer" / "layer.weft")


QUANTIZED = """
func.func @layer(%A: tensor<200x144xi8>, %B: tensor<136x144xi8>, %scale: tensor<136xf32>) -> tensor<200x136xf32> {
  %zero = arith.constant 0 : i32
  %none = arith.constant 0.0 : f32
  %sums = tensor.empty() : tensor<200x136xi32>
  %empty = tensor.empty() : tensor<200x136xf32>
  %init = linalg.fill ins(%zero : i32) outs(%sums : tensor<200x136xi32>) -> tensor<200x136xi32>
  %C = linalg.matmul indexing_maps = [
      affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%A, %B : tensor<200x144xi8>, tensor<136x144xi8>) outs(%init : tensor<200x136xi32>) -> tensor<200x136xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%C, %scale : tensor<200x136xi32>, tensor<136xf32>)
      outs(%empty : tensor<200x136xf32>) {
    ^bb0(%a: i32, %b: f32, %o: f32):
      %f = arith.sitofp %a : i32 to f32
      %s = arith.mulf %f, %b : f32
      %m = arith.maximumf %s, %none : f32
      linalg.yield %m : f32
  } -> tensor<200x136xf32>
  return %r : tensor<200x136xf32>
}
"""


def test_an_epilogue_of_integers(tmp_path: Path) -> None:
    """A quantized layer: sums in i32 are scaled, and become f32, where threads have them."""
    (tmp_path / "layer.mlir").write_text(QUANTIZED)
    text = (Path(__file__).parent / "layer" / "layer.weft").read_text().replace("[_, _, 64]", "[_, _, 128]")
    (tmp_path / "layer.weft").write_text(text.replace("[64, 64, 16]", "[64, 64, 32]"))
    run_right(tmp_path / "layer.weft")


def expect_right(case: Case, folder: Path) -> None:
    (folder / "x.mlir").write_text(case.payload)
    (folder / "case.weft").write_text(case.schedule)
    run_right(folder / "case.weft")


def run_right(schedule: Path) -> None:
    done = planned(applied(Choice(str(schedule)).open()))
    payload = done.applied.payload
    arrays = random_inputs(signature(payload), 1)
    ran = run_plan(done.plan, SimDevice(), arrays, text=done.applied.located_text)
    expect_computed("the simulator", ran, signature(payload), reference(payload, None, dict(arrays)), rounded=done.plan.rounded)
