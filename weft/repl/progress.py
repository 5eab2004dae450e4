"""How many statements a schedule has from here to its end, as far as that can be said without doing them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..dsl import tree
from ..dsl.diagnostics import WeftError
from ..interpreter.session.environment import Environment
from ..interpreter.session.session import Session
from ..interpreter.session.state import condition, elements


def total(session: Session) -> str:
    """`14`, or `14+` where it depends on what is not known yet; statements done are counted as well."""
    found: list[int] = []
    for frame in session.state.frames:
        found += _items(frame.items[frame.index :], frame.env, session.schedules)
        if (turns := frame.turns) is not None and (left := len(turns.values) - turns.number - 1):
            found += [*_items(turns.item.body, frame.env, session.schedules)] * left
    return f"{len(session.states) - 1 + sum(found)}{'+' * (_UNKNOWN in found)}"


_UNKNOWN = 0
"""Stands for statements of which nobody knows yet whether they are done."""


def _items(items: tuple[tree.Item, ...], env: Environment, schedules: Mapping[str, tree.Schedule]) -> Iterator[int]:
    """1 for each statement that is going to be done."""
    for item in items:
        match item.value if isinstance(item, tree.Let) else item:
            case tree.StatementNode():
                yield 1
            case tree.Call(schedule=name) if name in schedules:
                yield from _items(schedules[name].body, {}, schedules)
            case tree.If() as choice:
                try:
                    way = choice.then if condition(choice.condition, env) else choice.otherwise
                    yield from _items(way, env, schedules)
                except WeftError:  # a handle that is not made yet, or a value of a called schedule
                    one, other = sorted(([*_items(way, env, schedules)] for way in (choice.then, choice.otherwise)), key=sum)
                    yield from one if one == other else (*one, _UNKNOWN)
            case tree.Foreach() as loop:
                try:
                    yield from [*_items(loop.body, env, schedules)] * len(elements(loop.iterable, env))
                except WeftError:
                    yield _UNKNOWN
