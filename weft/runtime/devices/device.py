"""What the runner needs of a device: `CupyDevice`, `CpuDevice` and `SimDevice` implement it.

No MLIR here: a bundle's runner imports this file on a machine that has NumPy and CuPy alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from ...dsl.records import record
from ...interpreter.hardware import limits
from ..plan.dtypes import narrow
from ..plan.plan import Boxes, KernelEntry, is_contiguous
from .report import LaunchReport, Race, Triple

Memory = Any
"""A device's own handle for one allocation: opaque to the runner."""

Stream = Any
Event = Any
Graph = Any

DeviceTarget = Literal["sim", "cuda", "cpu"]
"""The simulator, which checks; a GPU; the CPU, natively."""

Action = Callable[[], LaunchReport | None]
"""Does work that was worked out beforehand."""

Replayed = tuple[str, LaunchReport]
"""A kernel's name, and what a simulator found when a graph launched it."""


class Number:
    """A scalar argument that may change from call to call: it is read each time that a kernel is launched.

    Attributes:
        value, passed, bits: the value in its type, as CuPy takes it, and as an unsigned integer.
    """

    value: np.generic
    passed: np.generic
    bits: int

    def __init__(self, dtype: str, value: int | float | bool = 0) -> None:
        self.dtype = dtype
        self.set(value)

    def set(self, value: int | float | bool) -> None:
        self.value = narrow(np.array([value]), self.dtype)[0]
        self.passed, self.bits = scalar_bits(self.value), int.from_bytes(self.value.tobytes(), "little")


def scalar_bits(value: np.generic) -> np.generic:
    """A scalar in a type that CuPy passes by its bits: bf16 and booleans as unsigned integers."""
    if value.dtype.kind in "iuf" and value.dtype.isbuiltin == 1:
        return value
    return np.array([value]).view(np.dtype(f"u{value.dtype.itemsize}"))[0]


@record
class DeviceView:
    """A strided window into an allocation, as a kernel argument or one side of a copy.

    Args:
        memory: what `alloc` returned.
        name: the buffer's name in the plan, for reports.
        dtype: the element type.
        offset, shape, strides: in elements.
    """

    memory: Memory
    name: str
    dtype: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def contiguous(self) -> bool:
        """Whether the elements lie side by side in row-major order."""
        return is_contiguous(self.shape, self.strides)

    @property
    def count(self) -> int:
        """How many elements it shows."""
        return int(np.prod(self.shape, dtype=np.int64))


@record
class MappedView:
    """A tensor map of a window, as a kernel argument."""

    tensor: DeviceView
    layout: Boxes


Passed = DeviceView | MappedView | Number | np.generic
"""What a kernel may be passed for one argument."""


@runtime_checkable
class Telling(Protocol):
    """A device that knows how much of a launch is done while it does it, and tells that: 0 to 1."""

    told: Callable[[float], None]


