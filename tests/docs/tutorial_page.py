"""Making `docs/tutorial.md`, and the tables of `docs/performance.md`: prose by hand, the rest by the tool.

The prose is `docs/tutorial/page.md`. A line of it that starts with `@` is replaced:

| line | becomes |
|---|---|
| `@schedule N` | the schedule of rung N; from the second on, its lines that differ from the rung before |
| `@ir N "STEP" ["PATTERN"]` | the step's report, and what it changed in the IR; or of that the lines that PATTERN finds |
| `@cuda N "PATTERN" LINES` | so many lines of the CUDA text, from the first that PATTERN finds |
| `@effect N` | the counts and the prediction, beside those of the rung before |
| `@panels N…` | panels of A and B that the blocks of one wave read |
| `@ladder` | all rungs |
| `@measured`, `@rest` | all rungs, predicted and measured; the sizes that are not square |
| `@recipes` | every recipe at its sizes, measured |
| `@products`, `@variants KIND` | products by their fastest schedules, measured; every schedule of a kind of them |
| `@groups` | the rungs of warp groups, predicted and measured |
| `@predictions` | kernels that are both predicted and measured |
| `@streams` | what streams and graphs win, measured |
| `@convolutions`, `@halves` | the layers of ResNet-50, measured; in half precision |

Nothing in them depends on the machine or the hour.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import evidence_tables
import predictions
from ladder import H200, Ladder, effect, table, timed
from ladder import page as ladder_page
from rung import RUNGS, Counts, Settings, counts, kinds_of_load, made, panels, scheduled
from sass import product_loop

from weft.interpreter.session.statement import signatures
from weft.runtime.predict.prediction import KernelPrediction

SIZE = 4096
CASE = f"{SIZE}x{SIZE}x{SIZE}"
LADDER = Ladder("tutorial", (("m", SIZE), ("n", SIZE), ("k", SIZE)))
CUBLAS = {"f32": {1024: 32.8, 4096: 51.2}, "bf16": {8192: 788.0}}
"""TFLOP/s that are published of cuBLAS on an H200, by the size of a square product; in fp32 without TF32."""


def page(template: Path) -> str:
    """The page that a template makes."""
    return ladder_page(template, expanded)


def expanded(line: str) -> Iterable[str]:
    if not line.startswith("@"):
        return [line]
    name, *words = shlex.split(line[1:])
    number = int(words[0]) if words and words[0].isdigit() else 0
    makers: dict[str, Callable[[], list[str]]] = {
        "schedule": lambda: LADDER.schedule(number),
        "ir": lambda: LADDER.ir_change(number, *words[1:]),
        "cuda": lambda: LADDER.excerpt(number, words[1], int(words[2])),
        "effect": lambda: effect(ROWS, range(max(1, number - 1), number + 1)),
        "panels": lambda: panel_table([int(word) for word in words]),
        "ladder": ladder,
        "measured": measured,
        "rest": rest,
        "recipes": lambda: _measured(evidence_tables.RECIPES_HEAD, evidence_tables.recipes(), evidence_tables.recipes_remark()),
        "products": lambda: _measured(evidence_tables.PRODUCTS_HEAD, evidence_tables.products()),
        "variants": lambda: _measured(*evidence_tables.variants(" ".join(words))),
        "groups": lambda: _measured(predictions.GROUPS_HEAD, predictions.group_rows()),
        "calibration": lambda: _measured(predictions.FAMILIES_HEAD, *predictions.of_all(words[0])),
        "ranking": lambda: _measured(predictions.RANKING_HEAD, *predictions.ranking()),
        "predictions": lambda: _measured(predictions.HEAD, predictions.rows(), predictions.remark()),
        "streams": lambda: _measured(evidence_tables.STREAMS_HEAD, evidence_tables.streams(), evidence_tables.streams_remark()),
        "convolutions": lambda: _measured(
            evidence_tables.CONVOLUTIONS_HEAD, evidence_tables.convolutions(), evidence_tables.convolutions_remark()
        ),
        "halves": lambda: _measured(evidence_tables.HALVES_HEAD, evidence_tables.halves(), evidence_tables.halves_remark()),
    }
    return makers[name]()


# ---- pieces --------------------------------------------------------------------------------------------------------


def prediction(number: int) -> KernelPrediction:
    """The time of a rung's launch on an H200."""
    (found,) = LADDER.predicted(number).kernels
    return found


