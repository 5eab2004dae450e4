"""Scans that lanes, threads and blocks share: right by every witness, whatever is combined, and who has which iterations."""

from __future__ import annotations

import os
import random
from pathlib import Path

import numpy as np
import pytest
from judging import assert_barriers_needed, assert_lanes_needed, expect_right, scheduled, verdict

from weft.interpreter.indices.arithmetic import constant
from weft.interpreter.ir.mlir import arith, ir, operations, parse
from weft.interpreter.launch.shared import scans
from weft.pipeline import Applied, Choice, applied, planned
from weft.runtime.cpu.device import CpuDevice
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.run.compare import compare
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

SOAK = "WEFT_SOAK" in os.environ

WHAT = {
    "sum": ("arith.add{l}", "0"),
    "difference": ("arith.sub{l}", "0"),
    "product": ("arith.mul{l}", "1"),
    "largest": ("arith.max{x}", "0"),
    "smallest": ("arith.min{x}", "0"),
    "or": ("arith.ori", "0"),
    "xor": ("arith.xori", "0"),
    "and": ("arith.andi", "-1"),
}
INTEGERS = {"i8": 1, "i32": 4, "i64": 8}
BYTES = {**INTEGERS, "f32": 4, "f64": 8}


def scan(r: random.Random, *, rows: bool) -> tuple[str, int, int]:
    """Scans of rows, or of all there is: one or two running results, elements before or after a term, and indices among the terms.
    Its payload, and how many elements of how many bytes a row has."""
    kind = r.choice(list(BYTES))
    whole = kind in INTEGERS
    letters = {"l": "i" if whole else "f", "x": "si" if whole else "imumf"}
    names = [w for w in WHAT if whole or w not in ("or", "xor", "and")]
    chosen = [r.choice(names) for _ in range(r.choice((1, 1, 2)))]
    m, n = r.randint(1, 4), r.choice((1, 2, 31, 32, 33, r.randint(3, 300), 4 * r.randint(1, 150), 256))
    x, y = (f"tensor<{m}x{n}x{kind}>", f"tensor<{m}x{kind}>") if rows else (f"tensor<{n}x{kind}>", f"tensor<{kind}>")
    exclusive, numbered = r.random() < 0.3, whole and r.random() < 0.4
    lines, total = [], len(chosen)
    if numbered:
        lines += [f"    %j = linalg.index {int(rows)} : index", f"    %k = arith.index_cast %j : index to {kind}"]
        lines += [f"    %t = arith.addi %v, %k : {kind}"]
    term = "%t" if numbered else "%v"
    for number, what in enumerate(chosen):
        lines.append(f"    %u{number} = {WHAT[what][0].format(**letters)} %o{number}, {term} : {kind}")
    source = "o" if exclusive else "u"
    element = f"%{source}0"
    if total == 2:
        lines.append(f"    %w = arith.add{letters['l']} %{source}0, %{source}1 : {kind}")
        element = "%w"
    starts = [WHAT[what][1] if whole else f"{WHAT[what][1]}.0" for what in chosen]
    results = ", ".join([y] * total + [x])
    body = [
        f"func.func @f(%x: {x}) -> ({results}) {{",
        *(f"  %c{n} = arith.constant {start} : {kind}" for n, start in enumerate(starts)),
        f"  %e = tensor.empty() : {y}", f"  %f = tensor.empty() : {x}",
        *(f"  %s{n} = linalg.fill ins(%c{n} : {kind}) outs(%e : {y}) -> {y}" for n in range(total)),
    ]  # fmt: skip
    whole_map, row = ("(i, j) -> (i, j)", "(i, j) -> (i)") if rows else ("(i) -> (i)", "(i) -> ()")
    maps = ", ".join(f"affine_map<{m}>" for m in [whole_map, *[row] * total, whole_map])
    iterators = '["parallel", "reduction"]' if rows else '["reduction"]'
    outs = ", ".join([*(f"%s{n}" for n in range(total)), "%f"])
    arguments = ", ".join([f"%v: {kind}", *(f"%o{n}: {kind}" for n in range(total)), f"%old: {kind}"])
    body += [
        f"  %r:{total + 1} = linalg.generic {{indexing_maps = [{maps}], iterator_types = {iterators}}}",
        f"      ins(%x : {x}) outs({outs} : {results}) {{", f"  ^bb0({arguments}):", *lines,
        f"    linalg.yield {', '.join([*(f'%u{n}' for n in range(total)), element])} : {', '.join([kind] * (total + 1))}",
        f"  }} -> ({results})", f"  return {', '.join(f'%r#{n}' for n in range(total + 1))} : {results}", "}\n",
    ]  # fmt: skip
    return "\n".join(body), n, BYTES[kind]


