"""The convolutions with an array library: the matrix of the image's windows (im2col), times the
filters.

The windows are a view of the padded image. The product needs them as a matrix, so that a few images
are processed at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .geometry import Convolution

MOST = 2**26
"""The maximal number of elements of the matrix of windows; a single image may exceed it."""


def nhwc(xp: Any, arrays: Mapping[str, Any], rounded: int = 0, **values: Any) -> Any:
    """Y[n, y, x, k] from X[n, h, w, c] and W[r, s, c, k], with `rounded` ignored: the caller rounds
    the result."""
    return _nhwc(xp, arrays["X"], arrays["W"], Convolution(**values))


def nchw(xp: Any, arrays: Mapping[str, Any], **values: Any) -> Any:
    """Y[n, k, y, x] from X[n, c, h, w] and W[k, c, r, s]."""
    sizes = Convolution(**values)
    images, filters = _wide(xp, arrays["X"], sizes), _wide(xp, arrays["W"], sizes).reshape(sizes.k, -1)
    made = xp.empty((sizes.n, sizes.k, *sizes.out), filters.dtype)
    for some in _chunks(sizes):
        windows = _windows(xp, images[some], sizes, rows=2).transpose(0, 1, 4, 5, 2, 3)  # n, c, r, s, y, x
        columns = windows.reshape(len(windows), filters.shape[1], -1)
        made[some] = xp.matmul(filters, columns).reshape(made[some].shape)
    return made


def bias_relu(xp: Any, arrays: Mapping[str, Any], residual: int, **values: Any) -> Any:
    """max(Y + bias[k], 0); if there is a `residual`, it is added before the maximum."""
    made = _nhwc(xp, arrays["X"], arrays["W"], Convolution(**values))
    made += arrays["bias"]
    if residual:
        made += arrays["residual"]
    return xp.maximum(made, 0, out=made)


def _nhwc(xp: Any, images: Any, filters: Any, sizes: Convolution) -> Any:
    images, filters = _wide(xp, images, sizes), _wide(xp, filters, sizes).reshape(-1, sizes.k)
    made = xp.empty((sizes.n, *sizes.out, sizes.k), filters.dtype)
    for some in _chunks(sizes):
        windows = _windows(xp, images[some], sizes, rows=1).transpose(0, 1, 2, 4, 5, 3)  # n, y, x, r, s, c
        made[some] = xp.matmul(windows.reshape(-1, len(filters)), filters).reshape(made[some].shape)
    return made


def _wide(xp: Any, array: Any, sizes: Convolution) -> Any:
    """The array in the accumulator's type: half precision accumulates in f32."""
    return array.astype(xp.float64 if sizes.accumulator == "f64" else xp.float32, copy=False)


def _chunks(sizes: Convolution) -> list[slice]:
    """The images of each step."""
    elements = sizes.out[0] * sizes.out[1] * sizes.r * sizes.s * sizes.c
    step = max(1, MOST // elements)
    return [slice(first, first + step) for first in range(0, sizes.n, step)]


def _windows(xp: Any, images: Any, sizes: Convolution, *, rows: int) -> Any:
    """The window of every element of the result, as a view: dimensions `rows` and `rows` + 1 (the
    image's rows and columns) become the result's; the dimensions of the taps come last."""
    edge = [(0, 0)] * 4
    edge[rows] = edge[rows + 1] = (sizes.pad, sizes.pad)
    padded = xp.pad(images, edge) if sizes.pad else xp.ascontiguousarray(images)
    shape, strides = list(padded.shape), list(padded.strides)
    taps = [strides[rows] * sizes.dilation, strides[rows + 1] * sizes.dilation]
    shape[rows : rows + 2] = sizes.out
    strides[rows : rows + 2] = [strides[rows] * sizes.stride, strides[rows + 1] * sizes.stride]
    return xp.lib.stride_tricks.as_strided(padded, (*shape, sizes.r, sizes.s), (*strides, *taps))
