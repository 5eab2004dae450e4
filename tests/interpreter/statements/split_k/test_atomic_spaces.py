"""`split-k … atomic` whatever the later maps are: additions that are atomic, or a refusal; never a load, an add and a store."""

from __future__ import annotations

import os
import random
from pathlib import Path

import numpy as np
import pytest
from executors import expect_report
from judging import without_atomics
from native_device import NativeDevice
from scheduled import ran
from test_split_k_atomic import made_of, write

from weft.dsl.diagnostics import Source, WeftError
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host import functions
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice
from weft.verify import verify_source

SOAK = "WEFT_SOAK" in os.environ
SHAPES = {
    # a reduction's name: the input's and the result's maps, iterators
    "total": ("(i) -> (i)", "(i) -> ()", '"reduction"'),
    "rows": ("(r, i) -> (r, i)", "(r, i) -> (r)", '"parallel", "reduction"'),
    "columns": ("(c, i) -> (i, c)", "(c, i) -> (c)", '"parallel", "reduction"'),
    "planes": ("(p, q, i) -> (p, i, q)", "(p, q, i) -> (p, q)", '"parallel", "parallel", "reduction"'),
}
REFUSALS = {"W0341", "W0343", "W0345", "W0346", "W0349", "W0351", "W0352", "W0353", "W0357"}
"""Maps that do not fit the loop, or each other: the schedule is made at random."""


def payload(r: random.Random) -> tuple[str, int]:
    """A sum of an input's elements over its last dimension, and how many dimensions the result has."""
    name = r.choice(list(SHAPES))
    source, target, iterators = SHAPES[name]
    kind = r.choice(["f32", "f64", "i32", "i64"])
    zero, add = ("0", "addi") if kind[0] == "i" else ("0.0", "addf")
    sizes = dict(zip("rcpqi", (r.choice((1, 2, 7, 13)), r.choice((1, 3, 16)), 3, r.choice((1, 5)), r.randint(12, 40)), strict=True))

    def tensor(indexing: str) -> str:
        axes = indexing.partition("-> ")[2].strip("()").split(", ")
        return f"tensor<{''.join(f'{sizes[a]}x' for a in axes if a)}{kind}>"

    x, y = tensor(source), tensor(target)
    text = f"""func.func @f(%x: {x}) -> {y} {{
  %zero = arith.constant {zero} : {kind}
  %e = tensor.empty() : {y}
  %z = linalg.fill ins(%zero : {kind}) outs(%e : {y}) -> {y}
  %s = linalg.generic {{indexing_maps = [affine_map<{source}>, affine_map<{target}>], iterator_types = [{iterators}]}}
      ins(%x : {x}) outs(%z : {y}) {{
    ^bb0(%a: {kind}, %b: {kind}):
      %c = arith.{add} %a, %b : {kind}
      linalg.yield %c : {kind}
  }} -> {y}
  return %s : {y}
}}
"""
    return text, iterators.count("parallel")


def schedule(r: random.Random, rank: int) -> str:
    tiles = [1, *(r.choice((1, 1, 2, 4)) for _ in range(rank))]
    lines = ["let g = match linalg.generic", "let z = match linalg.fill"]
    lines += [f"let (p, zeros, sum) = split-k g {r.randint(2, 6)} {r.choice(('', 'by 2 '))}atomic"]
    lines += [f"let (t, o) = tile p [{', '.join(map(str, tiles))}]", "fuse zeros into t", "fuse sum into t"]
    axes, words = ["z", "y", "x"][-len(tiles) :], r.choice(("", " cyclic", " block", " block-cyclic(2)"))
    if rank and r.random() < 0.5:
        lines += ["let t = coalesce t"]
        axes = ["x"]
    space = r.choice(("grid", "blocks", "threads", "warps", "lanes"))
    counts = ", ".join(f"{axis}: {r.choice((2, 3, 4))}" if words else axis for axis in axes)
    inner = r.random() < 0.4 and space == "blocks"
    lines += ["map t to lanes cyclic" if space == "lanes" else f"map t to {space}({counts}){words}"]
    if inner:
        small = ", ".join(["_", *(str(r.choice((1, n))) for n in tiles[1:])]) if rank else "1"
        threads = ("threads(y: 2, x: 4) cyclic", "threads(y, x)", "threads(x: 3) block")
        where = r.choice((*threads, "warps(x: 2) cyclic", "lanes cyclic"))
        lines += [f"let (l, one) = tile o [{small}]", f"map l to {where}"]
        lines += [f"let (zl, zo) = tile zeros [{small}]", f"map zl to {where}"]
    lines += ["map z to threads(x: 4) cyclic"]
    if r.random() < 0.5:
        lines += ["insert-barriers", "verify-sync"]
    lines += ["launch z", "launch t"]
    return "\n".join(f"  {line}" for line in lines)


ACCEPTED: set[int] = set()
"""Seeds whose schedules were not refused."""


@pytest.mark.parametrize("seed", range(400 if SOAK else 4))
def test_random_maps(seed: int, tmp_path: Path) -> None:
    r = random.Random(seed)
    text, rank = payload(r)
    body = schedule(r, rank)
    said = f"{text}\n{body}"
    name = write(tmp_path, text, body)
    try:
        report, made = ran(Path(name), seed)
    except WeftError as error:
        assert {d.code for d in error.diagnostics} <= REFUSALS, f"{error}\n{said}"
        return
    ACCEPTED.add(seed)
    expect_report(report, f"{said}")
    adding = [k for k in made.applied.text.split("gpu.func")[1:] if "memref.atomic_rmw" in k]
    assert len(adding) == 1 and made.cuda.count("atomicAdd("), said
    assert verify_source(Source("whole.mlir", made.applied.text)).ok, said
    inputs = random_inputs(functions.signature(made.applied.payload, made.plan.entry), seed)
    less = without_atomics(made.applied.module)
    races = run_plan(made.plan, SimDevice(), inputs, text=less).races
    assert verify_source(Source("plain.mlir", less)).ok == (not races), f"no atomics\n{said}"
    if seed % 4 == 0:
        wanted = run_plan(made.plan, SimDevice(), inputs, text=made.applied.text).outputs
        got = run_plan(made.plan, NativeDevice(reverse=True), inputs, text=made.cuda).outputs
        for buffer, values in wanted.items():
            np.testing.assert_allclose(got[buffer], values, rtol=1e-4, atol=1e-4, err_msg=said)


def test_most_of_them_are_right(tmp_path: Path) -> None:
    """A generator whose schedules are all refused would show nothing."""
    drawn = range(20 if SOAK else 8)
    assert len([seed for seed in drawn if seed in ACCEPTED or accepted(seed, tmp_path)]) >= len(drawn) // 2


def accepted(seed: int, folder: Path) -> bool:
    """Where `test_random_maps` has not seen it."""
    r = random.Random(seed)
    text, rank = payload(r)
    try:
        made_of(write(folder, text, schedule(r, rank)))
        return True
    except WeftError:
        return False
