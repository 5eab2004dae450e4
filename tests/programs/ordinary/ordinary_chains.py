"""Ordinary chains of several ops, in one kernel or in several: parts of networks, images, statistics, two functions."""

from __future__ import annotations

from ordinary_windows import windows
from usual_schedules import each_alone, rows, staged, tiles
from written_payloads import Written

GENERIC, FILL, GEMM, CONV = "linalg.generic", "linalg.fill", "linalg.matmul", "linalg.conv_2d_nhwc_hwcf"


def weighted() -> str:
    """Rows weighted by a vector, by a broadcast of its own, summed up."""
    p = Written(x="20x33xf32", v="33xf32")
    p.op("b", "20x33xf32", "linalg.broadcast", "v", None, more=" dimensions = [0]")
    p.op("m", "20x33xf32", "linalg.mul", "x, b", None)
    p.each("y", "20xf32", "i, j*", "m[i, j]", "addf a o", start=0.0)
    return p.text("y")


def causal() -> str:
    """A softmax of the lower triangle."""
    p = Written(x="24x24xf32")
    p.each("s", "24x24xf32", "i, j", "x[i, j]", "u = index 0; v = index 1; m = cmpi uge u v; select m a -inf")
    p.each("m", "24xf32", "i, j*", "s[i, j]", "maximumf a o", start="-inf")
    p.each("e", "24x24xf32", "i, j", "s[i, j]; m[i]", "subf a b; exp .")
    p.each("z", "24xf32", "i, j*", "e[i, j]", "addf a o", start=0.0)
    p.each("y", "24x24xf32", "i, j", "e[i, j]; z[i]", "divf a b")
    return p.text("y")


def shifted() -> str:
    """The row before, and zeros at the edge."""
    p = Written(x="17x20xf32")
    p.each(
        "y",
        "17x20xf32",
        "i, j",
        "x[i, j]",
        "u = index 0; v = index 1; m = cmpi ugt u 0; k = subi u 1; l = select m k 0; "
        "e = extract x l v; f = select m e 0.0; subf a f",
    )
    return p.text("y")


def embedded() -> str:
    """Rows of a table, normalized."""
    p = Written(n="11xi32", t="40x24xf32")
    p.each("e", "11x24xf32", "i, j", "n[i]", "k = index_cast a index; v = index 1; extract t k v")
    p.each("s", "11xf32", "i, j*", "e[i, j]", "mulf a a; addf . o", start=0.0)
    p.each("y", "11x24xf32", "i, j", "e[i, j]; s[i]", "addf b 0.001; rsqrt .; mulf . a")
    return p.text("y")


def turned() -> str:
    """A transpose, and a product with it."""
    p = Written(x="24x30xf32", w="24x20xf32")
    p.op("t", "30x24xf32", "linalg.transpose", "x", None, more=" permutation = [1, 0]")
    p.op("y", "30x20xf32", GEMM, "t, w")
    return p.text("y")


def heads() -> str:
    """x·w, seen as heads, and the products of these."""
    p = Written(x="12x16xf32", w="16x24xf32")
    p.op("q", "12x24xf32", GEMM, "x, w")
    p.line(
        "h",
        "12x3x8xf32",
        "tensor.expand_shape %q [[0], [1, 2]] output_shape [12, 3, 8] : tensor<12x24xf32> into tensor<12x3x8xf32>",
    )
    p.each("y", "3x12x12xf32", "h, i, j, d*", "h[i, h, d]; h[j, h, d]", "mulf a b; addf . o", start=0.0)
    return p.text("y")


def folded() -> str:
    """A convolution, scaled and shifted by channel, ReLU."""
    p = windows(CONV, "nhwc", filters="hwcf")
    kind = p.types["y"]
    p.arguments += ["g", "b"]
    p.types |= {"g": "6xf32", "b": "6xf32"}
    p.each("z", kind, "n, h, w, c", "y[n, h, w, c]; g[c]; b[c]", "mulf a b; addf . c; maximumf . 0.0")
    return p.text("z")


