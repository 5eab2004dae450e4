"""Happens-before in a host function: its operations in program order, and for each one those that are certainly done when it
starts.

A synchronous operation, and anything the host does itself, is done when the host is past it. An asynchronous one starts when
the tokens it waits for are ready, and is done when its own is; a blocking `gpu.wait` makes the host wait. Sets of operations
are the bits of an integer, so that 10,000 of them are no trouble.

Both arms of a branch are walked; afterwards is done what is done either way, and what an arm that was not taken never
began counts as done. A loop is walked until another iteration shows nothing new: what later iterations find unfinished
depends on an earlier operation only through the carried tokens and the host that are past it, of which there are few, and
walking stops when for every operation such a set comes back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ...dsl.diagnostics import WeftError, fail
from .. import mlir
from ..mlir import ir
from ..rewriter import describe
from .effects import DEVICE, Effect, Effects
from .tokens import (
    BRANCHES,
    LOOPS,
    carried,
    constant,
    dependencies,
    is_blocking,
    is_token,
    last_op,
    made_tokens,
    takes_a_stream,
    trip_count,
    uses_tokens,
)

MOST_ITERATIONS = 64
MOST_EVENTS = 40_000

Condition = tuple[object, bool]
"""A choice of the program (which condition, in which iteration), and how it was made."""


@dataclass(frozen=True, eq=False)
class Event:
    """An operation that touches memory, as it happens once.

    Args:
        number: its place in program order.
        path: the iterations of the loops around it, outermost first.
        when: the choices under which it happens.
        asynchronous: it may go on after the host is past it.
    """

    number: int
    op: ir.Operation
    path: tuple[int, ...]
    when: frozenset[Condition]
    asynchronous: bool
    effects: tuple[Effect, ...]

    @property
    def on_device(self) -> bool:
        return self.op.name in DEVICE

    def excludes(self, other: Event) -> bool:
        return contradict(self.when, other.when)


@dataclass(eq=False)
class Token:
    """A token as it is made once. `covers`: the events that are done when it is ready; `uses`: by whom, under which choices."""

    value: ir.Value
    maker: ir.Operation | None
    when: frozenset[Condition]
    covers: int
    uses: list[Use] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Use:
    """One use of a token. `event`: what started with it, if anything did; `past`: the events done when the host was there."""

    op: ir.Operation
    when: frozenset[Condition]
    past: int
    event: int | None = None


def contradict(first: frozenset[Condition], second: frozenset[Condition]) -> bool:
    return any((key, not value) in second for key, value in first)


Watcher = Callable[[Event, int], int]


@dataclass(eq=False)
class History:
    """What happens in one host function.

    Args:
        function: a `func.func` of one block.
        effects: those of its module.
        watch: called with each event and with what is done when it starts; it returns what else is to be taken as done (an
            order that is missing and was reported need not be reported again for all that follows).
        begin: called with the history before anything happens.

    Raises:
        WeftError: W0634 for what this cannot see through.
    """

    function: ir.Operation
    effects: Effects
    watch: Watcher = lambda event, done: 0
    begin: Callable[[History], None] = lambda history: None
    events: list[Event] = field(default_factory=list)
    done: list[int] = field(default_factory=list)
    tokens: list[Token] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.begin(self)
        self._host = 0
        self._path: list[int] = []
        self._loops: list[ir.Operation] = []
        self._when: frozenset[Condition] = frozenset()
        self._under: defaultdict[Condition, int] = defaultdict(int)
        self._now: dict[ir.Value, Token] = {}
        self._of: dict[ir.Operation, tuple[Effect, ...]] = {}
        self._leaf: dict[ir.Operation, bool] = {}
        blocks = self.function.regions[0].blocks
        if len(blocks) != 1:
            raise unknown(self.function, "branches between blocks", "lift them to scf: a function is read as one block")
        for argument in blocks[0].arguments:
            if is_token(argument):
                self._now[argument] = self._made(argument, None, 0)
        self._block(blocks[0])
        for value in last_op(blocks[0]).operands:
            self._use(value, last_op(blocks[0]))

    def before(self, first: ir.Operation, second: ir.Operation) -> bool:
        """Whether every time `first` happens it is done before `second` starts, whenever that comes later."""
        firsts = sum(1 << e.number for e in self.events if e.op == first)
        for event in self.events:
            earlier = firsts & ((1 << event.number) - 1)
            if event.op == second and earlier & ~self.done[event.number]:
                return False
        return bool(firsts)

    # ---- walking ----------------------------------------------------------------------------------------------------------

    def _block(self, block: ir.Block) -> None:
        """All but the terminator."""
        for number in range(len(block.operations) - 1):
            self._op(block.operations[number].operation)

    def _op(self, op: ir.Operation) -> None:
        if op.name == "gpu.wait":
            self._wait(op)
        elif self._is_leaf(op):
            self._event(op)
        elif op.name in LOOPS:
            self._loop(op)
        elif op.name in BRANCHES:
            self._branch(op)
        else:
            raise unknown(op, f"what {op.name} does to tokens and to memory that is freed", "write it with scf.for and scf.if")

    def _is_leaf(self, op: ir.Operation) -> bool:
        """Whether `op` is one operation, with all that is in its regions."""
        if op not in self._leaf:
            self._leaf[op] = _one_operation(op)
        return self._leaf[op]

    def _event(self, op: ir.Operation) -> None:
        made = made_tokens(op)
        if (made or dependencies(op)) and op.name not in DEVICE:
            raise unknown(op, f"what {op.name} does to tokens", "pass tokens through scf.for and scf.if alone")
        if op not in self._of:
            self._of[op] = self.effects.of(op)
        effects = self._of[op]
        self._expect_seen(op)
        if not effects and not made and op.name not in DEVICE:
            return
        if len(self.events) >= MOST_EVENTS:
            raise unknown(op, f"a function that does more than {MOST_EVENTS} operations", "verify it in parts")
        event = Event(len(self.events), op, tuple(self._path), self._when, bool(made), effects)
        start = self._host
        for value in dependencies(op):
            start |= self._covers(value)
            self._use(value, op, event.number)
        self.events.append(event)
        self.done.append(start)
        self.done[-1] = start | self.watch(event, start)
        after = self.done[-1] | 1 << event.number
        for condition in self._when:
            self._under[condition] |= 1 << event.number
        for value in made:
            self._now[value] = self._made(value, op, after)
        if not made:
            self._host |= after

    def _expect_seen(self, op: ir.Operation) -> None:
        if takes_a_stream(op):
            raise unknown(op, "when a launch on the caller's stream is done", "launch with a token: `async [%t]`")
        in_flight = ((1 << len(self.events)) - 1) & ~self._host
        unseen = self.effects.unseen(op) if in_flight else None
        if unseen is not None and op.name not in ("gpu.launch_func", "gpu.launch"):
            raise unknown(unseen, "what this op of the host does to memory", "wait for all tokens before it: `gpu.wait [%t]`")

    def _wait(self, op: ir.Operation) -> None:
        covers = self._host
        for value in dependencies(op):
            covers |= self._covers(value)
        self._use_all(op)
        if is_blocking(op):
            self._host |= covers
        else:
            for value in made_tokens(op):
                self._now[value] = self._made(value, op, covers)

    # ---- tokens -----------------------------------------------------------------------------------------------------------

    def _made(self, value: ir.Value, maker: ir.Operation | None, covers: int) -> Token:
        token = Token(value, maker, self._when, covers)
        self.tokens.append(token)
        return token

    def _covers(self, value: ir.Value) -> int:
        return self._now[value].covers

    def _use_all(self, op: ir.Operation) -> None:
        for value in dependencies(op):
            self._use(value, op)

    def _use(self, value: ir.Value, op: ir.Operation, event: int | None = None) -> None:
        if is_token(value):
            self._now[value].uses.append(Use(op, self._when, self._host, event))

    # ---- branches ---------------------------------------------------------------------------------------------------------

    def _branch(self, op: ir.Operation) -> None:
        condition = op.operands[0] if op.name == "scf.if" else None
        known = constant(condition) if condition is not None else None
        key = (condition if condition is not None else op, self._iteration_of(condition) if condition else tuple(self._path))
        before, when = self._host, self._when
        tokens = [i for i, v in enumerate(op.results) if is_token(v)]
        hosts: list[int] = []
        given: list[list[int]] = []
        for arm, taken in enumerate((True, False)):
            if known is not None and bool(known) is not taken:
                continue
            self._host = before | self._under[key, not taken]
            self._when = when | {(key, taken)} if known is None else when
            region = op.regions[arm] if arm < len(op.regions) else None
            covers: list[int] = []
            if not contradict(self._when, self._when) and region is not None and len(region.blocks):
                self._block(region.blocks[0])
                yielded = list(last_op(region.blocks[0]).operands)
                covers = [self._covers(yielded[i]) for i in tokens]
                for i in tokens:
                    self._use(yielded[i], last_op(region.blocks[0]))
            elif tokens:
                covers = [-1] * len(tokens)
            hosts.append(self._host)
            given.append(covers)
        self._when = when
        others = [self._under[key, False], self._under[key, True]] if known is None else [0]
        self._host = _both([h | other for h, other in zip(hosts, others, strict=True)])
        for number, i in enumerate(tokens):
            merged = _both([g[number] | other for g, other in zip(given, others, strict=True)])
            self._now[op.results[i]] = self._made(op.results[i], op, merged)

    def _iteration_of(self, value: ir.Value) -> tuple[int, ...]:
        """In which iterations of the loops around it `value` was made."""
        return tuple(self._path[: self.depth(value)])

    def depth(self, value: ir.Value) -> int:
        """How many of the loops being walked are around the definition of `value`."""
        owner = value.owner
        holder = owner.owner.operation if isinstance(owner, ir.Block) else owner.operation.parent
        depth = 0
        while holder is not None:
            depth += holder.operation in self._loops
            holder = holder.operation.parent
        return depth

    # ---- loops ------------------------------------------------------------------------------------------------------------

    def _loop(self, op: ir.Operation) -> None:
        block = op.regions[0].blocks[0]
        trips = trip_count(op)
        inputs = carried(op)
        tokens = [i for i, v in enumerate(inputs) if is_token(v)]
        covers = [self._covers(inputs[i]) for i in tokens]
        for i in tokens:
            self._use(inputs[i], op)
        first, when, around = len(self.events), self._when, tuple(self._path)
        sources = list(bits(((1 << first) - 1) & ~self._host))
        seen: dict[int, set[tuple[int, ...]]] = defaultdict(set)
        exits: list[tuple[int, int, list[int]]] = []
        self._loops.append(op)
        turn = 0
        while True:
            if turn == 1:
                sources += range(first, len(self.events))
            state = {n: tuple(c >> n & 1 for c in (self._host, *covers)) for n in sources}
            repeats = turn >= 2 and all(s[0] or s in seen[n] for n, s in state.items())
            if trips is None or turn == trips or (turn and trips > MOST_ITERATIONS):
                exits.append((len(self.events), self._host, covers))
            if turn == trips or (repeats and (trips is None or trips > MOST_ITERATIONS)):
                break
            if turn >= MOST_ITERATIONS:
                raise unknown(op, f"the tokens of a loop after {MOST_ITERATIONS} iterations", "carry fewer tokens")
            for n, s in state.items():
                seen[n].add(s)
            if trips is None:
                self._when = self._when | {((op, around, turn), True)}
            covers = self._iteration(block, tokens, covers, turn)
            turn += 1
        self._loops.pop()
        self._when = when
        everything = (1 << len(self.events)) - 1
        skipped = [everything & ~((1 << count) - 1) for count, _, _ in exits]
        self._host = _both([host | rest for (_, host, _), rest in zip(exits, skipped, strict=True)])
        for number, i in enumerate(tokens):
            merged = _both([given[number] | rest for (_, _, given), rest in zip(exits, skipped, strict=True)])
            self._now[op.results[i]] = self._made(op.results[i], op, merged)

    def _iteration(self, block: ir.Block, tokens: list[int], covers: list[int], turn: int) -> list[int]:
        self._path.append(turn)
        for number, i in enumerate(tokens):
            self._now[block.arguments[1 + i]] = self._made(block.arguments[1 + i], block.owner.operation, covers[number])
        self._block(block)
        yielded = list(last_op(block).operands)
        for i in tokens:
            self._use(yielded[i], last_op(block))
        self._path.pop()
        return [self._covers(yielded[i]) for i in tokens]


def bits(mask: int) -> Iterator[int]:
    """The numbers of the bits that are set, the highest first."""
    while mask:
        number = mask.bit_length() - 1
        yield number
        mask ^= 1 << number


def _both(sets: list[int]) -> int:
    found = -1
    for each in sets:
        found &= each
    return found


def _one_operation(op: ir.Operation) -> bool:
    if not len(op.regions) or op.name in DEVICE or op.name.startswith("linalg."):
        return True
    if op.name in BRANCHES:  # walked, because which arm is taken may exclude what came before
        return False
    return not uses_tokens(op) and not any(True for _ in mlir.operations(op, "memref.dealloc", "gpu.dealloc"))


def unknown(op: ir.Operation, what: str, hint: str) -> WeftError:
    return fail("W0634", f"the order of launches cannot be followed through {describe(op)}: {what}", hint=hint)
