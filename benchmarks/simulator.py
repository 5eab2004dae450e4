"""The simulator on the tiled matmul: with and without the race check, and the ratio of the two in one run.

    python benchmarks/simulator.py
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "simulator"))

from gpu_kernels import matmul

SIZES = ((256, 256, 256, 5), (1000, 777, 333, 1))


def main() -> None:
    for m, n, k, runs in SIZES:
        start = time.perf_counter()
        kernel = matmul(m, n, k)
        translated = time.perf_counter() - start
        rng = np.random.default_rng(0)
        a, b = rng.random((m, k), np.float32), rng.random((k, n), np.float32)
        grid = (-(-n // 16), -(-m // 16), 1)
        seconds: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(runs):
            for check in (False, True):  # by turns: what else the machine does falls on both
                c = np.zeros((m, n), np.float32)
                report = kernel.launch(grid, (16, 16, 1), [a, b, c], check=check)
                seconds[check].append(report.statistics.seconds)
        plain, checked = (statistics.median(seconds[check]) for check in (False, True))
        print(f"{m} x {n} x {k}: translate {translated * 1e3:.1f} ms, {plain:.3f} s unchecked, {checked:.3f} s checked, "
              f"x {checked / plain:.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
