"""Kernels against the array library, cuDNN, PyTorch and Triton: what each is off by, and how long it takes, all of them in turns.

Everything is compared with the library's sums in f64, the library in f32 too, so that TF32 would be noticed. Before the run that
is checked, outputs and temporaries are filled with a byte that makes NaN. A sample is a graph of so many calls that it takes about
a millisecond: the host's part is not a part of it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from weft.dsl.diagnostics import WeftError
from weft.recipes import builders
from weft.runtime.files.bundle import Bundle, read_bundle
from weft.runtime.files.inputs import random_inputs
from weft.runtime.plan.dtypes import BITS, NUMPY, itemsize, poison_byte, widen
from weft.runtime.plan.plan import KernelEntry, Param
from weft.runtime.run.compare import TOLERANCES
from weft.runtime.run.cupy_device import CupyDevice
from weft.runtime.run.runner import contents
from weft.runtime.run.work import Pool, Work

from . import cudnn, pytorch

TOLERANCE, LIBRARY_TOLERANCE, HALF_TOLERANCE = 1e-5, 1e-4, 1e-2
"""Of max|got - expected| / max|expected|: as `weft run` allows f32; for cuDNN, which may transform (Winograd), PyTorch and
Triton, and for sums of tensor cores, which cut digits off (cuBLAS is off by 2e-5 where 16384 products are added up): TF32 is off
by more than any; and for libraries' results of half precision."""
SAMPLE_SECONDS, CONTENDER_SECONDS, MOST_SAMPLES, FEWEST_SAMPLES = 1e-3, 0.25, 25, 3
MOST_CALLS = 64
"""In a sample: the queue of launches, of which a call may take several, must hold them all."""
SIGNED = {"bf16": np.int16, "f8E4M3FN": np.int8, "f8E5M2": np.int8}
"""What holds the bits of numbers that CuPy has no type for, or PyTorch takes from no array of CuPy's."""
BYTES = ("f8E4M3FN", "f8E5M2")
FIRST_WAIT, LONGEST_WAIT = 1e-3, 64e-3

SPIN = """\
extern "C" __global__ void spin(long long nanoseconds) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < nanoseconds);
}
"""
SPIN_KERNEL = KernelEntry("spin", "evidence::spin", (Param("nanoseconds", "i64"),))

FAILURES = (WeftError, RuntimeError, MemoryError, ArithmeticError, ValueError, TypeError, AttributeError)
"""What may come of an item, CuPy's errors and those of its libraries among them: it is noted, and the next has its turn."""

Run = Callable[[], object]
Found = dict[str, Any]


def measure(item: Mapping[str, Any], folder: Path, device: CupyDevice, cupy: Any) -> Found:
    """One item: what there is to know of every bundle in it, and of the libraries."""
    with ExitStack() as stack:
        stream = device.create_stream()
        stack.callback(device.destroy_stream, stream)
        stack.enter_context(stream)
        return _Contest(item, folder, device, cupy, stream).result()


