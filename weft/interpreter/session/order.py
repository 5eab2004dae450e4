"""Statements in the wrong order: where one is refused, those behind it that may have to stand in front of it are tried
there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from ...dsl import tree
from ...dsl.diagnostics import WeftError
from .state import State, statement_at, statement_text
from .statement import registry

Trial = Callable[[State, tuple[tree.Item, ...]], object]
"""Does these items from a state on, in a session of its own. Raises `WeftError` where one is refused."""

MOST = 12
"""Statements that are tried."""


@contextmanager
def in_order(trial: Trial, state: State) -> Iterator[None]:
    """A statement that is refused, and goes through behind others that follow it, says which ones these are."""
    try:
        yield
    except WeftError as error:
        if not (moved := _needed(trial, state)):
            raise
        first, *rest = error.diagnostics
        those = ", ".join(f"`{statement_text(item)}` (line {item.span.line})" for item in moved)
        keyword = first.statement or "this statement"
        hint = f"move {those} before this `{keyword}`, which is legal then"
        raise WeftError(replace(first, hint=hint), *rest) from error


def _needed(trial: Trial, state: State) -> Sequence[tree.Item]:
    """Which of the statements behind the next one have to stand in front of it, so that it goes through; none where
    that does not help."""
    found, frame = statement_at(state), state.frames[-1]
    node = None if found is None else found[0]
    cls = registry().get(node.keyword) if isinstance(node, tree.StatementNode) else None
    if cls is None or not cls.late:
        return ()
    this, *behind = frame.items[frame.index :]
    ahead: list[tree.Item] = []
    for item in [item for item in behind if _keyword(item) in cls.late][:MOST]:
        if _goes_through(trial, state, [*ahead, item]):
            ahead.append(item)
            if _goes_through(trial, state, [*ahead, this]):
                break
    else:
        return ()
    for item in ahead[:-1]:
        fewer = [other for other in ahead if other is not item]
        if _goes_through(trial, state, [*fewer, this]):
            ahead = fewer
    return ahead


def _keyword(item: tree.Item) -> str | None:
    node = item.value if isinstance(item, tree.Let) else item
    return node.keyword if isinstance(node, tree.StatementNode) else None


def _goes_through(trial: Trial, state: State, items: Sequence[tree.Item]) -> bool:
    """Whether these items are let through in a state."""
    try:
        trial(state, tuple(items))
    except WeftError:
        return False
    return True
