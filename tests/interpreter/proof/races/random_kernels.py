"""Random kernels, as MLIR text and as an enumeration of what every thread does: the oracle of the conflict analysis.

A kernel is a tree of nodes. Each node can be printed, and can be executed for one thread, which appends to the thread's trace.
The oracle knows nothing of schedules: a barrier adds one to the thread's count of barriers of each space it orders, and two
accesses collide if their threads differ and their counts are equal.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, combinations_with_replacement
from types import CodeType
from typing import Any, Protocol

SHARED, GLOBAL = "#gpu.address_space<workgroup>", ""
Env = dict[str, int]


@cache
def _compiled(text: str) -> CodeType:
    return compile(text.replace("floordiv", "//").replace("mod", "%"), "<expression>", "eval")


@dataclass
class Expr:
    """An affine expression over names, as an affine map's text and as Python."""

    text: str  # with names of Env, e.g. "(e + 3) mod 8"

    def value(self, env: Env) -> int:
        return eval(_compiled(self.text), {}, dict(env))

    def emit(self, out: Printer) -> str:
        names = sorted({n for n in out.scope if n in self.text.replace("(", " ").replace(")", " ").split()})
        dims = ", ".join(f"d{i}" for i in range(len(names)))
        words = self.text.replace("(", " ( ").replace(")", " ) ").split()
        body = " ".join(f"d{names.index(w)}" if w in names else w for w in words)
        result = out.fresh()
        out.line(f"{result} = affine.apply affine_map<({dims}) -> ({body})>({', '.join(out.scope[n] for n in names)})")
        return result


@dataclass
class Printer:
    lines: list[str] = field(default_factory=list)
    scope: dict[str, str] = field(default_factory=dict)
    number: int = 0
    keep: frozenset[int] | None = None  # which of the numbered barriers to print; None: all

    def fresh(self) -> str:
        self.number += 1
        return f"%v{self.number}"

    def line(self, text: str) -> None:
        self.lines.append(text)

    def constant(self, value: int) -> str:
        name = self.fresh()
        self.line(f"{name} = arith.constant {value} : index")
        return name


class Node(Protocol):
    """A part of a kernel: its text, and what a thread does, which is added to a trace."""

    def emit(self, out: Printer) -> None: ...

    def run(self, env: Env, trace: Any) -> None: ...


@dataclass
class Trace:
    """What one thread does: (access number, element, barriers of its space so far)."""

    events: list[tuple[int, tuple[int, ...], int]] = field(default_factory=list)
    passed: dict[str, int] = field(default_factory=lambda: {"workgroup": 0, "global": 0})
    numbered: dict[int, int] = field(default_factory=dict)
    history: list[tuple[int, ...]] = field(default_factory=list)

    def record(self, number: int, element: tuple[int, ...], space: str) -> None:
        self.events.append((number, element, self.passed[space]))
        self.history.append(tuple(self.numbered.get(n, 0) for n in range(max(self.numbered, default=-1) + 1)))


@dataclass
class Access:
    number: int
    write: bool
    buffer: Buffer
    index: tuple[Expr, ...]

    def emit(self, out: Printer) -> None:
        at = ", ".join(e.emit(out) for e in self.index)
        if self.write:
            out.line(f"memref.store %zero, %{self.buffer.name}[{at}] : {self.buffer.type}")
        else:
            out.line(f"{out.fresh()} = memref.load %{self.buffer.name}[{at}] : {self.buffer.type}")

    def run(self, env: Env, trace: Trace) -> None:
        element = tuple(e.value(env) for e in self.index)
        trace.record(self.number, element, self.buffer.space)


@dataclass
class Barrier:
    number: int | None = None
    spaces: tuple[str, ...] = ("workgroup", "global")

    def emit(self, out: Printer) -> None:
        if self.number is not None and out.keep is not None and self.number not in out.keep:
            return
        fence = (
            "" if len(self.spaces) == 2 else f" memfence [{', '.join(f'#gpu.address_space<{s}>' for s in self.spaces)}]"
        )
        mark = f" {{weft.candidate = {self.number} : i64}}" if self.number is not None else ""
        out.line(f"gpu.barrier{fence}{mark}")

    def run(self, env: Env, trace: Trace) -> None:
        for space in self.spaces:
            trace.passed[space] += 1
        if self.number is not None:
            trace.numbered[self.number] = trace.numbered.get(self.number, 0) + 1


@dataclass
class For:
    name: str
    low: Expr
    high: tuple[Expr, ...]
    step: int
    body: list[Node]

    def emit(self, out: Printer) -> None:
        low, highs = self.low.emit(out), [h.emit(out) for h in self.high]
        high = highs[0]
        if len(highs) > 1:
            high = out.fresh()
            out.line(f"{high} = affine.min affine_map<(d0, d1) -> (d0, d1)>({', '.join(highs)})")
        step = out.constant(self.step)
        out.line(f"scf.for %{self.name} = {low} to {high} step {step} {{")
        out.scope[self.name] = f"%{self.name}"
        for node in self.body:
            node.emit(out)
        del out.scope[self.name]
        out.line("}")

    def run(self, env: Env, trace: Any) -> None:
        for value in range(self.low.value(env), min(h.value(env) for h in self.high), self.step):
            for node in self.body:
                node.run({**env, self.name: value}, trace)