class _Contest:
    """The data of one item on the device, and what is done with it."""

    def __init__(self, item: Mapping[str, Any], folder: Path, device: CupyDevice, cupy: Any, stream: Any) -> None:
        self.item, self.device, self.cupy, self.stream = item, device, cupy, stream
        self.bundles = {name: read_bundle(folder / where) for name, where in item["entries"].items()}
        self.builder = builders()[item["builder"]]
        first = next(iter(self.bundles.values()))
        self.given = random_inputs(first.signature, 0)
        dtypes = {a.name: a.dtype for a in first.signature.arguments}
        raw = {name: array.view(SIGNED.get(dtypes[name], array.dtype)) for name, array in self.given.items()}
        self.arrays = {name: cupy.asarray(array) for name, array in raw.items()}
        """What lies in memory."""
        wider = {
            name: cupy.asarray(widen(array, dtypes[name])) for name, array in self.given.items() if dtypes[name] in BITS
        }
        self.numbers = self.arrays | wider
        """As CuPy computes with them."""
        self.type = item["values"].get("type")
        self.exact = LIBRARY_TOLERANCE if self.type in pytorch.HALF else TOLERANCE
        wide = {name: array.astype(np.float64) for name, array in self.numbers.items()}
        values = item["values"] | ({"type": "f64"} if "type" in item["values"] else {})
        self.expected = _each(self.builder.baseline(cupy, wide, **values))
        self.largest = [float(cupy.abs(one).max()) or 1.0 for one in self.expected]
        self.memory: list[Any] = []
        """What the entries' launches point to: CuPy gives memory back with its last reference."""

    def result(self) -> Found:
        """Check everybody, then time those that are right."""
        entries: Found = {
            name: {"right": False, "error": None, "failed": why} for name, why in self.item["refused"].items()
        }
        libraries: Found = {}
        runs: dict[tuple[str, str], Run] = {}
        for name, bundle in self.bundles.items():
            try:
                entries[name], runs["entries", name] = self._entry(bundle)
            except FAILURES as error:
                entries[name] = failed(error)
                self.device.synchronize()
        for name, make in self._libraries().items():
            try:
                if (run := make()) is not None:
                    given = [pytorch.numbers(one) for one in _each(run())]
                    error = self._error([self.cupy.asarray(one) for one, _ in given])
                    usual = TOLERANCE if name == "library" else LIBRARY_TOLERANCE
                    libraries[name] = verdict(error, HALF_TOLERANCE if any(half for _, half in given) else usual)
                    runs["libraries", name] = run
            except FAILURES as error:
                libraries[name] = failed(error)
                self.device.synchronize()
        found = {"entries": entries, "libraries": libraries}
        right = {who: run for who, run in runs.items() if found[who[0]][who[1]]["right"]}
        for (side, name), times in self._times(right).items():
            found[side][name] |= times
        operations = self.builder.operations(**self.item["values"])
        return {
            "right": all(e["right"] for e in (*entries.values(), *libraries.values())),
            "operations": operations,
            **found,
        }

    # ---- ours ----------------------------------------------------------------------------------------------------------

    def _entry(self, bundle: Bundle) -> tuple[Found, Run]:
        """Run a plan, all of it on one stream, with everything that it writes poisoned."""
        plan, device, stream = bundle.plan, self.device, self.stream
        device.load(bundle.cuda, plan.kernels)
        work = Work(plan, device, Pool(device))
        memory = work.memory
        for buffer in plan.buffers:
            memory[buffer.name] = device.alloc(buffer.name, buffer.dtype, math.prod(map(int, buffer.shape)))  # type: ignore[arg-type]
            if buffer.role in ("output", "temp"):
                device.poison(memory[buffer.name], poison_byte(buffer.dtype), stream)
            else:
                device.upload(memory[buffer.name], contents(buffer, self.given), stream)
        self.memory.append(memory)
        todo = [action for step in plan.steps if (action := work.of(step, stream)) is not None]

        def run() -> None:
            for action in todo:
                action()

        run()
        device.synchronize()
        results = [self._numbers(memory[o.name].pointer, o.shape, o.dtype) for o in plan.outputs]
        temporaries = sum(math.prod(map(int, b.shape)) * itemsize(b.dtype) for b in plan.buffers if b.role == "temp")  # type: ignore[arg-type]
        rounded = plan.rounded or (self.type if self.type in BYTES else None)
        allowed = max(self.exact, TOLERANCES[rounded] if rounded is not None else 0.0)
        if any(o.dtype in pytorch.HALF for o in plan.outputs):
            allowed = HALF_TOLERANCE
        return verdict(self._error(results), allowed) | {"temporaries": temporaries}, run

    def _numbers(self, pointer: Any, shape: Any, dtype: str) -> Any:
        """What lies there, as CuPy computes with it: bits of bf16 are the upper half of an f32's."""
        there = self.cupy.ndarray(shape, SIGNED.get(dtype, NUMPY[dtype]), memptr=pointer)
        return (there.astype(np.int32) << 16).view(np.float32) if dtype == "bf16" else there

    def _error(self, got: Sequence[Any]) -> float:
        """max|got - expected| / max|expected|, of the worst result; infinite where it is not finite: what nobody wrote is NaN."""
        several = zip(got, self.expected, self.largest, strict=True)
        off = [float(self.cupy.abs(one - expected).max()) / largest for one, expected, largest in several]
        return max(off) if all(map(math.isfinite, off)) else math.inf

    # ---- the libraries' ------------------------------------------------------------------------------------------------

    def _libraries(self) -> Mapping[str, Callable[[], Run | None]]:
        builder, values = self.item["builder"], self.item["values"]
        return {
            "library": self._library,
            "cudnn": self._cudnn,
            "pytorch": lambda: pytorch.function(builder, self.arrays, values),
            "triton": lambda: pytorch.kernel(builder, self.arrays),
        }

    def _library(self) -> Run | None:
        """cuBLAS, of a convolution behind an explicit im2col: the payload's own baseline. For products of half precision by
        PyTorch."""
        values = self.item["values"]
        if self.item["builder"] == "matmul" and values["type"] != "f32":
            return pytorch.product(self.arrays, values)
        return lambda: self.builder.baseline(self.cupy, self.numbers, **values)

    def _cudnn(self) -> Run | None:
        """By CuPy, or by PyTorch: newer versions of CuPy have left it out."""
        layout, values = self.item["layout"], self.item["values"]
        if not layout:
            return None
        mine = cudnn.convolution(self.cupy, self.numbers, values, layout, self.expected[0].shape)
        return mine or pytorch.convolution(self.arrays, values, layout)

    # ---- times ---------------------------------------------------------------------------------------------------------

    def _times(self, runs: Mapping[tuple[str, str], Run]) -> dict[tuple[str, str], Found]:
        """The median of seconds of each, a sample of each and then the next sample of each."""
        watches = {who: _Watch(self.device, self.stream, run) for who, run in runs.items()}
        for turn in range(MOST_SAMPLES):
            for watch in watches.values():
                if turn < watch.count:
                    watch.sample()
        return {who: watch.found() for who, watch in watches.items()}


