"""Operations on a stream of a GPU, prepared for repeated runs: launches, copies and fills. CuPy is
passed in here, not imported."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from ...dsl.diagnostics import WeftError, fail
from ...interpreter.hardware.limits import PIECE
from ..cuda import copies_and_fills
from ..devices.device import Action, DeviceView, MappedView, Number, Passed, Stream, scalar_bits
from ..devices.report import Triple
from ..plan.dtypes import itemsize
from ..plan.plan import KernelEntry, Param

MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97
"""`cudaDevAttrMaxSharedMemoryPerBlockOptin` of the runtime API: the most shared memory of a block,
if its launch requests it."""


class CupyWork:
    """The part of `CupyDevice` that prepares work on a stream.

    A prepared action does only what each repetition requires: CuPy's own call.
    """

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self._errors = (cupy.cuda.runtime.CUDARuntimeError, cupy.cuda.driver.CUDADriverError)
        self._functions: dict[str, Any] = {}
        self._folding: dict[str, str] = {}
        """Texts of kernels for folded grids, which are compiled at their first launch."""
        self._dynamic: dict[str, int] = {}
        self._moves: dict[str, Any] = {}

    def module(self, text: str) -> Any:
        raise NotImplementedError

    def _function(self, module: Any, name: str) -> Any:
        """A `RawKernel`, loaded now: at the first launch, loading would wait for all streams, and
        break captures."""
        with self._failures(f"looking for the kernel `{name}`"):
            function = module.get_function(name)
            _ = function.num_regs  # reading an attribute loads it
        return function

    def launcher(
        self, kernel: KernelEntry, grid: Triple, block: Triple, shared: int, args: Sequence[Passed], stream: Stream
    ) -> Action:
        if kernel.name not in self._functions and kernel.name in self._folding:
            self._functions[kernel.name] = self._function(self.module(self._folding[kernel.name]), kernel.name)
        function = self._functions.get(kernel.name)
        if function is None:
            raise fail("W0723", f"the kernel `{kernel.name}` was not loaded")
        dynamic = kernel.dynamic_shared_bytes + shared
        values, moving = _parameters(args, kernel.text_params)
        what = f"launching `{kernel.name}`"
        if dynamic > self._dynamic[kernel.name]:
            with self._failures(what):
                function.max_dynamic_shared_size_bytes = dynamic  # above 48 KiB it must be raised first
            self._dynamic[kernel.name] = dynamic
        if not moving:
            given = tuple(values)
            return self._doing(what, lambda: function(grid, block, given, shared_mem=dynamic, stream=stream))

        def launch() -> None:
            for place, memory in moving:
                values[place] = memory.passed
            function(grid, block, tuple(values), shared_mem=dynamic, stream=stream)

        return self._doing(what, launch)

    def copier(self, target: DeviceView, source: DeviceView, stream: Stream) -> Action:
        what = f"copying `{source.name}` to `{target.name}`"
        count, width = source.count, itemsize(source.dtype)
        if not count:
            return _nothing
        if target.contiguous and source.contiguous:
            runtime, size = self._cupy.cuda.runtime, count * width
            kind, to = runtime.memcpyDeviceToDevice, stream.ptr
            return self._doing(what, lambda: runtime.memcpyAsync(_start(target), _start(source), size, kind, to))
        dimensions = copies_and_fills.extents(source.shape, target.strides, source.strides)
        return self._move("copy", width, (target, source), count, dimensions, stream, what)

    def filler(self, target: DeviceView, value: np.generic, stream: Stream) -> Action:
        what = f"filling `{target.name}`"
        count, width = target.count, itemsize(target.dtype)
        if not count:
            return _nothing
        raw = value.tobytes()
        if target.contiguous and len(set(raw)) == 1:
            runtime, byte, size = self._cupy.cuda.runtime, raw[0], count * width
            return self._doing(what, lambda: runtime.memsetAsync(_start(target), byte, size, stream.ptr))
        bits = np.frombuffer(raw, np.dtype(f"u{width}"))[0]
        dimensions = copies_and_fills.extents(target.shape, target.strides)
        return self._move("fill", width, (target, bits), count, dimensions, stream, what)

    def _move(
        self,
        move: copies_and_fills.Move,
        width: int,
        ends: tuple[DeviceView, DeviceView | np.generic],
        count: int,
        dimensions: Sequence[Sequence[int]],
        stream: Stream,
        what: str,
    ) -> Action:
        """A launch of the kernel that copies or fills elements of this width in bytes and with
        these dimensions."""
        name = copies_and_fills.move_name(move, width, len(dimensions))
        if name not in self._moves:
            module = self.module(copies_and_fills.move_text(move, width, len(dimensions)))
            self._moves[name] = self._function(module, name)
        numbers = tuple(copies_and_fills.numbers(count, dimensions))
        grid, block = (copies_and_fills.blocks(count), 1, 1), (copies_and_fills.THREADS, 1, 1)
        kernel = self._moves[name]

        def once() -> None:
            first = (np.uint64(_start(end)) if isinstance(end, DeviceView) else end for end in ends)
            kernel(grid, block, (*first, *numbers), shared_mem=0, stream=stream)

        return self._doing(what, once)

    def _doing(self, what: str, do: Callable[[], object]) -> Action:
        """An action that calls `do`, and reports its purpose if it fails."""
        errors, failed = self._errors, self._failed

        def once() -> None:
            try:
                do()
            except errors as error:
                raise failed(what, error) from error

        return once

    @contextmanager
    def _failures(self, what: str) -> Iterator[None]:
        """Converts CUDA's errors to diagnostics."""
        try:
            yield
        except self._errors as error:
            raise self._failed(what, error) from error

    @staticmethod
    def _failed(what: str, error: Exception) -> WeftError:
        return fail("W0723", f"{what}: {error}")


