"""As much of CuPy as `CupyDevice` and `benchmarks/gpu.py` use, on the host's memory: pointers are real addresses, kernels
are Python functions.

`KERNELS[name](grid, block, values)` runs at once, unless its stream is captured. `LOG` has what a test may want to know; `FAIL`
makes a call fail, `FAIL_CALL` the one of that number.
"""

# pyright: reportMissingImports=false, reportArgumentType=false, reportCallIssue=false
from __future__ import annotations

import ctypes
import itertools
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

KERNELS: dict[str, Any] = {}
OF_TEXT: dict[tuple[bytes, str], Any] = {}
"""Kernels of one text alone, by its cubin and their names."""

LOG: list[tuple[Any, ...]] = []
ON: list[int] = []
"""The stream of each launch."""
FAIL: set[str] = set()
CAPABILITY = "90"
SHARED = [227 * 1024]
"""Bytes of shared memory that a block may have."""
LIVE = {"bytes": 0, "streams": 0, "events": 0, "graphs": 0, "executables": 0}
MADE = {"streams": 0, "events": 0}
CALLS = [0]
FAIL_CALL: list[int] = []
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
    CALLS[0] += 1
    if name in FAIL or CALLS[0] - 1 in FAIL_CALL:
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

    def memset_async(self, value: int, size: int, stream: _AnyStream) -> None:
        _memset(self.ptr, value, size, stream.ptr)

    def copy_from_host_async(self, memory: ctypes.c_void_p, size: int, stream: _AnyStream) -> None:
        _check("upload")
        _uncaptured("an upload")
        ctypes.memmove(self.ptr, memory, size)

    def copy_to_host_async(self, memory: ctypes.c_void_p, size: int, stream: _AnyStream) -> None:
        _check("download")
        _uncaptured("a download")
        ctypes.memmove(memory, self.ptr, size)


