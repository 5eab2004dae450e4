"""Random register-tiled contractions: layouts, tiles, owners, staging, pipelining; right and race-free, every barrier needed.

2 schedules in a test run, 300 in a soak; each is a schedule text that a failure prints, ready to be tried by hand.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from pathlib import Path

import pytest
from judging import assert_barriers_needed, expect_right, scheduled

COUNT = 300 if "WEFT_SOAK" in os.environ else 2

LAYOUTS = {
    "(i, k)": "{m}x{k}", "(k, i)": "{k}x{m}", "(k, j)": "{k}x{n}", "(j, k)": "{n}x{k}", "(i, j)": "{m}x{n}", "(j, i)": "{n}x{m}",
}  # fmt: skip
TERMS = {"f32": "arith.mulf|arith.addf|0.0", "f64": "arith.mulf|arith.addf|0.0", "i32": "arith.muli|arith.addi|0"}


def contraction(r: random.Random, m: int, n: int, k: int) -> str:
    """A generic contraction of two operands in random layouts; the result filled first, or accumulated into an argument."""
    kind = r.choice(list(TERMS))
    product, total, zero = TERMS[kind].split("|")
    a, b, c = r.choice(["(i, k)", "(k, i)"]), r.choice(["(k, j)", "(j, k)"]), r.choice(["(i, j)", "(i, j)", "(j, i)"])
    types = [f"tensor<{LAYOUTS[x].format(m=m, n=n, k=k)}x{kind}>" for x in (a, b, c)]
    filled = r.random() < 0.6
    head = f"  %z = arith.constant {zero} : {kind}\n  %e = tensor.empty() : {types[2]}\n"
    head += f"  %c = linalg.fill ins(%z : {kind}) outs(%e : {types[2]}) -> {types[2]}\n"
    maps = "".join(f"#{x} = affine_map<(i, j, k) -> {layout}>\n" for x, layout in zip("abc", (a, b, c), strict=True))
    relu = r.random() < 0.3 and kind != "i32" and c == "(i, j)"
    last = ""
    if relu:
        last = f"""  %o = tensor.empty() : {types[2]}
  %r = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
    ins(%p : {types[2]}) outs(%o : {types[2]}) {{
  ^bb0(%x: {kind}, %y: {kind}):
    %w = arith.negf %x : {kind}
    linalg.yield %w : {kind}
  }} -> {types[2]}
"""
    return f"""{maps}#id = affine_map<(i, j) -> (i, j)>
