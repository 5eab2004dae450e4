"""What is wrong with a host function, by brute force: every path through it is taken, one after the other, and on each one
happens-before is a graph that is searched.

Nothing here knows `interpreter/asynchrony/`. On a path each operation has a node for its start and one for its end, each
token one that is reached when it is ready, and the host one for each place it gets to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from host_programs import ARGUMENTS, PART, SIZE, Alloc, Condition, Do, For, Free, If, Place, Stmt, Wait

Pair = tuple[int, int]


class TooManyPaths(Exception):
    """A program that is not worth the time."""


@dataclass
class Faults:
    """By lines: pairs of operations that nothing orders; pairs of which the first freed what the second uses; tokens (by where
    they are made) that nobody waits for, and that are used in ways that clash."""

    unordered: set[Pair] = field(default_factory=set)
    freed: set[Pair] = field(default_factory=set)
    unused: set[int] = field(default_factory=set)
    clashes: set[int] = field(default_factory=set)
    synchronous: set[int] = field(default_factory=set)

    @property
    def any(self) -> bool:
        return bool(self.unordered or self.freed or self.unused or self.clashes or self.synchronous)


def faults(program: Sequence[Stmt], *, longest: int = 3, most: int = 1500, edges: frozenset[Pair] = frozenset()) -> Faults:
    """All faults on all paths.

    Args:
        longest: how often a loop runs at most whose bound is not known.
        most: how many paths there may be.
        edges: pairs of lines that are taken as ordered.
    """
    found = Faults()
    choices: list[tuple[int, int]] = []
    for _ in range(most):
        path = _Path(choices, longest, edges, found)
        path.run(program)
        while choices and choices[-1][0] + 1 == choices[-1][1]:
            choices.pop()
        if not choices:
            return found
        choices[-1] = (choices[-1][0] + 1, choices[-1][1])
    raise TooManyPaths


@dataclass(eq=False)
class _Stream:
    """What a token stands for, by whatever name it is handed on."""

    ready: int
    given_up: bool = False


@dataclass(eq=False)
class _Name:
    """A token under one name: `uses` are `fork`, `block`, `other` in the order in which they happen."""

    stream: _Stream
    line: int
    uses: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class _Done:
    """An operation as it happened: which elements of which memory it read, wrote, allocated or freed."""

    line: int
    start: int
    end: int
    touched: tuple[tuple[str, int, range], ...]


class _Path:
    """One run of the program. `choices`: which of how many was taken, at each place where that is open."""

    def __init__(self, choices: list[tuple[int, int]], longest: int, edges: frozenset[Pair], found: Faults) -> None:
        self.choices, self.longest, self.edges, self.found = choices, longest, edges, found
        self.taken = 0
        self.before: list[set[int]] = [set()]
        self.host = 0
        self.done: list[_Done] = []
        self.tokens: dict[str, _Name] = {}
        self.all_tokens: list[_Name] = []
        self.memory = {name: i for i, name in enumerate(ARGUMENTS)}
        self.allocated = len(ARGUMENTS)
        self.truth: dict[str, bool] = {"true": True, "false": False}
        self.bounds: dict[str, int] = {}
        self.iteration: dict[str, int] = {}

    def run(self, program: Sequence[Stmt]) -> None:
        self.block(program)
        self.found.unused.update(t.line for t in self.all_tokens if not t.uses)

    def choose(self, count: int) -> int:
        if self.taken == len(self.choices):
            self.choices.append((0, count))
        self.taken += 1
        return self.choices[self.taken - 1][0]

    def node(self, *before: int) -> int:
        """A node behind others, with all that is before it."""
        self.before.append(set(before).union(*(self.before[b] for b in before)))
        return len(self.before) - 1

    # ---- statements ---------------------------------------------------------------------------------------------------

    def block(self, stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            if isinstance(stmt, Wait):
                self.wait(stmt)
            elif isinstance(stmt, For):
                self.loop(stmt)
            elif isinstance(stmt, If):
                self.branch(stmt)
            elif isinstance(stmt, Condition):
                self.truth.pop(stmt.name, None)
            elif isinstance(stmt, Do | Alloc | Free):
                self.operation(stmt)

    def operation(self, stmt: Do | Alloc | Free) -> None:
        if isinstance(stmt, Alloc):
            self.memory[stmt.buffer] = self.allocated
            self.allocated += 1
            touched = (("alloc", self.memory[stmt.buffer], range(SIZE)),)
        elif isinstance(stmt, Free):
            touched = (("free", self.memory[stmt.buffer], range(SIZE)),)
        else:
            one = stmt.kind in ("load", "store")
            touched = tuple((kind, self.memory[place.buffer], self.elements(place, one)) for kind, place in stmt.accesses())
        waits = [self.tokens[t].stream.ready for t in stmt.after]
        ordered = [e.end for e in self.done if (e.line, stmt.line) in self.edges]
        start = self.node(self.host, *waits, *ordered)
        event = _Done(stmt.line, start, self.node(start), touched)
        for name in stmt.after:
            self.use(name, "other")
            if stmt.token is None:
                self.found.synchronous.add(stmt.line)
        self.judge(event)
        self.done.append(event)
        if stmt.token is None:
            self.host = self.node(self.host, event.end)
        else:
            self.make(stmt.token, stmt.line, _Stream(event.end))

    def elements(self, place: Place, one: bool) -> range:
        start = (place.offset or 0) + (place.scale * self.iteration[place.loop] if place.loop is not None else 0)
        return range(start, start + (1 if one else SIZE if place.offset is None else PART))

    def judge(self, event: _Done) -> None:
        for earlier in self.done:
            for first in earlier.touched:
                for second in event.touched:
                    if first[1] != second[1] or (first[0] == second[0] == "read"):
                        continue
                    if first[0] == "free":
                        self.found.freed.add((earlier.line, event.line))
                    elif _overlap(first[2], second[2]) and earlier.end not in self.before[event.start]:
                        self.found.unordered.add((earlier.line, event.line))

    def wait(self, stmt: Wait) -> None:
        ready = self.node(self.host, *(self.tokens[t].stream.ready for t in stmt.after))
        for name in stmt.after:
            self.use(name, "block" if stmt.token is None else "fork")
        if stmt.token is None:
            self.host = ready
        else:
            self.make(stmt.token, stmt.line, _Stream(ready))

    def loop(self, stmt: For) -> None:
        if isinstance(stmt.trips, int):
            trips = stmt.trips
        else:
            if stmt.trips not in self.bounds:
                self.bounds[stmt.trips] = self.choose(self.longest + 1)
            trips = self.bounds[stmt.trips]
        given = [self.hand_on(first) for _, first, _, _ in stmt.carried]
        for turn in range(trips):
            self.iteration[stmt.loop] = turn
            for (argument, *_), stream in zip(stmt.carried, given, strict=True):
                self.make(argument, stmt.line, stream)
            self.block(stmt.body)
            given = [self.hand_on(yielded) for _, _, yielded, _ in stmt.carried]
        for (*_, result), stream in zip(stmt.carried, given, strict=True):
            self.make(result, stmt.line, stream)

    def branch(self, stmt: If) -> None:
        if stmt.condition not in self.truth:
            self.truth[stmt.condition] = bool(self.choose(2))
        arm = 0 if self.truth[stmt.condition] else 1
        self.block((stmt.then, stmt.other or [])[arm])
        given = [self.hand_on(result[1 + arm]) for result in stmt.results]
        for (result, *_), stream in zip(stmt.results, given, strict=True):
            self.make(result, stmt.line, stream)

    # ---- tokens -------------------------------------------------------------------------------------------------------

    def make(self, name: str, line: int, stream: _Stream) -> None:
        self.tokens[name] = _Name(stream, line)
        self.all_tokens.append(self.tokens[name])

    def hand_on(self, name: str) -> _Stream:
        self.use(name, "other")
        return self.tokens[name].stream

    def use(self, name: str, how: str) -> None:
        """A token has one use, and forks besides; none comes after a blocking wait, by whatever name that was."""
        token = self.tokens[name]
        if token.stream.given_up or (how != "fork" and any(u != "fork" for u in token.uses)):
            self.found.clashes.add(token.line)
        token.uses.append(how)
        token.stream.given_up |= how == "block"


def _overlap(first: range, second: range) -> bool:
    return first.start < second.stop and second.start < first.stop
