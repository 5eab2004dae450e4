"""Binds the arrays of a launch to buffers of the simulation, with windows, aliases and names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from ...dsl.diagnostics import fail
from ...interpreter.hardware.ampere.copies import is_token
from ...interpreter.hardware.hopper.tensor_maps import window_of_pixels
from ...interpreter.hardware.hopper.warpgroups import accumulator, of_thread
from ...interpreter.ir.mlir import ir
from ..form.group_form import expected_box
from ..form.kernel_form import refuse, shape_of
from ..plan.dtypes import NUMPY, windowed
from .machine.memory import Global, MemoryWindow
from .roles.boxes import BoxShape, TensorBoxes


@dataclass
class ArgumentType:
    """The type of a kernel argument. `shape` is None for a scalar; a None inside `shape` or
    `strides` is a dynamic number.

    `strides`: in elements; empty: row-major for any sizes; None: any strides.

    `root`: the variable of its buffer in the generated code; `changes`: the kernel may write it;
    `boxes`: for a tensor map, its box; the map replaces the tensor from which it was made.
    """

    name: str
    dtype: np.dtype
    shape: tuple[int | None, ...] | None
    root: str = ""
    changes: bool = False
    boxes: BoxShape | None = None
    strides: tuple[int | None, ...] | None = None


def bind(
    parameters: Sequence[ArgumentType],
    args: Sequence[Any],
    names: Sequence[str] | None,
    written: Sequence[np.ndarray | None] | None,
) -> tuple[list[Global], list[Any]]:
    """The buffers of a launch, and the values for the parameters of the generated function.

    Arguments that are windows into one array share its buffer. Raises W0752 and W0754.
    """
    if len(args) != len(parameters):
        raise fail("W0752", f"the kernel takes {len(parameters)} arguments, not {len(args)}")
    memories: list[Global] = []
    values: list[Any] = []
    called = names or [parameter.name for parameter in parameters]
    for parameter, value, mask, name in zip(parameters, args, written or [None] * len(args), called, strict=True):
        if parameter.shape is None:
            values.append(_scalar(value, parameter, name))
            continue
        _fits(value, parameter, name)
        memory, offset = _place(memories, value, mask, name)
        memory.changes |= parameter.changes
        memory.windows.append(MemoryWindow(name, offset, value.shape, _strides(value)))
        if parameter.boxes is None:
            values += [memory, offset, *value.shape, *_strides(value)]
        else:
            values.append(TensorBoxes(parameter.boxes, memory, offset, value.shape, _strides(value)))
    return memories, values


def _place(memories: list[Global], array: np.ndarray, mask: np.ndarray | None, name: str) -> tuple[Global, int]:
    """The memory that holds the array, which is added to `memories` if it is new, and the offset of
    the array's first element."""
    flat = _flatten(_owner(array))
    low, high = byte_bounds(flat)
    for memory in memories:
        start, end = byte_bounds(memory.data)
        if low < end and start < high:
            if memory.dtype != array.dtype or not start <= low <= high <= end or (low - start) % flat.itemsize:
                raise fail("W0754", f"`{name}` and `{memory.name}` overlap, with different types or bounds")
            return memory, (array.ctypes.data - start) // array.itemsize
    memories.append(Global([], flat, None if mask is None else _flags(mask, array, flat, name)))
    return memories[-1], (array.ctypes.data - low) // array.itemsize


