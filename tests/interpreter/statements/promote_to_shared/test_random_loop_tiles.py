"""Loops of random payloads, what they access staged in shared memory or kept in registers: right by every witness, or refused."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from judging import assert_barriers_needed, expect_right, scheduled  # pyright: ignore[reportMissingImports]

from weft.dsl.diagnostics import WeftError

SOAK = "WEFT_SOAK" in os.environ


def payload(r: random.Random) -> tuple[str, int, int]:
    """Tiles of a matrix, computed from windows of another; their sizes. The inner loops end with the tile, or the matrix."""
    m, n, k = r.randint(1, 20), r.randint(1, 40), r.randint(1, 5)
    bm, bn = r.choice((1, 2, 4, 8)), r.choice((2, 3, 8, 16))
    by_conditions = r.random() < 0.4
    sizes = {"x": (m + 4, n + 4), "y": (m, n), "z": (n, m)}
    kinds = {name: f"memref<{'x'.join(map(str, size))}xf32>" for name, size in sizes.items()}
    ends = [f"min affine_map<(d) -> ({b}, {size} - d)>(%{v}0)" for v, b, size in (("i", bm, m), ("j", bn, n))]
    if by_conditions or (m % bm == 0 and r.random() < 0.7):
        ends[0] = f"{bm}"
    if by_conditions or (n % bn == 0 and r.random() < 0.7):
        ends[1] = f"{bn}"
    lines = [
        f"func.func @f({', '.join(f'%{name}: {kind}' for name, kind in kinds.items())}) {{",
        f"  affine.for %i0 = 0 to {m} step {bm} {{", f"    affine.for %j0 = 0 to {n} step {bn} {{",
    ]  # fmt: skip
    closing = ["        }", "      }", "    }", "  }"]
    steps = r.random() < 0.4
    if steps:  # each of which adds to what the one before has made
        lines += [f"      affine.for %q = 0 to {r.randint(1, 3)} {{"]
        closing.append("  }")
    lines += [f"      affine.for %i = 0 to {ends[0]} {{", f"        affine.for %j = 0 to {ends[1]} {{"]
    if by_conditions:
        condition = f"affine_set<(a, b) : ({m - 1} - a >= 0, {n - 1} - b >= 0)>"
        lines += ["          %gi = affine.apply affine_map<(a, b) -> (a + b)>(%i0, %i)"]
        lines += ["          %gj = affine.apply affine_map<(a, b) -> (a + b)>(%j0, %j)"]
        lines += [f"          affine.if {condition}(%gi, %gj) {{"]
        closing.insert(0, "          }")
    summed = r.random() < 0.5
    if summed:
        lines += [f"          affine.for %k = 0 to {k} {{"]
        closing.insert(0, "          }")
    at = "%i0 + %i + %k" if summed and r.random() < 0.5 and k <= 5 else f"%i0 + %i + {r.randint(0, 3)}"
    target, subscripts = r.choice((("y", "%i0 + %i, %j0 + %j"), ("z", "%j0 + %j, %i0 + %i")))
    lines += [f"  %a = affine.load %x[{at}, %j0 + %j + {r.randint(0, 2)}] : {kinds['x']}"]
    lines += [f"  %b = affine.load %x[{at}, %j0 + %j + {r.randint(2, 4)}] : {kinds['x']}", "  %s = arith.subf %a, %b : f32"]
    if summed or steps or r.random() < 0.4:
        lines += [f"  %old = affine.load %{target}[{subscripts}] : {kinds[target]}", "  %t = arith.addf %old, %s : f32"]
    else:
        lines += ["  %t = arith.mulf %s, %s : f32"]
    lines += [f"  affine.store %t, %{target}[{subscripts}] : {kinds[target]}", *closing, "  return", "}", ""]
    return "\n".join(lines), bm, bn


def schedule(r: random.Random, text: str, bm: int, bn: int) -> str:
    target = "y" if "%y[" in text else "z"
    names = ["tiles", "", *["steps"] * ("%q" in text), "row", "column", *["k"] * ("%k" in text)]
    lines = [f"let {name} = match affine.for #{number}" for number, name in enumerate(names) if name]
    if "steps" in names and r.random() < 0.6:  # threads inside the loop
        lines += ["map tiles to blocks(y, x)", "map row to threads(y)", "map column to threads(x)"]
        lines += [f"promote-to-registers {r.choice(('steps', 'row', 'column'))}.{target} across steps", "promote row x 0"]
    elif r.random() < 0.5:  # blocks share tiles
        lines += ["map tiles to blocks(y, x)"]
        how = r.choice(("threads(y)", f"threads(y: {max(bm // 2, 1)}) cyclic", ""))
        across = "threads(x)" if how or r.random() < 0.7 else "lanes cyclic"
        if how:
            lines += [f"map row to {how}"]
        lines += [f"map column to {across}" + (" cyclic" if across == "threads(x)" and r.random() < 0.3 else "")]
        lines = [line.replace("threads(x) cyclic", f"threads(x: {max(bn // 2, 1)}) cyclic") for line in lines]
        outer = ["row"] if how else ["row", "row", "column"]
        for number, buffer in enumerate(r.sample(["x", target], r.choice((1, 2)))):
            lines += [f"promote {r.choice(outer)} {buffer} {number}"]
    else:
        lines += ["map tiles to grid(y, x)"]
        for buffer in r.sample(["x", target], r.choice((1, 2))):
            inner = r.choice(["row", "column", "k"] if "%k" in text else ["row", "column"])
            around = {"row": ["row"], "column": ["row", "column"], "k": ["row", "column", "k"]}[inner]
            across = r.choice(around)
            lines += [f"promote-to-registers {inner}.{buffer}" + f" across {across}" * (across != inner or r.random() < 0.3)]
    return "\n".join(lines)


def staged(lines: list[str], options: list[str], writes_only: bool) -> str:
    """The schedule, in which a buffer that is only written has no copy that fills the tile."""
    out: list[str] = []
    for line in lines:
        if not line.startswith("promote "):
            out.append(line)
            continue
        _, loop, buffer, number = line.split()
        made = ["copy"] if buffer == "x" else ["merge"] if writes_only else ["copy", "merge"]
        names = [f"{name}{number}" for name in made]
        out.append(f"let (tile{number}, {', '.join(names)}) = promote-to-shared {loop}.{buffer} {options[int(number)]}")
        out += [f"map {name} to threads(*) cyclic" for name in names]
    return "\n".join([*out, "insert-barriers", "launch tiles"])


@pytest.mark.parametrize("seed", range(400 if SOAK else 3))
def test_random_tiles(seed: int, tmp_path: Path) -> None:
    r = random.Random(seed)
    text, bm, bn = payload(r)
    lines = schedule(r, text, bm, bn).splitlines()
    options = [r.choice(("", "", "pad 1", "transpose", "transpose pad 1", "vector 2")) for _ in range(2)]
    for writes_only in (False, True):
        body = staged(lines, options, writes_only)
        shown = f"\n{text}\n{body}"
        try:
            made = scheduled(text, body, tmp_path)
        except WeftError as error:
            found = {d.code for d in error.diagnostics}
            if found == {"W0226"} and not writes_only:
                continue
            assert found <= {"W0387", "W0348"}, f"{error.diagnostics[0].message}{shown}"
            return
        expect_right(made, seed, shown, native=True)
        return assert_barriers_needed(made, seed, shown)
