"""Indices that are taken apart by division (`affine.delinearize_index`), made cheap in loops: hoisted, or carried as counters.

`k → kh, kw, c` of an implicit GEMM would be divided anew in every step of the loop over k. But a step adds a constant to k, and so
to its digits, with carries: `c += 16; if (c >= 64) { c -= 64; kw += 1; … }`. And `m → n, oh, ow` does not change in that loop.

Source: strength reduction of induction variables (Cocke, Kennedy 1977), of mixed-radix digits instead of products; CUTLASS does the
same by hand in its `implicit_gemm` iterators (`advance`).
"""

from .carrying import carry_digits
from .linear import split_sums
from .unrolling import unroll_divisions

__all__ = ["carry_digits", "split_sums", "unroll_divisions"]
