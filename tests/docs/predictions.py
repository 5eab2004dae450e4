"""Predictions beside measurements: for kernels that `benchmarks/gpu.py` times, what the model says of the same schedule and sizes.

Which kernels: the rungs of the tutorial and of warp groups, and recipes of products and of rows. Blocks that stay are left out:
the model takes a minute for one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import evidence_tables
from ladder import Ladder, timed
from rung import RUNGS, Settings

WARP_GROUPS, SIZE = Ladder("warpgroups"), 8192
ITEM = f"warp groups: {SIZE}"
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
