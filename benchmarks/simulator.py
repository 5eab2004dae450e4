"""The simulator on staged matmuls of the recipes, in one run with the same kernel's text run natively (g++, behind the shim).

    python benchmarks/simulator.py

What is promised: the race check costs at most 6 times the unchecked run (1.5 times for `simt` at 256³), and that takes at most 20
times the native one.

The native run is compiled with -O1 and runs each GPU thread as a fiber, switched by a few instructions (on x86-64 and aarch64; with
`swapcontext`, a system call each time, 256³ takes several times as long: `--ucontext` shows it). Fiber by fiber nothing is
vectorized, so it is a baseline for the cost of simulating, not for what the CPU could do.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from native import Mode, build, run_native

from weft.interpreter.ir import mlir
from weft.pipeline import Choice, applied, planned
from weft.runtime.simulator.kernel import SimKernel

CASES = (("shared", 256, 256, 256, 5), ("shared", 500, 333, 200, 1), ("simt", 256, 256, 256, 5))


def _sizes(kernel: mlir.ir.Operation, which: str) -> tuple[int, int, int]:
    x, y, z = mlir.ir.DenseI32ArrayAttr(kernel.attributes[f"known_{which}_size"])
    return x, y, z


def measure(recipe: str, m: int, n: int, k: int, runs: int, mode: Mode) -> None:
    made = planned(applied(Choice(recipe, None, {"m": str(m), "n": str(n), "k": str(k)}).open()))
    (function,) = mlir.operations(made.applied.module.operation, "gpu.func")
    start = time.perf_counter()
    kernel = SimKernel(function)
    translated = time.perf_counter() - start
    build(made.cuda, mode)
    rng = np.random.default_rng(0)
    a, b = rng.random((m, k), np.float32), rng.random((k, n), np.float32)
    grid, block = (_sizes(function, which) for which in ("grid", "block"))
    results = {way: np.zeros((m, n), np.float32) for way in ("unchecked", "checked", "native")}
    ways: dict[str, Callable[[np.ndarray], object]] = {
        "unchecked": lambda c: kernel.launch(grid, block, [a, b, c], check=False),
        "checked": lambda c: kernel.launch(grid, block, [a, b, c], check=True),
        "native": lambda c: run_native(made.cuda, kernel.name, grid, block, [a, b, c], mode),
    }
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(runs):
        for way, run in ways.items():  # by turns: what else the machine does falls on all
            start = time.perf_counter()
            run(results[way])
            seconds[way].append(time.perf_counter() - start)
    for way in ("checked", "native"):
        if not np.allclose(results["unchecked"], results[way], rtol=1e-4):
            raise SystemExit(f"{way} gives other numbers")
    plain, checked, native = (statistics.median(seconds[way]) for way in ways)
    print(f"`{recipe}`, {m} x {n} x {k}: translate {translated * 1e3:.1f} ms, unchecked {plain:.3f} s, checked {checked:.3f} s, "
          f"native {native:.3f} s: the check x {checked / plain:.2f}, unchecked x {plain / native:.1f} of native, "
          f"checked x {checked / native:.1f}")  # fmt: skip


def main() -> None:
    mode: Mode = "ucontext" if "--ucontext" in sys.argv[1:] else "fibers"
    for recipe, m, n, k, runs in CASES:
        measure(recipe, m, n, k, runs, mode)


if __name__ == "__main__":
    main()
