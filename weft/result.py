"""What a run found, as data: `weft run --json` prints it, `report.py` lays it out, the API returns it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from .runtime.simulator.report import BankUse

if TYPE_CHECKING:
    from .runtime.run.runner import KernelRun
    from .runtime.simulator.report import Race


@dataclass(frozen=True)
class ComparedOutput:
    """How far one output is from the reference: `error` is max|got - ref| / max|ref|, exact (0 or more) for integers; None where
    nobody has compared."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    error: float | None = None
    tolerance: float | None = None
    ok: bool | None = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class BankAccess(BankUse):
    """What an op on shared memory cost, over all launches of its kernel. `statement`: that which made the buffer, where known."""

    kernel: str
    statement: str | None


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
    outputs: tuple[ComparedOutput, ...]
    races: tuple[Race, ...] | None
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
        lists = {name: plain(getattr(self, name), keys) for name, keys in _KEYS.items()}
        error = self.max_rel_error if self.max_rel_error is None or isfinite(self.max_rel_error) else None
        seconds = {phase: round(s, 6) for phase, s in self.seconds.items()}
        return {**vars(self), "max_rel_error": error, **lists, "seconds": seconds}


_KEYS = {
    "outputs": "name dtype shape error tolerance ok reason",
    "races": "kind buffer element first second",
    "kernels": "name grid block shared_bytes unproven",
    "bank_conflicts": "kernel buffer kind op location width executions wavefronts ideal conflicts degree statement pad padded",
}
"""What is said of each thing of a list."""


def plain(things: Iterable[object] | None, keys: str) -> list[dict[str, Any]] | None:
    """These attributes of each, for `json.dumps`."""
    return None if things is None else [{key: _value(getattr(thing, key)) for key in keys.split()} for thing in things]


def _value(value: object) -> Any:
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, (int, tuple, list)) else str(value)
