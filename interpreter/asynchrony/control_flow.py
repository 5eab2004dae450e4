"""Branches and loops of a host function, as a `History` walks them.

Both arms of a branch are walked; afterwards is done what is done either way, and what an arm that was not taken never
began counts as done. A loop is walked until another iteration shows nothing new: what later iterations find unfinished
depends on an earlier operation only through the carried tokens and the host that are past it, of which there are few, and
walking stops when for every operation such a set comes back.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..mlir import ir
from .events import bits, both, contradict, unknown
from .tokens import carried, constant, is_token, last_op, trip_count

if TYPE_CHECKING:
    from .history import History

MOST_ITERATIONS = 64


def walk_branch(history: History, op: ir.Operation) -> None:
    """An `scf.if` or an `affine.if`."""
    condition = op.operands[0] if op.name == "scf.if" else None
    known = constant(condition) if condition is not None else None
    key = (condition if condition is not None else op, _iteration_of(history, condition) if condition else tuple(history.path))
    before, when = history.host, history.when
    tokens = [i for i, v in enumerate(op.results) if is_token(v)]
    hosts: list[int] = []
    given: list[list[int]] = []
    for arm, taken in enumerate((True, False)):
        if known is not None and bool(known) is not taken:
            continue
        history.host = before | history.under[key, not taken]
        history.when = when | {(key, taken)} if known is None else when
        region = op.regions[arm] if arm < len(op.regions) else None
        covers: list[int] = []
        if not contradict(history.when, history.when) and region is not None and len(region.blocks):
            covers = _through(history, region.blocks[0], tokens)
        elif tokens:
            covers = [-1] * len(tokens)
        hosts.append(history.host)
        given.append(covers)
    history.when = when
    others = [history.under[key, False], history.under[key, True]] if known is None else [0]
    history.host = both([h | other for h, other in zip(hosts, others, strict=True)])
    for number, i in enumerate(tokens):
        history.made(op.results[i], op, both([g[number] | other for g, other in zip(given, others, strict=True)]))


def _through(history: History, block: ir.Block, tokens: list[int]) -> list[int]:
    """Walk a block of a branch or a loop. What the tokens cover that it yields at the places `tokens`."""
    history.walk(block)
    end = last_op(block)
    covers = [history.now[end.operands[i]].covers for i in tokens]
    for i in tokens:
        history.use(end.operands[i], end)
    return covers


def _iteration_of(history: History, value: ir.Value) -> tuple[int, ...]:
    """In which iterations of the loops around it `value` was made."""
    owner = value.owner
    holder = owner.owner.operation if isinstance(owner, ir.Block) else owner.operation.parent
    depth = 0
    while holder is not None:
        depth += holder.operation in history.loops
        holder = holder.operation.parent
    return tuple(history.path[:depth])


def walk_loop(history: History, op: ir.Operation) -> None:
    """An `scf.for` or an `affine.for`, until nothing new comes."""
    walk = _Loop(history, op, trip_count(op), len(history.events))
    around, when = tuple(history.path), history.when
    history.loops.append(op)
    turn = 0
    while walk.goes_on(turn):
        if walk.trips is None:
            history.when = history.when | {((op, around, turn), True)}
        walk.iteration(turn)
        turn += 1
    history.loops.pop()
    history.when = when
    walk.leave()


@dataclass(eq=False)
class _Loop:
    """A loop that is being walked.

    Args:
        trips: how many iterations it has; None if that is not known.
        first: the number of its first event.
    """

    history: History
    op: ir.Operation
    trips: int | None
    first: int
    tokens: list[int] = field(init=False)
    covers: list[int] = field(init=False)
    _sources: list[int] = field(init=False)
    _seen: dict[int, set[tuple[int, ...]]] = field(default_factory=lambda: defaultdict(set))
    _exits: list[tuple[int, int, list[int]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        inputs = carried(self.op)
        self.tokens = [i for i, v in enumerate(inputs) if is_token(v)]
        self.covers = [self.history.now[inputs[i]].covers for i in self.tokens]
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
        state = {n: tuple(c >> n & 1 for c in (history.host, *self.covers)) for n in self._sources}
        repeats = turn >= 2 and all(s[0] or s in self._seen[n] for n, s in state.items())
        if trips is None or turn == trips or (turn and self._many):
            self._exits.append((len(history.events), history.host, self.covers))
        if turn == trips or (repeats and self._many):
            return False
        if turn >= MOST_ITERATIONS:
            raise unknown(self.op, f"the tokens of a loop after {MOST_ITERATIONS} iterations", "carry fewer tokens")
        for n, s in state.items():
            self._seen[n].add(s)
        return True

    def iteration(self, turn: int) -> None:
        block = self.op.regions[0].blocks[0]
        self.history.path.append(turn)
        for cover, i in zip(self.covers, self.tokens, strict=True):
            self.history.made(block.arguments[1 + i], self.op, cover)
        self.covers = _through(self.history, block, self.tokens)
        self.history.path.pop()

    def leave(self) -> None:
        """What is done behind the loop, whenever it ended: iterations that did not come count as done."""
        history, everything = self.history, (1 << len(self.history.events)) - 1
        skipped = [everything & ~((1 << count) - 1) for count, _, _ in self._exits]
        history.host = both([host | rest for (_, host, _), rest in zip(self._exits, skipped, strict=True)])
        for number, i in enumerate(self.tokens):
            covers = both([given[number] | rest for (_, _, given), rest in zip(self._exits, skipped, strict=True)])
            history.made(self.op.results[i], self.op, covers)
