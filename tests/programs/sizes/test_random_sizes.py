"""Random schedules of programs whose sizes are open, at random sizes: what is proven for all is right and race-free at each; a
barrier less is found by the proof, and by the simulator at the sizes that the proof's witness names."""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from executors import expect_computed

import weft
from weft.dsl.diagnostics import Source, WeftError
from weft.interpreter.ir.mlir import operations
from weft.interpreter.proof.kernels.kernels import kernel_model
from weft.interpreter.proof.races.proof import Findings
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs, sized
from weft.runtime.host.functions import signature
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

SOAK = "WEFT_SOAK" in os.environ
SCHEDULES = 250 if SOAK else 2
SIZES = 4 if SOAK else 2

MATRIX = """func.func @f(%A: {a}, %B: {b}, %C: {c}) -> {c} {{
  %r = linalg.{op} ins(%A, %B : {a}, {b}) outs(%C : {c}) -> {c}
  return %r : {c}
}}
"""
SUMS = """func.func @f(%A: {a}, %B: {b}, %C: {c}) -> {c} {{
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
      affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%A, %B : {a}, {b}) outs(%C : {c}) {{
  ^bb0(%x: {t}, %y: {t}, %s: {t}):
    %d = arith.sub{f} %x, %y : {t}
    %q = arith.mul{f} %d, %d : {t}
    %n = arith.add{f} %s, %q : {t}
    linalg.yield %n : {t}
  }} -> {c}
  return %r : {c}
}}
"""


@dataclass
class Case:
    """A program and a schedule. `axes`: the arguments' axes that are open."""

    payload: str
    schedule: str
    axes: list[str]


def case(seed: int) -> Case:
    """A product, or a sum of squared differences (whose update is masked where it is ragged), with at least one size open."""
    draw = random.Random(seed)
    tile = {d: draw.choice([1, 2, 3, 4, 5, 8]) for d in "mnk"}
    extents = {d: draw.choice([tile[d], draw.randrange(1, 24), draw.randrange(1, 24)]) for d in "mnk"}
    open_ = draw.sample("mnk", draw.randrange(1, 4))
    type = draw.choice(["f32", "f64", "i32"])
    m, n, k = ("?" if d in open_ else str(extents[d]) for d in "mnk")
    a, b, c = (f"tensor<{x}x{y}x{type}>" for x, y in ((m, k), (k, n), (m, n)))
    op = draw.choice(["matmul", "generic"])
    text = MATRIX if op == "matmul" else SUMS
    payload = text.format(a=a, b=b, c=c, op=op, t=type, f="f" if type[0] == "f" else "i")
    axes = [axis for d, axis in zip("mnk", ("A.0", "B.1", "A.1"), strict=True) if d in open_]
    return Case(payload, _schedule(draw, op, tile), axes)


