"""As much of CuPy as `CupyDevice` and `benchmarks/ladder.py` use, on the host's memory: pointers are real addresses, kernels
are Python functions.

`KERNELS[name](grid, block, values)` runs at once. `LOG` has what a test may want to know; `FAIL` makes a call fail.
"""

from __future__ import annotations

import ctypes
import types
from typing import Any

import numpy as np

KERNELS: dict[str, Any] = {}
LOG: list[tuple[Any, ...]] = []
FAIL: set[str] = set()
CAPABILITY = "90"
LIVE = {"bytes": 0, "streams": 0, "events": 0}
MADE = {"streams": 0, "events": 0}
FAIL_AT: list[int] = []
"""Which launches fail, by number: each counts down."""


class CUDARuntimeError(RuntimeError):
    pass


class CUDADriverError(RuntimeError):
    pass


class OutOfMemoryError(MemoryError):
    pass


class NVRTCError(RuntimeError):
    pass


def _check(name: str) -> None:
    if name in FAIL:
        raise CUDARuntimeError(f"cudaErrorMadeToFail: {name}")


class _Block:
    def __init__(self, size: int) -> None:
        self.raw = (ctypes.c_uint8 * size)()
        self.size = size
        LIVE["bytes"] += size

    def __del__(self) -> None:
        LIVE["bytes"] -= self.size


class MemoryPointer:
    def __init__(self, block: _Block, offset: int) -> None:
        self.block = block
        self.offset = offset

    @property
    def ptr(self) -> int:
        return ctypes.addressof(self.block.raw) + self.offset

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.block, self.offset + offset)

    def memset_async(self, value: int, size: int, stream: Stream) -> None:
        _check("memset")
        ctypes.memset(self.ptr, value, size)

    def copy_from_host_async(self, memory: ctypes.c_void_p, size: int, stream: Stream) -> None:
        _check("upload")
        ctypes.memmove(self.ptr, memory, size)

    def copy_to_host_async(self, memory: ctypes.c_void_p, size: int, stream: Stream) -> None:
        ctypes.memmove(memory, self.ptr, size)

    def copy_from_device_async(self, source: MemoryPointer, size: int, stream: Stream) -> None:
        LOG.append(("contiguous copy", size))
        ctypes.memmove(self.ptr, source.ptr, size)


def ndarray(shape: tuple[int, ...], dtype: np.dtype, memptr: MemoryPointer, strides: tuple[int, ...]) -> np.ndarray:
    LOG.append(("window", shape, strides))
    raw = (ctypes.c_uint8 * (memptr.block.size - memptr.offset)).from_address(memptr.ptr)
    return np.ndarray(shape, dtype, memoryview(raw), strides=strides)


class Array(np.ndarray):
    """An array on the device: its `data` is a pointer."""

    @property
    def data(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        return types.SimpleNamespace(ptr=self.ctypes.data)


def asarray(array: np.ndarray) -> Array:
    return np.array(array).view(Array)


def empty(shape: tuple[int, ...], dtype: Any) -> Array:
    return np.zeros(shape, dtype).view(Array)


def asnumpy(array: np.ndarray) -> np.ndarray:
    return np.array(array)


def matmul(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    LOG.append(("matmul", a.shape, b.shape))
    return np.matmul(a, b, out=out)


abs = np.abs


def _alloc(size: int) -> MemoryPointer:
    if "memory" in FAIL:
        raise OutOfMemoryError("made to fail")
    return MemoryPointer(_Block(size), 0)


class Stream:
    def __init__(self, non_blocking: bool = False) -> None:
        LIVE["streams"] += 1
        MADE["streams"] += 1
        _check("stream")
        assert non_blocking

    def __del__(self) -> None:
        LIVE["streams"] -= 1

    def synchronize(self) -> None:
        _check("stream.synchronize")

    def wait_event(self, event: Event) -> None:
        LOG.append(("wait",))

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Event:
    def __init__(self) -> None:
        LIVE["events"] += 1
        MADE["events"] += 1
        _check("event")

    def __del__(self) -> None:
        LIVE["events"] -= 1

    def record(self, stream: Stream) -> None:
        LOG.append(("record",))

    def synchronize(self) -> None:
        _check("event.synchronize")


class Device:
    id = 0

    @property
    def compute_capability(self) -> str:
        return CAPABILITY


class Function:
    def __init__(self, name: str) -> None:
        self.name = name
        self.ptr = name

    def __call__(self, grid: Any, block: Any, args: tuple[Any, ...], *, shared_mem: int, stream: Stream) -> None:
        _check("launch")
        FAIL_AT[:] = [left - 1 for left in FAIL_AT]
        if -1 in FAIL_AT:
            raise CUDADriverError("CUDA_ERROR_LAUNCH_FAILED: made to fail")
        for value in args:  # the types that CuPy passes by their bits, `cupy/cuda/function.pyx`
            assert type(value) in {np.dtype(c).type for c in "?bhilqBHILQefd"}, type(value)
        LOG.append(("launch", self.name, grid, block, shared_mem))
        KERNELS[self.name](grid, block, args)


class Module:
    def load(self, cubin: bytes) -> None:
        _check("load")
        LOG.append(("load", cubin))

    def get_function(self, name: str) -> Function:
        if name not in KERNELS:
            raise CUDADriverError(f"CUDA_ERROR_NOT_FOUND: {name}")
        return Function(name)


_programs: list[str] = []


def _create(text: str, name: str, headers: tuple[()], includes: tuple[()]) -> int:
    _programs.append(text)
    return len(_programs)


def _compile(program: int, options: tuple[str, ...]) -> None:
    LOG.append(("compile", tuple(options)))
    if "#error" in _programs[program - 1]:
        raise NVRTCError("NVRTC_ERROR_COMPILATION")


def _device_synchronize() -> None:
    _check("synchronize")


def _attribute(function: str, attribute: int, value: int) -> None:
    LOG.append(("attribute", attribute, value))


def get_default_memory_pool() -> Any:
    return types.SimpleNamespace(free_all_blocks=lambda: LOG.append(("free_all_blocks",)))


cuda = types.SimpleNamespace(
    Device=Device,
    Event=Event,
    Stream=Stream,
    alloc=_alloc,
    get_elapsed_time=lambda start, end: 1.5,
    driver=types.SimpleNamespace(CUDADriverError=CUDADriverError, funcSetAttribute=_attribute),
    function=types.SimpleNamespace(Module=Module),
    memory=types.SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
    nvrtc=types.SimpleNamespace(
        NVRTCError=NVRTCError,
        createProgram=_create,
        compileProgram=_compile,
        destroyProgram=lambda program: LOG.append(("destroy",)),
        getCUBIN=lambda program: b"cubin of " + _programs[program - 1].encode(),
        getProgramLog=lambda program: "kernels.cu(1): error: made to fail\n",
        getVersion=lambda: (13, 0),
    ),
    runtime=types.SimpleNamespace(
        CUDARuntimeError=CUDARuntimeError,
        deviceSynchronize=_device_synchronize,
        getDeviceCount=lambda: 0 if "device" in FAIL else 1,
        getDeviceProperties=lambda device: {"name": b"Fake GPU"},
    ),
)


def _scale(grid: Any, block: Any, values: tuple[Any, ...]) -> None:
    """`scale(source, target, factor)` on 8 f32, for tests that run in another process."""
    source, target, factor = values
    array = ctypes.c_float * 8
    read, written = array.from_address(int(source)), array.from_address(int(target))
    for i in range(8):
        written[i] = read[i] * float(factor)


KERNELS["scale"] = _scale