def distribution(r: random.Random, n: int, item: int) -> str:
    how = r.choice(("cyclic", "cyclic", f"block-cyclic({r.randint(1, 4)})"))
    wide = [v for v in (2, 4) if n % v == 0 and v * item <= 16]
    return f" {how}" + (f" vector {r.choice(wide)}" if wide and r.random() < 0.6 else "")


def in_rows(r: random.Random, n: int, item: int) -> str:
    """A block has several rows, and hands each to all its threads, or to a warp."""
    height, how = r.randint(1, 3), distribution(r, n, item)
    lines = ["let g = match linalg.generic", "let fills = match* linalg.fill", f"let (tiles, row) = tile g [{height}]"]
    lines += ["foreach init in fills {", "fuse init into tiles", "}", "map tiles to blocks(x)"]
    if r.random() < 0.6:
        lines += [f"map row to {r.choice((f'threads(x: {32 * r.choice((1, 2, 3, 8))})', 'lanes'))}{how}"]
    else:
        lines += ["let (warps, one) = tile row [1]", "foreach init in fills {", "fuse init into warps", "}"]
        lines += [f"map warps to {r.choice(('warps(x)', 'warps(x)', 'warps(x: 2) cyclic'))}", f"map one to lanes{how}"]
    return "\n".join([*lines, "insert-barriers", "verify-sync", "launch tiles"])


def in_parts(r: random.Random, n: int) -> str:
    """Blocks have parts of the whole; what these make is scanned by one block, or in parts again."""
    lines = ["let g = match linalg.generic", "let fills = match* linalg.fill"]
    lines += ["foreach init in fills {", "map init to threads(x: 1)", "}"]
    lines += [f"let (sums, sum, offsets, parts, part) = split-scan g by {r.choice((1, 8, 50, 64, 128))}"]
    threads = f"threads(x: {32 * r.choice((1, 2, 4))})"
    later = ["sums"]
    if r.random() < 0.4:
        lines += [f"let (sums2, sum2, offsets2, parts2, part2) = split-scan offsets by {r.choice((1, 2, 3))}"]
        for loop, op in (("sums2", "sum2"), ("parts2", "part2")):
            lines += [f"map {loop} to blocks(x)", f"map {op} to {threads} cyclic"]
        lines += ["map offsets2 to lanes cyclic"]
        later += ["sums2", "offsets2", "parts2"]
    else:
        lines += [f"map offsets to {r.choice((threads, 'lanes'))} cyclic"]
        later += ["offsets"]
    lines += ["map sums to blocks(x)", f"map sum to {threads} cyclic", "map parts to blocks(x)", f"map part to {threads} cyclic"]
    lines += ["insert-barriers", "verify-sync", "foreach init in fills {", "launch init", "}"]
    return "\n".join([*lines, *(f"launch {one}" for one in (*later, "parts"))])


@pytest.mark.parametrize("seed", range(200) if SOAK else [1, 68])  # 68: two results that start from one number
def test_random_scans(seed: int, tmp_path: Path) -> None:
    """Against the reference, on every device; without any of its barriers it is a race."""
    r = random.Random(seed)
    rows = seed % 2 == 0
    payload, n, item = scan(r, rows=rows)
    body = in_rows(r, n, item) if rows else in_parts(r, n)
    shown = f"\n{payload}\n{body}\n"
    made = scheduled(payload, body, tmp_path)
    expect_right(made, seed, shown, native=True, whole=True)
    assert_barriers_needed(made, seed, shown)
    assert_lanes_needed(made, seed, shown)


