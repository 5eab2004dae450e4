"""`SimDevice`: the device on which the runner executes plans without a GPU. Every call completes
before it returns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from ...dsl.diagnostics import fail
from ..cuda.module import kernel_functions, kernel_module
from ..devices import device
from ..devices.device import Instant, Passed, Recorded, Replay
from ..devices.report import LaunchReport, Operation, Race, Triple
from ..plan.plan import KernelEntry
from .allocations import Allocation, flat_window
from .kernel import Budget, Order, SimKernel, seconds_allowed
from .machine.memory import Global, MemoryWindow
from .stream_order import StreamOrder

Touched = dict[str, np.ndarray]
"""The elements of an allocation that an operation touches, by kind of access."""


class SimDevice(Replay):
    """Runs kernels on the simulator.

    Args:
        check: whether to detect races, and reads of memory that was never written.
        order: the order of lanes within an op, as in `SimKernel.launch`.
        seconds: the time limit of one launch; None: `WEFT_SIM_SECONDS`, or ten minutes.

    Attributes:
        alive: the streams, events, graphs and allocations that were created and not released.
        reports: the full report of every launch, by kernel name, in order.
        told: receives the completed fraction of a launch, 0 to 1.
    """

    name = "simulator"
    target: ClassVar[device.DeviceTarget] = "sim"

    def __init__(self, *, check: bool = True, order: Order = "forward", seconds: float | None = None) -> None:
        self.check = check
        self.seconds = seconds_allowed() if seconds is None else seconds
        self.order: Order = order
        self.told: Callable[[float], None] = lambda _: None
        self.alive = Counter({"streams": 0, "events": 0, "graphs": 0, "allocations": 0})
        self.reports: list[tuple[str, LaunchReport]] = []
        self.streams = StreamOrder()
        self._texts: dict[str, dict[str, SimKernel]] = {}
        self._kernels: dict[str, SimKernel] = {}

    # ---- kernels ---------------------------------------------------------------------------------

    def load(self, text: str, kernels: Sequence[KernelEntry]) -> None:
        symbols = dict.fromkeys(kernel.symbol for kernel in kernels)
        if not symbols.keys() <= self._texts.get(text, {}).keys():
            module = kernel_module(text, [*symbols])  # which must live as long as its kernels are translated
            found = (each for each in kernel_functions(module) if each.symbol in symbols)
            self._texts[text] = {each.symbol: SimKernel(each.op) for each in found}
        self._kernels |= {symbol: self._texts[text][symbol] for symbol in symbols}

    def launch(
        self,
        kernel: KernelEntry,
        grid: Triple,
        block: Triple,
        args: Sequence[device.DeviceView | np.generic],
        stream: device.Stream,
    ) -> LaunchReport:
        found = self._kernels.get(kernel.symbol)
        if found is None:
            raise fail("W0759", f"kernel `{kernel.symbol}` was not loaded")
        given = [_window(a) if isinstance(a, device.DeviceView) else (a, None) for a in args]
        values, written = [value for value, _ in given], [mask for _, mask in given]
        known = [p.name for p in kernel.params] + [f"arg{number}" for number in range(len(kernel.params), len(args))]
        names = [a.name if isinstance(a, device.DeviceView) else name for a, name in zip(args, known, strict=False)]
        shared = [a.memory for a in args if isinstance(a, device.DeviceView) and any(a.memory.others)]
        touched: list[Global] | None = [] if self._ordering or (self.check and shared) else None
        budget = Budget(self.seconds, told=self.told)
        made = found.launch(grid, block, values, self.check, names, written, self.order, budget=budget, touched=touched)
        if not self.check:
            for argument in args:  # its writes are not tracked: all that it was given counts as written
                if isinstance(argument, device.DeviceView):
                    argument.memory.written.fill(True)
        if touched is not None:
            called = f"launch of {kernel.name}({', '.join(a.name for a in args if isinstance(a, device.DeviceView))})"
            self._enter(stream, called, _footprints(args, touched))
        self.reports.append((kernel.name, made))
        return made

    # ---- memory ----------------------------------------------------------------------------------

    def alloc(self, name: str, dtype: str, count: int) -> Allocation:
        self.alive["allocations"] += 1
        return Allocation.made(name, dtype, count)

    def part(self, storage: Allocation, name: str, dtype: str, count: int, place: int) -> Allocation:
        storage.expect_alive()
        self.alive["allocations"] += 1
        return storage.part(name, dtype, count, place)

    def free(self, memory: Allocation) -> None:
        memory.free()
        self.streams.forget(memory)
        self.alive["allocations"] -= 1

    def poison(self, memory: Allocation, byte: int, stream: device.Stream) -> None:
        memory.expect_alive()
        memory.data.view(np.uint8).fill(byte)
        memory.written.fill(False)
        if memory.storage is not None:
            whole = MemoryWindow.whole(memory.name, memory.data.shape)
            touched = {"write": np.ones(memory.data.size, np.bool_)}
            self._enter(stream, f"allocation of {memory.name}", [(memory, whole, touched)])

    def upload(self, memory: Allocation, array: np.ndarray, stream: device.Stream) -> None:
        memory.expect_alive()
        memory.data[...] = array.reshape(-1).view(memory.data.dtype)
        memory.written.fill(True)

    def download(self, memory: Allocation, array: np.ndarray, stream: device.Stream) -> None:
        memory.expect_alive()
        array.reshape(-1).view(memory.data.dtype)[...] = memory.data

    def copy(self, target: device.DeviceView, source: device.DeviceView, stream: device.Stream) -> None:
        into, into_mask = _window(target)
        array, mask = _window(source)
        what = f"copy of {source.name} into {target.name}"
        self._expect_kept(source, mask, Operation(what, self.streams.numbers.get(stream, 0)))
        into[...] = array.copy()
        into_mask[...] = mask.copy()
        self._access(stream, what, read=source, write=target)

    def fill(self, target: device.DeviceView, value: np.generic, stream: device.Stream) -> None:
        into, into_mask = _window(target)
        into[...] = value
        into_mask[...] = True
        self._access(stream, f"fill of {target.name}", write=target)

    def _expect_kept(self, view: device.DeviceView, written: np.ndarray, by: Operation) -> None:
        """Records a race if a part with the same bytes has replaced an element that is read."""
        memory: Allocation = view.memory
        if not self.check or memory.overwriter is None:
            return
        lost = flat_window(memory.lost, view) & ~written
        if lost.any():
            element = tuple(int(n) for n in np.argwhere(lost)[0])
            race = Race("RAW", view.name, element, memory.overwriter, by, int(np.count_nonzero(lost)))
            self.streams.found.race(race)

    # ---- what streams and events order -----------------------------------------------------------

    @property
    def unordered(self) -> Sequence[Race]:
        """Pairs of operations on two streams that no event orders, recorded since the device last
        had no streams."""
        return self.streams.found.races

    @property
    def _ordering(self) -> bool:
        return self.check and self.streams.several

    def _access(self, stream: device.Stream, what: str, **views: device.DeviceView) -> None:
        """Records the operation `what` on a stream, with the views that it accesses: `write=` and
        `read=`."""
        if not self._ordering and not any(any(view.memory.others) for view in views.values()):
            return
        touched: dict[Allocation, tuple[MemoryWindow, Touched]] = {}
        for does, view in views.items():
            _, found = touched.setdefault(view.memory, (_named(view), {}))
            flat_window(found.setdefault(does, np.zeros(view.memory.data.size, np.bool_)), view)[...] = True
        self._enter(stream, what, [(memory, *found) for memory, found in touched.items()])

    def _enter(
        self, stream: device.Stream, what: str, touched: Sequence[tuple[Allocation, MemoryWindow, Touched]]
    ) -> None:
        """Records work, and the elements that it touches."""
        by = Operation(what, self.streams.numbers.get(stream, 0))
        for memory, _, elements in touched:
            for does, changed in elements.items():
                if does != "read":
                    memory.overwrite(changed, by)
        if self._ordering:
            found = [(memory.key, memory.footprint(window, elements)) for memory, window, elements in touched]
            self.streams.enter(stream, what, found)

    # ---- device work, now or, while a stream captures, whenever the graph is launched ------------

    def launcher(
        self,
        kernel: KernelEntry,
        grid: Triple,
        block: Triple,
        shared: int,
        args: Sequence[Passed],
        stream: device.Stream,
    ) -> device.Action:
        def launch() -> LaunchReport | None:
            # for a tensor map, the tensor: the kernel's own type holds the rest
            tensors = [arg.tensor if isinstance(arg, device.MappedView) else arg for arg in args]
            given = [arg.value if isinstance(arg, device.Number) else arg for arg in tensors]
            return self.launch(kernel, grid, block, given, stream)

        return partial(self._issue, launch, kernel.name)

    def end_capture(self, stream: device.Stream) -> Recorded:
        self.alive["graphs"] += 1
        return super().end_capture(stream)

    def destroy_graph(self, graph: Recorded) -> None:
        self.alive["graphs"] -= 1

    # ---- streams and events: all is done when the call returns -----------------------------------

    def create_stream(self) -> device.Stream:
        if not self.alive["streams"]:
            self.streams = StreamOrder()
        self.alive["streams"] += 1
        made = object()
        self.streams.open(made)
        return made

    def destroy_stream(self, stream: device.Stream) -> None:
        self.alive["streams"] -= 1

    def create_event(self) -> Instant:
        self.alive["events"] += 1
        return super().create_event()

    def _reach(self, event: Instant, stream: device.Stream) -> None:
        super()._reach(event, stream)
        self.streams.record(event, stream)

    def wait(self, stream: device.Stream, event: Instant) -> None:
        """Nothing to do: the event completed before this call."""
        self._issue(partial(self.streams.wait, stream, event))

    def destroy_event(self, event: Instant) -> None:
        self.alive["events"] -= 1

    def synchronize(self) -> None:
        """Nothing to do: no work is ever in flight."""
        self.streams.synchronize()


def _window(view: device.DeviceView) -> tuple[np.ndarray, np.ndarray]:
    """The elements of a view, and a flag for each that has been written."""
    memory: Allocation = view.memory
    memory.expect_alive()
    return flat_window(memory.data, view), flat_window(memory.written, view)


def _named(view: device.DeviceView) -> MemoryWindow:
    return MemoryWindow(view.name, view.offset, view.shape, view.strides)


def _footprints(
    args: Sequence[device.DeviceView | np.generic], touched: Sequence[Global]
) -> list[tuple[Allocation, MemoryWindow, Touched]]:
    """The elements that a launch touched, by allocation."""
    views = {a.memory.data.ctypes.data: a for a in args if isinstance(a, device.DeviceView)}
    found = ((views.get(memory.data.ctypes.data), memory.touched) for memory in touched)
    return [(view.memory, _named(view), elements) for view, elements in found if view is not None and elements]
