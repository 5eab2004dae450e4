"""Ordinary programs without a reduction: element by element, masks, tables, broadcasts, transposes, slices, pads, reshapes."""

from __future__ import annotations

from usual_schedules import each_alone, tiles
from written_payloads import Written

GENERIC = "linalg.generic"


def chain(kind: str = "40x57xf32", sizes: tuple[str, ...] = ()) -> str:
    """Bias, GELU by tanh, residual."""
    p = Written(x=kind, b=f"{kind.split('x')[-2]}xf32", r=kind)
    p.each("s", kind, "i, j", "x[i, j]; b[j]", "addf a b", sizes=sizes)
    p.each("g", kind, "i, j", "s[i, j]", "c = mulf a a; d = mulf c a; mulf d 0.044715; addf . a; mulf . 0.797885; tanh .; addf . 1.0; mulf . a; mulf . 0.5", sizes=sizes)  # fmt: skip
    p.each("y", kind, "i, j", "g[i, j]; r[i, j]", "addf a b", sizes=sizes)
    return p.text("y")


def one(kind: str, dims: str, reads: str, body: str, **arguments: str) -> str:
    p = Written(**arguments)
    p.each("y", kind, dims, reads, body)
    return p.text("y")


def saxpy() -> str:
    p = Written(s="f32", x="1000xf32", y="1000xf32")
    p.each("r", "1000xf32", "i", "x[i]", "mulf a s; addf . o", start="y")
    return p.text("r")


def reshaped() -> str:
    p = Written(x="12x40xf32")
    p.each("s", "12x40xf32", "i, j", "x[i, j]", "exp a")
    p.line("flat", "480xf32", "tensor.collapse_shape %s [[0, 1]] : tensor<12x40xf32> into tensor<480xf32>")
    p.each("t", "480xf32", "i", "flat[i]", "mulf a 3.0")
    p.line("cube", "6x8x10xf32", "tensor.expand_shape %t [[0, 1, 2]] output_shape [6, 8, 10] : tensor<480xf32> into tensor<6x8x10xf32>")
    p.each("y", "6x10x8xf32", "i, j, k", "cube[i, k, j]", "absf a")
    return p.text("y")


def rotary(half: int = 16) -> str:
    """x·cos + (-x2, x1)·sin, the halves of a row exchanged."""
    n = 2 * half
    p = Written(x=f"24x{n}xf32", c=f"24x{half}xf32", s=f"24x{half}xf32")
    p.part("x1", f"24x{half}xf32", "x", "0, 0", f"24, {half}")
    p.part("x2", f"24x{half}xf32", "x", f"0, {half}", f"24, {half}")
    for name, body in (("l", "u = mulf a c; v = mulf b d; subf u v"), ("r", "u = mulf b c; v = mulf a d; addf u v")):
        p.each(name, f"24x{half}xf32", "i, j", "x1[i, j]; x2[i, j]; c[i, j]; s[i, j]", body)
    out = p.empty(f"24x{n}xf32")
    for name, into, at in (("w", out, 0), ("y", "w", half)):
        value = "l" if name == "w" else "r"
        p.line(name, f"24x{n}xf32", f"tensor.insert_slice %{value} into %{into}[0, {at}] [24, {half}] [1, 1] : "
               f"tensor<24x{half}xf32> into tensor<24x{n}xf32>")  # fmt: skip
    return p.text("y")


def padded() -> str:
    p = Written(x="10x13xf32")
    p.padded("q", "13x16xf32", "x", "1, 2", "2, 1")
    p.each("y", "13x16xf32", "i, j", "q[i, j]", "exp a")
    return p.text("y")


def blur() -> str:
    p = Written(x="18x30xf32")
    for n, at in enumerate(("0, 1", "2, 1", "1, 0", "1, 2")):
        p.part(f"v{n}", "16x28xf32", "x", at, "16, 28")
    p.each("y", "16x28xf32", "i, j", "v0[i, j]; v1[i, j]; v2[i, j]; v3[i, j]", "addf a b; addf . c; addf . d; mulf . 0.25")
    return p.text("y")


