"""Random host functions with tokens, loops and branches: as plain data for an oracle, and as MLIR text."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

SIZE = 64
PART = 16
WHOLE = f"memref<{SIZE}xf32>"
VIEW = f"memref<{PART}xf32, strided<[1], offset: ?>>"
TOKEN = "!gpu.async.token"
ARGUMENTS = ("A", "B", "C")
READS = {"copy": 1, "add": 2}
"""How many of a kernel's buffers are read; the last one is written."""


@dataclass(frozen=True)
class Place:
    """A buffer, or `PART` elements of it from `offset + scale * iteration of loop` on."""

    buffer: str
    offset: int | None = None
    loop: str | None = None
    scale: int = 0


@dataclass(eq=False)
class Stmt:
    line: int = field(default=0, init=False)


@dataclass(eq=False)
class Do(Stmt):
    """`kind`: a kernel, `memcpy`, `memset`, or of the host: `load`, `store`, `hostcopy`. `token`: None where it is synchronous."""

    kind: str
    places: tuple[Place, ...]
    token: str | None = None
    after: tuple[str, ...] = ()

    def accesses(self) -> Iterator[tuple[str, Place]]:
        writes = 0 if self.kind == "load" else 1
        for i, place in enumerate(self.places):
            yield ("write" if i >= len(self.places) - writes else "read"), place


@dataclass(eq=False)
class Alloc(Stmt):
    buffer: str
    token: str | None = None
    after: tuple[str, ...] = ()
    host: bool = False


@dataclass(eq=False)
class Free(Stmt):
    buffer: str
    token: str | None = None
    after: tuple[str, ...] = ()
    host: bool = False


@dataclass(eq=False)
class Wait(Stmt):
    """`token`: None where it blocks."""

    token: str | None
    after: tuple[str, ...]


@dataclass(eq=False)
class Condition(Stmt):
    """A truth that nobody knows, asked anew each time."""

    name: str


@dataclass(eq=False)
class For(Stmt):
    """Args:
    trips: a number, or the name of an argument.
    carried: argument, first value, yielded value, result of each token.
    """

    loop: str
    trips: int | str
    carried: list[tuple[str, str, str, str]]
    body: list[Stmt]


@dataclass(eq=False)
class If(Stmt):
    """`results`: name, and what the arms yield. `condition`: a name, `true` or `false`."""

    condition: str
    results: list[tuple[str, str, str]]
    then: list[Stmt]
    other: list[Stmt] | None


# ---- as text ---------------------------------------------------------------------------------------------------------


def kernels() -> str:
    out = []
    for suffix, type_ in (("", WHOLE), ("_part", VIEW)):
        for name, reads in (("set", 0), ("copy", 1), ("add", 2)):
            arguments = [f"%x{i}: {type_}" for i in range(reads + 1)]
            loads = [f"%v{i} = memref.load %x{i}[%t] : {type_}" for i in range(reads)]
            body = "\n".join([*loads, f"memref.store %{'v0' if reads else 'one'}, %x{reads}[%t] : {type_}"])
            out.append(f"gpu.func @{name}{suffix}({', '.join(arguments)}) kernel {{\n%t = gpu.thread_id x\n"
                       f"%one = arith.constant 1.0 : f32\n{body}\ngpu.return\n}}")  # fmt: skip
    return "gpu.module @k {\n" + "\n".join(out) + "\n}"


HEAD = (
    "module attributes {gpu.container_module} {\n" + kernels() + "\n"
    f"func.func @f(%A: {WHOLE}, %B: {WHOLE}, %C: {WHOLE}, %flags: memref<8xi1>, %c: i1, %d: i1, %n: index, %m: index) {{\n"
    + "".join(f"%c{i} = arith.constant {i} : index\n" for i in (0, 1, 2, 3, 8, 16, 24, 32, 48, 64))
    + "%true = arith.constant true\n%false = arith.constant false\n%zero = arith.constant 0.0 : f32\n"
)
SHAPE = "blocks in (%c1, %c1, %c1) threads in (%{}, %c1, %c1)"


