"""The findings of a run, as data: `Report`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ...dsl.records import record
from ..devices.report import BankUse, Traffic

if TYPE_CHECKING:
    from ..devices.device import DeviceTarget
    from ..devices.report import Race
    from ..plan.plan import Plan
    from ..plan.storage import Storage
    from .compare import OutputComparison
    from .runner import KernelRun


@record
class RanVersion:
    """The version of the schedule that ran: its number, from 1, the number of versions, and its
    assumptions about sizes."""

    number: int
    count: int
    assumed: tuple[str, ...]


@record
class OpUse:
    """An op of the payload, and what executes it.

    Args:
        label: its `weft.name`, or the name in its location.
        kind: as in `match` (`contraction`, …); the op's name where it has no kind.
        place: in the payload's text.
        schedule: the schedules that mapped it, `rest › by_threads`; None: no kernel executes it.
        kernels: the launches of each, in their order.
    """

    label: str | None
    kind: str
    place: str
    schedule: str | None
    kernels: Mapping[str, int]

    @property
    def launches(self) -> int:
        """The number of launches that execute it."""
        return sum(self.kernels.values())


@record
class Report:
    """The result of a run.

    Args:
        ok: the outputs match, and there are no races and faults; None if nothing was compared.
        target: `sim`, `cuda` or `cpu`.
        device: its name.
        entry: the host function that ran.
        max_rel_error: of the worst output; None without a reference.
        outputs: the comparison of each buffer that the payload writes.
        races: None on a GPU or a CPU: only the simulator detects them.
        faults: out of bounds, uninitialized reads, divergent barriers, …, a line with its code
            each; None as for races.
        barriers: most barriers that a thread executed, over all launches; None as for races.
        bank_conflicts: every op on shared memory, including those without a conflict; None as for
            races.
        traffic: the reads and writes of each kernel, by buffer in global memory; None as for races.
        printed: the output of `gpu.printf`, launch by launch, thread by thread; None as for races.
        kernels: the launches, in order.
        graphs_created: 1 if the plan was captured and replayed.
        storage: of the temporaries; None if there are none.
        version: the version that ran, of several; else None.
        fewest_streams: the fewest streams on which all steps run concurrently that tokens do not
            order; None without tokens.
        seconds: by phase, in order.
        compared: of a bundle, the inputs on which its kernels were compared with their payload at
            the build.
        unchecked: of a bundle, why its kernels were not compared with their payload at the build;
            None: they were.
        ops: of a scheduled program, its ops in order; None of a bundle.
        edited: of a bundle, the files edited since the build; None if unknown, or if there is no
            bundle.
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
    printed: str | None = None
    storage: Storage | None = None
    version: RanVersion | None = None
    fewest_streams: int | None = None
    compared: str | None = None
    unchecked: str | None = None
    edited: tuple[str, ...] | None = None
    ops: tuple[OpUse, ...] | None = None

    def __repr__(self) -> str:
        outputs = ", ".join(
            f"{each.name} {'not compared' if each.error is None else f'{each.error:.2e}'}" for each in self.outputs
        )
        return f"<weft.Report of {self.entry} on {self.device}: ok {self.ok}, {outputs or 'no outputs'}>"

    def to_json(self) -> dict[str, Any]:
        """Plain data for `json.dumps`: NaN and infinities become null, seconds are rounded to
        microseconds."""
        lists = {name: plain(getattr(self, name), keys) for name, keys in _KEYS.items()}
        error = self.max_rel_error if self.max_rel_error is None or isfinite(self.max_rel_error) else None
        seconds = {phase: round(s, 6) for phase, s in self.seconds.items()}
        version = self.version and vars(self.version)
        storage = None if self.storage is None else {key: getattr(self.storage, key) for key in _STORAGE.split()}
        return {
            **vars(self),
            "max_rel_error": error,
            **lists,
            "storage": storage,
            "version": version,
            "seconds": seconds,
        }


def ran(plan: Plan, number: int | None) -> RanVersion | None:
    from ..plan.plan import stated_texts

    if number is None:
        return None
    return RanVersion(number + 1, len(plan.versions), tuple(stated_texts(plan.versions[number])))


USES = "label kind place schedule kernels launches"
"""The attributes of an `OpUse` in JSON."""
_KEYS = {
    "outputs": "name dtype shape error tolerance ok reason",
    "races": "code kind buffer element first second",
    "kernels": "name grid block shared_bytes temporary_bytes unproven",
    "bank_conflicts": "kernel buffer kind op location width executions wavefronts ideal conflicts degree statement pad"
    " padded",
    "traffic": "kernel buffer kind size elements bytes accesses once",
    "ops": USES,
}
"""The attributes in JSON, by list."""


