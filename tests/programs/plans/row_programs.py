"""Rows: RMS norm with rotary embedding, and products of blocks with scales, in the form in which they are usually written."""

from __future__ import annotations

from written_payloads import Written


def rotary(rows: int = 13, half: int = 32, *, named: bool = False) -> str:
    """x / √(mean x² + ε) · w, then each half of the row turned into the other by tables of cosines and sines. `named`: the halves
    are an axis of their own, and are read at 0 and 1."""
    n = 2 * half
    p = Written("rotary", x=f"{rows}x{n}xf32", w=f"{n}xf32", cos=f"{rows}x{half}xf32", sin=f"{rows}x{half}xf32")
    p.each("s", f"{rows}xf32", "i, j*", "x[i, j]", "q = mulf a a; addf q o", start=0.0)
    scaled = f"m = divf b {n}.0; e = addf m 0.00001; r = rsqrt e; v = mulf a r; mulf v c"
    p.each("y", f"{rows}x{n}xf32", "i, j", "x[i, j]; s[i]; w[j]", scaled)
    whole, halves = f"{rows}x{n}xf32", f"{rows}x2x{half}xf32"
    reads = f"y[i, {half} * p + j]; y[i, -{half} * p + j + {half}]"
    turned = "k = mulf a c; t = mulf b d; f = subf k t; g = addf k t; select l f g"
    if named:
        text = f"tensor.expand_shape %y [[0], [1, 2]] output_shape [{rows}, 2, {half}] : tensor<{whole}> into tensor<{halves}>"
        p.line("h", halves, text)
        reads, turned = "h[i, 0, j]; h[i, 1, j]", "m = select l a b; q = select l b a; k = mulf m c; t = mulf q d; " + turned[28:]
    p.each("z", halves, "i, p, j", f"{reads}; cos[i, j]; sin[i, j]", f"u = index 1; l = cmpi eq u 0; {turned}")
    p.line("r", whole, f"tensor.collapse_shape %z [[0], [1, 2]] : tensor<{halves}> into tensor<{whole}>")
    return p.text("r")


def scaled_blocks(m: int = 40, n: int = 48, k: int = 64, block: int = 16) -> str:
    """Σ over k of a[m, k / block] · b[k / block, n] · A[m, k] · B[k, n]."""
    p = Written(
        "scaled", A=f"{m}x{k}xf32", B=f"{k}x{n}xf32", sa=f"{m}x{k // block}xf32", sb=f"{k // block}x{n}xf32"
    )
    reads = f"A[i, k]; B[k, j]; sa[i, k floordiv {block}]; sb[k floordiv {block}, j]"
    p.each("C", f"{m}x{n}xf32", "i, j, k*", reads, "p = mulf a b; s = mulf c d; t = mulf p s; addf o t", start=0.0)
    return p.text("C")