def text_of(program: Sequence[Stmt]) -> str:
    """The module; sets the line of each statement. A loop without tokens and frees is one operation, with one line."""
    lines = HEAD.rstrip("\n").split("\n")
    for stmt in program:
        _print(stmt, lines)
    for stmt in statements(program):
        if isinstance(stmt, For) and not any(_of_tokens(s) for s in statements([stmt])):
            for inner in statements(stmt.body):
                inner.line = stmt.line
    return "\n".join([*lines, "return", "}", "}"])


def statements(program: Sequence[Stmt]) -> Iterator[Stmt]:
    """All of them, nested ones too, the outer ones first."""
    for stmt in program:
        yield stmt
        if isinstance(stmt, For):
            yield from statements(stmt.body)
        elif isinstance(stmt, If):
            yield from statements([*stmt.then, *(stmt.other or [])])


def _of_tokens(stmt: Stmt) -> bool:
    has = [getattr(stmt, each, None) for each in ("token", "carried", "results")]
    return isinstance(stmt, Wait | Free) or any(has)


def _print(stmt: Stmt, lines: list[str]) -> None:
    if isinstance(stmt, For):
        stmt.line = len(lines) + 1
        names = [f"%{arg} = %{first}" for arg, first, _, _ in stmt.carried]
        types = ", ".join([TOKEN] * len(names))
        results = ", ".join(f"%{r}" for *_, r in stmt.carried)
        carried = f" iter_args({', '.join(names)}) -> ({types})" if names else ""
        end = stmt.trips if isinstance(stmt.trips, str) else f"c{stmt.trips}"
        lines.append(f"{results + ' = ' if results else ''}scf.for %{stmt.loop} = %c0 to %{end} step %c1{carried} {{")
        for inner in stmt.body:
            _print(inner, lines)
        if names:
            lines.append(f"scf.yield {', '.join('%' + y for _, _, y, _ in stmt.carried)} : {types}")
        lines.append("}")
    elif isinstance(stmt, If):
        stmt.line = len(lines) + 1
        types = ", ".join([TOKEN] * len(stmt.results))
        results = ", ".join(f"%{r}" for r, _, _ in stmt.results)
        lines.append(f"{results + ' = ' if results else ''}scf.if %{stmt.condition}{f' -> ({types})' if results else ''} {{")
        for arm, block in enumerate((stmt.then, stmt.other)):
            if block is None:
                continue
            if arm:
                lines.append("} else {")
            for inner in block:
                _print(inner, lines)
            if results:
                lines.append(f"scf.yield {', '.join('%' + r[1 + arm] for r in stmt.results)} : {types}")
        lines.append("}")
    else:
        _print_simple(stmt, lines)


def _print_simple(stmt: Stmt, lines: list[str]) -> None:
    token, after = getattr(stmt, "token", None), getattr(stmt, "after", ())
    order = ("async " if token else "") + (f"[{', '.join('%' + t for t in after)}] " if after else "")
    given = f"%{token} = " if token else ""
    if isinstance(stmt, Condition):
        text = f"%{stmt.name} = memref.load %flags[%c0] : memref<8xi1>"
    elif isinstance(stmt, Wait):
        text = f"{given}gpu.wait {order}"
    elif isinstance(stmt, Alloc):
        made = f"%{stmt.buffer}" + (f", %{token}" if token else "")
        text = f"%{stmt.buffer} = memref.alloc() : {WHOLE}" if stmt.host else f"{made} = gpu.alloc {order}() : {WHOLE}"
    elif isinstance(stmt, Free):
        text = f"memref.dealloc %{stmt.buffer} : {WHOLE}" if stmt.host else f"{given}gpu.dealloc {order}%{stmt.buffer} : {WHOLE}"
    else:
        assert isinstance(stmt, Do)
        values = [_value(place, lines, f"{len(lines)}_{i}") for i, place in enumerate(stmt.places)]
        text = _do(stmt.kind, values, [VIEW if p.offset is not None else WHOLE for p in stmt.places], given, order, len(lines))
    lines.append(text.rstrip())
    stmt.line = len(lines)