ROWS = """\
func.func @f(%x: tensor<4x96xf32>) -> (tensor<4xf32>, tensor<4x96xf32>) {
  %c = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = tensor.empty() : tensor<4x96xf32>
  %s = linalg.fill ins(%c : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x96xf32>) outs(%s, %f : tensor<4xf32>, tensor<4x96xf32>) {
  ^bb0(%a: f32, %o: f32, %old: f32):
    %u = arith.addf %o, %a : f32
    linalg.yield %u, %u : f32, f32
  } -> (tensor<4xf32>, tensor<4x96xf32>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4x96xf32>
}
"""
ROW = "let (t, one) = tile g [1]\nfuse z into t\nmap t to blocks(x)\n"
COLUMN = "let h = interchange g [1, 0]\nlet (t, one) = tile h [0, 2]\nfuse z into t\nmap t to blocks(x)\n"
FILLED = "let (t, three) = tile g [3]\nfuse z into t\nmap t to blocks(x)\nmap z to threads(*) cyclic\n"
FILLED += "let (w, row) = tile three [1]\nmap w to threads(y: 4)\n"
WARPS = "let (t, two) = tile g [2]\nfuse z into t\nmap t to blocks(x)\n"
WARPS += "let (w, row) = tile two [1]\nfuse z into w\nmap w to warps(x: 4)\n"
STAGED = ROW + "let (a, copy) = promote-to-shared one.in0\n"


@pytest.mark.few(5)
@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("let (t, one) = tile g [1]\nfuse z into t\nmap t to grid(x)\n", "right"),  # a thread for each
        ("let (t, k, one) = tile g [1, 36]\nfuse z into t\nmap t to grid(x)\n", "right"),  # in ragged steps
        (COLUMN + "map one to threads(x: 32) block-cyclic(2)\n", "right"),
        (COLUMN + "map one to threads(x: 32) cyclic vector 2\n", "W0343"),  # vectors lie along the other dimension
        (ROW + "map one to threads(x: 96)\n", "right"),
        (ROW + "map one to threads(x: 32) block\n", "W0343"),
        (ROW + "map one to threads(x: 48) cyclic\n", "W0343"),  # no whole warps
        ("map g to blocks(x: 4) cyclic\nlet t = match linalg.fill\n", "W0343"),
        (FILLED + "map row to threads(x: 32) cyclic\n", "right"),  # of four rows of threads three have one
        (WARPS + "map row to lanes cyclic\n", "right"),  # of four warps two have a row, and two rounds each
        (STAGED + "map copy to threads(*) cyclic\nmap one to threads(x: 64) cyclic vector 4\n", "right"),
        (STAGED + "map copy to threads(x: 64) cyclic\nmap one to lanes cyclic\n", "right"),  # by the first of two warps
        (STAGED + "map copy to threads(y: 2, x: 32) cyclic\nmap one to threads(x: 32) cyclic\n", "W0352"),  # half of a block
        ("let (parts, zeros, sum) = split-k g 4\nlet t = match linalg.fill\n", "W0450"),
    ],
)  # fmt: skip
def test_who_scans(body: str, found: str, tmp_path: Path) -> None:
    body = f"let g = match linalg.generic\nlet z = match linalg.fill\n{body}insert-barriers\nlaunch t"
    assert verdict(ROWS, body, tmp_path, 1, native=True) == found


def test_every_shuffle_counts(tmp_path: Path) -> None:
    """With a lane's own value in the place of another one's, the elements are wrong."""
    body = f"let g = match linalg.generic\nlet z = match linalg.fill\n{ROW}"
    body += "map one to threads(x: 96) cyclic\ninsert-barriers\nlaunch t"
    made = scheduled(ROWS, body, tmp_path)
    signature = functions.signature(made.applied.payload, made.plan.entry)
    inputs = random_inputs(signature, 1)
    expected = reference(made.applied.payload, made.plan.entry, inputs)
    count = len(list(operations(made.applied.module.operation, "gpu.shuffle")))
    assert count == 6
    for number in range(count):
        copy = parse(str(made.applied.module), made.applied.module.context)
        shuffle = list(operations(copy.operation, "gpu.shuffle"))[number]
        shuffle.results[0].replace_all_uses_with(shuffle.operands[0])
        for device in (SimDevice(), CpuDevice(threads=2)):
            ran = run_plan(made.plan, device, inputs, text=str(copy))
            assert not compare(signature, ran.outputs, expected).ok, f"shuffle {number} on {device}"


