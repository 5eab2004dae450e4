"""The frames of the walk over a schedule's tree: names bound in them, calls entered and left, and the
place of the walk in words."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

from ...dsl import tree
from ...dsl.diagnostics import WeftError, count, fail, quoted
from ...dsl.expressions import Read, evaluate, show
from ...dsl.parameters import bind_parameters, matched
from ...dsl.scopes import Gone, meant
from .environment import Environment, NamedResults, handles_in, single, written
from .rewriter import Handle
from .state import Frame, Iteration, State, Step, after, extended, scope, statement_text, visible


def bind(
    frames: tuple[Frame, ...], let: tree.Let | None, results: Mapping[str, Any], remarks: Sequence[str] = ()
) -> tuple[Frame, ...]:
    """The frames with the results bound to the names of `let`. Raises W0226 if their numbers
    differ."""
    if let is None:
        return frames
    names, values = [target.name for target in let.targets], list(results.values())
    if let.destructured:
        if len(names) != len(values):
            counts = f"{count(len(names), 'name')} for {count(len(values), 'result')}"
            notes = (f"the results are {quoted(results) or 'none'}", *remarks)
            hint = "`_` discards a result; `let t = …` keeps all, as `t.name`"
            raise fail("W0226", counts, hint, span=let.span, notes=notes)
    elif not values:
        raise fail("W0226", "this statement returns nothing to name", span=let.span)
    elif len(values) > 1:
        values = [NamedResults(dict(results))]
    new = {name: value for name, value in zip(names, values, strict=True) if name != "_" or not let.destructured}
    return (*frames[:-1], replace(frames[-1], own=extended(frames[-1].own, new)))


def executed(
    frames: tuple[Frame, ...], let: tree.Let | None, results: Mapping[str, Any], remarks: Sequence[str] = ()
) -> tuple[Frame, ...]:
    """The frames after a statement, with its results bound; at the first iteration if the statement
    finds the ops of a `foreach`."""
    item = frames[-1].items[frames[-1].index - 1]
    if not isinstance(item, tree.Foreach):
        return bind(frames, let, results, remarks)
    return iterate(frames, Iteration.over(item, results["ops"]))


def named(state: State, value: tree.Expr | tree.HandleRef, let: tree.Let) -> State:
    """The state after a `let` that names a value, or a handle anew: a step that changes nothing
    else."""
    name, env = let.targets[0].name, state.env
    if (several := written(value, env, state.dead)) is not None:
        found = tuple(handle for handle in several if not handle.absent)
        remark = count(len(found), "handle")
    elif handles_in(value, env) is None:
        found = evaluate(value, env, state.read)
        remark = f"{name} = {show(found)}"
    else:
        ref = tree.HandleRef(value.span, value.name) if isinstance(value, tree.NameRef) else value
        found, remark = single(cast(tree.HandleRef, ref), env, state.dead)[0], f"another name of `{value.span.text}`"
    frames = bind(after(state.frames), let, {name: found})
    step = Step(statement_text(let), let.span, "let", (remark,), 0.0, state.version)
    return replace(state, frames=frames, step=step)


def iterate(frames: tuple[Frame, ...], iteration: Iteration) -> tuple[Frame, ...]:
    """The frames at the begin of an iteration; after the last iteration, the frames around it, with
    the lists of results bound."""
    if iteration.number < len(iteration.begins):
        return (*frames, replace(iteration.begins[iteration.number], iteration=iteration))
    return (*frames[:-1], replace(frames[-1], own=extended(frames[-1].own, iteration.lists)))


def iterated(frame: Frame) -> Iteration:
    """The next iteration after that of a frame, which adds its results to the lists."""
    iteration = cast(Iteration, frame.iteration)
    lists: dict[str, tuple[Any, ...]] = {}
    for name, before in iteration.lists.items():
        result = frame.own.get(name, ())
        several = result if isinstance(result, tuple) else (result,)
        lists[name] = (*before, *(handle for handle in several if not getattr(handle, "absent", False)))
    return replace(iteration, number=iteration.number + 1, lists=lists)


def ended(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The frames after the block of the last one. The names that the block keeps, and those that
    were also bound before it, go to the frame around it."""
    *outer, last = frames
    before = scope(tuple(outer))
    kept = {n: value for n, value in last.own.items() if n in last.keeps or n in before}
    return (*outer[:-1], replace(outer[-1], own=extended(outer[-1].own, kept)))


def appended(item: tree.Append, frames: tuple[Frame, ...], dead: Mapping[int, Gone]) -> tuple[Frame, ...]:
    """The frames with the list of an `append` extended, where it is bound."""
    handle, name = single(item.value, scope(frames), dead)[0], item.target.name
    depth = next(depth for depth in visible(frames) if name in frames[depth].own)
    frame, more = frames[depth], () if handle.absent else (handle,)
    own = extended(frame.own, {name: (*cast(tuple[Any, ...], frame.own[name]), *more)})
    return (*frames[:depth], replace(frame, own=own), *frames[depth + 1 :])


