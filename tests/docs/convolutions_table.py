"""The table of `docs/performance.md` with ResNet-50's convolutions, from what `benchmarks/convolutions.py record` kept."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weft.recipes.conv2d.resnet50 import LAYERS

MEASURED = Path(__file__).parents[2] / "docs" / "performance" / "convolutions-h200.json"
LAYOUTS = ("nhwc", "nchw")
HEAD = ("layer", "NHWC", "of cuDNN", "NCHW", "of cuDNN", "im2col + cuBLAS", "its buffer")

Found = Mapping[tuple[str, str], Mapping[str, Any]]
"""By layer and layout."""


def rows(recorded: Found) -> list[tuple[str, ...]]:
    """A row per layer, with a dash for what was not measured."""
    return [(name.removeprefix("resnet50."), *_cells(name, recorded)) for name in LAYERS]


def _cells(layer: str, recorded: Found) -> tuple[str, ...]:
    cells: list[str] = []
    for layout in LAYOUTS:
        found = recorded.get((layer, layout))
        if found is None:
            cells += ["–", "–"]
        else:
            name, seconds = fastest(found)
            cells += [f"{seconds * 1e6:.1f} µs ({name})", f"{found['cudnn']['seconds'] / seconds:.0%}"]
    found = recorded.get((layer, "nchw"))
    if found is None:
        return (*cells, "–", "–")
    return (*cells, f"{found['explicit']['seconds'] * 1e6:.1f} µs", f"{found['explicit_bytes'] / 2**20:.1f} MiB")


def fastest(found: Mapping[str, Any]) -> tuple[str, float]:
    return min(((name, one["seconds"]) for name, one in found["variants"].items()), key=lambda pair: pair[1])


def remark(recorded: Found) -> str:
    """The geometric means over all layers, or that nothing was measured."""
    if not recorded:
        return "None of it is measured here yet."
    said = []
    for layout in LAYOUTS:
        both = [one for (_, where), one in recorded.items() if where == layout]
        cudnn, explicit = (_mean([one[who]["seconds"] / fastest(one)[1] for one in both]) for who in ("cudnn", "explicit"))
        said.append(f"{layout.upper()} {cudnn:.0%} of cuDNN's speed and {explicit:.2f} times that of im2col with cuBLAS")
    return f"In the geometric mean over all layers: {', '.join(said)}."


def _mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def recorded() -> dict[tuple[str, str], Any]:
    data = json.loads(MEASURED.read_text()) if MEASURED.exists() else {"results": []}
    return {(one["layer"], one["layout"]): one for one in data["results"]}
