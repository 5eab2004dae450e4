"""Happens-before in a host function: its operations in program order, and for each one those that are certainly done when it
starts.

A synchronous operation, and anything the host does itself, is done when the host is past it. An asynchronous one starts when
the tokens it waits for are ready, and is done when its own is; a blocking `gpu.wait` makes the host wait. Sets of operations
are the bits of an integer, so that 10,000 of them are no trouble. `control_flow.py` walks branches and loops.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ...indices.arithmetic import trip_count
from ...ir.mlir import ir, operations
from ...memory.effects import is_memref
from ...memory.table import FREEING
from ...memory.views import terminator
from .control_flow import walk_branch, walk_loop
from .effects import DEVICE, Effect, Effects
from .events import (
    BRANCHES,
    LOOPS,
    Condition,
    Event,
    NamedToken,
    Stream,
    Streams,
    Use,
    dependencies,
    is_blocking,
    is_token,
    made_tokens,
    takes_a_stream,
    unknown,
    uses_tokens,
)

MOST_EVENTS = 40_000

Watcher = Callable[["History", Event, int], int]


@dataclass(eq=False)
class History:
    """What happens in one host function.

    Args:
        function: a `func.func` of one block.
        effects: those of its module.
        watch: called with the history, each event, and what is done when it starts; it returns what else is to be taken as done
            (an order that is missing and was reported need not be reported again for all that follows).

    Raises:
        WeftError: W0634 for what this cannot see through.
    """

    function: ir.Operation
    effects: Effects
    watch: Watcher = lambda history, event, done: 0
    events: list[Event] = field(default_factory=list)
    done: list[int] = field(default_factory=list)
    tokens: list[NamedToken] = field(default_factory=list)

    host: int = 0
    """The events that are done where the walk stands."""
    now: dict[ir.Value, NamedToken] = field(default_factory=dict)
    path: list[int] = field(default_factory=list)
    """The iterations in which the walk is, of the loops in `loops`."""
    loops: list[ir.Operation] = field(default_factory=list)
    when: frozenset[Condition] = frozenset()
    under: defaultdict[Condition, int] = field(default_factory=lambda: defaultdict(int))
    """The events that happen under a condition alone."""
    past: defaultdict[Condition, defaultdict[frozenset[Condition], int]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(int))
    )
    """By a condition, and by those under which a branch or loop that asked it was left: what the host is past if they hold."""
    _of: dict[ir.Operation, tuple[Effect, ...]] = field(default_factory=dict)
    _leaf: dict[ir.Operation, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        blocks = self.function.regions[0].blocks
        if len(blocks) != 1:
            raise unknown(self.function, "branches between blocks", "lift them to scf: a function is read as one block")
        for argument in blocks[0].arguments:
            if is_token(argument):
                self.made(argument, None, 0)
        self.walk(blocks[0])
        end = terminator(blocks[0])  # the caller reads what it gets, when the tokens that it gets are ready
        shown = dict.fromkeys(w for v in end.operands if is_memref(v) for w in self.effects.host.windows(v))
        if shown:
            self._happens(end, tuple(Effect("read", window) for window in shown))
        else:
            self._use_all(end)

    # ---- walking ----------------------------------------------------------------------------------------------------------

    def walk(self, block: ir.Block) -> None:
        """All but the terminator."""
        for number in range(len(block.operations) - 1):
            op = block.operations[number].operation
            if op.name == "gpu.wait":
                self._wait(op)
            elif op.name in LOOPS and trip_count(op) == 0 and not len(op.results):
                pass  # nothing of it happens
            elif self._is_leaf(op):
                self._event(op)
            elif op.name in LOOPS:
                walk_loop(self, op)
            elif op.name in BRANCHES:
                walk_branch(self, op)
            else:
                what = f"what {op.name} does to tokens, and to memory that is freed, is not known"
                raise unknown(op, what, "write it with scf.for and scf.if")

    def _is_leaf(self, op: ir.Operation) -> bool:
        """Whether `op` is one operation, with all that is in its regions."""
        if op not in self._leaf:
            self._leaf[op] = _one_operation(op)
        return self._leaf[op]

    def _event(self, op: ir.Operation) -> None:
        made = made_tokens(op)
        if (made or dependencies(op)) and op.name not in DEVICE:
            what = f"what {op.name} does to tokens is not known"
            raise unknown(op, what, "pass tokens through scf.for and scf.if alone")
        if op not in self._of:
            self._of[op] = self.effects.of(op)
        effects = self._of[op]
        self._expect_seen(op)
        if effects or made or op.name in DEVICE:
            self._happens(op, effects)

    def _happens(self, op: ir.Operation, effects: tuple[Effect, ...]) -> None:
        made = made_tokens(op)
        if len(self.events) >= MOST_EVENTS:
            raise unknown(op, f"a function that does more than {MOST_EVENTS} operations", "verify it in parts")
        event = Event(len(self.events), op, tuple(self.loops), tuple(self.path), self.when, bool(made), effects)
        start = self.host
        for value in dependencies(op):
            start |= self.now[value].covers
            self.use(value, op, event.number)
        self.events.append(event)
        self.done.append(start)
        self.done[-1] = start | self.watch(self, event, start)
        after = (start if event.may_not_run else self.done[-1]) | 1 << event.number
        for condition in self.when:
            self.under[condition] |= 1 << event.number
        for value in made:
            self.made(value, op, after)
        if not made:
            self.host |= after

    def _expect_seen(self, op: ir.Operation) -> None:
        if takes_a_stream(op):
            raise unknown(op, "when a launch on the caller's stream is done", "launch with a token: `async [%t]`")
        in_flight = ((1 << len(self.events)) - 1) & ~self.host
        if (in_flight or made_tokens(op)) and self.effects.launches_on_pointers(op):
            what = "what this launch reads and writes, through pointers or by an op that is not known, cannot be seen"
            raise unknown(op, what, "pass memrefs instead of `!llvm.ptr`, or launch without tokens when all is done")
        unseen = self.effects.unseen(op) if in_flight else None
        if unseen is not None and op.name not in ("gpu.launch_func", "gpu.launch"):
            what = "what this op of the host does to memory cannot be seen"
            raise unknown(unseen, what, "wait for all tokens before it: `gpu.wait [%t]`")

    def _wait(self, op: ir.Operation) -> None:
        covers = self.host
        for value in dependencies(op):
            covers |= self.now[value].covers
        self._use_all(op)
        if is_blocking(op):
            self.host |= covers
        else:
            for value in made_tokens(op):
                self.made(value, op, covers)

    # ---- tokens -----------------------------------------------------------------------------------------------------------

    def made(self, value: ir.Value, maker: ir.Operation | None, covers: int, streams: Streams | None = None) -> None:
        """A token comes into being; with `streams`, as another name of what was handed on."""
        self.now[value] = NamedToken(value, maker, self.when, covers, streams or ((Stream(), frozenset()),))
        self.tokens.append(self.now[value])

    def _use_all(self, op: ir.Operation) -> None:
        for value in dependencies(op):
            self.use(value, op)

    def use(self, value: ir.Value, op: ir.Operation, event: int | None = None) -> None:
        if is_token(value):
            token, use = self.now[value], Use(op, self.when, self.host, event)
            token.uses.append(use)
            for stream, under in token.streams:
                stream.uses.append((token, replace(use, when=use.when | under)))


def _one_operation(op: ir.Operation) -> bool:
    if not len(op.regions) or op.name in DEVICE or op.name.startswith("linalg."):
        return True
    if op.name in BRANCHES:  # walked, because which arm is taken may exclude what came before
        return False
    return not uses_tokens(op) and not any(operations(op, *FREEING))
