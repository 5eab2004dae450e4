"""What a session holds between two statements: values that are never changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ...dsl import tree
from ...dsl.diagnostics import Span
from ...dsl.scopes import Gone
from ..focus.carving import Version
from ..ir.cloning import strip_tags
from ..ir.mlir import ir
from .frames import Frame
from .statement import HandleKind

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
