"""Ordinary convolutions and poolings: of one to three dimensions, each layout, strides, dilations, paddings, groups; directly and as
products; tiles that divide and that do not, open sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from usual_schedules import each_alone, staged, tiles
from written_payloads import Written

FILL, CONV, FIRST = "linalg.fill", "linalg.conv_2d_nhwc_hwcf", "linalg.conv_2d_nchw_fchw"
Size = int | str


def of_windows(size: Size, taps: int, stride: int, dilation: int, pad: int) -> Size:
    return size if isinstance(size, str) else (size + 2 * pad - dilation * (taps - 1) - 1) // stride + 1


def steps(stride: int, dilation: int, dims: int = 2) -> str:
    return f"{{dilations = dense<{dilation}> : tensor<{dims}xi64>, strides = dense<{stride}> : tensor<{dims}xi64>}}"


def extent(p: Written, of: str, axis: int, taps: int, stride: int, dilation: int) -> str:
    """The number of windows along an open axis."""
    n, less = p.size(of, str(axis)), p.constant(dilation * (taps - 1) + 1, "index")
    rest = p.line(f"w{len(p.lines)}", "index", f"arith.subi %{n}, %{less} : index")
    by = p.constant(stride, "index")
    whole = p.line(f"w{len(p.lines)}", "index", f"arith.divui %{rest}, %{by} : index")
    one = p.constant(1, "index")
    return p.line(f"w{len(p.lines)}", "index", f"arith.addi %{whole}, %{one} : index")


def windows(
    op: str, layout: str, *, n: Size = 2, c: Size = 5, h: Size = 11, w: Size = 13, f: Size = 6, taps: Sequence[int] = (3, 3),
    stride: int = 1, dilation: int = 1, pad: int = 0, start: float | str = 0.0, kind: str = "f32", filters: str = "", depth: int = 7,
) -> Written:  # fmt: skip
    """An op over windows of an image. `layout`: axes of image and result, `nhwc`; `filters`: those of its filter, of which a pooling
    has none: `hwcf`."""
    sizes: dict[str, Size] = {"n": n, "c": c, "h": h, "w": w, "d": depth}
    spatial = [a for a in layout if a in "dhw"]
    own = dict(zip(spatial, taps, strict=True)) | {"c": c, "f": f}
    image = "x".join([*(str(sizes[a]) for a in layout), kind])
    window = "x".join([*(str(own[a]) for a in filters or spatial), kind])
    p = Written(x=image, **({"k": window} if filters else {}))
    read = "x"
    if pad:
        widths = ", ".join(str(pad if a in spatial else 0) for a in layout)
        shape = "x".join([*(str(s + 2 * pad if a in spatial and isinstance(s := sizes[a], int) else sizes[a]) for a in layout), kind])
        read = p.padded("q", shape, "x", widths, widths, start)
    if not filters:
        p.empty(window)
        p.lines[-1] = p.lines[-1].replace(f"%e{len(p.lines) - 1}", "%k")
        p.types["k"] = window
    results: dict[str, Size] = {
        **sizes, **{a: of_windows(sizes[a], own[a], stride, dilation, pad) for a in spatial},  # type: ignore[arg-type]
        **({"c": f} if "f" in filters else {}),
    }  # fmt: skip
    given = [
        extent(p, read, n, own[a], stride, dilation) if a in spatial  # type: ignore[arg-type]
        else f"k.{filters.index('f')}" if a == "c" and "f" in filters else f"{read}.{n}"
        for n, a in enumerate(layout) if results[a] == "?"
    ]  # fmt: skip
    result = "x".join([*(str(results[a]) for a in layout), kind])
    p.op("y", result, f"{op} {steps(stride, dilation, len(spatial))}", f"{read}, k", start, given)
    return p


def conv(**given: Any) -> str:
    return windows(CONV, "nhwc", filters="hwcf", **given).text("y")


def conv_first(**given: Any) -> str:
    return windows(FIRST, "nchw", filters="fchw", **given).text("y")


def pooled(what: str, layout: str = "nhwc", **given: Any) -> Written:
    start: float | str = {"max": "-inf", "sum": 0.0, "min": "inf"}[what]
    return windows(f"linalg.pooling_{layout}_{what}", layout, start=start, **given)


def pool(what: str, layout: str = "nhwc", **given: Any) -> str:
    return pooled(what, layout, **given).text("y")


def average() -> str:
    """Sums of windows, divided."""
    p = pooled("sum", taps=(2, 2), stride=2)
    p.each("z", p.types["y"], "n, h, w, c", "y[n, h, w, c]", "mulf a 0.25")
    return p.text("z")


def line(open_: bool = False) -> str:
    p = Written(x="?xf32" if open_ else "70xf32", k="5xf32")
    p.op("y", "?xf32" if open_ else "66xf32", "linalg.conv_1d", "x, k", 0.0, [extent(p, "x", 0, 5, 1, 1)] if open_ else [])
    return p.text("y")


def grouped() -> str:
    p = Written(x="2x3x4x9x9xf32", k="3x5x4x3x3xf32")
    p.op("y", "2x3x5x7x7xf32", f"linalg.conv_2d_ngchw_gfchw {steps(1, 1)}", "x, k")
    return p.text("y")


def depthwise(open_: bool = False, stride: int = 1) -> str:
    given: dict[str, Any] = {"n": "?", "h": "?", "w": "?", "c": "?"} if open_ else {}
    return windows("linalg.depthwise_conv_2d_nhwc_hwc", "nhwc", filters="hwc", stride=stride, **given).text("y")


OPEN: dict[str, Any] = {"n": "?", "c": "?", "h": "?", "w": "?", "f": "?"}
IMAGES: dict[str, Any] = {"n": "?", "h": "?", "w": "?"}
FLAT = "let op = match {op}\nlet init = match linalg.fill\nlet (tiles, one) = tile op [{ones}]\nfuse init into tiles\nlet flat = coalesce tiles\n"
ELEMENT = FLAT + "map flat to grid(x)\nlaunch flat\n"
LAST = tiles("{op}", "1, 4, 4, 4", "z: 4, y: 4, x: 4", FILL, blocks="z, y, x", lanes="_, 1, 1, 1").replace(
    "map tiles to blocks(z, y, x)", "let tiles = coalesce tiles\nmap tiles to blocks(x)")  # fmt: skip
STAGED = ("let op = match {op}\nlet init = match linalg.fill\nlet (tiles, tile) = tile op [1, 4, 4, 8]\nfuse init into tiles\n"
          "let tiles = coalesce tiles\nmap tiles to blocks({blocks}\nlet (c, step) = tile tile [_, _, _, _, _, _, 4]\n"
          "let (a, copy) = promote-to-shared step.lhs\nmap copy to threads(*) cyclic\nlet (lanes, one) = tile step [1, 1, 1, 1]\n"
          "let lane = coalesce lanes\nmap lane to threads(x)\npromote-to-registers one.acc across c\ninsert-barriers\nlaunch tiles\n")  # fmt: skip
GEMM = "let conv = match {op}\nlet op = as-gemm conv"
AS_GEMM = staged("", "16, 8", "_, _, 8", "1, 1", "y: 16, x: 8", first=GEMM.replace("{op}", CONV))
AS_GEMM_CYCLIC = staged("", "16, 8", "_, _, 8", "1, 1", "y: 16, x: 8", first=GEMM.replace("{op}", CONV), blocks="x: 3", how="cyclic")
AS_GEMM_AHEAD = staged("", "16, 8", "_, _, 8", "1, 1", "y: 16, x: 8", first=GEMM.replace("{op}", CONV), last="pipeline k stages 2")
AS_GEMM_FIRST = staged("", "1, 8, 16", "_, _, _, 8", "_, 1, 1", "y: 8, x: 16", first=GEMM.replace("{op}", FIRST))
POOLS = {"max": "linalg.pooling_nhwc_max", "sum": "linalg.pooling_nhwc_sum"}


def flat(op: str, ones: str = "1, 1, 1, 1") -> str:
    return ELEMENT.replace("{op}", op).replace("{ones}", ones)


def by_tiles(op: str) -> str:
    return LAST.replace("{op}", op)


def cyclic(op: str) -> str:
    return LAST.replace("{op}", op).replace("map tiles to blocks(x)", "map tiles to blocks(x: 3) cyclic")


def in_shared(blocks: str = "x)") -> str:
    return STAGED.replace("{op}", CONV).replace("{blocks}", blocks)


PROGRAMS = {
    "a line": (line(), tiles("linalg.conv_1d", "16", "x: 16", FILL)),
    "a line, open": (line(True), tiles("linalg.conv_1d", "16", "x: 16", FILL)),
    "a line, image in shared memory, open": (line(True), "let op = match linalg.conv_1d\nlet init = match linalg.fill\nlet (tiles, tile) = tile op [16]\n"
        "fuse init into tiles\nmap tiles to blocks(x)\nlet (s, copy) = promote-to-shared tile.lhs\nmap copy to threads(*) cyclic\n"
        "let (lanes, one) = tile tile [1]\nfuse init into lanes\nmap lanes to threads(x: 16)\ninsert-barriers\nlaunch tiles\n"),
    "channels of a line": (windows("linalg.conv_1d_nwc_wcf", "nwc", filters="wcf", taps=(3,)).text("y"),
                           each_alone(f"linalg.conv_1d_nwc_wcf / 1, 1, 1 < {FILL}")),
    "an image": (windows("linalg.conv_2d", "hw", filters="hw").text("y").replace(steps(1, 1), ""), tiles("linalg.conv_2d", "4, 8", "y: 4, x: 8", FILL)),
    "NHWC, an element a thread": (conv(), flat(CONV)),
    "NHWC, an element a thread, open": (conv(**OPEN), flat(CONV)),
    "NHWC, tiles": (conv(), by_tiles(CONV)),
    "NHWC, tiles, open": (conv(**OPEN), by_tiles(CONV)),
    "NHWC, persistent blocks": (conv(), cyclic(CONV)),
    "NHWC, persistent blocks, open": (conv(**OPEN), cyclic(CONV)),
    "NHWC, shared memory": (conv(), in_shared()),
    "NHWC, shared memory, open": (conv(**OPEN), in_shared()),
    "NHWC, shared memory, persistent": (conv(), in_shared("x: 3) cyclic")),
    "NHWC, shared memory, persistent, open": (conv(**OPEN), in_shared("x: 3) cyclic")),
    "NHWC, strides, open images": (conv(stride=2, **IMAGES), by_tiles(CONV)),
    "NHWC, dilated, padded": (conv(dilation=2, pad=2), by_tiles(CONV)),
    "NHWC, strides, padded, as a product": (conv(stride=2, pad=1), AS_GEMM),
    "NHWC as a product": (conv(), AS_GEMM),
    "NHWC as a product, open": (conv(**OPEN), AS_GEMM),
    "NHWC as a product, persistent": (conv(), AS_GEMM_CYCLIC),
    "NHWC as a product, persistent, open": (conv(**OPEN), AS_GEMM_CYCLIC),
    "NHWC as a product, pipelined": (conv(), AS_GEMM_AHEAD),
    "NHWC as a product, pipelined, open": (conv(**OPEN), AS_GEMM_AHEAD),
    "NHWC as a product, pipelined, open images": (conv(**IMAGES), AS_GEMM_AHEAD),
    "NCHW, an element a thread": (conv_first(), flat(FIRST)),
    "NCHW, tiles, strides": (conv_first(stride=2), by_tiles(FIRST)),
    "NCHW, tiles, open": (conv_first(**OPEN), by_tiles(FIRST)),
    "NCHW, padded": (conv_first(pad=1), by_tiles(FIRST)),
    "NCHW as a product": (conv_first(), AS_GEMM_FIRST),
    "NCHW as a product, open": (conv_first(**OPEN), AS_GEMM_FIRST),
    "f16": (conv(kind="f16"), by_tiles(CONV)),
    "volumes": (windows("linalg.conv_3d_ndhwc_dhwcf", "ndhwc", filters="dhwcf", taps=(2, 3, 3), n=1, h=6, w=7).text("y"), flat("linalg.conv_3d_ndhwc_dhwcf", "1, 1, 1, 1, 1")),
    "depthwise": (depthwise(), by_tiles("linalg.depthwise_conv_2d_nhwc_hwc")),
    "depthwise, strides, an element a thread": (depthwise(stride=2), flat("linalg.depthwise_conv_2d_nhwc_hwc")),
    "depthwise, open": (depthwise(True), by_tiles("linalg.depthwise_conv_2d_nhwc_hwc")),
    "groups": (grouped(), flat("linalg.conv_2d_ngchw_gfchw", "1, 1, 1, 1, 1")),
    "groups as products": (grouped(), "let conv = match linalg.conv_2d_ngchw_gfchw\nlet init = match linalg.fill\nlet op = as-gemm conv\n"
        "let (tiles, one) = tile op [1, 1, 1]\nfuse init into tiles\nlet flat = coalesce tiles\nmap flat to grid(x)\nlaunch flat\n"),
    "largest of windows, an element a thread": (pool("max"), flat(POOLS["max"])),
    "largest of windows, ragged tiles": (pool("max"), by_tiles(POOLS["max"])),
    "largest of windows, even tiles": (pool("max", h=10, w=14, c=8), by_tiles(POOLS["max"])),
    "largest of windows, open": (pool("max", n="?", h="?", w="?", c="?"), by_tiles(POOLS["max"])),
    "largest of windows, open, an element a thread": (pool("max", n="?", h="?", w="?", c="?", stride=2), flat(POOLS["max"])),
    "largest of windows, padded": (pool("max", pad=1, stride=2), by_tiles(POOLS["max"])),
    "largest of windows, NCHW": (pool("max", "nchw"), by_tiles("linalg.pooling_nchw_max")),
    "sums of windows, NCHW, open": (pool("sum", "nchw", n="?", h="?", w="?", c="?"), by_tiles("linalg.pooling_nchw_sum")),
    "sums of windows, ragged tiles": (pool("sum", stride=2), by_tiles(POOLS["sum"])),
    "least of windows": (pool("min"), flat("linalg.pooling_nhwc_min")),
    "averages of windows": (average(), each_alone(f"{POOLS['sum']} / 1, 1, 1, _ < {FILL}", "linalg.generic / 1, 1, 1, _")),
}  # fmt: skip