def then_pooled() -> str:
    """A convolution, ReLU, and the largest of windows."""
    p = windows(CONV, "nhwc", filters="hwcf")
    p.each("z", p.types["y"], "n, h, w, c", "y[n, h, w, c]", "maximumf a 0.0")
    p.empty("2x2xf32")
    window = f"e{len(p.lines) - 1}"
    p.op(
        "r",
        "2x4x5x6xf32",
        "linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}",
        f"z, {window}",
        "-inf",
    )
    return p.text("r")


def separable() -> str:
    """A depthwise convolution, and a product of its channels."""
    p = windows("linalg.depthwise_conv_2d_nhwc_hwc", "nhwc", filters="hwc", n=1, c=8, h=10, w=10)
    p.arguments.append("v")
    p.types["v"] = "8x12xf32"
    p.line("f", "64x8xf32", "tensor.collapse_shape %y [[0, 1, 2], [3]] : tensor<1x8x8x8xf32> into tensor<64x8xf32>")
    p.op("r", "64x12xf32", GEMM, "f, v")
    return p.text("r")


def moments() -> str:
    """Sum and sum of squares of each row."""
    p = Written(x="20x70xf32")
    p.each("y", "20xf32 20xf32", "i, j*", "x[i, j]", "s = addf a o; m = mulf a a; q = addf m p; yield s q", start=0.0)
    return p.text("y#0, y#1")


def quantized() -> str:
    """The largest of each row, and the row divided by it, in bytes."""
    p = Written(x="14x60xf32")
    p.each("m", "14xf32", "i, j*", "x[i, j]", "absf a; maximumf . o", start=0.0)
    p.each("y", "14x60xi8", "i, j", "x[i, j]; m[i]", "u = addf b 0.001; v = divf a u; w = mulf v 127.0; fptosi w i8")
    return p.text("y, m")


def similar() -> str:
    """The cosine of the rows of two matrices."""
    p = Written(x="20x30xf32", z="20x30xf32")
    p.each("d", "20xf32", "i, j*", "x[i, j]; z[i, j]", "mulf a b; addf . o", start=0.0)
    p.each("u", "20xf32", "i, j*", "x[i, j]", "mulf a a; addf . o", start=0.0)
    p.each("v", "20xf32", "i, j*", "z[i, j]", "mulf a a; addf . o", start=0.0)
    p.each("y", "20xf32", "i", "d[i]; u[i]; v[i]", "mulf b c; addf . 0.001; rsqrt .; mulf . a")
    return p.text("y")


def upsampled() -> str:
    """Each pixel twice along both axes."""
    p = Written(x="9x11xf32")
    p.each("y", "18x22xf32", "i, j", "", "u = index 0; v = index 1; k = divui u 2; l = divui v 2; extract x k l")
    return p.text("y")


def halved() -> str:
    p = Written(x="18x22xf32")
    p.part("v", "9x11xf32", "x", "0, 0", "9, 11", "2, 2")
    p.each("y", "9x11xf32", "i, j", "v[i, j]", "mulf a 0.5")
    return p.text("y")


def one_hot() -> str:
    p = Written(n="12xi32")
    p.each("y", "12x30xf32", "i, j", "n[i]", "v = index 1; k = index_cast v i32; m = cmpi eq a k; w = extui m i32; sitofp w f32")
    return p.text("y")


def flat_mean() -> str:
    """Of all elements, in one row."""
    p = Written(x="12x40xf32")
    p.line("f", "480xf32", "tensor.collapse_shape %x [[0, 1]] : tensor<12x40xf32> into tensor<480xf32>")
    p.each("s", "f32", "i*", "f[i]", "addf a o", start=0.0)
    return p.text("s")


def global_mean() -> str:
    """Of each image's channels, open."""
    p = Written(x="?x?x?x?xf32")
    p.each("s", "?x?xf32", "n, h*, w*, c", "x[n, h, w, c]", "addf a o", start=0.0, sizes=["x.0", "x.3"])
    p.each("y", "?x?xf32", "n, c", "s[n, c]", "mulf a 0.01", sizes=["x.0", "x.3"])
    return p.text("y")


