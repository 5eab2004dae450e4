"""Making `docs/warpgroups.md`: prose by hand (`docs/warpgroups/page.md`), the rest by the tool.

| line | becomes |
|---|---|
| `@schedule N` | the schedule of rung N, or its lines that differ from the rung before |
| `@cuda N "PATTERN" LINES` | so many lines of the CUDA text, from the first that PATTERN finds |
| `@effect N…` | the counts and predictions of these rungs |
| `@mutant N "PATTERN" COUNT` | what `weft verify` says first of rung N without the COUNTth op (from 0) that PATTERN finds |
| `@ladder` | all rungs, behind the recipe `tensor` |
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable
from functools import cache

import sass
from ladder import Cell, Ladder, effect, table
from rung import ROOT, scheduled
from tutorial_page import CUBLAS

from weft.dsl.diagnostics import Source
from weft.dsl.render import render
from weft.execution import predicted
from weft.pipeline import Choice, applied, planned
from weft.runtime.predict.prediction import KernelPrediction
from weft.verify import verify_source

LADDER = Ladder("warpgroups")
TEMPLATE = ROOT / "docs" / "warpgroups" / "page.md"
SIZE, SMALL = 8192, (("m", 256), ("n", 256), ("k", 512))
WIDTH = 118
PEAK = 989.0
"""TFLOP/s of an H200's data sheet, in bf16."""
NEW = (
    "`mma [16, 8, 16]`, `pipeline … async`",
    "`map … to tma`, `map … to warpgroups`, `mma [64, n, 16]`",
    "`pipeline … async` of boxes",
    "`pipeline … producer`",
    "128 × 256, `order grouped(8)`",
    "`promote-to-shared` of a result, `map … to tma`",
)
"""What a rung has that the one before has not."""


@cache
def prediction(number: int) -> KernelPrediction:
    """The time of a rung's launch on an H200; of rung 0 that of the recipe `tensor`, with its parameters for this size."""
    if number:
        (found,) = LADDER.predicted(number).kernels
    else:
        sizes = {**dict.fromkeys("mnk", str(SIZE)), "stages": "4"}
        (found,) = predicted(planned(applied(Choice("tensor", None, sizes).open())), "h200").kernels
    return found


def speed(number: int) -> float:
    """TFLOP/s."""
    return 2 * SIZE**3 / prediction(number).seconds / 1e12


def mutant(number: int, pattern: str, which: int) -> list[str]:
    """Raises ValueError where there is nothing to leave out, or nothing is found."""
    text = scheduled(LADDER.path(number), SMALL).applied.text
    lines = text.splitlines(keepends=True)
    found = [i for i, line in enumerate(lines) if re.search(pattern, line)]
    less = "".join(line for i, line in enumerate(lines) if i != found[which])
    said = verify_source(Source("ring.mlir", less)).diagnostics
    if not said:
        raise ValueError(f"rung {number} is proven without line {found[which]}")
    shown = [line for line in render(said[0], width=WIDTH).splitlines() if "nvgpu.tensormap" not in line]
    return ["```text", *(line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…" for line in shown), "```"]


def counts(number: int, name: str) -> int:
    """Instructions of that name in a rung's machine code."""
    return sass.whole(LADDER.made(number).cuda, "matmul", "sm_90a").by_mnemonic[name]


ROWS: dict[str, Cell] = {
    "threads of a block": lambda n: str(prediction(n).threads),
    "blocks per multiprocessor": lambda n: str(prediction(n).resident),
    "registers per thread": lambda n: str(prediction(n).registers),
    "products of a warp group in the text (`HGMMA`)": lambda n: str(counts(n, "HGMMA")),
    "barriers of the block in a step": lambda n: str(len(re.findall(r"__syncthreads", LADDER.made(n).cuda)) - 1),
    "tensor cores in use": lambda n: f"{prediction(n).busy['tensor cores']:.0%}",
    "L2 in use": lambda n: f"{prediction(n).busy['L2']:.0%}",
    "limited by": lambda n: prediction(n).limit,
    "**predicted TFLOP/s**": lambda n: f"**{speed(n):.0f}**",
}


def ladder() -> list[str]:
    rows = []
    for number in range(len(LADDER.rungs) + 1):
        name = LADDER.path(number).stem if number else "`tensor`, `stages=4`"
        found = speed(number)
        shares = (f"{found / PEAK:.0%}", f"{found / CUBLAS['bf16'][SIZE]:.0%}")
        rows.append((name, NEW[number], prediction(number).limit, f"{found:.0f}", *shares))
    return table(("rung", "what is new", "limited by", "TFLOP/s", f"of {PEAK:.0f}", "of cuBLAS"), rows)


def expanded(line: str) -> Iterable[str]:
    """What a line of the template becomes."""
    if not line.startswith("@"):
        return [line]
    name, *words = shlex.split(line[1:])
    makers: dict[str, Callable[[], list[str]]] = {
        "schedule": lambda: LADDER.schedule(int(words[0])),
        "cuda": lambda: LADDER.excerpt(int(words[0]), words[1], int(words[2])),
        "effect": lambda: effect(ROWS, [int(word) for word in words]),
        "mutant": lambda: mutant(int(words[0]), words[1], int(words[2])),
        "ladder": ladder,
    }
    return makers[name]()
