"""The two streams of the command line: results on stdout, everything else on stderr; and the one place that ends a
command.

IR and `--json` go through `emit`; diagnostics, reports and progress go to `stderr()`. `guarded` turns whatever ends a
command into an exit code: 0 right, 1 wrong, 2 usage, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import click

from ..dsl.diagnostics import Diagnostic, WeftError, fail
from ..runtime.run.execution import Clock
from .interrupt import interruptible
from .supervisor import answered

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")

INTERRUPTED = 130


def emit(text: str) -> None:
    """Write a result to stdout, whole. Raises W0054 when stdout takes no more."""
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except OSError as error:
        from ..runtime.files.writing import reason, unwritable

        raise unwritable("standard output", reason(error)) from error


def stderr(width: int | None = None) -> Console:
    """A rich console on stderr; plain where stderr is no terminal or `NO_COLOR` is set."""
    from rich.console import Console

    return Console(stderr=True, width=width, highlight=False, soft_wrap=False)


def say(text: str) -> None:
    """One plain line to stderr."""
    sys.stderr.write(text + "\n")


def show(diagnostics: tuple[Diagnostic, ...]) -> None:
    """Render diagnostics on stderr."""
    sys.stderr.write(rendered(diagnostics, sys.stderr.isatty() and not os.environ.get("NO_COLOR")) + "\n")


def rendered(diagnostics: tuple[Diagnostic, ...], color: bool) -> str:
    """As every command shows them."""
    from ..dsl.render import render_all

    return shortened(render_all(diagnostics, color))


def shortened(text: str) -> str:
    """`text` with the paths of what ships as `recipes/…`, wherever Weft is installed."""
    from ..recipes import FOLDER

    return text.replace(f"{FOLDER}{os.sep}", f"recipes{os.sep}")


def guarded(command: Callable[[], int | None]) -> int:
    """Run a command and give its exit code. User input never gets past here as a traceback."""
    try:
        with interruptible():
            return command() or 0
    except WeftError as error:
        show(error.diagnostics)
        return 1
    except click.UsageError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return 1
    except click.exceptions.Exit as request:
        return request.exit_code
    except (KeyboardInterrupt, click.Abort):
        answered()
        say("interrupted")
        return INTERRUPTED
    except OSError as error:
        if error.filename is not None:  # of a file, and whoever writes one says so
            raise
        from ..runtime.files.writing import reason, unwritable

        show(unwritable("standard output", reason(error)).diagnostics)
        return 1
    except (MemoryError, RecursionError) as error:
        show(exhausted(error, "--set m=256").diagnostics)
        return 1


def each(things: Iterable[T], do: Callable[[T], object]) -> int:
    """Do something with each thing, whatever is wrong with others: that is shown, and the exit code then 1, as it is where `do`
    gives something true."""
    wrong = 0
    for thing in things:
        try:
            wrong |= bool(do(thing))
        except WeftError as error:
            show(error.diagnostics)
            wrong = 1
    return wrong


def exhausted(error: MemoryError | RecursionError, smaller: str) -> WeftError:
    """What is said of memory or of a stack that was used up. `smaller`: how a smaller payload is asked for here."""
    if isinstance(error, MemoryError):
        return fail("W0055", "out of memory", hint=f"a smaller payload needs less: `{smaller}`")
    return fail("W0056", "something here is nested too deeply")


def silence_stdout() -> None:
    """Python flushes stdout once more when it exits: let that go nowhere instead of failing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def progress(title: str) -> Iterator[Clock]:
    """A progress line on stderr while long work runs: gives the clock whose phases it shows. Silent off a terminal."""
    if not sys.stderr.isatty():
        yield Clock()
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("[bold]{task.description}"), BarColumn(), TextColumn("{task.fields[phase]}"), TimeElapsedColumn()
    with Progress(*columns, console=stderr(), transient=True) as bar:
        task = bar.add_task(title, total=None, phase="")

        def watch(phase: str | None) -> None:
            if phase is not None:
                bar.update(task, phase=phase)

        yield Clock(watch)
