"""The items, most important first, and a bundle for every schedule that they run. Needs Weft, and no GPU."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.dsl.diagnostics import WeftError

from . import sources

ROOT = Path(__file__).parents[2]
ITEMS = "items.json"

Settings = Mapping[str, int | str]
Item = dict[str, Any]

TILES = {"tm": 4, "bm": 64, "bn": 64}
VARIANTS: Mapping[str, Sequence[tuple[str, str, Settings]]] = {
    "nhwc": (
        ("128x64", "igemm", {}), ("128x128", "igemm", {"bn": 128}), ("64x64", "igemm", TILES),
        ("split 4", "igemm_split_k", {"parts": 4, **TILES}), ("split 8", "igemm_split_k", {"parts": 8, **TILES}),
    ),
    "nchw": (("128x64", "igemm_nchw", {}), ("128x128", "igemm_nchw", {"bn": 128}), ("64x64", "igemm_nchw", TILES)),
}  # fmt: skip
"""By layout: what a variant is called, its recipe, and what is set beside the layer."""
TILED = (64, 64), (64, 128), (128, 64), (128, 128)
OVERLAP: Settings = {"overlap": "true"}
HALF: Sequence[tuple[str, str, Settings]] = (
    ("tensor", "igemm_tensor", {}), ("tensor 64x64", "igemm_tensor", {"bm": 64, "bn": 64}),
    *((f"hopper {bm}x{bn}", "igemm_hopper", {"bm": bm, "bn": bn}) for bm, bn in TILED),
    *((f"hopper {bm}x{bn}, own stores", "igemm_hopper", {"bm": bm, "bn": bn, "store": 0}) for bm, bn in TILED[1:]),
    *((f"hopper {bm}x{bn}, rounded", "igemm_hopper", {"bm": bm, "bn": bn, "rounded": 1}) for bm, bn in TILED),
    *((f"hopper {bm}x{bn}, overlap, rounded", "igemm_hopper", {"bm": bm, "bn": bn, "rounded": 1, **OVERLAP}) for bm, bn in TILED),
    ("hopper 64x64, three each, rounded", "igemm_hopper", {"bm": 64, "bn": 64, "rounded": 1, "resident": 3}),
    ("tensor, rounded", "igemm_tensor", {"rounded": 1}),
)  # fmt: skip
"""Variants of convolutions of half precision, channels last. Those that round have results of f16, as cuDNN's are."""
STAYING: Settings = {"blocks": 132, "group": 16}
IN_TURN: Settings = {"store": 32, "buffers": 2}
"""Results of f32: two buffers in the memory of one of twice as many columns."""
ROUNDED: Settings = {"rounded": 1}
SQUARE: Settings = {"wm": 64, "wn": 64}
"""Tiles of warps of 4x8 lanes: a row of a warp's piece is a line of 128 bytes."""
PRODUCTS: Mapping[str, Sequence[tuple[str, str, Settings]]] = {
    "f32": (
        ("simt", "simt", {}), ("pipelined", "simt_pipelined", {}), ("pipelined, bk=8", "simt_pipelined", {"bk": 8}),
        ("pipelined 256x128", "simt_pipelined", {"bm": 256}), ("pipelined 128x256", "simt_pipelined", {"bn": 256}),
        ("pipelined, square warps", "simt_pipelined", {**SQUARE, "bm": 128, "bn": 128}),
        ("pipelined 256x128, square warps", "simt_pipelined", {**SQUARE, "bm": 256, "bn": 128}),
        ("pipelined 128x256, square warps", "simt_pipelined", {**SQUARE, "bm": 128, "bn": 256}),
        ("split 2", "simt_split_k", {"parts": 2}), ("split 4", "simt_split_k", {"parts": 4}),
    ),
    "bf16": (
        ("tensor", "tensor", {}), ("tensor, four stages", "tensor", {"stages": 4}),
        ("hopper", "hopper", {}), ("hopper 128x128", "hopper", {"bn": 128}), ("hopper 64x128", "hopper", {"bm": 64, "bn": 128}),
        ("hopper, cluster", "hopper", {"cluster": 2}), ("hopper, stay", "hopper", STAYING),
        ("hopper, stay, cluster", "hopper", {**STAYING, "cluster": 2}),
        ("hopper, stay, cluster, two buffers", "hopper", {**STAYING, "cluster": 2, **IN_TURN}),
        ("hopper, stay, overlap", "hopper", {**STAYING, **OVERLAP}),
        ("hopper 64x128, overlap", "hopper", {"bm": 64, "bn": 128, **OVERLAP}),
        ("hopper 192, stay, cluster", "hopper", {**STAYING, "cluster": 2, "bn": 192}),
    ),
    "bf16, ragged": (
        ("tensor", "tensor", {}), ("hopper", "hopper", {}), ("hopper, own stores", "hopper", {"store": 0}),
        ("hopper, cluster", "hopper", {"cluster": 2}), ("hopper, stay", "hopper", STAYING),
    ),
    "bf16, rounded": (
        ("tensor", "tensor", ROUNDED), ("hopper", "hopper", ROUNDED), ("hopper 128x128", "hopper", {**ROUNDED, "bn": 128}),
        ("hopper 64x128", "hopper", {**ROUNDED, "bm": 64, "bn": 128}), ("hopper, stay", "hopper", {**ROUNDED, **STAYING}),
        ("hopper, cluster", "hopper", {**ROUNDED, "cluster": 2}),
        ("hopper, stay, cluster", "hopper", {**ROUNDED, **STAYING, "cluster": 2}),
        ("hopper, stay, one buffer", "hopper", {**ROUNDED, **STAYING, "buffers": 1}),
        ("hopper, stay, cluster, one buffer", "hopper", {**ROUNDED, **STAYING, "cluster": 2, "buffers": 1}),
        ("hopper, stay, cluster, four buffers", "hopper", {**ROUNDED, **STAYING, "cluster": 2, "store": 32, "buffers": 4}),
        ("hopper, stay, overlap", "hopper", {**ROUNDED, **STAYING, **OVERLAP}),
        ("hopper, stay, cluster, overlap", "hopper", {**ROUNDED, **STAYING, "cluster": 2, **OVERLAP}),
    ),
    "f8E4M3FN": (("hopper", "hopper", {}),), "f8E5M2": (("hopper", "hopper", {}),),
    "i8": (("tensor", "tensor", {}), ("hopper", "hopper", {})), "f64": (("tensor", "tensor", {}),),
    "f32 by tensor cores": (
        *((f"{recipe} {how}", recipe, {"as_type": how}) for recipe in ("tensor", "hopper") for how in ("3xtf32", "tf32", "bf16x3")),
        *((f"hopper {how}, 192 columns", "hopper", {"as_type": how, "bn": 192}) for how in ("3xtf32", "bf16x3")),
    ),
}  # fmt: skip
"""Of matrices, by type. A result of few tiles alone has its sum split."""
FEW_BLOCKS = 264
"""Sums are split where the variant before has fewer blocks than this, two for each of 132 multiprocessors."""
ROWS = ("softmax", "layernorm", "layernorm_welford", "argmax")
"""Payloads of the rows of a matrix."""
LAYOUTS = {"conv2d": "nhwc", "conv2d_nchw": "nchw"}
"""Payloads that cuDNN computes with one call, and the order of their images' axes."""


