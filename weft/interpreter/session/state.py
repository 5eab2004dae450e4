"""The state of a session between two statements: the position of the walk over the tree, and the
effects of items that are not statements. All of these values are immutable."""

from __future__ import annotations

import itertools
from collections import ChainMap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any, TypeVar, cast

from ...dsl import tree
from ...dsl.diagnostics import Span, WeftError, count, fail, quoted
from ...dsl.expressions import evaluate, show, unmet
from ...dsl.parameters import bind_parameters, matched
from ...dsl.records import record
from ...dsl.scopes import Gone
from ..focus.carving import Version
from ..ir.cloning import strip_tags
from ..ir.mlir import ir
from .environment import Environment, NamedResults, Value, handles_in, is_handle, single, written
from .rewriter import Handle, HandleKind

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
    """A list of items, the position of the walk in it, and the names that it has bound.

    Args:
        schedules: the schedules that it has defined.
        keeps: the names that are visible after a block, since each of its alternatives binds them.
        call, let, home: of a schedule: its call, the `let` that names its results (None for a
            bare call), and the number of the frame that defined it (None for one of the file).
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


def ended(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The frames after the block of the last one. The names that it keeps go to the frame around
    it, and so do those that were bound before, too."""
    *outer, last = frames
    before = scope(tuple(outer))
    kept = {n: value for n, value in last.own.items() if n in last.keeps or n in before}
    return (*outer[:-1], replace(outer[-1], own=extended(outer[-1].own, kept)))


def iterate(frames: tuple[Frame, ...], iteration: Iteration) -> tuple[Frame, ...]:
    """The frames at the begin of an iteration of a `foreach`; after the last iteration, the frames
    around it."""
    if iteration.number == len(iteration.values):
        return frames
    own = {iteration.item.variable.name: iteration.values[iteration.number]}
    return (*frames, Frame(iteration.item.body, own, iteration=iteration))


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
    return (*frames[:-1], replace(frames[-1], own=extended(frames[-1].own, new)))


def executed(frames: tuple[Frame, ...], let: tree.Let | None, results: Mapping[str, Any]) -> tuple[Frame, ...]:
    """The frames after a statement, with its results bound; at the first iteration if the statement
    finds the ops of a `foreach`."""
    item = frames[-1].items[frames[-1].index - 1]
    if not isinstance(item, tree.Foreach):
        return bind(frames, let, results)
    found = results["ops"]  # one absent handle if the scope is absent
    return iterate(frames, Iteration(item, found if isinstance(found, tuple) else ()))


def appended(item: tree.Append, frames: tuple[Frame, ...], dead: Mapping[int, Gone]) -> tuple[Frame, ...]:
    """The frames with the list of an `append` extended, where it is bound."""
    handle, name = single(item.value, scope(frames), dead)[0], item.target.name
    depth = next(depth for depth in visible(frames) if name in frames[depth].own)
    frame, more = frames[depth], () if handle.absent else (handle,)
    own = extended(frame.own, {name: (*cast(tuple[Any, ...], frame.own[name]), *more)})
    return (*frames[:depth], replace(frame, own=own), *frames[depth + 1 :])


def call_frame(
    call: tree.Call,
    schedules: Mapping[str, tree.Schedule],
    frames: tuple[Frame, ...],
    dead: Mapping[int, Gone],
    let: tree.Let | None,
) -> Frame:
    """The frame of a called schedule, with its parameters bound to the arguments. Raises W0203,
    W0221, W0230."""
    env = scope(frames)
    home = next((depth for depth in visible(frames) if call.schedule in frames[depth].schedules), None)
    schedule = schedules.get(call.schedule) if home is None else frames[home].schedules[call.schedule]
    if schedule is None:
        raise fail("W0203", f"there is no schedule `{call.schedule}`", span=call.span)
    given = arguments(call, schedule)
    handles: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for parameter in schedule.parameters:
        value = given.get(parameter.name)
        if parameter.type == "handle":
            if value is None and parameter.default is None:
                raise fail("W0230", f"`{schedule.name}` needs its handle `{parameter.name}`", span=call.span)
            if value is None:
                continue
            if isinstance(value, tree.Literal) and value.value is tree.NONE:
                handles[parameter.name] = Handle(-1, absent=True)
                continue
            if isinstance(value, tree.NameRef):
                value = tree.HandleRef(value.span, value.name)
            if not isinstance(value, tree.HandleRef):
                raise fail("W0221", f"`{parameter.name}` takes a handle", span=value.span)
            handles[parameter.name] = single(value, env, dead)[0]
        elif value is not None:
            settings[parameter.name] = evaluate(value, env)
    around = {} if home is None else scope(frames[: home + 1])
    begun = begin(schedule, bind_parameters(schedule, settings, around), handles)
    return replace(begun, call=call, let=let, home=home)


def arguments(call: tree.Call, schedule: tree.Schedule) -> dict[str, tree.Expr | tree.HandleRef]:
    """The arguments of a call by parameter."""
    positional = [a.value for a in call.arguments if a.name is None]
    given = {p.name: value for p, value in zip(schedule.parameters, positional, strict=False)}
    return given | {a.name: a.value for a in call.arguments if a.name is not None}


