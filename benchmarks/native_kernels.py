"""The scheduled kernels natively on the CPU, on one thread: beside the same loops in C, and beside the checked simulator.

    python benchmarks/native_kernels.py
    python benchmarks/native_kernels.py --against DIR

What is promised: at most twice the time of the loops in C (gcc -O3 -march=native, without contraction), and for `simt` at 1024³ at
most a hundredth of the time of the simulator of commit fd6fa9c. DIR is where another version of Weft is installed; without it, the
simulator is this version's. All times are processor time: of the loops the least of several runs by turns, of the simulator that of
one `weft run`, which is a process of its own.
"""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from weft.pipeline import Choice, applied, planned
from weft.runtime.cpu.device import CpuDevice
from weft.runtime.run.work import Pool, Work

LOOPS = Path(__file__).with_name("native_loops.c")
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC")
RECIPES = ("naive", "shared", "simt")
SIZE, LARGE, RUNS = 512, 1024, 7


def in_c(recipe: str, arrays: list[np.ndarray], folder: Path) -> Callable[[], None]:
    """The recipe's loops, compiled for this size."""
    size = arrays[0].shape[0]
    library = folder / f"loops{size}.so"
    if not library.exists():
        subprocess.run(["gcc", *FLAGS, f"-DSIZE={size}", str(LOOPS), "-o", str(library)], check=True)
    function = getattr(ctypes.CDLL(str(library)), recipe)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    return lambda: function(*pointers)


def native(recipe: str, arrays: list[np.ndarray]) -> tuple[Callable[[], None], float]:
    """The recipe's kernel on one thread; and how long it took to compile."""
    settings = {name: str(arrays[0].shape[0]) for name in "mnk"}
    made = planned(applied(Choice(recipe, None, settings).open()))
    device = CpuDevice(threads=1)
    start = time.perf_counter()
    device.load(made.applied.text, made.plan.kernels)
    compiled = time.perf_counter() - start
    work = Work(made.plan, device, Pool(device))
    work.memory = {
        buffer.name: device.adopt(array.ctypes.data, array.nbytes)
        for buffer, array in zip(made.plan.buffers, arrays, strict=True)
    }
    actions = work.again(poison=False)

    def run() -> None:
        for action in actions:
            action()

    return run, compiled


def least(ways: dict[str, Callable[[], None]], runs: int) -> dict[str, float]:
    """Processor time of each way, by turns: what else the machine does falls on all."""
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(runs):
        for way, run in ways.items():
            start = time.process_time()
            run()
            seconds[way].append(time.process_time() - start)
    return {way: min(times) for way, times in seconds.items()}


def measure(recipe: str, size: int, folder: Path) -> float:
    """Print a line; and give the native time."""
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((size, size), np.float32) for _ in "ab")
    results = {way: np.zeros((size, size), np.float32) for way in ("native", "C")}
    run, compiled = native(recipe, [a, b, results["native"]])
    seconds = least({"native": run, "C": in_c(recipe, [a, b, results["C"]], folder)}, RUNS)
    if not np.array_equal(*results.values()):
        raise SystemExit(f"{recipe}: the two ways give different numbers")
    speed = 2 * size**3 / seconds["native"] / 1e9
    print(f"{recipe} {size}³: native {seconds['native'] * 1e3:.1f} ms ({speed:.1f} GFLOP/s; compiled in {compiled * 1e3:.0f} ms), "
          f"in C {seconds['C'] * 1e3:.1f} ms: x {seconds['native'] / seconds['C']:.2f} of C", flush=True)  # fmt: skip
    return seconds["native"]


def simulated(recipe: str, size: int, where: str | None) -> float:
    """Processor time of a checked run on the simulator, by the command of the version that is installed there."""
    settings = [word for name in "mnk" for word in ("--set", f"{name}={size}")]
    command = [sys.executable, "-m", "weft", "run", recipe, *settings, "--target", "sim", "--reference", "none"]
    environment = os.environ | ({"PYTHONPATH": where} if where is not None else {})
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as elsewhere:  # not this checkout's own package
        subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main(arguments: list[str]) -> None:
    where = str(Path(arguments[arguments.index("--against") + 1]).resolve()) if "--against" in arguments else None
    with tempfile.TemporaryDirectory() as folder:
        for recipe in RECIPES:
            measure(recipe, SIZE, Path(folder))
        seconds = measure("simt", LARGE, Path(folder))
    checked = simulated("simt", LARGE, where)
    print(f"simt {LARGE}³: checked simulator {checked:.1f} s: x {checked / seconds:.0f} of native")


if __name__ == "__main__":
    main(sys.argv[1:])