def _schedule(draw: random.Random, op: str, tile: dict[str, int]) -> str:
    bm, bn, bk = (tile[d] for d in "mnk")
    way = draw.choice(["", " cyclic", f" block-cyclic({draw.randrange(1, 4)})"])
    lines = [f"let op = match linalg.{op}", f"let (tiles, tile_mm) = tile op [{bm}, {bn}]"]
    lines.append("map tiles to blocks(y, x)" + draw.choice(["", "", " order grouped(2)"]))
    lines.append(f"let (k, step) = tile tile_mm [_, _, {bk}]")
    promoted = draw.choice([["lhs", "rhs"], ["lhs"], ["rhs"], []] if op == "matmul" else [["0", "1"], ["1"], []])
    for name in promoted:
        operand = name if name in ("lhs", "rhs") else f"in{name}"
        extra = draw.choice(["", " transpose", " pad 1", " transpose pad 1"])
        lines.append(f"let ({operand}_s, {operand}_c) = promote-to-shared step.{operand}{extra}")
        lines.append(f"map {operand}_c to threads(*) cyclic")
    rows, columns = draw.choice([(1, 1), (1, 1), (2, 1), (1, 2)])
    rows, columns = 1 if bm % rows else rows, 1 if bn % columns else columns
    lines.append(f"let (lanes, one) = tile step [{rows}, {columns}]")
    y, x = -(-bm // rows), -(-bn // columns)
    if draw.random() < 0.4:  # fewer processors than iterations, or more
        y, x = max(1, y + draw.choice([-1, 0, 1])), max(1, x + draw.choice([-2, 0, 1]))
        way = way or " cyclic"
    registers = way in ("", " cyclic") and y * x >= bm // rows * (bn // columns)
    lines.append(f"map lanes to threads(y: {y}, x: {x}){way}")
    if registers and draw.random() < 0.6:
        lines.append("promote-to-registers one.acc across k")
    lines += ["insert-barriers", "launch tiles"]
    return "schedule s() {\n  " + "\n  ".join(lines) + "\n}\n"


def made(one: Case) -> Planned:
    text, program = Source("s.weft", one.schedule), Source("p.mlir", one.payload)
    return planned(applied(Choice("", text=text, program=program).open()))


def inputs_at(done: Planned, sizes: dict[str, int], rest: int, seed: int) -> dict[str, np.ndarray]:
    wanted = sized(signature(done.applied.payload), {k: str(v) for k, v in sizes.items()}, done.plan.agreements, rest)
    return random_inputs(wanted, seed)


def expect_right(done: Planned, arrays: dict[str, np.ndarray], what: object) -> None:
    ran = run_plan(done.plan, SimDevice(), arrays, text=done.applied.located_text)
    assert not ran.races and not ran.faults, what
    expected = reference(done.applied.payload, None, dict(arrays))
    expect_computed("the simulator", ran, signature(done.applied.payload), expected, shown=f"\n{what}")


def expect_found(done: Planned, one: Case, seed: int) -> int:
    """Each deleted barrier is found by both witnesses; how many there were."""
    (whole,) = operations(done.applied.module.operation, "gpu.func")
    count = len(list(operations(whole, "gpu.barrier")))
    for number in range(count):
        module = done.applied.module.operation.clone()
        (kernel,) = operations(module, "gpu.func")
        list(operations(kernel, "gpu.barrier"))[number].erase()
        found = [c for c in Findings(kernel_model(kernel)).conflicts if not c.assumed]
        assert found, (seed, number)
        witness = dict(found[0].where)
        sizes = {axis: witness[axis] for axis in one.axes if axis in witness}
        arrays = inputs_at(done, sizes, 9, seed)
        ran = run_plan(done.plan, SimDevice(), arrays, text=module.get_asm(enable_debug_info=True))
        assert ran.races, (seed, number, sizes, found[0].notes())
    return count


def test_random_schedules_at_random_sizes() -> None:
    seen: Counter[str] = Counter()
    seed = 0
    while seen["schedules"] < SCHEDULES:
        seed += 1
        one, draw = case(seed), random.Random(seed)
        try:
            done = made(one)
        except WeftError as error:
            seen[error.diagnostics[0].code] += 1
            continue
        seen["schedules"] += 1
        remarks = [remark for step in done.applied.session.steps for remark in step.remarks]
        assert not any("assumed" in remark for remark in remarks), (seed, remarks)
        for _ in range(SIZES):
            sizes = {axis: draw.choice([0, 1, *range(1, 40)]) for axis in one.axes}
            expect_right(done, inputs_at(done, sizes, 1, seed), (seed, sizes))
            seen["pairs"] += 1
        seen["barriers"] += expect_found(done, one, seed)
    print(dict(seen))
    assert seed < 2 * SCHEDULES, seen
    assert seen["barriers"] >= SCHEDULES // 2, seen


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_kernel_on_the_cpu_gives_the_same(seed: int) -> None:
    while True:
        one = case(seed)
        try:
            kernel = weft.compile(one.schedule, one.payload, target="cpu")
            break
        except WeftError:
            seed += 1000
    done = made(one)
    for rest in (0, 1, 7, 33):
        arrays = inputs_at(done, {}, rest, seed)
        ran = run_plan(done.plan, SimDevice(), arrays, text=done.applied.located_text)
        assert np.allclose(kernel(*arrays.values()), ran.outputs["result0"], atol=1e-3), (seed, rest)


CHUNKS = """schedule chunks() {
  let mm = match linalg.matmul
  let (tiles, t) = tile mm [8, 8]
  map tiles to blocks(y: 2, x: 2) block-cyclic(2)
  let (k, step) = tile t [_, _, 8]
  let (a, copy_a) = promote-to-shared step.lhs
  let (b, copy_b) = promote-to-shared step.rhs
  map copy_a to threads(*) block-cyclic(2)
  map copy_b to threads(*) block-cyclic(2)
  let (lanes, one) = tile step [1, 1]
  map lanes to threads(y: 8, x: 8)
  insert-barriers
  launch tiles
}
"""
ADDED = """
func.func @added(%A: tensor<?x16xf32>, %B: tensor<16x?xf32>, %C: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%A, %B : tensor<?x16xf32>, tensor<16x?xf32>) outs(%C : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
"""


def test_chunks_of_tiles_and_of_copies_are_within_the_budget_of_the_proof() -> None:
    one = planned(weft.apply(CHUNKS, payload=ADDED))
    a, b = np.ones((41, 16), np.float32), np.ones((16, 35), np.float32)
    done = run_plan(one.plan, SimDevice(), {"A": a, "B": b, "C": np.ones((41, 35), np.float32)}, text=one.applied.located_text)
    assert (done.outputs["result0"] == 17).all() and not done.races and not done.faults
