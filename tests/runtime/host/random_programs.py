"""Random host programs: launches on windows of buffers, copies, temporaries, loops and branches; and what each operation touches.

A program is run here, too, as far as it goes without numbers: `flattened` unrolls its loops, takes its branches, and tells the
elements that every launch and copy reads and writes, in program order.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

SIZE = 64
WHOLE = f"memref<{SIZE}xf32>"
TRIPS = 3
STEP = 8
"""By how many elements a moving window moves in each iteration."""


@dataclass(frozen=True)
class View:
    """A window into a buffer: `size` elements, every `stride`-th, from `offset`; `moves` with the loop around it."""

    buffer: str
    offset: int = 0
    size: int = SIZE
    stride: int = 1
    moves: bool = False

    @property
    def type(self) -> str:
        return WHOLE if self.size == SIZE else f"memref<{self.size}xf32, strided<[{self.stride}], offset: ?>>"


@dataclass(frozen=True)
class Launch:
    """A kernel of its own (`number`) that reads some windows and changes others; `first`: whatever these held before."""

    number: int
    reads: tuple[View, ...]
    writes: tuple[View, ...]
    first: bool = False


@dataclass(frozen=True)
class Copy:
    source: View
    target: View


@dataclass(frozen=True)
class Temporary:
    """Memory for the statements of `body`: the device's own (`gpu.alloc`), or the host's."""

    name: str
    device: bool
    body: tuple[Node, ...]


@dataclass(frozen=True)
class Loop:
    body: tuple[Node, ...]


@dataclass(frozen=True)
class Branch:
    taken: bool
    then: tuple[Node, ...]
    otherwise: tuple[Node, ...]


Node = Launch | Copy | Temporary | Loop | Branch

Touched = frozenset[tuple[str, int]]
"""Elements, by the name of their buffer (of a temporary, with a number of its own each time it is made)."""


@dataclass(frozen=True)
class Step:
    reads: Touched
    writes: Touched

    def conflicts(self, later: Step) -> bool:
        return bool(self.writes & (later.reads | later.writes) or self.reads & later.writes)

    def may_overlap(self, later: Step) -> bool:
        """Whether they touch different arguments, and one of them writes."""
        return _different(self.writes, later.reads | later.writes) or _different(self.reads, later.writes)


def _different(first: Touched, second: Touched) -> bool:
    mine, theirs = ({name for name, _ in touched if name.startswith("b")} for touched in (first, second))
    return len(mine | theirs) > 1 and bool(mine) and bool(theirs)


# ---- making ------------------------------------------------------------------------------------------------------------


class _Author:
    def __init__(self, seed: int, buffers: int, launches: int, writes: float, whole: float) -> None:
        self.writes, self.whole = writes, whole
        self.draw = random.Random(seed)
        self.names = [f"b{i}" for i in range(buffers)]
        self.left = launches
        self.number = count()
        self.temporaries = count()

    def nodes(self, most: int, names: Sequence[str], depth: int, looped: bool) -> tuple[Node, ...]:
        made: list[Node] = []
        while self.left > 0 and len(made) < most:
            made.append(self.node(names, depth, looped))
        return tuple(made)

    def node(self, names: Sequence[str], depth: int, looped: bool) -> Node:
        kind = self.draw.random() if depth < 2 else 1.0
        few = self.draw.randint(1, 4)
        if kind < 0.04:
            return Loop(self.nodes(few, names, depth + 1, True))
        if kind < 0.08:
            then, otherwise = (self.nodes(most, names, depth + 1, looped) for most in (few, few - 1))
            return Branch(self.draw.random() < 0.5, then, otherwise)
        if kind < 0.13:
            name = f"t{next(self.temporaries)}"
            around = [*self.draw.sample(list(names), k=min(3, len(names))), name, name]
            first = Launch(next(self.number), (), (View(name),), True)
            body = (first, *self.nodes(few, around, depth + 1, looped))
            return Temporary(name, self.draw.random() < 0.6, body)
        self.left -= 1
        if kind < 0.2:
            source, target = (View(name) for name in self.draw.sample(list(dict.fromkeys(names)), k=2))
            return Copy(source, target)
        used = list(dict.fromkeys(self.draw.choice(list(names)) for _ in range(self.draw.randint(1, 4))))
        cut = self.draw.randint(0, len(used) - 1) if self.draw.random() < self.writes else len(used)
        views = [self.view(name, looped) for name in used]
        return Launch(next(self.number), tuple(views[:cut]), tuple(views[cut:]))

    def view(self, name: str, looped: bool) -> View:
        if self.draw.random() < self.whole:
            return View(name)
        kind = self.draw.random()
        if kind < 0.5:
            return View(name, self.draw.choice((0, 32)), 32)
        if kind < 0.75:
            return View(name, self.draw.choice((0, 1)), 32, 2)
        return View(name, self.draw.choice((0, 16)), 32, 1, looped)


def random_program(seed: int, *, buffers: int, launches: int, writes: float = 1.0, whole: float = 0.55) -> tuple[Node, ...]:
    """A program of about `launches` launches and copies in its text, on the arguments `b0`, `b1`, …

    Args:
        writes: how many of the launches write anything.
        whole: how many of the arguments they take are whole buffers.
    """
    author = _Author(seed, buffers, launches, writes, whole)
    return author.nodes(10**6, author.names, 0, False)


# ---- what it does ---------------------------------------------------------------------------------------------------------


def flattened(program: Sequence[Node]) -> list[Step]:
    """Launches and copies as they happen."""
    return list(_happening(program, {}, 0, count()))


def _happening(nodes: Sequence[Node], made: dict[str, str], turn: int, numbers: Iterator[int]) -> Iterator[Step]:
    def elements(views: Sequence[View]) -> Touched:
        return frozenset(
            (made.get(v.buffer, v.buffer), v.offset + STEP * turn * v.moves + i * v.stride) for v in views for i in range(v.size)
        )

    for node in nodes:
        if isinstance(node, Launch):
            yield Step(elements(node.reads), elements(node.writes))
        elif isinstance(node, Copy):
            yield Step(elements([node.source]), elements([node.target]))
        elif isinstance(node, Temporary):
            yield from _happening(node.body, {**made, node.name: f"{node.name}.{next(numbers)}"}, turn, numbers)
        elif isinstance(node, Branch):
            yield from _happening(node.then if node.taken else node.otherwise, made, turn, numbers)
        else:
            for inner in range(TRIPS):
                yield from _happening(node.body, made, inner, numbers)


# ---- its text -------------------------------------------------------------------------------------------------------------


def spelled(program: Sequence[Node], buffers: int) -> str:
    """The module: a function `main` on the buffers, and a kernel for each launch in its text."""
    kernels: list[str] = []
    body = "\n".join(_lines(program, kernels, "%c0", count()))
    arguments = ", ".join(f'%b{i}: {WHOLE} {{weft.name = "b{i}"}}' for i in range(buffers))
    constants = "".join(f"%c{n} = arith.constant {n} : index\n" for n in (0, 1, STEP, 16, TRIPS, 32))
    kernel_text = "\n".join(kernels)
    return (
        f"module attributes {{gpu.container_module}} {{\n{kernel_text}\nfunc.func @main({arguments}) {{\n{constants}"
        f"%true = arith.constant true\n%false = arith.constant false\n{body}\nreturn\n}}\n}}"
    )


def _lines(nodes: Sequence[Node], kernels: list[str], induction: str, names: Iterator[int]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, Launch):
            yield from _launch(node, kernels, induction, names)
        elif isinstance(node, Copy):
            yield f"memref.copy %{node.source.buffer}, %{node.target.buffer} : {WHOLE} to {WHOLE}"
        elif isinstance(node, Temporary):
            dialect, unit = ("gpu", " ()") if node.device else ("memref", "()")
            yield f"%{node.name} = {dialect}.alloc{unit} : {WHOLE}"
            yield from _lines(node.body, kernels, induction, names)
            yield f"{dialect}.dealloc %{node.name} : {WHOLE}"
        elif isinstance(node, Branch):
            yield f"scf.if %{str(node.taken).lower()} {{"
            yield from _lines(node.then, kernels, induction, names)
            yield "} else {"
            yield from _lines(node.otherwise, kernels, induction, names)
            yield "}"
        else:
            inner = f"%i{next(names)}"
            yield f"scf.for {inner} = %c0 to %c{TRIPS} step %c1 {{"
            yield from _lines(node.body, kernels, inner, names)
            yield "}"


def _launch(node: Launch, kernels: list[str], induction: str, names: Iterator[int]) -> Iterator[str]:
    kernels.append(_kernel(node))
    given: list[str] = []
    for view in (*node.reads, *node.writes):
        if view.size == SIZE:
            given.append(f"%{view.buffer} : {WHOLE}")
            continue
        name, offset = f"v{next(names)}", str(view.offset)
        if view.moves:
            yield f"%{name}m = arith.muli {induction}, %c{STEP} : index"
            yield f"%{name}o = arith.addi %{name}m, %c{view.offset} : index"
            offset = f"%{name}o"
        at = "?" if view.moves else offset
        shown = f"memref<{view.size}xf32, strided<[{view.stride}]{'' if at == '0' else f', offset: {at}'}>>"
        yield f"%{name}s = memref.subview %{view.buffer}[{offset}] [{view.size}] [{view.stride}] : {WHOLE} to {shown}"
        if shown == view.type:
            given.append(f"%{name}s : {shown}")
        else:
            yield f"%{name} = memref.cast %{name}s : {shown} to {view.type}"
            given.append(f"%{name} : {view.type}")
    kernel = f"@k{node.number}::@k{node.number}"
    yield f"gpu.launch_func {kernel} blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args({', '.join(given)})"


def _kernel(node: Launch) -> str:
    """Each element written becomes half of what it was, and a number of the launch's that depends on what is read."""
    names = [*(f"%r{i}" for i in range(len(node.reads))), *(f"%w{i}" for i in range(len(node.writes)))]
    views = (*node.reads, *node.writes)
    body = [
        f"%s = arith.constant {node.number % 97 + 1}.0 : f32",
        "%half = arith.constant 0.5 : f32",
        "%c32 = arith.constant 32 : index",
        "%i = gpu.thread_id x",
        "%j = arith.addi %i, %c32 : index",
    ]
    total = "%s"
    for number, (name, view) in enumerate(zip(names, views, strict=True)):
        for at in ("%i", "%j")[: view.size // 32]:
            value = f"%x{number}{at[1:]}"
            if node.first:
                body.append(f"memref.store {total}, {name}[{at}] : {view.type}")
                continue
            body.append(f"{value} = memref.load {name}[{at}] : {view.type}")
            if number < len(node.reads):
                body.append(f"{value}s = arith.addf {total}, {value} : f32")
                total = f"{value}s"
            else:
                body.append(f"{value}h = arith.mulf {value}, %half : f32")
                body.append(f"{value}n = arith.addf {value}h, {total} : f32")
                body.append(f"memref.store {value}n, {name}[{at}] : {view.type}")
    arguments = ", ".join(f"{name}: {view.type}" for name, view in zip(names, views, strict=True))
    lines = "\n".join(body)
    return f"gpu.module @k{node.number} {{ gpu.func @k{node.number}({arguments}) kernel {{\n{lines}\ngpu.return\n}} }}"