class Sized:
    """A CuPy memory pointer, and the number of bytes in use after it."""

    def __init__(self, pointer: Any, size: int) -> None:
        self.pointer = pointer
        self.size = size
        self.address: int = pointer.ptr


class Adopted:
    """Memory of the caller, at an address that may change between calls."""

    def __init__(self, address: int, size: int) -> None:
        self.address = address
        self.size = size

    @property
    def address(self) -> int:
        return int(self.passed)

    @address.setter
    def address(self, address: int) -> None:
        self.passed = np.uint64(address)
        """As a kernel takes it."""


def _nothing() -> None:
    """A copy of no elements: CUDA's graphs have no empty copies."""


def _start(view: DeviceView) -> int:
    """The current address of a view's first element."""
    return view.memory.address + view.offset * itemsize(view.dtype)


def _parameters(
    args: Sequence[Passed], params: Sequence[Param]
) -> tuple[list[np.generic | np.ndarray], list[tuple[int, Adopted | Number | PassedMap]]]:
    """The values that a launch passes, and the positions among them of values that may change
    between calls."""
    values: list[np.generic | np.ndarray] = []
    moving: list[tuple[int, Adopted | Number | PassedMap]] = []
    for arg, param in zip(args, params, strict=True):
        if isinstance(arg, MappedView):
            made = PassedMap(arg)
            if isinstance(arg.tensor.memory, Adopted):
                moving.append((len(values), made))
            values.append(made.passed)
            continue
        if isinstance(arg, Number):
            moving.append((len(values), arg))
            values.append(arg.passed)
            continue
        if isinstance(arg, DeviceView) and isinstance(arg.memory, Adopted):
            moving.append((len(values), arg.memory))
        values += parameters(arg, param)
    return values, moving


def parameters(arg: DeviceView | np.generic, param: Param) -> Iterator[np.generic]:
    """The values that a kernel takes for one argument, see `runtime/cuda/__init__.py`."""
    if not isinstance(arg, DeviceView):
        yield scalar_bits(arg)
        return
    yield np.uint64(arg.memory.address)
    yield from (np.int64(n) for n, fixed in zip(arg.shape, param.shape or (), strict=True) if fixed is None)
    yield from (np.int64(n) for n, fixed in zip(arg.strides, param.strides or (), strict=False) if fixed is None)
    if param.offset is None:
        yield np.int64(arg.offset)


BYTES, ALIGNMENT = 128, 64
"""Of a tensor map, in bytes."""
WHOLE = np.dtype((np.void, BYTES))
"""A tensor map as a single element: CuPy does not pass arrays of several elements by value."""
DTYPES = {
    "i8": 0,
    "f8E4M3FN": 0,
    "f8E5M2": 0,
    "i16": 1,
    "i32": 3,
    "i64": 5,
    "f16": 6,
    "f32": 7,
    "f64": 8,
    "bf16": 9,
    "tf32": 11,
}
"""`CUtensorMapDataType`. The accelerator moves bytes; of a type, only its size matters, and whether
it has a NaN. A copy as tf32 rounds, where products of warp groups would truncate (CUTLASS,
`sm90_mma_tma_gmma_ss`)."""
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
    """The encoded tensor map for memory that begins at this address. Raises W0748 for a misaligned
    tensor, W0723 if the driver refuses. Its other requirements were checked with the plan."""
    tensor, layout = arg.tensor, arg.layout
    size, rank = itemsize(tensor.dtype), len(tensor.shape)
    start = address + tensor.offset * size
    if start % PIECE:
        message = f"`{tensor.name}` begins at {start:#x}, which is not a multiple of {PIECE}: its tiles are copied by a tensor map"
        raise fail("W0748", message, "pass a copy, `x.copy()` or `x.clone()`: it begins where an allocation begins")
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
        encode, boxes = (
            driver().cuTensorMapEncodeIm2col,
            [*corners, *(ctypes.c_uint32(n) for n in reversed(layout.box))],
        )
    steps = (ctypes.c_uint32 * rank)(
        1, *([1] * (rank - 2) if window is None else reversed(window.steps)), *[1] * (rank > 1)
    )
    target, kind = ctypes.c_void_p(made.ctypes.data), ctypes.c_int(DTYPES[layout.rounded or tensor.dtype])
    ways = NOT_INTERLEAVED, SWIZZLES[layout.swizzle], FETCHES[layout.fetch], FILLS[layout.fill]
    places = ctypes.c_uint32(rank), ctypes.c_void_p(start), sizes, strides
    status = encode(target, kind, *places, *boxes, steps, *map(ctypes.c_int, ways))
    if status:
        shape = "x".join(map(str, tensor.shape))
        copied = (
            f"boxes of {list(layout.box)}"
            if window is None
            else f"pixels by channels of {list(layout.box)} in {window}"
        )
        what = f"{copied} of `{tensor.name}` ({shape} {tensor.dtype} at {start:#x})"
        raise fail("W0723", f"making a tensor map of {what}: CUDA's error {status}")
    return made


class PassedMap:
    """A tensor map as a kernel takes it, encoded again when its memory has moved."""

    def __init__(self, arg: MappedView) -> None:
        self._arg = arg
        self._at: int | None = None

    @property
    def passed(self) -> np.ndarray:
        """The tensor map for the current address of its memory."""
        address = self._arg.tensor.memory.address
        if address != self._at:
            self._made = encoded(self._arg, address).view(WHOLE)
            self._at = address
        return self._made