func.func @f(%A: {types[0]}, %B: {types[1]}{"" if filled else f", %c: {types[2]}"}) -> {types[2]} {{
{head if filled else ""}  %p = linalg.generic
    {{indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}}
    ins(%A, %B : {types[0]}, {types[1]}) outs(%c : {types[2]}) {{
  ^bb0(%x: {kind}, %y: {kind}, %z0: {kind}):
    %q = {product} %x, %y : {kind}
    %s = {total} %z0, %q : {kind}
    linalg.yield %s : {kind}
  }} -> {types[2]}
{last}  return {"%r" if relu else "%p"} : {types[2]}
}}
"""


def schedule(r: random.Random, relu: bool, turned: bool, tm: int, tn: int, bk: int, owners: Owners) -> str:
    bm, bn = tm * owners.rows, tn * owners.columns
    group = r.choice([f" order grouped({r.randint(1, 4)})", " order hilbert"]) if r.random() < 0.4 else ""
    lines = ["let init = match? linalg.fill", f"let g = match linalg.generic{' #0' if relu else ''}"]
    if relu:
        lines += ["let last = match linalg.generic #1", f"let (tiles, shown) = tile last [{bm}, {bn}]", "fuse g into tiles"]
    else:
        lines += [f"let (tiles, inner) = tile g [{bm}, {bn}]"]
    stay = r.random() < 0.3  # few blocks, which take tile after tile
    how = r.choice(["cyclic", "cyclic", "block", "block-cyclic(2)"])
    blocks = f"blocks(x: {r.randint(1, 5)}) {how}" if stay else "blocks(y, x)"
    lines += ["fuse init into tiles", f"map tiles to {blocks}{group}"]
    lines += [f"let (k, step) = tile {'g' if relu else 'inner'} [_, _, {bk}]"]
    width = r.choice([1, 1, 2]) if bk % 4 == 0 and bm % 4 == 0 and bn % 4 == 0 else 1
    staged = [operand for operand in ("lhs", "rhs") if r.random() < 0.75]
    for operand in staged:
        options = r.choice(["", " transpose", f" pad {r.choice([1, 2, 4])}", f" transpose pad {r.choice([1, 4])}"])
        lines += [f"let (s_{operand}, c_{operand}) = promote-to-shared step.{operand}{options}"]
        lines += [f"map c_{operand} to threads(*) cyclic" + (f" vector {width}" if width > 1 else "")]
    lines += owners.own("step", tm, tn, "")
    depth = r.choice([1, 1, 1, 2, bk]) if bk % 2 == 0 else 1
    lines += [f"let (kk, micro) = tile mine [_, _, {depth}]"]
    if relu:
        lines += owners.own("shown", tm, tn, "2")
    across = "k" if turned and owners.height else r.choice(["k", "k", "k", "k", "kk", None])
    if across != "k":  # the fill is of no accumulator then: its tiles go to those that own the result's
        fill = owners.own("init", tn if turned else tm, tm if turned else tn, "0")
        lines += [line.replace("threads(y, x)", "threads(x, y)") if turned else line for line in fill]
    registers = [f"promote-to-registers micro.acc across {across}"] if across else []
    if r.random() < 0.7 and len(staged) == 2 and (tm + tn) * depth <= 100:
        registers.append("vectorize micro")
    lines += registers
    if r.random() < 0.6:
        lines += ["unroll kk"]
    staging = bk * (bm + bn) // (owners.rows * owners.columns)  # elements that a thread keeps from one step to the next
    if staged and staging <= 60 and r.random() < 0.4:
        lines += ["pipeline k stages 2"]
    cap = " max-registers 128" if r.random() < 0.3 else ""
    return "\n".join([*lines, "insert-barriers", "verify-sync", f"launch tiles{cap}"])


@dataclass(frozen=True)
class Owners:
    """Who owns the tiles of a block: rows x columns threads; in warps of `height` rows of lanes, if that is given."""

    rows: int
    columns: int
    height: int | None = None

    @classmethod
    def choose(cls, r: random.Random) -> Owners:
        if r.random() < 0.5:
            return cls(r.randint(1, 6), r.randint(1, 6))
        height = r.choice([1, 2, 4, 8, 16, 32])
        return cls(height * r.randint(1, 2), 32 // height * r.randint(1, 2), height)

    def own(self, op: str, tm: int, tn: int, suffix: str) -> list[str]:
        """Lines that tile `op` and hand the tiles out; the innermost op is `mine`."""
        lanes, mine, mid = f"lanes{suffix}", f"mine{suffix}", f"mid{suffix}"
        if self.height is None:
            return [f"let ({lanes}, {mine}) = tile {op} [{tm}, {tn}]", f"map {lanes} to threads(y, x)"]
        return [
            f"let (warps{suffix}, {mid}) = tile {op} [{tm * self.height}, {tn * (32 // self.height)}]",
            f"map warps{suffix} to warps(y, x)",
            f"let ({lanes}, {mine}) = tile {mid} [{tm}, {tn}]",
            f"let row{suffix} = coalesce {lanes}",
            f"map row{suffix} to lanes",
        ]


@pytest.mark.parametrize("seed", range(COUNT))
def test_random_register_tiles(seed: int, tmp_path: Path) -> None:
    r = random.Random(1000 + seed)
    owners, tm, tn, bk = Owners.choose(r), r.choice([1, 2, 3, 4, 8]), r.choice([1, 2, 4, 5, 8]), r.choice([3, 4, 8, 16])
    m, n, k = (r.randint(1, 2 * edge + 5) for edge in (tm * owners.rows, tn * owners.columns, bk))
    if r.random() < 0.5:  # tiles that divide
        m, n, k = tm * owners.rows * r.randint(1, 2), tn * owners.columns * r.randint(1, 2), bk * r.randint(1, 3)
    payload = contraction(r, m, n, k)
    body = schedule(r, payload.count("linalg.generic") > 1, "-> (j, i)" in payload, tm, tn, bk, owners)
    made = scheduled(payload, body, tmp_path)
    expect_right(made, seed, f"\n{payload}\n{body}", native=True)
    assert_barriers_needed(made, seed, f"{payload}\n{body}")
