"""Ordinary products: of matrices, vectors, batches, a matrix with itself, distances, with epilogues, in parts, in steps."""

from __future__ import annotations

from usual_schedules import each_alone, staged, tiles
from written_payloads import Written

GENERIC, FILL, GEMM = "linalg.generic", "linalg.fill", "linalg.matmul"
A, B, C = "affine_map<(m, n, k) -> (m, k)>", "affine_map<(m, n, k) -> (k, n)>", "affine_map<(m, n, k) -> (m, n)>"


def matmul(m: int | str = 40, n: int | str = 50, k: int | str = 30, kind: str = "f32", total: str = "", maps: str = "") -> str:
    """`maps`: `a` for a transposed left operand, `b` for a right one."""
    sums, lhs, rhs = total or kind, f"{k}x{m}x{kind}" if "a" in maps else f"{m}x{k}x{kind}", f"{n}x{k}x{kind}" if "b" in maps else f"{k}x{n}x{kind}"
    p = Written(a=lhs, b=rhs)
    left = "affine_map<(m, n, k) -> (k, m)>" if "a" in maps else A
    right = "affine_map<(m, n, k) -> (n, k)>" if "b" in maps else B
    sizes = [s for s, open_ in ((f"a.{int('a' in maps)}", m == "?"), (f"b.{int('b' not in maps)}", n == "?")) if open_]
    p.op("y", f"{m}x{n}x{sums}", GEMM + (f" indexing_maps = [{left}, {right}, {C}]" if maps else ""), "a, b", 0 if sums[0] == "i" else 0.0, sizes)
    return p.text("y")


def batched(b: int | str = 3, m: int | str = 17, n: int | str = 23, k: int | str = 19) -> str:
    p = Written(a=f"{b}x{m}x{k}xf32", b=f"{b}x{k}x{n}xf32")
    sizes = [s for s, size in (("a.0", b), ("a.1", m), ("b.2", n)) if size == "?"]
    p.op("y", f"{b}x{m}x{n}xf32", "linalg.batch_matmul", "a, b", 0.0, sizes)
    return p.text("y")


def vector(op: str = "linalg.matvec", open_: bool = False) -> str:
    m, k = ("?", "?") if open_ else (70, 90)
    p = Written(a=f"{m}x{k}xf32", v=f"{k if op == 'linalg.matvec' else m}xf32")
    given, n = ("a, v", m) if op == "linalg.matvec" else ("v, a", k)
    p.op("y", f"{n}xf32", op, given, 0.0, ([f"a.{int(op != 'linalg.matvec')}"] if open_ else []))
    return p.text("y")


def dot() -> str:
    p = Written(a="700xf32", b="700xf32")
    p.each("y", "f32", "i*", "a[i]; b[i]", "mulf a b; addf . o", start=0.0)
    return p.text("y")


def gram(by_rows: bool = True, n: int | str = 40, k: int | str = 30) -> str:
    """x·xᵀ, or xᵀ·x."""
    p = Written(x=f"{n}x{k}xf32" if by_rows else f"{k}x{n}xf32")
    reads = "x[i, k]; x[j, k]" if by_rows else "x[k, i]; x[k, j]"
    sizes = [f"x.{int(not by_rows)}"] * 2 if n == "?" else []
    p.each("y", f"{n}x{n}xf32", "i, j, k*", reads, "mulf a b; addf . o", start=0.0, sizes=sizes)
    return p.text("y")


def squared(n: int = 24) -> str:
    """x·x."""
    p = Written(x=f"{n}x{n}xf32")
    p.op("y", f"{n}x{n}xf32", GEMM, "x, x")
    return p.text("y")


def distances(own: bool = True) -> str:
    """Of all pairs of points."""
    p = Written(x="30x7xf32", y="20x7xf32")
    n = 30 if own else 20
    p.each("d", f"30x{n}xf32", "i, j, k*", f"x[i, k]; {'x' if own else 'y'}[j, k]", "s = subf a b; mulf s s; addf . o", start=0.0)
    return p.text("d")


def weighted() -> str:
    """x·W·xᵀ of each row: a product of three."""
    p = Written(x="20x12xf32", w="12x12xf32")
    p.each("y", "20xf32", "i, j*, k*", "x[i, j]; w[j, k]; x[i, k]", "mulf a b; mulf . c; addf . o", start=0.0)
    return p.text("y")


