"""A layer of a transformer on tensors, in small sizes."""

from __future__ import annotations

from math import sqrt

from networks import GEMM
from written_payloads import Written


def projected(p: Written, name: str, of: str, columns: int) -> str:
    """A product with weights."""
    rows, k = p.types[of].split("x")[:2]
    p.types[f"{name}_w"] = f"{k}x{columns}xf32"
    p.arguments.append(f"{name}_w")
    return p.op(name, f"{rows}x{columns}xf32", GEMM, f"{of}, {name}_w")


def by_heads(p: Written, name: str, of: str, heads: int) -> str:
    """Columns as heads, heads first."""
    rows, columns = (int(n) for n in p.types[of].split("x")[:2])
    wide, apart = f"{rows}x{heads}x{columns // heads}xf32", f"{heads}x{rows}x{columns // heads}xf32"
    sizes = wide.replace("x", ", ").removesuffix(", f32")
    text = f"tensor.expand_shape %{of} [[0], [1, 2]] output_shape [{sizes}] : tensor<{p.types[of]}> into tensor<{wide}>"
    p.line(f"{name}_x", wide, text)
    return p.op(name, apart, "linalg.transpose", f"{name}_x", None, more=" permutation = [1, 0, 2]")


def attention(p: Written, name: str, q: str, k: str, v: str, *, causal: bool = False) -> str:
    """softmax(Q·Kᵀ / √d)·V of each head; `causal`: of no later rows."""
    heads, n, d = (int(size) for size in p.types[q].split("x")[:3])
    s, rows = f"{heads}x{n}x{n}xf32", f"{heads}x{n}xf32"
    mask = "; u = index 1; w = index 2; c = cmpi ule w u; select c . -inf" if causal else ""
    p.each(f"{name}_p", s, "h, i, j, d*", f"{q}[h, i, d]; {k}[h, j, d]", "mulf a b; addf o .", start="-0.0")
    p.each(f"{name}_s", s, "h, i, j", f"{name}_p[h, i, j]", f"t = mulf a {1 / sqrt(d):.9f}{mask.replace('c .', 'c t')}")
    p.each(f"{name}_m", rows, "h, i, j*", f"{name}_s[h, i, j]", "maximumf a o", start="-inf")
    p.each(f"{name}_e", s, "h, i, j", f"{name}_s[h, i, j]; {name}_m[h, i]", "subf a b; exp .")
    p.each(f"{name}_z", rows, "h, i, j*", f"{name}_e[h, i, j]", "addf a o", start=0.0)
    p.each(f"{name}_r", s, "h, i, j", f"{name}_e[h, i, j]; {name}_z[h, i]", "divf a b")
    p.each(name, f"{heads}x{n}x{d}xf32", "h, i, j*, d", f"{name}_r[h, i, j]; {v}[h, j, d]", "mulf a b; addf o .", start=0.0)
    return name


def layer_norm(p: Written, name: str, of: str) -> str:
    """Each row without its mean, divided by its deviation, scaled and shifted."""
    kind = p.types[of]
    rows, n = kind.split("x")[0] + "xf32", f"{kind.split('x')[1]}.0"
    p.types |= {f"{name}_g": kind.split("x")[1] + "xf32", f"{name}_b": kind.split("x")[1] + "xf32"}
    p.arguments += [f"{name}_g", f"{name}_b"]
    p.each(f"{name}_s", rows, "i, j*", f"{of}[i, j]", "addf a o", start=0.0)
    square = f"m = divf b {n}; d = subf a m; q = mulf d d; addf q o"
    p.each(f"{name}_q", rows, "i, j*", f"{of}[i, j]; {name}_s[i]", square, start=0.0)
    p.each(
        name, kind, "i, j", f"{of}[i, j]; {name}_s[i]; {name}_q[i]; {name}_g[j]; {name}_b[j]",
        f"m = divf b {n}; v = subf a m; u = divf c {n}; w = addf u 0.00001; r = rsqrt w; x = mulf v r; y = mulf x d; addf y e",
    )  # fmt: skip
    return name


def transformer(n: int = 12, heads: int = 2, d: int = 8, wide: int = 40, *, gelu: bool = True, causal: bool = False) -> str:
    """Attention of each head, the layer norm of its sum with the input, two products and an activation, and the same again."""
    width = heads * d
    p = Written("layer", x=f"{n}x{width}xf32")
    q, k, v = (by_heads(p, f"{name}_h", projected(p, name, "x", width), heads) for name in "qkv")
    attention(p, "o", q, k, v, causal=causal)
    p.op("o_t", f"{n}x{heads}x{d}xf32", "linalg.transpose", "o", None, more=" permutation = [1, 0, 2]")
    kinds = f"tensor<{n}x{heads}x{d}xf32> into tensor<{n}x{width}xf32>"
    p.line("o_x", f"{n}x{width}xf32", f"tensor.collapse_shape %o_t [[0], [1, 2]] : {kinds}")
    projected(p, "out", "o_x", width)
    p.each("r1", f"{n}x{width}xf32", "i, j", "out[i, j]; x[i, j]", "addf a b")
    layer_norm(p, "n1", "r1")
    projected(p, "up", "n1", wide)
    relu, erf = "maximumf a 0.0", "s = mulf a 0.70710678; e = erf s; f = addf e 1.0; h = mulf a 0.5; mulf h f"
    p.each("act", f"{n}x{wide}xf32", "i, j", "up[i, j]", erf if gelu else relu)
    projected(p, "down", "act", width)
    p.each("r2", f"{n}x{width}xf32", "i, j", "down[i, j]; n1[i, j]", "addf a b")
    layer_norm(p, "n2", "r2")
    return p.text("n2")


LAYERS = {
    "GELU": lambda: transformer(),
    "ReLU, causal": lambda: transformer(gelu=False, causal=True),
    "three heads": lambda: transformer(20, 3, 16, 24),
}
