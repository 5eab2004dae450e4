"""What was found by a run, as data: `Report`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

from ...dsl.records import record

if TYPE_CHECKING:
    from ..devices.device import DeviceTarget
    from ..devices.report import Race
    from ..plan.plan import Plan
    from .banks import BankAccess
    from .compare import OutputComparison
    from .runner import KernelRun
    from .traffic import BufferTraffic


@record
class RanVersion:
    """The version of the schedule that ran: its number, from 1, of how many, and what it assumes of sizes."""

    number: int
    count: int
    assumed: tuple[str, ...]


@record
class Report:
    """The result of a run.

    Args:
        ok: the outputs match and nothing raced; None where there was nothing to compare with.
        target: `sim`, `cuda` or `cpu`. `device`: its name.
        entry: the host function that ran.
        max_rel_error: of the worst output; None without a reference.
        outputs: each buffer that the payload writes, compared.
        races: None on a GPU or a CPU, which can't see them: only the simulator does.
        faults: out of bounds, uninitialized reads, divergent barriers, one line each; None likewise.
        barriers: how many barriers a thread executed at most, over all launches; None likewise.
        bank_conflicts: every op on shared memory, those without a conflict too; None likewise.
        traffic: what each kernel read and wrote of each buffer in global memory; None likewise.
        kernels: the launches, in order.
        graphs_created: 1 where the plan was captured and replayed.
        version: which one ran, of several; else None.
        fewest_streams: so many it takes at least for all to run at once that tokens allow; None where there are no tokens.
        seconds: by phase, in order.
        compared: of a bundle, on what its kernels were compared with their payload when it was built.
        unchecked: of a bundle, why its kernels were not compared with their payload when it was built; None where they were.
        edited: of a bundle, the files that are not as they were built; None where that can't be known, or nothing was read from
            one.
    """

    ok: bool | None
    target: DeviceTarget
    device: str
    entry: str
    reference: str
    max_rel_error: float | None
    outputs: tuple[OutputComparison, ...]
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
    traffic: tuple[BufferTraffic, ...] | None = None
    version: RanVersion | None = None
    fewest_streams: int | None = None
    compared: str | None = None
    unchecked: str | None = None
    edited: tuple[str, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain data for `json.dumps`: no NaN, no infinity (they become null), seconds rounded to microseconds."""
        lists = {name: plain(getattr(self, name), keys) for name, keys in _KEYS.items()}
        error = self.max_rel_error if self.max_rel_error is None or isfinite(self.max_rel_error) else None
        seconds = {phase: round(s, 6) for phase, s in self.seconds.items()}
        version = self.version and vars(self.version)
        return {**vars(self), "max_rel_error": error, **lists, "version": version, "seconds": seconds}


def ran(plan: Plan, number: int | None) -> RanVersion | None:
    from ..plan.plan import said

    if number is None:
        return None
    return RanVersion(number + 1, len(plan.versions), tuple(said(plan.versions[number])))


_KEYS = {
    "outputs": "name dtype shape error tolerance ok reason",
    "races": "kind buffer element first second",
    "kernels": "name grid block shared_bytes unproven",
    "bank_conflicts": "kernel buffer kind op location width executions wavefronts ideal conflicts degree statement pad padded",
    "traffic": "kernel buffer kind size elements bytes accesses once",
}
"""What is said of each thing of a list."""


def plain(things: Iterable[object] | None, keys: str) -> list[dict[str, Any]] | None:
    """These attributes of each, for `json.dumps`."""
    return None if things is None else [{key: _value(getattr(thing, key)) for key in keys.split()} for thing in things]


def _value(value: object) -> Any:
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, (int, tuple, list)) else str(value)
