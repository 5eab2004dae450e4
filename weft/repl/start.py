"""Starting the REPL: on a terminal, on one that can do little, or on a pipe."""

from __future__ import annotations

import importlib
import io
import os
import sys
import threading
from dataclasses import replace

from rich.console import Console
from rich.text import Text

from ..cli.supervisor import stays
from ..interpreter.ir.mlir import load
from ..pipeline import Choice
from .journal import CutOffSession, Journal, Start, choose, cut_off, digest
from .shell import Shell, plain_ask, read_lines
from .workbench import Workbench


def start(choice: Choice, resume: str | None = None) -> int:
    """Open the schedule and read from standard input until it ends or `quit`. Gives the exit code.

    Args:
        resume: go on with a session that was cut off: that of this journal, the newest one for an empty name.
    """
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    console = Console(file=sys.stdout, highlight=False, markup=False)
    if resume is None:
        shell = Shell(Workbench.open(choice), console, interactive=interactive)
        if interactive:
            shell.notes += _offer()
            shell.journal = Journal.begin(Start.of(shell.desk.bench))
    else:
        shell = _resumed(choose(resume), console, interactive)
    stays(str(shell.journal.path) if shell.journal is not None else "")
    code = _read(shell, console, interactive)
    if shell.journal is not None:
        shell.journal.leave()
    return code


def _offer() -> list[Text]:
    """What is said of sessions that were cut off."""
    if not (found := cut_off()):
        return []
    more = f" ({len(found)} of them; `weft repl --resume NAME` goes on with another)" if len(found) > 1 else ""
    return [Text(f"a session was cut off: {found[0].summary}; `weft repl --resume` goes on with it{more}", "yellow")]


def _resumed(found: CutOffSession, console: Console, interactive: bool) -> Shell:
    """A shell where that session was. What fails now that did not then ends this, is shown, and its journal stays."""
    begun = found.start
    bench = Workbench.open(begun.choice)
    shell = Shell(bench, console, interactive=interactive)
    now = digest(bench)
    if now != begun.digest:
        shell.notes.append(Text("the schedule or the payload has changed since", "yellow"))
    said = io.StringIO()
    quiet = Shell(bench, Console(file=said, width=console.width), interactive=False)
    done: list[str] = []
    for line in found.lines:
        said.seek(0)
        said.truncate()
        if not quiet.handle(line):
            left = len(found.lines) - len(done) - 1
            shell.notes.append(Text(said.getvalue().rstrip(), "red"))
            why = f"`{line}` fails now, and {left} more are not done; they stand in {found.path}"
            shell.notes.append(Text(why, "yellow"))
            break
        done.append(line)
    shell.notes.append(Text(f"resumed: {found.summary}", "green"))
    if found.doing:
        shell.notes.append(Text(f"it was cut off in `{found.doing}`, which is not done", "yellow"))
    if interactive:
        shell.journal = Journal.begin(replace(begun, digest=now), done)
        if shell.journal is not None and len(done) == len(found.lines):
            found.path.unlink(missing_ok=True)
    return shell


def _read(shell: Shell, console: Console, interactive: bool) -> int:
    if not interactive:
        _import()
        return shell.replay(read_lines())
    thread = threading.Thread(target=_import, daemon=True)

    def begin() -> None:
        """Import what the first statements need while the user reads the prompt: it takes longer than a step may."""
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

        return shell.converse(prompter(shell.desk, coming, begin))
    finally:
        if thread.ident is not None:
            thread.join()


def _import() -> None:
    load()
    package = __name__.rpartition(".repl.")[0]
    for name in (".interpreter.proof", ".interpreter.launch", ".interpreter.proof.kernels.trial"):
        importlib.import_module(name, package)
