"""Small random kernels, and the plainest way to run them: one thread after another, every access in a list.

A program is a tuple of statements; `text` writes it as MLIR and `run` interprets it, sharing nothing with the simulator.
Races are looked for by comparing every pair of accesses.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace

SIZES = {"S": 4, "T": 2, "G": 4, "H": 6}
"""Buffers: S and T in shared memory, G and H in global memory, where H starts unwritten."""

SHARED = ("S", "T")
SPACES = {"S": "shared", "T": "shared", "G": "global", "H": "global"}
FENCES = {
    "all": ("gpu.barrier", ("shared", "global")),
    "shared": ("gpu.barrier memfence [#gpu.address_space<workgroup>]", ("shared",)),
    "global": ("gpu.barrier memfence [#gpu.address_space<global>]", ("global",)),
    "none": ("gpu.barrier memfence []", ()),
}


@dataclass(frozen=True)
class Index:
    """(thread * t + block * b + loop * l + c) mod the buffer's size."""

    t: int
    b: int
    l: int
    c: int


@dataclass(frozen=True)
class Load:
    """Add the element to the thread's own sum."""

    buffer: str
    index: Index


@dataclass(frozen=True)
class Store:
    """Store the thread's sum, plus its id."""

    buffer: str
    index: Index


@dataclass(frozen=True)
class Atomic:
    """Atomically add 1; what was there is not used."""

    buffer: str
    index: Index


@dataclass(frozen=True)
class Start:
    """Start an asynchronous copy of an element of global memory to shared memory; one `of_nothing` reads none and makes a zero."""

    source: str
    begin: Index
    target: str
    at: Index
    of_nothing: int


@dataclass(frozen=True)
class Commit:
    """What was started since the last is a group."""


@dataclass(frozen=True)
class Wait:
    """Until at most so many of the thread's groups are pending."""

    pending: int


@dataclass(frozen=True)
class Barrier:
    fence: str


@dataclass(frozen=True)
class When:
    """`of` is `thread` or `block`; the body runs where (of + c) mod 3 < 2, the other where not."""

    of: str
    c: int
    body: tuple[Statement, ...]
    other: tuple[Statement, ...]


@dataclass(frozen=True)
class Repeat:
    """`count` rounds, and `thread mod 2` more where `uneven`."""

    count: int
    uneven: bool
    body: tuple[Statement, ...]


Statement = Load | Store | Atomic | Start | Commit | Wait | Barrier | When | Repeat


# ---- as MLIR ------------------------------------------------------------------------------------------------------------


def kind_of(buffer: str) -> str:
    space = ", #gpu.address_space<workgroup>" if buffer in SHARED else ""
    return f"memref<{SIZES[buffer]}xi32{space}>"


