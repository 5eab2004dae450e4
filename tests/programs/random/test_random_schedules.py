"""Random schedules, each of them refused by a diagnostic, or right and race-free by every witness: the simulator against the JIT'ed
payload, the proof, and (some of them) the text, compiled for the CPU.

Two kinds. `random_maps`: any op, type, space and distribution, maps nested in each other: 10 programs in a test run, 3,000 in a
soak, which prints what became of them; more than half of them must be accepted, or nothing would be tested. And staged products,
chains and sums of which any one barrier that is deleted is seen to be missing: 15 and 300.

A failure prints the payload and the schedule, ready to be tried by hand.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import pytest
from judging import assert_barriers_needed, expect_right, scheduled, verdict
from random_maps import program

SOAK = "WEFT_SOAK" in os.environ
COUNT = 300 if SOAK else 2
BATCHES, BATCH = (120, 25) if SOAK else (1, 10)
THREADS = ("block", "cyclic", "block-cyclic(2)", "block-cyclic(3)")


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_maps(batch: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seeds = range(batch * BATCH, (batch + 1) * BATCH)
    found = Counter(verdict(*program(random.Random(seed)), tmp_path, seed, native=seed % 12 == 0) for seed in seeds)
    if SOAK:
        with capsys.disabled():
            print(f"\n{dict(found)}")
    assert found["right"] > BATCH / 2, found


PRODUCT_AND_LEAST = """func.func @f(%a: tensor<17x8x1xf64>, %b: tensor<17x1x8xf64>, %c: tensor<17x8xf64>) -> tensor<17x8xf64> {
  %e = tensor.empty() : tensor<17x8x8xf64>
  %z = arith.constant 0.0 : f64
  %f = linalg.fill ins(%z : f64) outs(%e : tensor<17x8x8xf64>) -> tensor<17x8x8xf64>
  %p = linalg.batch_matmul ins(%a, %b : tensor<17x8x1xf64>, tensor<17x1x8xf64>) outs(%f : tensor<17x8x8xf64>)
      -> tensor<17x8x8xf64>
  %r = linalg.reduce { arith.minimumf } ins(%p : tensor<17x8x8xf64>) outs(%c : tensor<17x8xf64>) dimensions = [2]
  return %r : tensor<17x8xf64>
}
"""
TOTAL = """func.func @f(%a: tensor<7xi32>, %b: tensor<i32>) -> tensor<i32> {
  %r = linalg.reduce { arith.addi } ins(%a : tensor<7xi32>) outs(%b : tensor<i32>) dimensions = [0]
  return %r : tensor<i32>
}
"""
ONCE_WRONG = {
    "a temporary that all threads fill, copied in a loop over threads": (PRODUCT_AND_LEAST, """
        let e0 = match linalg.batch_matmul
        let z0 = match linalg.fill
        let e1 = match linalg.reduce
        let (tiles, tile) = tile e1 [_, 2, _]
        fuse e0 into tiles
        fuse z0 into tiles
        map tiles to blocks(y)
        let (least, one) = tile tile [4, _, _]
        map least to threads(z: 4) cyclic
        map z0 to threads(*) cyclic
        let (columns, column) = tile e0 [_, _, 8, _]
        map columns to threads(y: 2)
        let (batches, batch) = tile column [8, _, _, _]
        map batches to threads(z: 4) cyclic
        let (rows, row) = tile batch [_, 1, _, _]
        map rows to threads(x: 7) cyclic
        insert-barriers
        launch tiles""", "right"),
    "a reduction that one processor does whole": (TOTAL, """
        let e0 = match linalg.reduce
        map e0 to threads(x: 1)
        insert-barriers
        launch e0""", "right"),
}  # fmt: skip
"""Schedules at which `random_maps` found something wrong, and what becomes of them."""


@pytest.mark.parametrize("name", ONCE_WRONG)
def test_once_wrong(name: str, tmp_path: Path) -> None:
    payload, body, wanted = ONCE_WRONG[name]
    assert verdict(payload, body, tmp_path, 0, native=True) == wanted


def matmul(r: random.Random) -> tuple[str, str]:
    bm, bn, bk, tm, tn = (r.randint(1, 17) for _ in range(5))
    m, n, k, batch = r.randint(1, 40), r.randint(1, 40), r.randint(1, 30), r.choice([None, None, 1, 3])
    if r.random() < 0.4:  # tiles that divide
        m, n, k, tm, tn = bm * r.randint(1, 3), bn * r.randint(1, 3), bk * r.randint(1, 3), 1, 1
    kind = r.choice(["f32", "f64", "i32"])
    zero, lead = ("0" if kind == "i32" else "0.0"), "" if batch is None else f"{batch}x"
    name = "matmul" if batch is None else "batch_matmul"
    a, b, c = f"tensor<{lead}{m}x{k}x{kind}>", f"tensor<{lead}{k}x{n}x{kind}>", f"tensor<{lead}{m}x{n}x{kind}>"
    filled = r.random() < 0.7
    init = f"  %z = arith.constant {zero} : {kind}\n  %e = tensor.empty() : {c}\n"
    init += f"  %c = linalg.fill ins(%z : {kind}) outs(%e : {c}) -> {c}\n"
    payload = f"func.func @f(%A: {a}, %B: {b}{'' if filled else f', %c: {c}'}) -> {c} {{\n{init if filled else ''}"
    payload += f"  %r = linalg.{name} ins(%A, %B : {a}, {b}) outs(%c : {c}) -> {c}\n  return %r : {c}\n}}\n"
    one = "" if batch is None else "1, "
    axes = ("y", "x") if batch is None else ("z", "y", "x")
    skip = ", ".join("_" for _ in axes)
    rows, columns = r.randint(1, 8), r.randint(1, 8)
    space = f"threads(y: {rows}, x: {columns})" if batch is None else f"threads(z: 1, y: {rows}, x: {columns})"
    lanes = f"{space} {r.choice(THREADS)}"
    lines = [f"let g = match linalg.{name}", "let init = match? linalg.fill"]
    lines += [f"let (tiles, inner) = tile g [{one}{bm}, {bn}]", "fuse init into tiles"]
    lines += [f"map tiles to blocks({', '.join(axes)})"]
    lines += [f"let (il, io) = tile init [{one}{tm}, {tn}]", f"map il to {lanes}"]
    lines += [f"let (k, step) = tile inner [{skip}, {bk}]"]
    for operand in ("lhs", "rhs"):
        if r.random() < 0.8:
            options = r.choice(["", " transpose", " pad 1", " transpose pad 3"])
            lines += [f"let (s_{operand}, c_{operand}) = promote-to-shared step.{operand}{options}"]
            lines += [f"map c_{operand} to threads(*) {r.choice(THREADS)}"]
    lines += [f"let (lanes, one) = tile step [{one}{tm}, {tn}]", f"map lanes to {lanes}", "insert-barriers"]
    return payload, "\n".join([*lines, "verify-sync", "launch tiles"])


def elementwise(r: random.Random) -> tuple[str, str]:
    bm, bn, tm, tn = r.randint(1, 20), r.randint(1, 20), r.randint(1, 4), r.randint(1, 4)
    m, n = r.randint(1, 60), r.randint(1, 60)
    if r.random() < 0.4:
        bm, bn = bm * tm, bn * tn
        m, n = bm * r.randint(1, 3), bn * r.randint(1, 3)
    t, row = f"tensor<{m}x{n}xf32>", f"tensor<{n}xf32>"
    payload = f"""#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#swap = affine_map<(i, j) -> (j, i)>