def begin(schedule: tree.Schedule, values: Mapping[str, Any], handles: Mapping[str, Any]) -> Frame:
    """The frame at the begin of a schedule; handles that are not given are matched first."""
    found = matched(schedule, handles)
    names = {*handles, *(let.targets[0].name for let in found)}
    absent = {
        p.name: Handle(-1, absent=True) for p in schedule.parameters if p.type == "handle" and p.name not in names
    }
    return Frame((*found, *schedule.body), {**values, **handles, **absent})


def returned(item: tree.Return, frames: tuple[Frame, ...], dead: Mapping[int, Gone]) -> tuple[Frame, ...]:
    """The frames after `return`: it leaves everything up to the call, and the caller's `let` gets
    the values."""
    env = scope(frames)
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


Executed = tree.StatementNode | tree.Alternatives | tree.Expr | tree.HandleRef
"""What a step executes."""


def around(frames: tuple[Frame, ...]) -> Iterator[str]:
    """The calls and blocks around the current item, outermost first."""
    for outer, frame in itertools.pairwise(frames):
        item = outer.items[outer.index - 1]
        line = f"in line {item.span.line}"
        if frame.call is not None:
            yield f"`{frame.call.schedule}` {line}"
        elif (iteration := frame.iteration) is not None:
            yield f"iteration {iteration.number + 1} of {len(iteration.values)} {line}"
        elif (fork := frame.fork) is not None:
            yield f"block {fork.number + 1} of `versions` {line}"
        elif (attempt := frame.attempt) is not None:
            yield f"block {attempt.number + 1} of `alternatives` {line}"
        elif isinstance(item, tree.If):
            yield f"`if` {line}" if frame.items is item.then else f"`else` of the `if` {line}"


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
        within: the calls and blocks around it, outermost first.
    """

    text: str
    span: Span
    keyword: str
    remarks: tuple[str, ...]
    seconds: float
    version: Version = field(repr=False)
    skipped: bool = False
    shown: tuple[str, ...] = ()
    within: tuple[str, ...] = ()

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

    @property
    def env(self) -> Environment:
        """The names in scope."""
        return scope(self.frames)


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
    """The next statement, also that of a `foreach`, or the expression that a `let` names, with the
    `let` around it, or `alternatives`; None for any other item, or at the end."""
    frame = state.frames[-1]
    item = None if frame.done else frame.items[frame.index]
    if isinstance(item, tree.StatementNode) and list_in(item, state.env) is not None:
        return None
    if isinstance(item, tree.Let) and not isinstance(item.value, tree.Call):
        return item.value, item
    if isinstance(item, tree.Foreach) and isinstance(item.iterable, tree.StatementNode):
        return item.iterable, None
    return (item, None) if isinstance(item, tree.StatementNode | tree.Alternatives) else None


def list_in(node: tree.StatementNode, env: Environment) -> tree.HandleRef | None:
    """The field of a statement that names the handles of a `match*`: the statement is executed for
    each of them. The checker allows at most one such field."""
    for ref in node.fields.values():
        found = env.get(ref.name) if isinstance(ref, tree.HandleRef) else None
        if isinstance(ref, tree.HandleRef) and isinstance(found, tuple) and (is_handle(found) or not found):
            return ref
    return None


def named(state: State, value: tree.Expr | tree.HandleRef, let: tree.Let) -> State:
    """The state after a `let` that names a value, or a handle anew: a step that changes nothing
    else."""
    name, env = let.targets[0].name, state.env
    if handles_in(value, env) is None:
        found = evaluate(value, env)
        remark = f"{name} = {show(found)}"
    else:
        ref = tree.HandleRef(value.span, value.name) if isinstance(value, tree.NameRef) else value
        found, remark = single(cast(tree.HandleRef, ref), env, state.dead)[0], f"another name of `{value.span.text}`"
    frames = bind(after(state.frames), let, {name: found})
    step = Step(statement_text(let), let.span, "let", (remark,), 0.0, state.version)
    return replace(state, frames=frames, step=step)


def statement_text(item: tree.Node) -> str:
    """The source text of an item, on one line; of `alternatives` the word alone."""
    return "alternatives" if isinstance(item, tree.Alternatives) else " ".join(item.span.text.split())


def require(item: tree.Require, env: Environment) -> None:
    """Checks a `require`. Raises W0240 if the condition does not hold."""
    if evaluate(item.condition, env) is not True:
        raise unmet(item, env)


def condition(asked: tree.Expr | tree.HandleRef, env: Environment) -> bool:
    """Whether an `if` takes its first branch."""
    handles = handles_in(asked, env)
    if handles is None:
        return evaluate(asked, env) is True
    return any(not getattr(handle, "absent", False) for handle in handles)


def elements(iterable: tree.Expr | tree.HandleRef, env: Environment, dead: Mapping[int, Gone]) -> tuple[Any, ...]:
    """The values of a `foreach`. Raises W0233 for an iterable that is not a list."""
    listed = handles_in(iterable, env)
    if listed is None:
        listed = written(iterable, env, dead)
    if listed is None:
        listed = evaluate(iterable, env)
    if not isinstance(listed, tuple):
        message = "`foreach` iterates over a list or over the handles of a `match*`"
        raise fail("W0233", message, span=iterable.span)
    return listed