def broadcasts() -> str:
    p = Written(x="7x9xf32", v="9xf32")
    p.op("b", "7x9xf32", "linalg.broadcast", "v", None, more=" dimensions = [0]")
    p.op("y", "7x9xf32", "linalg.mul", "x, b", None)
    return p.text("y")


def transposed() -> str:
    p = Written(x="33x50xf32")
    p.op("y", "50x33xf32", "linalg.transpose", "x", None, more=" permutation = [1, 0]")
    return p.text("y")


def scalar_sizes() -> str:
    """A chain of launches over as many elements as an argument says."""
    p = Written(n="index", s="f32")
    p.each("a", "?xf32", "i", "", "k = index 0; n0 = index_cast k i32; sitofp n0 f32", sizes=["n"])
    p.each("b", "?xf32", "i", "a[i]", "mulf a s", sizes=["n"])
    p.each("y", "?xf32", "i", "b[i]; a[i]", "addf a b", sizes=["n"])
    return p.text("y")


def quantized() -> str:
    p = Written(x="20x48xf32", s="48xf32")
    p.each("y", "20x48xi8", "i, j", "x[i, j]; s[j]", "mulf a b; maximumf . -127.0; q = minimumf . 127.0; fptosi q i8")
    return p.text("y")


def in_place() -> str:
    return """
func.func @step(%w: memref<300xf32>, %g: memref<300xf32>, %rate: f32) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%g : memref<300xf32>) outs(%w : memref<300xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %rate : f32
    %d = arith.subf %o, %s : f32
    linalg.yield %d : f32
  }
  return
}
"""


def stepped() -> str:
    """Jacobi's iteration of a line, a loop of the host."""
    return """
func.func @relax(%x: tensor<66xf32>) -> tensor<66xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %half = arith.constant 0.5 : f32
  %r = scf.for %t = %c0 to %c3 step %c1 iter_args(%u = %x) -> (tensor<66xf32>) {
    %e = tensor.empty() : tensor<66xf32>
    %v = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (65 - i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]} ins(%u, %x : tensor<66xf32>, tensor<66xf32>) outs(%e : tensor<66xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      %h = arith.mulf %s, %half : f32
      linalg.yield %h : f32
    } -> tensor<66xf32>
    scf.yield %v : tensor<66xf32>
  }
  return %r : tensor<66xf32>
}
"""


def two_results() -> str:
    p = Written(x="12x40xf32")
    p.each("y", "12x40xf32 12x40xf32", "i, j", "x[i, j]", "u = sin a; v = cos a; yield u v")
    return p.text("y#0, y#1")


OPEN = chain("?x?xf32", ("x.0", "x.1"))
IN_ROWS = ("let op = match linalg.generic\nlet (tiles, tile) = tile op [6, _]\nmap tiles to blocks(x)\nlet (each, row) = tile tile [1, _]\n"
           "map each to warps(x)\nmap row to lanes cyclic\nlaunch tiles\n")  # fmt: skip