class Array(np.ndarray):
    """An array on the device: its `data` is a pointer."""

    @property
    def data(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        return types.SimpleNamespace(ptr=self.__array_interface__["data"][0], device_id=DEVICE[0])


def ndarray(shape: tuple[int, ...], dtype: Any, memptr: MemoryPointer) -> Array:
    """The memory behind a pointer, as an array."""
    return np.frombuffer(memptr.block.raw, dtype, math.prod(shape), memptr.offset).reshape(shape).view(Array)


def asarray(array: np.ndarray) -> Array:
    return np.array(array).view(Array)


def empty(shape: tuple[int, ...], dtype: Any) -> Array:
    LOG.append(("empty", shape))
    return np.full(shape, 7, dtype).view(Array)


def asnumpy(array: np.ndarray) -> np.ndarray:
    return np.array(array)


def matmul(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    LOG.append(("matmul", a.shape, b.shape))
    return np.matmul(a, b, out=out)


ARRAYS = {
    "abs", "arange", "ascontiguousarray", "bincount", "cumsum", "exp", "float32", "float64", "inf", "int32", "lib", "matmul",
    "maximum", "pad", "repeat", "sqrt", "tri", "where",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Functions of arrays that both have, and that leave nothing to be told apart."""
    if name not in ARRAYS:
        raise AttributeError(name)
    return getattr(np, name)


def _alloc(size: int) -> MemoryPointer:
    _check("alloc")
    _uncaptured("an allocation")
    if "memory" in FAIL:
        raise OutOfMemoryError("made to fail")
    return MemoryPointer(_Block(size), 0)


class _AnyStream:
    ptr = 0

    def synchronize(self) -> None:
        _check("stream.synchronize")
        _uncaptured("waiting for a stream")

    def wait_event(self, event: Event) -> None:
        _check("wait")
        LOG.append(("wait",))
        if CAPTURES and (event in CAPTURES[0].marks or self.ptr in CAPTURES[0].fronts):
            CAPTURES[0].wait(self.ptr, event)

    def __enter__(self) -> _AnyStream:
        CURRENT.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        CURRENT.pop()


class Stream(_AnyStream):
    def __init__(self, non_blocking: bool = False) -> None:
        LIVE["streams"] += 1
        MADE["streams"] += 1
        _check("stream")
        assert non_blocking
        self.ptr = next(_handles)

    def __del__(self) -> None:
        LIVE["streams"] -= 1


class ExternalStream(_AnyStream):
    """A stream of somebody else's."""

    def __init__(self, ptr: int) -> None:
        self.ptr = ptr


CURRENT: list[_AnyStream] = [_AnyStream()]


class Event:
    done = False
    """Whether the stream got there: here the host is always ahead, unless a test says otherwise."""

    def __init__(self) -> None:
        LIVE["events"] += 1
        MADE["events"] += 1
        _check("event")

    def __del__(self) -> None:
        LIVE["events"] -= 1

    def record(self, stream: _AnyStream) -> None:
        _check("record")
        LOG.append(("record",))
        if CAPTURES and stream.ptr in CAPTURES[0].fronts:
            CAPTURES[0].marks[self] = CAPTURES[0].fronts[stream.ptr]

    def synchronize(self) -> None:
        _check("event.synchronize")
        _uncaptured("waiting for an event")


DEVICE = [0]
"""The current device."""


class Device:
    def __init__(self, number: int | None = None) -> None:
        self.id = DEVICE[0] if number is None else number

    def __enter__(self) -> Device:
        self.before, DEVICE[0] = DEVICE[0], self.id
        return self

    def __exit__(self, *_: object) -> None:
        DEVICE[0] = self.before

    @property
    def compute_capability(self) -> str:
        return CAPABILITY


class RawKernel:
    """What `RawModule.get_function` returns: a launch, and the attributes that CuPy asks the driver for."""

    def __init__(self, name: str, cubin: bytes) -> None:
        self.name = name
        self.cubin = cubin

    def __call__(
        self, grid: Any, block: Any, args: tuple[Any, ...], *, shared_mem: int = 0, stream: _AnyStream | None = None
    ) -> None:
        _check("launch")
        stream = CURRENT[-1] if stream is None else stream
        grid, block = ((*dims, 1, 1)[:3] for dims in (grid, block))
        args = tuple(np.uint64(value.data.ptr) if isinstance(value, Array) else value for value in args)
        FAIL_AT[:] = [left - 1 for left in FAIL_AT]
        if -1 in FAIL_AT:
            raise CUDADriverError("CUDA_ERROR_LAUNCH_FAILED: made to fail")
        for value in args:  # the types that CuPy passes by their bits, `cupy/cuda/function.pyx`; arrays by what they hold
            assert isinstance(value, np.ndarray) or type(value) in {np.dtype(c).type for c in "?bhilqBHILQefd"}, type(value)
            if isinstance(value, np.ndarray) and value.size != 1:
                raise TypeError(f"You are trying to pass a numpy.ndarray of shape {value.shape} as a kernel parameter.")
        LOG.append(("launch", self.name, grid, block, shared_mem))
        ON.append(stream.ptr)
        do = OF_TEXT.get((self.cubin, self.name)) or _kernel(self.name)
        _issue(stream.ptr, lambda: do(grid, block, args))

    @property
    def num_regs(self) -> int:
        _check("attribute")
        return 32

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        raise AssertionError("nobody asks for it")

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, size: int) -> None:
        _check("attribute")
        LOG.append(("attribute", "max_dynamic_shared_size_bytes", size))


LOADED: dict[tuple[str, int], bytes] = {}
"""CuPy loads a path once for each device (`cupy/_core/raw.pyx`, `_get_raw_module`), whatever is written to it afterwards."""
GLOBALS: dict[str, MemoryPointer] = {}


class RawModule:
    """Of a cubin file alone: compiling a text by it is what Weft must not do. The file is read at the first question."""

    def __init__(self, *, path: str) -> None:
        assert type(path) is str
        self._path = path

    def _cubin(self) -> bytes:
        key = self._path, DEVICE[0]
        if key not in LOADED:
            _check("load")
            with open(self._path, "rb") as file:
                LOADED[key] = file.read()
            LOG.append(("load", LOADED[key]))
        return LOADED[key]

    def get_function(self, name: str) -> RawKernel:
        cubin = self._cubin()
        if name not in KERNELS and (cubin, name) not in OF_TEXT and not name.startswith("weft_"):
            raise CUDADriverError(f"CUDA_ERROR_NOT_FOUND: {name}")
        return RawKernel(name, cubin)

    def get_global(self, name: str) -> MemoryPointer:
        self._cubin()
        if name not in GLOBALS:
            raise CUDADriverError(f"CUDA_ERROR_NOT_FOUND: {name}")
        return GLOBALS[name]


_programs: dict[int, str] = {}
_numbers = itertools.count(1)


def _create(text: str, name: str, headers: tuple[()], includes: tuple[()]) -> int:
    """Threads may compile side by side."""
    number = next(_numbers)
    _programs[number] = text
    return number


def _compile(program: int, options: tuple[str, ...]) -> None:
    LOG.append(("compile", tuple(options)))
    if "#error" in _programs[program]:
        raise NVRTCError("NVRTC_ERROR_COMPILATION")


def _device_synchronize() -> None:
    _check("synchronize")
    _uncaptured("waiting for the device")


def _memset(address: int, value: int, size: int, stream: int) -> None:
    _check("memset")
    LOG.append(("memset", value, size))
    _issue(stream, lambda: ctypes.memset(address, value, size))


def _memcpy(target: int, source: int, size: int, kind: int, stream: int) -> None:
    _check("copy")
    assert size > 0 and kind == 3, "a graph holds no empty copy"
    LOG.append(("contiguous copy", size))
    _issue(stream, lambda: ctypes.memmove(target, source, size))


# ---- graphs ------------------------------------------------------------------------------------------------------------------


class _Capture:
    """A capture under way: nodes with what they wait for; by stream, what comes next waits for; by event, what it stands for."""

    def __init__(self, origin: int) -> None:
        self.origin = origin
        self.nodes: list[tuple[Callable[[], object], frozenset[int]]] = []
        self.fronts: dict[int, frozenset[int]] = {origin: frozenset()}
        self.marks: dict[Event, frozenset[int]] = {}
        self.broken = False

    def wait(self, stream: int, event: Event) -> None:
        if event not in self.marks:
            raise CUDARuntimeError("cudaErrorStreamCaptureIsolation: an event from outside the capture")
        self.fronts[stream] = self.fronts.get(stream, frozenset()) | self.marks[event]


CAPTURES: list[_Capture] = []
GRAPHS: dict[int, list[tuple[Callable[[], object], frozenset[int]]]] = {}
_handles = itertools.count(1000)


def _issue(stream: int, do: Callable[[], object]) -> None:
    """Do it, or put it into the graph that captures the stream."""
    capture = CAPTURES[0] if CAPTURES else None
    if capture is None or stream not in capture.fronts:
        do()
        return
    if capture.broken:
        raise CUDARuntimeError("cudaErrorStreamCaptureInvalidated")
    capture.nodes.append((do, capture.fronts[stream]))
    capture.fronts[stream] = frozenset({len(capture.nodes) - 1})


def _uncaptured(what: str) -> None:
    if CAPTURES:
        CAPTURES[0].broken = True
        raise CUDARuntimeError(f"cudaErrorStreamCaptureUnsupported: {what}")


def _begin_capture(stream: int, mode: int) -> None:
    _check("begin capture")
    if CAPTURES:
        raise CUDARuntimeError("cudaErrorIllegalState: a capture in a capture")
    assert mode == 2
    CAPTURES.append(_Capture(stream))


def _end_capture(stream: int) -> int:
    if not CAPTURES or CAPTURES[0].origin != stream:
        raise CUDARuntimeError("cudaErrorIllegalState: no capture to end")
    capture = CAPTURES.pop()
    _check("end capture")
    joined = set(capture.fronts[stream])
    for number in reversed(range(len(capture.nodes))):
        joined |= capture.nodes[number][1] if number in joined else frozenset()
    if capture.broken or len(joined) < len(capture.nodes):
        raise CUDARuntimeError(f"cudaErrorStreamCapture{'Invalidated' if capture.broken else 'Unjoined'}")
    handle = next(_handles)
    GRAPHS[handle] = capture.nodes
    LIVE["graphs"] += 1
    return handle


def _instantiate(graph: int) -> int:
    _check("instantiate")
    handle = next(_handles)
    GRAPHS[handle] = GRAPHS[graph]
    LIVE["executables"] += 1
    return handle


def _launch_graph(graph: int, stream: int) -> None:
    """Of what may be done next, the last that was captured comes first."""
    _check("graph launch")
    LOG.append(("graph launch",))
    nodes, done = GRAPHS[graph], set[int]()
    while len(done) < len(nodes):
        number = max(i for i, (_, after) in enumerate(nodes) if i not in done and after <= done)
        nodes[number][0]()
        done.add(number)


def _destroy_graph(graph: int, what: str = "graphs") -> None:
    del GRAPHS[graph]
    LIVE[what] -= 1


def _kernel(name: str) -> Any:
    return KERNELS[name] if name in KERNELS else _move(*name.split("_")[1:])


def _move(move: str, width: str, rank: str) -> Any:
    """What the kernel of `weft.runtime.cuda.copies_and_fills` does, element by element."""
    word = {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_uint32, 8: ctypes.c_uint64}[int(width)]

    def kernel(grid: Any, block: Any, values: tuple[Any, ...]) -> None:
        to, source, count, *rest = (int(v) for v in values)
        columns = 3 if move == "copy" else 2
        dimensions = [rest[i : i + columns] for i in range(0, len(rest), columns)]
        places = list(itertools.product(*(range(size) for size, *_ in dimensions)))
        assert len(dimensions) == int(rank) and len(places) == count
        for place in places:
            at, *where = (
                sum(i * dimension[side] for i, dimension in zip(place, dimensions, strict=True)) for side in range(1, columns)
            )
            value = word.from_address(source + where[0] * int(width)).value if where else source
            word.from_address(to + at * int(width)).value = value

    return kernel


def get_default_memory_pool() -> Any:
    return types.SimpleNamespace(free_all_blocks=lambda: LOG.append(("free_all_blocks",)))


cuda = types.SimpleNamespace(
    Device=Device,
    Event=Event,
    ExternalStream=ExternalStream,
    Stream=Stream,
    get_current_stream=lambda: CURRENT[-1],
    alloc=_alloc,
    get_elapsed_time=lambda start, end: 1.5,
    driver=types.SimpleNamespace(CUDADriverError=CUDADriverError),
    memory=types.SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
    nvrtc=types.SimpleNamespace(
        NVRTCError=NVRTCError,
        createProgram=_create,
        compileProgram=_compile,
        destroyProgram=lambda program: LOG.append(("destroy",)),
        getCUBIN=lambda program: b"cubin of " + _programs[program].encode(),
        getProgramLog=lambda program: "kernels.cu(1): error: made to fail\n",
        getVersion=lambda: (13, 0),
    ),
    runtime=types.SimpleNamespace(
        CUDARuntimeError=CUDARuntimeError,
        deviceSynchronize=_device_synchronize,
        graphDestroy=_destroy_graph,
        graphExecDestroy=lambda graph: _destroy_graph(graph, "executables"),
        graphInstantiate=_instantiate,
        graphLaunch=_launch_graph,
        memcpyAsync=_memcpy,
        memcpyDeviceToDevice=3,
        memsetAsync=_memset,
        pointerGetAttributes=lambda address: types.SimpleNamespace(device=DEVICE[0]),
        streamBeginCapture=_begin_capture,
        streamCaptureModeRelaxed=2,
        streamEndCapture=_end_capture,
        getDevice=lambda: DEVICE[0],
        getDeviceCount=lambda: 0 if "device" in FAIL else 1,
        getDeviceProperties=lambda device: {"name": b"Fake GPU"},
        deviceGetAttribute=lambda attribute, device: {97: SHARED[0]}[attribute],
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
