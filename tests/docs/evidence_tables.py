"""The measured tables of the pages, most of them on `docs/performance.md`, from what `benchmarks/gpu.py record` kept."""

from __future__ import annotations

import importlib
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from places import ROOT

from weft.pipeline import Choice
from weft.recipes import schedules
from weft.recipes.conv2d.geometry import LAYERS

MEASURED = ROOT / "docs" / "performance" / "measured.json"
LAYOUTS = ("nhwc", "nchw")
RECIPES_HEAD = ("recipe", "size", "off by", "time", "TFLOP/s", "of what CuPy runs", "of cuDNN", "of PyTorch's", "of Triton")
CONVOLUTIONS_HEAD = (
    "layer", "NHWC, defaults", "of cuDNN", "best", "of cuDNN", "NCHW, defaults", "of cuDNN", "best", "of cuDNN", "im2col + cuBLAS",
)  # fmt: skip
PRODUCTS_HEAD = (
    "product", "size", "defaults", "TFLOP/s", "of cuBLAS, same result", "of cuBLAS, half result", "best of the settings", "TFLOP/s",
    "of cuBLAS, same result", "of cuBLAS, half result",
)  # fmt: skip
HALVES_HEAD = ("layer", "defaults", "of cuDNN", "best of the settings", "of cuDNN")
HALF = ("f16", "bf16")
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
WITH_HOST = "†"
"""Behind a time in which the host's is part of, since it was not ahead of the GPU; and behind what is compared with one."""
PARTICULAR = {"matmul": "cuBLAS", "conv2d": "im2col, cuBLAS", "conv2d_bias_relu": "im2col, cuBLAS", "conv2d_nchw": "im2col, cuBLAS"}
"""What CuPy runs of a payload's baseline, by the payload; of others its own kernels."""


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
    mark = WITH_HOST if found.get("with_host") else ""
    return f"{found['seconds'] * 1e6:.1f} µs{mark}" if "seconds" in found else "failed" if "failed" in found else "wrong"


def fastest(one: Found) -> tuple[str, Found]:
    """The fastest variant that is right; the first, if none is."""
    entries: Mapping[str, Found] = one.get("entries", {}) if "libraries" in one else {}
    if not entries:
        return "", {"failed": one["failed"]}
    return min(entries.items(), key=lambda pair: pair[1].get("seconds", math.inf))


def library(one: Found, name: str) -> Found | None:
    return one.get("libraries", {}).get(name)


def share(one: Found, name: str, mine: Found | None = None) -> str:
    """Ours, the fastest where nothing is said, as a share of a library's speed."""
    mine, theirs = mine or fastest(one)[1], library(one, name)
    if not theirs or "seconds" not in mine or "seconds" not in theirs:
        return "–"
    return f"{theirs['seconds'] / mine['seconds']:.0%}{WITH_HOST if mine.get('with_host') or theirs.get('with_host') else ''}"


def entry(item: str, name: str) -> Found | None:
    """What was found of one schedule of an item; None where it was not measured."""
    one = recorded().get(item)
    if one is None:
        return None
    return one["entries"].get(name) if "libraries" in one else {"failed": one["failed"]}


def rate(one: Found, mine: Found) -> str:
    """TFLOP/s, or why there are none."""
    return f"{one['operations'] / mine['seconds'] / 1e12:.1f}" if "seconds" in mine else micro(mine)


def rate_of(item: str, name: str, beside: str = "library") -> str:
    """TFLOP/s of one schedule of an item, and in parentheses its share of a library's."""
    mine = entry(item, name)
    if mine is None:
        return "–"
    one = recorded()[item]
    return f"{rate(one, mine)} ({share(one, beside, mine)})" if "seconds" in mine else micro(mine)


def by_default(one: Found) -> tuple[str, Found] | None:
    """The variant that takes its recipe as it ships: of several recipes the last, which says most; None where there is none."""
    found = [name for name in one.get("entries", {}) if _ships(one, name)] if "libraries" in one else []
    return (found[-1], one["entries"][found[-1]]) if found else None


def _ships(one: Found, name: str) -> bool:
    """Whether a variant sets its recipe's parameters, but for the payload's, to what they are anyway."""
    sys.path.append(str(ROOT / "benchmarks"))
    preparing = importlib.import_module("evidence.preparing")
    kind = one.get("kind", "")
    tables = {"products": preparing.PRODUCTS.get("bf16" if kind == "f16" else kind, ()), "half convolutions": preparing.HALF}
    recipes = tables.get(one["group"]) or preparing.VARIANTS[one["layout"]]
    said = next(((recipe, settings) for variant, recipe, settings in recipes if variant == name), None)
    if said is None or "parts" in said[1] or said[1].get("rounded"):
        return False
    values = _defaults(said[0])
    return all(str(values.get(key)) == str(value) for key, value in said[1].items())


@cache
def _defaults(recipe: str) -> Mapping[str, Any]:
    return Choice(recipe).open().values


def mean_speed(
    ones: Sequence[Found], name: str, chosen: Callable[[Found], tuple[str, Found] | None] = fastest
) -> tuple[float, int] | None:
    """The geometric mean of our speed as a multiple of a library's, and of how many items; None where none has both."""
    both = [(library(one, name), mine[1]) for one in ones if (mine := chosen(one)) is not None]
    ratios = [t["seconds"] / m["seconds"] for t, m in both if t and "seconds" in t and "seconds" in m]
    return (geometric_mean(ratios), len(ratios)) if ratios else None


