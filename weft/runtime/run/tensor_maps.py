"""Tensor maps, made by CUDA's driver: 128 bytes that a kernel takes by value. Neither CuPy nor a header is needed.

Source: CUDA Driver API, `cuTensorMapEncodeTiled`, `cuTensorMapEncodeIm2col`.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache

import numpy as np

from ...dsl.diagnostics import fail
from ...interpreter.hardware.limits import PIECE
from ..devices.device import MappedView
from ..plan.dtypes import itemsize

BYTES, ALIGNMENT = 128, 64
"""Of a tensor map."""
WHOLE = np.dtype((np.void, BYTES))
"""A map as one element: CuPy passes no array of several by value."""
DTYPES = {"i8": 0, "f8E4M3FN": 0, "f8E5M2": 0, "i16": 1, "i32": 3, "i64": 5, "f16": 6, "f32": 7, "f64": 8, "bf16": 9, "tf32": 11}
"""`CUtensorMapDataType`; the accelerator moves bytes, and what it needs to know of a type is its size, and whether it has a NaN.
What it copies as tf32 it rounds, where products of warp groups would cut off digits (CUTLASS, `sm90_mma_tma_gmma_ss`)."""
SWIZZLES, FETCHES, FILLS = {0: 0, 32: 1, 64: 2, 128: 3}, {0: 0, 64: 1, 128: 2, 256: 3}, {"zero": 0, "nan": 1}
NOT_INTERLEAVED = 0


@cache
def driver() -> ctypes.CDLL:
    """CUDA's driver. Raises W0720."""
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        return ctypes.CDLL(name)
    except OSError as error:
        raise fail("W0720", f"CUDA's driver cannot be loaded: {error}") from error


def encoded(arg: MappedView, address: int) -> np.ndarray:
    """The tensor map, where the memory begins at this address. W0748 where the tensor is not aligned; W0723 where the driver
    refuses. What else it asks for was checked with the plan."""
    tensor, layout = arg.tensor, arg.layout
    size, rank = itemsize(tensor.dtype), len(tensor.shape)
    start = address + tensor.offset * size
    if start % PIECE:
        message = f"`{tensor.name}` begins at {start:#x}, which is not a multiple of {PIECE}: its tiles are copied by a tensor map"
        raise fail("W0748", message, "pass a copy: it begins where memory was allocated")
    room = np.zeros((BYTES + ALIGNMENT) // 8, np.uint64)
    first = -room.ctypes.data % ALIGNMENT // 8
    made = room[first : first + BYTES // 8]
    sizes = (ctypes.c_uint64 * rank)(*reversed(tensor.shape))
    strides = (ctypes.c_uint64 * rank)(*(n * size for n in reversed(tensor.strides[:-1])))
    window = layout.window
    if window is None:
        encode, boxes = driver().cuTensorMapEncodeTiled, [(ctypes.c_uint32 * rank)(*reversed(layout.box))]
    else:
        corners = [(ctypes.c_int * (rank - 2))(*reversed(corner)) for corner in (window.lower, window.upper)]
        encode, boxes = driver().cuTensorMapEncodeIm2col, [*corners, *(ctypes.c_uint32(n) for n in reversed(layout.box))]
    steps = (ctypes.c_uint32 * rank)(1, *([1] * (rank - 2) if window is None else reversed(window.steps)), *[1] * (rank > 1))
    status = encode(
        ctypes.c_void_p(made.ctypes.data), ctypes.c_int(DTYPES[layout.rounded or tensor.dtype]), ctypes.c_uint32(rank),
        ctypes.c_void_p(start), sizes, strides, *boxes, steps, ctypes.c_int(NOT_INTERLEAVED),
        ctypes.c_int(SWIZZLES[layout.swizzle]), ctypes.c_int(FETCHES[layout.fetch]), ctypes.c_int(FILLS[layout.fill]),
    )  # fmt: skip
    if status:
        shape = "x".join(map(str, tensor.shape))
        copied = f"boxes of {list(layout.box)}" if window is None else f"pixels by channels of {list(layout.box)} in {window}"
        what = f"{copied} of `{tensor.name}` ({shape} {tensor.dtype} at {start:#x})"
        raise fail("W0723", f"making a tensor map of {what}: CUDA's error {status}")
    return made


class PassedMap:
    """A tensor map as a kernel takes it, made anew where its memory has moved."""

    def __init__(self, arg: MappedView) -> None:
        self._arg = arg
        self._at: int | None = None

    @property
    def passed(self) -> np.ndarray:
        """The map, of the memory where it is now."""
        address = self._arg.tensor.memory.address
        if address != self._at:
            self._made = encoded(self._arg, address).view(WHOLE)
            self._at = address
        return self._made