def tile_of(path: Path, size: int) -> tuple[int, int]:
    """Rows and columns of C that a block computes."""
    for step in made(path, size, size, size).applied.session.steps:
        if found := re.match(r"let \(tiles, \w+\) = tile gemm \[(\d+), (\d+)\]", step.text):
            return int(found[1]), int(found[2])
    raise ValueError(f"{path.name} does not tile `gemm`")


def _of(number: int) -> Counts:
    return counts(RUNGS[number - 1], SIZE)


ROWS: dict[str, Callable[[int], str]] = {
    "lines of A and B that a warp requests, per FFMA": lambda n: f"{_of(n).lines / _of(n).product_warps:.3g}",
    "bytes of A and B that a block reads, per FLOP": lambda n: f"{_of(n).bytes_per_flop:.3g}",
    "shared-memory wavefronts per FFMA": lambda n: f"{_of(n).wavefronts / _of(n).product_warps:.3f}",
    "bank conflicts among these": lambda n: f"{(_of(n).wavefronts - _of(n).conflict_free) / _of(n).product_warps:.3f}",
    "shared loads in the inner loop": lambda n: kinds_of_load(_of(n).loop),
    "FFMA among the inner loop's instructions": lambda n: f"{_of(n).loop.ffma} of {sum(_of(n).loop.by_mnemonic.values())}",
    "barriers per step of k": lambda n: f"{_of(n).barriers:.0f}",
    "registers per thread": lambda n: str(_of(n).resources.registers),
    "blocks per multiprocessor": lambda n: f"{prediction(n).resident} of {_of(n).threads} threads",
    "limited by": lambda n: prediction(n).limit,
    "of the schedulers' clocks: FFMA": lambda n: f"{prediction(n).issue['products']:.0%}",
    "most of the others": lambda n: _most_of_the_others(prediction(n)),
    "**predicted TFLOP/s**": lambda n: f"**{prediction(n).rate / 1e12:.1f}**",
    "**measured TFLOP/s**": lambda n: f"**{evidence_tables.rung(RUNGS[n - 1].stem, CASE)}**",
}


def _most_of_the_others(found: KernelPrediction) -> str:
    """What else becomes of the clocks, the largest two shares."""
    others = sorted(((share, name) for name, share in found.issue.items() if name != "products"), reverse=True)
    return ", ".join(f"{name} {share:.0%}" for share, name in others[:2])


def panel_table(numbers: Sequence[int]) -> list[str]:
    rows = []
    for number in numbers:
        path = RUNGS[number - 1]
        cells = []
        for size in (4096, 8192):
            together = prediction(number).resident * H200.processors
            cells.append(f"{panels(path, size, together):.1f}")
        rows.append((f"rung {number}", *cells))
    return table(("rows and columns of tiles that the blocks of one wave read", "4096³", "8192³"), rows)


def ladder() -> list[str]:
    head = ("rung", "what is new", "inner loop's instructions", "products among these", "limited by", "predicted TFLOP/s",
            "of cuBLAS", "measured TFLOP/s")  # fmt: skip
    rows = []
    for number, path in enumerate(RUNGS, 1):
        found, said = counts(path, SIZE), prediction(number)
        total = sum(found.loop.by_mnemonic.values())
        new = ", ".join(f"`{word}`" for word in _statements_of(number)) or "–"
        row = _rung(path.stem, new, total, found.loop.ffma, said.limit, said.rate, CUBLAS["f32"][SIZE])
        rows.append((*row, evidence_tables.rung(path.stem, CASE)))
    for name, new, settings, cublas, measurement in RECIPES:
        ready, whole = scheduled(Path(name), settings), timed(Path(name), settings)
        longest = max(whole.kernels, key=lambda kernel: kernel.seconds)
        loop = product_loop(ready.cuda, longest.name, H200.arch).by_mnemonic
        rate = whole.rate or 0.0
        row = _rung(f"`{name}`", new, sum(loop.values()), loop["FFMA"] + loop["HMMA"], longest.limit, rate, cublas)
        rows.append((*row, evidence_tables.rate_of(*measurement) if measurement else "–"))
    return table(head, rows)