class _Watch:
    """Times a contender: so many calls at once that they take about a millisecond, behind a kernel that waits until the host
    has issued them all. CuPy captures no library into a graph, and a small layer takes less time than its launch."""

    def __init__(self, device: CupyDevice, stream: Any, run: Run) -> None:
        self.device, self.stream, self.run = device, stream, run
        self.start, self.end = device.create_event(), device.create_event()
        device.load(SPIN, (SPIN_KERNEL,))
        self.wait, self.together = FIRST_WAIT, 1
        self.samples: list[tuple[float, bool]] = []
        about = [self._took() for _ in range(3)][-1]
        self.together = min(MOST_CALLS, max(1, math.ceil(SAMPLE_SECONDS / max(about, 1e-7))))
        self.count = min(MOST_SAMPLES, max(FEWEST_SAMPLES, int(CONTENDER_SECONDS / max(about * self.together, 1e-7))))
        self._took()

    def _took(self) -> float:
        """Seconds of a call. Where the host was too slow, the next wait is longer."""
        waiting = np.int64(int(self.wait * 1e9))
        self.device.launcher(SPIN_KERNEL, (1, 1, 1), (1, 1, 1), 0, (waiting,), self.stream)()
        self.device.record(self.start, self.stream)
        for _ in range(self.together):
            self.run()
        self.ahead = not self.start.done
        self.device.record(self.end, self.stream)
        self.device.synchronize()
        if not self.ahead:
            self.wait = min(2 * self.wait, LONGEST_WAIT)
        return (self.device.elapsed(self.start, self.end) or 0.0) / self.together

    def sample(self) -> None:
        self.samples.append((self._took(), self.ahead))

    def found(self) -> Found:
        """The median; of those samples in which the host was ahead, if there are any."""
        ahead = [seconds for seconds, ahead in self.samples if ahead]
        seconds = statistics.median(ahead or [seconds for seconds, _ in self.samples])
        return {"seconds": seconds, "samples": len(ahead) or len(self.samples), "with_host": not ahead}


def _each(results: Any) -> Sequence[Any]:
    """The results of one computation, of which most have one."""
    return results if isinstance(results, tuple) else (results,)


def verdict(error: float, tolerance: float) -> Found:
    return {"right": error <= tolerance, "error": error if math.isfinite(error) else None}


def failed(error: BaseException) -> Found:
    return {"right": False, "error": None, "failed": f"{type(error).__name__}: {error}"}
