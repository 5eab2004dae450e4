"""`CpuDevice`: runs scheduled kernels natively, as loops, and distributes their blocks over several
threads."""

from __future__ import annotations

import ctypes
import itertools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np

from ...dsl.diagnostics import fail
from ..devices.device import Action, DeviceTarget, DeviceView, Instant, MappedView, Number, Passed, Replay, Stream
from ..devices.report import Race, Triple
from ..plan.dtypes import NUMPY, itemsize, windowed
from ..plan.plan import KernelEntry
from ..plan.signature import type_text
from .kernel import LEADING
from .machine_code import MachineCode, compiled
from .threads import ALIGNMENT


@dataclass(eq=False)
class CpuMemory:
    """Memory of this process. Queued work reads `address` in each run, so that the address may
    change between runs.

    Args:
        address: of the first byte.
        size: in bytes.
        owner: the object that keeps the memory alive; None if the caller does.
    """

    address: int
    size: int
    owner: Any = None


class CpuDevice(Replay):
    """Runs kernels natively. Every operation completes, in order, before its call returns, so
    streams and events add no ordering.

    An action returned by `launcher` is called by one thread at a time; different actions may run
    concurrently.

    Args:
        threads: the number of threads for the blocks of a launch; None: as many as the process may
            use processors.
        effort: LLVM's optimization level, 0 to 3.

    Raises:
        WeftError: W0722 (out of memory), W0725 (a kernel that the CPU cannot run), W0752 (arguments
            that a kernel does not take), W0753 (a launch with another size than the kernel was
            compiled for), W0759 (an unknown kernel).
    """

    name = "CPU"
    target: ClassVar[DeviceTarget] = "cpu"
    unordered: tuple[Race, ...] = ()

    def __init__(self, threads: int | None = None, effort: int = 3) -> None:
        self.threads = usable_processors() if threads is None else threads
        self.effort = effort
        self._loaded: dict[str, tuple[str, tuple[KernelEntry, ...]]] = {}

    # ---- kernels ---------------------------------------------------------------------------------

    def load(self, text: str, kernels: Sequence[KernelEntry]) -> None:
        """Compiles the kernels under the assumption that their arguments do not overlap."""
        compiled(text, kernels, distinct=True, effort=self.effort)
        self._loaded |= {kernel.symbol: (text, tuple(kernels)) for kernel in kernels}

    def launcher(
        self, kernel: KernelEntry, grid: Triple, block: Triple, shared: int, args: Sequence[Passed], stream: Stream
    ) -> Action:
        if kernel.symbol not in self._loaded:
            raise fail("W0759", f"kernel `{kernel.symbol}` was not loaded")
        text, kernels = self._loaded[kernel.symbol]
        plain = [arg for arg in args if not isinstance(arg, MappedView)]
        if len(plain) < len(args):
            hint = "the simulator runs it: `--target sim`"
            raise fail("W0725", f"`{kernel.name}` takes a tensor map, which the CPU has not", hint=hint)
        memories = [arg.memory for arg in plain if isinstance(arg, DeviceView)]
        distinct = len(set(memories)) == len(memories)
        found = compiled(text, kernels, distinct=distinct, effort=self.effort)[kernel.symbol]
        for what, known, given in (("block", found.block, block), ("grid", found.grid, grid)):
            if known is not None and known != given:
                raise fail("W0753", f"`{kernel.name}` is for a {what} of {known}, not of {given}")
        _expect_arguments(kernel.name, found, plain)
        launch = _Launch(found, (*grid, *block, shared), plain, self.threads)
        return partial(self._issue, launch, kernel.name)

    # ---- memory ----------------------------------------------------------------------------------

    def alloc(self, name: str, dtype: str, count: int) -> CpuMemory:
        size = count * itemsize(dtype)
        try:
            owner = np.empty(size + ALIGNMENT, np.uint8)
        except MemoryError as error:
            raise fail("W0722", f"there are no {size} bytes left for `{name}`") from error
        return CpuMemory(owner.ctypes.data + -owner.ctypes.data % ALIGNMENT, size, owner)

    def part(self, storage: CpuMemory, name: str, dtype: str, count: int, place: int) -> CpuMemory:
        return CpuMemory(storage.address + place, count * itemsize(dtype), storage.owner)

    def adopt(self, address: int, size: int) -> CpuMemory:
        """Wraps memory of `size` bytes that the caller keeps alive while it is used."""
        return CpuMemory(address, size)

    def free(self, memory: CpuMemory) -> None:
        memory.owner = None

    def poison(self, memory: CpuMemory, byte: int, stream: Stream) -> None:
        ctypes.memset(memory.address, byte, memory.size)

    def upload(self, memory: CpuMemory, array: np.ndarray, stream: Stream) -> None:
        ctypes.memmove(memory.address, array.ctypes.data, memory.size)

    def download(self, memory: CpuMemory, array: np.ndarray, stream: Stream) -> None:
        ctypes.memmove(array.ctypes.data, memory.address, memory.size)

    def copy(self, target: DeviceView, source: DeviceView, stream: Stream) -> None:
        if target.contiguous and source.contiguous:
            ctypes.memmove(_start(target), _start(source), source.count * itemsize(source.dtype))
        elif target.memory is source.memory:
            _elements(target)[...] = _elements(source).copy()
        else:
            _elements(target)[...] = _elements(source)

    def fill(self, target: DeviceView, value: np.generic, stream: Stream) -> None:
        _elements(target)[...] = value

    # ---- streams and events: all is done when the call returns -----------------------------------

    def create_stream(self) -> Stream:
        return None

    def destroy_stream(self, stream: Stream) -> None: ...

    def wait(self, stream: Stream, event: Instant) -> None: ...

    def destroy_event(self, event: Instant) -> None: ...

    def synchronize(self) -> None: ...


