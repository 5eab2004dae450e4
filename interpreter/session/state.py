"""What a session holds between two statements, and what the items that are no statements make of it.

None of these values is ever changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...dsl import tree
from ...dsl.diagnostics import Span, fail
from ...dsl.expressions import evaluate
from ...dsl.scopes import Gone
from ..focus.carving import Version
from ..ir.cloning import strip_tags
from ..ir.mlir import ir
from .environment import Environment, as_handle, resolve
from .frames import Frame, Turns, call_frame, returned, turn
from .rewriter import HandleKind

SKIP = "skip"
"""The keyword of the step that leaves a statement out."""


@dataclass(frozen=True)
class Step:
    """What one statement did.

    Args:
        text: the statement as it stands in the source, on one line.
        span: where.
        remarks: what it did, a line each.
        seconds: the time it took, clone, verification and clean-up included.
        version: the module after it.
        skipped: it had nothing to do, because a handle of it is absent.
        shown: what `print` shows.
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
        """The module after the step, without handle tags."""
        return str(strip_tags(self.module))


@dataclass(frozen=True)
class Made:
    """Where a handle came from, for `handles` and for messages."""

    name: str
    span: Span
    keyword: str
    kind: HandleKind = "op"


@dataclass(frozen=True)
class State:
    """Everything there is between two statements. Nothing in it is ever changed."""

    version: Version = field(repr=False)
    frames: tuple[Frame, ...]
    numbers: int = 0
    dead: Mapping[int, Gone] = field(default_factory=dict)
    made: Mapping[int, Made] = field(default_factory=dict)
    step: Step | None = None

    @property
    def module(self) -> ir.Module:
        return self.version.module


def after(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The frames when the item at hand is behind them."""
    return (*frames[:-1], replace(frames[-1], index=frames[-1].index + 1))


def statement_at(state: State) -> tuple[tree.StatementNode, tree.Let | None] | None:
    """The statement that stands next, with the `let` around it; None where it is something else, or the end."""
    frame = state.frames[-1]
    item = None if frame.done else frame.items[frame.index]
    if isinstance(item, tree.Let) and isinstance(item.value, tree.StatementNode):
        return item.value, item
    return (item, None) if isinstance(item, tree.StatementNode) else None


def statement_text(item: tree.Node) -> str:
    """The source text of an item, on one line."""
    return " ".join(item.span.text.split())


def passed(state: State, item: tree.Item, schedules: Mapping[str, tree.Schedule]) -> State:
    """The state behind an item that is no statement: in the block that it leads into, or past it. Raises `WeftError`."""
    rest, env = after(state.frames), state.frames[-1].env
    match item:
        case tree.Let(value=tree.Call() as call):
            return replace(state, frames=(*rest, call_frame(call, schedules, env, state.dead, item)))
        case tree.Call():
            return replace(state, frames=(*rest, call_frame(item, schedules, env, state.dead, None)))
        case tree.Require():
            require(item, env)
            return replace(state, frames=rest)
        case tree.If():
            body = item.then if condition(item.condition, env) else item.otherwise
            return replace(state, frames=(*rest, Frame(body, dict(env))))
        case tree.Foreach():
            return replace(state, frames=turn(rest, Turns(item, tuple(elements(item.iterable, env)))))
        case tree.Return():
            return replace(state, frames=returned(item, state.frames, state.dead))
    raise AssertionError(item)


def require(item: tree.Require, env: Environment) -> None:
    """Raises W0240 where the condition does not hold."""
    if not evaluate(item.condition, env):
        text = item.message or "the schedule's requirement does not hold"
        shown = ", ".join(f"{name} = {env[name]}" for name in dict.fromkeys(_names(item.condition)) if name in env)
        notes = (f"{statement_text(item.condition)}, with {shown}",)
        raise fail("W0240", text, span=item.condition.span, notes=notes)


def condition(asked: tree.Expr | tree.HandleRef, env: Environment) -> bool:
    """Whether an `if` takes its first branch."""
    asked = as_handle(asked, env)
    if isinstance(asked, tree.HandleRef):
        found, _ = resolve(asked, env)
        return bool(found) if isinstance(found, tuple) else not getattr(found, "absent", False)
    return bool(evaluate(asked, env))


def elements(iterable: tree.Expr | tree.HandleRef, env: Environment) -> tuple[Any, ...]:
    """What a `foreach` walks over."""
    iterable = as_handle(iterable, env)
    if isinstance(iterable, tree.HandleRef):
        found, _ = resolve(iterable, env)
        return found if isinstance(found, tuple) else (found,)
    listed = evaluate(iterable, env)
    if not isinstance(listed, tuple):
        message = "`foreach` walks over a list or over the handles of a `match*`"
        raise fail("W0233", message, span=iterable.span)
    return listed


def _names(expr: tree.Expr) -> Iterator[str]:
    """The names that an expression mentions, in order."""
    match expr:
        case tree.NameRef():
            yield expr.name
        case tree.Unary():
            yield from _names(expr.operand)
        case tree.Binary():
            yield from (*_names(expr.left), *_names(expr.right))
        case tree.CallExpr(arguments=parts) | tree.ListExpr(items=parts):
            for part in parts:
                yield from _names(part)
