"""Happens-before in a host function: its operations in program order, and for each one those that are certainly done
when it starts.

A synchronous operation, and anything the host does itself, is done when the host is past it. An asynchronous one starts
when the tokens it waits for are ready, and is done when its own is; a blocking `gpu.wait` makes the host wait. Sets of
operations are the bits of an integer, so that 10,000 of them are no trouble.

Both arms of a branch are walked; afterwards is done what is done either way, and what an arm that was not taken never
began counts as done. A loop is walked until another iteration shows nothing new: what later iterations find unfinished
depends on an earlier operation only through the carried tokens and the host that are past it, of which there are few,
and walking stops when for every operation such a set comes back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import and_

from ....dsl.records import record
from ...indices.arithmetic import trip_count
from ...ir.mlir import constant_of, ir, made_within, operations
from ...ir.structured import loop_inits
from ...memory.effects import is_memref
from ...memory.table import FREEING
from ...memory.views import terminator
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
    bits,
    contradict,
    dependencies,
    is_blocking,
    is_token,
    made_tokens,
    one_of,
    takes_a_stream,
    unknown,
    uses_tokens,
)

MOST_EVENTS = 40_000
MOST_ITERATIONS = 64

Watcher = Callable[["History", Event, int], int]


@dataclass(eq=False)
class History:
    """What happens in one host function.

    Args:
        function: a `func.func` of one block.
        effects: those of its module.
        watch: called with the history, each event, and what is done when it starts; it returns what else is to be taken
            as done (an order that is missing and was reported need not be reported again for all that follows).

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
    """By a condition, and by those under which a branch or loop that asked it was left: what the host is past if they
    hold."""
    _of: dict[ir.Operation, tuple[Effect, ...]] = field(default_factory=dict)
    _leaf: dict[ir.Operation, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        blocks = self.function.regions[0].blocks
        if len(blocks) != 1:
            raise unknown(
                self.function,
                "branches between blocks",
                "lift them to `scf.if` and `scf.while`, as"
                " `mlir-opt --lift-cf-to-scf` does: a function is"
                " read as one block",
            )
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

    # ---- walking -----------------------------------------------------------------------------------------------------

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
                raise unknown(op, what, "write it with `scf.for` and `scf.if`")

    def _is_leaf(self, op: ir.Operation) -> bool:
        """Whether `op` is one operation, with all that is in its regions."""
        if op not in self._leaf:
            self._leaf[op] = _one_operation(op)
        return self._leaf[op]

    def _event(self, op: ir.Operation) -> None:
        made = made_tokens(op)
        if (made or dependencies(op)) and op.name not in DEVICE:
            what = f"what {op.name} does to tokens is not known"
            raise unknown(op, what, "pass tokens through `scf.for` and `scf.if` alone")
        if op not in self._of:
            self._of[op] = self.effects.of(op)
        effects = self._of[op]
        self._expect_seen(op)
        if effects or made or op.name in DEVICE:
            self._happens(op, effects)

    def _happens(self, op: ir.Operation, effects: tuple[Effect, ...]) -> None:
        made = made_tokens(op)
        if len(self.events) >= MOST_EVENTS:
            raise unknown(
                op,
                f"a function that does more than {MOST_EVENTS} operations",
                "split the function, and `weft verify` each part",
            )
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
            raise unknown(op, "the end of a launch on the caller's stream", "launch with a token: `async [%t]`")
        in_flight = ((1 << len(self.events)) - 1) & ~self.host
        if (in_flight or made_tokens(op)) and self.effects.launches_on_pointers(op):
            what = "what this launch reads and writes, through pointers or by an op that is not known, cannot be seen"
            raise unknown(op, what, "pass memrefs instead of `!llvm.ptr`, or launch without tokens, after `gpu.wait`")
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

    # ---- tokens ------------------------------------------------------------------------------------------------------

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


# ---- branches and loops ----------------------------------------------------------------------------------------------


def walk_branch(history: History, op: ir.Operation) -> None:
    """An `scf.if` or an `affine.if`."""
    condition = op.operands[0] if op.name == "scf.if" else None
    flag = None if condition is None else constant_of(condition)
    known = None if flag is None else flag != 0
    round_ = _iteration_of(history, condition) if condition else tuple(history.path)
    key = (op if condition is None else condition, round_)
    before, when = history.host, history.when
    tokens = [i for i, v in enumerate(op.results) if is_token(v)]
    arms: list[_Way] = []
    for number, taken in enumerate((True, False)):
        choice = frozenset() if known is not None else frozenset({(key, taken)})
        if known not in (None, taken) or contradict(when, choice):  # the other one, as was asked further out too
            continue
        history.host, history.when = before | history.under[key, not taken], when | choice
        if choice:
            _narrow(history, (key, taken))
        region = op.regions[number] if number < len(op.regions) else None
        given = _through(history, region.blocks[0], tokens) if region is not None and len(region.blocks) else []
        arms.append(_Way(choice, history.host, given))
    history.when = when
    never = [sum({history.under[key, not taken] for _, taken in arm.choice}) for arm in arms]
    _leave(history, op, tokens, [replace(arm, never=other) for arm, other in zip(arms, never, strict=True)])


@record
class _Way:
    """One way out of a branch or a loop: the choices that lead there, what the host is past, and the tokens it gives.

    Args:
        never: the events that do not happen on that way: they count as done.
    """

    choice: frozenset[Condition]
    host: int
    given: list[NamedToken]
    never: int = 0


def _leave(history: History, op: ir.Operation, tokens: list[int], ways: list[_Way]) -> None:
    """What is done behind `op`, whichever way was taken; `tokens`: which of its results are some."""
    for condition in {c for way in ways for c in way.choice}:
        possible = (way.host | way.never for way in ways if not contradict(way.choice, frozenset({condition})))
        history.past[condition][history.when] |= reduce(and_, possible)
    history.host = reduce(and_, (way.host | way.never for way in ways))
    for number, i in enumerate(tokens):
        # What waits for the result comes after the host in each way, too.
        covers = reduce(and_, (way.given[number].covers | way.host | way.never for way in ways))
        history.made(op.results[i], op, covers, one_of((way.given[number].streams, way.choice) for way in ways))


def _narrow(history: History, condition: Condition) -> None:
    """Take as done what was done on all ways so far that go with a condition under which the walk now stands."""
    for when, done in history.past.get(condition, {}).items():
        if when <= history.when:
            history.host |= done


def _through(history: History, block: ir.Block, tokens: list[int]) -> list[NamedToken]:
    """Walk a block of a branch or a loop. The tokens that it yields at the places `tokens`."""
    history.walk(block)
    end = terminator(block)
    given = [history.now[end.operands[i]] for i in tokens]
    for i in tokens:
        history.use(end.operands[i], end)
    return given


def _iteration_of(history: History, value: ir.Value) -> tuple[int, ...]:
    """In which iterations of the loops around it `value` was made."""
    return tuple(history.path[: sum(made_within(value, loop) for loop in history.loops)])


def walk_loop(history: History, op: ir.Operation) -> None:
    """An `scf.for` or an `affine.for`, until nothing new comes."""
    walk = _Loop(history, op, trip_count(op), _bound(history, op), len(history.events))
    when = history.when
    history.loops.append(op)
    turn = 0
    while walk.goes_on(turn):
        if walk.trips is None:
            goes_on = (*walk.bound, turn), True
            history.when = history.when | {goes_on}
            _narrow(history, goes_on)
        walk.iteration(turn)
        turn += 1
    history.loops.pop()
    history.when = when
    walk.leave()


def _bound(history: History, op: ir.Operation) -> tuple[object, ...]:
    """What says how often a loop runs: two with the same bounds run equally often."""
    if op.name != "scf.for":
        return op, tuple(history.path)
    bounds = list(op.operands)[:3]
    return *bounds, max((_iteration_of(history, v) for v in bounds), key=len)


@dataclass(eq=False)
class _Loop:
    """A loop that is being walked.

    Args:
        trips: how many iterations it has; None if that is not known.
        bound: what says how many.
        first: the number of its first event.
    """

    history: History
    op: ir.Operation
    trips: int | None
    bound: tuple[object, ...]
    first: int
    tokens: list[int] = field(init=False)
    given: list[NamedToken] = field(init=False)
    _sources: list[int] = field(init=False)
    _seen: dict[int, set[tuple[int, ...]]] = field(default_factory=lambda: defaultdict(set))
    _names: list[list[set[Stream]]] = field(default_factory=list)
    _exits: list[tuple[int, _Way]] = field(default_factory=list)
    """How things stand if it ends: how many events have happened, and what is behind it then."""

    def __post_init__(self) -> None:
        inputs = loop_inits(self.op)
        self.tokens = [i for i, v in enumerate(inputs) if is_token(v)]
        self.given = [self.history.now[inputs[i]] for i in self.tokens]
        for i in self.tokens:
            self.history.use(inputs[i], self.op)
        self._sources = list(bits(((1 << self.first) - 1) & ~self.history.host))

    @property
    def _many(self) -> bool:
        """Whether it is left before its last iteration, because the others are like those that were walked."""
        return self.trips is None or self.trips > MOST_ITERATIONS

    def goes_on(self, turn: int) -> bool:
        """Whether iteration `turn` is walked; notes how things stand if the loop ends before it."""
        history, trips = self.history, self.trips
        if turn == 1:
            self._sources += range(self.first, len(history.events))
        state = {n: tuple(c >> n & 1 for c in (history.host, *(t.covers for t in self.given))) for n in self._sources}
        names = [{s for s, _ in t.streams if s in self._outside} for t in self.given]
        repeats = turn >= 2 and names in self._names and all(s[0] or s in self._seen[n] for n, s in state.items())
        if trips is None or turn == trips or (turn and self._many):
            last = turn == trips or (repeats and self._many)  # then it stands for all later ends too
            choice = frozenset(((*self.bound, each), each < turn) for each in range(turn + (not last)))
            self._exits.append((len(history.events), _Way(choice, history.host, self.given)))
            if last:
                return False
        if turn >= MOST_ITERATIONS:
            raise unknown(
                self.op,
                f"the tokens of a loop after {MOST_ITERATIONS} iterations",
                "carry fewer tokens in the loop's `iter_args`",
            )
        self._names.append(names)
        for n, s in state.items():
            self._seen[n].add(s)
        return True

    @cached_property
    def _outside(self) -> set[Stream]:
        """What the first iteration gets."""
        return {stream for token in self.given for stream, _ in token.streams}

    def iteration(self, turn: int) -> None:
        block = self.op.regions[0].blocks[0]
        self.history.path.append(turn)
        for token, i in zip(self.given, self.tokens, strict=True):
            self.history.made(block.arguments[1 + i], self.op, token.covers, token.streams)
        self.given = _through(self.history, block, self.tokens)
        self.history.path.pop()

    def leave(self) -> None:
        """What is done behind the loop, whenever it ended: iterations that did not come count as done."""
        end = 1 << len(self.history.events)
        exits = [replace(each, never=end - (1 << count)) for count, each in self._exits]
        _leave(self.history, self.op, self.tokens, exits)
