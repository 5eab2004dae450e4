"""What a simulated launch found, as data: races, faults, counts. Equal findings are merged while they are recorded."""

from __future__ import annotations

from collections import Counter
from dataclasses import field, replace
from typing import Literal, TypeVar

from ...dsl.diagnostics import Diagnostic
from ...dsl.records import record

RaceKind = Literal["RAW", "WAR", "WAW", "in-flight"]
FaultKind = Literal[
    "out-of-bounds read",
    "out-of-bounds write",
    "uninitialized read",
    "divergent barrier",
    "misaligned access",
    "division by zero",
    "undefined result",
    "missing proxy fence",
    "deadlock",
    "mbarrier misuse",
    "register misuse",
    "unfinished copy",
]
Kind = Literal["load", "store"]
Triple = tuple[int, int, int]

MOST_FINDINGS = 8
"""Pairs of ops that a report lists for one kind of race and one buffer (and ops for a kind of fault and a buffer); the
rest is only counted. So no buffer's races hide another's."""

SEPARATED = "put a barrier between the two, or give the element to one thread"
AWAITED = (
    "wait for the copy first: `nvgpu.device_async_wait`, and a barrier behind it if another thread has started the copy"
)

FAULT_CODES: dict[str, str] = {
    "divergent barrier": "W0651",
    "out-of-bounds read": "W0652",
    "out-of-bounds write": "W0652",
    "uninitialized read": "W0653",
    "misaligned access": "W0654",
    "division by zero": "W0655",
    "undefined result": "W0647",
    "missing proxy fence": "W0657",
    "deadlock": "W0658",
    "mbarrier misuse": "W0659",
    "register misuse": "W0648",
    "unfinished copy": "W0649",
}


@record
class Site:
    """An op of the kernel that touches memory or synchronizes."""

    number: int
    op: str
    location: str
    alignment: int | None = None
    """Of a vector, as the op says it, in bytes; None where it is that of the whole vector."""


@record
class ThreadOp:
    """One thread doing one op. `block` and `thread` are (x, y, z)."""

    op: str
    location: str
    block: Triple
    thread: Triple

    @property
    def where(self) -> str:
        """The op, whichever thread does it."""
        return f"{self.op} {self.location}"

    def __str__(self) -> str:
        place = f" at {self.location}" if self.location else ""
        return f"{self.op}{place} by thread {self.thread} of block {self.block}"


@record
class Operation:
    """Something that a stream does as a whole: a launch, a copy, a fill."""

    what: str
    stream: int

    @property
    def where(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return f"{self.what} on stream {self.stream}"


@record
class Race:
    """Two accesses of one element, at least one a write, by two threads, or two streams, that nothing orders.

    Args:
        kind: `RAW`, `WAR` or `WAW`: second after first, in the order in which the simulator met them; `in-flight`: the
            second meets an asynchronous copy between its start and its thread's wait, be it of the same thread.
        buffer: the argument's or the allocation's name.
        element: its indices.
        first, second: a witness.
        count: how often the same two ops met like this, the witness included.
    """

    kind: RaceKind
    buffer: str
    element: tuple[int, ...]
    first: ThreadOp | Operation
    second: ThreadOp | Operation
    count: int = 1

    def __str__(self) -> str:
        return f"{self.kind} race on {self.buffer}{list(self.element)}: {self.first}, then {self.second}"


@record
class Fault:
    """Something a thread must not do. `access`: the first that did it; `buffer`, `element`: where there are any."""

    kind: FaultKind
    message: str
    access: ThreadOp
    buffer: str | None = None
    element: tuple[int, ...] | None = None
    count: int = 1

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}: {self.access}"


@record
class Statistics:
    """`loads` and `stores` count ops executed by a whole batch of lanes, not by single threads. `seconds` is wall time.
    `turns`: of warp groups that each may be elsewhere, how often it was decided who goes on, in one cluster."""

    blocks: int = 0
    threads: int = 0
    batches: int = 0
    loads: int = 0
    stores: int = 0
    seconds: float = 0.0
    turns: int = 0


@record
class BankUse:
    """What the executions of one op on one shared buffer cost. Counted exactly, over all warps of the launch.

    Args:
        buffer, kind, op, location: which access; `site` is the op's number in the kernel.
        width: bytes of a lane.
        executions: how often a warp executed it, with any lane active.
        wavefronts, ideal: how many it took, and the fewest possible for an access of that width and those lanes.
        pad: elements by which longer rows were tried and the buffer's accesses take fewer wavefronts.
        padded: the wavefronts of this access then.
    """

    site: int
    buffer: str
    kind: Kind
    op: str
    location: str
    width: int
    executions: int
    wavefronts: int
    ideal: int
    pad: int | None = None
    padded: int | None = None

    @property
    def conflicts(self) -> int:
        return self.wavefronts - self.ideal

    @property
    def degree(self) -> float:
        """Wavefronts over the fewest possible: 1.0 without a conflict."""
        return round(self.wavefronts / self.ideal, 3) if self.ideal else 1.0