@dataclass(frozen=True)
class Extent:
    """How much is prepared: sizes by payload, those of convolutions; layers; the ladder's rungs and sizes, the first of them
    before the convolutions; products by type; the rungs of warp groups and their size; and for the streams batches, the products'
    depth and the number of launches."""

    sizes: Mapping[str, Sequence[Settings]]
    convolutions: Sequence[Settings]
    layers: Mapping[str, Settings]
    products: Sequence[tuple[str, tuple[int, int, int]]]
    groups: tuple[Sequence[Path], int]
    rungs: Sequence[Path]
    cases: Sequence[tuple[int, int, int]]
    batches: tuple[int, int]
    depth: int
    launches: int


def full() -> Extent:
    """What a GPU is asked."""
    from weft.recipes.conv2d.geometry import LAYERS

    layers = {name: {**sizes, "n": 8} for name, sizes in LAYERS.items()}
    matrices = [{"m": 8192, "n": 8192}, {"m": 65536, "n": 512}, {"m": 4096, "n": 1000}]
    products = [(1024, 1024, 1024), (1000, 777, 333), (4096, 4096, 4096)]
    cases = [
        (4096, 4096, 4096), (1024, 1024, 1024), (2048, 2048, 2048), (4095, 4097, 4093), (1000, 777, 333),
        (64, 4096, 4096), (4096, 64, 4096), (4096, 4096, 64), (8192, 8192, 8192),
    ]  # fmt: skip
    return Extent(
        {
            **dict.fromkeys(ROWS, matrices), **{one: [{"n": n} for n in (2**26, 10**6, 4096)] for one in ("sum", "scan")},
            "histogram": [{"n": 2**26}, {"n": 10**6}],
            "attention": [{"b": 32, "n": n, "m": n, "d": d} for n, d in ((2048, 64), (2048, 128), (1000, 80))],
            "matmul": [_mnk(*p) for p in products],
            "concurrent_convs": [{"batch": b} for b in (2, 33, 1024)],
        },
        [layers[f"resnet50.{name}"] for name in ("layer3.0.conv2", "conv1", "layer1.0.conv2")],
        layers, [*(("f32", (n, n, n)) for n in (1024, 2048, 4096, 8192)),
        *(("bf16", (n, n, n)) for n in (1024, 2048, 4096, 8192, 16384)), ("f16", (8192, 8192, 8192)),
        ("bf16, ragged", (4104, 3080, 2056)), *(("bf16, rounded", (n, n, n)) for n in (1024, 2048, 4096, 8192)),
        *((type, size) for type in ("f32 by tensor cores", "i8", "f8E4M3FN", "f8E5M2", "f64") for size in products[1:])],
        (sorted((ROOT / "docs" / "warpgroups").glob("*.weft")), 8192),
        sorted((ROOT / "docs" / "tutorial").glob("*.weft")), cases, (1024, 2), 8192, 1000,
    )  # fmt: skip


