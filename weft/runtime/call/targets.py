"""Targets of calls: a GPU through CuPy, or the CPU of this machine, with their memory and streams."""

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
    """A device that can use memory of the caller."""

    def adopt(self, address: int, size: int) -> Memory:
        """Wraps `size` bytes at `address`, which the caller owns. Work on a stream reads the
        attribute `address` each time it runs, so that it can be redirected to another array."""
        ...


class Target(Protocol):
    """A place to run.

    Attributes:
        device: the device.
        alignment: required of each array's first element, in bytes.
        number: CUDA's number of the device; None for the CPU.
    """

    device: CallDevice
    alignment: int

    @property
    def number(self) -> int | None: ...

    def stream(self, given: object, library: Library) -> Stream:
        """The stream for a call: `given` by the caller, else the library's current one."""
        ...

    def current(self, stream: Stream) -> AbstractContextManager[object]:
        """A context in which the device and `stream` are current, so that memory allocated in it is
        freed in the stream's order."""
        ...

    def active(self) -> AbstractContextManager[object]:
        """A context in which the device is current, for issuing work."""
        ...


def open_target(where: Where) -> Target:
    """The target; `auto` is a GPU if there is one, else the CPU. Raises W0720."""
    if where not in get_args(Where):
        raise fail("W0720", f"`{where}` is not a target", f"write one of `{'`, `'.join(get_args(Where))}`")
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
    """The CUDA device that is current at construction."""

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
    """A context with a device and a stream on it as the current ones."""

    def __init__(self, device: Any, stream: Any) -> None:
        self._parts = device, stream

    def __enter__(self) -> None:
        for part in self._parts:
            part.__enter__()

    def __exit__(self, *error: object) -> None:
        for part in reversed(self._parts):
            part.__exit__(*error)


def _handle(given: Any) -> int:
    """The handle of a stream: an integer, a stream of CuPy or PyTorch, or an object with
    `__cuda_stream__` (cuda.core's protocol). Raises W0746."""
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
