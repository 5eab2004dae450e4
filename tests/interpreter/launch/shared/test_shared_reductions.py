"""Reductions that lanes and threads share: right by every witness, whatever is combined, and who has which iterations."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from judging import assert_barriers_needed, assert_lanes_needed, expect_right, scheduled, verdict
from random_reductions import case

from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

SOAK = "WEFT_SOAK" in os.environ

# ---- one row for each block, or for each warp ----------------------------------------------------------------------------------

INTEGERS = {"i32": np.int32, "i64": np.int64}
TYPES: dict[str, type] = {**INTEGERS, "f32": np.float32, "f64": np.float64}
WHAT = {
    "sum": ("%u = arith.add{l} %o, %t : {t}", "0", lambda x: x.sum(1)),
    "difference": ("%u = arith.sub{l} %o, %t : {t}", "0", lambda x: -x.sum(1)),
    "product": ("%u = arith.mul{l} %t, %o : {t}", "1", lambda x: x.prod(1)),
    "largest": ("%u = arith.max{x} %o, %t : {t}", "least", lambda x: x.max(1)),
    "smallest": ("%u = arith.min{x} %t, %o : {t}", "most", lambda x: x.min(1)),
    "or": ("%u = arith.ori %o, %t : {t}", "0", lambda x: np.bitwise_or.reduce(x, 1)),
    "xor": ("%u = arith.xori %o, %t : {t}", "0", lambda x: np.bitwise_xor.reduce(x, 1)),
    "and": ("%u = arith.andi %o, %t : {t}", "-1", lambda x: np.bitwise_and.reduce(x, 1)),
}
LIMITS = {
    "i32": (str(-(2**31)), str(2**31 - 1)),
    "i64": (str(-(2**63)), str(2**63 - 1)),
    "f32": ("0xFF800000", "0x7F800000"),
    "f64": ("0xFFF0000000000000", "0x7FF0000000000000"),
}


def rows(r: random.Random) -> tuple[str, str, int, int]:
    """A reduction of rows: its payload, what it is, and the size."""
    kind = r.choice(list(TYPES))
    what = r.choice([w for w in WHAT if kind in INTEGERS or w not in ("or", "xor", "and")])
    m, n = r.randint(1, 5), r.choice((1, 2, 31, 32, 33, r.randint(3, 300), 4 * r.randint(1, 80), 256))
    line, start, _ = WHAT[what]
    letters = {"l": "i" if kind in INTEGERS else "f", "x": "si" if kind in INTEGERS else "imumf", "t": kind}
    start = {"least": LIMITS[kind][0], "most": LIMITS[kind][1]}.get(start, start if kind in INTEGERS else f"{start}.0")
    x, y = f"tensor<{m}x{n}x{kind}>", f"tensor<{m}x{kind}>"
    body = [f"    %t = arith.mul{letters['l']} %v, %v : {kind}"] if what == "sum" else []
    body.append(f"    {line}".format(**letters).replace("%t", "%t" if body else "%v"))
    payload = "\n".join([
        f"func.func @f(%x: {x}) -> {y} {{", f"  %c = arith.constant {start} : {kind}", f"  %e = tensor.empty() : {y}",
        f"  %s = linalg.fill ins(%c : {kind}) outs(%e : {y}) -> {y}",
        "  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],",
        f'      iterator_types = ["parallel", "reduction"]}} ins(%x : {x}) outs(%s : {y}) {{',
        f"  ^bb0(%v: {kind}, %o: {kind}):", *body, f"    linalg.yield %u : {kind}", f"  }} -> {y}", f"  return %r : {y}", "}\n",
    ])  # fmt: skip
    return payload, what, n, np.dtype(TYPES[kind]).itemsize


def distribution(r: random.Random, n: int, item: int) -> str:
    how = r.choice(("cyclic", "cyclic", "block", f"block-cyclic({r.randint(1, 4)})"))
    wide = [v for v in (2, 4) if n % v == 0 and v * item <= 16]
    return f" {how}" + (f" vector {r.choice(wide)}" if wide and r.random() < 0.6 else "")


def shared(r: random.Random, n: int, item: int) -> str:
    """A schedule in which a block has several rows, and hands each to all its threads, or to a warp."""
    height, how = r.randint(1, 3), distribution(r, n, item)
    lines = ["let g = match linalg.generic", "let fills = match* linalg.fill", f"let (tiles, row) = tile g [{height}]"]
    lines += ["foreach init in fills {", "fuse init into tiles", "}", "map tiles to blocks(x)"]
    staged = r.random() < 0.4 and n > 1
    if r.random() < 0.5:
        space = r.choice((f"threads(x: {32 * r.choice((1, 2, 3, 8))})", "lanes"))
        lines += ["promote-to-registers row.in0"] if staged and height == 1 and space != "lanes" else []
        lines += [f"map row to {space}{how}"]
    else:
        lines += ["let (warps, one) = tile row [1]", "foreach init in fills {", "fuse init into warps", "}"]
        lines += [f"map warps to {r.choice(('warps(x)', 'warps(x)', 'warps(x: 2) cyclic'))}"]
        lines += ["promote-to-registers one.in0"] if staged else []
        lines += [f"map one to lanes{how}"]
    return "\n".join([*lines, "insert-barriers", "verify-sync", "launch tiles"])


def in_rows_of_lanes(r: random.Random, n: int, item: int) -> str:
    """A schedule in which rows of lanes have rows of the payload, and the lanes of each share what it reduces."""
    count, (rows, lanes) = 1 << r.randint(1, 4), r.choice(("yx", "xy"))
    most = 32 // count * r.randint(1, 2)
    height = most * r.randint(1, 2)
    lines = ["let g = match linalg.generic", "let fills = match* linalg.fill", f"let (tiles, row) = tile g [{height}]"]
    lines += ["foreach init in fills {", "fuse init into tiles", "}", "map tiles to blocks(x)"]
    lines += [f"let (warps, some) = tile row [{most}]", "foreach init in fills {", "fuse init into warps", "}"]
    lines += ["map warps to warps(x)", "let (each, one) = tile some [1]", "foreach init in fills {", "fuse init into each", "}"]
    lines += [f"map each to lanes({rows}: {32 // count}) {r.choice(('cyclic', 'block'))}"]
    lines += [f"map one to lanes({lanes}: {count}){distribution(r, n, item)}"]
    return "\n".join([*lines, "insert-barriers", "verify-sync", "launch tiles"])


@pytest.mark.few()
@pytest.mark.parametrize("how", [shared, in_rows_of_lanes])
@pytest.mark.parametrize("seed", range(300 if SOAK else 2))
def test_random_reductions(how: Callable[[random.Random, int, int], str], seed: int, tmp_path: Path) -> None:
    """Against NumPy, the reference, and every device; without any of its barriers it is a race."""
    r = random.Random(seed)
    payload, what, n, item = rows(r)
    body = how(r, n, item)
    made = scheduled(payload, body, tmp_path)
    shown = f"\n{payload}\n{body}\n"
    expect_right(made, seed, shown, native=True)
    inputs = random_inputs(functions.signature(made.applied.payload, None), seed)
    (got,) = run_plan(made.plan, SimDevice(), inputs, text=made.applied.text).outputs.values()
    (x,) = inputs.values()
    wide = x if x.dtype.kind == "i" else x.astype(np.float64)
    wanted = WHAT[what][2](wide * wide if what == "sum" else wide)
    wanted = wanted.astype(got.dtype) if got.dtype.kind == "i" else wanted  # as the payload's integers, which wrap
    assert np.allclose(got, wanted, rtol=1e-5 if x.dtype == np.float32 else 1e-12, atol=1e-5 if x.dtype.kind == "f" else 0), shown
    assert_barriers_needed(made, seed, shown)
    assert_lanes_needed(made, seed, shown)


# ---- any body --------------------------------------------------------------------------------------------------------------------

REFUSED = {"W0343", "W0348"}
MIXED = "W0351"
"""Of several results, one is filled and another goes on from memory (equal fills are one): nobody has been told who fills."""


@pytest.mark.parametrize("seed", range(300 if SOAK else 2))
def test_random_bodies(seed: int, tmp_path: Path) -> None:
    """Several inputs and results, conversions, indices, where the largest is: right, or refused as nothing to be shared."""
    r = random.Random(5000 + seed)
    payload = case(r).payload
    found = verdict(payload, shared(r, 1, 8), tmp_path, seed, native=True)
    assert found == "right" or found in REFUSED or (found == MIXED and "%r:2" in payload), f"{found}\n{payload}"


LARGEST = """\
func.func @f(%x: tensor<6x90xf32>) -> (tensor<6xf32>, tensor<6xi32>) {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<6xf32>
  %ei = tensor.empty() : tensor<6xi32>
  %s = linalg.fill ins(%least : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %si = linalg.fill ins(%zero : i32) outs(%ei : tensor<6xi32>) -> tensor<6xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6x90xf32>) outs(%s, %si : tensor<6xf32>, tensor<6xi32>) {
  ^bb0(%a: f32, %best: f32, %at: i32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    %c = arith.cmpf COMPARED : f32
    %v = arith.select %c, %a, %best : f32
    %w = arith.select %c, %k, %at : i32
    linalg.yield %v, %w : f32, i32
  } -> (tensor<6xf32>, tensor<6xi32>)
  return %r#0, %r#1 : tensor<6xf32>, tensor<6xi32>
}
"""
IN_PARTS = """\
let g = match linalg.generic
let (part, zeros, merge) = split-k g 7{cyclic}
let (t, o) = tile part [1, 2]
fuse zeros into t
map t to blocks(y, x)
map o to threads(x: 32) cyclic
launch t
let fills = match* linalg.fill
let (t2, m) = tile merge [1]
foreach init in fills {{
fuse init into t2
}}
map t2 to blocks(x)
map m to lanes cyclic
insert-barriers
launch t2"""


@pytest.mark.few(3)
@pytest.mark.parametrize("compared", ["ogt, %a, %best", "olt, %best, %a", "olt, %a, %best"])
@pytest.mark.parametrize("body", ["shared", "parts", "cyclic"])
def test_the_first_of_several_that_are_equal(compared: str, body: str, tmp_path: Path) -> None:
    """Where the extreme occurs more than once, the loop's answer: the first of them; of a row of NaN, none."""
    payload = LARGEST.replace("COMPARED", compared)
    statements = "let g = match linalg.generic\nlet fills = match* linalg.fill\nlet (t, o) = tile g [2]\nforeach init in fills {\n"
    statements += "fuse init into t\n}\nmap t to blocks(x)\nmap o to threads(x: 64) cyclic\ninsert-barriers\nlaunch t"
    if body != "shared":
        statements = IN_PARTS.format(cyclic=" cyclic" if body == "cyclic" else "")
    made = scheduled(payload, statements, tmp_path)
    x = np.random.default_rng(3).integers(-3, 4, (6, 90)).astype(np.float32)
    x[1] = np.nan
    x[2, 5:80] = np.nan
    if "ogt" in compared or compared.startswith("olt, %best"):
        x[3] = -np.inf
    wanted = reference(made.applied.payload, None, {"x": x})
    got = run_plan(made.plan, SimDevice(), {"x": x}, text=made.applied.text)
    assert not got.races and not got.faults
    for one, other in zip(got.outputs.values(), wanted.values(), strict=True):
        assert np.array_equal(one, other, equal_nan=True), (one, other)


TOTAL = """\
func.func @f(%x: tensor<1000xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<1000xf32>) outs(%s : tensor<f32>) {
  ^bb0(%v: f32, %o: f32):
    %u = arith.addf %o, %v : f32
    linalg.yield %u : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
"""


@pytest.mark.parametrize("space", ["threads(x: 128) cyclic vector 4", "lanes cyclic", "threads(x: 96) block"])
def test_a_sum_of_no_dimensions(space: str, tmp_path: Path) -> None:
    """One block sums up all there is."""
    body = f"let s = match linalg.fill\nlet g = match linalg.generic\nmap s to threads(x: 1)\nmap g to {space}\nlaunch s\nlaunch g"
    assert verdict(TOTAL, body, tmp_path, 1, native=True) == "right"


def test_a_block_of_half_a_warp(tmp_path: Path) -> None:
    """Its threads exchange nothing by shuffles: all that they have made goes through shared memory."""
    body = "let g = match linalg.generic\nlet init = match linalg.fill\nlet (t, o) = tile g [1]\nfuse init into t\n"
    body += "map t to blocks(x)\nmap o to threads(x: 48) cyclic\ninsert-barriers\nlaunch t"
    assert verdict(rows(random.Random(12))[0], body, tmp_path, 1, native=True) == "right"


ADDED = """\
func.func @f(%x: tensor<5x96xf32>, %s: tensor<5xf32>) -> tensor<5xf32> {
  %t = linalg.reduce { arith.addf } ins(%x : tensor<5x96xf32>) outs(%s : tensor<5xf32>) dimensions = [1]
  return %t : tensor<5xf32>
}
"""


@pytest.mark.few(3)
@pytest.mark.parametrize("threads", [32, 64, 160])
@pytest.mark.parametrize("space", ["lanes cyclic", "lanes block vector 2", "threads(x: THREADS) cyclic"])
def test_what_goes_on_from_memory_is_added_to_once(space: str, threads: int, tmp_path: Path) -> None:
    """In a block of several warps, all of which have the sum of its row."""
    body = "let s = match linalg.reduce\nlet (t, o) = tile s [1]\nmap t to blocks(x)\nlet (x, copy) = promote-to-shared o.in0\n"
    body += f"map copy to threads(x: {threads}) cyclic\nmap o to {space.replace('THREADS', str(threads))}\n"
    assert verdict(ADDED, f"{body}insert-barriers\nverify-sync\nlaunch t", tmp_path, 1, native=True) == "right"


WELFORD = """\
func.func @f(%x: tensor<6x90xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<6xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %r:3 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>,
      affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<6x90xf32>) outs(%s, %s, %s : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
  ^bb0(%a: f32, %count: f32, %mean: f32, %squares: f32):
    %n = arith.addf %count, %one : f32
    %d = arith.subf %a, %mean : f32
    %q = arith.divf %d, %n : f32
    %m = arith.addf %mean, %q : f32
    %d2 = arith.subf %a, %m : f32
    %p = arith.mulf %d, %d2 : f32
    %t = arith.addf %squares, %p : f32
    linalg.yield %n, %m, %t : f32, f32, f32
  } -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>)
  return %r#0, %r#1, %r#2 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}
"""
ON_ROWS = """\
let g = match linalg.generic
let init = match linalg.fill
let (t, o) = tile g [1]
fuse init into t
map t to blocks(x)
map o to {space}
insert-barriers
launch t"""


RECIPROCAL = "%h = arith.divf %one, %n : f32\n    %q = arith.mulf %h, %d : f32"


@pytest.mark.few(2)
@pytest.mark.parametrize("step", ["%q = arith.divf %d, %n : f32", RECIPROCAL])
@pytest.mark.parametrize("space", ["threads(x: 64) cyclic", "threads(x: 256) block", "lanes cyclic vector 2"])
def test_means_and_squared_differences_are_merged(space: str, step: str, tmp_path: Path) -> None:
    """Threads without any element among them."""
    payload = WELFORD.replace("%q = arith.divf %d, %n : f32", step)
    assert verdict(payload, ON_ROWS.format(space=space), tmp_path, 1, native=True) == "right"


@pytest.mark.parametrize(("old", "new"), [
    ("%d2 = arith.subf %a, %m", "%d2 = arith.subf %a, %mean"), ("arith.divf %d, %n", "arith.divf %d, %count"),
    ("arith.constant 1.0", "arith.constant 2.0"), ("arith.mulf %d, %d2", "arith.mulf %d2, %d2"),
    ("%d = arith.subf %a, %mean", "%d = arith.subf %mean, %a"), ("arith.addf %squares, %p", "arith.subf %squares, %p"),
])  # fmt: skip
def test_what_is_almost_welfords_recurrence_is_refused(old: str, new: str, tmp_path: Path) -> None:
    assert old in WELFORD
    assert verdict(WELFORD.replace(old, new), ON_ROWS.format(space="lanes cyclic"), tmp_path, 1) == "W0343"


STAGED = """\
let g = match linalg.generic
let init = match linalg.fill
let (t, o) = tile g [1]
fuse init into t
map t to blocks(x)
promote-to-registers o.in0
{more}map o to threads(x: 64) cyclic
insert-barriers
launch t"""


def test_a_row_is_read_once(tmp_path: Path) -> None:
    """And an op with another map cannot read what a thread keeps."""
    payload = rows(random.Random(12))[0]
    made = scheduled(payload, STAGED.format(more=""), tmp_path)
    assert made.applied.text.count("memref.load %arg0") == 1 and "x_tile" in made.cuda


MOST_OFF = """\
func.func @f(%x: tensor<7x40xi64>) -> tensor<7xi64> {
  %most = arith.constant 99 : i64
  %two = arith.constant 2 : i64
  %e = tensor.empty() : tensor<7xi64>
  %z = linalg.fill ins(%most : i64) outs(%e : tensor<7xi64>) -> tensor<7xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<7x40xi64>) outs(%z : tensor<7xi64>) {
  ^bb0(%a: i64, %o: i64):
    %u = arith.minsi %o, %a : i64
    linalg.yield %u : i64
  } -> tensor<7xi64>
  %y = linalg.fill ins(%two : i64) outs(%e : tensor<7xi64>) -> tensor<7xi64>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x, %r : tensor<7x40xi64>, tensor<7xi64>) outs(%y : tensor<7xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %d = arith.subi %a, %b : i64
    %u = arith.addi %o, %d : i64
    linalg.yield %u : i64
  } -> tensor<7xi64>
  return %w : tensor<7xi64>
}
"""


@pytest.mark.few(2)
@pytest.mark.parametrize(("rows", "shared"), [
    ("threads(x: 4)", "threads(y: 16)"), ("threads(z: 2)", "threads(x: 8)"), ("warps(x: 4)", "lanes(y: 8)"),
])  # fmt: skip
@pytest.mark.parametrize("height", [1, 2])
def test_who_shares_a_reduction_begins_it(rows: str, shared: str, height: int, tmp_path: Path) -> None:
    """Where a barrier splits the loop over rows between the result's first value and its parts, it was the first thread along the
    shared axes that had a first value, and all of them the sum."""
    body = f"""let g = match linalg.generic #0
let w = match linalg.generic #1
let z = match linalg.fill #0
let y = match linalg.fill #1
let (t, o) = tile w [{height}]
fuse g into t
fuse z into t
fuse y into t
map t to blocks(x)
let (t2, o2) = tile o [{height}]
fuse y into t2
map t2 to {rows} cyclic
map o2 to {shared} cyclic
let (t3, o3) = tile g [1]
fuse z into t3
map t3 to {rows} cyclic
map o3 to {shared} cyclic
insert-barriers
launch t"""
    expect_right(scheduled(MOST_OFF, body, tmp_path), 3, body, native=True)


ACROSS = """\
func.func @f(%x: tensor<13x32xi64>) -> tensor<13xi64> {
  %c = arith.constant 0 : i64
  %e = tensor.empty() : tensor<13xi64>
  %s = linalg.fill ins(%c : i64) outs(%e : tensor<13xi64>) -> tensor<13xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (i)>],
      iterator_types = ["reduction", "parallel"]} ins(%x : tensor<13x32xi64>) outs(%s : tensor<13xi64>) {
  ^bb0(%a: i64, %o: i64):
    %u = arith.addi %o, %a : i64
    linalg.yield %u : i64
  } -> tensor<13xi64>
  return %r : tensor<13xi64>
}
"""


@pytest.mark.parametrize(("space", "found"), [
    ("threads(x: 2) cyclic", "right"), ("lanes cyclic", "right"), ("threads(x: 3) block", "right"),
    ("threads(x: 2) cyclic vector 2", "W0343"), ("lanes block vector 2", "W0343"),
])  # fmt: skip
def test_what_is_reduced_is_not_the_last_dimension(space: str, found: str, tmp_path: Path) -> None:
    """Vectors lie along the last one: taken for iterations of what is reduced they left half of it out."""
    body = "let g = match linalg.generic\nlet init = match linalg.fill\nlet (t, o) = tile g [_, 2]\nfuse init into t\n"
    body += f"map t to blocks(x)\nmap o to {space}\ninsert-barriers\nlaunch t"
    assert verdict(ACROSS, body, tmp_path, 1, native=True) == found
