"""Products in tiles of one row, one column, one element, or all there is; staged transposed, padded and n elements at a time.

Nothing that these schedules ask for is refused: vectors divide rows, and a thread keeps at most one tile in registers.
2 schedules in a test run, 400 in a soak.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from executors import expect_computed, expect_report
from native_device import NativeDevice
from scheduled import ran
from test_random_register_tiles import contraction

from weft.dsl.diagnostics import Source
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.run.runner import run_plan
from weft.verify import verify_source

COUNT = 400 if "WEFT_SOAK" in os.environ else 2


def extreme(r: random.Random, whole: int) -> int:
    """A tile along a dimension of `whole` elements: one element, all of them, a divisor, or one that leaves a ragged rest."""
    divisors = [d for d in range(1, whole + 1) if whole % d == 0]
    return r.choice([1, whole, r.choice(divisors), r.choice(divisors), r.randint(1, whole + 2)])


def owned(r: random.Random, loop: str, rows: int, columns: int) -> tuple[str, bool]:
    """A map of rows x columns tiles, and whether each thread has one tile at most."""
    if r.random() < 0.6:
        return f"map {loop} to threads(y, x)", True
    y, x = r.randint(1, min(rows, 8)), r.randint(1, min(columns, 8))
    return f"map {loop} to threads(y: {y}, x: {x}) {r.choice(['cyclic', 'block'])}", (y, x) == (rows, columns)


def schedule(r: random.Random, payload: str, m: int, n: int, k: int) -> list[str]:
    filled, relu = "linalg.fill" in payload, payload.count("linalg.generic") > 1
    turned = "-> (j, i)" in payload
    bm, bn, bk = (extreme(r, size) for size in (m, n, k))
    lines = [*["let init = match linalg.fill"] * filled, f"let g = match linalg.generic{' #0' * relu}"]
    fused = filled and r.random() < 0.75
    if relu:
        lines += [f"let last = match linalg.generic #1\nlet (tiles, shown) = tile last [{bm}, {bn}]\nfuse g into tiles"]
    else:
        lines += [f"let (tiles, inner) = tile g [{bm}, {bn}]"]
    lines += [*["fuse init into tiles"] * fused, "map tiles to blocks(y, x)"]
    lines += [f"let (k, step) = tile {'g' if relu else 'inner'} [_, _, {bk}]"]
    sizes = {"i": bm, "j": bn, "k": bk}
    maps = dict(line.split(" = affine_map<(i, j, k) -> ") for line in payload.splitlines() if line[:2] in ("#a", "#b"))
    for operand, name in (("lhs", "#a"), ("rhs", "#b")):
        if r.random() < 0.8:
            options = r.choice(["", " transpose", f" pad {r.choice([1, 2, 3, 4])}", f" transpose pad {r.choice([1, 2, 3, 4])}"])
            row, bits = sizes[maps[name].split(")")[0][-1]], 64 if "f64" in payload else 32
            width = r.choice([w for w in (1, 2, 4) if row % w == 0 and w * bits <= 128])
            wide = f" vector {width}" if width > 1 else ""
            lines += [f"let (s_{operand}, c_{operand}) = promote-to-shared step.{operand}{options}"]
            lines += [f"map c_{operand} to threads(*) {r.choice(['cyclic', 'cyclic', 'block'])}{wide}"]
    tm, tn = extreme(r, bm), extreme(r, bn)
    while -(-bm // tm) * -(-bn // tn) > 256:
        tm, tn = tm * 2, tn * 2
    mapped, alone = owned(r, "lanes", -(-bm // tm), -(-bn // tn))
    lines += [f"let (lanes, one) = tile step [{tm}, {tn}]", mapped]
    if relu:
        lines += [f"let (lanes2, one2) = tile shown [{tm}, {tn}]", mapped.replace("lanes", "lanes2")]
    registers = alone and (fused or not filled) and not turned and bm % tm == 0 and bn % tn == 0 and r.random() < 0.6
    if registers:
        lines += [*[f"let (kk, micro) = tile one [_, _, {r.choice([1, bk])}]"], "promote-to-registers micro.acc across k"]
        lines += ["vectorize micro"] * (r.random() < 0.5)
    elif fused:
        lines += ["map init to threads(*) cyclic"]
    lines += ["insert-barriers", "verify-sync", "launch tiles"]
    return [*lines, *["map init to grid(x)", "launch init"] * (filled and not fused)]


@pytest.mark.parametrize("seed", range(COUNT))
def test_extreme_tiles(seed: int, tmp_path: Path) -> None:
    r = random.Random(seed)
    m, n, k = (r.choice([1, 2, 4, 8, r.randint(1, 12)]) for _ in range(3))
    payload = contraction(r, m, n, k)
    check(tmp_path, payload, "\n".join(schedule(r, payload, m, n, k)), seed)


def matmul(m: int, n: int, k: int) -> str:
    a, b, c = f"tensor<{m}x{k}xf32>", f"tensor<{k}x{n}xf32>", f"tensor<{m}x{n}xf32>"
    return f"""func.func @f(%A: {a}, %B: {b}) -> {c} {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {c}
  %i = linalg.fill ins(%z : f32) outs(%e : {c}) -> {c}
  %r = linalg.matmul ins(%A, %B : {a}, {b}) outs(%i : {c}) -> {c}
  return %r : {c}
}}
"""


def product(tile: str, depth: int, staged: str, vector: str, thread: str, threads: str, rest: str) -> str:
    return f"""let gemm = match linalg.matmul