def arguments(call: tree.Call, schedule: tree.Schedule, env: Environment) -> dict[str, tree.Expr | tree.HandleRef]:
    """The arguments of a call by parameter; `...` gives those that have a name in scope."""
    rest = [a.value for a in call.arguments if isinstance(a.value, tree.Rest)]
    positional = [a.value for a in call.arguments if a.name is None and a.value not in rest]
    given = {p.name: value for p, value in zip(schedule.parameters, positional, strict=False)}
    given |= {a.name: a.value for a in call.arguments if a.name is not None}
    others = [p.name for p in schedule.parameters if rest and p.name not in given and p.name in env]
    return given | {name: tree.NameRef(rest[0].span, name) for name in others}


def each_call(item: tree.Call | tree.Let, file: tree.File, frames: tuple[Frame, ...]) -> Iteration | None:
    """The iterations of a call with a list of handles as an argument; None without one."""
    env, call = scope(frames), item.value if isinstance(item, tree.Let) else item
    assert isinstance(call, tree.Call)
    given = arguments(call, _called(call, file, frames)[0], env).values()
    names = [
        ref.name
        for ref in given
        if isinstance(ref, tree.NameRef) or (isinstance(ref, tree.HandleRef) and not ref.fields)
    ]
    listed = next((name for name in names if isinstance(env.get(name), tuple)), None)
    if listed is None:
        return None
    lists = {t.name: () for t in item.targets if t.name != "_"} if isinstance(item, tree.Let) else {}
    return Iteration(
        tuple(Frame((item,), {listed: handle}) for handle in cast(tuple[Any, ...], env[listed])), lists=lists
    )


def _called(call: tree.Call, file: tree.File, frames: tuple[Frame, ...]) -> tuple[tree.Schedule, int | None]:
    """The schedule of a call, and the number of the frame that defined it (None for one of the file). Raises W0203."""
    home = next((depth for depth in visible(frames) if call.schedule in frames[depth].schedules), None)
    schedule = meant(file, call) if home is None else frames[home].schedules[call.schedule]
    if schedule is None:
        raise fail("W0203", f"there is no schedule `{call.schedule}`", span=call.span)
    return schedule, home


def call_frame(
    call: tree.Call,
    file: tree.File,
    frames: tuple[Frame, ...],
    dead: Mapping[int, Gone],
    let: tree.Let | None,
    read: Read,
) -> Frame:
    """The frame of a called schedule, with its parameters bound to the arguments. Raises W0203,
    W0221, W0230."""
    env = scope(frames)
    schedule, home = _called(call, file, frames)
    given = arguments(call, schedule, env)
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
            settings[parameter.name] = evaluate(value, env, read)
    around = {} if home is None else scope(frames[: home + 1])
    begun = begin(schedule, bind_parameters(schedule, settings, around), handles)
    return replace(begun, call=call, let=let, home=home)


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


def around(frames: tuple[Frame, ...], described: Callable[[Handle], str]) -> Iterator[str]:
    """The calls and blocks around the current item, outermost first. `described`: the op of a handle."""
    for outer, frame in itertools.pairwise(frames):
        item = outer.items[outer.index - 1]
        line = f"in line {item.span.line}"
        if frame.call is not None:
            yield f"`{frame.call.schedule}` {line}"
        elif (iteration := frame.iteration) is not None:
            element = _element(item, iteration.begins[iteration.number], described)
            yield f"iteration {iteration.number + 1} of {len(iteration.begins)} {line} ({element})"
        elif (fork := frame.fork) is not None:
            yield f"block {fork.number + 1} of `versions` {line}"
        elif (attempt := frame.attempt) is not None:
            yield f"block {attempt.number + 1} of `alternatives` {line}"
        elif isinstance(item, tree.If):
            yield f"`if` {line}" if frame.items is item.then else f"`else` of the `if` {line}"


def _element(item: tree.Item, begin: Frame, described: Callable[[Handle], str]) -> str:
    """The element of an iteration: the name with its op or value, or the handle as a list has it."""
    for name, value in begin.own.items():
        return f"`{name}`: {described(value) if isinstance(value, Handle) else show(value)}"
    node, one = (found.value if isinstance(found, tree.Let) else found for found in (item, begin.items[0]))
    assert isinstance(node, tree.StatementNode) and isinstance(one, tree.StatementNode)
    listed = next(name for name, value in node.fields.items() if isinstance(value, tree.Several))
    return f"`{cast(tree.HandleRef, one.fields[listed]).spelling}`"