THREE = f"{GENERIC} #0", f"{GENERIC} #1", f"{GENERIC} #2"
PROGRAMS = {
    "saxpy, ragged tiles": (saxpy(), tiles(GENERIC, "128", "x: 128")),
    "saxpy, vectors": (saxpy(), "let op = match linalg.generic\nmap op to grid(x) vector 4\nlaunch op\n"),
    "saxpy, persistent": (saxpy(), tiles(GENERIC, "64", "x: 32", blocks="x: 3", how="cyclic")),
    "saxpy, any grid": (saxpy(), "let op = match linalg.generic\nmap op to grid(x: ?) cyclic\nlaunch op\n"),
    "bias, gelu, residual, a launch each": (chain(), each_alone(*THREE)),
    "bias, gelu, residual, fused": (chain(), tiles(THREE[2], "8, 16", "y: 4, x: 16", THREE[1], THREE[0], how="cyclic")),
    "bias, gelu, residual, open": (OPEN, each_alone(*(f"{each} / 1, 1" for each in THREE))),
    "bias, gelu, residual, open and fused": (OPEN, tiles(THREE[2], "8, 32", "y: 8, x: 32", THREE[1], THREE[0])),
    "lower triangle": (one("20x33xf32", "i, j", "x[i, j]", "u = index 0; v = index 1; m = cmpi sge u v; select m a 0.0", x="20x33xf32"),
                       tiles(GENERIC, "8, 8", "y: 8, x: 8")),
    "causal mask, open": (one("20x33xf32", "i, j", "x[i, j]", "u = index 0; v = index 1; m = cmpi uge u v; select m a -inf", x="20x33xf32"),
                          each_alone(GENERIC)),
    "iota": (one("100xi32", "i", "", "k = index 0; index_cast k i32"), tiles(GENERIC, "32", "x: 32")),
    "embedding": (one("11x24xf32", "i, j", "n[i]", "k = index_cast a index; v = index 1; extract t k v", n="11xi32", t="40x24xf32"),
                  tiles(GENERIC, "4, 8", "y: 4, x: 8")),
    "reversed": (one("37x21xf32", "i, j", "", "u = index 0; k = subi 36 u; v = index 1; extract t k v", t="37x21xf32"),
                 each_alone(GENERIC)),
    "outer product": (one("30x41xf32", "i, j", "a[i]; b[j]", "mulf a b", a="30xf32", b="41xf32"), tiles(GENERIC, "16, 16", "y: 16, x: 16")),
    "broadcast of a row": (broadcasts(), each_alone("linalg.broadcast", "linalg.mul")),
    "broadcast of a row, fused": (broadcasts(), tiles("linalg.mul", "4, 4", "y: 4, x: 4", "linalg.broadcast")),
    "transpose": (transposed(), each_alone("linalg.transpose")),
    "transpose in shared memory": (transposed(), "let op = match linalg.transpose\nlet (tiles, tile) = tile op [16, 16]\n"
        "map tiles to blocks(y, x)\nlet (s, copy) = promote-to-shared tile.in0\nmap copy to threads(*) cyclic\n"
        "map tile to threads(y: 16, x: 16) cyclic\ninsert-barriers\nlaunch tiles\n"),
    "x + transposed x": (one("24x24xf32", "i, j", "x[i, j]; x[j, i]", "addf a b", x="24x24xf32"), tiles(GENERIC, "8, 8", "y: 8, x: 8")),
    "reshapes between launches": (reshaped(), each_alone(THREE[0], f"{THREE[1]} on x", f"{THREE[2]} on z, y, x")),
    "rotary": (rotary(), each_alone(f"{GENERIC} #0", f"{GENERIC} #1")),
    "padded": (padded(), tiles(GENERIC, "4, 8", "y: 4, x: 8")),
    "blur of slices": (blur(), tiles(GENERIC, "8, 8", "y: 8, x: 8")),
    "as many elements as an argument says": (scalar_sizes(), each_alone(*(f"{each} / 1" for each in THREE))),
    "as many elements as an argument says, fused": (scalar_sizes(), tiles(THREE[2], "64", "x: 64", THREE[1], THREE[0])),
    "to bytes": (quantized(), IN_ROWS),
    "f16 to bf16": (one("64x40xbf16", "i, j", "x[i, j]", "u = extf a f32; v = mulf u 0.5; truncf v bf16", x="64x40xf16"), IN_ROWS),
    "weights in place": (in_place(), "let op = match linalg.generic\nmap op to grid(x)\nlaunch op\n"),
    "weights in place, tiles": (in_place(), tiles(GENERIC, "64", "x: 64")),
    "a loop of the host": (stepped(), "let op = match linalg.generic\nmap op to grid(x)\nlaunch op\n"),
    "sine and cosine": (two_results(), tiles(GENERIC, "4, 16", "y: 4, x: 8", how="block-cyclic(2)")),
    "where": (one("9x40xf32", "i, j", "m[i, j]; u[i, j]; v[i, j]", "select a b c", m="9x40xi1", u="9x40xf32", v="9x40xf32"), each_alone(GENERIC)),
    "permuted axes": (one("5x9x7xf32", "i, j, k", "x[k, i, j]", "absf a", x="7x5x9xf32"), tiles(GENERIC, "1, 4, 4", "z: 1, y: 4, x: 4")),
}  # fmt: skip
