"""The walk over a schedule's tree from state to state: into blocks and calls, and out of them."""

from __future__ import annotations

from dataclasses import replace

from ...dsl import tree
from ...dsl.diagnostics import WeftError, fail
from ...dsl.scopes import bound_by_all
from .frames import appended, call_frame, each_call, ended, iterate, iterated, returned
from .state import Fork, Frame, Iteration, State, after, condition, each_of, elements, require
from .versions import enter, leave


def onward(state: State) -> State:
    """The state after the last frame, which is finished; a `foreach` continues with its next value.
    Raises W0225 for a call in a `let` without results."""
    *frames, last = state.frames
    if last.call is not None and last.let is not None:
        raise fail("W0225", "the schedule returns nothing", "end it with `return`", span=last.let.span)
    if last.fork is not None:
        return leave(last.fork, state)
    if last.iteration is not None:
        return replace(state, frames=iterate(tuple(frames), iterated(last)))
    return replace(state, frames=tuple(frames) if last.call is not None else ended(state.frames))


def passed(state: State, item: tree.Item, file: tree.File) -> State:
    """The state after an item that is not a statement: at the begin of a block that it enters, or
    past the item. Raises `WeftError`."""
    rest, env, read = after(state.frames), state.env, state.read
    match item:
        case tree.Call() | tree.Let(value=tree.Call()) if (each := each_call(item, file, state.frames)) is not None:
            return replace(state, frames=iterate(rest, each))
        case tree.Let(value=tree.Call() as call):
            return replace(state, frames=(*rest, call_frame(call, file, state.frames, state.dead, item, read)))
        case tree.Call():
            return replace(state, frames=(*rest, call_frame(item, file, state.frames, state.dead, None, read)))
        case tree.Schedule(name=name):
            *outer, frame = rest
            return replace(state, frames=(*outer, replace(frame, schedules={**frame.schedules, name: item})))
        case tree.Append():
            return replace(state, frames=appended(item, rest, state.dead))
        case tree.Require():
            require(item, env, read)
            return replace(state, frames=rest)
        case tree.If():
            body = item.then if condition(item.condition, env, read) else item.otherwise
            return replace(state, frames=(*rest, Frame(body, keeps=bound_by_all((item.then, item.otherwise)))))
        case tree.StatementNode() | tree.Let() if (each := each_of(item, state)) is not None:
            return replace(state, frames=iterate(rest, each))
        case tree.Foreach(iterable=iterable) if not isinstance(iterable, tree.StatementNode):
            return replace(state, frames=iterate(rest, Iteration.over(item, elements(iterable, env, state.dead, read))))
        case tree.Versions():
            return enter(Fork(item, replace(state, frames=rest)), state)
        case tree.Return():
            return replace(state, frames=returned(item, state.frames, state.dead))
    raise AssertionError(item)


def left(state: State) -> State:
    """`state` moved out of the finished blocks and calls. An error on the way is raised again by
    the next step."""
    try:
        while len(state.frames) > 1:
            frame = state.frames[-1]
            if frame.done:
                state = onward(state)
            elif isinstance(item := frame.items[frame.index], tree.Return):
                state = replace(state, frames=returned(item, state.frames, state.dead))
            else:
                break
    except WeftError:
        pass
    return state