def _flags(mask: np.ndarray, array: np.ndarray, flat: np.ndarray, name: str) -> np.ndarray:
    """The mask of written elements for the whole memory of an array. `mask` must be laid out like
    the array."""
    found = _flatten(_owner(mask))
    offset = (mask.ctypes.data - found.ctypes.data, (array.ctypes.data - flat.ctypes.data) // array.itemsize)
    if mask.dtype != np.bool_ or mask.shape != array.shape or found.size != flat.size or offset[0] != offset[1]:
        raise fail("W0752", f"the mask of written elements of `{name}` has another layout than the array")
    return found


def _owner(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory of this array, if it is contiguous and of the same type; else
    this array."""
    found, base = array, array.base
    while base is not None:
        if isinstance(base, np.ndarray) and base.dtype == array.dtype and base.flags.c_contiguous:
            found = base
        base = getattr(base, "base", None)
    return found


def _flatten(array: np.ndarray) -> np.ndarray:
    """The memory between the lowest and the highest element of an array, as a flat array."""
    if array.flags.c_contiguous:
        return array.reshape(-1)
    array = np.flip(array, tuple(axis for axis, stride in enumerate(array.strides) if stride < 0))
    reach = sum((n - 1) * s for n, s in zip(array.shape, _strides(array), strict=True))
    span = reach + 1 if array.size else 0
    return windowed(array, (span,), (array.itemsize,))


def _strides(array: np.ndarray) -> tuple[int, ...]:
    """The strides of an array, in elements."""
    return tuple(stride // array.itemsize for stride in array.strides)


def _fits(value: Any, parameter: ArgumentType, name: str) -> None:
    if not isinstance(value, np.ndarray):
        raise fail("W0752", f"`{name}` is a memref: it wants an array, not {type(value).__name__}")
    if value.dtype != parameter.dtype:
        raise fail("W0752", f"`{name}` has elements of type {parameter.dtype}, not {value.dtype}")
    wanted = parameter.shape or ()
    if len(wanted) != value.ndim or any(w not in (None, n) for w, n in zip(wanted, value.shape, strict=True)):
        shown = " x ".join("?" if n is None else str(n) for n in wanted)
        raise fail("W0752", f"`{name}` has shape {shown or '()'}, not {' x '.join(map(str, value.shape)) or '()'}")
    if any(stride % value.itemsize for stride in value.strides):
        raise fail("W0752", f"`{name}` has strides {value.strides}, which are not whole elements")
    known = (
        parameter.strides
        if parameter.strides is None or parameter.strides
        else MemoryWindow.whole(name, value.shape).strides
    )
    axes = zip(value.shape, _strides(value), known or _strides(value), strict=True)
    if value.size and any(size != 1 and wanted not in (None, stride) for size, stride, wanted in axes):
        shown = ", ".join("?" if n is None else str(n) for n in known or ())
        raise fail("W0752", f"`{name}` has strides [{shown}] in elements, not {list(_strides(value))}")


def _scalar(value: Any, parameter: ArgumentType, name: str) -> Any:
    """A scalar argument in the form in which generated code holds uniform values."""
    if isinstance(value, np.ndarray) and value.ndim:
        raise fail("W0752", f"`{name}` is a scalar: it wants a number, not an array")
    if parameter.dtype == np.int64:
        return int(value)
    return bool(value) if parameter.dtype == np.bool_ else np.asarray(value).astype(parameter.dtype)[()]


INT64 = np.dtype(np.int64)
BOOL = np.dtype(np.bool_)


def place(op: ir.Operation | ir.OpView) -> str:
    """`file:line:column`; empty for an op without location."""
    text = str(op.operation.location)
    found = re.search(r'"([^"]*)":(\d+):(\d+)', text)
    return f"{found[1]}:{found[2]}:{found[3]}" if found else ""


def element_dtype(kind: ir.Type, op: ir.Operation | ir.OpView) -> np.dtype:
    """The NumPy type of a scalar type. Raises W0751."""
    found = NUMPY.get(str(kind))
    if found is None:
        known = "`, `".join(NUMPY)
        raise refuse(
            "W0751",
            f"the simulator has no numbers of type `{kind}`",
            op,
            hint=f"write it with one of its types: `{known}`",
        )
    return found


def value_type(kind: ir.Type, op: ir.Operation | ir.OpView) -> tuple[np.dtype, tuple[int, ...]]:
    """Element type and vector shape (empty for a scalar)."""
    if is_token(kind):
        return INT64, ()
    if (sums := accumulator(kind)) is not None:
        return element_dtype(sums.element, op), of_thread(sums)
    element, shape = shape_of(kind, op, "W0751")
    return element_dtype(element, op), shape or ()


def box_shape(given: ir.Value, op: ir.Operation) -> BoxShape:
    """The box of an argument that is a tensor map."""
    box = expected_box(given, op, "W0751")
    fill = float("nan") if box.fill == "nan" else 0
    return BoxShape(box.box, element_dtype(box.element, op), box.swizzle, box.alignment, fill, window_of_pixels(given))
