"""The frames of a walk over a schedule's tree: where it stands, and how results get their names."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

from ...dsl import tree
from ...dsl.diagnostics import count, fail, quoted
from ...dsl.expressions import evaluate
from ...dsl.parameters import bind_parameters
from ...dsl.scopes import Gone
from .environment import Environment, NamedResults, single

K = TypeVar("K")
V = TypeVar("V")
MOST = 64


def extended(mapping: Mapping[K, V], new: Mapping[K, V]) -> Mapping[K, V]:
    """The mapping with these entries, which replace its own: a few in front of a long one that others share."""
    if not new:
        return mapping
    top, base = mapping.maps if isinstance(mapping, ChainMap) else ({}, mapping)
    if len(top) + len(new) > MOST:
        return {**base, **top, **new}
    return ChainMap({**top, **new}, cast(dict[K, V], base))


@dataclass(frozen=True)
class Turns:
    """A `foreach` and the values that it goes through; the frame is of the value with this number."""

    item: tree.Foreach
    values: tuple[Any, ...]
    number: int = 0


@dataclass(frozen=True)
class Frame:
    """A list of items and how far the walk is in it, with the names it sees.

    `let` is set on the frame of a called schedule: the `let` whose names its results get (None for a bare call); `turns` on that of
    a `foreach`.
    """

    items: tuple[tree.Item, ...]
    env: Environment
    index: int = 0
    call: bool = False
    let: tree.Let | None = None
    turns: Turns | None = None

    @property
    def done(self) -> bool:
        return self.index >= len(self.items)


def enter(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Leave the last frame, which is done; a `foreach` goes on with its next value."""
    last = frames[-1]
    if last.call and last.let is not None:
        raise fail("W0225", "the schedule returns nothing", "end it with `return`", span=last.let.span)
    turns = last.turns
    return frames[:-1] if turns is None else turn(frames[:-1], replace(turns, number=turns.number + 1))


def turn(frames: tuple[Frame, ...], turns: Turns) -> tuple[Frame, ...]:
    """The frames in front of a turn of a `foreach`; those around it where it has no such turn."""
    if turns.number == len(turns.values):
        return frames
    env = {**frames[-1].env, turns.item.variable.name: turns.values[turns.number]}
    return (*frames, Frame(turns.item.body, env, turns=turns))


def bind(frames: tuple[Frame, ...], let: tree.Let | None, results: Mapping[str, Any]) -> tuple[Frame, ...]:
    """The frames with the results bound to the names of `let`. Raises W0226 where their numbers differ."""
    if let is None:
        return frames
    names, values = [target.name for target in let.targets], list(results.values())
    if let.destructured:
        if len(names) != len(values):
            said = f"{count(len(names), 'name')} for {count(len(values), 'result')}"
            notes = (f"the results are {quoted(results) or 'none'}",)
            hint = "`_` throws a result away; `let t = …` keeps all, as `t.name`"
            raise fail("W0226", said, hint, span=let.span, notes=notes)
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
) -> Frame:
    """The frame of a called schedule: its parameters bound to the arguments."""
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
            settings[parameter.name] = evaluate(value, env)
    return Frame(schedule.body, {**bind_parameters(schedule, settings), **handles}, call=True, let=let)


def returned(item: tree.Return, frames: tuple[Frame, ...], dead: Mapping[int, Gone]) -> tuple[Frame, ...]:
    """The frames after `return`: everything up to the call is left, and the caller's `let` gets the values."""
    env = frames[-1].env
    values = {(ref.fields or (ref.name,))[-1]: single(ref, env, dead)[0] for ref in item.values}
    depth = len(frames) - 1
    while depth > 0 and not frames[depth].call:
        depth -= 1
    if not frames[depth].call:  # the main schedule's: this is its end
        return (replace(frames[0], index=len(frames[0].items)),)
    return bind(frames[:depth], frames[depth].let, values)
