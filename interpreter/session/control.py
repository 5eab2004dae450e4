"""What the items of a schedule that are no statements decide: conditions, elements of a `foreach`, requirements."""

from __future__ import annotations

from typing import Any

from ...dsl import tree
from ...dsl.diagnostics import Diagnostic, WeftError
from ...dsl.expressions import evaluate
from .environment import Bundle, Environment
from .fields import handle_of
from .statement import Handle


def statement_text(item: tree.Node) -> str:
    """The source text of an item, on one line."""
    return " ".join(item.span.text.split())


def require(item: tree.Require, env: Environment) -> None:
    """Raises W0240 where the condition does not hold."""
    if not value(item.condition, env):
        text = item.message or "the schedule's requirement does not hold"
        raise WeftError(Diagnostic("W0240", text, item.condition.span, notes=(_operands(item, env),)))


def value(expr: tree.Expr, env: Environment) -> Any:
    """An expression's value; handles are none."""
    return evaluate(expr, {k: v for k, v in env.items() if not isinstance(v, (Handle, Bundle))})


def condition(asked: tree.Expr | tree.HandleRef, env: Environment) -> bool:
    """Whether an `if` takes its first branch."""
    if isinstance(asked, tree.NameRef) and isinstance(env.get(asked.name), (Handle, Bundle)):
        asked = tree.HandleRef(asked.span, asked.name)
    if isinstance(asked, tree.HandleRef):
        found = handle_of(asked, env)
        return bool(found) if isinstance(found, tuple) else not getattr(found, "absent", False)
    return bool(value(asked, env))


def elements(iterable: tree.Expr | tree.HandleRef, env: Environment) -> tuple[Any, ...]:
    """What a `foreach` walks over."""
    if isinstance(iterable, tree.NameRef) and iterable.name in env:
        found = env[iterable.name]
        if isinstance(found, (Handle, Bundle)) or (isinstance(found, tuple) and found and isinstance(found[0], Handle)):
            iterable = tree.HandleRef(iterable.span, iterable.name)
    if isinstance(iterable, tree.HandleRef):
        found = handle_of(iterable, env)
        return found if isinstance(found, tuple) else (found,)
    listed = value(iterable, env)
    if not isinstance(listed, tuple):
        raise WeftError(
            Diagnostic("W0233", "`foreach` walks over a list or over the handles of a `match*`", iterable.span)
        )
    return listed


def _operands(item: tree.Require, env: Environment) -> str:
    """`bm = 128, tm = 7`: the values the condition was about."""
    names: list[str] = []

    def collect(expr: Any) -> None:
        if isinstance(expr, tree.NameRef) and expr.name in env and expr.name not in names:
            names.append(expr.name)
        for part in ("left", "right", "operand"):
            if hasattr(expr, part):
                collect(getattr(expr, part))
        for part in (*getattr(expr, "arguments", ()), *getattr(expr, "items", ())):
            collect(part)

    collect(item.condition)
    return f"{statement_text(item.condition)}, with " + ", ".join(f"{n} = {env[n]}" for n in names)
