"""Random kernels over all pairs of agents, as text and as an enumeration of what every thread does.

Agents: loads, stores, vectors of them, atomics, asynchronous copies, and `ldmatrix`. Between two of them there are barriers of the
block (with fences of one memory, too) and of the warp, commits, and waits, in loops, and under conditions of the iteration, of the
thread, or of data. The kernels are free ones, and rings of tiles that are filled ahead, in the ways in which they are written,
mostly with something in them that should not be.

What is right is said by the definition alone: an access lasts from where it begins to where its thread has waited for it, and two
conflict if they touch one element, one of them writes it, and neither is over before the other begins, by the order of each thread
and of the barriers that both pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations

from random_kernels import SHARED, Env, Expr, Node, Printer

WARP = 32
SPACES = {"all": ("workgroup", "global"), "shared": ("workgroup",), "global": ("global",), "none": ()}


@dataclass(frozen=True)
class Memory:
    name: str
    shape: tuple[int, ...]
    kind: str = "f32"
    shared: bool = True

    @property
    def type(self) -> str:
        return f"memref<{'x'.join(map(str, self.shape))}x{self.kind}{f', {SHARED}' if self.shared else ''}>"

    @property
    def space(self) -> str:
        return "workgroup" if self.shared else "global"


@dataclass
class Use:
    """An access of `count` elements: `load`, `store`, `atomic`."""

    what: str
    memory: Memory
    index: tuple[Expr, ...]
    count: int = 1

    def emit(self, out: Printer) -> None:
        at, name, type_ = ", ".join(e.emit(out) for e in self.index), self.memory.name, self.memory.type
        vector = f"vector<{self.count}x{self.memory.kind}>"
        match self.what:
            case "load" if self.count == 1:
                out.line(f"{out.fresh()} = memref.load %{name}[{at}] : {type_}")
            case "load":
                out.line(f"{out.fresh()} = vector.load %{name}[{at}] : {type_}, {vector}")
            case "store" if self.count == 1:
                out.line(f"memref.store %{self.memory.kind}, %{name}[{at}] : {type_}")
            case "store":
                value = out.fresh()
                out.line(f"{value} = vector.broadcast %{self.memory.kind} : {self.memory.kind} to {vector}")
                out.line(f"vector.store {value}, %{name}[{at}] : {type_}, {vector}")
            case _:
                kind = self.memory.kind
                out.line(f"{out.fresh()} = memref.atomic_rmw addf %{kind}, %{name}[{at}] : ({kind}, {type_}) -> {kind}")

    def run(self, env: Env, trace: Thread) -> None:
        trace.doing = self, frozenset(env.items())
        trace.touch(self, tuple(e.value(env) for e in self.index), self.what != "load", self.what == "atomic")


@dataclass
class Copy:
    """An asynchronous copy."""

    memory: Memory
    index: tuple[Expr, ...]
    source: Memory
    begin: Expr
    count: int = 1

    def emit(self, out: Printer) -> None:
        begin, at = self.begin.emit(out), ", ".join(e.emit(out) for e in self.index)
        moved = f"{self.count} : {self.source.type} to {self.memory.type}"
        out.line(f"{out.fresh()} = nvgpu.device_async_copy %{self.source.name}[{begin}], %{self.memory.name}[{at}], {moved}")

    def run(self, env: Env, trace: Thread) -> None:
        trace.doing = self, frozenset(env.items())
        trace.begin(self, tuple(e.value(env) for e in self.index), self.begin.value(env))


@dataclass
class Matrices:
    """`ldmatrix`: lane l of the first 8 * tiles reads row `row` of halves."""

    memory: Memory
    row: Expr
    tiles: int

    def emit(self, out: Printer) -> None:
        said = f"{{numTiles = {self.tiles} : i32, transpose = false}} : {self.memory.type} -> vector<{self.tiles}x2xf16>"
        row = self.row.emit(out)
        out.line(f"{out.fresh()} = nvgpu.ldmatrix %{self.memory.name}[{row}, %zero] {said}")

    def run(self, env: Env, trace: Thread) -> None:
        trace.doing = self, frozenset(env.items())
        if env["t"] % WARP < 8 * self.tiles:
            trace.touch(Use("load", self.memory, (), 8), (self.row.value(env), 0), False, False)


@dataclass
class Sync:
    """`commit`, `wait` (of which `pending` groups are left; None: not said), `barrier` (`fence`), `warp`."""

    what: str
    pending: int | None = 0
    fence: str = "all"

    def emit(self, out: Printer) -> None:
        match self.what:
            case "commit":
                out.line(f"{out.fresh()} = nvgpu.device_async_create_group {{}}")
            case "wait":
                said = "" if self.pending is None else f" {{numGroups = {self.pending} : i32}}"
                out.line(f"nvgpu.device_async_wait %token{said}")
            case "warp":
                out.line("nvvm.bar.warp.sync %lanes : i32")
            case _:
                said = ", ".join(f"#gpu.address_space<{space}>" for space in SPACES[self.fence])
                out.line("gpu.barrier" if self.fence == "all" else f"gpu.barrier memfence [{said}]")

    def run(self, env: Env, trace: Thread) -> None:
        trace.sync(self)


@dataclass
class Told:
    """`if flags[index] != 0`: data decides."""

    index: Expr
    body: list[Node]

    def emit(self, out: Printer) -> None:
        flag, true = out.fresh(), out.fresh()
        out.line(f"{flag} = memref.load %flags[{self.index.emit(out)}] : memref<128xi32>")
        out.line(f"{true} = arith.cmpi ne, {flag}, %none : i32\nscf.if {true} {{")
        for node in self.body:
            node.emit(out)
        out.line("}")

    def run(self, env: Env, trace: Thread) -> None:
        if trace.flags[self.index.value(env)]:
            for node in self.body:
                node.run(env, trace)


# ---- what happens ---------------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Event:
    """An access of one element; `begin`, `end`: in events of its thread; `seen`: by space, of each thread, how many events are
    over when it begins; `doing`: the op, and what counters are; `group`: how many groups of copies its thread has made."""

    thread: int
    block: int
    place: tuple[str, int, int]
    writes: bool
    atomic: bool
    reads: bool
    begin: int
    end: int | None = None
    doing: tuple[Node, frozenset[tuple[str, int]]] | None = None
    group: int = 0
    seen: dict[str, dict[int, int]] = field(default_factory=dict)

    def before(self, other: Event, space: str) -> bool:
        if self.end is None:
            return False
        if self.thread == other.thread:
            return self.end < other.begin
        return other.seen[space].get(self.thread, 0) > self.end


class Thread:
    """What one thread does, in its order: events of accesses, and where it meets others."""

    def __init__(self, number: int, block: int, flags: list[int]) -> None:
        self.number, self.block, self.flags = number, block, flags
        self.steps: list[list[Event] | Sync] = []
        self.groups = 0
        self.doing: tuple[Node, frozenset[tuple[str, int]]] | None = None
        self.flying: list[tuple[int, Event]] = []

    def touch(self, use: Use, at: tuple[int, ...], writes: bool, atomic: bool) -> None:
        now = len(self.steps)
        flat = at[0] if len(at) == 1 else at[0] * use.memory.shape[1] + at[1]
        home = self.block if use.memory.shared else -1
        reads = atomic or not writes
        where = [(use.memory.name, home, flat + n) for n in range(use.count)]
        self.steps.append([
            Event(self.number, self.block, place, writes, atomic, reads, now, now, self.doing, self.groups) for place in where
        ])

    def begin(self, copy: Copy, at: tuple[int, ...], source: int) -> None:
        self.touch(Use("store", copy.memory, (), copy.count), at, True, False)
        self.touch(Use("load", copy.source, (), copy.count), (source,), False, False)
        *_, written, read = self.steps
        assert isinstance(written, list) and isinstance(read, list)
        made = [replace(event, begin=len(self.steps) - 2, end=None) for event in (*written, *read)]
        self.flying += [(self.groups, event) for event in made]
        self.steps[-2:] = [made]

    def sync(self, sync: Sync) -> None:
        if sync.what == "commit":
            self.groups += 1
        elif sync.what == "wait":
            for group, event in self.flying:
                if group < self.groups - (sync.pending or 0):
                    event.end = len(self.steps)
            self.flying = [(group, event) for group, event in self.flying if event.end is None]
        self.steps.append(sync)


def met(threads: list[Thread]) -> list[Event]:
    """The events of a block, with what each has seen."""
    seen: list[dict[str, dict[int, int]]] = [{"workgroup": {}, "global": {}} for _ in threads]
    at, out = [0] * len(threads), list[Event]()
    while any(n < len(thread.steps) for n, thread in zip(at, threads, strict=True)):
        for number, thread in enumerate(threads):
            while at[number] < len(thread.steps):
                step = thread.steps[at[number]]
                if isinstance(step, Sync) and step.what in ("barrier", "warp"):
                    break
                for event in step if not isinstance(step, Sync) else ():
                    event.seen = seen[number]
                    out.append(event)
                at[number] += 1
        waiting = {n: thread.steps[at[n]] for n, thread in enumerate(threads) if at[n] < len(thread.steps)}
        for sync, who in _groups(waiting, threads) if waiting else ():
            for space in SPACES["all"] if sync.what == "warp" else SPACES[sync.fence]:
                merged: dict[int, int] = {}
                for n in who:
                    for other, count in seen[n][space].items():
                        merged[other] = max(merged.get(other, 0), count)
                for n in who:
                    merged[threads[n].number] = at[n]
                for n in who:
                    seen[n] = {**seen[n], space: merged}
            for n in who:
                at[n] += 1
    return out


def _groups(waiting: Mapping[int, object], threads: list[Thread]) -> Iterator[tuple[Sync, list[int]]]:
    """Those that may go on: all of a block at its barrier, or all of a warp at its."""
    for start in range(0, len(threads), WARP):
        warp = range(start, min(start + WARP, len(threads)))
        first = waiting.get(start)
        if isinstance(first, Sync) and first.what == "warp" and all(waiting.get(n) is first for n in warp):
            yield first, list(warp)
            return
    steps = [waiting.get(n) for n in range(len(threads))]
    assert isinstance(steps[0], Sync) and all(step is steps[0] for step in steps), "a barrier that not all threads reach"
    yield steps[0], list(range(len(threads)))


@dataclass
class Kernel:
    """A kernel. `flags`: the data that decides; `size`: what `n` is in a run, where that is known then only."""

    threads: int
    blocks: int
    memories: list[Memory]
    body: list[Node]
    cluster: bool = False
    flags: list[int] = field(default_factory=lambda: [0] * 128)
    size: int | None = None

    def text(self) -> str:
        out = Printer()
        out.scope = {"t": "%t", "b": "%b"} | ({} if self.size is None else {"n": "%n"})
        for node in self.body:
            node.emit(out)
        outside = ", ".join(f"%{m.name}: {m.type}" for m in self.memories if not m.shared)
        inside = ", ".join(f"%{m.name}: {m.type} {{weft.name = \"{m.name}\"}}" for m in self.memories if m.shared)
        lines = "\n".join(out.lines)
        cluster = ", known_cluster_size = array<i32: 2, 1, 1>" if self.cluster else ""
        sizes = f"known_block_size = array<i32: {self.threads}, 1, 1>, known_grid_size = array<i32: {self.blocks}, 1, 1>{cluster}"
        return f"""gpu.module @m {{ gpu.func @k({outside}, %flags: memref<128xi32>, %n: index) workgroup({inside}) kernel
attributes {{{sizes}}} {{
%t = gpu.thread_id x
%b = gpu.block_id x
%zero = arith.constant 0 : index
%none = arith.constant 0 : i32
%lanes = arith.constant -1 : i32
%f32 = arith.constant 1.0 : f32
%f16 = arith.constant 1.0 : f16
%token = nvgpu.device_async_create_group {{}}
{lines}
gpu.return
}} }}"""

    def events(self, flags: list[int], size: int | None) -> list[Event]:
        out: list[Event] = []
        for block in range(self.blocks):
            threads: list[Thread] = []
            for t in range(self.threads):
                thread = Thread(block * self.threads + t, block, flags)
                thread.groups = 1
                for node in self.body:
                    node.run({"t": t, "b": block, "n": size or 0}, thread)
                threads.append(thread)
            out += met(threads)
        return out

    def judged(self, flags: list[int], size: int | None) -> tuple[bool, bool]:
        """With this data: whether two accesses conflict; whether shared memory is read that nothing has written before."""
        spaces = {m.name: m.space for m in self.memories}
        by_place: dict[tuple[str, int, int], list[Event]] = {}
        for event in self.events(flags, size):
            by_place.setdefault(event.place, []).append(event)
        unwritten = False
        for (name, _, _), some in by_place.items():
            for p, q in combinations(some, 2) if any(e.writes for e in some) else ():
                if (p.writes or q.writes) and not (p.atomic and q.atomic) and not _ordered(p, q, spaces[name]):
                    return True, False
            writes = [e for e in some if e.writes and not e.atomic]
            if spaces[name] == "workgroup":
                unwritten |= any(e.reads and not any(w.before(e, "workgroup") for w in writes) for e in some)
        return False, unwritten


def _ordered(p: Event, q: Event, space: str) -> bool:
    if p.thread == q.thread and p.begin == q.begin:
        return True  # one op
    return p.before(q, space) or q.before(p, space)