def epilogue(m: int | str = 40, n: int | str = 50, k: int | str = 30) -> str:
    """Bias, ReLU, residual."""
    p = Written(a=f"{m}x{k}xf32", b=f"{k}x{n}xf32", v=f"{n}xf32", r=f"{m}x{n}xf32")
    sizes, kind = [s for s, size in (("a.0", m), ("b.1", n)) if size == "?"], f"{m}x{n}xf32"
    p.op("c", kind, GEMM, "a, b", 0.0, sizes)
    p.each("y", kind, "i, j", "c[i, j]; v[j]; r[i, j]", "addf a b; maximumf . 0.0; addf . c", sizes=sizes)
    return p.text("y")


def layers() -> str:
    """Two layers of a network."""
    p = Written(x="24x16xf32", u="16x40xf32", w="40x12xf32")
    p.op("h", "24x40xf32", GEMM, "x, u")
    p.each("g", "24x40xf32", "i, j", "h[i, j]", "maximumf a 0.0")
    p.op("y", "24x12xf32", GEMM, "g, w")
    return p.text("y")


def attention(open_: bool = False) -> str:
    """softmax(q·kᵀ)·v."""
    m, n = ("?", "?") if open_ else (20, 33)
    p = Written(q=f"{m}x16xf32", k=f"{n}x16xf32", v=f"{n}x24xf32")
    row, own = (["q.0"], ["q.0", "k.0"]) if open_ else ([], [])
    p.each("s", f"{m}x{n}xf32", "i, j, k*", "q[i, k]; k[j, k]", "mulf a b; addf . o", start=0.0, sizes=own)
    p.each("m", f"{m}xf32", "i, j*", "s[i, j]", "maximumf a o", start="-inf", sizes=row)
    p.each("e", f"{m}x{n}xf32", "i, j", "s[i, j]; m[i]", "subf a b; exp .", sizes=own)
    p.each("z", f"{m}xf32", "i, j*", "e[i, j]", "addf a o", start=0.0, sizes=row)
    p.each("w", f"{m}x{n}xf32", "i, j", "e[i, j]; z[i]", "divf a b", sizes=own)
    p.op("y", f"{m}x24xf32", GEMM, "w, v", 0.0, row)
    return p.text("y")


def gated() -> str:
    """(x·u)·sigmoid(x·w), element by element: two products of one operand."""
    p = Written(x="24x16xf32", u="16x40xf32", w="16x40xf32")
    p.op("a1", "24x40xf32", GEMM, "x, u")
    p.op("a2", "24x40xf32", GEMM, "x, w")
    p.each("y", "24x40xf32", "i, j", "a1[i, j]; a2[i, j]", "u = subf 0.0 b; exp .; d = addf . 1.0; divf a d")
    return p.text("y")


def complex_() -> str:
    """The real and the imaginary part of a product: two results of one op."""
    p = Written(r="20x12xf32", i="20x12xf32", s="12x16xf32", t="12x16xf32")
    p.each("y", "20x16xf32 20x16xf32", "m, n, k*", "r[m, k]; i[m, k]; s[k, n]; t[k, n]",
           "u = mulf a c; v = mulf b d; w = subf u v; e1 = addf o w; x1 = mulf a d; x2 = mulf b c; x3 = addf x1 x2; e2 = addf p x3; yield e1 e2", start=0.0)  # fmt: skip
    return p.text("y#0, y#1")


def products_of_heads() -> str:
    """q·kᵀ of each head: [b, n, h, d]."""
    p = Written(q="2x9x3x8xf32", k="2x11x3x8xf32")
    p.each("s", "2x3x9x11xf32", "b, h, i, j, d*", "q[b, i, h, d]; k[b, j, h, d]", "mulf a b; addf . o", start=0.0)
    return p.text("s")


def rank_one() -> str:
    """a + x·yᵀ, in place of an argument."""
    p = Written(x="30xf32", y="40xf32", a="30x40xf32")
    p.each("r", "30x40xf32", "i, j", "x[i]; y[j]", "mulf a b; addf . o", start="a")
    return p.text("r")