def small() -> Extent:
    """A trial of the whole way, for a machine without a GPU."""
    layer = {"n": 2, "c": 40, "h": 5, "w": 5, "k": 12, "r": 1, "s": 1, "stride": 1, "pad": 0, "dilation": 1}
    rows = {payload: [{"m": 3, "n": 40}] for payload in ROWS}
    one = {
        **rows, "sum": [{"n": 99}], "scan": [{"n": 99}], "histogram": [{"n": 99}],
        "attention": [{"b": 1, "n": 9, "m": 7, "d": 8}], "matmul": [_mnk(48, 40, 40)],
        "concurrent_convs": [{"batch": 1, "filters": 2, "size": 5}],
    }  # fmt: skip
    rungs = sorted((ROOT / "docs" / "tutorial").glob("1-*.weft"))
    groups = sorted((ROOT / "docs" / "warpgroups").glob("3-*.weft"))
    cases = [(48, 40, 24), (24, 24, 24)]
    products = [("f32", cases[1]), ("bf16, rounded", (8, 8, 8))]
    return Extent(one, [layer], {"resnet50.conv1": layer}, products, (groups, 64), rungs, cases, (3, 2), 32, 7)


def _mnk(m: int, n: int, k: int) -> Settings:
    return {"m": m, "n": n, "k": k}