@dataclass
class If:
    """`if left < right`, with an else arm."""

    left: Expr
    right: Expr
    then: list[Node]
    otherwise: list[Node]

    def emit(self, out: Printer) -> None:
        left, right = self.left.emit(out), self.right.emit(out)
        condition = out.fresh()
        out.line(f"{condition} = arith.cmpi slt, {left}, {right} : index")
        out.line(f"scf.if {condition} {{")
        for node in self.then:
            node.emit(out)
        out.line("} else {")
        for node in self.otherwise:
            node.emit(out)
        out.line("}")

    def run(self, env: Env, trace: Any) -> None:
        for node in self.then if self.left.value(env) < self.right.value(env) else self.otherwise:
            node.run(env, trace)


@dataclass(frozen=True)
class Buffer:
    name: str
    shape: tuple[int, ...]
    space: str

    @property
    def type(self) -> str:
        shape = "x".join(map(str, self.shape))
        return f"memref<{shape}xf32, {SHARED}>" if self.space == "workgroup" else f"memref<{shape}xf32>"


@dataclass
class Kernel:
    block: tuple[int, int]
    buffers: list[Buffer]
    body: list[Node]
    accesses: list[Access]
    grid: int = 1

    def text(self, keep: frozenset[int] | None = None) -> str:
        """The kernel; of its numbered barriers only those in `keep`."""
        out = Printer(keep=keep)
        for name, op in (("tx", "gpu.thread_id x"), ("ty", "gpu.thread_id y"), ("bx", "gpu.block_id x")):
            out.line(f"%{name} = {op}")
            out.scope[name] = f"%{name}"
        out.line("%zero = arith.constant 0.0 : f32")
        for node in self.body:
            node.emit(out)
        arguments = ", ".join(f"%{b.name}: {b.type}" for b in self.buffers if b.space == "global")
        shared = ", ".join(f"%{b.name}: {b.type}" for b in self.buffers if b.space == "workgroup")
        body = "\n".join(out.lines)
        x, y = self.block
        return (
            f"gpu.module @m {{ gpu.func @k({arguments}) workgroup({shared}) kernel attributes "
            f"{{known_block_size = array<i32: {x}, {y}, 1>, known_grid_size = array<i32: {self.grid}, 1, 1>}} "
            f"{{\n{body}\ngpu.return\n}} }}"
        )

    def collisions(self) -> set[frozenset[int]]:
        """Pairs of accesses (numbers) that two threads make to one element between the same barriers."""
        users: dict[tuple[str, tuple[int, ...], int], set[tuple[int, int]]] = {}
        buffers = {a.number: a.buffer.name for a in self.accesses}
        writes = {a.number for a in self.accesses if a.write}
        for y in range(self.block[1]):
            for x in range(self.block[0]):
                trace = Trace()
                for node in self.body:
                    node.run({"tx": x, "ty": y, "bx": 0}, trace)
                for number, element, passed in trace.events:
                    users.setdefault((buffers[number], element, passed), set()).add((number, y * 1000 + x))
        out: set[frozenset[int]] = set()
        for who in users.values():
            for (a, s), (b, t) in combinations_with_replacement(sorted(who), 2):
                if s != t and (a in writes or b in writes):
                    out.add(frozenset({a, b}))
        return out

    def demands(self) -> set[frozenset[int]]:
        """For each pair of colliding events, the numbered barriers that come between (each of which would do).

        All threads pass the same barriers, so one is between two events if their threads have passed it unequally often.
        """
        users: dict[tuple[str, tuple[int, ...]], set[tuple[bool, int, tuple[int, ...]]]] = {}
        access = {a.number: a for a in self.accesses}
        for y in range(self.block[1]):
            for x in range(self.block[0]):
                trace = Trace()
                for node in self.body:
                    node.run({"tx": x, "ty": y, "bx": 0}, trace)
                for (number, element, _), passed in zip(trace.events, trace.history, strict=True):
                    user = (access[number].write, y * 1000 + x, passed)
                    users.setdefault((access[number].buffer.name, element), set()).add(user)
        out: set[frozenset[int]] = set()
        for who in users.values():
            for (w, s, p), (v, t, q) in combinations(who, 2):
                if s != t and (w or v):
                    p, q = p + (0,) * (len(q) - len(p)), q + (0,) * (len(p) - len(q))
                    out.add(frozenset(n for n, (i, j) in enumerate(zip(p, q, strict=True)) if i != j))
        return out


# ---- making them ------------------------------------------------------------------------------------------------------


