"""The session's own work for the statements of a schedule: sum and the dearest ones, best of several runs in one process.

    python benchmarks/session.py [SCHEDULE …]
"""

from __future__ import annotations

import sys

from weft.pipeline import Applied, Choice, applied

RUNS = 7


def main() -> None:
    for name in sys.argv[1:] or ("naive", "shared", "simt", "simt_pipelined"):
        done = min((applied(Choice(name).open()) for _ in range(RUNS)), key=_seconds)
        steps = sorted(done.session.steps, key=lambda step: -step.seconds)
        print(f"{name}: {len(steps)} statements, {_seconds(done) * 1e3:.1f} ms")
        for step in steps[:5]:
            print(f"  {step.seconds * 1e3:6.1f} ms  {step.text}")


def _seconds(done: Applied) -> float:
    return sum(step.seconds for step in done.session.steps)


if __name__ == "__main__":
    main()
