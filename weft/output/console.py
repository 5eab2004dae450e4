"""The two streams of the command line: results on stdout, everything else on stderr; and `guarded`,
the only place that ends a command.

IR and `--json` go through `emit`; diagnostics, reports and progress go to `stderr()`. `guarded`
turns every end of a command into an exit code: 0 right, 1 wrong, 2 usage, 130 interrupted.
"""

from __future__ import annotations

import io
import json
import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from ..dsl.diagnostics import Diagnostic, WeftError, fail
from ..process import answered, interruptible

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer
    from rich.console import Console

    from ..runtime.run.execution import Clock

T = TypeVar("T")

INTERRUPTED = 130

OF_USAGE = ("W0480", "W0481")
"""Diagnostics of a malformed command line, such as `--set m`, or `--set m=1 --set m=2`."""


def emit(result: str | dict[str, Any] | list[Any]) -> None:
    """Writes a complete result to stdout: a text, or plain data as JSON. Raises W0054 if stdout
    cannot be written."""
    text = result if isinstance(result, str) else json.dumps(result, indent=2, allow_nan=False)
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except OSError as error:
        raise _full(error) from error


def stderr(width: int | None = None) -> Console:
    """A rich console on stderr; plain if stderr is no terminal or `NO_COLOR` is set."""
    from rich.console import Console

    return Console(stderr=True, width=width, highlight=False, soft_wrap=False)


def say(text: str) -> None:
    """Writes plain lines to stderr; on a terminal they are broken between words."""
    sys.stderr.write(_broken(text, columns_of(sys.stderr)) + "\n")


def show(diagnostics: tuple[Diagnostic, ...]) -> None:
    """Writes rendered diagnostics to stderr."""
    sys.stderr.write(rendered(diagnostics, colored(), columns_of(sys.stderr)) + "\n")


def columns_of(stream: TextIO) -> int | None:
    """The width of a terminal in columns; None for a stream that is no terminal, on which lines are
    not broken."""
    import shutil

    return shutil.get_terminal_size().columns if stream.isatty() else None


def page(text: str) -> None:
    """Writes running text to stdout; on a terminal its lines are broken between words."""
    emit(_broken(text, columns_of(sys.stdout)))


def _broken(text: str, width: int | None) -> str:
    """The text with lines of at most `width` columns, broken between words."""
    if width is None or all(len(line) <= width for line in text.splitlines()):
        return text
    from ..dsl.diagnostics import in_lines

    return "\n".join(part for line in text.splitlines() for part in in_lines(line, max(width, 40)))


def explanation(code: str | None) -> str:
    """The page of a code as plain Markdown; without a code, a list of all codes with titles. Raises
    W0057."""
    from ..explain import page_of, pages

    if code is None:
        return "\n".join(f"{page.code}  {page.title}" for page in pages())
    if (found := page_of(code)) is None:
        raise fail("W0057", f"there is no diagnostic `{code}`", hint="`weft explain` lists all codes")
    return str(found)


def explain(codes: tuple[str, ...]) -> None:
    """Writes the pages of codes to stdout: laid out on a terminal, otherwise as plain Markdown."""
    texts = [explanation(code) for code in codes]
    if (width := columns_of(sys.stdout)) is None:
        emit("\n\n".join(texts))
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(file=sys.stdout, width=max(width, 40))
    for text in texts:
        console.print(Markdown(f"# {text}", code_theme="ansi_dark", hyperlinks=False))


def colored() -> bool:
    """Whether stderr takes colors."""
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR")


def rendered(diagnostics: tuple[Diagnostic, ...], color: bool, width: int | None = None) -> str:
    """The text of diagnostics on the command line, in lines of at most `width` columns."""
    from ..dsl.diagnostics import render_all
    from ..recipes import shortened

    return shortened(render_all(diagnostics, color, width))


def guarded(command: Callable[[], int | None]) -> int:
    """Runs a command and returns its exit code. Every error that user input can cause becomes a
    message here, never a traceback."""
    try:
        with interruptible():
            return command() or 0
    except WeftError as error:
        show(error.diagnostics)
        return 2 if error.diagnostics[0].code in OF_USAGE else 1
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
        if error.filename is not None:  # an error of a file: the function that writes files has to report it
            raise
        show(_full(error).diagnostics)
        return 1
    except (MemoryError, RecursionError) as error:
        show(exhausted(error, "--set m=256").diagnostics)
        return 1