class Maker:
    """Makes random kernels; `candidates` numbers the barriers, so that the choice among them can be tested."""

    def __init__(self, seed: int, *, candidates: bool = False) -> None:
        self.random = random.Random(seed)
        self.candidates = candidates
        self.accesses: list[Access] = []
        self.names = 0
        self.barriers = 0
        self.block = self.random.choice([(4, 1), (3, 2), (4, 2), (8, 1), (5, 1), (2, 1)])
        self.threads = self.block[0] * self.block[1]
        self.linear = f"tx + {self.block[0]} * ty"
        self.buffers = [
            Buffer("s0", (self.random.choice([8, 12, 15]),), "workgroup"),
            Buffer("s1", (self.random.choice([3, 4]), self.random.choice([4, 5])), "workgroup"),
            Buffer("g0", (16,), "global"),
        ]

    def kernel(self) -> Kernel:
        body = self.sequence({}, self.random.randint(2, 4), depth=0)
        return Kernel(self.block, self.buffers, body, self.accesses)

    def sequence(self, uniform: dict[str, int], items: int, depth: int) -> list[Node]:
        out: list[Node] = []
        for _ in range(items):
            if self.candidates or self.random.random() < 0.3:
                out.append(self.barrier())
            out.append(self.item(uniform, depth))
        if self.candidates and depth > 0:
            out.append(self.barrier())
        return out

    def barrier(self) -> Node:
        if self.candidates:
            self.barriers += 1
            return Barrier(self.barriers - 1)
        return Barrier(None, self.random.choice([("workgroup", "global")] * 4 + [("workgroup",), ("global",), ()]))

    def item(self, uniform: dict[str, int], depth: int) -> Node:
        kind = self.random.random()
        if depth < 2 and kind < 0.3:
            name = self.name("k")
            trips = self.random.randint(1, 3)
            step = self.random.choice([1, 1, 4])
            low = self.random.choice([0, 0, 1])
            inner = {**uniform, name: trips * step}
            body = self.sequence(inner, self.random.randint(1, 3), depth + 1)
            return For(name, Expr(str(low)), (Expr(str(low + trips * step)),), step, body)
        if uniform and depth < 2 and kind < 0.4:
            left = Expr(self.random.choice(sorted(uniform)))
            right = Expr(str(self.random.randint(0, 3)))
            return If(left, right, self.sequence(uniform, 1, 2), self.sequence(uniform, 1, 2))
        return self.distributed(uniform)

    def name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def distributed(self, uniform: dict[str, int]) -> Node:
        """A loop over elements, distributed over the threads of the block in one of the ways."""
        buffer = self.random.choice(self.buffers)
        size = 1
        for extent in buffer.shape:
            size *= extent
        count = self.random.choice([size, size, size - 1, self.threads, max(1, size // 2)])
        count = min(count, size)
        e = self.name("e")
        body: list[Node] = [self.access(buffer, e, size, uniform) for _ in range(self.random.choice([1, 1, 2]))]
        if self.random.random() < 0.15:
            body = [If(Expr(e), Expr(str(self.random.randint(1, size))), body, [])]
        elif self.random.random() < 0.1:
            body = [If(Expr("tx"), Expr(str(self.random.randint(1, 3))), body, [])]
        way = self.random.choice(["block", "cyclic", "block-cyclic", "own"])
        if way == "cyclic":
            return For(e, Expr(self.linear), (Expr(str(count)),), self.threads, body)
        if way == "block":
            chunk = -(-count // self.threads)
            return For(
                e,
                Expr(f"( {self.linear} ) * {chunk}"),
                (Expr(f"( {self.linear} ) * {chunk} + {chunk}"), Expr(str(count))),
                1,
                body,
            )
        if way == "block-cyclic":
            outer = self.name("o")
            b = self.random.choice([2, 3])
            inner = For(e, Expr(outer), (Expr(f"{outer} + {b}"), Expr(str(count))), 1, body)
            return For(outer, Expr(f"( {self.linear} ) * {b}"), (Expr(str(count)),), self.threads * b, [inner])
        return For(e, Expr("0"), (Expr(str(min(count, 3))),), 1, body)

    def access(self, buffer: Buffer, e: str, size: int, uniform: dict[str, int]) -> Access:
        """An access at some function of the loop variable, the thread and the uniform variables."""
        terms = [
            e,
            e,
            f"{e} + {self.random.randint(1, 3)}",
            f"2 * {e}",
            f"{e} floordiv 2",
            f"{size - 1} - {e}",
            f"{e} + tx",
        ]
        if uniform:
            k = self.random.choice(sorted(uniform))
            terms += [f"{e} + {k}", f"{e} + {max(1, size // 2)} * ( {k} mod 2 )"]
        flat = f"( {self.random.choice(terms)} ) mod {size}"
        if len(buffer.shape) == 1:
            index = (Expr(flat),)
        elif self.random.random() < 0.7:
            width = buffer.shape[1]
            index = (Expr(f"( {flat} ) floordiv {width}"), Expr(f"( {flat} ) mod {width}"))
        else:
            index = (Expr(f"tx mod {buffer.shape[0]}"), Expr(f"( {e} ) mod {buffer.shape[1]}"))
        made = Access(len(self.accesses), self.random.random() < 0.5, buffer, index)
        self.accesses.append(made)
        return made