func.func @f(%x: {t}, %s: {row}, %t: tensor<{n}x{m}xf32>) -> {t} {{
  %e = tensor.empty() : {t}
  %0 = linalg.generic {{indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}}
    ins(%x, %s : {t}, {row}) outs(%e : {t}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  }} -> {t}
  %1 = linalg.generic {{indexing_maps = [#id, #swap, #id], iterator_types = ["parallel", "parallel"]}}
    ins(%0, %t : {t}, tensor<{n}x{m}xf32>) outs(%e : {t}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.subf %a, %b : f32
    linalg.yield %p : f32
  }} -> {t}
  return %1 : {t}
}}
"""
    lines = ["let first = match linalg.generic #0", "let second = match linalg.generic #1"]
    lines += [f"let (tiles, inner) = tile second [{bm}, {bn}]", "fuse first into tiles", "map tiles to blocks(x, y)"]
    space = f"threads(y: {r.randint(1, 6)}, x: {r.randint(1, 6)}) {r.choice(THREADS)}"
    if r.random() < 0.5:
        lines += [f"let (lanes, one) = tile inner [{tm}, {tn}]", "fuse first into lanes", f"map lanes to {space}"]
    else:
        lines += [f"let (l1, o1) = tile first [{tm}, {tn}]", f"map l1 to {space}"]
        lines += [f"let (l2, o2) = tile inner [{tn}, {tm}]", f"map l2 to {space.split(')')[0]}) {r.choice(THREADS)}"]
        lines += ["insert-barriers", "verify-sync"]
    return payload, "\n".join([*lines, "launch tiles"])


def rows(r: random.Random) -> tuple[str, str]:
    m, n = r.randint(1, 70), r.randint(1, 50)
    combine, kind = r.choice([("addf", "f32"), ("maximumf", "f32"), ("addi", "i32"), ("minsi", "i32"), ("mulf", "f64")])
    payload = f"""#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
func.func @f(%x: memref<{m}x{n}x{kind}>, %s: memref<{m}x{kind}>) {{
  linalg.generic {{indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}}
    ins(%x : memref<{m}x{n}x{kind}>) outs(%s : memref<{m}x{kind}>) {{
  ^bb0(%a: {kind}, %o: {kind}):
    %p = arith.{combine} %o, %a : {kind}
    linalg.yield %p : {kind}
  }}
  return
}}
"""
    bm, bk, tm, threads = r.randint(1, 20), r.randint(1, 20), r.randint(1, 3), r.randint(1, 16)
    lines = ["let sum = match linalg.generic", f"let (tiles, inner) = tile sum [{bm}]", "map tiles to blocks(x)"]
    lines += [f"let (k, step) = tile inner [_, {bk}]"]
    if r.random() < 0.7:
        lines += [f"let (s, c) = promote-to-shared step.in0{r.choice(['', ' transpose', ' pad 1'])}"]
        lines += [f"map c to threads(*) {r.choice(THREADS)}"]
    lines += [f"let (lanes, one) = tile step [{tm}]", f"map lanes to threads(x: {threads}) {r.choice(THREADS)}"]
    return payload, "\n".join([*lines, "insert-barriers", "verify-sync", "launch tiles"])


@pytest.mark.parametrize("seed", range(COUNT))
def test_random_schedule(seed: int, tmp_path: Path) -> None:
    r = random.Random(seed)
    payload, body = r.choice([matmul, matmul, elementwise, rows])(r)
    made = scheduled(payload, body, tmp_path)
    expect_right(made, seed, f"\n{payload}\n{body}")
    assert_barriers_needed(made, seed, f"{payload}\n{body}")
