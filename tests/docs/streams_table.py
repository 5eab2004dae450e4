"""The table of `docs/performance.md` that says what streams and graphs win, from what `benchmarks/streams.py record` kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MEASURED = Path(__file__).parents[2] / "docs" / "performance" / "streams-h200.json"

CASES = {
    "convolutions": "two convolutions and their sum, 1024 images",
    "convolutions-beside": "the same, 2 images: both fit side by side",
    "products": "8 products of 128 × 8192 and 8192 × 128",
    "launches": "1000 launches, one after the other",
}
HEAD = (
    "", "one stream", "own streams", "one stream, as a graph", "own streams, as a graph", "overlap", "host, per launch",
    "a bare loop's",
)  # fmt: skip


def rows(recorded: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """A row per case, with a dash for what was not measured."""
    return [(label, *_cells(recorded.get(case))) for case, label in CASES.items()]


def _cells(found: Mapping[str, Any] | None) -> tuple[str, ...]:
    if found is None:
        return ("–",) * (len(HEAD) - 1)
    times = [f"{found[way]['seconds'] * 1e6:.1f} µs" for way in ("serial", "streams", "serial_graph", "graph")]
    times[1] += f" ({found['serial']['seconds'] / found['streams']['seconds']:.2f}×)"
    overlap = "–" if found["overlap"] is None else f"{found['overlap']:.0%}"
    bare = found.get("bare_host_seconds")
    per_launch = [s / found["launches"] * 1e6 for s in (found["streams"]["host_seconds"], bare or 0.0)]
    return (*times, overlap, f"{per_launch[0]:.2f} µs", f"{per_launch[1]:.2f} µs" if bare is not None else "–")


def remark(recorded: Mapping[str, Mapping[str, Any]]) -> str:
    """What one product takes by itself, or that nothing was measured."""
    if "products" not in recorded:
        return "None of it is measured here yet."
    alone, beside = (recorded["products"][way]["seconds"] * 1e6 for way in ("alone", "streams"))
    return f"One of the eight products alone takes {alone:.1f} µs, all of them on their own streams {beside:.1f} µs."


def recorded() -> dict[str, Any]:
    data = json.loads(MEASURED.read_text()) if MEASURED.exists() else {"results": []}
    return {one["case"]: one for one in data["results"]}
