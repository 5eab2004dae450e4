"""Ordinary reductions: over each axis and over several, means and norms, softmax, argmax, scans."""

from __future__ import annotations

from usual_schedules import each_alone, rows, tiles
from written_payloads import Written

GENERIC, FILL = "linalg.generic", "linalg.fill"
DIMS = "ijk"
KINDS = {"sum": ("addf a o", 0.0), "largest": ("maximumf a o", "-inf"), "least": ("minimumf a o", "inf"), "product": ("mulf a o", 1.0)}


def reduced(shape: str, over: str, what: str = "sum", sizes: tuple[str, ...] = ()) -> str:
    """Over some dimensions: `reduced("5x6xf32", "j")`."""
    extents, (body, start) = shape.split("x")[:-1], KINDS[what]
    dims = DIMS[: len(extents)]
    kept = [d for d in dims if d not in over]
    p = Written(x=shape)
    kind = "x".join([*(n for d, n in zip(dims, extents, strict=True) if d in kept), "f32"])
    p.each("y", kind, ", ".join(d if d in kept else f"{d}*" for d in dims), f"x[{', '.join(dims)}]", body, start=start, sizes=sizes)
    return p.text("y")


def normed(how: str, shape: str = "10x70xf32", open_: bool = False) -> str:
    """Of each row: `mean`, `variance`, `rms`, `layer`, `l2`, `softmax`, `logsoftmax`."""
    m, n, _ = shape.split("x")
    row, at, own = f"{m}xf32", ("x.0",) if open_ else (), tuple(f"x.{d}" for d, s in enumerate((m, n)) if s == "?")
    p = Written(x=shape, w=f"{n}xf32")
    count = 70.0 if n == "?" else float(n)
    if how in ("softmax", "logsoftmax"):
        p.each("m", row, "i, j*", "x[i, j]", "maximumf a o", start="-inf", sizes=at)
        p.each("p", shape, "i, j", "x[i, j]; m[i]", "subf a b; exp .", sizes=own)
        p.each("s", row, "i, j*", "p[i, j]", "addf a o", start=0.0, sizes=at)
        if how == "softmax":
            p.each("y", shape, "i, j", "p[i, j]; s[i]", "divf a b", sizes=own)
        else:
            p.each("y", shape, "i, j", "x[i, j]; m[i]; s[i]", "u = subf a b; v = log c; subf u v", sizes=own)
    elif how in ("rms", "l2"):
        p.each("s", row, "i, j*", "x[i, j]", "mulf a a; addf . o", start=0.0, sizes=at)
        if how == "rms":
            p.each("y", shape, "i, j", "x[i, j]; s[i]; w[j]", f"v = mulf b {1 / count}; addf . 0.001; rsqrt .; mulf . a; mulf . c", sizes=own)
        else:
            p.each("y", shape, "i, j", "x[i, j]; s[i]", "sqrt b; addf . 0.001; r = divf a .", sizes=own)
    else:
        p.each("s", row, "i, j*", "x[i, j]", "addf a o", start=0.0, sizes=at)
        p.each("u", row, "i", "s[i]", f"mulf a {1 / count}", sizes=at)
        if how == "mean":
            return p.text("u")
        p.each("q", row, "i, j*", "x[i, j]; u[i]", "d = subf a b; mulf d d; addf . o", start=0.0, sizes=at)
        if how == "variance":
            p.each("y", row, "i", "q[i]", f"mulf a {1 / count}", sizes=at)
        else:
            p.each("y", shape, "i, j", "x[i, j]; u[i]; q[i]; w[j]",
                   f"e = subf a b; mulf c {1 / count}; addf . 0.001; rsqrt .; mulf e .; mulf . d", sizes=own)  # fmt: skip
    return p.text("y")


