"""The state of a session between two statements: the position of the walk over the tree, and the
effects of items that are not statements. All of these values are immutable."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any, TypeVar, cast

from ...dsl import tree
from ...dsl.diagnostics import Span, WeftError, count, fail, quoted
from ...dsl.expressions import Read, evaluate, no_payload, show, unmet
from ...dsl.parameters import bind_parameters
from ...dsl.records import record
from ...dsl.scopes import Gone
from ..focus.carving import Version
from ..ir.cloning import strip_tags
from ..ir.mlir import ir
from .environment import Environment, NamedResults, handles_in, is_handle, single, written
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
    """A `foreach` with its values, and the number of the current one."""

    item: tree.Foreach
    values: tuple[Any, ...]
    number: int = 0


@record
class Frame:
    """A list of items, the position of the walk in it, and the names in scope.

    `call` and `let` are set on the frame of a called schedule: the call, and the `let` that names
    its results (None for a bare call). `iteration` is set on the frame of a `foreach`, `fork` on that
    of a block of `versions`.
    """

    items: tuple[tree.Item, ...]
    env: Environment
    index: int = 0
    call: tree.Call | None = None
    let: tree.Let | None = None
    iteration: Iteration | None = None
    fork: Fork | None = None

    @property
    def done(self) -> bool:
        return self.index >= len(self.items)


def iterate(frames: tuple[Frame, ...], iteration: Iteration) -> tuple[Frame, ...]:
    """The frames at the begin of an iteration of a `foreach`; after the last iteration, the frames
    around it."""
    if iteration.number == len(iteration.values):
        return frames
    env = {**frames[-1].env, iteration.item.variable.name: iteration.values[iteration.number]}
    return (*frames, Frame(iteration.item.body, env, iteration=iteration))


def bind(frames: tuple[Frame, ...], let: tree.Let | None, results: Mapping[str, Any]) -> tuple[Frame, ...]:
    """The frames with the results bound to the names of `let`. Raises W0226 if their numbers
    differ."""
    if let is None:
        return frames
    names, values = [target.name for target in let.targets], list(results.values())
    if let.destructured:
        if len(names) != len(values):
            counts = f"{count(len(names), 'name')} for {count(len(values), 'result')}"
            notes = (f"the results are {quoted(results) or 'none'}",)
            hint = "`_` discards a result; `let t = …` keeps all, as `t.name`"
            raise fail("W0226", counts, hint, span=let.span, notes=notes)
    elif not values:
        raise fail("W0226", "this statement returns nothing to name", span=let.span)
    elif len(values) > 1:
        values = [NamedResults(dict(results))]
    new = {name: value for name, value in zip(names, values, strict=True) if name != "_" or not let.destructured}
    return (*frames[:-1], replace(frames[-1], env=extended(frames[-1].env, new)))


def call_frame(
    call: tree.Call,
    schedules: Mapping[str, tree.Schedule],
    env: Environment,
    dead: Mapping[int, Gone],
    let: tree.Let | None,
    read: Read,
) -> Frame:
    """The frame of a called schedule, with its parameters bound to the arguments. Raises W0203,
    W0221, W0230."""
    schedule = schedules.get(call.schedule)
    if schedule is None:
        raise fail("W0203", f"there is no schedule `{call.schedule}`", span=call.span)
    positional = [a.value for a in call.arguments if a.name is None]
    given = {p.name: value for p, value in zip(schedule.parameters, positional, strict=False)}
    given |= {a.name: a.value for a in call.arguments if a.name is not None}
    handles: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for parameter in schedule.parameters:
        value = given.get(parameter.name)
        if parameter.type == "handle":
            if value is None:
                raise fail("W0230", f"`{schedule.name}` needs its handle `{parameter.name}`", span=call.span)
            if isinstance(value, tree.NameRef):
                value = tree.HandleRef(value.span, value.name)
            if not isinstance(value, tree.HandleRef):
                raise fail("W0221", f"`{parameter.name}` takes a handle", span=value.span)
            handles[parameter.name] = single(value, env, dead)[0]
        elif value is not None:
            settings[parameter.name] = evaluate(value, env, read)
    return Frame(schedule.body, {**bind_parameters(schedule, settings), **handles}, call=call, let=let)


def returned(item: tree.Return, frames: tuple[Frame, ...], dead: Mapping[int, Gone]) -> tuple[Frame, ...]:
    """The frames after `return`: it leaves everything up to the call, and the caller's `let` gets
    the values."""
    env = frames[-1].env
    values = {(ref.fields or (ref.name,))[-1]: single(ref, env, dead)[0] for ref in item.values}
    depth = len(frames) - 1
    while depth > 0 and frames[depth].call is None:
        depth -= 1
    if frames[depth].call is None:  # at the end of the main schedule
        return (replace(frames[0], index=len(frames[0].items)),)
    return bind(frames[:depth], frames[depth].let, values)


@contextmanager
def called_from(frames: tuple[Frame, ...]) -> Iterator[None]:
    """A context that adds notes to errors: the calls that lead to the current item, innermost
    first."""
    try:
        yield
    except WeftError as error:
        ways = [(frame.call, frame.let or frame.call) for frame in reversed(frames) if frame.call is not None]
        notes = tuple(f"in `{call.schedule}`, called at {call.span}: {statement_text(item)}" for call, item in ways)
        raise WeftError(*(replace(d, notes=(*d.notes, *notes)) for d in error.diagnostics)) from error


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
    """

    text: str
    span: Span
    keyword: str
    remarks: tuple[str, ...]
    seconds: float
    version: Version = field(repr=False)
    skipped: bool = False
    shown: tuple[str, ...] = ()

    @property
    def module(self) -> ir.Module:
        return self.version.module

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


