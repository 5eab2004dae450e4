"""The commands of the REPL as data, and the desk at which they work: what they change, and where they write."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal

from rich.console import Console, RenderableType
from rich.text import Text

from ..dsl.diagnostics import Diagnostic, fail, in_lines
from ..dsl.records import record
from ..interpreter.session.session import Session
from ..output import colors
from ..output.console import progress, rendered
from ..runtime.run.execution import Clock
from .workbench import Workbench

Argument = Literal["none", "number", "handle", "parameter", "file", "topic", "code", "target", "chip"]
"""What completion offers behind a command."""

ROOM = 9
"""Rows of a terminal that are left for other things than a diff."""

FOLDED = 26
"""Rows of a diff that are shown where there is no terminal."""


MOMENT = 0.5
"""Seconds that something takes before it is said what it is."""


class Misuse(Exception):
    """A command is not written like that; the text says why."""


@record
class Command:
    """One command.

    Args:
        usage: how it is written.
        summary: what it does, in a line.
        function: does it, with the text behind the word.
        argument: what stands behind it.
    """

    usage: str
    summary: str
    function: Callable[[Desk, str], None]
    argument: Argument = "none"

    def act(self, desk: Desk, text: str) -> None:
        """Do it. Raises W0061 where it is not written like that, and what the function raises."""
        try:
            if text and self.argument == "none":
                raise Misuse(f"`{self.usage}` takes nothing behind it")
            self.function(desk, text)
        except Misuse as why:
            raise fail("W0061", str(why), hint=f"it is written `{self.usage}`") from None


COMMANDS: dict[str, Command] = {}
"""All commands; the order is that of `help`."""


def command(usage: str, summary: str, argument: Argument = "none") -> Callable[[Callable[[Desk, str], None]], object]:
    """Make a function a command, under the first word of its usage."""

    def register(function: Callable[[Desk, str], None]) -> Callable[[Desk, str], None]:
        COMMANDS[usage.partition(" ")[0]] = Command(usage, summary, function, argument)
        return function

    return register


@dataclass
class Desk:
    """Where the commands work.

    Args:
        bench: what is worked on.
        console: where everything is written.
        interactive: someone sits at a terminal.
        done: `quit` was said.
    """

    bench: Workbench
    console: Console
    interactive: bool
    done: bool = False

    def say(self, *parts: RenderableType) -> None:
        """Write lines as they are: nothing in them is markup, and no word is colored for what it looks like."""
        for part in parts:
            self.console.print(part, markup=False, highlight=False, soft_wrap=True)

    def wrap(self, text: Text, indent: int) -> None:
        """Write a line that may take several rows; all but the first are indented."""
        self.say(*colors.wrapped(text, self.width, indent))

    def page(self, text: str) -> None:
        """Write a text to be read: on a terminal its lines are broken between words."""
        lines = text.splitlines()
        self.say("\n".join(part for line in lines for part in in_lines(line, self.width)) if self.interactive else text)

    def note(self, text: str) -> None:
        """Write a line of less weight."""
        self.say(Text(text, "dim"))

    def table(self, table: RenderableType) -> None:
        """Write a table, without blanks at the ends of lines."""
        rows = self.console.render_lines(table, self.console.options.update(width=self.width), pad=False)
        for row in rows:
            line = Text.assemble(*((segment.text, segment.style or "") for segment in row))
            line.rstrip()
            self.say(line)

    def show(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        """Write diagnostics as every command does, and explain them by the same words."""
        text = rendered(diagnostics, not self.plain, self.width if self.interactive else None)
        for elsewhere, here in (("`weft statements", "`help"), ("`weft explain", "`explain")):
            text = text.replace(elsewhere, here)
        self.console.file.write(text + "\n")
        self.console.file.flush()

    def progress(self, title: str) -> AbstractContextManager[Clock]:
        """A line while something takes longer than a moment; nothing may be written meanwhile."""
        return progress(
            title, console=self.console if self.interactive else Console(file=io.StringIO()), patience=MOMENT
        )

    @property
    def session(self) -> Session:
        return self.bench.session

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


def number_of(text: str, default: int, what: str = "number") -> int:
    """A count or a position, which is `what` the message calls it."""
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Misuse(f"`{text}` is not a {what}")
    return int(text)