let init = match linalg.fill
let (tiles, t) = tile gemm [{tile}]
map tiles to blocks(y, x)
let (k, step) = tile t [_, _, {depth}]
let (a, copy_a) = promote-to-shared step.lhs {staged}
map copy_a to threads(*) cyclic {vector}
let (lanes, one) = tile step [{thread}]
map lanes to {threads}
{rest}insert-barriers
launch tiles"""


FUSED = "fuse init into tiles\n"
REGISTERS = "promote-to-registers one.acc across k\n"
BY_HAND = "map init to threads(*) cyclic\nbufferize\nlet back = match linalg.copy\nmap back to threads(y: 2, x: 2) cyclic\n"
NAMED = {
    "a column in shared memory is not a row": (
        matmul(4, 8, 16), product("1, 8", 8, "transpose", "vector 2", "1, 1", "threads(y, x)", FUSED + REGISTERS),
    ),
    "a tile of all rows begins where the padded buffer does": (
        matmul(2, 2, 8),
        product("2, 2", 2, "transpose pad 3", "", "2, 1", "threads(y: 1, x: 2)", FUSED + "map init to threads(*) cyclic\n"),
    ),
    "one ragged tile that starts from what another launch has filled": (
        matmul(2, 1, 4), product("2, 2", 1, "", "", "4, 2", "threads(y: 1, x: 1) block", "") + "\nmap init to grid(x)\nlaunch init",
    ),
    "a ragged tile is written back by whom the schedule says": (
        matmul(10, 10, 16), product("4, 4", 8, "", "", "2, 2", "threads(y, x)", FUSED + BY_HAND),
    ),
}  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize("case", NAMED)
def test_named_tiles(case: str, tmp_path: Path) -> None:
    check(tmp_path, *NAMED[case])


def check(folder: Path, payload: str, body: str, seed: int = 0) -> None:
    """Right and race-free in the simulator, and as compiled text; nothing to object to for `weft verify`."""
    (folder / "p.mlir").write_text(payload)
    (folder / "s.weft").write_text(f'payload "p.mlir"\nschedule s() {{\n{body}\n}}\n')
    report, made = ran(folder / "s.weft", seed)
    expect_report(report, f"{payload}\n{body}")
    assert verify_source(Source("made.mlir", made.applied.text)).ok, f"{payload}\n{body}"
    signature = functions.signature(made.applied.payload, made.plan.entry)
    inputs = random_inputs(signature, seed)
    again = run_plan(made.plan, NativeDevice(reverse=True), inputs, text=made.cuda)
    wanted = reference(made.applied.payload, None, inputs)
    expect_computed("the text by g++", again, signature, wanted, shown=f"\n{payload}\n{body}")
