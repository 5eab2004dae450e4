"""Checks of the tensor maps in a plan."""

from __future__ import annotations

from collections.abc import Iterator

from ...interpreter.hardware.limits import MOST_BOX, MOST_RANK, PIECE
from .dtypes import is_float, itemsize
from .plan import Boxes, Buffer, Param, TensorMapOf

DTYPES = ("f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "i64", "i32", "i16", "i8")
SWIZZLES, FILLS, FETCHES = (0, 32, 64, 128), ("zero", "nan"), (0, 64, 128, 256)
MOST_SIZE, MOST_STRIDE = 1 << 32, 1 << 40
"""Most elements along a dimension of a tensor; most bytes of a stride."""

Fault = tuple[str, str]
"""A place, and the fault."""


def map_faults(arg: TensorMapOf, param: Param, buffer: Buffer | None) -> Iterator[tuple[str, str, str, str | None]]:
    """Faults of a tensor map of a buffer as a parameter's argument: code, place, message, way out."""
    if buffer is None:
        return
    if param.boxes != arg.layout or param.dtype != buffer.dtype:
        yield "W0705", "layout", f"a tensor map of `{buffer.name}` of {buffer.dtype}, {arg.layout}, for {param}", None
        return
    for part, message in box_faults(arg.layout, buffer.dtype):
        yield "W0703", f"layout.{part}", message, None
    for part, message in tensor_faults(arg, buffer.dtype):
        yield "W0748", f"tensor.{part}", message, "pad the array, or schedule it without `tma`"


def box_faults(boxes: Boxes, dtype: str) -> Iterator[Fault]:
    """Faults of the boxes of a tensor of that element type."""
    if dtype not in DTYPES:
        yield "box", f"there is no tensor map of {dtype}; there are those of {', '.join(DTYPES)}"
        return
    if boxes.window is not None:
        if len(boxes.box) != 2 or not 1 <= boxes.box[1] <= MOST_BOX:
            yield "box", f"{list(boxes.box)}: pixels, and 1 to {MOST_BOX} channels of each"
            return
        if (wrong := boxes.window.wrong(boxes.box[0])) is not None:
            yield "window", wrong
            return
    elif not 1 <= len(boxes.box) <= MOST_RANK or not all(1 <= n <= MOST_BOX for n in boxes.box):
        yield "box", f"{list(boxes.box)}: a box has 1 to {MOST_RANK} dimensions, of 1 to {MOST_BOX} elements each"
        return
    row = boxes.box[-1] * itemsize(dtype)
    if row % PIECE:
        yield "box", f"its rows have {row} bytes, which are not a multiple of {PIECE}"
    if boxes.swizzle not in SWIZZLES:
        yield "swizzle", f"{boxes.swizzle} is none of {', '.join(map(str, SWIZZLES))}"
    elif boxes.swizzle and row > boxes.swizzle:
        yield "swizzle", f"a box has rows of {row} bytes, which are more than its swizzle of {boxes.swizzle}"
    if boxes.fill not in FILLS or (boxes.fill == "nan" and (not is_float(dtype) or itemsize(dtype) == 1)):
        yield (
            "fill",
            f"outside of a tensor of {dtype} no `{boxes.fill}` is read, but `zero`, or `nan` for floats of 16 bits or more",
        )
    if boxes.rounded is not None and (boxes.rounded, dtype) != ("tf32", "f32"):
        yield "rounded", f"a copy does not round {dtype} to `{boxes.rounded}`, only f32 to `tf32`"
    if boxes.fetch not in FETCHES:
        yield "fetch", f"{boxes.fetch} is none of {', '.join(map(str, FETCHES))}"


def tensor_faults(arg: TensorMapOf, dtype: str) -> Iterator[Fault]:
    """Faults of the tensor, as far as its numbers are known."""
    tensor, size, window = arg.tensor, itemsize(dtype), arg.layout.window
    if window is not None and window.wrong(1) is not None:
        return  # already reported
    rank = len(arg.layout.box) if window is None else window.rank
    if len(tensor.shape) != rank:
        yield (
            "shape",
            f"{len(tensor.shape)} dimensions, and boxes of {rank}"
            if window is None
            else (f"{len(tensor.shape)} dimensions, and a window of images with {rank}"),
        )
        return
    for axis, n in enumerate(() if window is None else tensor.shape[1:-1]):
        if window is not None and isinstance(n, int) and not window.count(axis, n):
            yield f"shape[{axis + 1}]", f"`{tensor.buffer}` has {n} elements there, and no pixel lies in its window"
    if isinstance(tensor.offset, int) and (begin := tensor.offset * size) % PIECE:
        yield "offset", f"it begins {begin} bytes into `{tensor.buffer}`, which is not a multiple of {PIECE}"
    for axis, n in enumerate(tensor.shape):
        if isinstance(n, int) and not 1 <= n <= MOST_SIZE:
            yield f"shape[{axis}]", f"`{tensor.buffer}` has {n} elements there, and a tensor map has 1 to {MOST_SIZE}"
    for axis, stride in enumerate(tensor.strides):
        if not isinstance(stride, int):
            continue
        inner, apart = axis == rank - 1, stride * size
        if inner and stride != 1:
            yield f"strides[{axis}]", f"its elements are {stride} apart, and those of a tensor map lie side by side"
        elif not inner and (apart % PIECE or not 0 < apart < MOST_STRIDE):
            yield (
                f"strides[{axis}]",
                f"`{tensor.buffer}` has rows {apart} bytes apart, which is not a multiple of {PIECE}",
            )
