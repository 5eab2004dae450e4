"""The read-execute-print loop, on a full terminal, a terminal that only prints, or a pipe. No error
of a command or statement ends it."""

from __future__ import annotations

import io
import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from rich.console import Console
from rich.text import Text

from ..dsl.diagnostics import WeftError, count, did_you_mean, fail
from ..dsl.expressions import show
from ..dsl.parser import parse_items
from ..output import colors
from ..output.console import exhausted
from ..pipeline import Choice, load_statements
from ..process import answered, stays
from .command import COMMANDS, Desk
from .journal import CutOffSession, Journal, Start, choose, cut_off, digest
from .workbench import Workbench, total

from . import steps, trials, kernels, export  # noqa: F401 # isort: skip - `help` lists their commands in this order

_CONTINUES = re.compile(r"(?:[,=+*/%<>-]|\b(?:and|or|not))\s*$")
_WORD = re.compile(r"([a-z]+)(?:\s+(.*?))?\s*$", re.DOTALL)
TRIALS = "statements.insert_barriers.trials"
"""The module of the interpreter that `sync` and `next` need besides the statements."""
ALIASES = {"exit": "quit", "q": "quit", "s": "step", "n": "next", "h": "help", "u": "undo"}


def command_of(text: str) -> tuple[str, str] | None:
    """The name and the argument of the command on a line; None if the line is a statement."""
    if text.strip() == "?":
        return "help", ""
    found = _WORD.match(text.strip())
    if found is None or "\n" in text.strip():
        return None
    word = found[1] if found[1] in COMMANDS else ALIASES.get(found[1], "")
    return (word, (found[2] or "").strip()) if word in COMMANDS else None


def incomplete(text: str) -> bool:
    """Whether a statement continues on the next line: a bracket is open, or the line ends with an
    operator."""
    if not text.strip() or command_of(text) is not None:
        return False
    last = text.rstrip().rpartition("\n")[2]
    if _CONTINUES.search(re.sub(r'("(?:[^"\\]|\\.)*")|//.*', lambda m: m[1] or "", last)):
        return True
    try:
        parse_items(text, "<typed>")
    except WeftError as error:
        return all(each.code == "W0105" for each in error.diagnostics)
    return False


def pieces(lines: Iterable[str]) -> Iterator[str]:
    """The inputs in lines that were pasted or piped, each as soon as it is complete: a command, or
    complete statements."""
    held = ""
    for line in lines:
        held = f"{held}\n{line.rstrip()}" if held else line.rstrip()
        if not incomplete(held):
            if held.strip():
                yield held
            held = ""
    if held.strip():
        yield held


class Shell:
    """A REPL on one workbench.

    Attributes:
        failed: whether a command or a statement failed; the exit code of a piped session is then 1.
        journal: the journal of the session, None if there is none.
        notes: lines to show below the greeting.
    """

    def __init__(self, bench: Workbench, console: Console, *, interactive: bool) -> None:
        self.desk = Desk(bench, console, interactive)
        self.failed = False
        self.journal: Journal | None = None
        self.notes: list[Text] = []

    # ---- one input -------------------------------------------------------------------------------

    def handle(self, text: str) -> bool:
        """Executes one input: a command, or statements. An error is shown and makes the result
        False."""
        before = self.desk.bench.position
        try:
            found = command_of(text)
            if found is None:
                steps.typed(self.desk, text)
            else:
                COMMANDS[found[0]].act(self.desk, found[1])
            return True
        except WeftError as error:
            first, *more = error.diagnostics
            if first.code == "W0102" and first.span is not None and first.span.line <= 1:
                # it may be a misspelled command
                first = replace(first, hint=did_you_mean(first.span.text, COMMANDS) or first.hint)
            self.desk.show((first, *more))
        except KeyboardInterrupt:
            answered()
            now = self.desk.bench.position
            what = "nothing was changed" if now == before else f"{count(now, 'statement')} done, none partly"
            self.desk.say(Text(f"interrupted; {what}", "yellow"))
        except (MemoryError, RecursionError) as error:
            self.desk.show(exhausted(error, "set m=256").diagnostics)
        self.failed = True
        return False

    def kept(self, text: str) -> None:
        """Executes one input and records in the journal the line that repeats its change."""
        if self.journal is None:
            self.handle(text)
            return
        bench = self.desk.bench
        session, state, at = bench.session, bench.session.state, bench.position
        self.journal.do(bench.coming if text == "step" and bench.coming else text)
        well = self.handle(text)
        changed = bench.session is not session or bench.session.state is not state
        again = text if well else f"step {bench.position - at}" if bench.position > at else f"goto {bench.position}"
        self.journal.done(again if changed else None)

    def prompt(self) -> str:
        """The prompt, for example `[3/14] `."""
        return f"[{self.desk.bench.position}/{total(self.desk.session)}] "

    def greet(self) -> None:
        """Shows the schedule, the payload and their parameters, and how to get help."""
        recipe = self.desk.bench.recipe
        what = ", ".join(
            f"{name}={show(value) if isinstance(value, bool) else value}"
            for name, value in {**recipe.values, **recipe.payload_values}.items()
        )
        name = recipe.name if recipe.choice.file else "an empty schedule"
        line = Text.assemble((name, "bold"), " on ", (recipe.payload.name, "bold"), (f"  {what}" * bool(what), "dim"))
        self.desk.say(*colors.wrapped(line, self.desk.width, 2))
        if self.desk.interactive:
            help = Text(
                "Enter executes the next statement; `help` lists the commands, Tab completes, Ctrl-D leaves", "dim"
            )
            self.desk.say(*colors.wrapped(help, self.desk.width, 2))
        self.desk.say(*(row for note in self.notes for row in colors.wrapped(note, self.desk.width, 2)))

    # ---- the two loops ---------------------------------------------------------------------------

    def converse(self, ask: Callable[[str], str]) -> int:
        """Runs the loop on a terminal: an empty input executes the next statement. Only `quit` and
        Ctrl-D end it. Returns the exit code 0."""
        self.greet()
        while not self.desk.done:
            try:
                text = ask(self.prompt())
            except KeyboardInterrupt:
                answered()
                continue
            except EOFError:
                break
            for piece in pieces(text.split("\n")) if text.strip() else ("step",):
                self.kept(piece)
                if self.desk.done:
                    break
        return 0

    def replay(self, lines: Iterator[str]) -> int:
        """Executes piped lines. Each input is echoed after its prompt, so that the output reads
        like a session. Returns the exit code: 1 if an input failed."""
        self.greet()
        for text in pieces(lines):
            prompt = self.prompt()
            first, *more = text.strip("\n").split("\n")
            self.desk.say("", Text(prompt, "bold") + colors.statement(first))
            self.desk.say(*(Text(continuation(prompt), "dim") + colors.statement(line) for line in more))
            self.handle(text)
            if self.desk.done:
                break
        return 1 if self.failed else 0