def _value(place: Place, lines: list[str], name: str) -> str:
    if place.offset is None:
        return f"%{place.buffer}"
    start = f"%c{place.offset}"
    if place.loop is not None:
        lines.append(f"%m{name} = arith.muli %{place.loop}, %c{place.scale} : index")
        lines.append(f"%o{name} = arith.addi %m{name}, {start} : index")
        start = f"%o{name}"
    lines.append(f"%w{name} = memref.subview %{place.buffer}[{start}] [{PART}] [1] : {WHOLE} to {VIEW}")
    return f"%w{name}"


def _do(kind: str, values: list[str], types: list[str], given: str, order: str, number: int) -> str:
    if kind == "load":
        return f"%l{number} = memref.load {values[0]}[%c0] : {types[0]}"
    if kind == "store":
        return f"memref.store %zero, {values[0]}[%c0] : {types[0]}"
    if kind == "hostcopy":
        return f"memref.copy {values[0]}, {values[1]} : {types[0]} to {types[1]}"
    if kind == "memcpy":
        return f"{given}gpu.memcpy {order}{values[1]}, {values[0]} : {types[1]}, {types[0]}"
    if kind == "memset":
        return f"{given}gpu.memset {order}{values[0]}, %zero : {types[0]}, f32"
    name, threads = (f"{kind}_part", f"c{PART}") if types[0] == VIEW else (kind, f"c{SIZE}")
    arguments = ", ".join(f"{v} : {t}" for v, t in zip(values, types, strict=True))
    return f"{given}gpu.launch_func {order}@k::@{name} {SHAPE.format(threads)} args({arguments})"


# ---- at random -------------------------------------------------------------------------------------------------------


@dataclass
class Scope:
    """What a block sees: `own` tokens it has to give away, `seen` all that are visible, memory it has to free."""

    own: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    buffers: list[str] = field(default_factory=list)
    mine: list[str] = field(default_factory=list)
    loops: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    depth: int = 0

    def inner(self, own: list[str]) -> Scope:
        return Scope(own, [*self.seen, *own], [*self.buffers], [], [*self.loops], [*self.conditions], self.depth + 1)


