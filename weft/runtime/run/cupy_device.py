"""`CupyDevice`: the plan runner's device on an NVIDIA GPU, through CuPy. The only file that imports
CuPy.

Kernels are functions of a `cupy.RawModule`, which loads a cubin from the cache folder.
`cupy.cuda.nvrtc` compiles it with exactly our options: `RawModule` would add `-ftz=true`, which
changes f32 results, and drop the `a` of `sm_90a`.
"""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from ...dsl.diagnostics import fail
from ..cuda.nvrtc import UNFOLDED, compile_options
from ..devices.device import DeviceTarget, Event, Graph, Memory, Stream
from ..devices.report import Race
from ..files.cache import place, seal
from ..files.writing import keep_newest, reason, unwritable, write_whole
from ..plan.dtypes import itemsize
from ..plan.plan import KernelEntry
from .cupy_work import MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, Adopted, CupyWork, Sized

ACCELERATED = 90
"""The lowest compute capability with architecture-specific instructions: `sm_90a`."""

INSTALL = "`pip install 'weft-gpu[cuda12]'` or `pip install 'weft-gpu[cuda13]'`"
"""Also in a checkout: pip adds the extras of the installed package."""


def cupy_module() -> Any:
    """CuPy, for arrays on a GPU. Raises W0720."""
    try:
        import cupy
    except ImportError:
        raise fail("W0720", "CuPy is not installed", hint=INSTALL) from None
    return cupy


def cuda_problem() -> str | None:
    """Why no GPU can be used; None if one can."""
    try:
        import cupy
    except ImportError:
        return "CuPy is not installed"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except (cupy.cuda.runtime.CUDARuntimeError, RuntimeError, OSError) as error:
        return f"CUDA does not start: {error}"
    return None if count else "there is no CUDA device"


