"""The measured tables of `docs/performance.md`, from what `benchmarks/gpu.py record` kept."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from weft.recipes import schedules
from weft.recipes.conv2d.geometry import LAYERS

MEASURED = Path(__file__).parents[2] / "docs" / "performance" / "measured.json"
LAYOUTS = ("nhwc", "nchw")
RECIPES_HEAD = ("recipe", "size", "off by", "time", "TFLOP/s", "cuBLAS", "cuDNN", "PyTorch", "Triton")
CONVOLUTIONS_HEAD = ("layer", "NHWC", "of cuDNN", "NCHW", "of cuDNN", "im2col + cuBLAS")
STREAMS_HEAD = (
    "", "one stream", "own streams", "one stream, as a graph", "own streams, as a graph", "overlap", "host, per launch",
    "a bare loop's",
)  # fmt: skip
CASES = {
    "convolutions": "two convolutions and their sum, 1024 images",
    "convolutions-beside": "the same, 2 images: both fit side by side",
    "products": "8 products of 128 × 8192 and 8192 × 128",
    "launches": "1000 launches, one after the other",
}

Found = Mapping[str, Any]
NOTHING = "None of it is measured here yet."


@cache
def recorded() -> dict[str, Any]:
    """What was kept, by item."""
    data = json.loads(MEASURED.read_text()) if MEASURED.exists() else {"results": []}
    return {one["item"]: one for one in data["results"]}


def of(group: str) -> list[Found]:
    return [one for one in recorded().values() if one["group"] == group]


# ---- one cell each ---------------------------------------------------------------------------------------------------------


def micro(found: Found | None) -> str:
    """The time of a contender; a dash for none, and a word for one that has no time because it is wrong."""
    if found is None:
        return "–"
    return f"{found['seconds'] * 1e6:.1f} µs" if "seconds" in found else "failed" if "failed" in found else "wrong"


def fastest(one: Found) -> tuple[str, Found]:
    """The fastest variant that is right; the first, if none is."""
    entries: Mapping[str, Found] = one.get("entries", {}) if "libraries" in one else {}
    if not entries:
        return "", {"failed": one["failed"]}
    return min(entries.items(), key=lambda pair: pair[1].get("seconds", math.inf))


def library(one: Found, name: str) -> Found | None:
    return one.get("libraries", {}).get(name)


def share(one: Found, name: str) -> str:
    """Ours as a share of a library's speed."""
    mine, theirs = fastest(one)[1], library(one, name)
    return f"{theirs['seconds'] / mine['seconds']:.0%}" if theirs and "seconds" in mine and "seconds" in theirs else "–"


# ---- tables ----------------------------------------------------------------------------------------------------------------


def recipes() -> list[tuple[str, ...]]:
    """A row for each recipe and size; for each recipe, where nothing is measured."""
    rows = [(one["recipe"], one["size"], *_recipe(one)) for one in of("recipes")]
    return rows or [(name, *("–",) * (len(RECIPES_HEAD) - 1)) for name in schedules()]


def _recipe(one: Found) -> tuple[str, ...]:
    mine = fastest(one)[1]
    error = f"{mine['error']:.1e}" if mine.get("error") is not None else "–"
    rate = f"{one['operations'] / mine['seconds'] / 1e12:.2f}" if "seconds" in mine else "–"
    return error, micro(mine), rate, *(share(one, name) for name in ("library", "cudnn", "pytorch", "triton"))


def rung(name: str, case: str) -> str:
    """TFLOP/s of a rung of the tutorial, and in brackets its share of cuBLAS."""
    one = recorded().get(f"ladder: {name} {case}")
    if one is None:
        return "–"
    mine = fastest(one)[1]
    if "seconds" not in mine:
        return micro(mine)
    return f"{one['operations'] / mine['seconds'] / 1e12:.1f} ({share(one, 'library')})"


def ladder_cases() -> list[str]:
    return list(dict.fromkeys(one["case"] for one in of("ladder")))


def convolutions() -> list[tuple[str, ...]]:
    """A row per layer, with a dash for what was not measured."""
    return [(name.removeprefix("resnet50."), *_layer(name)) for name in LAYERS]


def _layer(layer: str) -> tuple[str, ...]:
    cells: list[str] = []
    one: Found | None = None
    for layout in LAYOUTS:
        one = recorded().get(f"convolutions: {layer} {layout}")
        if one is None:
            cells += ["–", "–"]
        else:
            name, mine = fastest(one)
            cells += [micro(mine) + (f" ({name})" if "seconds" in mine else ""), share(one, "cudnn")]
    return (*cells, micro(library(one, "library")) if one else "–")


def convolutions_remark() -> str:
    """The geometric means over all layers that were measured, or that nothing was."""
    said: list[str] = []
    for layout in LAYOUTS:
        for name, title in (("cudnn", "cuDNN"), ("library", "im2col with cuBLAS")):
            both = [(library(one, name), fastest(one)[1]) for one in of("convolutions") if one["layout"] == layout]
            ratios = [t["seconds"] / m["seconds"] for t, m in both if t and "seconds" in t and "seconds" in m]
            if ratios:
                mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
                said.append(f"{layout.upper()} {mean:.2f} × {title} ({len(ratios)} layers)")
    return f"Speed, in the geometric mean: {', '.join(said)}." if said else NOTHING


def streams() -> list[tuple[str, ...]]:
    """A row per case, with a dash for what was not measured."""
    return [(label, *_case(recorded().get(f"streams: {case}"))) for case, label in CASES.items()]


def _case(one: Found | None) -> Sequence[str]:
    if one is None or "ways" not in one:
        return ("–" if one is None else "failed",) * (len(STREAMS_HEAD) - 1)
    ways = one["ways"]
    if not one["right"]:
        return ("wrong",) * (len(STREAMS_HEAD) - 1)
    times = [micro(ways[way]) for way in ("serial", "streams", "serial_graph", "graph")]
    times[1] += f" ({ways['serial']['seconds'] / ways['streams']['seconds']:.2f}×)"
    overlap = "–" if one["overlap"] is None else f"{one['overlap']:.0%}"
    host, bare = ways["streams"]["host_seconds"], one.get("bare_host_seconds")
    each = [f"{s / one['launches'] * 1e6:.2f} µs" if s is not None else "–" for s in (host, bare)]
    return (*times, overlap, *each)


def streams_remark() -> str:
    """What one product takes by itself, or that nothing was measured."""
    one = recorded().get("streams: products")
    if one is None or not one["right"]:
        return NOTHING if not of("streams") else "The products were not right: they have no time."
    alone, beside = (micro(one["ways"][way]) for way in ("alone", "streams"))
    return f"One of the eight products alone takes {alone}, all of them on their own streams {beside}."


def recipes_remark() -> str:
    """Where it was measured, how much of it is right, and whether cuDNN was there."""
    if not recorded():
        return NOTHING
    data = json.loads(MEASURED.read_text())
    right = sum(one["right"] for one in data["results"])
    said = f"Measured on {data['device']}: {right} of {len(data['results'])} items right"
    return f"{said}{'' if data['cudnn'] else '; cuDNN was not there'}."
