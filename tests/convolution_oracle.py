"""Convolutions with plain loops over the taps, in float64: no MLIR, no windows, no product of matrices. And random sizes."""

from __future__ import annotations

import random
from collections.abc import Mapping

import numpy as np


def convolved(arrays: Mapping[str, np.ndarray], *, first: bool, stride: int, pad: int, dilation: int) -> np.ndarray:
    """`W` over `X`. `first`: channels first, X[n, c, h, w] and W[k, c, r, s]; else X[n, h, w, c] and W[r, s, c, k]."""
    images, filters = arrays["X"].astype(np.float64), arrays["W"].astype(np.float64)
    if first:
        images, filters = images.transpose(0, 2, 3, 1), filters.transpose(2, 3, 1, 0)
    n, h, w, _ = images.shape
    r, s, _, k = filters.shape
    rows, columns = (len(range(0, size + 2 * pad - dilation * (taps - 1), stride)) for size, taps in ((h, r), (w, s)))
    made = np.zeros((n, rows, columns, k))
    for y in range(rows):
        for x in range(columns):
            for i in range(r):
                for j in range(s):
                    row, column = y * stride + i * dilation - pad, x * stride + j * dilation - pad
                    if 0 <= row < h and 0 <= column < w:
                        made[:, y, x] += np.einsum("nc,ck->nk", images[:, row, column], filters[i, j])
    return made.transpose(0, 3, 1, 2) if first else made


def bias_relu(made: np.ndarray, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """What follows a convolution with channels last."""
    made = made + arrays["bias"].astype(np.float64)
    if "residual" in arrays:
        made = made + arrays["residual"].astype(np.float64)
    return np.where(made > 0, made, 0)


def random_sizes(seed: int) -> dict[str, int]:
    """Sizes of a small convolution whose filter stays within the padded image: the values of the payload's parameters."""
    choose = random.Random(seed)
    while True:
        sizes = {
            "n": choose.randint(1, 3),
            "c": choose.choice((1, 1, 2, 3, 4, 5, 8, 16)),
            "h": choose.randint(1, 12),
            "w": choose.randint(1, 12),
            "k": choose.choice((1, 2, 3, 7, 8, 16)),
            "r": choose.randint(1, 5),
            "s": choose.randint(1, 5),
            "stride": choose.randint(1, 3),
            "pad": choose.randint(0, 3),
            "dilation": choose.randint(1, 3),
        }
        spans = [(sizes[taps] - 1) * sizes["dilation"] + 1 for taps in ("r", "s")]
        if all(span <= sizes[side] + 2 * sizes["pad"] for span, side in zip(spans, ("h", "w"), strict=True)):
            return sizes
