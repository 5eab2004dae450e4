"""How long the command line takes to start: whole processes, best and median of several.

    python benchmarks/startup.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

COMMANDS = (
    ("python, doing nothing", [sys.executable, "-c", "pass"]),
    ("weft --version", [sys.executable, "-m", "weft", "--version"]),
    ("weft --help", [sys.executable, "-m", "weft", "--help"]),
    ("weft check shared", [sys.executable, "-m", "weft", "check", "shared"]),
    ("weft apply shared", [sys.executable, "-m", "weft", "apply", "shared"]),
    ("weft run shared, 64³, simulator", [
        sys.executable, "-m", "weft", "run", "shared", "--target", "sim", "--set", "m=64", "--set", "n=64", "--set", "k=64",
    ]),
)  # fmt: skip

RUNS = 7


def main() -> None:
    for name, command in COMMANDS:
        seconds = []
        for _ in range(RUNS):
            start = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            seconds.append(time.perf_counter() - start)
        print(f"{name:<34} best {min(seconds) * 1e3:6.0f} ms   median {statistics.median(seconds) * 1e3:6.0f} ms")


if __name__ == "__main__":
    main()
