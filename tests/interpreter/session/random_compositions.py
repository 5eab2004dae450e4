"""Random schedules in the forms that compose, and each as the statements that it consists of.

Both are written at once: what a branch, a block of `alternatives` or a schedule writes is part of the second text only if it is
executed. Each name is bound once, so that a name of the first text stands for one handle; `old` has its name in the second.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

OPS = ("linalg.add", "linalg.sub", "linalg.mul")
SIZES = (4, 8, 16)
T = "tensor<32x64xf32>"
PAYLOAD = f"""func.func @f(%x: {T}, %y: {T}) -> ({T}, {T}, {T}) {{
  %e = tensor.empty() : {T}
  %a = linalg.add ins(%x, %y : {T}, {T}) outs(%e : {T}) -> {T}
  %b = linalg.sub ins(%x, %y : {T}, {T}) outs(%e : {T}) -> {T}
  %c = linalg.mul ins(%x, %y : {T}, {T}) outs(%e : {T}) -> {T}
  return %a, %b, %c : {T}, {T}, {T}
}}
"""


@dataclass
class Written:
    """A schedule being written: `new` in the forms that compose, `plain` without them."""

    r: random.Random
    new: list[str] = field(default_factory=list)
    plain: list[str] = field(default_factory=list)
    names: int = 0
    live: bool = True
    depth: int = 1
    old: dict[str, str] = field(default_factory=dict)
    values: dict[str, bool | int | None] = field(default_factory=dict)

    def text(self, parameters: bool = True) -> str:
        shown = ", ".join(f"{n}: {'bool' if isinstance(v, bool) else 'int'} = {say(v)}" for n, v in self.values.items())
        return "\n".join([f"schedule s({shown if parameters else ''}) {{", *(self.new if parameters else self.plain), "}\n"])

    # ---- parts of a text ---------------------------------------------------------------------------------------------

    def name(self, kind: str) -> str:
        self.names += 1
        return f"{kind}{self.names}"

    def line(self, new: str, plain: str | None = None) -> None:
        self.new.append("  " * self.depth + new)
        if self.live and plain is not None:
            self.plain.append(f"  {plain}")

    @contextmanager
    def block(self, head: str, end: str = "}", *, live: bool = True) -> Iterator[None]:
        """Lines of a block, which is executed if the lines around it are and `live` is true."""
        around = self.live
        self.line(head)
        self.depth, self.live = self.depth + 1, around and live
        yield
        self.depth, self.live = self.depth - 1, around
        if end:
            self.line(end)

    def bound(self, name: str, handle: str) -> None:
        """Another name of a handle, where the lines are executed."""
        if self.live:
            self.old[name] = self.named(handle)

    def named(self, handle: str) -> str:
        return self.old.get(handle, handle)

    def condition(self, wanted: bool | None = None) -> tuple[str, bool]:
        """An expression of parameters, and its value."""
        flag = self.r.choice([n for n, v in self.values.items() if isinstance(v, bool)])
        number = self.r.choice([n for n in self.values if n.startswith("n")])
        limit = self.r.choice(SIZES)
        value, size = bool(self.values[flag]), int(self.values[number] or 0)
        made = self.r.choice([
            (flag, value), (f"not {flag}", not value), (f"{number} > {limit}", size > limit),
            (f"{flag} and {number} <= {limit}", value and size <= limit), ("maybe != none", self.values["maybe"] is not None),
        ])  # fmt: skip
        return made if wanted in (None, made[1]) else (f"not ({made[0]})", not made[1])

    def size(self) -> tuple[str, int]:
        """An expression for a size, and its value."""
        number = self.r.choice([n for n in self.values if n.startswith("n")])
        one, other = self.r.sample(SIZES, 2)
        text, value = self.condition()
        return self.r.choice([
            (str(one), one), (number, int(self.values[number] or 0)), (f"select({text}, {one}, {other})", one if value else other),
        ])  # fmt: skip

    # ---- ways to tile ------------------------------------------------------------------------------------------------

    def cut(self, op: str, loop: str, inner: str, depth: int) -> None:
        """Lines that tile an op, and bind the loop and the op in it to these names."""
        ways = [self.tiled] if not depth else [self.tiled, self.branched, self.tried, self.captured, self.passed, self.renamed]
        self.r.choice(ways)(op, loop, inner, depth - 1)

    def tiled(self, op: str, loop: str, inner: str, _: int) -> None:
        (rows, m), (columns, n) = self.size(), self.size()
        names = f"({loop}, {inner})"
        self.line(f"let {names} = tile {op} [{rows}, {columns}]", f"let {names} = tile {self.named(op)} [{m}, {n}]")

    def branched(self, op: str, loop: str, inner: str, depth: int) -> None:
        """Each branch binds both names, or renames what it has bound."""
        text, holds = self.condition()
        with self.block(f"if {text} {{", "", live=holds):
            self.cut(op, loop, inner, depth)
        with self.block("} else {", live=not holds):
            self.cut(op, loop, inner, depth)

    def tried(self, op: str, loop: str, inner: str, depth: int) -> None:
        """Blocks of `alternatives`: some that are refused, one that is taken, and some after it."""
        refused = self.r.randint(0, 2)
        more = self.r.randint(0 if refused else 1, 1)
        for number in range(refused + 1 + more):
            with self.block("} else {" if number else "alternatives {", "", live=number == refused):
                self.cut(op, loop, inner, depth)
                if number < refused:
                    unmet, _ = self.condition(False)
                    self.line(self.r.choice([
                        f"require {unmet}", f"map {loop} to blocks(z, y, x)", f"let {self.name('r')} = match linalg.exp",
                        f"foreach {self.name('v')} in [1, 2] {{\n    map {loop} to blocks(y, x)\n  }}",
                    ]))  # fmt: skip
        self.line("}")

    def captured(self, op: str, loop: str, inner: str, depth: int) -> None:
        """A schedule that tiles an op of the one around it."""
        schedule, a, b = self.name("cut"), self.name("t"), self.name("o")
        with self.block(f"schedule {schedule}() {{"):
            self.cut(op, a, b, depth)
            self.line(f"return ({a}, {b})")
        self.line(f"let ({loop}, {inner}) = {schedule}()")
        self.bound(loop, a), self.bound(inner, b)

    def passed(self, op: str, loop: str, inner: str, depth: int) -> None:
        """A schedule that tiles its argument."""
        by_names = self.r.random() < 0.3
        schedule, given, a, b = self.name("part"), op if by_names else self.name("h"), self.name("t"), self.name("o")
        self.old[given] = self.named(op)
        more = "n0: int, f1: bool = true, " * by_names
        with self.block(f"schedule {schedule}({given}: handle, {more}unmapped: bool = true) {{"):
            self.cut(given, a, b, depth)
            self.line(f"require unmapped\n{'  ' * self.depth}return ({a}, {b})")
        self.line(f"let ({loop}, {inner}) = {schedule}({'...' if by_names else self.r.choice([op, f'{given} = {op}'])})")
        self.bound(loop, a), self.bound(inner, b)

    def renamed(self, op: str, loop: str, inner: str, depth: int) -> None:
        again = self.name("h")
        self.line(f"let {again} = {op}")
        self.old[again] = self.named(op)
        self.cut(again, loop, inner, depth)

    # ---- the rest ----------------------------------------------------------------------------------------------------

    def map(self, loop: str, space: str) -> None:
        """A map with clauses that depend on values."""
        text, holds = self.condition()
        count = self.values["maybe"]
        order, group = self.condition()
        order, group = f"maybe == none and ({order})", count is None and group
        clauses = f"order grouped({self.r.choice(SIZES)})" if space == "blocks" else ""
        axes = "y, x" if count is None else f"y: {count}, x: {count}"
        way = "cyclic" if count is not None else ""
        plain = f"map {self.named(loop)} to {space}({axes}) {way} {clauses if group else ''}"
        new = f"map {loop} to {space}(y: maybe, x: maybe) cyclic if maybe != none"
        new += f" {clauses} if {order}" if clauses else ""
        with self.block(f"if {text} {{", live=holds):
            self.line(new, plain)

    def listed(self, ops: list[str]) -> None:
        """Statements for lists of ops: written out, some of them absent, and of results."""
        every, inner, absent, more = self.name("all"), self.name("o"), self.name("h"), self.name("t")
        (rows, m), (columns, n) = self.size(), self.size()
        self.line(f"let {absent} = match? linalg.exp")
        among = [*ops, absent]
        self.r.shuffle(among)
        self.line(f"let ({every}, {inner}) = tile [{', '.join(among)}] [{rows}, {columns}]")
        loops = [(self.name("t"), self.name("o")) for op in among if op != absent]
        live = [op for op in among if op != absent]
        self.plain += [f"  let ({t}, {o}) = tile {self.named(op)} [{m}, {n}]" for op, (t, o) in zip(live, loops, strict=True)]
        if self.r.random() < 0.5:
            self.line(f"let ({more}, _) = tile {inner} [2, ...]")
            again = [(self.name("t"), o) for _, o in loops]
            self.plain += [f"  let ({t}, _) = tile {o} [2, 2]" for t, o in again]
            self.line(f"let {absent} = match? linalg.exp")
            self.line(f"map [{more}, {absent}] to threads(y, x)")
            self.plain += [f"  map {t} to threads(y, x)" for t, _ in again]
        text, holds = self.condition()
        with self.block(f"if {text} {{", live=holds):
            self.line(f"map {every} to blocks(y, x)")
        if holds:
            self.plain += [f"  map {t} to blocks(y, x)" for t, _ in loops]

    def collected(self, ops: list[str]) -> list[str]:
        """A loop that tiles several ops, and keeps loops in a list."""
        every, one, loop, inner = self.name("all"), self.name("h"), self.name("t"), self.name("o")
        (rows, m), (columns, n) = self.size(), self.size()
        self.line(f"let {every} = []")
        keep, held = self.condition()
        with self.block(f"foreach {one} in [{', '.join(ops)}] {{"):
            self.line(f"let ({loop}, {inner}) = tile {one} [{rows}, {columns}]")
            with self.block(f"if {keep} {{"):
                self.line(f"append {loop} to {every}")
        loops = [self.name("t") for _ in ops]
        self.plain += [f"  let ({t}, _) = tile {self.named(op)} [{m}, {n}]" for op, t in zip(ops, loops, strict=True)]
        with self.block(f"foreach {self.name('u')} in {every} {{"):
            self.line(f"map {self.new[-1].split()[1]} to blocks(y, x)")
        self.plain += [f"  map {loop} to blocks(y, x)" for loop in loops if held]
        return loops


def say(value: bool | int | None) -> str:
    return "none" if value is None else str(value).lower()


def composed(seed: int) -> tuple[str, str]:
    """A schedule, and the same without the forms that compose."""
    r = random.Random(seed)
    made = Written(r)
    made.values = {f"f{k}": r.random() < 0.5 for k in range(3)} | {f"n{k}": r.choice(SIZES) for k in range(2)}
    made.values["maybe"] = r.choice([None, 2, 3])
    helper = f"schedule helper(op: handle = match {r.choice(OPS)}, rows: int = 8, other: handle = none) {{\n"
    helper += "  let (t, o) = tile op [rows, 4]\n  if other {\n    fuse other into t\n  }\n  return (t, o)\n}\n\n"
    kind, used = helper.split("match ")[1].split(",")[0], r.random() < 0.5
    handles = {name: made.name("h") for name in OPS if not (used and name == kind)}
    for op, handle in handles.items():
        made.line(f"let {handle} = match {op}", f"let {handle} = match {op}")
    if used:
        rows, loop, inner = r.choice(SIZES), made.name("t"), made.name("o")
        made.line(f"let ({loop}, {inner}) = helper(rows = {rows})", f"let {inner}_op = match {kind}")
        made.plain.append(f"  let ({loop}, {inner}) = tile {inner}_op [{rows}, 4]")
        made.map(loop, "blocks")
    ops = list(handles.values())
    if (form := r.random()) < 0.4:
        made.collected(ops) if form < 0.2 else made.listed(ops)
        return helper + made.text(), made.text(parameters=False)
    for op in ops:
        loop, inner = made.name("t"), made.name("o")
        made.cut(op, loop, inner, r.randint(1, 3))
        made.map(loop, "blocks")
        if r.random() < 0.5:
            lanes, one = made.name("t"), made.name("o")
            made.cut(inner, lanes, one, r.randint(0, 2))
            made.map(lanes, "threads")
    return helper + made.text(), made.text(parameters=False)