FINISHED = staged(GENERIC, "16, 16", "_, _, 8", "1, 1", "y: 16, x: 16", GEMM).replace("tile tile [_, _, 8]", "tile p0 [_, _, 8]").replace(
    "insert-barriers", "let (ends, end) = tile tile [1, 1]\nmap ends to threads(y: 16, x: 16)\ninsert-barriers")
NAIVE = each_alone(f"{GEMM} / 1, 1 < {FILL}")
OTHER = each_alone(f"{GENERIC} / 1, 1 < {FILL}")
SHARED = staged(GEMM, "16, 16", "_, _, 8", "1, 1", "y: 16, x: 16")
MICRO = ("let op = match linalg.matmul\nlet init = match linalg.fill\nlet (tiles, tile) = tile op [32, 32]\nfuse init into tiles\n"
         "map tiles to blocks(y, x)\nlet (k, step) = tile tile [_, _, 8]\nlet (a, ca) = promote-to-shared step.lhs transpose pad 4\n"
         "let (b, cb) = promote-to-shared step.rhs\nmap ca to threads(*) cyclic\nmap cb to threads(*) cyclic\n"
         "let (lanes, thread) = tile step [4, 4]\nmap lanes to threads(y, x)\nlet (kk, micro) = tile thread [_, _, 1]\n"
         "promote-to-registers micro.acc across k\nvectorize micro\nunroll kk\nPIPELINEinsert-barriers\nlaunch tiles\n")  # fmt: skip
PERSISTENT = staged(GEMM, "16, 16", "_, _, 8", "1, 1", "y: 16, x: 16", blocks="x: 3", how="cyclic")
SPLIT = ("let op = match linalg.matmul\nlet init = match linalg.fill\nlet (parts, zero, sum) = split-k op 3\n"
         "let (tiles, tile) = tile parts [1, 8, 8]\nfuse zero into tiles\nmap tiles to blocks(z, y, x)\n"
         "let (lanes, one) = tile tile [_, 1, 1]\nfuse zero into lanes\nmap lanes to threads(y: 8, x: 8)\n"
         "let (each, last) = tile sum [1, 1]\nfuse init into each\nmap each to grid(y, x)\nlaunch tiles\nlaunch each\n")  # fmt: skip
HEADS = tiles(GENERIC, "1, 1, 4, 4", "y: 4, x: 4", FILL, blocks="x", lanes="_, _, 1, 1").replace("map tiles", "let tiles = coalesce tiles\nmap tiles")
OPEN = {"m": "?", "n": "?", "k": "?"}
SUBMAPS = ("let op = match linalg.generic\nlet init = match linalg.fill\nlet (tiles, tile) = tile op [8, 8]\nfuse init into tiles\n"
           "map tiles to blocks(y, x)\nmap init to threads(*) cyclic\nlet (lanes, one) = tile tile [1, 1]\nmap lanes to threads(y: 8, x: 8)\n"
           "insert-barriers\nlaunch tiles\n")  # fmt: skip
SOFT = each_alone(f"{GENERIC} #0 / 1, 1 < {FILL} #0", f"{GENERIC} #1 / 1 < {FILL} #0", f"{GENERIC} #2 / 1, 1", f"{GENERIC} #3 / 1 < {FILL} #0",
                  f"{GENERIC} #4 / 1, 1", f"{GEMM} / 1, 1 < {FILL}")  # fmt: skip