def after(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The frames with the position moved past the current item."""
    return (*frames[:-1], replace(frames[-1], index=frames[-1].index + 1))


def statement_at(state: State) -> tuple[tree.StatementNode | tree.Expr, tree.Let | None] | None:
    """The next statement, or the expression that a `let` names, with the `let` around it; None for
    any other item, or at the end."""
    frame = state.frames[-1]
    item = None if frame.done else frame.items[frame.index]
    if isinstance(item, tree.StatementNode) and list_in(item, frame.env) is not None:
        return None
    if isinstance(item, tree.Let) and not isinstance(item.value, tree.Call):
        return item.value, item
    return (item, None) if isinstance(item, tree.StatementNode) else None


def list_in(node: tree.StatementNode, env: Environment) -> tree.HandleRef | None:
    """The field of a statement that names the handles of a `match*`: the statement is executed for
    each of them. The checker allows at most one such field."""
    for ref in node.fields.values():
        found = env.get(ref.name) if isinstance(ref, tree.HandleRef) else None
        if isinstance(ref, tree.HandleRef) and isinstance(found, tuple) and (is_handle(found) or not found):
            return ref
    return None


def named(state: State, value: tree.Expr, let: tree.Let) -> State:
    """The state after a `let` that names a value: a step that changes nothing else."""
    rest = after(state.frames)
    env = rest[-1].env
    found, name = evaluate(value, env, reader(state.version, env, state.dead)), let.targets[0].name
    frames = bind(rest, let, {name: found})
    step = Step(statement_text(let), let.span, "let", (f"{name} = {show(found)}",), 0.0, state.version)
    return replace(state, frames=frames, step=step)


def statement_text(item: tree.Node) -> str:
    """The source text of an item, on one line."""
    return " ".join(item.span.text.split())


def require(item: tree.Require, env: Environment, read: Read) -> None:
    """Checks a `require`. Raises W0240 if the condition does not hold."""
    if not evaluate(item.condition, env, read):
        raise unmet(item, env, read)


def condition(asked: tree.Expr | tree.HandleRef, env: Environment, read: Read = no_payload) -> bool:
    """Whether an `if` takes its first branch."""
    handles = handles_in(asked, env)
    if handles is None:
        return bool(evaluate(asked, env, read))
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