ELEMENTS_TO_READ = """\
func.func @f(%x: memref<5x60xf32>, %last: memref<5xf32>, %z: memref<5x60xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.parallel (%r) = (%c0) to (%c5) step (%c1) {
    %t = memref.alloc() : memref<60xf32>
    %xr = memref.subview %x[%r, 0] [1, 60] [1, 1] : memref<5x60xf32> to memref<60xf32, strided<[1], offset: ?>>
    %zr = memref.subview %z[%r, 0] [1, 60] [1, 1] : memref<5x60xf32> to memref<60xf32, strided<[1], offset: ?>>
    %s = memref.subview %last[%r] [1] [1] : memref<5xf32> to memref<f32, strided<[], offset: ?>>
    linalg.generic {
        indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["reduction"]}
        ins(%xr : memref<60xf32, strided<[1], offset: ?>>) outs(%s, %t : memref<f32, strided<[], offset: ?>>, memref<60xf32>) {
    ^bb0(%a: f32, %o: f32, %old: f32):
      %u = arith.addf %o, %a : f32
      linalg.yield %u, %u : f32, f32
    }
    linalg.exp ins(%t : memref<60xf32>) outs(%zr : memref<60xf32, strided<[1], offset: ?>>)
    scf.reduce
  }
  return
}
"""


def test_elements_in_a_temporary_beside_a_result_in_memory(tmp_path: Path) -> None:
    body = "let g = match linalg.generic\nlet e = match linalg.exp\nlet t = match scf.parallel\nmap t to blocks(x)\n"
    body += "map g to lanes cyclic\nmap e to lanes cyclic\ninsert-barriers\nlaunch t"
    assert verdict(ELEMENTS_TO_READ, body, tmp_path, 1, native=True) == "right"


OPEN = """
#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>
func.func @scan(%x: tensor<?xi32>) -> (tensor<?xi32>, tensor<i32>) {
  %five = arith.constant 5 : i32
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xi32>
  %s = tensor.empty() : tensor<i32>
  %i = linalg.fill ins(%five : i32) outs(%s : tensor<i32>) -> tensor<i32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<?xi32>) outs(%e, %i : tensor<?xi32>, tensor<i32>) {
  ^bb0(%a: i32, %o: i32, %c: i32):
    %t = arith.addi %c, %a : i32
    linalg.yield %t, %t : i32, i32
  } -> (tensor<?xi32>, tensor<i32>)
  return %r#0, %r#1 : tensor<?xi32>, tensor<i32>
}
"""
OF_ALL = """payload "p.mlir"

schedule s() {
  let scan = match linalg.generic
  let init = match linalg.fill
  map init to threads(x: 1)
  map scan to threads(x: 64) block-cyclic(2)
  insert-barriers
  launch init
  launch scan
}"""


def _open(folder: Path, more: str = "") -> Applied:
    (folder / "p.mlir").write_text(OPEN)
    (folder / "s.weft").write_text(OF_ALL.replace("insert-barriers", f"insert-barriers{more}"))
    return applied(Choice(str(folder / "s.weft")).open())


def _said(done: Applied) -> list[str]:
    return [line for step in done.session.steps for line in step.remarks]


def test_a_scan_of_nothing_leaves_its_result(tmp_path: Path) -> None:
    done = _open(tmp_path)
    assert done.assumed == [] and not any("combination assumed: " in line for line in _said(done))
    named = functions.signature(done.payload)
    for n in (0, 1, 127, 128, 129, 300):
        inputs = {named.arguments[0].name: np.arange(n, dtype=np.int32)}
        made = run_plan(planned(done).plan, SimDevice(), inputs, text=done.text)
        assert not made.faults and compare(named, made.outputs, reference(done.payload, named.entry, inputs)).ok, n


@pytest.mark.parametrize("more", ("", "\n  verify-sync"))
def test_a_result_that_is_stored_without_a_round(more: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def always(_: object, bound: ir.Value) -> ir.Value:
        return arith.CmpIOp(arith.CmpIPredicate.sle, constant(0), bound).result

    monkeypatch.setattr(scans, "less", always)
    done = _open(tmp_path, more)
    said = [line for line in _said(done) if "combination assumed: " in line]
    assert said and set(said) == set(done.assumed)  # `build` refuses it