RECIPES: Sequence[tuple[str, str, Settings, float | None, tuple[str, ...] | None]] = (
    ("simt_pipelined", "16 × 8 elements a thread, in two pieces", predictions.cube(4096), CUBLAS["f32"][4096],
     ("recipes: simt_pipelined m=4096 n=4096 k=4096", "simt_pipelined")),
    ("simt_split_k", "`split-k`; 1024³", predictions.cube(1024), CUBLAS["f32"][1024],
     ("recipes: simt_split_k m=1024 n=1024 k=1024", "simt_split_k")),
    ("tensor", "`mma`, `pipeline … async`, `swizzle`; bf16, 8192³", predictions.cube(8192), CUBLAS["bf16"][8192],
     ("products: bf16 8192x8192x8192", "tensor", "pytorch")),
    ("tensor", "`stages=4`, 8448 × 8192 × 8192", (("m", 8448), ("n", 8192), ("k", 8192), ("stages", 4)), None, None),
    ("igemm_tensor", "the same, for a convolution", (("n", 32), ("h", 28), ("w", 28), ("c", 128), ("k", 128)), None, None),
)  # fmt: skip
"""Recipes above the rungs: name, what is new, settings, what cuBLAS is published to reach of the same, where it is measured."""


def _rung(
    name: str, new: str, instructions: int, products: int, limit: str, rate: float, cublas: float | None
) -> tuple[str, ...]:
    of_cublas = f"{rate / 1e12 / cublas:.0%}" if cublas else "–"
    return name, new, str(instructions), f"{products / instructions:.0%}", limit, f"{rate / 1e12:.1f}", of_cublas


def _statements_of(number: int) -> list[str]:
    """The statements in the lines that a rung adds."""
    if number == 1:
        return ["tile", "fuse", "map", "launch"]
    before, now = (RUNGS[n].read_text().splitlines() for n in (number - 2, number - 1))
    added = "\n".join(line for line in now if line not in before and not line.startswith(("//", "schedule ")))
    return [word for word in signatures() if re.search(rf"^ *(let [^=]*= )?{word}(?![\w-])", added, re.MULTILINE)]


SQUARE = ("1024x1024x1024", "2048x2048x2048", "4096x4096x4096", "8192x8192x8192")


def measured() -> list[str]:
    """Predicted and measured, at the square sizes."""
    rows = []
    for number, path in enumerate(RUNGS, 1):
        said = prediction(number).share
        cells = [evidence_tables.rung(path.stem, case) for case in SQUARE]
        rows.append((path.stem, f"{said:.1%}", f"{said * H200.peak / 1e12:.1f}", *cells))
    return table(("rung", "predicted", "TFLOP/s", *(f"{case.partition('x')[0]}³" for case in SQUARE)), rows)


def rest() -> list[str]:
    """The other sizes, as far as they were measured."""
    cases = [case for case in evidence_tables.ladder_cases() if case not in SQUARE]
    if not cases:
        return ["The skinny and ragged sizes are not yet measured here either."]
    rows = [(path.stem, *(evidence_tables.rung(path.stem, case) for case in cases)) for path in RUNGS]
    return table(("rung", *(case.replace("x", " × ") for case in cases)), rows)


def _measured(head: Sequence[str], rows: Iterable[Sequence[str]], remark: str = "") -> list[str]:
    return [*table(head, rows), *(["", remark] if remark else [])]
