"""The interface of devices to the runner; `CupyDevice`, `CpuDevice` and `SimDevice` implement it.

No MLIR here: a bundle's runner imports this file on a machine that has only NumPy and CuPy.
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
"""A device's own handle for one allocation, opaque to the runner."""

Stream = Any
Event = Any
Graph = Any

DeviceTarget = Literal["sim", "cuda", "cpu"]
"""`sim`: the simulator, which checks; `cuda`: a GPU; `cpu`: native code on the CPU."""

Action = Callable[[], LaunchReport | None]
"""A prepared operation: calling it runs it, or issues it to its stream."""

Replayed = tuple[str, LaunchReport]
"""The name of a kernel that a graph launched, and the simulator's report."""


class Number:
    """A scalar argument that may change between calls: each launch reads it.

    Attributes:
        value: in its type.
        passed: as CuPy takes it.
        bits: as an unsigned integer.
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
        memory: from `alloc`.
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
        """Whether the elements are contiguous in row-major order."""
        return is_contiguous(self.shape, self.strides)

    @property
    def count(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))


@record
class MappedView:
    """A tensor map of a window, as a kernel argument."""

    tensor: DeviceView
    layout: Boxes


Passed = DeviceView | MappedView | Number | np.generic
"""The value of one kernel argument."""


@runtime_checkable
class Telling(Protocol):
    """A device that reports the progress of a launch while it runs, from 0 to 1."""

    told: Callable[[float], None]


class Device(Protocol):
    """One device. Failures are `WeftError`s (W072x); the caller must still release what it made
    before."""

    name: str
    """The name in reports, e.g. `NVIDIA H200` or `simulator`."""

    target: ClassVar[DeviceTarget]
    """Its target."""

    wants: ClassVar[Literal["cuda", "mlir"]]
    """The argument of `load`: the CUDA C++ text, or the text of the scheduled module."""

    most_shared: int
    """Most shared memory of a block, in bytes."""

    def load(self, text: str, kernels: Sequence[KernelEntry]) -> None:
        """Makes `kernels` of `text` launchable. Loading the same text again is cheap."""

    def alloc(self, name: str, dtype: str, count: int) -> Memory:
        """Allocates memory for `count` elements (0 is legal), not initialized. `name` is for
        reports."""

    def part(self, storage: Memory, name: str, dtype: str, count: int, place: int) -> Memory:
        """Memory for `count` elements in an allocation, from the byte `place` on; other parts may
        have the same bytes. It is freed as other memory is, before the allocation."""

    def free(self, memory: Memory) -> None: ...

    def poison(self, memory: Memory, byte: int, stream: Stream) -> None:
        """Fills memory with `byte`. Poisoned elements still count as never written."""

    def upload(self, memory: Memory, array: np.ndarray, stream: Stream) -> None:
        """Copies a C-contiguous host array with the allocation's size and element type to the
        device."""

    def download(self, memory: Memory, array: np.ndarray, stream: Stream) -> None:
        """Copies the whole allocation to a C-contiguous host array, and waits for completion."""

    # Operations on a stream have two stages, so that preparation is done once for many runs.
    # The returned action runs the operation each time it is called, with the memory, the stream
    # and the arguments given here.

    def copier(self, target: DeviceView, source: DeviceView, stream: Stream) -> Action:
        """Prepares a copy between views of equal shape and element type; either may be strided."""
        ...

    def filler(self, target: DeviceView, value: np.generic, stream: Stream) -> Action:
        """Prepares a fill: every element of a view, which may be strided, becomes `value`, of its
        element type."""
        ...

    def launcher(
        self, kernel: KernelEntry, grid: Triple, block: Triple, shared: int, args: Sequence[Passed], stream: Stream
    ) -> Action:
        """Prepares a launch of `kernel`. The action returns the simulator's report; None on a GPU.

        `shared` is the dynamic shared memory of the host program, in bytes, on top of
        `kernel.dynamic_shared_bytes`.
        """
        ...

    @property
    def unordered(self) -> Sequence[Race]:
        """Races between operations on different streams, as far as the device detects them."""
        ...

    def create_stream(self) -> Stream: ...

    def destroy_stream(self, stream: Stream) -> None: ...

    def create_event(self) -> Event: ...

    def record(self, event: Event, stream: Stream) -> None:
        """Records an event, which completes with all work issued to `stream` before. A recorded
        event may be recorded again: earlier waits still refer to the earlier recording."""

    def wait(self, stream: Stream, event: Event) -> None:
        """Makes work issued to `stream` from now on wait for `event`."""

    def destroy_event(self, event: Event) -> None: ...

    def elapsed(self, start: Event, end: Event) -> float | None:
        """Seconds between two completed events; None if the device keeps no time."""

    # During a capture, work issued to a stream is recorded in a graph, and not run. A stream that waits for an event
    # recorded in the capture joins it; before the capture ends, an event must join it to the first stream.

    def begin_capture(self, stream: Stream) -> None:
        """Begins a capture. During it, nothing may be allocated, freed, poisoned, copied from or to
        the host, or waited for by the host."""

    def end_capture(self, stream: Stream) -> Graph:
        """Ends a capture; returns a graph that is ready to launch. After a failure, graph and
        capture are released."""

    def abandon_capture(self, stream: Stream) -> None:
        """Ends a capture without a graph. Never fails, even without a capture."""

    def launch_graph(self, graph: Graph, stream: Stream) -> Sequence[Replayed]:
        """Issues the captured work to `stream`."""
        ...

    def destroy_graph(self, graph: Graph) -> None: ...

    def synchronize(self) -> None:
        """Waits until all issued work is done; raises asynchronous failures."""


Recorded = list[tuple[str | None, Callable[[], LaunchReport | None]]]
"""Work recorded by a capture, in order: the name of the launched kernel (None for other work), and
the action."""


@dataclass(eq=False)
class Instant:
    """An event. `at`: the time of its last recording."""

    at: float = 0.0


class Replay:
    """Base of devices that run work immediately. Only one stream captures at a time, and all others
    join it."""

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
        """Runs the action, or appends it to the capture."""
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
        """Runs all recorded work again, in order."""
        found = [(kernel, do()) for kernel, do in graph]
        return [(kernel, report) for kernel, report in found if kernel is not None and report is not None]

    def destroy_graph(self, graph: Recorded) -> None:
        """Does nothing: a graph holds only memory of this process."""