PROGRAMS = {
    "product, an element a thread": (matmul(), NAIVE),
    "product, an element a thread, open": (matmul(**OPEN), NAIVE),
    "product, shared memory, ragged": (matmul(), SHARED),
    "product, shared memory, open": (matmul(**OPEN), SHARED),
    "product, outer products in registers": (matmul(70, 40, 20), MICRO.replace("PIPELINE", "")),
    "product, outer products in registers, open": (matmul(**OPEN), MICRO.replace("PIPELINE", "")),
    "product, pipelined": (matmul(70, 40, 20), MICRO.replace("PIPELINE", "pipeline k stages 2\n")),
    "product, pipelined, open": (matmul(**OPEN), MICRO.replace("PIPELINE", "pipeline k stages 2\n")),
    "product, pipelined, three stages": (matmul(64, 64, 64), staged(GEMM, "32, 32", "_, _, 16", "2, 2", "y: 16, x: 16", last="pipeline k stages 3 async").replace(
        "threads(*) cyclic", "threads(*) cyclic vector 4")),
    "product, persistent blocks": (matmul(), PERSISTENT),
    "product, persistent blocks, open": (matmul(**OPEN), PERSISTENT),
    "product, blocks in groups": (matmul(70, 90, 20), staged(GEMM, "16, 16", "_, _, 8", "1, 1", "y: 16, x: 16", how="order grouped(2)")),
    "product of a transposed left": (matmul(maps="a"), SHARED),
    "product of a transposed right": (matmul(maps="b"), SHARED),
    "product of two transposed, open": (matmul(**OPEN, maps="ab"), SHARED),
    "product of f16, sums in f32": (matmul(kind="f16", total="f32"), SHARED),
    "product of bytes, sums in i32": (matmul(kind="i8", total="i32"), SHARED),
    "product of bf16": (matmul(kind="bf16"), NAIVE),
    "product, in parts": (matmul(20, 18, 100), SPLIT),
    "product, in parts, open": (matmul(**OPEN), SPLIT),
    "product, bias, ReLU, residual": (epilogue(), FINISHED),
    "product, bias, ReLU, residual, open": (epilogue(**OPEN), FINISHED),
    "product, bias, ReLU, residual, two launches": (epilogue(), each_alone(f"{GEMM} / 1, 1 < {FILL}", GENERIC)),
    "batches": (batched(), staged("linalg.batch_matmul", "1, 8, 8", "_, _, _, 8", "_, 1, 1", "y: 8, x: 8")),
    "batches, open": (batched("?", "?", "?", "?"), staged("linalg.batch_matmul", "1, 8, 8", "_, _, _, 8", "_, 1, 1", "y: 8, x: 8")),
    "matrix and vector": (vector(), each_alone(f"linalg.matvec / 1 < {FILL}")),
    "matrix and vector, open, a block for each row": (vector(open_=True), "let op = match linalg.matvec\nlet init = match linalg.fill\n"
        "let (rows, row) = tile op [1]\nfuse init into rows\nmap rows to blocks(x)\nmap row to threads(x: 64) cyclic\ninsert-barriers\nlaunch rows\n"),
    "vector and matrix": (vector("linalg.vecmat"), tiles("linalg.vecmat", "32", "x: 32", FILL)),
    "dot": (dot(), "let op = match linalg.generic\nlet init = match linalg.fill\nmap init to threads(x: 1)\nmap op to threads(x: 128) cyclic\nlaunch init\nlaunch op\n"),
    "a matrix and its transpose": (gram(), OTHER),
    "a matrix and its transpose, tiles": (gram(), SUBMAPS),
    "a matrix and its transpose, shared memory": (gram(), SHARED.replace(GEMM, GENERIC)),
    "a matrix and its transpose, open": (gram(n="?", k="?"), OTHER),
    "a matrix and its transpose, open, shared memory": (gram(n="?", k="?"), SHARED.replace(GEMM, GENERIC)),
    "a transpose and its matrix": (gram(False), OTHER),
    "a transpose and its matrix, tiles": (gram(False), SUBMAPS),
    "a matrix and itself": (squared(), NAIVE),
    "a matrix and itself, shared memory": (squared(), SHARED),
    "distances in one set": (distances(), OTHER),
    "distances in one set, tiles": (distances(), SUBMAPS),
    "distances of two sets": (distances(False), SUBMAPS),
    "quadratic forms": (weighted(), each_alone(f"{GENERIC} / 1 < {FILL}")),
    "two layers": (layers(), each_alone(f"{GEMM} #0 / 1, 1 < {FILL} #0", GENERIC, f"{GEMM} #1 / 1, 1 < {FILL}")),
    "attention, a launch each": (attention(), SOFT),
    "attention, a launch each, open": (attention(True), SOFT),
    "a gate": (gated(), tiles(GENERIC, "8, 8", "y: 8, x: 8", f"{GEMM} #1", f"{GEMM} #0", FILL)),
    "real and imaginary part": (complex_(), OTHER),
    "heads": (products_of_heads(), HEADS),
    "outer product, added": (rank_one(), tiles(GENERIC, "8, 8", "y: 8, x: 8")),
}  # fmt: skip