class Writer:
    """Writes a program.

    `care`: how often an operation waits for all that went before; `slip`: how often a token is mistaken; `lapse`: how often
    memory is forgotten, or is used or freed again; `views`: how often an operation touches a part of a buffer.
    """

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.care = self.draw.choice((0.4, 0.8, 0.95, 1.0, 1.0))
        self.slip = self.draw.choice((0.0, 0.0, 0.0, 0.02, 0.1))
        self.lapse = self.draw.choice((0.0, 0.0, 0.0, 0.4))
        self.views = self.draw.choice((0.0, 0.0, 0.6))
        self.left = self.draw.randint(4, 12)
        self.count = 0

    def program(self) -> list[Stmt]:
        scope = Scope(buffers=list(ARGUMENTS), conditions=["c", "d"])
        out = self.block(scope)
        self.close(scope, out)
        while scope.own and self.draw.random() > self.slip:
            several = [self.token(scope) for _ in range(self.draw.randint(1, len(scope.own)))]
            out.append(Wait(None, tuple(several)))
        return out

    def name(self, what: str) -> str:
        self.count += 1
        return f"{what}{self.count}"

    def chance(self, often: float) -> bool:
        return self.draw.random() < often

    # ---- blocks -------------------------------------------------------------------------------------------------------

    def block(self, scope: Scope) -> list[Stmt]:
        out: list[Stmt] = []
        for _ in range(self.draw.randint(1, 5) if scope.depth else 8):
            if self.left <= 0:
                break
            self.left -= 1
            kinds = ["device"] * 6 + ["host"] * 2 + ["alloc", "alloc", "free", "free", "fork", "wait", "root", "condition"]
            if scope.depth < 3:
                kinds += ["for", "if", "if"] if scope.depth else ["for"] * 3 + ["if"] * 3
            getattr(self, self.draw.choice(kinds))(scope, out)
        return out

    def close(self, scope: Scope, out: list[Stmt]) -> None:
        """Free what the block allocated."""
        for buffer in scope.mine:
            if not self.chance(self.lapse):
                self.release(buffer, scope, out)

    def carry(self, scope: Scope, out: list[Stmt]) -> str:
        """One token behind all that the block has."""
        several = [self.token(scope) for _ in range(len(scope.own))]
        if len(several) == 1:
            return several[0]
        made = self.made(scope, own=False)
        out.append(Wait(made, tuple(several)))
        return made

    # ---- statements ---------------------------------------------------------------------------------------------------

    def root(self, scope: Scope, out: list[Stmt]) -> None:
        out.append(Wait(self.made(scope), ()))

    def fork(self, scope: Scope, out: list[Stmt]) -> None:
        if scope.seen:
            source = self.draw.choice(scope.own if scope.own and self.chance(1 - self.slip) else scope.seen)
            out.append(Wait(self.made(scope), (source,)))

    def wait(self, scope: Scope, out: list[Stmt]) -> None:
        if scope.own:
            out.append(Wait(None, (self.token(scope),)))

    def condition(self, scope: Scope, out: list[Stmt]) -> None:
        scope.conditions.append(self.name("q"))
        out.append(Condition(scope.conditions[-1]))

    def device(self, scope: Scope, out: list[Stmt]) -> None:
        kind = self.draw.choice(("set", "copy", "copy", "add", "memcpy", "memset"))
        places = self.places({"set": 1, "memset": 1, "add": 3}.get(kind, 2), scope)
        if self.chance(0.12):
            self.settle(scope, out)
            late = kind.startswith("mem") and scope.own and self.chance(5 * self.slip)  # of a launch the parser refuses it
            out.append(Do(kind, places, None, (self.token(scope),) if late else ()))
            return
        after = self.after(scope, out)
        out.append(Do(kind, places, self.made(scope), after))

    def host(self, scope: Scope, out: list[Stmt]) -> None:
        kind = self.draw.choice(("load", "store", "hostcopy"))
        self.settle(scope, out)
        out.append(Do(kind, self.places(2 if kind == "hostcopy" else 1, scope)))

    def alloc(self, scope: Scope, out: list[Stmt]) -> None:
        name = self.name("x")
        if self.chance(0.5):
            out.append(Alloc(name, None, (), host=self.chance(0.5)))
        else:
            after = self.after(scope, out)
            out.append(Alloc(name, self.made(scope), after))
        scope.buffers.append(name)
        scope.mine.append(name)

    def free(self, scope: Scope, out: list[Stmt]) -> None:
        if self.chance(self.lapse / 2):
            self.release(self.draw.choice(scope.buffers), scope, out)
        elif scope.mine:
            name = scope.mine.pop(self.draw.randrange(len(scope.mine)))
            self.release(name, scope, out)
            if self.chance(self.lapse):
                scope.mine.append(name)
            elif not self.chance(self.lapse):
                scope.buffers.remove(name)

    def release(self, buffer: str, scope: Scope, out: list[Stmt]) -> None:
        if self.chance(0.5):
            self.settle(scope, out)
            out.append(Free(buffer, None, (), host=self.chance(0.5)))
        else:
            after = self.after(scope, out)
            out.append(Free(buffer, self.made(scope), after))

    # name and meaning of `for`, `if`: below, since they are words of Python

    def loop(self, scope: Scope, out: list[Stmt]) -> None:
        firsts = [self.carry(scope, out)] if self.chance(self.care) else self.some(scope)
        iteration = self.name("i")
        arguments = [self.name("t") for _ in firsts]
        inner = scope.inner(list(arguments))
        inner.loops.append(iteration)
        body = self.block(inner)
        self.close(inner, body)
        yields = [self.token(inner) if inner.own else self.new_root(body) for _ in firsts]
        if yields and inner.own:
            inner.own.append(yields.pop())
            yields.append(self.carry(inner, body))
        else:
            self.finish(inner, body)
        trips: int | str = self.draw.choice((0, 1, 2, 3, 3, "n", "n", "m"))
        results = [self.made(scope) for _ in firsts]
        out.append(For(iteration, trips, list(zip(arguments, firsts, yields, results, strict=True)), body))

    def branch(self, scope: Scope, out: list[Stmt]) -> None:
        firsts = [self.carry(scope, out)] if self.chance(self.care) else self.some(scope)
        arms: list[tuple[list[Stmt], list[str]]] = []
        condition = self.draw.choice([*scope.conditions, *scope.conditions, "true", "false"])
        two = bool(firsts) or self.chance(0.5)
        for _ in range(1 + two):
            inner = scope.inner(list(firsts))
            block = self.block(inner)
            self.close(inner, block)
            if firsts and inner.own:
                yields = [self.carry(inner, block)]
            else:
                yields = [self.new_root(block) for _ in firsts[:1]]
                self.finish(inner, block)
            arms.append((block, yields))
        results = [(self.made(scope), *(y[0] for _, y in arms))] if firsts else []
        out.append(If(condition, results, arms[0][0], arms[1][0] if two else None))  # type: ignore[arg-type]

    def finish(self, scope: Scope, out: list[Stmt]) -> None:
        """Wait for what a block cannot hand on."""
        if scope.own and not self.chance(self.slip):
            out.append(Wait(None, tuple(self.token(scope) for _ in range(len(scope.own)))))

    # ---- parts --------------------------------------------------------------------------------------------------------

    def new_root(self, out: list[Stmt]) -> str:
        name = self.name("t")
        out.append(Wait(name, ()))
        return name

    def made(self, scope: Scope, own: bool = True) -> str:
        name = self.name("t")
        scope.seen.append(name)
        if own:
            scope.own.append(name)
        return name

    def token(self, scope: Scope) -> str:
        """One that is then used up; by mistake any."""
        if scope.seen and self.chance(self.slip):
            return self.draw.choice(scope.seen)
        return scope.own.pop(self.draw.randrange(len(scope.own))) if scope.own else self.draw.choice(scope.seen)

    def some(self, scope: Scope) -> list[str]:
        return [self.token(scope) for _ in range(min(len(scope.own), self.draw.randint(0, 2)))][:1]

    def after(self, scope: Scope, out: list[Stmt]) -> tuple[str, ...]:
        """What an operation waits for: with care, all."""
        if not scope.own:
            if scope.seen and self.chance(self.care):
                source = self.draw.choice(scope.seen)
                out.append(Wait(self.made(scope), (source,)))
            else:
                self.root(scope, out)
        if self.chance(self.care):
            if len(scope.own) > 1 and self.chance(0.5):
                return tuple(self.token(scope) for _ in range(len(scope.own)))
            return (self.carry(scope, out),)
        return tuple(self.token(scope) for _ in range(min(len(scope.own), self.draw.choice((1, 1, 2)))))

    def settle(self, scope: Scope, out: list[Stmt]) -> None:
        """With care, let the host wait for all before it does something itself."""
        if scope.own and self.chance(self.care):
            out.append(Wait(None, tuple(self.token(scope) for _ in range(len(scope.own)))))

    def places(self, count: int, scope: Scope) -> tuple[Place, ...]:
        count = min(count, len(scope.buffers))
        buffers = self.draw.sample(scope.buffers, count)
        if not self.chance(self.views):
            return tuple(Place(b) for b in buffers)
        loop = self.draw.choice(scope.loops) if scope.loops and self.chance(0.7) else None
        scales = (8, 16, 16, 16)
        return tuple(
            Place(b, self.draw.choice((0, 0, 8, 16) if loop else (0, 8, 16, 32, 48)), loop, self.draw.choice(scales) if loop else 0)
            for b in buffers
        )


setattr(Writer, "for", Writer.loop)
setattr(Writer, "if", Writer.branch)


def random_program(seed: int) -> list[Stmt]:
    return Writer(seed).program()