def geometric_mean(ratios: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


# ---- tables ----------------------------------------------------------------------------------------------------------------


def recipes() -> list[tuple[str, ...]]:
    """A row for each recipe and size; for each recipe, where nothing is measured."""
    rows = [(one["recipe"], one["size"], *_recipe(one)) for one in of("recipes")]
    return rows or [(name, *("–",) * (len(RECIPES_HEAD) - 1)) for name in schedules()]


def _recipe(one: Found) -> tuple[str, ...]:
    mine = fastest(one)[1]
    error = f"{mine['error']:.1e}" if mine.get("error") is not None else "–"
    rate = f"{one['operations'] / mine['seconds'] / 1e12:.2f}" if "seconds" in mine else "–"
    return error, micro(mine), rate, _ran(one), *(share(one, name) for name in ("cudnn", "pytorch", "triton"))


def _ran(one: Found) -> str:
    """The share of what computes the payload's baseline, and what that is: of halves, CuPy has products by PyTorch alone."""
    speed = share(one, "library")
    half = one["values"].get("type", "f32") not in ("f32", "f64") and one["builder"] != "matmul"
    return speed if speed == "–" else f"{speed} ({PARTICULAR.get(one['builder'], 'CuPy')}{' in f32' if half else ''})"


def rung(name: str, case: str) -> str:
    """TFLOP/s of a rung of the tutorial, and in parentheses its share of cuBLAS."""
    return rate_of(f"ladder: {name} {case}", name)


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
            cells += ["–"] * 4
        else:
            cells += [*_cells(one, by_default(one), "cudnn"), *_cells(one, fastest(one), "cudnn")]
    return (*cells, micro(library(one, "library")) if one else "–")


def _cells(one: Found, chosen: tuple[str, Found] | None, *beside: str) -> list[str]:
    """The time of a variant, which it is, and its shares of libraries' speed; dashes for none."""
    if chosen is None:
        return ["–"] * (1 + len(beside))
    name, mine = chosen
    return [micro(mine) + (f" ({name})" if "seconds" in mine else ""), *(share(one, library, mine) for library in beside)]


def _means(ones: Sequence[Found], name: str, title: str) -> str | None:
    """`0.81 × cuDNN by the defaults, 1.10 × with the best of the settings (23 layers)`."""
    best, plain = mean_speed(ones, name), mean_speed(ones, name, by_default)
    if best is None:
        return None
    first = f"{plain[0]:.2f} × {title} by the defaults, " if plain is not None else ""
    return f"{first}{best[0]:.2f} × {'' if first else f'{title} '}with the best of the settings ({best[1]} layers)"


def convolutions_remark() -> str:
    """The geometric means over all layers that were measured, or that nothing was."""
    said: list[str] = []
    for layout in LAYOUTS:
        ones = [one for one in of("convolutions") if one["layout"] == layout]
        for name, title in (("cudnn", "cuDNN"), ("library", "im2col with cuBLAS")):
            if (found := _means(ones, name, title)) is not None:
                said.append(f"{layout.upper()} {found}")
    return f"Speed, in the geometric mean: {'; '.join(said)}." if said else NOTHING


def products() -> list[tuple[str, ...]]:
    """A row for each product, by its recipe as it ships and by its fastest schedule; one of dashes, where nothing is measured."""
    rows = []
    for one in of("products"):
        cells = [cell for chosen in (by_default(one), fastest(one)) for cell in _product(one, chosen)]
        rows.append((one["kind"], _by(one["size"]), *cells))
    return rows or [("–",) * len(PRODUCTS_HEAD)]


def _product(one: Found, chosen: tuple[str, Found] | None) -> list[str]:
    is_half = one["kind"].split(",")[0] in HALF
    if chosen is None:
        return ["–"] * 4
    (time,), mine = _cells(one, chosen), chosen[1]
    same = share(one, "pytorch" if is_half else "library", mine)
    return [time, rate(one, mine), same, share(one, "library", mine) if is_half else "–"]


def variants(kind: str) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Every schedule of a kind of products: TFLOP/s by size, and the largest error. One that is not built for a size has a dash."""
    ones = [one for one in of("products") if one["kind"] == kind and "libraries" in one]
    rows = []
    for name in dict.fromkeys(name for one in ones for name in one["entries"]):
        mine = [one["entries"].get(name) for one in ones]
        built = [name in one["entries"] and name not in one.get("refused", {}) for one in ones]
        rates = [rate(one, found) if there else "–" for one, found, there in zip(ones, mine, built, strict=True)]
        errors = [found["error"] for found in mine if found and found.get("error") is not None]
        rows.append((name, *rates, f"{max(errors):.1e}" if errors else "–"))
    head = (f"{kind}, TFLOP/s", *(_by(one["size"]) for one in ones), "off by")
    return head, rows or [("–",) * len(head)]


def _by(size: str) -> str:
    """`4096x4096x4096` as the pages write it."""
    m, n, k = size.split("x")
    return f"{m}³" if m == n == k else f"{m} × {n} × {k}"


def halves() -> list[tuple[str, ...]]:
    """A row for each layer in f16, with a dash for what was not measured."""
    rows = []
    for name in LAYERS:
        one = recorded().get(f"half convolutions: {name}")
        cells = ["–"] * 4 if one is None else [*_cells(one, by_default(one), "cudnn"), *_cells(one, fastest(one), "cudnn")]
        rows.append((name.removeprefix("resnet50."), *cells))
    return rows


def halves_remark() -> str:
    """The geometric mean over all layers in f16 that were measured, or that nothing was."""
    found = _means(of("half convolutions"), "cudnn", "cuDNN")
    return f"Speed, in the geometric mean: {found}." if found is not None else NOTHING


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