def argmax(kind: str = "f32", least: str = "-inf", compare: str = "cmpf ogt", axis: int = 1) -> str:
    """The largest of each row, or column, and where it is first."""
    p, n = Written(x=f"9x50x{kind}"), (9, 50)[1 - axis]
    p.each("y", f"{n}x{kind} {n}xi32", "i, j*" if axis else "i*, j", "x[i, j]",
           f"k = index {axis}; n = index_cast k i32; m = {compare} a o; u = select m a o; v = select m n p; yield u v", start=(least, 0))  # fmt: skip
    return p.text("y#0, y#1")


def scan(n: int = 500) -> str:
    p = Written(x=f"6x{n}xf32")
    p.each("y", f"6xf32 6x{n}xf32", "i, j*", "x[i, j]", "addf o a; yield . .", "i; i, j", start=(0.0, None))
    return p.text("y#1")


def batch_norm() -> str:
    """Mean and variance of each channel, over images, rows and columns."""
    p = Written(x="2x5x6x12xf32")
    p.each("s", "12xf32", "n*, h*, w*, c", "x[n, h, w, c]", "addf a o", start=0.0)
    p.each("q", "12xf32", "n*, h*, w*, c", "x[n, h, w, c]", "mulf a a; addf . o", start=0.0)
    p.each("y", "2x5x6x12xf32", "n, h, w, c", "x[n, h, w, c]; s[c]; q[c]",
           "m = mulf b 0.016; t = mulf c 0.016; z = mulf m m; v = subf t z; d = subf a m; e = maximumf v 0.0; r = addf e 0.1; g = rsqrt r; mulf d g")  # fmt: skip
    return p.text("y")


def groups() -> str:
    """Sums of the groups of channels, by a reshape."""
    p = Written(x="3x32x20xf32")
    p.line("g", "3x4x8x20xf32", "tensor.expand_shape %x [[0], [1, 2], [3]] output_shape [3, 4, 8, 20] : "
           "tensor<3x32x20xf32> into tensor<3x4x8x20xf32>")  # fmt: skip
    p.each("y", "3x4xf32", "i, j, k*, l*", "g[i, j, k, l]", "addf a o", start=0.0)
    return p.text("y")


def entropy() -> str:
    """The loss of each row: log Σ exp x, less the element of its label."""
    p = Written(x="14x30xf32", label="14xi32")
    p.each("s", "14xf32", "i, j*", "x[i, j]", "exp a; addf . o", start=0.0)
    p.each("y", "14xf32", "i", "s[i]; label[i]", "u = log a; k = index_cast b index; l = index 0; v = extract x l k; subf u v")
    return p.text("y")


def counts() -> str:
    """How many elements of each row are positive, and whether all are."""
    p = Written(x="12x50xf32")
    p.each("y", "12xi32", "i, j*", "x[i, j]", "m = cmpf ogt a 0.0; n = extui m i32; addi n o", start=0)
    return p.text("y")


def bytes_() -> str:
    p = Written(x="20x60xi8")
    p.each("y", "20xi32", "i, j*", "x[i, j]", "u = extsi a i32; addi u o", start=0)
    return p.text("y")


def halves() -> str:
    p = Written(x="20x60xf16")
    p.each("y", "20xf32", "i, j*", "x[i, j]", "u = extf a f32; addf u o", start=0.0)
    return p.text("y")


def sliced() -> str:
    """Of every second column."""
    p = Written(x="16x40xf32")
    p.part("v", "16x20xf32", "x", "0, 1", "16, 20", "1, 2")
    p.each("y", "16xf32", "i, j*", "v[i, j]", "addf a o", start=0.0)
    return p.text("y")


def masked() -> str:
    """The sum of the lower triangle's rows."""
    p = Written(x="17x23xf32")
    p.each("y", "17xf32", "i, j*", "x[i, j]", "u = index 0; v = index 1; m = cmpi uge u v; s = select m a 0.0; addf s o", start=0.0)
    return p.text("y")


def kept() -> str:
    """Added to what an argument holds."""
    p = Written(x="16x40xf32", y="16xf32")
    p.each("r", "16xf32", "i, j*", "x[i, j]", "addf a o", start="y")
    return p.text("r")