_STORAGE = "size needed apart on_one_stream by_streams"
"""The attributes of the temporaries' storage in JSON; `kernels` has those of each launch."""


def plain(things: Iterable[object] | None, keys: str) -> list[dict[str, Any]] | None:
    """These attributes of each, for `json.dumps`."""
    return None if things is None else [{key: _value(getattr(thing, key)) for key in keys.split()} for thing in things]


def _value(value: object) -> Any:
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, (int, tuple, list, dict)) else str(value)


@record(kw_only=True)
class BufferTraffic(Traffic):
    """The reads, or writes, of a buffer by all launches of a kernel."""

    kernel: str


def buffer_traffic(uses: Sequence[tuple[str, Traffic]] | None) -> tuple[BufferTraffic, ...] | None:
    """One entry per kernel, buffer and direction, in the order of the launches; None if not
    counted."""
    if uses is None:
        return None
    found: dict[object, BufferTraffic] = {}
    for kernel, use in uses:
        key, one = (kernel, use.buffer, use.kind), BufferTraffic(**vars(use), kernel=kernel)
        if (other := found.get(key)) is not None:  # unknown: elements of two launches may be the same
            wide_first = sorted((Counter(dict(other.accesses)) + Counter(dict(one.accesses))).items(), reverse=True)
            sums = {"elements": other.elements + one.elements, "bytes": other.bytes + one.bytes}
            one = replace(other, **sums, accesses=tuple(wide_first), distinct=None)
        found[key] = one
    return tuple(found.values())


@record(kw_only=True)
class BankAccess(BankUse):
    """The cost of an op on shared memory, over all launches of its kernel. `statement`: the one
    that created the buffer."""

    kernel: str
    statement: str | None


def bank_accesses(
    uses: Sequence[tuple[str, BankUse]] | None, statements: Callable[[], Mapping[str, str]]
) -> tuple[BankAccess, ...] | None:
    """One entry per kernel, op and buffer, in the order of the launches; None if not counted.
    `statements`: buffer → the statement that created it."""
    if uses is None:
        return None
    made = statements() if uses else {}
    found = [BankAccess(**vars(use), kernel=kernel, statement=made.get(use.buffer)) for kernel, use in uses]
    return tuple(map(_together, _grouped(found, "kernel", "site", "buffer", "kind")))


def _grouped(accesses: Iterable[BankAccess], *names: str) -> list[list[BankAccess]]:
    """Accesses with equal fields, in groups."""
    groups: dict[object, list[BankAccess]] = {}
    for access in accesses:
        groups.setdefault(attrgetter(*names)(access), []).append(access)
    return list(groups.values())


def _together(same: Sequence[BankAccess]) -> BankAccess:
    """The sum of their costs; and the advice, if it is the same for all that conflict."""
    total = {name: sum(getattr(access, name) for access in same) for name in ("executions", "wavefronts", "ideal")}
    pads = {access.pad for access in same if access.conflicts}
    pad = pads.pop() if len(pads) == 1 else None
    padded = None if pad is None else sum(a.wavefronts if a.padded is None else a.padded for a in same)
    return replace(same[0], **total, pad=pad, padded=padded)


def _longer(statement: str | None, elements: int) -> str:
    """The advice for longer rows of a buffer: an option of the statement that created it, if it has
    one."""
    if statement is None or "promote-to-shared" not in statement:
        return f"rows that are {elements} element{'s' if elements > 1 else ''} longer"
    return f"{elements} more to `pad`" if " pad " in statement else f"`pad {elements}` in that statement"


def conflicts(accesses: Sequence[BankAccess]) -> Iterator[tuple[str, list[str]]]:
    """Text for people: a line for each place, buffer and direction with conflicts, with the way
    out, the worst first. Ops that unrolling has repeated count as one."""
    groups = [
        (_together(group), len(group)) for group in _grouped(accesses, "kernel", "buffer", "kind", "location", "width")
    ]
    for use, count in sorted(groups, key=lambda group: -group[0].conflicts):
        if not use.conflicts:
            return
        ops = f"{count} ops, " if count > 1 else ""
        text = (
            f"{use.buffer}: {use.kind} of {use.width} bytes a lane, {use.degree:.3g}-way "
            f"({ops}{use.executions:,} warps: {use.wavefronts:,} wavefronts for {use.ideal:,})"
        )
        place = f"made by {use.statement}" if use.statement is not None else use.location and f"at {use.location}"
        hints = [place] if place else []
        if use.padded is not None:
            left = "without conflicts" if use.padded == use.ideal else f"{use.padded / use.ideal:.3g}-way"
            hints.append(f"hint: {_longer(use.statement, use.pad or 0)} would do {left}")
        yield text, hints