def each(things: Iterable[T], do: Callable[[T], object]) -> int:
    """Calls `do` for each thing, also after errors. Returns the exit code: 1 if one failed or `do`
    returned true."""
    wrong = 0
    for thing in things:
        try:
            wrong |= bool(do(thing))
        except WeftError as error:
            show(error.diagnostics)
            wrong = 1
    return wrong


def exhausted(error: MemoryError | RecursionError, smaller: str) -> WeftError:
    """The diagnostic of exhausted memory or of an exhausted stack. `smaller`: an example of how to
    request a smaller payload."""
    if isinstance(error, MemoryError):
        return fail("W0055", "out of memory", hint=f"a smaller payload needs less: `{smaller}`")
    return fail("W0056", "something here is nested too deeply")


@contextmanager
def progress(title: str, *, console: Console | None = None, patience: float = 0.0) -> Iterator[Clock]:
    """A context that shows a progress line and yields the clock that drives it: the current phase
    and, where known, the share done and the time left. Nothing is shown if there is no terminal.

    Args:
        console: the console of the line; None: stderr.
        patience: seconds before the line appears.
    """
    from ..runtime.run.execution import Clock

    if not (sys.stderr.isatty() if console is None else console.is_terminal):
        yield Clock()
        return
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    title_column, phase_column = TextColumn("[bold]{task.description}"), TextColumn("{task.fields[phase]}")
    columns = title_column, BarColumn(), phase_column, TextColumn("{task.fields[left]}"), TimeElapsedColumn()
    bar = Progress(*columns, console=console or stderr(), transient=True)
    task = bar.add_task(escape(title), total=None, phase="", left="")
    began = time.monotonic()

    def watch(phase: str | None) -> None:
        nonlocal began
        if phase is not None:
            began = time.monotonic()
            bar.update(task, phase=phase, total=None, completed=0, left="")

    def share(done: float) -> None:
        bar.update(task, total=1.0, completed=done, left=share_done(done, time.monotonic() - began))

    timer = threading.Timer(patience, bar.start)
    timer.daemon = True
    timer.start() if patience else bar.start()
    try:
        yield Clock(watch, share)
    finally:
        if patience:
            timer.cancel()
            timer.join()
        bar.stop()


def share_done(done: float, seconds: float) -> str:
    """The share done and the time left: `42 %, 12 s left`. The time assumes constant speed and is
    shown after one second."""
    text = f"{done:.0%}".replace("%", " %")
    if seconds < 1 or done <= 0:
        return text
    left = round(seconds * (1 - done) / done)
    return f"{text}, {left // 60} min {left % 60} s left" if left >= 60 else f"{text}, {left} s left"


# ---- streams that are closed, without a reader, or full -------------------------------------------


class _Pipe(io.FileIO):
    """The writing end of a pipe. Once the pipe has no reader, output is discarded."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return super().write(data)


def open_what_is_closed() -> None:
    """Opens the null device for each standard stream that the caller closed (`>&-`): Python sets
    such a stream to None, on which every write fails."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - it stays open


def outlive_readers() -> None:
    """Lets a command run to its end after the reader of its output has left (`weft golden igemm
    2>&1 | head -2`). The streams are replaced below Python's text layer, since Click and Rich end
    the process with 1 at a closed pipe."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, io.TextIOWrapper):
            continue
        if stat.S_IFMT(os.fstat(stream.fileno()).st_mode) in (stat.S_IFIFO, stat.S_IFSOCK):
            stream.flush()
            raw = _Pipe(stream.fileno(), "w", closefd=False)
            buffer = raw if stream.write_through else io.BufferedWriter(raw)
            how = stream.line_buffering, stream.write_through
            patient = io.TextIOWrapper(buffer, stream.encoding, stream.errors, None, *how)
            setattr(sys, name, patient)


def flushed(code: int) -> int:
    """Writes the buffered rest of stdout. Returns the exit code, which is 1 if that fails."""
    try:
        sys.stdout.flush()
    except OSError as error:
        # Python flushes stdout once more at exit; the null device keeps that from failing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if code == 0:  # otherwise an error has been reported already
            show(_full(error).diagnostics)
            return 1
    return code


def _full(error: OSError) -> WeftError:
    """W0054: stdout cannot be written."""
    from ..runtime.files.writing import reason, unwritable

    return unwritable("standard output", reason(error))