def prepare(folder: Path, extent: Extent) -> list[Item]:
    """Write all bundles, and the list of items beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    writer = _Writer(folder)
    items: list[Item] = []
    for item in _items(writer, extent):
        items.append(item)
        print(f"prepared {item['item']}", file=sys.stderr)
    (folder / ITEMS).write_text(json.dumps(items, indent=1) + "\n")
    return items


def _items(writer: _Writer, extent: Extent) -> Iterator[Item]:
    from weft.recipes import schedules

    for recipe in schedules():
        yield from writer.recipe(recipe, extent)
    yield from (writer.product(type, size) for type, size in extent.products)
    yield writer.groups(*extent.groups)
    yield from (writer.half(layer, sizes) for layer, sizes in extent.layers.items())
    first, *others = extent.cases
    for rung in extent.rungs:
        yield writer.rung(rung, first)
    for layer, sizes in extent.layers.items():
        yield from (writer.layer(layer, layout, sizes) for layout in VARIANTS)
    yield from writer.streams(extent)
    for case in others:
        yield from (writer.rung(rung, case) for rung in extent.rungs)


class _Writer:
    """Writes bundles into a folder, one for each schedule with its settings, and says what an item has to know of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0

    def bundle(self, schedule: str, settings: Settings) -> tuple[str, str, dict[str, Any]]:
        """The bundle's name in the folder, its payload's, and the payload's parameters."""
        from weft.execution import build_bundle
        from weft.pipeline import Choice

        self.count += 1
        name = f"{self.count:03d}-{Path(schedule).stem}"
        said = {n: str(v) for n, v in settings.items()}
        # what is measured is compared on the GPU, before it has a time
        done, _ = build_bundle(Choice(schedule, None, said, unchecked=True).open(), None, self.folder / name, None)
        recipe = done.recipe
        payload = recipe.file.payload
        return name, (payload.builder if payload is not None else None) or "", dict(recipe.payload_values)

    def contest(self, group: str, name: str, variants: Mapping[str, tuple[str, Settings]], **more: Any) -> Item:
        """Schedules that compute the same, against the library."""
        entries: dict[str, str] = {}
        refused: dict[str, str] = {}
        builder, values = "", {}
        for variant, (schedule, settings) in variants.items():
            try:
                entries[variant], builder, values = self.bundle(schedule, settings)
            except WeftError as error:
                refused[variant] = str(error)
                print(f"refused {name} {variant}: {error}", file=sys.stderr)
        return {
            "item": f"{group}: {name}", "group": group, "builder": builder, "values": values, "layout": LAYOUTS.get(builder),
            "entries": entries, "refused": refused, **more,
        }  # fmt: skip

    def recipe(self, recipe: str, extent: Extent) -> Iterator[Item]:
        from weft.pipeline import read_schedule
        from weft.recipes import builders

        payload = read_schedule(recipe).payload
        builder = payload.builder if payload is not None else None
        if builder is None or (builder not in extent.sizes and not builders()[builder].layers):
            raise SystemExit(f"{recipe}: at which sizes of {builder} it is shown is not said in {__file__}")
        for settings in extent.sizes.get(builder, extent.convolutions):
            size = " ".join(f"{n}={v}" for n, v in settings.items())
            yield self.contest("recipes", f"{recipe} {size}", {recipe: (recipe, settings)}, recipe=recipe, size=size)

    def rung(self, path: Path, case: tuple[int, int, int]) -> Item:
        size = "x".join(map(str, case))
        return self.contest(
            "ladder", f"{path.stem} {size}", {path.stem: (str(path), _mnk(*case))}, rung=path.stem, case=size
        )

    def product(self, kind: str, case: tuple[int, int, int]) -> Item:
        """A product by all that there is."""
        m, n, _ = case
        few = (m // 128) * (n // 128) < FEW_BLOCKS
        variants = {
            name: (recipe, {**_mnk(*case), **settings, "type": re.split("[, ]", kind)[0]})
            for name, recipe, settings in PRODUCTS["bf16" if kind == "f16" else kind]
            if few or "parts" not in settings
        }
        size = "x".join(map(str, case))
        return self.contest("products", f"{kind} {size}", variants, kind=kind, size=size)

    def groups(self, rungs: Sequence[Path], size: int) -> Item:
        """The rungs of warp groups side by side."""
        return self.contest(
            "warp groups", f"{size}", {path.stem: (str(path), _mnk(size, size, size)) for path in rungs}
        )

    def half(self, layer: str, sizes: Settings) -> Item:
        """A layer of half precision."""
        variants = {name: (recipe, {**sizes, **settings, "type": "f16"}) for name, recipe, settings in HALF}
        return self.contest("half convolutions", layer, variants, layer=layer)

    def layer(self, layer: str, layout: str, sizes: Settings) -> Item:
        variants: dict[str, tuple[str, Settings]] = {}
        for name, recipe, settings in VARIANTS[layout]:
            if "parts" not in settings or self._blocks(*variants[next(reversed(variants))]) < FEW_BLOCKS:
                variants[name] = (recipe, {**sizes, **settings})
        return self.contest("convolutions", f"{layer} {layout}", variants, layer=layer)

    @staticmethod
    def _blocks(recipe: str, settings: Settings) -> int:
        """Tiles of the result: what `igemm` launches, and a split sum as many times as it has parts."""
        from weft.recipes.conv2d.geometry import Convolution

        names = ("n", "c", "h", "w", "k", "r", "s", "stride", "pad", "dilation")
        sizes = Convolution(**{n: int(settings[n]) for n in names}, type="f32")
        rows, columns = sizes.n * math.prod(sizes.out), sizes.k
        return -(-rows // int(settings["bm"])) * -(-columns // int(settings["bn"]))

    def streams(self, extent: Extent) -> Iterator[Item]:
        """What runs at the same time: two convolutions, products that touch nothing of each other's, a thousand launches."""
        for case, batch in zip(("convolutions", "convolutions-beside"), extent.batches, strict=True):
            name, builder, values = self.bundle(
                "concurrent_convs", {**extent.sizes["concurrent_convs"][0], "batch": batch}
            )
            yield self._stream(case, name) | {"builder": builder, "values": values}
        written = self.folder / "sources"
        written.mkdir(exist_ok=True)
        texts = {"products": (sources.products(extent.depth), sources.PRODUCT_SCHEDULE),
                 "launches": (sources.many(extent.launches), sources.AS_IT_IS)}  # fmt: skip
        for case, (payload, schedule) in texts.items():
            (written / f"{case}.mlir").write_text(payload)
            (written / f"{case}.weft").write_text(f'payload "{case}.mlir"\n{schedule}')
            name, *_ = self.bundle(str(written / f"{case}.weft"), {})
            yield self._stream(case, name)

    @staticmethod
    def _stream(case: str, bundle: str) -> Item:
        return {"item": f"streams: {case}", "group": "streams", "case": case, "entries": {case: bundle}, "refused": {}}