def _expect_arguments(name: str, kernel: MachineCode, args: Sequence[DeviceView | Number | np.generic]) -> None:
    """Raises W0752 if the module's kernel takes other arguments than the plan passes: a bundle may
    have been edited."""
    values = (arg.value if isinstance(arg, Number) else arg for arg in args)
    given = [(a.dtype, a.shape) if isinstance(a, DeviceView) else (a.dtype, None) for a in values]
    fits = len(given) == len(kernel.arguments) and all(
        _fits(dtype, shape, *wanted) for (dtype, shape), wanted in zip(given, kernel.arguments, strict=True)
    )
    if not fits:
        wanted = ", ".join(type_text(*argument) for argument in kernel.arguments)
        raise fail("W0752", f"`{name}` takes ({wanted}), and not ({', '.join(type_text(str(d), s) for d, s in given)})")


def _fits(
    dtype: str | np.dtype, shape: tuple[int, ...] | None, wanted: str, extents: tuple[int | None, ...] | None
) -> bool:
    if shape is None or extents is None:
        return shape is extents and dtype == NUMPY[wanted]
    fits = len(shape) == len(extents) and all(e in (None, n) for e, n in zip(extents, shape, strict=True))
    return dtype == wanted and fits


class _Launch:
    """A launch that can be repeated. Its arguments lie in one array; before each run, addresses and
    some numbers in it are updated.

    Args:
        sizes: the sizes of the grid (x, y, z) and of the block (x, y, z), then the bytes of dynamic
            shared memory.
    """

    def __init__(
        self, kernel: MachineCode, sizes: Sequence[int], args: Sequence[DeviceView | Number | np.generic], threads: int
    ) -> None:
        self._call, self._threads = kernel.call, threads
        self._blocks = sizes[0] * sizes[1] * sizes[2]
        cells = list(sizes)
        order = list(range(len(sizes)))
        self._memories: list[tuple[int, CpuMemory]] = []
        self._numbers: list[tuple[int, Number]] = []
        for arg in args:
            first = len(cells)
            if isinstance(arg, DeviceView):
                self._memories.append((first, arg.memory))
                cells += [0, arg.offset, *arg.shape, *arg.strides]
                order.append(first)
            elif isinstance(arg, Number):
                self._numbers.append((first, arg))
                cells.append(arg.bits)
            else:
                cells.append(int.from_bytes(arg.tobytes(), "little", signed=False))
            order += range(first, len(cells))
        self._cells = (ctypes.c_uint64 * len(cells))(*cells)
        start = ctypes.addressof(self._cells)
        self._ranges = (ctypes.c_uint64 * (2 * threads))()
        range_start, self._width = ctypes.addressof(self._ranges), LEADING - len(sizes) + len(order)
        given, pointers = [start + 8 * i for i in order], []
        for worker in range(threads):
            pointers += [range_start + 16 * worker, range_start + 16 * worker + 8, *given]
        self._pointers = (ctypes.c_void_p * len(pointers))(*pointers)

    def __call__(self) -> None:
        cells = self._cells
        for place, memory in self._memories:
            cells[place] = memory.address
        for place, number in self._numbers:
            cells[place] = number.bits
        spread(self._blocks, self._threads, self._do)

    def _do(self, worker: int, first: int, end: int) -> None:
        self._ranges[2 * worker], self._ranges[2 * worker + 1] = first, end
        self._call(ctypes.addressof(self._pointers) + 8 * self._width * worker)


def _start(view: DeviceView) -> int:
    return view.memory.address + view.offset * itemsize(view.dtype)


def _elements(view: DeviceView) -> np.ndarray:
    """An array over the elements of a view, without a copy."""
    dtype, memory = NUMPY[view.dtype], view.memory
    flat = np.frombuffer((ctypes.c_uint8 * memory.size).from_address(memory.address), np.uint8).view(dtype)
    strides = [stride * dtype.itemsize for stride in view.strides]
    return windowed(flat[view.offset :], view.shape, strides)


CHUNKS = 4
"""Number of pieces of a launch per thread, for load balance: a thread that finishes early takes the
next piece."""


def usable_processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spread(count: int, threads: int, do: Callable[[int, int, int], None]) -> None:
    """Calls `do(worker, first, end)` for ranges that partition `range(count)`, on up to `threads`
    threads including the current one.

    Calls with the same `worker` (0 … `threads` - 1) do not overlap. All calls have completed when
    this returns.
    """
    workers = min(threads, count)
    if workers <= 1:
        do(0, 0, count)
        return
    size = -(-count // (workers * CHUNKS))
    numbers = itertools.count()

    def work(worker: int) -> None:
        while (first := next(numbers) * size) < count:
            do(worker, first, min(first + size, count))

    others = [_pool(os.getpid()).submit(work, worker) for worker in range(1, workers)]
    try:
        work(0)
    finally:
        for other in others:
            if not other.cancel():
                other.result()


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """The thread pool of this process. A forked child makes a new one, since it has none of its
    parent's threads."""
    return ThreadPoolExecutor(usable_processors(), thread_name_prefix="weft-cpu")
