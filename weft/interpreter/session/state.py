"""The state of a session between two statements: the position of the walk over the tree, and the
effects of items that are not statements. All of these values are immutable."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import Any, TypeVar, cast

from ...dsl import tree
from ...dsl.diagnostics import Span, fail
from ...dsl.expressions import Read, evaluate, no_payload, unmet
from ...dsl.records import record
from ...dsl.scopes import Gone
from ..focus.carving import Version
from ..ir.cloning import strip_tags
from ..ir.mlir import ir
from .environment import Environment, Value, handles_in, is_handle, written
from .properties import reader
from .rewriter import HandleKind

K = TypeVar("K")
V = TypeVar("V")
MOST = 64


def extended(mapping: Mapping[K, V], new: Mapping[K, V]) -> Mapping[K, V]:
    """The mapping updated with these entries: a short mapping chained before a long one that other
    states share."""
    if not new:
        return mapping
    top, base = mapping.maps if isinstance(mapping, ChainMap) else ({}, mapping)
    if len(top) + len(new) > MOST:
        return {**base, **top, **new}
    return ChainMap({**top, **new}, cast(dict[K, V], base))


@record
class Iteration:
    """A `foreach`, or a statement with a list of handles, and the number of the current iteration.

    Args:
        begins: the frame at the begin of each iteration.
        lists: the names that the statement's `let` binds to lists, with the handles so far.
    """

    begins: tuple[Frame, ...]
    number: int = 0
    lists: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @classmethod
    def over(cls, item: tree.Foreach, values: tuple[Any, ...]) -> Iteration:
        """The iterations of a `foreach` over these values."""
        return cls(tuple(Frame(item.body, {item.variable.name: value}) for value in values))


@record
class Frame:
    """A list of items, the position of the walk in it, and the names that it has bound.

    Args:
        schedules: the schedules that it has defined.
        keeps: the names that are visible after a block, since each of its alternatives binds them.
        call, let, home: for the frame of a schedule, its call, the `let` that names its results
            (None for a bare call), and the number of the frame in which it is defined (None: in the
            file).
        iteration: of a `foreach`.
        fork: of a block of `versions`.
        attempt: of a block of `alternatives`.
    """

    items: tuple[tree.Item, ...]
    own: Environment = field(default_factory=dict)
    index: int = 0
    schedules: Mapping[str, tree.Schedule] = field(default_factory=dict)
    keeps: frozenset[str] = frozenset()
    call: tree.Call | None = None
    let: tree.Let | None = None
    home: int | None = None
    iteration: Iteration | None = None
    fork: Fork | None = None
    attempt: Attempt | None = None

    @property
    def done(self) -> bool:
        return self.index >= len(self.items)


def visible(frames: tuple[Frame, ...]) -> Iterator[int]:
    """The numbers of the frames that the last one sees, itself first."""
    depth: int | None = len(frames) - 1
    while depth is not None and depth >= 0:
        yield depth
        depth = depth - 1 if frames[depth].call is None else frames[depth].home


def scope(frames: tuple[Frame, ...]) -> Environment:
    """The names in scope in the last frame: its own, and those of the frames around it."""
    around: list[Environment] = []
    for own in (frames[depth].own for depth in visible(frames)):
        around += own.maps if isinstance(own, ChainMap) else [own]
    return ChainMap(*cast(list[dict[str, Value]], around))


Executed = tree.StatementNode | tree.Alternatives | tree.Expr | tree.HandleRef
"""What a step executes."""


SKIP = "skip"
"""The keyword of the step that leaves a statement out."""


@record
class Step:
    """The record of one executed statement.

    Args:
        text: the statement's source text, on one line.
        span: its place in the source.
        remarks: what it changed, one line each.
        seconds: the time it took, including clone, verification and clean-up.
        version: the module after it.
        skipped: it had no effect, because one of its handles is absent.
        shown: the output of `print`.
        frames: the calls and blocks around it, at the statement.
        about: the locations of the ops that its handles named.
    """

    text: str
    span: Span
    keyword: str
    remarks: tuple[str, ...]
    seconds: float
    version: Version = field(repr=False)
    skipped: bool = False
    shown: tuple[str, ...] = ()
    frames: tuple[Frame, ...] = field(default=(), repr=False)
    about: tuple[ir.Location, ...] = ()

    @property
    def module(self) -> ir.Module:
        return self.version.module

    @property
    def calls(self) -> tuple[str, ...]:
        """The schedules entered around it, outermost first."""
        return tuple(frame.call.schedule for frame in self.frames if frame.call is not None)

    @property
    def ir(self) -> str:
        """The text of the module after the step, without handle tags."""
        return str(strip_tags(self.module))


@record
class Made:
    """The origin of a handle, for `handles` and for messages."""

    name: str
    span: Span
    keyword: str
    kind: HandleKind = "op"


@record
class State:
    """The complete, immutable state between two statements. `forks`: the `versions` with further
    versions to come; `versions`: the finished modules of earlier versions."""

    version: Version = field(repr=False)
    frames: tuple[Frame, ...]
    numbers: int = 0
    dead: Mapping[int, Gone] = field(default_factory=dict)
    made: Mapping[int, Made] = field(default_factory=dict)
    step: Step | None = None
    forks: tuple[Fork, ...] = ()
    versions: tuple[ir.Module, ...] = field(default=(), repr=False)
    versions_at: Span | None = None

    @property
    def module(self) -> ir.Module:
        return self.version.module

    @property
    def env(self) -> Environment:
        """The names in scope."""
        return scope(self.frames)

    @property
    def read(self) -> Read:
        """The properties of the ops of its module, by the handles in scope."""
        return reader(self.version, self.env, self.dead)


@record
class Fork:
    """A `versions` item, and the block of it that the walk has entered.

    Args:
        before: the state before the item, with the frames after it.
        number: the number of the block, from 0.
        assumes: the block has assumed something.
    """

    item: tree.Versions
    before: State
    number: int = 0
    assumes: bool = False

    @property
    def last(self) -> bool:
        return self.number + 1 == len(self.item.blocks)


@record
class Attempt:
    """A block of `alternatives` that the walk has entered.

    Args:
        before: the state before the item, with the frames after it.
        at: the position of that state in the session.
        number: the number of the block, from 0.
        refused: for each block before it, the refusal.
    """

    item: tree.Alternatives
    before: State
    at: int
    number: int = 0
    refused: tuple[str, ...] = ()

    @property
    def last(self) -> bool:
        return self.number + 1 == len(self.item.blocks)


def after(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The frames with the position moved past the current item."""
    return (*frames[:-1], replace(frames[-1], index=frames[-1].index + 1))


