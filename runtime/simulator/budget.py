"""How long one simulated launch may take. A launch that would go on for hours is refused once its first second tells."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...dsl.diagnostics import WeftError, fail
from .report import Triple

VARIABLE = "WEFT_SIM_SECONDS"
DEFAULT = 600.0
PROBE = 1.0
"""Seconds of a launch after which its first batches tell how long the rest will take."""


def seconds_allowed(environ: Mapping[str, str] = os.environ) -> float:
    """What `WEFT_SIM_SECONDS` says, infinity for `0`; by default ten minutes. Raises W0760 for what is no number."""
    text = environ.get(VARIABLE, "")
    if not text:
        return DEFAULT
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not seconds >= 0:
        raise fail("W0760", f"{VARIABLE}={text} is no number of seconds", hint=f"{VARIABLE}=0 lifts the limit")
    return seconds or math.inf


@dataclass
class Budget:
    """The time of one launch.

    Args:
        seconds: what it may take in all; infinity for any time.
        probe: no guess is made before that many seconds.
    """

    seconds: float = math.inf
    probe: float = PROBE
    start: float = field(default_factory=time.perf_counter)

    def spent(self, done: int, total: int) -> float | None:
        """Seconds that the whole launch will take if it goes on as in its first `done` blocks; None while that is fine."""
        elapsed = time.perf_counter() - self.start
        if done >= total or elapsed < min(self.probe, self.seconds):
            return None
        expected = elapsed * total / done
        return expected if expected > self.seconds else None


    @property
    def is_over(self) -> bool:
        """Whether the launch has taken all that it may: for loops, which may go on for long within one batch of blocks."""
        return time.perf_counter() - self.start > self.seconds


def too_long(kernel: str, grid: Triple, block: Triple, expected: float | None, allowed: float) -> WeftError:
    """`expected`: how long it would take in all; None where only loops know, and the time is over."""
    blocks, threads = math.prod(grid), math.prod(block)
    sizes = " × ".join(map(str, grid))
    said = f"its grid of {sizes} blocks would be simulated for about {_duration(expected or 0)}"
    if expected is None:
        said = f"loops in its grid of {sizes} blocks have been simulated for {_duration(allowed)}, and go on"
    return fail(
        "W0760",
        f"kernel `{kernel}`: {said}",
        notes=(
            f"{blocks} blocks of {threads} threads; a simulated launch may take {_duration(allowed)}",
            f"{VARIABLE} sets that limit, in seconds; 0 lifts it",
        ),
        hint="simulate a smaller payload or grid, e.g. `--set m=256`, or run on a GPU: `--target cuda`",
    )


def _duration(seconds: float) -> str:
    """`3 seconds`, `42 minutes`, `7 hours`, `3 days`."""
    unit, size = next(((u, s) for u, s in UNITS if seconds >= 2 * s), UNITS[-1])
    return f"{seconds / size:.0f} {unit}" if seconds >= 2 else f"{seconds:.2g} {unit}"


UNITS = (("days", 86400), ("hours", 3600), ("minutes", 60), ("seconds", 1))
