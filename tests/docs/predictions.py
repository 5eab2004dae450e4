"""Predictions beside measurements: for kernels that `benchmarks/gpu.py` times, what the model says of the same schedule and sizes.

Which kernels: the rungs of the tutorial and of warp groups, and recipes of products and of rows, large and small. Blocks that stay
are left out: the model takes a minute for one. What `benchmarks/calibration.py` kept of all that was measured is shown by kind, and
how the model ranks the schedules of an item.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import evidence_tables
from ladder import Ladder, timed
from rung import RUNGS, Settings

WARP_GROUPS, SIZE = Ladder("warpgroups"), 8192
ITEM = f"warp groups: {SIZE}"
PREDICTED = evidence_tables.MEASURED.parent / "predicted.json"
SIMPLE, FFMA, WARPS, ROWS = "FFMA, one sum in a thread", "FFMA, register tiles", "`mma.sync`", "rows"
GROUPS, CLUSTERS = "warp groups", "warp groups in clusters"
"""Kinds of kernels, of which the remark has a mean."""
HEAD = ("kernel", "kind", "size", "predicted", "measured", "predicted / measured")
GROUPS_HEAD = (
    "rung", "predicted TFLOP/s", "measured TFLOP/s", "measured / predicted", "of cuBLAS, result in f32",
    "of cuBLAS, result in bf16",
)  # fmt: skip


@dataclass(frozen=True)
class Kernel:
    """A schedule at a size, and where its measurement is.

    Args:
        item, name: of the measurement, and of the schedule in it.
    """

    label: str
    kind: str
    size: str
    path: Path
    settings: Settings
    item: str
    name: str

    @property
    def predicted(self) -> float:
        """Seconds."""
        return seconds(self.path, self.settings)

    @property
    def found(self) -> evidence_tables.Found | None:
        return evidence_tables.entry(self.item, self.name)


def seconds(path: Path, settings: Settings) -> float:
    """What the model says of all launches together, on an H200."""
    return timed(path, settings).seconds


def cube(size: int) -> Settings:
    return tuple((axis, size) for axis in "mnk")


def kernels() -> Iterator[Kernel]:
    """All that are compared."""
    for number, path in enumerate(RUNGS, 1):
        case = "x".join(["4096"] * 3)
        yield Kernel(path.stem, SIMPLE if number < 4 else FFMA, "4096³", path, cube(4096), f"ladder: {path.stem} {case}", path.stem)
    recipes = (("simt", FFMA), ("simt_pipelined", FFMA), ("tensor", WARPS), ("hopper", GROUPS))
    for name, kind in recipes:
        yield recipe(name, kind, "4096³", cube(4096))
    yield tensor_of_four_stages()
    yield from warp_groups()
    for name in ("softmax", "layernorm"):
        yield recipe(name, ROWS, "8192 × 8192", (("m", 8192), ("n", 8192)))
    yield from small()


def small() -> Iterator[Kernel]:
    """Those of a few microseconds, of which a launch is a good part."""
    for name, kind in (("simt", FFMA), ("simt_split_k", FFMA), ("tensor", WARPS), ("hopper", GROUPS)):
        yield recipe(name, kind, "1024³", cube(1024))
    for name in ("softmax", "layernorm", "argmax"):
        yield recipe(name, ROWS, "4096 × 1000", (("m", 4096), ("n", 1000)))
    for name in ("sum", "scan"):
        yield recipe(name, ROWS, "4096", (("n", 4096),))


def recipe(name: str, kind: str, size: str, settings: Settings) -> Kernel:
    said = " ".join(f"{axis}={value}" for axis, value in settings)
    return Kernel(f"`{name}`", kind, size, Path(name), settings, f"recipes: {name} {said}", name)


def tensor_of_four_stages() -> Kernel:
    """What the rungs of warp groups begin with."""
    item = "products: bf16 " + "x".join([str(SIZE)] * 3)
    settings = (*cube(SIZE), ("stages", 4))
    return Kernel("`tensor`, `stages=4`", WARPS, f"{SIZE}³", Path("tensor"), settings, item, "tensor, four stages")


def warp_groups() -> Iterator[Kernel]:
    """The rungs, which have this size themselves."""
    for path in WARP_GROUPS.rungs:
        kind = CLUSTERS if "cluster(" in path.read_text() else GROUPS
        yield Kernel(path.stem, kind, f"{SIZE}³", path, (), ITEM, path.stem)


def rows() -> list[tuple[str, ...]]:
    """A row for each kernel."""
    return [
        (one.label, one.kind, one.size, f"{one.predicted * 1e6:.1f} µs", evidence_tables.micro(one.found), _ratio(one))
        for one in kernels()
    ]


def _ratio(one: Kernel) -> str:
    return f"{one.predicted / one.found['seconds']:.2f}" if one.found and "seconds" in one.found else "–"


def remark() -> str:
    """The geometric mean of the ratios by kind, or that nothing was measured."""
    ratios: dict[str, list[float]] = {}
    for one in kernels():
        if one.found and "seconds" in one.found:
            ratios.setdefault(one.kind, []).append(one.predicted / one.found["seconds"])
    if not ratios:
        return evidence_tables.NOTHING
    said = [f"{kind}: {evidence_tables.geometric_mean(found):.2f} ({len(found)} kernels)" for kind, found in ratios.items()]
    return f"Predicted / measured, in the geometric mean: {'; '.join(said)}."


def of_all(half: str) -> tuple[list[tuple[str, ...]], str]:
    """How far off the model is by kind of kernel, of the items that constants were fitted to, or of the others; and in a line."""
    ones = [one for one in calibrated() if one.half == ("fitted", "tested").index(half)]
    kinds: dict[str, list[float]] = {}
    for one in ones:
        if one.error is not None:
            kinds.setdefault(one.family, []).append(one.error)
    if not kinds:
        return [("–",) * len(FAMILIES_HEAD)], evidence_tables.NOTHING
    order = sorted(kinds.items(), key=lambda pair: _spread(pair[1]))
    rows = [(kind, *_summary(found)) for kind, found in order]
    every = [error for found in kinds.values() for error in found]
    refused = len(ones) - len(every)
    count, mean, off, *_ = _summary(every)
    said = f"Of all {count} rows: mean {mean}, {off} of them off by more than 15 %; the worst family is *{order[-1][0]}*"
    return rows, f"{said}{f'; {refused} were refused (W0782)' if refused else ''}."


FAMILIES_HEAD = ("kernels", "rows", "predicted / measured", "off by more than 15 %", "least", "most")


@dataclass(frozen=True)
class Calibrated:
    """A schedule of an item as `benchmarks/calibration.py` kept it, in seconds. `error`: ln(predicted / measured); None where the
    model refused it, of which `predicted` is 0."""

    item: str
    entry: str
    family: str
    half: int
    predicted: float
    measured: float

    @property
    def error(self) -> float | None:
        return math.log(self.predicted / self.measured) if self.predicted else None


def calibrated() -> list[Calibrated]:
    """All that was kept, of what is measured."""
    kept = json.loads(PREDICTED.read_text())["rows"]
    pairs = ((one, evidence_tables.entry(one["item"], one["entry"])) for one in kept)
    found = [(one | {"predicted": one["predicted"] or 0.0}, mine) for one, mine in pairs if mine is not None]
    return [Calibrated(**one, measured=mine["seconds"]) for one, mine in found if "seconds" in mine]


def _summary(errors: Sequence[float]) -> tuple[str, ...]:
    off = sum(abs(error) > math.log(1.15) for error in errors)
    ends = (f"{math.exp(end(errors)):.2f}" for end in (min, max))
    return str(len(errors)), f"{math.exp(sum(errors) / len(errors)):.2f}", f"{off / len(errors):.0%}", *ends


def _spread(errors: Sequence[float]) -> float:
    return sum(error**2 for error in errors) / len(errors)


RANKING_HEAD = ("item", "schedules", "Spearman", "the model takes", "the fastest was", "which costs")
FEWEST = 4
"""Schedules of an item that are worth ranking."""


def ranking() -> tuple[list[tuple[str, ...]], str]:
    """Of each item with several schedules, how the model ranks them; and what its choices cost on average."""
    items: dict[str, list[Calibrated]] = {}
    for one in calibrated():
        if one.error is not None:
            items.setdefault(one.item, []).append(one)
    rows, costs = [], []
    for item, ones in items.items():
        if len(ones) >= FEWEST:
            taken, best = (min(ones, key=lambda one, by=by: getattr(one, by)) for by in ("predicted", "measured"))
            costs.append(taken.measured / best.measured)
            said = "the same" if taken == best else best.entry
            agreed = spearman([one.predicted for one in ones], [one.measured for one in ones])
            cost = f"{costs[-1] - 1:.0%}"
            rows.append((item.replace("resnet50.", ""), str(len(ones)), f"{agreed:+.2f}", taken.entry, said, cost))
    if not costs:
        return [("–",) * len(RANKING_HEAD)], evidence_tables.NOTHING
    worst = max(costs)
    mean = evidence_tables.geometric_mean(costs) - 1
    return rows, f"What the model takes costs {mean:.1%} on average, {worst - 1:.0%} at worst, of {len(costs)} items."


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """The correlation of the ranks of two series of values; 0 where all of one are equal."""
    if len(set(first)) == 1 or len(set(second)) == 1:
        return 0.0
    ranks = ([sorted(values).index(value) for value in values] for values in (first, second))
    return statistics.correlation(*ranks)


def group_rows() -> list[tuple[str, ...]]:
    """The rungs of warp groups in TFLOP/s."""
    operations, found = 2 * SIZE**3, []
    one = evidence_tables.recorded().get(ITEM)
    for kernel in warp_groups():
        mine, said = kernel.found, operations / kernel.predicted / 1e12
        if one is None or mine is None:
            found.append((kernel.label, f"{said:.0f}", *("–",) * 4))
            continue
        ratio = f"{kernel.predicted / mine['seconds']:.2f}" if "seconds" in mine else "–"
        shares = (evidence_tables.share(one, library, mine) for library in ("pytorch", "library"))
        found.append((kernel.label, f"{said:.0f}", evidence_tables.rate(one, mine), ratio, *shares))
    return found
