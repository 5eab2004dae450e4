"""Where a kernel runs when it is called: a GPU through CuPy, or this machine's processor; what each is asked for."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, Protocol, get_args

from ...dsl.diagnostics import fail
from ..devices.device import Device, Memory, Stream
from ..run.cupy_device import CupyDevice, cuda_problem, cupy_module
from .arrays import Library

Where = Literal["auto", "cpu", "cuda"]

NOWHERE = nullcontext()
GRAPHS = "W0724", "a graph is captured and replayed by a GPU, and this kernel runs on the CPU"


class CallDevice(Device, Protocol):
    """A device that works on memory of the caller's."""

    def adopt(self, address: int, size: int) -> Memory:
        """So many bytes at `address`. What works on a stream reads the attribute `address` each time it is done, so
        that it can be moved to another array; nobody frees it here."""
        ...


class Target(Protocol):
    """One place to run. `alignment`: bytes, of each array's first element. `number`: CUDA's, None: the CPU."""

    device: CallDevice
    alignment: int

    @property
    def number(self) -> int | None: ...

    def stream(self, given: object, library: Library) -> Stream:
        """The stream to work on: what the caller gave, else the one on which the library works now."""
        ...

    def current(self, stream: Stream) -> AbstractContextManager[object]:
        """What is allocated inside is given back in the stream's order."""
        ...

    def active(self) -> AbstractContextManager[object]:
        """Work is issued inside."""
        ...


def open_target(where: Where) -> Target:
    """The target; `auto` is the GPU where there is one, else the CPU. Raises W0720."""
    if where not in get_args(Where):
        raise fail("W0720", f"`{where}` is not a target", f"there are {', '.join(get_args(Where))}")
    if where == "cuda" or (where == "auto" and cuda_problem() is None):
        return GpuTarget(CupyDevice())
    from ..cpu.device import CpuDevice

    return CpuTarget(CpuDevice())


class CpuTarget:
    alignment = 1
    number = None

    def __init__(self, device: CallDevice) -> None:
        self.device = device

    def stream(self, given: object, library: Library) -> Stream:
        if given is not None:
            raise fail("W0746", "a stream was given, and this kernel runs on the CPU", "leave `stream` out")
        return None

    def current(self, stream: Stream) -> AbstractContextManager[object]:
        return NOWHERE

    def active(self) -> AbstractContextManager[object]:
        return NOWHERE


class GpuTarget:
    """The CUDA device that is current when it is made."""

    alignment = 16

    def __init__(self, device: CallDevice) -> None:
        self.device = device
        self._cuda = cupy_module().cuda
        self.number: int | None = int(self._cuda.Device().id)
        self._streams: dict[int, Stream] = {}

    def stream(self, given: object, library: Library) -> Stream:
        handle = library.stream() if given is None else _handle(given)
        handle = self._cuda.get_current_stream().ptr if handle is None else handle
        if handle not in self._streams:
            self._streams[handle] = self._cuda.ExternalStream(handle)
        return self._streams[handle]

    def current(self, stream: Stream) -> AbstractContextManager[object]:
        device = self._cuda.Device(self.number)
        return _Both(device, stream) if stream is not None else device

    def active(self) -> AbstractContextManager[object]:
        here = self._cuda.runtime.getDevice() == self.number
        return NOWHERE if here else self._cuda.Device(self.number)


class _Both:
    """A device and a stream on it."""

    def __init__(self, device: Any, stream: Any) -> None:
        self._parts = device, stream

    def __enter__(self) -> None:
        for part in self._parts:
            part.__enter__()

    def __exit__(self, *error: object) -> None:
        for part in reversed(self._parts):
            part.__exit__(*error)


def _handle(given: Any) -> int:
    """The handle of a stream: a number, CuPy's, PyTorch's, or one of `__cuda_stream__` (cuda.core's protocol)."""
    if type(given) is int:
        return given
    if hasattr(given, "__cuda_stream__"):
        _, handle = given.__cuda_stream__()
        return int(handle)
    for name in ("ptr", "cuda_stream"):
        if isinstance(found := getattr(given, name, None), int):
            return found
    raise fail(
        "W0746",
        f"a {type(given).__module__}.{type(given).__qualname__} is not a CUDA stream",
        "give a stream of CuPy's or PyTorch's, an object with `__cuda_stream__`, or a handle as an integer",
    )