class Device(Protocol):
    """One device. Failures are `WeftError`s (W072x); whatever was made before stays the caller's to give back."""

    name: str
    """How reports call it, e.g. `NVIDIA H200` or `simulator`."""

    target: ClassVar[DeviceTarget]
    """Which of the targets it is."""

    wants: ClassVar[Literal["cuda", "mlir"]]
    """What `load` takes: the CUDA C++ text or the text of the scheduled module."""

    most_shared: int
    """Bytes of shared memory that a block may have on it."""

    def load(self, text: str, kernels: Sequence[KernelEntry]) -> None:
        """Make `kernels` of `text` launchable. Loading the same text again is cheap."""

    def alloc(self, name: str, dtype: str, count: int) -> Memory:
        """Memory for `count` elements, not initialised. `name` is for reports. A count of 0 is legal."""

    def free(self, memory: Memory) -> None: ...

    def poison(self, memory: Memory, byte: int, stream: Stream) -> None:
        """Fill with `byte`. Poisoned elements still count as never written."""

    def upload(self, memory: Memory, array: np.ndarray, stream: Stream) -> None:
        """Copy a C-contiguous host array of the allocation's size and element type to the device."""

    def download(self, memory: Memory, array: np.ndarray, stream: Stream) -> None:
        """Copy the whole allocation into the C-contiguous host array, and wait until it is there."""

    # What is done on a stream comes in two parts, so that what can be worked out beforehand is, once for many times.
    # The function that comes back does it, each time it is called; its memory, its stream and its arguments are those
    # given here.

    def copier(self, target: DeviceView, source: DeviceView, stream: Stream) -> Action:
        """Copy between views of equal shape and element type; either may be strided."""
        ...

    def filler(self, target: DeviceView, value: np.generic, stream: Stream) -> Action:
        """Make every element of a view `value`, which is of its element type; the view may be strided."""
        ...

    def launcher(
        self, kernel: KernelEntry, grid: Triple, block: Triple, shared: int, args: Sequence[Passed], stream: Stream
    ) -> Action:
        """Launch `kernel`. A simulator reports what it found, a GPU returns None.

        `shared` is dynamic shared memory that the host program asks for, on top of `kernel.dynamic_shared_bytes`.
        """
        ...

    @property
    def unordered(self) -> Sequence[Race]:
        """What unordered operations on different streams do to the same memory, as far as the device looks."""
        ...

    def create_stream(self) -> Stream: ...

    def destroy_stream(self, stream: Stream) -> None: ...

    def create_event(self) -> Event: ...

    def record(self, event: Event, stream: Stream) -> None:
        """The event is reached when all that was issued to `stream` before is done. It may have been recorded before:
        who waits for that already goes on doing so."""

    def wait(self, stream: Stream, event: Event) -> None:
        """What is issued to `stream` from now on waits for `event`."""

    def destroy_event(self, event: Event) -> None: ...

    def elapsed(self, start: Event, end: Event) -> float | None:
        """Seconds between two events that were reached, or None where the device keeps no time."""

    # While a stream captures, what is issued to it is kept in a graph and not done. A stream that waits for an event
    # recorded in the capture joins it; it has to be joined to the first stream, by an event, before the capture ends.

    def begin_capture(self, stream: Stream) -> None:
        """From now on, nothing is allocated, freed, poisoned, moved to or from the host, or waited for by it."""

    def end_capture(self, stream: Stream) -> Graph:
        """What was captured, ready to be launched. On failure nothing is left of it, nor of the capture."""

    def abandon_capture(self, stream: Stream) -> None:
        """End a capture of which nothing comes. Never fails, also where none is under way."""

    def launch_graph(self, graph: Graph, stream: Stream) -> Sequence[Replayed]:
        """Do all that was captured, as if it were issued to `stream`."""
        ...

    def destroy_graph(self, graph: Graph) -> None: ...

    def synchronize(self) -> None:
        """Wait until everything issued is done; asynchronous failures are raised here."""


Recorded = list[tuple[str | None, Callable[[], LaunchReport | None]]]
"""What was issued while a stream captured, in order: a kernel's name where one is launched, and what does it."""


@dataclass(eq=False)
class Instant:
    """An event. `at`: when it was recorded last."""

    at: float = 0.0


class Replay:
    """Base of such a device. One stream captures at a time, and all others join it."""

    wants: ClassVar[Literal["cuda", "mlir"]] = "mlir"
    most_shared = limits.MOST
    _capture: Recorded | None = None

    def copy(self, target: DeviceView, source: DeviceView, stream: Stream) -> None:
        raise NotImplementedError

    def fill(self, target: DeviceView, value: np.generic, stream: Stream) -> None:
        raise NotImplementedError

    def copier(self, target: DeviceView, source: DeviceView, stream: Stream) -> Action:
        return partial(self._issue, partial(self.copy, target, source, stream))

    def filler(self, target: DeviceView, value: np.generic, stream: Stream) -> Action:
        return partial(self._issue, partial(self.fill, target, value, stream))

    def create_event(self) -> Instant:
        return Instant()

    def record(self, event: Instant, stream: Stream) -> None:
        self._issue(partial(self._reach, event, stream))

    def _reach(self, event: Instant, stream: Stream) -> None:
        event.at = time.perf_counter()

    def elapsed(self, start: Instant, end: Instant) -> float | None:
        return end.at - start.at

    def _issue(self, do: Callable[[], Any], kernel: str | None = None) -> Any:
        """Do it, or keep it for the graph."""
        if self._capture is None:
            return do()
        self._capture.append((kernel, do))
        return None

    def begin_capture(self, stream: Stream) -> None:
        self._capture = []

    def end_capture(self, stream: Stream) -> Recorded:
        made, self._capture = self._capture or [], None
        return made

    def abandon_capture(self, stream: Stream) -> None:
        self._capture = None

    def launch_graph(self, graph: Recorded, stream: Stream) -> list[Replayed]:
        """Issue all of it again, in order."""
        found = [(kernel, do()) for kernel, do in graph]
        return [(kernel, report) for kernel, report in found if kernel is not None and report is not None]

    def destroy_graph(self, graph: Recorded) -> None:
        """Nothing is held but memory of this process."""