def of_columns() -> str:
    """A softmax along the first axis."""
    p = Written(x="20x33xf32")
    p.each("m", "33xf32", "i*, j", "x[i, j]", "maximumf a o", start="-inf")
    p.each("e", "20x33xf32", "i, j", "x[i, j]; m[j]", "subf a b; exp .")
    p.each("z", "33xf32", "i*, j", "e[i, j]", "addf a o", start=0.0)
    p.each("y", "20x33xf32", "i, j", "e[i, j]; z[j]", "divf a b")
    return p.text("y")


def accumulated(kind: str = "20x30xf32") -> str:
    """c + a·b."""
    p = Written(a="20x17xf32", b="17x30xf32", c=kind)
    p.op("y", kind, GEMM, "a, b", "c")
    return p.text("y")


def contracted() -> str:
    p = Written(x="5x7x4x6xf32", w="4x6xf32")
    p.each("y", "5x7xf32", "a, b, c*, d*", "x[a, b, c, d]; w[c, d]", "mulf a b; addf . o", start=0.0)
    return p.text("y")


def two_functions() -> str:
    p = Written("scale", x="100xf32")
    p.each("y", "100xf32", "i", "x[i]", "mulf a 3.0")
    q = Written("total", x="20x50xf32")
    q.each("y", "20xf32", "i, j*", "x[i, j]", "addf a o", start=0.0)
    return p.text("y") + q.text("y")


def powers() -> str:
    """Three steps of a power iteration, a loop of the host, with the norm in each."""
    return """
func.func @f(%a: tensor<20x20xf32>, %v: tensor<20xf32>) -> tensor<20xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %t = %c0 to %c3 step %c1 iter_args(%x = %v) -> (tensor<20xf32>) {
    %e = tensor.empty() : tensor<20xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<20xf32>) -> tensor<20xf32>
    %y = linalg.matvec ins(%a, %x : tensor<20x20xf32>, tensor<20xf32>) outs(%i : tensor<20xf32>) -> tensor<20xf32>
    %s = linalg.tanh ins(%y : tensor<20xf32>) outs(%e : tensor<20xf32>) -> tensor<20xf32>
    scf.yield %s : tensor<20xf32>
  }
  return %r : tensor<20xf32>
}
"""


def buffers() -> str:
    """A product on buffers, which are filled before."""
    return """
func.func @f(%a: memref<20x17xf32>, %b: memref<17x30xf32>, %c: memref<20x30xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<20x30xf32>)
  linalg.matmul ins(%a, %b : memref<20x17xf32>, memref<17x30xf32>) outs(%c : memref<20x30xf32>)
  return
}
"""


