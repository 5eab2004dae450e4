"""Small random kernels, and the plainest way to run them: one thread after another, every access in a list.

A program is a tuple of statements; `text` writes it as MLIR and `run` interprets it, sharing nothing with the simulator.
Races are looked for by comparing every pair of accesses.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

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


Statement = Load | Store | Atomic | Barrier | When | Repeat


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
    """One access of one thread. `interval` counts the barriers before it that cover the buffer's space."""

    buffer: str
    element: int
    block: int
    thread: int
    interval: int
    write: bool
    atomic: bool

    def races(self, other: Event) -> bool:
        if self.element != other.element or not (self.write or other.write) or (self.atomic and other.atomic):
            return False
        if self.block != other.block:
            return self.buffer not in SHARED
        return self.thread != other.thread and self.interval == other.interval


@dataclass
class Oracle:
    """The memory and the history of a launch."""

    blocks: int
    threads: int
    events: dict[str, list[Event]] = field(default_factory=lambda: {b: [] for b in SIZES})
    values: dict[tuple[str, int, int], int] = field(default_factory=dict)  # buffer, block (0 if global), element
    unwritten: set[str] = field(default_factory=set)
    divergent: bool = False
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
            if pairs:
                found[buffer] = pairs
        return found


class Thread:
    def __init__(self, oracle: Oracle, block: int, thread: int) -> None:
        self.oracle, self.block, self.thread = oracle, block, thread
        self.sum = 0
        self.intervals = {"shared": 0, "global": 0}

    def run(self, program: tuple[Statement, ...], loop: int) -> Generator[tuple[int, ...], None, None]:
        """Yields at each barrier: which statement it is."""
        for s in program:
            if isinstance(s, Barrier):
                yield (id(s),)
                for space in FENCES[s.fence][1]:
                    self.intervals[space] += 1
            elif isinstance(s, When):
                subject = self.thread if s.of == "thread" else self.block
                yield from self.run(s.body if (subject + s.c) % 3 < 2 else s.other, loop)
            elif isinstance(s, Repeat):
                for turn in range(s.count + (self.thread % 2 if s.uneven else 0)):
                    yield from self.run(s.body, turn)
            else:
                self.access(s, loop)

    def access(self, s: Load | Store | Atomic, loop: int) -> None:
        i = s.index
        element = (self.thread * i.t + self.block * i.b + loop * i.l + i.c) % SIZES[s.buffer]
        key = (s.buffer, self.block if s.buffer in SHARED else 0, element)
        write, atomic = not isinstance(s, Load), isinstance(s, Atomic)
        interval = self.intervals[SPACES[s.buffer]]
        event = Event(s.buffer, element, self.block, self.thread, interval, write, atomic)
        self.oracle.events[s.buffer].append(event)
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