def statement_at(state: State) -> tuple[Executed, tree.Let | None] | None:
    """The next item, if it is a step, with the `let` around it: a statement (also one that makes
    the list of a `foreach`), an expression that a `let` names, or `alternatives`. None for any
    other item, and at the end."""
    frame = state.frames[-1]
    item = None if frame.done else frame.items[frame.index]
    node = item.value if isinstance(item, tree.Let) else item
    if isinstance(node, tree.StatementNode) and list_in(node, state.env) is not None:
        return None
    if isinstance(item, tree.Let) and not isinstance(item.value, tree.Call):
        return item.value, item
    if isinstance(item, tree.Foreach) and isinstance(item.iterable, tree.StatementNode):
        return item.iterable, None
    return (item, None) if isinstance(item, tree.StatementNode | tree.Alternatives) else None


def list_in(node: tree.StatementNode, env: Environment) -> tuple[str, tree.HandleRef | tree.Several] | None:
    """The field of a statement that is a list of handles, or names one: the statement is executed
    for each of them. The checker allows at most one such field."""
    for name, ref in node.fields.items():
        found = env.get(ref.name) if isinstance(ref, tree.HandleRef) else None
        named = isinstance(found, tuple) and (is_handle(found) or not found)
        if isinstance(ref, tree.Several) or (isinstance(ref, tree.HandleRef) and named):
            return name, ref
    return None


def each_of(item: tree.StatementNode | tree.Let, state: State) -> Iteration | None:
    """The iterations of a statement over the list in it; None if there is none."""
    node = item.value if isinstance(item, tree.Let) else item
    if not isinstance(node, tree.StatementNode) or (found := list_in(node, state.env)) is None:
        return None
    name, listed = found
    lists = {t.name: () for t in item.targets if t.name != "_"} if isinstance(item, tree.Let) else {}
    if isinstance(listed, tree.HandleRef):
        handles = elements(tree.HandleRef(listed.span, listed.name), state.env, state.dead)
        return Iteration(tuple(Frame((item,), {listed.name: handle}) for handle in handles), lists=lists)
    nodes = [replace(node, fields={**node.fields, name: ref}) for ref in listed.items]
    items = [replace(item, value=one) if isinstance(item, tree.Let) else one for one in nodes]
    return Iteration(tuple(Frame((one,)) for one in items), lists=lists)


def statement_text(item: tree.Node) -> str:
    """The source text of an item, on one line; of `alternatives` the word alone."""
    return "alternatives" if isinstance(item, tree.Alternatives) else " ".join(item.span.text.split())


def require(item: tree.Require, env: Environment, read: Read) -> None:
    """Checks a `require`. Raises W0240 if the condition does not hold."""
    if evaluate(item.condition, env, read) is not True:
        raise unmet(item, env, read)


def condition(asked: tree.Expr | tree.HandleRef, env: Environment, read: Read = no_payload) -> bool:
    """Whether an `if` takes its first branch."""
    handles = handles_in(asked, env)
    if handles is None:
        return evaluate(asked, env, read) is True
    return any(not getattr(handle, "absent", False) for handle in handles)


def elements(
    iterable: tree.Expr | tree.HandleRef, env: Environment, dead: Mapping[int, Gone], read: Read = no_payload
) -> tuple[Any, ...]:
    """The values of a `foreach`. Raises W0233 for an iterable that is not a list."""
    listed = handles_in(iterable, env)
    if listed is None:
        listed = written(iterable, env, dead)
    if listed is None:
        listed = evaluate(iterable, env, read)
    if not isinstance(listed, tuple):
        message = "`foreach` iterates over a list or over the handles of a `match*`"
        raise fail("W0233", message, span=iterable.span)
    return listed
