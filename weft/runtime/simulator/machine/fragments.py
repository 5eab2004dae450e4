"""Collective operations of a warp on fragments: matrices loaded by rows, products of tiles.

Vectors are arrays (threads, blocks, registers, elements); the layouts are in
`hardware/ampere/fragments.py`.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ....interpreter.hardware.ampere.fragments import NUMBERS, TF32_BITS, TileProduct, dealt
from ....interpreter.hardware.limits import WARP
from .lanes import Lane, Lanes

_TF32 = np.uint32(-TF32_BITS)
"""The last bit of a tf32, as one of an f32."""


def deal(lanes: Lanes, rows: Lane, count: int, transposed: bool) -> np.ndarray:
    """`nvgpu.ldmatrix`: the fragments of `count` matrices, from the rows that lanes have read."""
    shared = _by_lane(lanes, rows)  # warps, rows, blocks, 8|16 bytes
    where = dealt(shared.shape[-1] // 4, count, transposed).table("lane", "register", "element")
    return _to_lanes(lanes, shared.transpose(0, 2, 1, 3)[:, :, where["row"], where["column"]])


def multiply(lanes: Lanes, a: Lane, b: Lane, c: Lane, product: TileProduct) -> np.ndarray:
    """`nvgpu.mma.sync`: a lane's part of A B + C."""
    shapes = (product.m, product.k), (product.k, product.n)
    *where, to = _where(product)
    lhs, rhs = (
        np.empty((-(-lanes.nt // WARP), lanes.nb, *shape), v.dtype) for shape, v in zip(shapes, (a, b), strict=True)
    )
    for matrix, held, at in ((lhs, a, where[0]), (rhs, b, where[1])):
        matrix[:, :, at["row"], at["column"]] = _by_lane(lanes, held).swapaxes(1, 2)
    total = multiplied(lhs, rhs, product)
    return added(c, _to_lanes(lanes, total[:, :, to["row"], to["column"]]))


@cache
def _where(product: TileProduct) -> list[dict[str, np.ndarray]]:
    return [held.table("lane", "register", "element") for held in product.fragments]


def multiplied(a: np.ndarray, b: np.ndarray, product: TileProduct) -> np.ndarray:
    """A B: exact products, summed in f32, or in f64 if the accumulator is f16 or an integer. A GPU
    may sum in another order."""
    wide = np.float32 if product.sum == "f32" else np.float64
    if NUMBERS[product.kind].rounds:
        a, b = to_tf32(a), to_tf32(b)
    return a.astype(wide) @ b.astype(wide)


def added(before: np.ndarray, total: np.ndarray) -> np.ndarray:
    """C + A B, rounded once; integers wrap."""
    if before.dtype.kind == "i":
        return before + total.astype(before.dtype)
    return (before.astype(total.dtype) + total).astype(before.dtype)


def to_tf32(x: np.ndarray) -> np.ndarray:
    """The values rounded to tf32, to nearest, ties away from zero; as f32."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    rounded = (bits + _TF32 // 2) & ~(_TF32 - 1)
    return np.where(np.isfinite(x), rounded.view(np.float32), x)


def _by_lane(lanes: Lanes, value: Lane) -> np.ndarray:
    """The array as (warps, 32, blocks, …), in the order of thread ids. Lanes that do not exist hold
    zeros."""
    value = np.asarray(value)
    full = np.broadcast_to(value, (*lanes.shape, *value.shape[2:]))
    out = np.zeros((-(-lanes.nt // WARP) * WARP, *full.shape[1:]), full.dtype)
    out[lanes.local] = full
    return out.reshape(-1, WARP, *full.shape[1:])


def _to_lanes(lanes: Lanes, given: np.ndarray) -> np.ndarray:
    """Each thread's fragment from (warps, blocks, 32, registers, elements), in the order of the
    lanes."""
    return given.swapaxes(1, 2).reshape(-1, given.shape[1], *given.shape[3:])[lanes.local]
