"""The rungs of attention on `docs/reductions.md`: what they keep in memory, what they move, how long that takes."""

from __future__ import annotations

from functools import cache
from math import prod

from ladder import Cell, Ladder
from scheduled import run_schedule

from weft.runtime.plan.dtypes import itemsize
from weft.runtime.plan.plan import Launch
from weft.runtime.run.execution import RunOptions
from weft.runtime.run.report import BufferTraffic

ATTENTION = Ladder("reductions/attention")
SMALL = {"b": "1", "n": "256", "m": "256"}
"""The launches that are counted: two blocks of 128 queries, or four of 64."""


@cache
def traffic(number: int) -> tuple[BufferTraffic, ...]:
    """What a rung reads and writes of global memory, counted. Raises ValueError where it is not right and race-free."""
    report = run_schedule(str(ATTENTION.path(number)), None, SMALL, None, RunOptions("sim", 3)).report
    if not report.ok or report.races or report.faults:
        raise ValueError(f"{ATTENTION.path(number).name} is wrong: {report}")
    return tuple(report.traffic or ())


def launches(number: int) -> int:
    return sum(isinstance(step, Launch) for step in ATTENTION.made(number).plan.steps)


def temporaries(number: int) -> int:
    """Bytes of global memory beside the arguments and the result."""
    buffers = ATTENTION.made(number).plan.buffers
    return sum(prod(map(int, map(str, b.shape))) * itemsize(b.dtype) for b in buffers if b.name not in "QKVO")


def reads(number: int, name: str) -> float:
    """Of each element of an argument."""
    return sum(one.elements / one.size for one in traffic(number) if one.buffer == name and one.kind == "load")


def per_argument(number: int) -> float:
    """Bytes that are read and written, for each byte of Q, K, V and O."""
    each = next(itemsize(b.dtype) for b in ATTENTION.made(number).plan.buffers if b.name == "Q")
    return sum(one.bytes for one in traffic(number)) / (4 * each * 256 * 64)


def seconds(number: int) -> float:
    return sum(kernel.seconds for kernel in ATTENTION.predicted(number).kernels)


def rate(number: int) -> float:
    """Operations of the two products in a second."""
    return 4 * 32 * 2048 * 2048 * 64 / seconds(number)


def _slowest(number: int) -> str:
    return max(ATTENTION.predicted(number).kernels, key=lambda kernel: kernel.seconds).limit


ROWS: dict[str, Cell] = {
    "launches": lambda n: str(launches(n)),
    "temporaries in global memory": lambda n: f"{temporaries(n) / 2**20:,.1f} MiB" if temporaries(n) else "none",
    "reads of each element of Q": lambda n: f"{reads(n, 'Q'):.0f}",
    "reads of each element of K, of V": lambda n: f"{reads(n, 'K'):.0f}, {reads(n, 'V'):.0f}",
    "bytes read and written, for a byte of Q, K, V and O": lambda n: f"{per_argument(n):,.1f}",
    "what limits the longest launch": _slowest,
    "**predicted time**": lambda n: f"**{seconds(n) * 1e6:,.0f} µs**",
    "**of the two products**": lambda n: f"**{rate(n) / 1e12:.1f} TFLOP/s**",
}
