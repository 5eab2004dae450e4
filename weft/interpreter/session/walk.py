"""The walk over a schedule's tree from state to state: into blocks and calls, and out of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...dsl import tree
from ...dsl.diagnostics import WeftError, fail
from .properties import reader
from .state import (
    Fork,
    Frame,
    Iteration,
    State,
    after,
    call_frame,
    condition,
    elements,
    iterate,
    list_in,
    require,
    returned,
)
from .versions import enter, leave


def onward(state: State) -> State:
    """The state after the last frame, which is finished; a `foreach` continues with its next value.
    Raises W0225 for a call in a `let` without results."""
    *frames, last = state.frames
    if last.call is not None and last.let is not None:
        raise fail("W0225", "the schedule returns nothing", "end it with `return`", span=last.let.span)
    if last.fork is not None:
        return leave(last.fork, state)
    iteration = last.iteration
    left = tuple(frames)
    return replace(
        state, frames=left if iteration is None else iterate(left, replace(iteration, number=iteration.number + 1))
    )


def passed(state: State, item: tree.Item, schedules: Mapping[str, tree.Schedule]) -> State:
    """The state after an item that is not a statement: at the begin of a block that it enters, or
    past the item. Raises `WeftError`."""
    rest, env = after(state.frames), state.frames[-1].env
    read = reader(state.version, env, state.dead)
    match item:
        case tree.Let(value=tree.Call() as call):
            return replace(state, frames=(*rest, call_frame(call, schedules, env, state.dead, item, read)))
        case tree.Call():
            return replace(state, frames=(*rest, call_frame(item, schedules, env, state.dead, None, read)))
        case tree.Require():
            require(item, env, read)
            return replace(state, frames=rest)
        case tree.If():
            body = item.then if condition(item.condition, env, read) else item.otherwise
            return replace(state, frames=(*rest, Frame(body, dict(env))))
        case tree.StatementNode() if (several := list_in(item, env)) is not None:
            each = tree.Foreach(item.span, tree.Binding(several.span, several.name), several, (item,))
            walked = tree.HandleRef(several.span, several.name)
            return replace(state, frames=iterate(rest, Iteration(each, elements(walked, env, state.dead, read))))
        case tree.Foreach():
            return replace(state, frames=iterate(rest, Iteration(item, elements(item.iterable, env, state.dead, read))))
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
