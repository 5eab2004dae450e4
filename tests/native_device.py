"""A device of the runner's that runs the emitted CUDA text on the CPU (g++, `native.py`): plan, text and ABI in one go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from capturing import Capturing
from native import Mode, NativeMap, run_native

from weft.interpreter.hardware import limits
from weft.runtime.devices.device import DeviceTarget, DeviceView, MappedView
from weft.runtime.plan.dtypes import NUMPY, windowed
from weft.runtime.plan.plan import KernelEntry, Launch, Plan


def for_all_sizes(plan: Plan) -> Plan:
    """The plan with the kernels for all sizes, also where indices of 32 bits would do."""
    return replace(plan, steps=tuple(replace(s, narrow=None) if isinstance(s, Launch) else s for s in plan.steps))


class NativeDevice(Capturing):
    """`mode`: fibers (fast) or threads under the thread sanitizer; its reports gather in `races`."""

    name = "g++"
    target: ClassVar[DeviceTarget] = "cuda"
    wants: ClassVar[Literal["cuda", "mlir"]] = "cuda"
    most_shared = limits.MOST

    def __init__(self, mode: Mode = "fibers", *, reverse: bool = False) -> None:
        self.mode: Mode = mode
        self.reverse = reverse
        self.races: list[str] = []
        self.outside = False
        self.text = ""

    def load(self, text: str, kernels: Sequence[KernelEntry]) -> None:
        self.text = text

    def alloc(self, name: str, dtype: str, count: int) -> np.ndarray:
        return np.empty(count, NUMPY[dtype])

    def part(self, storage: np.ndarray, name: str, dtype: str, count: int, place: int) -> np.ndarray:
        return storage.view(np.uint8)[place : place + count * NUMPY[dtype].itemsize].view(NUMPY[dtype])

    def free(self, memory: Any) -> None: ...

    def poison(self, memory: np.ndarray, byte: int, stream: Any) -> None:
        memory.view(np.uint8)[:] = byte

    def upload(self, memory: np.ndarray, array: np.ndarray, stream: Any) -> None:
        memory[:] = array.reshape(-1)

    def download(self, memory: np.ndarray, array: np.ndarray, stream: Any) -> None:
        array.reshape(-1)[:] = memory

    def copy(self, target: DeviceView, source: DeviceView, stream: Any) -> None:
        _strided(target)[...] = _strided(source)

    def fill(self, target: DeviceView, value: np.generic, stream: Any) -> None:
        _strided(target)[...] = value

    def launch(
        self, kernel: KernelEntry, grid: tuple, block: tuple, shared_bytes: int, args: Sequence[Any], stream: Any
    ) -> None:
        flat: list[Any] = []
        for arg, param in zip(args, kernel.text_params, strict=True):
            if isinstance(arg, DeviceView):
                flat.append(arg.memory)
                flat += [int(n) for n, known in zip(arg.shape, param.shape or (), strict=True) if known is None]
                flat += [int(n) for n, known in zip(arg.strides, param.strides or arg.strides, strict=True) if known is None]
                flat += [int(arg.offset)] if param.offset is None else []
            elif isinstance(arg, MappedView):
                flat.append(NativeMap(arg.tensor.memory[arg.tensor.offset :], arg.layout, _strided(arg.tensor)))
            else:
                flat.append(arg)
        result = run_native(self.text, kernel.name, grid, block, flat, self.mode, **self._options())
        self.races += result.races
        self.outside |= result.outside
        assert not result.diverged, "a barrier is not reached by all threads"
        assert not result.wrong, "something that no GPU has; what it is was printed"

    def _options(self) -> dict[str, Any]:
        return {"reverse": self.reverse} if self.mode == "fibers" else {}

    def create_stream(self) -> None: ...

    def destroy_stream(self, stream: Any) -> None: ...

    def create_event(self) -> None: ...

    def record(self, event: Any, stream: Any) -> None: ...

    def wait(self, stream: Any, event: Any) -> None: ...

    def destroy_event(self, event: Any) -> None: ...

    def elapsed(self, start: Any, end: Any) -> float | None:
        return None

    def synchronize(self) -> None: ...


def _strided(view: DeviceView) -> np.ndarray:
    size = view.memory.itemsize
    return windowed(view.memory[view.offset :], view.shape, [s * size for s in view.strides])
