"""What Weft adds to a launch on the host, without a GPU: a thousand launches by the runner's repeats, and by a bare loop; and a
`weft.Kernel` that is called with arrays, `out` given and their layout seen before.

    python benchmarks/host_cost.py [MICROSECONDS]

Both call the same stand-in for CuPy (`tests/runtime/fake_cupy`), whose launch here does nothing, or takes so many microseconds:
CuPy's takes two or more. What is promised, on a GPU (`benchmarks/gpu.py`), is within 10 % of the bare loop, and 10 µs a call.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "runtime" / "fake_cupy"))
os.environ["WEFT_CACHE_DIR"] = os.devnull

import cupy

from weft.runtime.call.kernel import Compiled, Kernel
from weft.runtime.call.targets import open_target
from weft.runtime.plan.plan import Buffer, BufferView, KernelEntry, Launch, Param, Plan
from weft.runtime.plan.signature import plan_signature
from weft.runtime.run.cupy_device import CupyDevice
from weft.runtime.run.runner import run_plan

LAUNCHES, RUNS = 1_000, 400
"""Many short runs, of which the fastest counts: on a machine that does other things, too, long ones are never quiet."""

GRID, BLOCK = (1, 1, 1), (8, 1, 1)


def plan() -> Plan:
    x, y = (BufferView(name, 0, (8,), (1,)) for name in "xy")
    param = Param("v", "f32", (8,), (1,))
    launches = (Launch(kernel="scale", grid=GRID, block=BLOCK, args=(x, y)),) * LAUNCHES
    buffers = (Buffer("x", "f32", (8,), "input"), Buffer("y", "f32", (8,), "output"))
    return Plan("f", buffers, (), launches, (KernelEntry("scale", "kernels::scale", (param, param)),))


def taking(seconds: float) -> Callable[..., None]:
    """A launch that takes the host about that long."""
    turns = round(seconds / _turn())

    def launch(self: Any, grid: Any, block: Any, args: Any, *, shared_mem: int, stream: Any) -> None:
        for _ in range(turns):
            pass

    return launch


def _turn() -> float:
    """Seconds of one turn of an empty loop."""
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        for _ in range(10_000):
            pass
        seconds.append(time.perf_counter() - start)
    return min(seconds) / 10_000


def bare() -> float:
    """Seconds of the fastest of several loops over the same calls."""
    function, stream = CupyDevice().module("text").get_function("scale"), cupy.cuda.Stream(non_blocking=True)
    calls = [(function, GRID, BLOCK, (np.uint64(1), np.uint64(2))) for _ in range(LAUNCHES)]
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        for do, grid, block, values in calls:
            do(grid, block, values, shared_mem=0, stream=stream)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


class Pointer:
    ptr, device_id = 4096, 0


class Array:
    """An array of CuPy's, whose attributes take no longer than CuPy's do: the stand-in's are NumPy's, which work theirs out."""

    data, dtype, strides = Pointer(), np.dtype(np.float32), (4,)

    def __init__(self, address: int) -> None:
        self.data, self.shape = Pointer(), (8,)
        self.data.ptr = address


Array.__module__ = "cupy"


def called() -> float:
    """Seconds of the fastest of several loops over calls of a kernel with two arrays."""
    step = Launch(kernel="scale", grid=GRID, block=BLOCK, args=plan().launches[0].args)
    one = replace(plan(), steps=(step,))
    kernel = Kernel(Compiled("scale", one, "text", "", plan_signature(one)), open_target("cuda"))
    x, y = Array(4096), Array(8192)
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        for _ in range(100):
            kernel(x, out=y)
        seconds.append(time.perf_counter() - start)
    return min(seconds) / 100


def main() -> None:
    microseconds = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0
    cupy.RawKernel.__call__ = taking(microseconds * 1e-6)
    done = run_plan(plan(), CupyDevice(), {"x": np.zeros(8, np.float32)}, text="text", repeat=RUNS)
    mine, theirs = min(done.issued) / LAUNCHES, bare() / LAUNCHES
    first = done.seconds["run"] / LAUNCHES
    print(f"the runner {mine * 1e9:.0f} ns a launch, a bare loop {theirs * 1e9:.0f} ns: {(mine - theirs) * 1e9:+.0f} ns, "
          f"{mine / theirs - 1:+.1%}; the first run, which works it out, {first * 1e9:.0f} ns")  # fmt: skip
    print(f"a call with arrays {called() * 1e6:.1f} µs, {(called() - theirs) * 1e6:+.1f} µs to a bare launch")


if __name__ == "__main__":
    main()
