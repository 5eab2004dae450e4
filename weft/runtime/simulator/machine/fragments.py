"""What the lanes of a warp deal out to each other: matrices read by rows, and products of tiles that they hold together.

Vectors are (threads, blocks, registers, elements). Of 32 threads in a row, lane 4*g + t is taken apart into g and t, and axes are
exchanged: `hardware/ampere/fragments.py` says whose element is whose.
"""

from __future__ import annotations

import numpy as np

from ....interpreter.hardware.ampere.fragments import TF32_BITS, TileProduct
from ....interpreter.hardware.limits import WARP
from .lanes import Lane, Lanes

_TF32 = np.uint32(-TF32_BITS)
"""The last bit of a tf32, as one of an f32."""


def deal(lanes: Lanes, rows: Lane, count: int, transposed: bool) -> np.ndarray:
    """`nvgpu.ldmatrix`: the elements that each lane gets of `count` matrices, of the rows that lanes have read."""
    shared = _by_lane(lanes, rows)  # w g t blocks 8|16 bytes
    warps, blocks, length = shared.shape[0], lanes.nb, shared.shape[-1]
    given = shared.reshape(warps, 4, 8, blocks, length)[:, :count]  # warp, matrix, row, block, column
    each = length // 4
    if transposed:  # rows are columns: 2*t + j, g
        given = given.reshape(warps, count, 4, each, blocks, 8).transpose(0, 5, 2, 4, 1, 3)
    else:
        given = given.reshape(warps, count, 8, blocks, 4, each).transpose(0, 2, 4, 3, 1, 5)
    return _to_lanes(lanes, given)


def multiply(lanes: Lanes, a: Lane, b: Lane, c: Lane, product: TileProduct) -> np.ndarray:
    """`nvgpu.mma.sync`: a lane's part of A B + C.

    Each product is exact. The sum along k is one in the accumulator's type, or in f64 where that is f16 or an integer, and then
    rounded once; C is added last. A GPU adds in an order of its own.
    """
    high, each = product.m // 8, product.each
    wide = np.float32 if product.sum == "f32" else np.float64
    lhs, rhs, acc = (_by_lane(lanes, v) for v in (a, b, c))
    if product.kind == "tf32":
        lhs, rhs = to_tf32(lhs), to_tf32(rhs)
    warps, blocks = lhs.shape[0], lanes.nb
    lhs = lhs.reshape(warps, 8, 4, blocks, -1, high, each).transpose(0, 3, 5, 1, 4, 2, 6)  # … high g | high t each
    rhs = rhs.reshape(warps, 8, 4, blocks, -1, each).transpose(0, 3, 4, 2, 5, 1)
    lhs = lhs.astype(wide).reshape(warps, blocks, product.m, product.k)
    rhs = rhs.astype(wide).reshape(warps, blocks, product.k, product.n)
    total = (lhs @ rhs).reshape(warps, blocks, high, 8, 4, 2).transpose(0, 3, 4, 1, 2, 5)
    if product.sum == "i32":
        return _to_lanes(lanes, acc.reshape(total.shape) + total.astype(np.int32))
    return _to_lanes(lanes, (acc.reshape(total.shape).astype(wide) + total).astype(acc.dtype))


def to_tf32(x: np.ndarray) -> np.ndarray:
    """To nearest, ties away from zero, as f32."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    rounded = (bits + _TF32 // 2) & ~(_TF32 - 1)
    return np.where(np.isfinite(x), rounded.view(np.float32), x)


def _by_lane(lanes: Lanes, value: Lane) -> np.ndarray:
    """(warps, 32, blocks, …) in the order of thread ids; lanes that are not there hold zeros."""
    value = np.asarray(value)
    full = np.broadcast_to(value, (*lanes.shape, *value.shape[2:]))
    out = np.zeros((-(-lanes.nt // WARP) * WARP, *full.shape[1:]), full.dtype)
    out[lanes.local] = full
    return out.reshape(-1, WARP, *full.shape[1:])


def _to_lanes(lanes: Lanes, dealt: np.ndarray) -> np.ndarray:
    """Of (warps, 8, 4, blocks, registers, elements) what each thread has, in the order of the lanes."""
    return dealt.reshape(-1, *dealt.shape[3:])[lanes.local]