THREAD = each_alone(f"{GENERIC} / 1 < {FILL}")
COLUMNS = each_alone(f"{GENERIC} / _, 1 < {FILL}")
BLOCK = rows(GENERIC, 64, sizes="1", fills=(FILL,))
WARPS = ("let op = match linalg.generic\nlet init = match linalg.fill\nlet (tiles, tile) = tile op [4]\nfuse init into tiles\n"
         "map tiles to blocks(x)\nmap init to threads(*) cyclic\nlet (each, row) = tile tile [1]\nmap each to warps(x)\n"
         "map row to lanes cyclic\ninsert-barriers\nlaunch tiles\n")  # fmt: skip
STEPS = ("let op = match linalg.generic\nlet init = match linalg.fill\nlet (tiles, tile) = tile op [8]\nfuse init into tiles\n"
         "map tiles to blocks(x)\nlet (k, step) = tile tile [_, 16]\nlet (s, copy) = promote-to-shared step.in0\n"
         "map copy to threads(*) cyclic\nlet (lanes, one) = tile step [1]\nmap lanes to threads(x: 8)\n"
         "promote-to-registers one.out0 across k\ninsert-barriers\nlaunch tiles\n")  # fmt: skip
SPLIT = ("let op = match linalg.generic\nlet init = match linalg.fill\nlet (parts, zero, sum) = split-k op 4\n"
         "let (tiles, one) = tile parts [1, 1]\nfuse zero into tiles\nmap tiles to grid(y, x)\n"
         "let (each, last) = tile sum [1]\nfuse init into each\nmap each to grid(x)\nlaunch tiles\nlaunch each\n")  # fmt: skip
