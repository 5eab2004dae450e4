"""Findings of a simulated launch, as data: races, faults, counts. Equal findings are merged as they
are recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import field, replace
from typing import Literal, TypeVar

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
"""Most pairs of ops that a report lists per kind of race and buffer (and ops per kind of fault and
buffer); further ones are only counted. So the races of one buffer never hide those of another."""

FAULT_CODES: dict[FaultKind, str] = {
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

WAYS_OUT = {
    "W0652": "where an index is read from a random input, `--input NAME=0:SIZE` bounds that",
    "W0647": "where random inputs are too large for an operation, `--input NAME=0:LIMIT` bounds them",
}
"""For faults that random inputs may cause: the option that prevents them, by the code of the fault."""


def out_of_bounds(at: Sequence[int], buffer: str, counts: Sequence[int]) -> str:
    """The message of an access out of bounds. `counts`: the number of indices that are allowed
    there, by axis."""
    return f"{list(at)} in `{buffer}`, where {' x '.join(map(str, counts)) or '1'} can be addressed here"


@record
class Site:
    """An op of the kernel that accesses memory or synchronizes."""

    number: int
    op: str
    location: str
    alignment: int | None = None
    """Stated alignment of a vector access in bytes; None: that of the whole vector."""


@record
class ThreadOp:
    """One thread at one op. `block` and `thread` are (x, y, z)."""

    op: str
    location: str
    block: Triple
    thread: Triple

    @property
    def where(self) -> str:
        """The op, independent of the thread."""
        return f"{self.op} {self.location}"

    def __str__(self) -> str:
        place = f" at {self.location}" if self.location else ""
        return f"{self.op}{place} by thread {self.thread} of block {self.block}"


@record
class Operation:
    """An operation of a stream as a whole: a launch, a copy, a fill."""

    what: str
    stream: int

    @property
    def where(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return f"{self.what} on stream {self.stream}"


@record
class Race:
    """Two unordered accesses of one element by two threads or two streams, at least one a write.

    Args:
        kind: `RAW`, `WAR` or `WAW`: the second after the first, in the simulator's order;
            `in-flight`: the second conflicts with an asynchronous copy between its start and its
            thread's wait, possibly of the same thread.
        buffer: the argument's or the allocation's name.
        element: its indices.
        first, second: a witness.
        count: number of conflicts of the same two ops, including the witness.
    """

    kind: RaceKind
    buffer: str
    element: tuple[int, ...]
    first: ThreadOp | Operation
    second: ThreadOp | Operation
    count: int = 1

    @property
    def code(self) -> str:
        return "W0656" if self.kind == "in-flight" else "W0650"

    def __str__(self) -> str:
        return f"[{self.code}] {self.kind} race on {self.buffer}{list(self.element)}: {self.first}, then {self.second}"


@record
class Fault:
    """An illegal operation of a thread. `access`: its first occurrence; `buffer`, `element`: where
    applicable."""

    kind: FaultKind
    message: str
    access: ThreadOp
    buffer: str | None = None
    element: tuple[int, ...] | None = None
    count: int = 1

    @property
    def code(self) -> str:
        return FAULT_CODES[self.kind]

    def __str__(self) -> str:
        return f"[{self.code}] {self.kind}: {self.message}: {self.access}"


@record
class Statistics:
    """Counters of a simulation.

    Attributes:
        loads, stores: executed ops, each for a whole batch of lanes, not per thread.
        turns: scheduling decisions in one cluster, for diverged warp groups.
        seconds: wall time.
    """

    blocks: int = 0
    threads: int = 0
    batches: int = 0
    loads: int = 0
    stores: int = 0
    seconds: float = 0.0
    turns: int = 0


@record
class BankUse:
    """The cost of one op's executions on one shared buffer, counted exactly over all warps of the
    launch.

    Args:
        buffer, kind, op, location: the access; `site` is the op's number in the kernel.
        width: bytes per lane.
        executions: number of executions by a warp, with any lane active.
        wavefronts: number of wavefronts that these took.
        ideal: the fewest possible for an access of that width and those lanes.
        pad: elements of padding per row at which the buffer's accesses would take fewer wavefronts.
        padded: the wavefronts of this access with that padding.
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
        """Wavefronts relative to the fewest possible: 1.0 without a conflict."""
        return round(self.wavefronts / self.ideal, 3) if self.ideal else 1.0


@record
class Traffic:
    """Reads or writes of a buffer in global memory by all threads of the launch; atomics count as
    both.

    Args:
        size: of the buffer, in elements.
        elements, bytes: accessed, counted once for each accessing lane.
        accesses: number of accesses by width in bytes, the widest first.
        distinct: number of distinct elements; None where some were surely accessed twice.
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
        """Whether each element was accessed exactly once."""
        return self.elements == self.distinct == self.size


@record
class LaunchReport:
    """The findings of one launch.

    Args:
        races, faults: merged by kind, buffer and ops; at most `MOST_FINDINGS` per kind and buffer.
        race_count, fault_count: the number of all findings, before merging.
        barriers: number of barriers that a thread executed (the maximum, if it differs between
            threads).
        printed: the output of `gpu.printf`, thread by thread, in the order of blocks, then of
            threads.
        banks: the wavefronts of each op on shared memory; None if not counted.
        traffic: reads and writes of each buffer in global memory; None if not counted.
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


Found = TypeVar("Found", Race, Fault)


class Recorder:
    """Collects findings of one or more launches. The first witness of each finding is kept; later
    ones are counted.

    Args:
        most: number of findings listed per kind and buffer.
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
        """Records output of a thread. `block`, `thread`: linear ids. The texts of a thread arrive
        in its program order."""
        self._printed.append((block, thread, text))

    @property
    def text(self) -> str:
        """The whole output, thread by thread."""
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
