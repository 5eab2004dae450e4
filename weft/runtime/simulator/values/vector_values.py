"""Vectors as values: arrays with the axes (threads or 1, blocks or 1, the vector's own dimensions
…)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..machine.lanes import Lane, Lanes
from .numeric import typed


def broadcast(value: Lane, rank: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """A scalar, or a vector of that rank, as a vector of `shape`."""
    value = np.asarray(typed(value)).astype(dtype, copy=False)
    lead = value.shape[:2] if value.ndim >= 2 else (1, 1)
    own = value.shape[2:] if rank else ()
    return np.broadcast_to(value.reshape(lead + (1,) * (len(shape) - len(own)) + own), lead + shape)


def _lanes_first(value: Lane) -> np.ndarray:
    """A scalar value as an array that begins with the lanes' two dimensions."""
    value = np.asarray(typed(value))
    return value if value.ndim >= 2 else value.reshape(1, 1)


def gather(parts: Sequence[Lane], shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """The vector of these elements, in row-major order."""
    arrays = [_lanes_first(part) for part in parts]
    lead = np.broadcast_shapes(*(a.shape for a in arrays))
    out = np.empty((*lead, len(arrays)), dtype)
    for number, array in enumerate(arrays):
        out[..., number] = array
    return out.reshape(lead + shape)


def _select(vector: np.ndarray, position: tuple[Lane, ...], lanes: Lanes) -> tuple[np.ndarray, tuple[Any, ...]]:
    """The vector, broadcast to all lanes, and the index that selects a position that may differ
    between lanes."""
    rows = np.arange(lanes.nt)[:, None]
    columns = np.arange(lanes.nb)[None, :]
    full = np.broadcast_to(vector, lanes.shape + vector.shape[2:])
    places = []
    for axis, entry in enumerate(position):
        # An index outside the vector yields poison; it must only not stop the simulation.
        places.append(np.clip(np.broadcast_to(entry, lanes.shape), 0, vector.shape[2 + axis] - 1))
    return full, (rows, columns, *places)


def extract(vector: np.ndarray, position: tuple[Lane, ...], lanes: Lanes) -> Lane:
    full, index = _select(vector, position, lanes)
    return full[index]


def insert(value: Lane, rank: int, vector: np.ndarray, position: tuple[Lane, ...], lanes: Lanes) -> np.ndarray:
    value = _lanes_first(value)
    if all(not isinstance(entry, np.ndarray) for entry in position):
        own = vector.shape[2:]
        lead = np.broadcast_shapes(value.shape[:2], vector.shape[:2])
        out = np.array(np.broadcast_to(vector, lead + own))
        out[(slice(None), slice(None), *position)] = value
        return out
    full, index = _select(vector, position, lanes)
    out = np.array(full)
    out[index] = np.broadcast_to(value, lanes.shape + (value.shape[2:] if rank else ()))
    return out


def arrange(parts: Sequence[Lane], numbers: np.ndarray) -> Lane:
    """The elements with these numbers; elements are numbered in row-major order, over all parts."""
    arrays = [_lanes_first(part) for part in parts]
    lead = np.broadcast_shapes(*(a.shape[:2] for a in arrays))
    flat = [np.broadcast_to(a, lead + a.shape[2:]).reshape(*lead, -1) for a in arrays]
    return (flat[0] if len(flat) == 1 else np.concatenate(flat, axis=-1))[..., numbers]


def bitcast_elements(marked: np.ndarray, count: int) -> np.ndarray:
    """The elements that contain bits of marked elements, if a bitcast divides the last dimension of
    a vector into `count` wider or narrower elements."""
    size = marked.shape[-1]
    if count >= size:
        return np.repeat(marked, count // size, axis=-1)
    return np.asarray(marked.reshape(*marked.shape[:-1], count, size // count).any(axis=-1))


def reduce(combine: Callable[..., Any], vector: Any, start: Lane | None, axes: tuple[int, ...]) -> Lane:
    """Combines along the axes in row-major order."""
    kept = [axis for axis in range(vector.ndim) if axis not in axes]
    moved: Any = np.transpose(vector, (*kept, *axes)).reshape([vector.shape[a] for a in kept] + [-1])
    total = start
    for number in range(moved.shape[-1]):
        total = moved[..., number] if total is None else combine(total, moved[..., number])
    return total


def mask(limits: tuple[Lane, ...], shape: tuple[int, ...]) -> np.ndarray:
    """True for elements below the limit in every dimension; a vector of rank 0 is true if its only
    limit is positive."""
    if not shape:
        return _lanes_first(limits[0]) > 0
    out: Any = np.True_
    for axis, (limit, size) in enumerate(zip(limits, shape, strict=True)):
        limit = _lanes_first(limit)
        ramp = np.arange(size).reshape((-1,) + (1,) * (len(shape) - axis - 1))
        out = out & (ramp < limit.reshape(limit.shape + (1,) * len(shape)))
    return np.broadcast_to(out, out.shape[:2] + shape)
