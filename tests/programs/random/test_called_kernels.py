"""Schedules that take a handle and make a whole kernel of it, called for each op of a chain, in any order: right by every
witness, a launch for each call, and nothing else on the host but allocations.

A failure prints the payload and the schedule, ready to be tried by hand.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from judging import expect_right

from weft.dsl.diagnostics import WeftError
from weft.pipeline import Choice, applied, planned
from weft.runtime.plan.plan import Copy, Launch

COUNT = 400 if "WEFT_SOAK" in os.environ else 3
RAGGED, EVEN = (1, 5, 8, 12, 16, 24), (8, 16, 24)

LIBRARY = """
schedule product(mm: handle, init: handle, bm: int = 8, bn: int = 8, bk: int = 4) {
  let (tiles, tile_mm) = tile mm [bm, bn]
  fuse init into tiles
  map tiles to blocks(y, x)
  staged(tile_mm, bm, bn, bk)
  END
}

schedule product_then(mm: handle, init: handle, epilogue: handle, bm: int = 8, bn: int = 8, bk: int = 4) {
  let (tiles, tile_epilogue) = tile epilogue [bm, bn]
  fuse mm into tiles
  fuse init into tiles
  map tiles to blocks(y, x)
  let (elements, element) = tile tile_epilogue [1, 1]
  map elements to threads(y: bm, x: bn)
  staged(mm, bm, bn, bk)
  END
}

schedule staged(mm: handle, bm: int, bn: int, bk: int) {
  let (k, step) = tile mm [_, _, bk]
  let (a, copy_a) = promote-to-shared step.lhs
  let (b, copy_b) = promote-to-shared step.rhs
  map copy_a to threads(*) cyclic
  map copy_b to threads(*) cyclic
  let (lanes, one) = tile step [1, 1]
  map lanes to threads(y: bm, x: bn)
  promote-to-registers one.acc across k
}

schedule pointwise(op: handle, b: int = 8) {
  let (tiles, tile_op) = tile op [b, b]
  map tiles to blocks(y, x)
  let (elements, element) = tile tile_op [1, 1]
  map elements to threads(y: b, x: b)
  END
}

