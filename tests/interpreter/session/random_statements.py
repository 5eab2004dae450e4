"""Random statements, one after the other, on a session: what is refused is left out, and the next one is tried.

`python random_statements.py FIRST STOP` does that for the seeds FIRST … STOP - 1 and prints each, with what was done, before it is
done: whoever started it sees where the process ended, if it did.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import places  # noqa: F401 - with it, the helpers of other folders are found
from random_payloads import payload

from weft.dsl.diagnostics import Source, WeftError
from weft.dsl.parameters import bind_parameters
from weft.dsl.parser import parse_items, parse_text
from weft.interpreter.ir.mlir import operations
from weft.interpreter.ir.structured import is_structured, structure
from weft.interpreter.session.session import Session
from weft.payloads.payload import parse_payload

AHEAD = "async", "producer", "producer overlap", "producer registers 24"
SPACES = ("blocks(x)", "blocks(y, x)", "threads(x)", "threads(x: 4) cyclic", "threads(*)", "grid(x)",
          "threads(y, x)", "warps(x)", "lanes", "warpgroups(y)", "warpgroups(x)", "tma", "tma")  # fmt: skip


class Writer:
    """Writes statements with the handles that a session has."""

    def __init__(self, r: random.Random, session: Session) -> None:
        self.r, self.session, self.done = r, session, list[str]()

    def _handles(self, kind: str | None = None) -> list[str]:
        made = self.session.state.made
        alive = [n for n in made if n not in self.session.state.dead]
        return [made[n].name for n in alive if kind is None or made[n].kind == kind]

    def _op(self) -> str:
        return self.r.choice(self._handles("op") or ["none"])

    def _any(self) -> str:
        return self.r.choice(self._handles() or ["none"])

    def _loop(self) -> str:
        return self.r.choice(self._handles("loop") or ["none"])

    def statement(self) -> str:
        r, n = self.r, len(self.done)
        space = r.choice(SPACES)
        sizes = ", ".join(r.choice(("_", "1", "2", "3", "4", "5")) for _ in range(r.randint(1, 4)))
        operand = f"{self._op()}.{r.choice(('in0', 'in1', 'out0', 'lhs', 'rhs', 'acc'))}"
        return r.choice((
            *[f"let t{n} = tile {self._op()} [{sizes}]"] * 2, f"let t{n} = tile {self._any()} [{sizes}]",
            *[f"fuse {self._op()} into {self._loop()}"] * 3, f"map {self._any()} to {space}",
            f"let m{n} = mma {self._op()} {r.choice(('[64, 8, 16]', '[64, 64, 16]', '[64, 16, 8] as tf32', '[16, 8, 16]'))}",
            f"let i{n} = interchange {self._op()} {r.sample(range(3), r.randint(1, 3))}",
            f"let p{n} = promote-to-shared {operand}{r.choice(('', ' transpose', ' pad 1', ' swizzle 128'))}",
            f"promote-to-registers {operand} across {self._loop()}", f"vectorize {self._op()}", f"unroll {self._loop()}",
            f"let c{n} = coalesce {self._loop()}", f"pipeline {self._loop()} stages 2",
            f"pipeline {self._loop()} stages {r.randint(1, 4)} {r.choice(AHEAD)}",
            f"let s{n} = split-k {self._op()} {r.randint(2, 4)}{r.choice(('', ' atomic'))}",
            f"let n{n} = online {self._op()} by {r.choice((1, 4, 7, 16))}",
            f"let g{n} = as-gemm {self._op()}",
            f"let k{n} = pack {self._op()}{r.choice(('', ' as bf16x3', ' as 3xtf32'))}{r.choice(('', ' align 16'))}",
            "insert-barriers", "verify-sync", f"launch {self._loop()}",
            "bufferize" if n > 6 else f"fuse {self._op()} into {self._loop()}",
        ))  # fmt: skip

    def try_one(self, text: str) -> bool:
        """Whether the statement could be done. What else than a diagnostic comes out is not caught."""
        try:
            self.session.do(parse_items(text, "<random>"))
        except WeftError:
            return False
        self.done.append(text)
        return True


PRODUCT = """func.func @product(%A: tensor<{m}x{k}x{type}>, %B: tensor<{k}x{n}x{type}>) -> tensor<{m}x{n}xf32> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{m}x{n}xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %C = linalg.matmul ins(%A, %B : tensor<{m}x{k}x{type}>, tensor<{k}x{n}x{type}>) outs(%init : tensor<{m}x{n}xf32>)
       -> tensor<{m}x{n}xf32>
  return %C : tensor<{m}x{n}xf32>
}}
"""


def of_warp_groups(r: random.Random) -> tuple[str, list[str]]:
    """A product, and the statements that make it one of warp groups: some with another word, or left out, or elsewhere."""

    def or_else(right: object, *others: object) -> object:
        return r.choice(others) if r.random() < 0.06 else right

    m, n, k = (8 * r.randint(1, 25) for _ in range(3))
    bm, bn = r.choice((64, 128)), r.choice((64, 128))
    copies, axis = or_else("tma", "threads(*) cyclic vector 8"), or_else("y", "x")
    script = [
        "let gemm = match linalg.matmul", "let init = match linalg.fill",
        f"let (tiles, tile_mm) = tile gemm [{bm}, {or_else(bn, 96, 40)}]", "fuse init into tiles",
        f"map tiles to {or_else(r.choice(('blocks(y, x)', 'blocks(x: 2) cyclic')), 'blocks(x)', 'grid(y, x)')}",
        f"let (k, step) = tile tile_mm [_, _, {or_else(64, 128, 32)}]",
        f"let (a, copy_a) = promote-to-shared step.lhs {or_else('swizzle 128', 'swizzle 64', '')}",
        "let (b, copy_b) = promote-to-shared step.rhs swizzle 128", f"map copy_a to {copies}", f"map copy_b to {copies}",
        f"let (groups, group_mm) = tile step [{or_else(64, bm, 32)}, _]", f"map groups to warpgroups({axis})",
        f"let product = mma group_mm [64, {or_else(bn, 64, 8)}, {or_else(16, 8)}]", "promote-to-registers product.acc across k",
        f"pipeline k stages {r.randint(1, 4)} {or_else(r.choice(AHEAD), '')}".strip(),
        "insert-barriers", f"launch tiles{or_else('', ' cluster(2)')}",
    ]  # fmt: skip
    if r.random() < 0.2:
        del script[r.randrange(2, len(script))]
    if r.random() < 0.2:
        first, second = sorted(r.sample(range(2, len(script)), 2))
        script[first], script[second] = script[second], script[first]
    return PRODUCT.format(m=m, n=n, k=k, type=or_else(r.choice(("bf16", "f16")), "f32")), script


def run(seed: int) -> None:
    r = random.Random(seed)
    text, script = of_warp_groups(r) if seed % 5 == 4 else (payload(r), [])
    print(f"---- seed {seed}\n{text}", flush=True)
    file = parse_text("schedule s() {\n}\n", "random.weft")
    writer = Writer(r, Session(parse_payload(Source("p.mlir", text)), file, bind_parameters(file.main, {})))
    for made in script:
        print(f"? {made}", flush=True)
        if writer.try_one(made):
            print("  done", flush=True)
    names: dict[str, int] = {}
    for op in operations(writer.session.module.operation):
        if is_structured(op):
            structure(op)
            number = names[op.name] = names.get(op.name, -1) + 1
            writer.try_one(f"let h{len(writer.done)} = match {op.name} #{number}")
    for _ in range(8 if script else 24):
        made = writer.statement()
        print(f"? {made}", flush=True)
        if writer.try_one(made):
            print("  done", flush=True)


if __name__ == "__main__":
    for number in range(int(sys.argv[1]), int(sys.argv[2])):
        run(number)
    print("---- all done", flush=True)