SOFTMAX = f"{GENERIC} #2", f"{GENERIC} #1", f"{GENERIC} #0"
STARTS = f"{FILL} #1", f"{FILL} #0"
APART = each_alone(f"{GENERIC} #0 / 1 < {FILL} #0", f"{GENERIC} #1 / 1, 1", f"{GENERIC} #2 / 1 < {FILL}", f"{GENERIC} #3 / 1, 1")
PROGRAMS = {
    "rows, a thread each": (reduced("40x50xf32", "j"), THREAD),
    "rows, a block each": (reduced("20x500xf32", "j"), BLOCK),
    "rows, a warp each, ragged": (reduced("18x77xf32", "j"), WARPS),
    "rows in steps of shared memory, ragged": (reduced("20x77xf32", "j"), STEPS),
    "rows, in parts": (reduced("20x77xf32", "j", "largest"), SPLIT),
    "rows, open": (reduced("?x?xf32", "j", "sum", ("x.0",)), THREAD),
    "rows, open, a block each": (reduced("?x?xf32", "j", "largest", ("x.0",)), BLOCK),
    "rows, open, in steps": (reduced("?x?xf32", "j", "sum", ("x.0",)), STEPS),
    "columns": (reduced("40x50xf32", "i", "least"), COLUMNS),
    "columns, tiles": (reduced("40x50xf32", "i"), tiles(GENERIC, "_, 16", "x: 16", FILL, blocks="x")),
    "columns, open tiles": (reduced("?x?xf32", "i", "sum", ("x.1",)), tiles(GENERIC, "_, 16", "x: 16", FILL, blocks="x")),
    "the middle of three": (reduced("5x9x12xf32", "j", "product"), each_alone(f"{GENERIC} / 1, _, 1 < {FILL}")),
    "the outer two of three": (reduced("5x9x12xf32", "ij"), each_alone(f"{GENERIC} / _, _, 1 < {FILL}")),
    "the first and the last of three": (reduced("5x9x12xf32", "ik"), each_alone(f"{GENERIC} / _, 1, _ < {FILL}")),
    "all of a matrix": (reduced("30x40xf32", "ij", "largest"),
        "let op = match linalg.generic\nlet init = match linalg.fill\nmap init to threads(x: 1)\nmap op to threads(x: 128) cyclic\n"
        "launch init\nlaunch op\n"),
    "mean": (normed("mean"), each_alone(f"{GENERIC} #0 / 1 < {FILL}", f"{GENERIC} #1 on x")),
    "variance, a launch each": (normed("variance"), each_alone(
        f"{GENERIC} #0 / 1 < {FILL}", f"{GENERIC} #1 on x", f"{GENERIC} #2 / 1 < {FILL}", f"{GENERIC} #3 on x")),
    "layer norm, a block for each row": (normed("layer"), rows(f"{GENERIC} #3", 64, f"{GENERIC} #2", f"{GENERIC} #1", f"{GENERIC} #0", fills=(FILL,)).replace("map s1 to threads(x: 64) cyclic", "map s1 to registers")),
    "rms norm, a block for each row": (normed("rms"), rows(f"{GENERIC} #1", 64, f"{GENERIC} #0", fills=(FILL,))),
    "rms norm, a warp for each row": (normed("rms"), rows(f"{GENERIC} #1", 32, f"{GENERIC} #0", fills=(FILL,), space="lanes")),
    "rms norm, open": (normed("rms", "?x?xf32", True), rows(f"{GENERIC} #1", 64, f"{GENERIC} #0", fills=(FILL,))),
    "rms norm, two launches": (normed("rms"), each_alone(f"{GENERIC} #0 / 1 < {FILL}", f"{GENERIC} #1")),
    "l2 norm, two launches, open": (normed("l2", "?x?xf32", True), each_alone(f"{GENERIC} #0 / 1 < {FILL}", f"{GENERIC} #1 / 1, 1")),
    "softmax, a thread for each row": (normed("softmax"), rows(f"{GENERIC} #3", 64, *SOFTMAX, fills=STARTS).partition("map rows")[0] + "map rows to grid(x)\nlaunch rows\n"),
    "softmax, a block for each row": (normed("softmax"), rows(f"{GENERIC} #3", 64, *SOFTMAX, fills=STARTS)),
    "softmax, open": (normed("softmax", "?x?xf32", True), rows(f"{GENERIC} #3", 64, *SOFTMAX, fills=STARTS)),
    "softmax, a launch each": (normed("softmax"), APART),
    "softmax, a launch each, open": (normed("softmax", "?x?xf32", True), APART),
    "log of softmax, a launch each": (normed("logsoftmax"), APART),
    "argmax, a thread for each row": (argmax(), each_alone(f"{GENERIC} / 1 < {FILL} #1, {FILL} #0")),
    "argmax of bytes, a block for each row": (argmax("i8", "-128", "cmpi sgt"), rows(GENERIC, 64, sizes="1", fills=STARTS)),
    "scan": (scan(), "let op = match linalg.generic\nlet init = match linalg.fill\nlet (rows, row) = tile op [1, _]\nfuse init into rows\n"
             "map rows to blocks(x)\nmap row to threads(x: 64) block-cyclic(4)\ninsert-barriers\nlaunch rows\n"),
    "batch norm": (batch_norm(), each_alone(
        f"{GENERIC} #0 / _, _, _, 1 < {FILL}", f"{GENERIC} #1 / _, _, _, 1 < {FILL}", f"{GENERIC} #2 / 1, 1, 1, _")),
    "groups of channels": (groups(), each_alone(f"{GENERIC} / 1, 1 < {FILL}")),
    "cross entropy": (entropy(), each_alone(f"{GENERIC} #0 / 1 < {FILL}", f"{GENERIC} #1 on x")),
    "counts": (counts(), BLOCK),
    "bytes": (bytes_(), STEPS),
    "f16": (halves(), WARPS),
    "every second column": (sliced(), BLOCK),
    "lower triangle": (masked(), STEPS),
    "on top of an argument": (kept(), "let op = match linalg.generic\nlet (rows, row) = tile op [1]\nmap rows to grid(x)\nlaunch rows\n"),
}  # fmt: skip
