"""Starting the REPL: on a terminal, on one that can do little, or on a pipe."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from .shell import Shell, plain_ask, read_lines
from .workbench import Workbench


def start(file: str | None, payload: Path | None, settings: Mapping[str, str], layer: str | None = None) -> int:
    """Open the schedule and read from standard input until it ends or `quit`. Gives the exit code."""
    from rich.console import Console

    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    console = Console(file=sys.stdout, highlight=False, markup=False)
    shell = Shell(Workbench.open(file, payload, settings, layer), console, interactive=interactive)
    if not interactive:
        _import()
        return shell.replay(read_lines())
    meanwhile = _Meanwhile()
    try:
        if os.environ.get("TERM", "dumb") in ("dumb", "unknown"):
            meanwhile.begin()
            return shell.converse(plain_ask(shell))
        from .terminal import prompter

        def coming() -> str:
            text = shell.desk.bench.coming
            room = console.width - len(shell.prompt()) - 2
            return text if len(text) <= room else text[: room - 1] + "…"

        return shell.converse(prompter(shell.desk, coming, meanwhile.begin))
    finally:
        meanwhile.end()


class _Meanwhile:
    """Imports what the first statements need while the user reads the prompt: it takes longer than a step may."""

    def __init__(self) -> None:
        self.thread: threading.Thread | None = None

    def begin(self) -> None:
        if self.thread is None:
            self.thread = threading.Thread(target=_import, daemon=True)
            self.thread.start()

    def end(self) -> None:
        if self.thread is not None:
            self.thread.join()


def _import() -> None:
    from ..interpreter import mlir

    mlir.load()
    package = __name__.rpartition(".repl.")[0]
    for name in (".interpreter.analysis", ".interpreter.distribution", ".interpreter.analysis.trial"):
        importlib.import_module(name, package)
