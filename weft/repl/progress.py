"""How many statements a schedule has from here to its end, as far as that can be said without doing them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..dsl import tree
from ..dsl.diagnostics import WeftError
from ..interpreter.session.control import condition, elements
from ..interpreter.session.environment import Environment
from ..interpreter.session.session import Session


def total(session: Session) -> str:
    """`14`, or `14+` where it depends on what is not known yet; statements done are counted as well."""
    parts = [(len(session.states) - 1, True)]
    for frame in session.state.frames:
        parts.append(_items(frame.items[frame.index :], frame.env, session.schedules))
        if (turns := frame.turns) is not None and (left := len(turns.values) - turns.number - 1):
            more, known = _items(turns.item.body, frame.env, session.schedules)
            parts.append((more * left, known))
    count, exact = _sum(parts)
    return f"{count}" if exact else f"{count}+"


def _sum(parts: Iterable[tuple[int, bool]]) -> tuple[int, bool]:
    counts, known = zip((0, True), *parts, strict=True)
    return sum(counts), all(known)


def _items(items: tuple[tree.Item, ...], env: Environment, schedules: Mapping[str, tree.Schedule]) -> tuple[int, bool]:
    return _sum(_item(item, env, schedules) for item in items)


def _item(item: tree.Item, env: Environment, schedules: Mapping[str, tree.Schedule]) -> tuple[int, bool]:
    value: Any = item.value if isinstance(item, tree.Let) else item
    match value:
        case tree.Statement():
            return 1, True
        case tree.Call():
            called = schedules.get(value.schedule)
            return _items(called.body, {}, schedules) if called is not None else (0, True)
        case tree.If():
            try:
                return _items(value.then if condition(value.condition, env) else value.otherwise, env, schedules)
            except WeftError:  # a handle that is not made yet, or a value of a called schedule
                ways = (_items(value.then, env, schedules), _items(value.otherwise, env, schedules))
                return min(ways[0][0], ways[1][0]), ways[0] == ways[1] and ways[0][1]
        case tree.Foreach():
            each, known = _items(value.body, env, schedules)
            try:
                return each * len(elements(value.iterable, env)), known
            except WeftError:
                return 0, False
    return 0, True
