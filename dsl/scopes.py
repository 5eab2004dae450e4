"""Names of a schedule while it is checked: what each stands for, and which handles are gone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from . import tree
from .diagnostics import Diagnostic, Span
from .expressions import UnknownValue
from .wording import quoted

Shape = Literal["one", "several", "list", "any"]


@dataclass(frozen=True)
class BoundName:
    """A name bound to a handle.

    Args:
        number: tells it from others of the same name, before and after.
        shape: one handle, several named results, the handles of a `match*`, or what only the run will tell.
        results: the names of several results; `open` if there may be more.
        loops: in how many `foreach` it was bound.
    """

    number: int
    span: Span
    shape: Shape = "one"
    results: tuple[str, ...] = ()
    open: bool = False
    loops: int = 0

    @property
    def parts(self) -> tuple[str, ...]:
        return self.results if self.shape == "several" else ("",)


@dataclass(frozen=True)
class Gone:
    """Why a handle is gone: what consumed it, and the names of what that returned instead.

    Args:
        by: for messages, "`tile`" or "the call of `stage`".
        returned: names the user gave to the results.
        unnamed: names of results that the user gave no name.
        certain: False if only one way through an `if` or a `foreach` consumes it.
    """

    by: str
    span: Span
    returned: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    certain: bool = True


Part = tuple[int, str]
"""A handle: the number of its `BoundName` and the name of the result, empty for the only one."""


@dataclass
class Scope:
    """What a line of a schedule can see. A block works on a `copy`; `merge` brings back what its ways consumed."""

    names: dict[str, BoundName | UnknownValue] = field(default_factory=dict)
    gone: dict[Part, Gone] = field(default_factory=dict)
    loops: int = 0

    def copy(self) -> Scope:
        return Scope(dict(self.names), dict(self.gone), self.loops)

    def merge(self, *ways: Scope) -> None:
        """After blocks of which one was gone through: what all of them consumed is gone, what some did may be."""
        for part in {part for way in ways for part in way.gone}:
            found = [way.gone[part] for way in ways if part in way.gone]
            certain = len(found) == len(ways) and all(gone.certain for gone in found)
            self.gone[part] = self.gone.get(part) or replace(found[0], certain=certain)

    def as_handle(self, value: tree.Expr | tree.HandleRef) -> tree.Expr | tree.HandleRef:
        """A bare name is read as an expression: as a handle where it names one."""
        if isinstance(value, tree.NameRef) and isinstance(self.names.get(value.name), BoundName):
            return tree.HandleRef(value.span, value.name)
        return value

    def known(self, kind: type[BoundName | UnknownValue]) -> list[str]:
        """The names of handles, or of values."""
        return [name for name, known in self.names.items() if isinstance(known, kind)]

    def alive(self, bound: BoundName) -> bool:
        """Whether any handle of it is certainly there."""
        return any((bound.number, part) not in self.gone for part in bound.parts)


def consumed(spelling: str, span: Span, gone: Gone, keyword: str | None) -> Diagnostic:
    """The error of using a handle that is gone: who consumed it, and what that returned instead."""
    line = gone.span.line
    where = f"in line {line}" if gone.span.source == span.source else f"at {gone.span}"
    if gone.certain:
        message = f"`{spelling}` was consumed by {gone.by} {where}"
    else:
        message = f"`{spelling}` may be gone: {gone.by} {where} consumes it on one way through the schedule"
    returned = list(gone.returned)
    notes: tuple[str, ...] = ()
    hint = None
    if returned and gone.certain:
        notes = (f"line {line} returned {quoted(returned)} instead",)
        hint = f"use {' or '.join(f'`{name}`' for name in returned)}"
    elif gone.unnamed and gone.certain:
        notes = (f"what {gone.by} returned there has no name",)
        hint = f"name it: `{let_of(gone.unnamed)} = …`"
    elif not gone.certain:
        hint = f"use `{spelling}` only where it is not consumed, or consume it on every way"
    return Diagnostic("W0223" if gone.certain else "W0227", message, span, keyword, notes, hint)


def let_of(results: Iterable[str]) -> str:
    """`let (loop, op)`, `let op`."""
    names = list(results)
    return f"let ({', '.join(names)})" if len(names) != 1 else f"let {names[0]}"


def names_of(let: tree.Let | None, results: tuple[str, ...]) -> tuple[str, ...]:
    """How the user can call the results: the names of `let`, or `t.loop` and `t.op`."""
    if let is None:
        return ()
    if let.destructured or len(results) <= 1:
        return tuple(target.name for target in let.targets if target.name != "_")
    return tuple(f"{let.targets[0].name}.{result}" for result in results)
