"""The commands of the REPL as data, and `Desk`, the state and the console that they work on."""

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
"""The kind of a command's argument, for completion."""

ROOM = 9
"""Rows of a terminal that a diff leaves free for other output."""

FOLDED = 26
"""Rows of a diff that are shown when the output is no terminal."""


MOMENT = 0.5
"""Seconds after which a running command shows a progress line."""


class Misuse(Exception):
    """A command has a wrong argument; the text states the reason."""


@record
class Command:
    """A command of the REPL.

    Args:
        usage: its syntax.
        summary: its effect, in one line.
        function: carries it out; its arguments are the desk and the text after the command's name.
        argument: the kind of its argument, for completion.
    """

    usage: str
    summary: str
    function: Callable[[Desk, str], None]
    argument: Argument = "none"

    def act(self, desk: Desk, text: str) -> None:
        """Carries out the command with the argument `text`. Raises W0061 for a wrong argument, and
        what the function raises."""
        try:
            if text and self.argument == "none":
                raise Misuse(f"`{self.usage}` takes no argument")
            self.function(desk, text)
        except Misuse as why:
            raise fail("W0061", str(why), hint=f"its syntax is `{self.usage}`") from None


COMMANDS: dict[str, Command] = {}
"""All commands by name, in the order in which `help` lists them."""


def command(usage: str, summary: str, argument: Argument = "none") -> Callable[[Callable[[Desk, str], None]], object]:
    """A decorator that registers a function as the command named by the first word of `usage`."""

    def register(function: Callable[[Desk, str], None]) -> Callable[[Desk, str], None]:
        COMMANDS[usage.partition(" ")[0]] = Command(usage, summary, function, argument)
        return function

    return register


@dataclass
class Desk:
    """The state and the console that the commands work on.

    Args:
        bench: the recipe that is being applied, and its session.
        console: the console for all output.
        interactive: whether input and output are a terminal.
        done: whether `quit` was entered.
    """

    bench: Workbench
    console: Console
    interactive: bool
    done: bool = False

    def say(self, *parts: RenderableType) -> None:
        """Writes lines unchanged: without markup and without highlighting."""
        for part in parts:
            self.console.print(part, markup=False, highlight=False, soft_wrap=True)

    def wrap(self, text: Text, indent: int) -> None:
        """Writes a line that may take several rows; all rows but the first are indented."""
        self.say(*colors.wrapped(text, self.width, indent))

    def page(self, text: str) -> None:
        """Writes running text; on a terminal its lines are broken between words."""
        lines = text.splitlines()
        self.say("\n".join(part for line in lines for part in in_lines(line, self.width)) if self.interactive else text)

    def note(self, text: str) -> None:
        """Writes a dimmed line."""
        self.say(Text(text, "dim"))

    def table(self, table: RenderableType) -> None:
        """Writes a table without trailing blanks."""
        rows = self.console.render_lines(table, self.console.options.update(width=self.width), pad=False)
        for row in rows:
            line = Text.assemble(*((segment.text, segment.style or "") for segment in row))
            line.rstrip()
            self.say(line)

    def show(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        """Writes diagnostics in the form of the command line; hints name the REPL's `help` and
        `explain` instead of `weft statements` and `weft explain`."""
        text = rendered(diagnostics, not self.plain, self.width if self.interactive else None)
        for elsewhere, here in (("`weft statements", "`help"), ("`weft explain", "`explain")):
            text = text.replace(elsewhere, here)
        self.console.file.write(text + "\n")
        self.console.file.flush()

    def progress(self, title: str) -> AbstractContextManager[Clock]:
        """A context that shows a progress line once the work takes longer than `MOMENT`; inside it
        nothing may be written."""
        return progress(
            title, console=self.console if self.interactive else Console(file=io.StringIO()), patience=MOMENT
        )

    @property
    def session(self) -> Session:
        return self.bench.session

    @property
    def plain(self) -> bool:
        """Whether output has no colors: there is no terminal, the terminal has no colors, or
        `NO_COLOR` is set."""
        return self.console.no_color or self.console.color_system is None

    @property
    def width(self) -> int:
        return max(self.console.width, 40)

    @property
    def folded(self) -> int:
        """The maximal number of rows of a diff that are shown after a step."""
        return max(self.console.height - ROOM, 10) if self.interactive else FOLDED


def number_of(text: str, default: int, what: str = "number") -> int:
    """A count or a position; the default if the text is empty. Raises `Misuse` for other text, with
    `what` as the noun in its message."""
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Misuse(f"`{text}` is not a {what}")
    return int(text)
