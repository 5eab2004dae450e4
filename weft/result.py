"""What a run found, as data: `weft run --json` prints it, `report.py` lays it out, the API returns it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from .runtime.run.result import KernelRun


@dataclass(frozen=True)
class OutputError:
    """How far one output is from the reference: `error` is max|got - ref| / max|ref|, exact (0 or more) for
    integers."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    error: float | None
    tolerance: float | None
    ok: bool | None
    reason: str | None


@dataclass(frozen=True)
class Found:
    """A race, with `kind`, `buffer`, `element`, `first`, `second` as the simulator describes them."""

    kind: str
    buffer: str
    element: tuple[int, ...]
    first: str
    second: str


@dataclass(frozen=True)
class BankAccess:
    """What an op on shared memory cost, over all launches of its kernel, counted exactly by the simulator.

    `executions` counts warps, `wavefronts` what they took, `ideal` the fewest possible; `conflicts` is the difference and
    `degree` the ratio. `width`: bytes of a lane. `statement`: the statement that made the buffer, where that is known. `pad`: rows
    that many elements longer were tried, and the access takes `padded` wavefronts then.
    """

    kernel: str
    buffer: str
    kind: str
    op: str
    location: str
    width: int
    executions: int
    wavefronts: int
    ideal: int
    conflicts: int
    degree: float
    statement: str | None
    pad: int | None
    padded: int | None


@dataclass(frozen=True)
class Report:
    """The result of a run.

    Args:
        ok: the outputs match and nothing raced; None where there was nothing to compare with.
        target: `sim` or `cuda`. `device`: its name.
        entry: the host function that ran.
        max_rel_error: of the worst output; None without a reference.
        outputs: each buffer that the payload writes, compared.
        races: None on a GPU, which can't see them.
        faults: out of bounds, uninitialized reads, divergent barriers, one line each; None on a GPU.
        barriers: how many barriers a thread executed at most, over all launches; None on a GPU.
        bank_conflicts: every op on shared memory, those without a conflict too; None on a GPU.
        kernels: the launches, in order.
        graphs_created: 1 where the plan was captured and replayed.
        fewest_streams: so many it takes at least for all to run at once that tokens allow; None where there are no tokens.
        seconds: by phase, in order.
    """

    ok: bool | None
    target: Literal["sim", "cuda"]
    device: str
    entry: str
    reference: str
    max_rel_error: float | None
    outputs: tuple[OutputError, ...]
    races: tuple[Found, ...] | None
    faults: tuple[str, ...] | None
    barriers: int | None
    kernels: tuple[KernelRun, ...]
    streams_created: int
    streams_destroyed: int
    graphs_created: int
    graphs_destroyed: int
    seconds: Mapping[str, float]
    bank_conflicts: tuple[BankAccess, ...] | None = None
    fewest_streams: int | None = None
    edited: tuple[str, ...] | None = None
    """Of a bundle: the files that are not as they were built; None where that can't be known, or nothing was read from one."""

    def to_json(self) -> dict[str, Any]:
        """Plain data for `json.dumps`: no NaN, no infinity (they become null), seconds rounded to microseconds."""
        data = asdict(self)
        for held, key in ((data, "max_rel_error"), *((output, "error") for output in data["outputs"])):
            if held[key] is not None and not isfinite(held[key]):
                held[key] = None
        data["seconds"] = {phase: round(s, 6) for phase, s in self.seconds.items()}
        return data
