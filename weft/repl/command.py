"""A command of the REPL as data, and the desk at which commands work: what they change, and where they write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rich.text import Text

from ..dsl.diagnostics import Diagnostic, WeftError, fail
from .workbench import Workbench

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

Argument = Literal["none", "number", "handle", "parameter", "file", "topic", "target", "all"]
"""What completion offers behind a command."""

ROOM = 9
"""Rows of a terminal that are left for other things than a diff."""

FOLDED = 26
"""Rows of a diff that are shown where there is no terminal."""


@dataclass(frozen=True)
class Command:
    """One command.

    Args:
        usage: how it is written.
        summary: what it does, in a line.
        act: does it, with the text behind the word.
        argument: what stands behind it.
    """

    name: str
    usage: str
    summary: str
    act: Callable[[Desk, str], None]
    argument: Argument = "none"


@dataclass
class Desk:
    """Where the commands work.

    Args:
        bench: what is worked on.
        console: where everything is written.
        interactive: someone sits at a terminal.
        commands: all of them, for `help`.
        done: `quit` was said.
    """

    bench: Workbench
    console: Console
    interactive: bool
    commands: Mapping[str, Command]
    done: bool = False

    def say(self, *parts: RenderableType) -> None:
        """Write lines as they are: nothing in them is markup, and no word is colored for what it looks like."""
        for part in parts:
            self.console.print(part, markup=False, highlight=False, soft_wrap=True)

    def table(self, table: RenderableType) -> None:
        """Write a table, without blanks at the ends of lines."""
        rows = self.console.render_lines(table, self.console.options.update(width=self.width), pad=False)
        for row in rows:
            line = Text.assemble(*((segment.text, segment.style or "") for segment in row))
            line.rstrip()
            self.say(line)

    def show(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        """Write diagnostics as every command does."""
        from ..cli.console import shortened
        from ..dsl.render import render_all

        text = shortened(render_all(diagnostics, not self.plain))
        self.console.file.write(text + "\n")
        self.console.file.flush()

    @property
    def plain(self) -> bool:
        """No colors: no terminal, one that has none, or `NO_COLOR`."""
        return self.console.no_color or self.console.color_system is None

    @property
    def width(self) -> int:
        return max(self.console.width, 40)

    @property
    def folded(self) -> int:
        """How many rows of a diff are shown unasked."""
        return max(self.console.height - ROOM, 10) if self.interactive else FOLDED


def number_of(text: str, usage: str, default: int) -> int:
    """A count or a position. Raises W0061."""
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise misused(usage, f"`{text}` is no number")
    return int(text)


def expect_nothing(text: str, usage: str) -> None:
    if text:
        raise misused(usage, f"`{usage}` takes nothing behind it")


def misused(usage: str, why: str) -> WeftError:
    return fail("W0061", why, hint=f"it is written `{usage}`")