class CupyDevice(CupyWork):
    """The current CUDA device.

    Raises:
        WeftError: W0720 (no GPU, or no CuPy), W0721 (the text does not compile), W0722 (out of
            memory), W0723 (CUDA reports a failure: of a launch, or later of its execution).
    """

    target: ClassVar[DeviceTarget] = "cuda"
    wants: ClassVar[Literal["cuda", "mlir"]] = "cuda"
    unordered: tuple[Race, ...] = ()

    def __init__(self) -> None:
        problem = cuda_problem()
        if problem is not None:
            raise fail("W0720", problem, f"{INSTALL}, or run on the simulator: `weft run … --target sim`")
        import cupy

        super().__init__(cupy)
        with self._failures("starting the device"):
            device = cupy.cuda.Device()
            self.arch = architecture(int(device.compute_capability))
            properties = cupy.cuda.runtime.getDeviceProperties(device.id)
            self.most_shared = int(cupy.cuda.runtime.deviceGetAttribute(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device.id))
        name = properties["name"]
        self.name: str = name.decode() if isinstance(name, bytes) else str(name)
        self._modules: dict[Path, Any] = {}
        self._streams = 0
        self._freed: list[Memory] = []
        """Memory that running kernels may still use: freed when the device is idle."""

    # ---- kernels -----------------------------------------------------------------------------------------------------

    def load(self, text: str, kernels: Sequence[KernelEntry]) -> None:
        for kernel in kernels:
            # W0727: before compilation, which would fail with a less readable message.
            lacking = kernel.lacking(self.name, self.arch)
            if lacking is not None:
                message, without = lacking
                instead = (
                    "the simulator: `--target sim`" if str(kernel.requires).endswith("a") else "the CPU: `--target cpu`"
                )
                raise fail("W0727", message, hint=f"{without}, or run it on {instead}")
        self._dynamic |= dict.fromkeys((kernel.name for kernel in kernels), 0)
        self._folding |= {kernel.name: text for kernel in kernels if kernel.folds}
        module = self.module(text, folded=False)
        self._functions |= {kernel.name: self._function(module, kernel.name) for kernel in kernels if not kernel.folds}

    def module(self, text: str, *, folded: bool = True) -> Any:
        """The `cupy.RawModule` of a text. It loads the cubin at the first request for a kernel."""
        cubin = self.compiled(text, folded=folded)
        if cubin not in self._modules:
            with self._failures("loading the kernels"):
                self._modules[cubin] = self._cupy.RawModule(path=str(cubin))
        return self._modules[cubin]

    def compiled(self, text: str, *, folded: bool = True) -> Path:
        """The cubin of a text, from the cache or compiled, by several threads at once. Raises
        W0721, W0054.

        `folded`: include the kernels for folded grids.
        """
        without = () if folded or UNFOLDED not in text else (f"--define-macro={UNFOLDED}",)
        options = (f"--gpu-architecture={self.arch}", *compile_options(), *without)
        version = ".".join(str(n) for n in self._cupy.cuda.nvrtc.getVersion())
        return cached(text, options, version, lambda: self._compile(text, options))

    def _compile(self, text: str, options: Sequence[str]) -> bytes:
        nvrtc = self._cupy.cuda.nvrtc
        program = nvrtc.createProgram(text, "kernels.cu", (), ())
        try:
            nvrtc.compileProgram(program, options)
            return nvrtc.getCUBIN(program)
        except nvrtc.NVRTCError as error:
            log = tuple(line for line in nvrtc.getProgramLog(program).splitlines() if line.strip())
            raise fail("W0721", f"NVRTC refuses the kernels for {self.arch}: {error}", notes=log[:20]) from error
        finally:
            nvrtc.destroyProgram(program)

    # ---- memory ------------------------------------------------------------------------------------------------------

    def alloc(self, name: str, dtype: str, count: int) -> Memory:
        size = max(count * itemsize(dtype), 1)
        out_of_memory = self._cupy.cuda.memory.OutOfMemoryError
        with self._failures(f"allocating `{name}`"):
            for again in (False, True):
                try:
                    return Sized(self._cupy.cuda.alloc(size), count * itemsize(dtype))
                except out_of_memory as error:
                    if again:
                        raise fail("W0722", f"the device has no {size} bytes left for `{name}`: {error}") from error
                    self.synchronize()
                    self._cupy.get_default_memory_pool().free_all_blocks()

    def part(self, storage: Memory, name: str, dtype: str, count: int, place: int) -> Memory:
        return Sized(storage.pointer + place, count * itemsize(dtype))

    def free(self, memory: Memory) -> None:
        if self._streams:
            self._freed.append(memory)

    def adopt(self, address: int, size: int) -> Memory:
        return Adopted(address, size)

    def poison(self, memory: Memory, byte: int, stream: Stream) -> None:
        with self._failures("filling memory"):
            memory.pointer.memset_async(byte, memory.size, stream)

    def upload(self, memory: Memory, array: np.ndarray, stream: Stream) -> None:
        with self._failures("copying to the device"):
            memory.pointer.copy_from_host_async(ctypes.c_void_p(array.ctypes.data), memory.size, stream)
            stream.synchronize()  # the array may be freed when this returns

    def download(self, memory: Memory, array: np.ndarray, stream: Stream) -> None:
        with self._failures("copying from the device"):
            memory.pointer.copy_to_host_async(ctypes.c_void_p(array.ctypes.data), memory.size, stream)
            stream.synchronize()

    # ---- streams and events ------------------------------------------------------------------------------------------

    def create_stream(self) -> Stream:
        with self._failures("making a stream"):
            stream = self._cupy.cuda.Stream(non_blocking=True)
        self._streams += 1
        return stream

    def destroy_stream(self, stream: Stream) -> None:
        """Waits for the stream's work: CuPy destroys a stream with its last reference."""
        self._streams -= 1
        try:
            with self._failures("finishing a stream"):
                stream.synchronize()
        finally:
            if not self._streams:
                self._freed.clear()

    def create_event(self) -> Event:
        with self._failures("making an event"):
            return self._cupy.cuda.Event()

    def record(self, event: Event, stream: Stream) -> None:
        self._doing("recording an event", lambda: event.record(stream))()

    def wait(self, stream: Stream, event: Event) -> None:
        self._doing("waiting for an event", lambda: stream.wait_event(event))()

    def destroy_event(self, event: Event) -> None:
        """Does nothing: CuPy destroys an event with its last reference, and CUDA keeps it until the
        work that waits for it is done."""

    def elapsed(self, start: Event, end: Event) -> float | None:
        with self._failures("reading the clock"):
            return self._cupy.cuda.get_elapsed_time(start, end) / 1000

    # ---- graphs: by CuPy's runtime functions, since `Stream.end_capture` loses the graph where it can't be
    # instantiated ----

    def begin_capture(self, stream: Stream) -> None:
        """Begins a capture, in relaxed mode: memory that the garbage collector frees meanwhile must
        not invalidate it."""
        runtime = self._cupy.cuda.runtime
        with self._failures("capturing a graph"):
            runtime.streamBeginCapture(stream.ptr, runtime.streamCaptureModeRelaxed)

    def end_capture(self, stream: Stream) -> Graph:
        runtime = self._cupy.cuda.runtime
        with self._failures("capturing a graph"):
            captured = runtime.streamEndCapture(stream.ptr)
        with self._failures("instantiating a graph"):
            try:
                return runtime.graphInstantiate(captured)
            finally:
                runtime.graphDestroy(captured)

    def abandon_capture(self, stream: Stream) -> None:
        """Ends a capture after a failure; its own errors are ignored. CUDA returns no graph for a
        broken capture."""
        runtime = self._cupy.cuda.runtime
        with suppress(*self._errors):
            captured = runtime.streamEndCapture(stream.ptr)
            if captured:
                runtime.graphDestroy(captured)

    def launch_graph(self, graph: Graph, stream: Stream) -> tuple[()]:
        """Launches the graph; the GPU orders the work in it."""
        self._doing("launching a graph", lambda: self._cupy.cuda.runtime.graphLaunch(graph, stream.ptr))()
        return ()

    def destroy_graph(self, graph: Graph) -> None:
        with self._failures("destroying a graph"):
            self._cupy.cuda.runtime.graphExecDestroy(graph)

    def synchronize(self) -> None:
        try:
            with self._failures("running the kernels"):
                self._cupy.cuda.runtime.deviceSynchronize()
        finally:
            self._freed.clear()


