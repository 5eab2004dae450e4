"""Making `docs/reductions.md`: prose by hand (`docs/reductions/page.md`), the rest by the tool.

| line | becomes |
|---|---|
| `@schedule N` | the schedule of rung N, or its lines that differ from the rung before |
| `@ir N "STEP" ["PATTERN"]` | the step's report, and what it changed in the IR; or of that the lines that PATTERN finds |
| `@cuda N "PATTERN" LINES` | so many lines of the CUDA text, from the first that PATTERN finds |
| `@effect N…` | the counts and predictions of these rungs |
| `@measured` | the recipes of this page, predicted and measured, beside libraries |
| `@attention.schedule N` … | the same of the rungs of attention; a schedule is shown whole where most of it differs |
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from math import prod

import attention_rungs
import evidence_tables
from ladder import H200, Cell, Ladder, effect, table
from predictions import recipe
from rung import ROOT, Traffic, watching
from scheduled import run_schedule

from weft.runtime.plan.dtypes import itemsize
from weft.runtime.predict.prediction import KernelPrediction
from weft.runtime.run.execution import RunOptions

LADDER = Ladder("reductions")
TEMPLATE = ROOT / "docs" / "reductions" / "page.md"
SMALL = {"m": "64", "n": "1024"}
"""The launch that is counted. What is counted of an element, or of a row, does not depend on how many there are."""


@dataclass(frozen=True)
class RowCounts:
    """What a launch of a rung does.

    Args:
        reads, writes: of each element.
        lines: 128-byte lines that warps ask for, for 128 bytes that are read.
        width: bytes of an access. `barriers`: of a thread.
    """

    reads: float
    writes: float
    lines: float
    width: int
    barriers: int


@cache
def counted(number: int) -> RowCounts:
    """Run a rung at a small size. Raises ValueError where it is not right and race-free."""
    traffic = Traffic(frozenset("X"))
    with watching(traffic):
        report = run_schedule(str(LADDER.path(number)), None, SMALL, None, RunOptions("sim", 3)).report
    if not report.ok or report.races or report.faults or report.barriers is None:
        raise ValueError(f"{LADDER.path(number).name} is wrong: {report}")
    per_element = {one.kind: one.elements / one.size for one in report.traffic or ()}
    (width,) = {width for one in report.traffic or () for width, _ in one.accesses}
    read = sum(one.bytes for one in report.traffic or () if one.kind == "load")
    return RowCounts(per_element["load"], per_element["store"], traffic.lines * 128 / read, width, report.barriers)


def prediction(number: int) -> KernelPrediction:
    """The time of a rung's launch on an H200."""
    (found,) = LADDER.predicted(number).kernels
    return found


def rows_bytes(number: int) -> int:
    """Of X: what all its rows have."""
    (x,) = (b for b in LADDER.made(number).plan.buffers if b.name == "X")
    return prod(map(int, map(str, x.shape))) * itemsize(x.dtype)


def moved(number: int) -> int:
    """Bytes that DRAM moves: a row is read again from there where the rows that are at work do not fit into L2."""
    done = counted(number)
    reads = done.reads if rows_at_work(number) > H200.l2_bytes else 1
    return int((reads + done.writes) * rows_bytes(number))


def seconds(number: int) -> float:
    """The time by the model, which takes every argument once from DRAM; and no less than DRAM needs for all that it moves."""
    return max(prediction(number).seconds, moved(number) / (H200.dram * H200.dram_share) + H200.launch)


def rows_at_work(number: int) -> int:
    """Bytes of the rows that all multiprocessors together are at work on."""
    one = prediction(number)
    blocks = min(one.resident * H200.processors, prod(one.grid))
    return blocks * rows_bytes(number) // prod(one.grid)


def shuffles(number: int) -> int:
    """In the text of the kernel: none is in a loop."""
    return len(re.findall(r"__shfl_xor_sync\(", LADDER.made(number).cuda))


ROWS: dict[str, Cell] = {
    "reads of each element of X": lambda n: f"{counted(n).reads:.0f}",
    "lines that warps ask for, for 128 bytes that they read": lambda n: f"{counted(n).lines:.0f}",
    "bytes of an access": lambda n: str(counted(n).width),
    "shuffles of a warp": lambda n: str(shuffles(n)),
    "barriers": lambda n: str(counted(n).barriers),
    "threads": lambda n: f"{prod(prediction(n).grid) * prediction(n).threads:,}",
    "registers per thread": lambda n: str(prediction(n).registers),
    "blocks per multiprocessor": lambda n: f"{prediction(n).resident} of {prediction(n).threads} threads",
    "rows that are read at the same time": lambda n: f"{rows_at_work(n) / 2**20:.0f} MiB",
    "of the clocks, a scheduler issues an instruction": lambda n: f"{prediction(n).busy['instruction issue']:.0%}",
    "bytes that DRAM moves": lambda n: f"{moved(n) / 2**20:,.0f} MiB",
    "**predicted time**": lambda n: f"**{seconds(n) * 1e6:,.0f} µs**",
    "**of what DRAM allows**": lambda n: f"**{2 * rows_bytes(n) / H200.dram / seconds(n):.0%}**",
}


def measured() -> list[str]:
    """A row for each recipe: times, ours by the model and by the GPU, and libraries'."""
    matrix, heads = (("m", 8192), ("n", 8192)), (("b", 32), ("n", 2048), ("m", 2048), ("d", 64))
    rows = []
    for name, size, settings in (
        ("softmax", "8192 × 8192", matrix), ("layernorm", "8192 × 8192", matrix), ("argmax", "8192 × 8192", matrix),
        ("attention", "32 heads, 2048 × 2048 × 64", heads), ("attention_tensor", "32 heads, 2048 × 2048 × 64", heads),
    ):  # fmt: skip
        one = recipe(name, "", size, settings)
        beside = evidence_tables.recorded().get(one.item, {})
        libraries = (evidence_tables.micro(evidence_tables.library(beside, other)) for other in ("pytorch", "triton"))
        rows.append((one.label, size, f"{one.predicted * 1e6:,.0f} µs", evidence_tables.micro(one.found), *libraries))
    return table(("recipe", "size", "predicted", "measured", "PyTorch", "Triton"), rows)


def expanded(line: str) -> Iterable[str]:
    """What a line of the template becomes."""
    if not line.startswith("@"):
        return [line]
    name, *words = shlex.split(line[1:])
    of_attention = name.startswith("attention.")
    ladder, rows = (attention_rungs.ATTENTION, attention_rungs.ROWS) if of_attention else (LADDER, ROWS)
    makers: dict[str, Callable[[], list[str]]] = {
        "schedule": lambda: ladder.schedule(int(words[0]), whole=of_attention),
        "ir": lambda: ladder.ir_change(int(words[0]), *words[1:]),
        "cuda": lambda: ladder.excerpt(int(words[0]), words[1], int(words[2])),
        "effect": lambda: effect(rows, [int(word) for word in words]),
        "measured": measured,
    }
    return makers[name.removeprefix("attention.")]()