def continuation(prompt: str) -> str:
    """The prompt of the further lines of an input."""
    return " " * max(len(prompt) - 4, 0) + "  · "


def plain_ask(shell: Shell) -> Callable[[str], str]:
    """A function that shows a prompt and reads an input, for terminals without editing and colors.
    It prints the next statement on a line above the prompt."""
    console = shell.desk.console

    def ask(prompt: str) -> str:
        coming = shell.desk.bench.coming
        if coming:
            console.print(Text(f"next: {coming}"), soft_wrap=True)
        text = input(prompt)
        while incomplete(text):
            more = input(continuation(prompt).replace("·", "."))
            if not more.strip():
                break
            text += "\n" + more
        return text

    return ask


def read_lines() -> Iterator[str]:
    """The lines of standard input. Raises W0005 for bytes that are not UTF-8."""
    try:
        yield from sys.stdin
    except UnicodeDecodeError as error:
        raise fail("W0005", f"standard input is not UTF-8: byte {error.object[error.start]:#04x}") from error


def start(choice: Choice, resume: str | None = None) -> int:
    """Opens the schedule and executes standard input until its end or `quit`. Returns the exit
    code.

    Args:
        resume: the journal of the interrupted session to resume; empty: the newest one; None: a new
            session.
    """
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    console = Console(file=sys.stdout, highlight=False, markup=False)
    if resume is None:
        shell = Shell(Workbench.open(choice), console, interactive=interactive)
        if warnings := shell.desk.bench.recipe.warnings:
            shell.desk.show(warnings)
        if interactive:
            if found := cut_off():
                more = f" ({len(found)} of them; `weft repl --resume NAME` resumes another)" if len(found) > 1 else ""
                offer = f"a session was interrupted: {found[0].summary}; `weft repl --resume` resumes it{more}"
                shell.notes.append(Text(offer, "yellow"))
            shell.journal = Journal.begin(Start.of(shell.desk.bench))
    else:
        shell = _resumed(choose(resume), console, interactive)
    stays(str(shell.journal.path) if shell.journal is not None else "")
    code = _read(shell, console, interactive)
    if shell.journal is not None:
        shell.journal.leave()
    return code


def _resumed(found: CutOffSession, console: Console, interactive: bool) -> Shell:
    """A shell in the state in which that session was interrupted. A line that fails now ends the
    replay: the error is shown and the old journal is kept."""
    begun = found.start
    bench = Workbench.open(begun.choice)
    shell = Shell(bench, console, interactive=interactive)
    now = digest(bench)
    if now != begun.digest:
        shell.notes.append(Text("the schedule or the payload has changed since", "yellow"))
    shown = io.StringIO()
    quiet = Shell(bench, Console(file=shown, width=console.width), interactive=False)
    done: list[str] = []
    for line in found.lines:
        shown.seek(0)
        shown.truncate()
        if not quiet.handle(line):
            left = len(found.lines) - len(done) - 1
            shell.notes.append(Text(shown.getvalue().rstrip(), "red"))
            why = f"`{line}` fails now, and {left} more are not executed; they are in {found.path}"
            shell.notes.append(Text(why, "yellow"))
            break
        done.append(line)
    shell.notes.append(Text(f"resumed: {found.summary}", "green"))
    if found.doing:
        shell.notes.append(Text(f"it was interrupted in `{found.doing}`, which is not done", "yellow"))
    if interactive:
        shell.journal = Journal.begin(replace(begun, digest=now), done)
        if shell.journal is not None and len(done) == len(found.lines):
            found.path.unlink(missing_ok=True)
    return shell


def _read(shell: Shell, console: Console, interactive: bool) -> int:
    if not interactive:
        load_statements(TRIALS)
        return shell.replay(read_lines())
    thread = threading.Thread(target=load_statements, args=(TRIALS,), daemon=True)

    def begin() -> None:
        """Imports the modules of the first statements while the user reads the prompt: the import
        takes longer than a step may."""
        if thread.ident is None:
            thread.start()

    def coming() -> str:
        text = shell.desk.bench.coming
        room = console.width - len(shell.prompt()) - 2
        return text if len(text) <= room else text[: room - 1] + "…"

    try:
        if os.environ.get("TERM", "dumb") in ("dumb", "unknown"):
            begin()
            return shell.converse(plain_ask(shell))
        from .terminal import prompter

        return shell.converse(prompter(shell.desk, coming, begin, incomplete))
    finally:
        if thread.ident is not None:
            thread.join()