class Writer:
    """Writes a program, one access a line; `lines[n]` is the statement's number of the access in line n."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.names = itertools.count()

    def index(self, buffer: str, index: Index, loop: str) -> str:
        name = f"%i{next(self.names)}"
        expression = f"(t * {index.t} + b * {index.b} + l * {index.l} + {index.c}) mod {SIZES[buffer]}"
        self.out.append(f"{name} = affine.apply affine_map<(t, b, l) -> ({expression})>(%t, %b, {loop})")
        return name

    def write(self, program: tuple[Statement, ...], loop: str) -> None:
        for statement in program:
            self.statement(statement, loop)

    def statement(self, s: Statement, loop: str) -> None:
        n = next(self.names)
        if isinstance(s, Barrier):
            self.out.append(FENCES[s.fence][0])
        elif isinstance(s, Start):
            begin, at = self.index(s.source, s.begin, loop), self.index(s.target, s.at, loop)
            kinds, read = f"{kind_of(s.source)} to {kind_of(s.target)}", ", %c0" if s.of_nothing else ""
            self.out.append(f"%k{n} = nvgpu.device_async_copy %{s.source}[{begin}], %{s.target}[{at}], 1{read} : {kinds}")
        elif isinstance(s, Commit):
            self.out.append(f"%k{n} = nvgpu.device_async_create_group {{next}}")
        elif isinstance(s, Wait):
            self.out.append(f"nvgpu.device_async_wait %none {{numGroups = {s.pending} : i32}}")
        elif isinstance(s, When):
            subject = "%t" if s.of == "thread" else "%b"
            self.out.append(f"%m{n} = affine.apply affine_map<(x) -> ((x + {s.c}) mod 3)>({subject})")
            self.out.append(f"%q{n} = arith.cmpi slt, %m{n}, %c2 : index\nscf.if %q{n} {{")
            self.write(s.body, loop)
            self.out.append("} else {")
            self.write(s.other, loop)
            self.out.append("}")
        elif isinstance(s, Repeat):
            odd = "t mod 2" if s.uneven else "0"
            self.out.append(f"%n{n} = affine.apply affine_map<(t) -> ({odd} + {s.count})>(%t)")
            self.out.append(f"scf.for %l{n} = %c0 to %n{n} step %c1 {{")
            self.write(s.body, f"%l{n}")
            self.out.append("}")
        else:
            self.access(s, n, loop)

    def access(self, s: Load | Store | Atomic, n: int, loop: str) -> None:
        at, kind = self.index(s.buffer, s.index, loop), kind_of(s.buffer)
        if isinstance(s, Load):
            self.out.append(f"%x{n} = memref.load %{s.buffer}[{at}] : {kind}")
            self.out.append(f"%y{n} = memref.load %acc[%c0] : memref<1xi32>\n%z{n} = arith.addi %x{n}, %y{n} : i32")
            self.out.append(f"memref.store %z{n}, %acc[%c0] : memref<1xi32>")
        elif isinstance(s, Store):
            self.out.append(f"%y{n} = memref.load %acc[%c0] : memref<1xi32>\n%z{n} = arith.addi %y{n}, %ti : i32")
            self.out.append(f"memref.store %z{n}, %{s.buffer}[{at}] : {kind}")
        else:
            self.out.append(f"%o{n} = memref.atomic_rmw addi %one, %{s.buffer}[{at}] : (i32, {kind}) -> i32")


def text(program: tuple[Statement, ...]) -> str:
    writer = Writer()
    writer.write(program, "%c0")
    workgroup = ", ".join(f"%{b}: {kind_of(b)}" for b in SHARED)
    arguments = ", ".join(f'%{b}: {kind_of(b)} {{weft.name = "{b}"}}' for b in ("G", "H"))
    head = [f"%c{i} = arith.constant {i} : index" for i in range(3)]
    body = "\n".join([*head, *writer.out])
    return f"""gpu.func @k({arguments}, %sums: memref<?xi32> {{weft.name = "sums"}}) workgroup({workgroup}) kernel {{
%t = gpu.thread_id x
%b = gpu.block_id x
%d = gpu.block_dim x
%one = arith.constant 1 : i32
%zero = arith.constant 0 : i32
%ti = arith.index_cast %t : index to i32
%acc = memref.alloca() : memref<1xi32>
%none = nvgpu.device_async_create_group {{first}}
%c00 = arith.constant 0 : index
memref.store %zero, %acc[%c00] : memref<1xi32>
{body}
%g = affine.apply affine_map<(b, t)[d] -> (b * d + t)>(%b, %t)[%d]
%sum = memref.load %acc[%c0] : memref<1xi32>
memref.store %sum, %sums[%g] : memref<?xi32>
gpu.return
}}"""


# ---- one thread after another ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Event:
    """One access of one thread. `interval` counts the barriers before it that cover the buffer's space; `until` is that of its end,
    which is later for an asynchronous copy."""

    buffer: str
    element: int
    block: int
    thread: int
    interval: int
    until: int
    write: bool
    atomic: bool

    def races(self, other: Event) -> bool:
        if self.element != other.element or not (self.write or other.write) or (self.atomic and other.atomic):
            return False
        if self.block != other.block:
            return self.buffer not in SHARED
        return self.thread != other.thread and self.interval <= other.until and other.interval <= self.until


NEVER = 1 << 30
"""The interval in which a copy ends that nobody waits for."""


@dataclass
class Flight:
    """An asynchronous copy on its way: where it began, its group, the value that it will bring."""

    accesses: tuple[Event, ...]
    group: int
    key: tuple[str, int, int]
    source: tuple[str, int, int] | None


@dataclass
class Oracle:
    """The memory and the history of a launch."""

    blocks: int
    threads: int
    events: dict[str, list[Event]] = field(default_factory=lambda: {b: [] for b in SIZES})
    values: dict[tuple[str, int, int], int] = field(default_factory=dict)  # buffer, block (0 if global), element
    unwritten: set[str] = field(default_factory=set)
    divergent: bool = False
    own: list[tuple[Event, Event]] = field(default_factory=list)  # races of threads with what they themselves have started
    sums: list[int] = field(default_factory=list)

    def run(self, program: tuple[Statement, ...]) -> None:
        self.values.update({("G", 0, i): 10 + i for i in range(SIZES["G"])})
        for block in range(self.blocks):
            threads = [Thread(self, block, t) for t in range(self.threads)]
            going = [(t, t.run(program, 0)) for t in threads]
            while going:
                arrived = [(t, g, next(g, None)) for t, g in going]
                waiting = {barrier for _, _, barrier in arrived}
                if len(waiting) > 1:
                    self.divergent = True
                    return
                going = [(t, g) for t, g, barrier in arrived if barrier is not None]
            self.sums += [t.sum for t in threads]

    def racy(self) -> dict[str, set[tuple[Event, Event]]]:
        """The racing pairs by buffer."""
        found: dict[str, set[tuple[Event, Event]]] = {}
        for buffer, events in self.events.items():
            distinct = list(dict.fromkeys(events))
            pairs = {(a, b) for a, b in itertools.combinations(distinct, 2) if a.races(b)}
            pairs |= {pair for pair in self.own if pair[0].buffer == buffer}
            if pairs:
                found[buffer] = pairs
        return found


class Thread:
    def __init__(self, oracle: Oracle, block: int, thread: int) -> None:
        self.oracle, self.block, self.thread = oracle, block, thread
        self.sum = 0
        self.intervals = {"shared": 0, "global": 0}
        self.groups = 0
        self.flights: list[Flight] = []

    def run(self, program: tuple[Statement, ...], loop: int) -> Generator[tuple[int, ...], None, None]:
        """Yields at each barrier: which statement it is."""
        yield from self.body(program, loop)
        for flight in self.flights:
            self.enter(flight, None)

    def body(self, program: tuple[Statement, ...], loop: int) -> Generator[tuple[int, ...], None, None]:
        for s in program:
            if isinstance(s, Barrier):
                yield (id(s),)
                for space in FENCES[s.fence][1]:
                    self.intervals[space] += 1
            elif isinstance(s, When):
                subject = self.thread if s.of == "thread" else self.block
                yield from self.body(s.body if (subject + s.c) % 3 < 2 else s.other, loop)
            elif isinstance(s, Repeat):
                for turn in range(s.count + (self.thread % 2 if s.uneven else 0)):
                    yield from self.body(s.body, turn)
            elif isinstance(s, Start):
                self.start(s, loop)
            elif isinstance(s, Commit):
                self.groups += 1
            elif isinstance(s, Wait):
                ended = [flight for flight in self.flights if flight.group < self.groups - s.pending]
                self.flights = [flight for flight in self.flights if flight not in ended]
                for flight in ended:
                    self.enter(flight, self.intervals)
                    self.oracle.values[flight.key] = self.oracle.values.get(flight.source, 0) if flight.source else 0
            else:
                self.access(s, loop)

    def place(self, buffer: str, i: Index, loop: int) -> tuple[str, int, int]:
        element = (self.thread * i.t + self.block * i.b + loop * i.l + i.c) % SIZES[buffer]
        return buffer, self.block if buffer in SHARED else 0, element

    def event(self, key: tuple[str, int, int], *, write: bool, atomic: bool = False) -> Event:
        """An access now, which may meet a copy of the thread's own."""
        interval = self.intervals[SPACES[key[0]]]
        event = Event(key[0], key[2], self.block, self.thread, interval, interval, write, atomic)
        for one in (one for flight in self.flights for one in flight.accesses):
            if (one.buffer, one.element) == (event.buffer, event.element) and (one.write or write):
                self.oracle.own.append((one, event))
        return event

    def start(self, s: Start, loop: int) -> None:
        begin, at = self.place(s.source, s.begin, loop), self.place(s.target, s.at, loop)
        accesses = [self.event(at, write=True)]
        if not s.of_nothing:
            accesses.append(self.event(begin, write=False))
            if begin not in self.oracle.values:
                self.oracle.unwritten.add(s.source)
        self.flights.append(Flight(tuple(accesses), self.groups, at, None if s.of_nothing else begin))

    def enter(self, flight: Flight, until: dict[str, int] | None) -> None:
        """It has ended, or never will."""
        for one in flight.accesses:
            end = NEVER if until is None else until[SPACES[one.buffer]]
            self.oracle.events[one.buffer].append(replace(one, until=end))

    def access(self, s: Load | Store | Atomic, loop: int) -> None:
        key = self.place(s.buffer, s.index, loop)
        write, atomic = not isinstance(s, Load), isinstance(s, Atomic)
        self.oracle.events[s.buffer].append(self.event(key, write=write, atomic=atomic))
        if not isinstance(s, Store) and key not in self.oracle.values:
            self.oracle.unwritten.add(s.buffer)
        before = self.oracle.values.get(key, 0)
        if isinstance(s, Load):
            self.sum += before
        else:
            self.oracle.values[key] = before + 1 if isinstance(s, Atomic) else self.sum + self.thread


def statements(program: tuple[Statement, ...]) -> Iterator[Statement]:
    """All statements, nested ones too."""
    for s in program:
        yield s
        if isinstance(s, When):
            yield from statements(s.body + s.other)
        elif isinstance(s, Repeat):
            yield from statements(s.body)
