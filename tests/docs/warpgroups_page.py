"""Making `docs/warpgroups.md`: prose by hand (`docs/warpgroups/page.md`), the rest by the tool.

| line | becomes |
|---|---|
| `@schedule N` | the schedule of rung N, or its lines that differ from the rung before |
| `@cuda N "PATTERN" LINES` | so many lines of the CUDA text, from the first that PATTERN finds |
| `@effect N…` | the counts and predictions of these rungs |
| `@mutant N "PATTERN" COUNT` | what `weft verify` says first of rung N without the COUNTth op (from 0) that PATTERN finds |
| `@ladder` | all rungs, behind the recipe `tensor` |
| `@published` | a published ladder, and what the model says of the rungs that are most like it |
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable
from functools import cache

import evidence_tables
import numpy as np
import sass
from kept_predictions import predicted
from ladder import Cell, Ladder, effect, table, timed
from predictions import ITEM, tensor_of_four_stages
from rung import ROOT, scheduled
from tutorial_page import CUBLAS

from weft.dsl.diagnostics import Source, render
from weft.interpreter.ir.mlir import ir, operations
from weft.maps.ownership import live_maps, ownership
from weft.runtime.predict.chips import chip_named
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
    "`launch … cluster(2)`",
    "`order hilbert`",
)
"""What a rung has that the one before has not."""


PUBLISHED = (
    ("a producer, two consumers, 128 × 256", 631, 4),
    ("blocks that stay, clusters of two", 734, 6),
    ("stores of boxes, a Hilbert curve", 764, 7),
)
"""What the steps of fast.cu are, the TFLOP/s that its author measured on an H100 at 4096, and the rung that is most like each."""


@cache
def prediction(number: int) -> KernelPrediction:
    """The time of a rung's launch on an H200; of rung 0 that of the recipe `tensor`, with its parameters for this size."""
    first = tensor_of_four_stages()
    (found,) = (LADDER.predicted(number) if number else timed(first.path, first.settings)).kernels
    return found


def speed(number: int) -> float:
    """TFLOP/s."""
    return 2 * SIZE**3 / prediction(number).seconds / 1e12


def measured(number: int) -> str:
    """TFLOP/s, and in parentheses the share of cuBLAS with a result in f32."""
    first = tensor_of_four_stages()
    where = (ITEM, LADDER.path(number).stem) if number else (first.item, first.name)
    return evidence_tables.rate_of(*where, beside="pytorch")


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


def boxes(number: int) -> str:
    """Loads of boxes in a rung's machine code, and how many of them are for several blocks."""
    every = sass.program(LADDER.made(number).cuda, "matmul", "sm_90a").instructions
    loads = [one for one in every if one.mnemonic == "UTMALDG"]
    shared = sum("MULTICAST" in one.modifiers for one in loads)
    return f"{len(loads)}, {shared} of them `.MULTICAST`" if shared else str(len(loads))


def tiles_in_order(number: int) -> list[tuple[int, int]]:
    """The tiles of a rung as its blocks take them: by what `show-map` says, or by the table of a curve, whose places are those of
    clusters of two, one tile below the other."""
    session = LADDER.made(number).applied.session
    (live,) = live_maps(session, ["tiles"])
    rows, columns = ownership(live).owners.shape
    table = next(operations(LADDER.made(number).applied.module.operation, "memref.global"), None)
    if table is None:
        order = np.argsort(ownership(live).owners, axis=None)
        return [divmod(int(place), columns) for place in order]
    places = [divmod(place, columns) for place in ir.DenseIntElementsAttr(table.attributes["initial_value"])]
    if len(places) * 2 != rows * columns:
        raise ValueError(f"{len(places)} places of a curve through {rows} × {columns} tiles are no clusters of two")
    return [(2 * row + below, column) for row, column in places for below in (0, 1)]


def read_together(number: int) -> float:
    """MiB of A and B that a multiprocessor's worth of blocks each, which begin one after the other, read: on average."""
    tiles, count = tiles_in_order(number), chip_named("h200").processors
    rows, columns = (1 + max(tile[axis] for tile in tiles) for axis in (0, 1))
    found = [tiles[first : first + count] for first in range(0, len(tiles) - count + 1, count)]
    each = [len({row for row, _ in some}) / rows + len({column for _, column in some}) / columns for some in found]
    return sum(each) / len(each) * SIZE * SIZE * 2 / 2**20


ROWS: dict[str, Cell] = {
    "threads of a block": lambda n: str(prediction(n).threads),
    "blocks per multiprocessor": lambda n: str(prediction(n).resident),
    "registers per thread": lambda n: str(prediction(n).registers),
    "products of a warp group in the text (`HGMMA`)": lambda n: str(counts(n, "HGMMA")),
    "loads of boxes in the text (`UTMALDG`)": boxes,
    "MiB of A and B that 132 blocks read together": lambda n: f"{read_together(n):.0f}",
    "barriers of the block in a step": lambda n: str(LADDER.made(n).cuda.partition("for (int k")[2].count("__syncthreads")),
    "tensor cores in use": lambda n: f"{prediction(n).busy['tensor cores']:.0%}",
    "L2 in use": lambda n: f"{prediction(n).busy['L2']:.0%}",
    "limited by": lambda n: prediction(n).limit,
    "**predicted TFLOP/s**": lambda n: f"**{speed(n):.0f}**",
    "**measured TFLOP/s**": lambda n: f"**{measured(n)}**",
}


def ladder() -> list[str]:
    rows = []
    for number in range(len(LADDER.rungs) + 1):
        name = LADDER.path(number).stem if number else "`tensor`, `stages=4`"
        found = speed(number)
        shares = (f"{found / PEAK:.0%}", f"{found / CUBLAS['bf16'][SIZE]:.0%}")
        rows.append((name, NEW[number], prediction(number).limit, f"{found:.0f}", *shares, measured(number)))
    head = ("rung", "what is new", "limited by", "predicted TFLOP/s", f"of {PEAK:.0f}", "of cuBLAS", "measured TFLOP/s")
    return table(head, rows)


def published() -> list[str]:
    rows = []
    for step, theirs, number in PUBLISHED:
        (found,) = predicted(scheduled(LADDER.path(number), tuple((axis, 4096) for axis in "mnk")), "h100").kernels
        said = 2 * 4096**3 / found.seconds / 1e12
        rows.append((step, str(theirs), LADDER.path(number).stem, f"{said:.0f}", f"{said / theirs - 1:+.0%}"))
    return table(("step of fast.cu", "measured by its author", "rung", "predicted", "difference"), rows)


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
        "published": published,
    }
    return makers[name]()