def architecture(capability: int) -> str:
    """`sm_90a` for compute capability 90, `sm_86` for 86."""
    return f"sm_{capability}{'a' if capability >= ACCELERATED else ''}"


_memory: dict[str, Path] = {}
"""The cubins that this process has found or made, by their keys."""
MOST_ON_DISK = 2048
"""Most kernels in the cache folder; the least recently used ones are removed."""


def cached(text: str, options: Sequence[str], version: str, compile_: Callable[[], bytes]) -> Path:
    """The cubin of `text` as a file, from the cache folder, or made by `compile_`.

    A file that is damaged, or was not written by this user's processes, counts as missing. If the
    folder cannot be written, or the key cannot be stored, the file exists only as long as the
    process.

    Raises:
        WeftError: W0749 for a folder that is not the user's own; W0054, if no file can be written
            at all.
    """
    key = hashlib.sha256("\0".join((text, *options, version)).encode()).hexdigest()
    found = _memory.get(key)
    if found is None or not found.is_file():  # another process may have removed it
        found = _memory[key] = _found(key) or _kept(key, compile_())
    return found


def _found(key: str) -> Path | None:
    """The file of a key with contents that match the seal in its name."""
    where = place()
    for path in () if where is None else where.glob(f"{key}.*.cubin"):
        with suppress(OSError):
            if path.name == _name(key, path.read_bytes()):
                os.utime(path)
                return path
    return None


def _name(key: str, cubin: bytes) -> str:
    """A file name with the seal of the contents (a digest, without a key): the file is the plain
    cubin, and CuPy, which loads a path once per process, must see other contents under another
    name."""
    sealed = seal(key, cubin) or hashlib.sha256(cubin).digest()
    return f"{key}.{sealed.hex()}.cubin"


def _kept(key: str, cubin: bytes) -> Path:
    """Writes a cubin atomically, since other processes may read at the same time."""
    name, where = _name(key, cubin), place()
    if where is not None:
        with suppress(OSError):
            write_whole(where / name, lambda file: file.write(cubin))
            keep_newest(where, MOST_ON_DISK)
            return where / name
    try:
        path = _passing() / name
        path.write_bytes(cubin)
    except OSError as error:
        raise unwritable(Path(name), reason(error)) from error
    return path


@cache
def _passing() -> Path:
    """A folder of this process only, removed at its end."""
    made = tempfile.mkdtemp(prefix="weft-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)