G = [f"{GENERIC} #{n}" for n in range(5)]
ROWS_OF_WARPS = (
    "let sum = match linalg.generic #0\nlet y = match linalg.generic #1\nlet init = match linalg.fill\n"
    "let (rows, row) = tile y [1, _]\nfuse sum into rows\nfuse init into rows\nbufferize\nlet (blocks, each) = tile rows [4]\n"
    "map blocks to blocks(x)\nmap each to warps(x)\nmap sum to lanes cyclic\nmap row to lanes cyclic\ninsert-barriers\n"
    "launch blocks\n"
)
FUSED = "let y = match linalg.generic #1\nlet s = match linalg.generic #0\n"
WHOLE = staged(GEMM, "16, 16", "_, _, 8", "1, 1", "y: 16, x: 16")
PROGRAMS = {
    "rows weighted by a broadcast, a launch each": (
        weighted(),
        each_alone("linalg.broadcast", "linalg.mul", f"{GENERIC} / 1 < {FILL}"),
    ),
    "rows weighted by a broadcast, fused": (
        weighted(),
        rows(GENERIC, 64, "linalg.mul", "linalg.broadcast", sizes="1", fills=(FILL,)),
    ),
    "softmax of the lower triangle, fused": (causal(), rows(G[4], 64, G[3], G[2], G[1], G[0], fills=(f"{FILL} #1", f"{FILL} #0"))),
    "softmax of the lower triangle, a launch each": (
        causal(),
        each_alone(G[0], f"{G[1]} / 1 < {FILL} #0", G[2], f"{G[3]} / 1 < {FILL}", G[4]),
    ),
    "difference to the row before": (shifted(), tiles(GENERIC, "8, 8", "y: 8, x: 8")),
    "normalized rows of a table, a launch each": (embedded(), each_alone(G[0], f"{G[1]} / 1 < {FILL}", G[2])),
    "normalized rows of a table, fused": (embedded(), rows(G[2], 64, G[1], G[0], fills=(FILL,))),
    "product of a transpose, two launches": (turned(), each_alone("linalg.transpose", f"{GEMM} / 1, 1 < {FILL}")),
    "product of a transpose, fused": (turned(), tiles(GEMM, "8, 8", "y: 8, x: 8", "linalg.transpose", FILL)),
    "products of heads, two launches": (heads(), each_alone(f"{GEMM} / 1, 1 < {FILL} #0", f"{GENERIC} / 1, 1, 1 < {FILL}")),
    "convolution, scale, shift, ReLU, two launches": (
        folded(),
        each_alone(f"{CONV} / 1, 1, 1, _ < {FILL}", f"{GENERIC} / 1, 1, 1, _"),
    ),
    "convolution, scale, shift, ReLU, fused": (
        folded(),
        tiles(GENERIC, "1, 4, 4, 6", "y: 4, x: 4", CONV, FILL, blocks="x", lanes="_, 1, 1, _").replace(
            "map tiles", "let tiles = coalesce tiles\nmap tiles"
        ),
    ),
    "convolution, ReLU, pooling": (
        then_pooled(),
        each_alone(f"{CONV} / 1, 1, 1, _ < {FILL} #0", f"{GENERIC} / 1, 1, 1, _", f"linalg.pooling_nhwc_max / 1, 1, 1, _ < {FILL}"),
    ),
    "separable convolution": (
        separable(),
        each_alone(f"linalg.depthwise_conv_2d_nhwc_hwc / _, 1, 1, 1 < {FILL} #0", f"{GEMM} / 1, 1 < {FILL}"),
    ),
    "sums and squares": (moments(), rows(GENERIC, 64, sizes="1", fills=(FILL,))),
    "rows in bytes, two launches": (quantized(), each_alone(f"{G[0]} / 1 < {FILL}", G[1])),
    "rows in bytes, a warp each": (quantized(), ROWS_OF_WARPS),
    "cosines": (similar(), rows(G[3], 32, G[2], G[1], G[0], sizes="1", fills=(FILL,))),
    "each pixel twice": (upsampled(), tiles(GENERIC, "8, 8", "y: 8, x: 8")),
    "every second pixel": (halved(), tiles(GENERIC, "8, 8", "y: 8, x: 8")),
    "one-hot": (one_hot(), tiles(GENERIC, "8, 8", "y: 8, x: 8")),
    "sum of a reshape": (
        flat_mean(),
        "let op = match linalg.generic\nlet init = match linalg.fill\nmap init to threads(x: 1)\n"
        "map op to threads(x: 64) cyclic\nlaunch init\nlaunch op\n",
    ),
    "means of open images": (global_mean(), each_alone(f"{G[0]} / 1, _, _, 1 < {FILL}", f"{G[1]} / 1, 1")),
    "softmax of columns": (of_columns(), each_alone(f"{G[0]} / _, 1 < {FILL} #0", G[1], f"{G[2]} / _, 1 < {FILL}", G[3])),
    "product, added to an argument": (accumulated(), staged(GEMM, "16, 16", "_, _, 8", "1, 1", "y: 16, x: 16", fill="")),
    "product on buffers": (buffers(), WHOLE),
    "contraction of two axes": (contracted(), each_alone(f"{GENERIC} / 1, 1 < {FILL}")),
    "two functions": (two_functions(), each_alone(f"{GENERIC} #0 on x", f"{GENERIC} #1 / 1 < {FILL}")),
    "a product in a loop of the host": (powers(), each_alone(f"linalg.matvec / 1 < {FILL}", "linalg.tanh on x")),
}