schedule rows(op: handle, init: handle, b: int = 8) {
  let (tiles, tile_op) = tile op [b]
  fuse init into tiles
  map tiles to blocks(x)
  let (elements, element) = tile tile_op [1]
  fuse init into elements
  map elements to threads(x: b)
  END
}
"""
AT_ONCE, LATER = "insert-barriers\n  launch tiles", "return tiles"


class Chain:
    """A payload in the making, and what matches and calls its ops."""

    def __init__(self, r: random.Random) -> None:
        self.r = r
        self.sizes = r.choice((RAGGED, EVEN))
        self.m, self.n = r.choice(self.sizes), r.choice(self.sizes)
        self.arguments = [f"%x: tensor<{self.m}x{self.n}xf32>"]
        self.lines: list[str] = []
        self.matches: list[str] = []
        self.calls: list[str] = []
        self.counts = {"linalg.generic": 0, "linalg.matmul": 0, "linalg.fill": 0}
        self.value = "%x"
        self.made = [("%x", self.m, self.n)]

    def fresh(self) -> str:
        return f"%v{len(self.lines)}"

    def line(self, text: str) -> str:
        name = self.fresh()
        self.lines.append(f"{name} = {text}")
        return name

    def match(self, op: str) -> str:
        name = f"h{len(self.matches)}"
        self.matches.append(f"let {name} = match {op} #{self.counts[op]}")
        self.counts[op] += 1
        return name

    def empty(self, *shape: int) -> tuple[str, str]:
        kind = f"tensor<{'x'.join(map(str, shape))}xf32>"
        return self.line(f"tensor.empty() : {kind}"), kind

    def zeros(self, *shape: int) -> tuple[str, str, str]:
        out, kind = self.empty(*shape)
        number = self.counts["linalg.fill"]  # equal fills would become one
        self.lines.append(f"%c{len(self.lines)} = arith.constant {number}.0 : f32")
        filled = self.line(f"linalg.fill ins(%c{len(self.lines) - 1} : f32) outs({out} : {kind}) -> {kind}")
        return filled, kind, self.match("linalg.fill")

    def tiles(self, *names: str) -> str:
        return ", ".join(f"{name} = {self.r.choice((2, 4, 8))}" for name in names)

    def product(self) -> None:
        k, self.n = self.n, self.r.choice(self.sizes)
        start, kind, fill = self.zeros(self.m, self.n)
        self.arguments.append(f"%w{len(self.arguments)}: tensor<{k}x{self.n}xf32>")
        weight, _, weights = self.arguments[-1].partition(": ")
        given = f"ins({self.value}, {weight} : tensor<{self.m}x{k}xf32>, {weights})"
        self.value = self.line(f"linalg.matmul {given} outs({start} : {kind}) -> {kind}")
        mm = self.match("linalg.matmul")
        if self.r.random() < 0.5:
            epilogue = self.elementwise()
            self.calls.append(f"product_then({mm}, {fill}, {epilogue}, {self.tiles('bm', 'bn', 'bk')})")
        else:
            self.calls.append(f"product({mm}, {fill}, {self.tiles('bm', 'bn', 'bk')})")
        self.made.append((self.value, self.m, self.n))

    def elementwise(self) -> str:
        """Of the value, perhaps together with an earlier one; written into a tensor of its own, or in the place of an input."""
        same = [v for v, m, n in self.made if (m, n) == (self.m, self.n)]
        other = self.r.choice([*same, self.value])
        kind = f"tensor<{self.m}x{self.n}xf32>"
        out = self.r.choice([self.empty(self.m, self.n)[0], self.value, other])
        self.value = self.line(
            'linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} '
            f"ins({self.value}, {other} : {kind}, {kind}) outs({out} : {kind}) {{\n"
            "^bb0(%a: f32, %b: f32, %o: f32):\n"
            f"%s = {self.r.choice(['arith.addf', 'arith.subf', 'arith.maximumf'])} %a, %b : f32\n"
            f"%t = arith.addf %s, %half : f32\nlinalg.yield %t : f32 }} -> {kind}"
        )
        return self.match("linalg.generic")

    def pointwise(self) -> None:
        self.calls.append(f"pointwise({self.elementwise()}, {self.tiles('b')})")
        self.made.append((self.value, self.m, self.n))

    def reduction(self) -> None:
        """The sum of each row, taken from its elements."""
        start, kind, fill = self.zeros(self.m)
        whole = f"tensor<{self.m}x{self.n}xf32>"
        row = self.line(
            'linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} '
            f"ins({self.value} : {whole}) outs({start} : {kind}) {{\n"
            "^bb0(%a: f32, %o: f32):\n%s = arith.addf %a, %o : f32\nlinalg.yield %s : f32 } -> " + kind
        )
        self.calls.append(f"rows({self.match('linalg.generic')}, {fill}, {self.tiles('b')})")
        out = self.r.choice([self.empty(self.m, self.n)[0], self.value])
        self.value = self.line(
            'linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} '
            f"ins({self.value}, {row} : {whole}, {kind}) outs({out} : {whole}) {{\n"
            f"^bb0(%a: f32, %b: f32, %o: f32):\n%s = arith.subf %a, %b : f32\nlinalg.yield %s : f32 }} -> {whole}"
        )
        self.calls.append(f"pointwise({self.match('linalg.generic')}, {self.tiles('b')})")
        self.made.append((self.value, self.m, self.n))

    def payload(self) -> str:
        kind = f"tensor<{self.m}x{self.n}xf32>"
        lines = "\n".join(self.lines)
        return (
            "#id = affine_map<(i, j) -> (i, j)>\n#row = affine_map<(i, j) -> (i)>\n"
            f"func.func @chain({', '.join(self.arguments)}) -> {kind} {{\n"
            f"%half = arith.constant 0.5 : f32\n{lines}\nreturn {self.value} : {kind}\n}}\n"
        )

    def schedule(self) -> str:
        calls, end = self.calls, self.r.choice((AT_ONCE, LATER))
        if self.sizes == EVEN:  # a ragged tile rounds up what it reads, so that it can be fused
            calls = self.r.sample(calls, len(calls))
        if end == LATER:
            launches = ["insert-barriers", *(f"launch t{n}" for n in range(len(calls)))]
            calls = [*(f"let t{n} = {call}" for n, call in enumerate(calls)), *launches]
        body = "\n".join(f"  {line}" for line in (*self.matches, *calls))
        return LIBRARY.replace("END", end) + f'\npayload "p.mlir"\n\nschedule main() {{\n{body}\n}}\n'


def chain(seed: int) -> Chain:
    r = random.Random(seed)
    made = Chain(r)
    for _ in range(r.randint(2, 4)):
        r.choice((made.product, made.product, made.pointwise, made.reduction))()
    return made


@pytest.mark.parametrize("seed", range(COUNT))
def test_a_kernel_for_each_call(seed: int, tmp_path: Path) -> None:
    made = chain(seed)
    payload, schedule = made.payload(), made.schedule()
    (tmp_path / "p.mlir").write_text(payload)
    (tmp_path / "s.weft").write_text(schedule)
    shown = f"\n{payload}\n{schedule}\n"
    try:
        plan = planned(applied(Choice(str(tmp_path / "s.weft"), None, {}).open()))
    except WeftError as error:
        pytest.fail(f"{error}{shown}")
    steps = [type(step) for step in plan.plan.steps]
    assert steps.count(Launch) == len(made.calls) and Copy not in steps, shown
    expect_right(plan, seed, shown, native=False)
