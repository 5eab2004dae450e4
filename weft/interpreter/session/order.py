"""Statements in the wrong order: when a statement is refused, later statements that it may depend
on are tried before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from ...dsl import tree
from ...dsl.diagnostics import WeftError
from .state import State, statement_at, statement_text
from .statement import registry

Trial = Callable[[State, tuple[tree.Item, ...]], object]
"""Applies these items from a state on, in a separate session. Raises `WeftError` where one is
refused."""

MOST = 12
"""The most later statements that are tried."""


@contextmanager
def in_order(trial: Trial, state: State) -> Iterator[None]:
    """Adds a hint to the refusal of a statement: the later statements that must come before it, if
    it is accepted after them."""
    try:
        yield
    except WeftError as error:
        if not (moved := _needed(trial, state)):
            raise
        first, *rest = error.diagnostics
        those = ", ".join(f"`{statement_text(item)}` (line {item.span.line})" for item in moved)
        keyword = first.statement or "this statement"
        hint = f"move {those} before this `{keyword}`: then it is legal"
        raise WeftError(replace(first, hint=hint), *rest) from error


def _needed(trial: Trial, state: State) -> Sequence[tree.Item]:
    """The later statements that must come before the next one so that it is accepted; empty if that
    does not help."""
    found, frame = statement_at(state), state.frames[-1]
    node = None if found is None else found[0]
    cls = registry().get(node.keyword) if isinstance(node, tree.StatementNode) else None
    if cls is None or not cls.late:
        return ()
    this, *later = frame.items[frame.index :]
    moved: list[tree.Item] = []
    for item in [item for item in later if _keyword(item) in cls.late][:MOST]:
        if _accepted(trial, state, [*moved, item]):
            moved.append(item)
            if _accepted(trial, state, [*moved, this]):
                break
    else:
        return ()
    for item in moved[:-1]:
        fewer = [other for other in moved if other is not item]
        if _accepted(trial, state, [*fewer, this]):
            moved = fewer
    return moved


def _keyword(item: tree.Item) -> str | None:
    node = item.value if isinstance(item, tree.Let) else item
    return node.keyword if isinstance(node, tree.StatementNode) else None


def _accepted(trial: Trial, state: State, items: Sequence[tree.Item]) -> bool:
    """Whether a state accepts these items."""
    try:
        trial(state, tuple(items))
    except WeftError:
        return False
    return True
