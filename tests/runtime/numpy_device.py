"""A device made of NumPy arrays, for tests of the runner: kernels are Python functions, and any call can be made to fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from capturing import Capturing, Recorded

from weft.dsl.diagnostics import fail
from weft.interpreter.hardware import limits
from weft.runtime.devices.device import DeviceTarget, DeviceView
from weft.runtime.plan.dtypes import NUMPY
from weft.runtime.plan.plan import KernelEntry


class NumpyDevice(Capturing):
    """Args: kernels by name; `fail_at`: the number of the call that fails (releases never do); `order`: of graphs; `log` has every
    call."""

    name = "numpy"
    target: ClassVar[DeviceTarget] = "cuda"
    wants: ClassVar[Literal["cuda", "mlir"]] = "cuda"
    most_shared = limits.MOST

    def __init__(self, kernels: dict[str, Callable[..., None]], fail_at: int | None = None, order: int | None = None) -> None:
        self.kernels = kernels
        self.fail_at = fail_at
        self.order = order
        self.calls = 0
        self.log: list[tuple[Any, ...]] = []
        self.alive: Counter[str] = Counter()

    def _call(self, *what: Any) -> None:
        if self.calls == self.fail_at:
            self.calls += 1
            raise fail("W0723", f"made to fail: {what[0]}")
        self.calls += 1
        self.log.append(what)

    def load(self, text: str, kernels: Sequence[KernelEntry]) -> None:
        self._call("load", text, tuple(k.name for k in kernels))

    def _issue(self, stream: int, do: Callable[[], Any], kernel: str | None = None) -> Any:
        if self.capture is not None and stream in self.capture.fronts:
            self._call("captured", kernel, stream)
        return super()._issue(stream, do, kernel)

    def begin_capture(self, stream: int) -> None:
        self._call("begin_capture", stream)
        super().begin_capture(stream)

    def end_capture(self, stream: int) -> Recorded:
        self._call("end_capture", stream)
        self.alive["graphs"] += 1
        return super().end_capture(stream)

    def abandon_capture(self, stream: int) -> None:
        self.log.append(("abandon_capture",))
        super().abandon_capture(stream)

    def launch_graph(self, graph: Recorded, stream: int) -> Sequence[Any]:
        self._call("launch_graph", stream)
        return super().launch_graph(graph, stream)

    def destroy_graph(self, graph: Recorded) -> None:
        self.log.append(("destroy_graph",))
        self.alive["graphs"] -= 1
        super().destroy_graph(graph)

    def alloc(self, name: str, dtype: str, count: int) -> dict[str, Any]:
        self._call("alloc", name, dtype, count)
        self.expect_no_capture("allocating")
        self.alive["memory"] += 1
        return {"data": np.zeros(count, NUMPY[dtype]), "name": name, "alive": True}

    def part(self, storage: dict[str, Any], name: str, dtype: str, count: int, place: int) -> dict[str, Any]:
        self._call("part", name, dtype, count, place)
        self.alive["memory"] += 1
        size = count * NUMPY[dtype].itemsize
        return {"data": storage["data"].view(np.uint8)[place : place + size].view(NUMPY[dtype]), "name": name, "alive": True}

    def free(self, memory: dict[str, Any]) -> None:
        self.log.append(("free", memory["name"]))
        self.expect_no_capture("freeing")
        assert memory["alive"], "freed twice"
        memory["alive"] = False
        self.alive["memory"] -= 1

    def poison(self, memory: dict[str, Any], byte: int, stream: int) -> None:
        self._call("poison", memory["name"], byte)
        self.expect_no_capture("poisoning")
        memory["data"].view(np.uint8).fill(byte)

    def upload(self, memory: dict[str, Any], array: np.ndarray, stream: int) -> None:
        self._call("upload", memory["name"])
        self.expect_no_capture("an upload")
        memory["data"][...] = array.reshape(-1)

    def download(self, memory: dict[str, Any], array: np.ndarray, stream: int) -> None:
        self._call("download", memory["name"])
        self.expect_no_capture("a download")
        array.reshape(-1)[...] = memory["data"]

    def copy(self, target: DeviceView, source: DeviceView, stream: int) -> None:
        self._call("copy", target.name, source.name, stream)
        window(target)[...] = window(source)

    def fill(self, target: DeviceView, value: np.generic, stream: int) -> None:
        self._call("fill", target.name, value, stream)
        window(target)[...] = value

    def launch(
        self, kernel: KernelEntry, grid: Any, block: Any, shared_bytes: int, args: Sequence[Any], stream: int
    ) -> None:
        self._call("launch", kernel.name, grid, block, stream)
        self.kernels[kernel.name](*(window(a) if isinstance(a, DeviceView) else a for a in args))

    def create_stream(self) -> int:
        self._call("create_stream")
        self.alive["streams"] += 1
        return self.calls

    def destroy_stream(self, stream: int) -> None:
        self.log.append(("destroy_stream",))
        self.alive["streams"] -= 1

    def create_event(self) -> int:
        self._call("create_event")
        self.alive["events"] += 1
        return self.calls

    def record(self, event: int, stream: int) -> None:
        self._call("record", event, stream)
        self.record_captured(event, stream)

    def wait(self, stream: int, event: int) -> None:
        self._call("wait", stream, event)
        self.wait_captured(stream, event)

    def destroy_event(self, event: int) -> None:
        self.log.append(("destroy_event",))
        self.alive["events"] -= 1

    def elapsed(self, start: int, end: int) -> float | None:
        return None

    def synchronize(self) -> None:
        self._call("synchronize")
        self.expect_no_capture("waiting")


def window(view: DeviceView) -> np.ndarray:
    data: np.ndarray = view.memory["data"]
    assert view.memory["alive"], "used after it was freed"
    steps = tuple(s * data.itemsize for s in view.strides)
    return np.lib.stride_tricks.as_strided(data[view.offset :], view.shape, steps)