@record
class Traffic:
    """What lanes read, or wrote, of a buffer in global memory, over all threads of the launch; atomics do both.

    Args:
        size: of the buffer, in elements.
        elements, bytes: that were accessed, by each lane that did.
        accesses: by the width of an access in bytes, the widest first, how many there were.
        distinct: how many different elements these are; None where some were surely met twice.
    """

    buffer: str
    kind: Kind
    size: int
    elements: int
    bytes: int
    accesses: tuple[tuple[int, int], ...]
    distinct: int | None

    @property
    def once(self) -> bool:
        """Whether each element was accessed, and by one access."""
        return self.elements == self.distinct == self.size


@record
class LaunchReport:
    """The findings of one launch.

    Args:
        races, faults: merged by kind, buffer and ops; at most `MOST_FINDINGS` of a kind and buffer.
        race_count, fault_count: all that was found, merged ones included.
        barriers: how many barriers a thread executed (at most, where that differs between threads).
        printed: what `gpu.printf` has printed, one thread after the other, in the order of blocks, then of threads.
        banks: what each op on shared memory cost in wavefronts; None where that was not counted.
        traffic: what was read and written of each buffer in global memory; None likewise.
    """

    races: tuple[Race, ...] = ()
    faults: tuple[Fault, ...] = ()
    race_count: int = 0
    fault_count: int = 0
    barriers: int = 0
    statistics: Statistics = field(default_factory=Statistics)
    banks: tuple[BankUse, ...] | None = None
    traffic: tuple[Traffic, ...] | None = None
    printed: str = ""

    @property
    def clean(self) -> bool:
        return not self.races and not self.faults

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings as the rest of the program shows them."""
        races = (
            Diagnostic(
                "W0656" if race.kind == "in-flight" else "W0650",
                f"{race.kind} race on `{race.buffer}`, element {list(race.element)}",
                notes=(f"first: {race.first}", f"second: {race.second}", f"met {race.count} times"),
                hint=AWAITED if race.kind == "in-flight" else SEPARATED,
            )
            for race in self.races
        )
        faults = (
            Diagnostic(FAULT_CODES[f.kind], f"{f.kind}: {f.message}", notes=(f"by: {f.access}", f"met {f.count} times"))
            for f in self.faults
        )
        return (*races, *faults)


Found = TypeVar("Found", Race, Fault)


class Recorder:
    """Collects findings, of one launch or of many. The first witness of each stays; later ones only count.

    Args:
        most: how many are listed of a kind and buffer.
    """

    def __init__(self, most: float = MOST_FINDINGS) -> None:
        self.most = most
        self.race_count = 0
        self.fault_count = 0
        self._races: dict[tuple[str | None, ...], Race] = {}
        self._faults: dict[tuple[str | None, ...], Fault] = {}
        self._listed: Counter[tuple[str, str | None]] = Counter()
        self._printed: list[tuple[int, int, str]] = []

    def race(self, race: Race) -> None:
        self.race_count += race.count
        self._note(race, self._races, (race.kind, race.buffer, race.first.where, race.second.where))

    def fault(self, fault: Fault) -> None:
        self.fault_count += fault.count
        self._note(fault, self._faults, (fault.kind, fault.buffer, fault.access.op, fault.access.location))

    def printed(self, block: int, thread: int, text: str) -> None:
        """`block`, `thread`: linear ids. A thread's texts come in its own order."""
        self._printed.append((block, thread, text))

    @property
    def text(self) -> str:
        """All that was printed, one thread after the other."""
        return "".join(text for _, _, text in sorted(self._printed, key=lambda one: one[:2]))

    def _note(self, found: Found, known: dict[tuple[str | None, ...], Found], key: tuple[str | None, ...]) -> None:
        if key in known:
            known[key] = replace(known[key], count=known[key].count + found.count)
        elif self._listed[found.kind, found.buffer] < self.most:
            self._listed[found.kind, found.buffer] += 1
            known[key] = found

    @property
    def races(self) -> tuple[Race, ...]:
        return tuple(self._races.values())

    @property
    def faults(self) -> tuple[Fault, ...]:
        return tuple(self._faults.values())
