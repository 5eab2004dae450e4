"""Happens-before in a host function: its operations in program order, each with the operations that
are certainly done when it starts.

A synchronous operation, and any work of the host, is done when the host is past it. An asynchronous
operation starts when the tokens that it waits for are ready, and is done when its own token is
ready; a blocking `gpu.wait` makes the host wait. Sets of operations are bits of an integer, which
is efficient for 10,000 operations.

Both arms of a branch are walked. After the branch, an operation is done if it is done after both
arms; operations of the arm that was not taken count as done. A loop is walked until another
iteration adds nothing new. Whether a later iteration may find an operation unfinished depends only
on its state: which carried tokens cover the operation, and whether the host is past it. There are
few such states, and the walk stops when the state of each operation repeats.
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
    """The events of one host function, in program order.

    Args:
        function: a `func.func` of one block.
        effects: the effects of its module.
        watch: a callback for each event. It gets the history, the event and the events that are
            done when it starts, and returns further events to treat as done (a missing order that
            was reported need not be reported again for every later event).

    Raises:
        WeftError: W0634 for ops that cannot be followed.
    """

    function: ir.Operation
    effects: Effects
    watch: Watcher = lambda history, event, done: 0
    events: list[Event] = field(default_factory=list)
    done: list[int] = field(default_factory=list)
    tokens: list[NamedToken] = field(default_factory=list)

    host: int = 0
    """The events that are done for the host at the current point of the walk."""
    now: dict[ir.Value, NamedToken] = field(default_factory=dict)
    path: list[int] = field(default_factory=list)
    """The current iteration of each loop in `loops`."""
    loops: list[ir.Operation] = field(default_factory=list)
    when: frozenset[Condition] = frozenset()
    under: defaultdict[Condition, int] = field(default_factory=lambda: defaultdict(int))
    """For each condition, the events that happen only under it."""
    past: defaultdict[Condition, defaultdict[frozenset[Condition], int]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(int))
    )
    """For each condition, and the conditions under which a branch or loop that tested it was left:
    the events that are done for the host if all of them hold."""
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
        end = terminator(blocks[0])  # the caller reads the results when the returned tokens are ready
        shown = dict.fromkeys(w for v in end.operands if is_memref(v) for w in self.effects.host.windows(v))
        if shown:
            self._happens(end, tuple(Effect("read", window) for window in shown))
        else:
            self._use_all(end)

    # ---- walking -----------------------------------------------------------------------------------------------------

    def walk(self, block: ir.Block) -> None:
        """Walks all ops of a block except its terminator."""
        for number in range(len(block.operations) - 1):
            op = block.operations[number].operation
            if op.name == "gpu.wait":
                self._wait(op)
            elif op.name in LOOPS and trip_count(op) == 0 and not len(op.results):
                pass  # it has no iteration
            elif self._is_leaf(op):
                self._event(op)
            elif op.name in LOOPS:
                walk_loop(self, op)
            elif op.name in BRANCHES:
                walk_branch(self, op)
            else:
                what = f"the effects of {op.name} on tokens and on freed memory are unknown"
                raise unknown(op, what, "write it with `scf.for` and `scf.if`")

    def _is_leaf(self, op: ir.Operation) -> bool:
        """Whether `op`, with all ops in its regions, counts as one operation."""
        if op not in self._leaf:
            self._leaf[op] = _one_operation(op)
        return self._leaf[op]

    def _event(self, op: ir.Operation) -> None:
        made = made_tokens(op)
        if (made or dependencies(op)) and op.name not in DEVICE:
            what = f"the effect of {op.name} on tokens is unknown"
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
                f"a function with more than {MOST_EVENTS} operations",
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
            what = "the accesses of this launch through pointers, or by an unknown op, cannot be analysed"
            raise unknown(op, what, "pass memrefs instead of `!llvm.ptr`, or launch without tokens, after `gpu.wait`")
        unseen = self.effects.unseen(op) if in_flight else None
        if unseen is not None and op.name not in ("gpu.launch_func", "gpu.launch"):
            what = "the memory accesses of this host op cannot be analysed"
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
        """Records a new token; with `streams`, a new name of a token that is passed on."""
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
    if op.name in BRANCHES:  # walked, because the choice of an arm may exclude earlier events
        return False
    return not uses_tokens(op) and not any(operations(op, *FREEING))


# ---- branches and loops ----------------------------------------------------------------------------------------------


def walk_branch(history: History, op: ir.Operation) -> None:
    """Walks an `scf.if` or an `affine.if`."""
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
        if known not in (None, taken) or contradict(
            when, choice
        ):  # an enclosing branch on the same condition excludes this arm
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
    """One way out of a branch or a loop: the choices that lead to it, the events that are then done
    for the host, and the tokens that it yields.

    Args:
        never: the events that do not happen on this way: they count as done.
    """

    choice: frozenset[Condition]
    host: int
    given: list[NamedToken]
    never: int = 0


def _leave(history: History, op: ir.Operation, tokens: list[int], ways: list[_Way]) -> None:
    """Merges the ways out of `op` into the state after it. `tokens`: the numbers of its token
    results."""
    for condition in {c for way in ways for c in way.choice}:
        possible = (way.host | way.never for way in ways if not contradict(way.choice, frozenset({condition})))
        history.past[condition][history.when] |= reduce(and_, possible)
    history.host = reduce(and_, (way.host | way.never for way in ways))
    for number, i in enumerate(tokens):
        # On each way, an op that waits for the result comes after the host as well.
        covers = reduce(and_, (way.given[number].covers | way.host | way.never for way in ways))
        history.made(op.results[i], op, covers, one_of((way.given[number].streams, way.choice) for way in ways))


def _narrow(history: History, condition: Condition) -> None:
    """Continues the walk under `condition`: marks the events as done that were done on all earlier
    ways consistent with it."""
    for when, done in history.past.get(condition, {}).items():
        if when <= history.when:
            history.host |= done


def _through(history: History, block: ir.Block, tokens: list[int]) -> list[NamedToken]:
    """Walks a block of a branch or a loop; returns the tokens that it yields at the positions
    `tokens`."""
    history.walk(block)
    end = terminator(block)
    given = [history.now[end.operands[i]] for i in tokens]
    for i in tokens:
        history.use(end.operands[i], end)
    return given


def _iteration_of(history: History, value: ir.Value) -> tuple[int, ...]:
    """The iterations in which `value` was made, for each loop around its definition."""
    return tuple(history.path[: sum(made_within(value, loop) for loop in history.loops)])


def walk_loop(history: History, op: ir.Operation) -> None:
    """Walks an `scf.for` or an `affine.for` until an iteration adds nothing new."""
    walk = _Loop(history, op, trip_count(op), _bound(history, op), len(history.events))
    when = history.when
    history.loops.append(op)
    iteration = 0
    while walk.continues(iteration):
        if walk.trips is None:
            choice = (*walk.bound, iteration), True
            history.when = history.when | {choice}
            _narrow(history, choice)
        walk.iterate(iteration)
        iteration += 1
    history.loops.pop()
    history.when = when
    walk.leave()


def _bound(history: History, op: ir.Operation) -> tuple[object, ...]:
    """A key of the trip count of a loop: loops with equal bounds have equal keys."""
    if op.name != "scf.for":
        return op, tuple(history.path)
    bounds = list(op.operands)[:3]
    return *bounds, max((_iteration_of(history, v) for v in bounds), key=len)


@dataclass(eq=False)
class _Loop:
    """A loop during its walk.

    Args:
        trips: the trip count; None if unknown.
        bound: the key of the trip count.
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
    """For each iteration before which the loop may end: the number of events until then, and the
    state after the loop."""

    def __post_init__(self) -> None:
        inputs = loop_inits(self.op)
        self.tokens = [i for i, v in enumerate(inputs) if is_token(v)]
        self.given = [self.history.now[inputs[i]] for i in self.tokens]
        for i in self.tokens:
            self.history.use(inputs[i], self.op)
        self._sources = list(bits(((1 << self.first) - 1) & ~self.history.host))

    @property
    def _many(self) -> bool:
        """Whether the walk may leave the loop before its last iteration, once the remaining
        iterations would only repeat those already walked."""
        return self.trips is None or self.trips > MOST_ITERATIONS

    def continues(self, iteration: int) -> bool:
        """Whether this iteration is walked; records the state in case the loop ends before it."""
        history, trips = self.history, self.trips
        if iteration == 1:
            self._sources += range(self.first, len(history.events))
        state = {n: tuple(c >> n & 1 for c in (history.host, *(t.covers for t in self.given))) for n in self._sources}
        names = [{s for s, _ in t.streams if s in self._outside} for t in self.given]
        repeats = iteration >= 2 and names in self._names and all(s[0] or s in self._seen[n] for n, s in state.items())
        if trips is None or iteration == trips or (iteration and self._many):
            last = iteration == trips or (repeats and self._many)  # this exit then also represents all later ones
            choice = frozenset(((*self.bound, each), each < iteration) for each in range(iteration + (not last)))
            self._exits.append((len(history.events), _Way(choice, history.host, self.given)))
            if last:
                return False
        if iteration >= MOST_ITERATIONS:
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
        """The streams of the tokens with which the first iteration begins."""
        return {stream for token in self.given for stream, _ in token.streams}

    def iterate(self, iteration: int) -> None:
        block = self.op.regions[0].blocks[0]
        self.history.path.append(iteration)
        for token, i in zip(self.given, self.tokens, strict=True):
            self.history.made(block.arguments[1 + i], self.op, token.covers, token.streams)
        self.given = _through(self.history, block, self.tokens)
        self.history.path.pop()

    def leave(self) -> None:
        """Merges the states after the loop, for each of its possible ends: iterations that do not
        happen count as done."""
        end = 1 << len(self.history.events)
        exits = [replace(each, never=end - (1 << count)) for count, each in self._exits]
        _leave(self.history, self.op, self.tokens, exits)
