"""What is asked of a piece of MLIR: that `weft verify` judges it, that its kernels are emitted and simulated, and that generic
schedules do something with each of its ops.

Its functions are asked the same as kernels. The schedules are made of what the piece holds: each kind of structured op and of loop
in its functions is mapped as it is, tiled over blocks and threads, staged, cut up and fused, with small sizes that seldom divide.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from kernels import as_kernels

from weft.dsl.diagnostics import Source, WeftError
from weft.interpreter.ir.mlir import operations
from weft.interpreter.ir.structured import is_structured, structure
from weft.payloads.payload import parse_module

CUT = re.compile(r"^// -----.*$", re.MULTILINE)
LOOPS = ("scf.for", "scf.parallel", "scf.forall", "affine.for", "affine.parallel")
MOST_OPS = 6
"""Of one kind (name and types) one op is scheduled, and of one piece no more than that many."""


@dataclass(frozen=True)
class Case:
    """One thing to do with `text`; `run` does so with a schedule. `name` says which in a report."""

    name: str
    text: str
    do: Literal["verify", "emit", "simulate", "run"]
    schedule: str | None = None


def pieces(text: str) -> list[str]:
    """The modules that a file holds, as upstream's tests are cut; each with its comments."""
    return [piece for piece in CUT.split(text) if piece.strip()]


def cases(text: str) -> Iterator[Case]:
    """All that is asked of one piece. Text that does not parse is judged alone."""
    yield Case("verify", text, "verify")
    try:
        module = parse_module(Source("piece.mlir", text))
    except WeftError:
        return
    launches = any(True for _ in operations(module.operation, "gpu.launch", "gpu.launch_func"))
    if launches or any(True for _ in operations(module.operation, "gpu.func")):
        yield Case("emitted", text, "emit")
        yield Case("simulated", text, "simulate")
    functions = [f for f in operations(module.operation, "func.func") if len(f.regions[0].blocks)]
    if not functions:
        return
    if kernels := as_kernels(parse_module(Source("piece.mlir", text))):
        yield Case("as kernels", kernels, "verify")
        yield Case("as kernels, emitted", kernels, "emit")
        yield Case("as kernels, simulated", kernels, "simulate")
    for statement in ("print", "async-fork") if launches else ("bufferize",):
        yield Case(statement, text, "run", f"schedule s() {{\n  {statement}\n}}\n")
    counts: Counter[str] = Counter()
    kinds: set[tuple[str, ...]] = set()
    before: str | None = None
    for op in (op for f in functions for op in operations(f)):
        if not (is_structured(op) or op.name in LOOPS):
            continue
        found = f"match {op.name} #{counts[op.name]}"
        counts[op.name] += 1
        kind = (op.name, *(str(v.type) for v in (*op.operands, *op.results)))
        if kind not in kinds and len(kinds) < MOST_OPS:
            kinds.add(kind)
            where = f"{op.name} #{counts[op.name] - 1}"
            schedules = _of_structured(list(structure_of(op)), before) if is_structured(op) else _of_loop()
            for name, body in schedules:
                lines = "\n  ".join((f"let op = {found}", *body))
                yield Case(f"{name}: {where}", text, "run", f"schedule s() {{\n  {lines}\n}}\n")
        before = found if is_structured(op) else before


def structure_of(op: object) -> tuple[str, ...]:
    """Its iterators; one parallel dimension for an op that does not say."""
    try:
        return structure(op).iterators or ("parallel",)  # pyright: ignore[reportArgumentType]
    except ValueError:
        return ("parallel",)


def _of_structured(iterators: list[str], before: str | None) -> Iterator[tuple[str, list[str]]]:
    parallel = [n for n, kind in enumerate(iterators) if kind == "parallel"][:3]
    reductions = [n for n, kind in enumerate(iterators) if kind != "parallel"]

    def sizes(of: list[int], *values: int) -> str:
        return ", ".join(str(values[of.index(n) % len(values)]) if n in of else "_" for n in range(len(iterators)))

    def axes(count: int = 0) -> str:
        named = ("x", "y", "z")[: len(parallel)][::-1]
        return ", ".join(f"{a}: {count}" if count else a for a in named)

    yield "mapped", ["map op to grid(x: 64) cyclic", "insert-barriers", "launch op"]
    yield "vector", ["map op to threads(x: 8) block-cyclic(2) vector 4", "launch op"]
    yield "interchanged", [f"interchange op [{', '.join(str(n) for n in reversed(range(len(iterators))))}]"]
    product = ["let gemm = as-gemm op", "let (tiles, one) = tile gemm [3, 5]"]
    yield "as a product", [*product, "map tiles to grid(y, x)", "launch tiles"]
    if reductions:
        yield "split", ["let (parts, zeros, sum) = split-k op into 2", "map parts to grid(x: 32) cyclic", "launch parts"]
        alone = [f"let (k, step) = tile op [{sizes(reductions[:1], 2)}]", "unroll k by 2", "pipeline k"]
        yield "cut", alone
    if not parallel:
        return
    tiled = [f"let (tiles, tile) = tile op [{sizes(parallel, 5, 4, 3)}]", f"map tiles to blocks({axes()})"]
    inner = "tile"
    if reductions:
        tiled.append(f"let (k, step) = tile tile [{sizes(reductions[:1], 2)}]")
        inner = "step"
    threads = [f"let (lanes, one) = tile {inner} [{sizes(parallel, 2, 1, 2)}]", f"map lanes to threads({axes(2)}) cyclic"]
    end = ["insert-barriers", "verify-sync", "launch tiles"]
    yield "tiled", [*tiled, *threads, *end]
    yield "vectorized", [*tiled, *threads, "vectorize one", *end]
    copied = ["map copy to threads(*) cyclic vector 2"]
    for operand in ("lhs", "in0"):
        staged = f"let (buffer, copy) = promote-to-shared {inner}.{operand} pad 1"
        yield f"staged {operand}", [*tiled, staged, *copied, *threads, *end]
    if reductions:
        for operand in ("acc", "out0"):
            kept = [f"promote-to-registers one.{operand} across k"]
            yield f"kept {operand}", [*tiled, *threads, *kept, "unroll k by 2", *end]
    if before is not None:
        first = f"let before = {before}"
        yield "fused", [first, tiled[0], "fuse before into tiles", *tiled[1:], *threads, *end]
        if reductions:
            yield "fused into k", [first, *tiled, "fuse before into k", *threads, *end]


def _of_loop() -> Iterator[tuple[str, list[str]]]:
    yield "mapped", ["map op to threads(x: 8) cyclic", "insert-barriers", "launch op"]
    yield "mapped twice", ["map op to grid(y: 4, x: 8) block", "insert-barriers", "verify-sync", "launch op"]
    yield "coalesced", ["let one = coalesce op", "map one to blocks(x)", "launch one"]
    strips = ["let (strips, strip) = tile op [3]", "map strips to blocks(x)", "map strip to threads(x)"]
    yield "strips", [*strips, "insert-barriers", "launch strips"]
    yield "unrolled", ["unroll op by 2", "pipeline op"]
