"""`Diagnostic`, the type of all messages of the checker, the statements, the runtime and the
command line, and its text.

A `Diagnostic` is data, and `render` makes its text. Files are read here, too, since errors of
reading are diagnostics. Code ranges, one part of Weft each:

| codes | what |
|---|---|
| W00xx | files: unreadable, a directory, binary, too large, unwritable |
| W01xx | syntax of a schedule |
| W02xx | checking: names, types, arity, domains, consumed handles |
| W03xx | a statement refuses |
| W04xx | the payload: it does not parse, nothing matches, several match |
| W05xx | CUDA text: an op or a type that the emitter does not support |
| W06xx | synchronization: conflicts, races, barriers |
| W07xx | running: plan, bundle, inputs, device |
| W08xx | the reference and the comparison |
| W09xx | goldens, benchmarks, tuning |
"""

from __future__ import annotations

import os
import re
import textwrap
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import field, replace
from functools import cached_property
from typing import Literal

from .records import record

Severity = Literal["error", "warning", "note"]


@record
class Source:
    """A text by a user, with its displayed name (a path, a recipe's name, `<repl>`)."""

    name: str
    text: str = field(repr=False)

    @cached_property
    def starts(self) -> list[int]:
        """The offset at which each line begins."""
        return [0, *(found.end() for found in re.finditer("\n", self.text))]

    def line(self, number: int) -> str:
        """The text of 1-based line `number`, without its end; empty after the text's end. Only `\\n`
        ends a line."""
        if not 1 <= number <= len(self.starts):
            return ""
        start, *end = self.starts[number - 1 : number + 1]
        return self.text[start : end[0] - 1 if end else None].removesuffix("\r")

    def offset(self, line: int, column: int) -> int:
        """The offset of a 1-based line and column; a column after the line's end, or a line after
        the last, is limited to the text."""
        return self.starts[min(line, len(self.starts)) - 1] + column - 1

    def edited(self, edits: Iterable[tuple[Span | tuple[int, int], str]]) -> str:
        """The text with spans, or ranges of offsets, replaced; no two of these overlap."""

        def ends(at: Span | tuple[int, int]) -> tuple[int, int]:
            if isinstance(at, tuple):
                return at
            return self.offset(at.line, at.column), self.offset(at.end_line, at.end_column)

        text = self.text
        for (start, stop), new in sorted(((ends(at), new) for at, new in edits), reverse=True):
            text = text[:start] + new + text[stop:]
        return text

    def span(self, position: int, length: int = 1) -> Span:
        """The span of `length` characters of one line, from an offset on."""
        line = bisect_right(self.starts, position)
        column = position - self.starts[line - 1] + 1
        return Span(self, line, column, line, column + length)


@record
class Span:
    """A place in a `Source`: 1-based lines and columns; the end column is exclusive."""

    source: Source
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}"

    @property
    def text(self) -> str:
        """The source text of the span."""
        lines = [self.source.line(number) for number in range(self.line, self.end_line + 1)]
        lines[-1] = lines[-1][: self.end_column - 1]
        lines[0] = lines[0][self.column - 1 :]
        return "\n".join(lines)


@record
class Diagnostic:
    """A message: the problem, its place, its cause, and a way out.

    Args:
        code: `Wnnnn`; `weft explain CODE` prints the long form.
        message: one sentence, which begins in lower case and has no full stop.
        span: the place in a schedule or an MLIR text.
        statement: the keyword of the statement that reports it, if there is one.
        notes: what is needed to understand the message: the payload op, the candidates, the
            witness.
        hint: what to write instead.
        payload: the op of the payload that it concerns, e.g. `linalg.matmul at payload.mlir:4:8`.
    """

    code: str
    message: str
    span: Span | None = None
    statement: str | None = None
    notes: tuple[str, ...] = ()
    hint: str | None = None
    payload: str | None = None
    severity: Severity = "error"


def as_json(diagnostic: Diagnostic) -> dict[str, object]:
    """Plain data: code, message, place (`FILE:LINE:COLUMN` or None), notes, hint."""
    place = str(diagnostic.span) if diagnostic.span is not None else None
    notes, hint = list(diagnostic.notes), diagnostic.hint
    return {"code": diagnostic.code, "message": diagnostic.message, "place": place, "notes": notes, "hint": hint}


class WeftError(Exception):
    """The exception that carries one or more diagnostics. It is the only exception that user input
    may cause."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__(*diagnostics)
        self.diagnostics: tuple[Diagnostic, ...] = diagnostics

    def __str__(self) -> str:
        """The text for a script or a notebook: for each diagnostic `Wnnnn: message`, then place,
        notes and hint, as on the command line."""
        return "\n\n".join(map(plain, self.diagnostics))

    def __reduce__(self) -> tuple[type[WeftError], tuple[Diagnostic, ...]]:
        return type(self), self.diagnostics


def fail(
    code: str, message: str, hint: str | None = None, *, span: Span | None = None, notes: tuple[str, ...] = ()
) -> WeftError:
    """An error with a single diagnostic: `raise fail("Wnnnn", "the problem", "the way out")`."""
    return WeftError(Diagnostic(code, message, span, notes=notes, hint=hint))


def alternatives(words: Iterable[str]) -> str:
    """`a`, `b` or `c`."""
    *most, last = list(words) or ["nothing more"]
    return f"{', '.join(most)} or {last}" if most else last


def quoted(words: Iterable[str]) -> str:
    """`a`, `b`, `c`, each in backquotes."""
    return ", ".join(f"`{word}`" for word in words)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A hint with the known word that is close to `word`, if there is one."""
    import difflib

    close = difflib.get_close_matches(word[:100], sorted(known), 1, 0.6)
    return f"did you mean `{close[0]}`?" if close else None


def count(number: int, noun: str) -> str:
    """A number with its noun: `1 name`, `2 names`, `3 launches`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}{'es' if noun.endswith('ch') else 's'}"


MAX_SCHEDULE_BYTES = 1_000_000


def read_source(path: str | os.PathLike[str], *, limit: int | None = None, at: Span | None = None) -> Source:
    """The text of a file. `limit`: the maximal number of bytes. `at`: the place that names the file
    (an `include`).

    Raises:
        WeftError: W0001 unreadable, W0002 a directory, W0004 binary, W0005 not UTF-8, W0006 too
            large.
    """
    name = os.fspath(path)
    try:
        if os.path.isdir(name):
            raise fail("W0002", f"`{name}` is a directory", span=at, hint=f"name a file in it, `{name}/…`")
        if not os.path.isfile(name) and os.path.exists(name):
            raise fail("W0001", f"`{name}` is not a regular file", span=at)
        with open(name, "rb") as file:
            data = file.read() if limit is None else file.read(limit + 1)
            size = os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        raise fail("W0001", f"there is no file `{name}`", span=at) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise fail("W0001", f"`{name}` can't be read: {reason.lower()}", span=at) from error
    if limit is not None and len(data) > limit:
        raise _too_large(name, f"{size:,} bytes", limit, at)
    return Source(name, decode(data, name, at))


def schedule_text(text: str, name: str) -> Source:
    """A schedule's text that is given directly, as a source. Raises W0006."""
    if len(text) > MAX_SCHEDULE_BYTES:
        raise _too_large(name, f"{len(text):,} characters", MAX_SCHEDULE_BYTES)
    return Source(name, text)


def _too_large(name: str, size: str, limit: int, at: Span | None = None) -> WeftError:
    hint = "is it the right file? split a schedule with `include`"
    return fail("W0006", f"`{name}` has {size}; a schedule may have {limit:,}", span=at, hint=hint)


def decode(data: bytes, name: str, at: Span | None = None) -> str:
    """`data` as UTF-8 text, without a byte order mark. Raises W0004, W0005."""
    if b"\0" in data:
        hint = "save it in the encoding `UTF-8`" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else None
        raise fail("W0004", f"`{name}` is binary: byte {data.index(0)} is zero", span=at, hint=hint)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"`{name}` is not UTF-8: byte {data[error.start]:#04x} in line {line}"
        raise fail("W0005", message, span=at, hint="save it in the encoding `UTF-8`") from error


# ---- a diagnostic as text ------------------------------------------------------------------------
#
# Message, place, source line with carets, payload, notes, hint. The plain form needs no library; colors are ANSI codes
# from rich. Control characters in the user's text are shown as escapes, not sent to the terminal.

Piece = tuple[str, str]
"""A text and its rich style."""

_COLORS = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}
_FRAME = "blue"
_WIDTH = 140


def render(diagnostic: Diagnostic, color: bool = False, width: int | None = None) -> str:
    """The text of a diagnostic, without a final line end; message, notes and hint in lines of at
    most `width` columns."""
    lines = list(_lines(diagnostic, width))
    if not color:
        return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)
    import io

    from rich.console import Console
    from rich.text import Text

    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, color_system="standard", width=10_000, legacy_windows=False)
    for line in lines:
        console.print(Text.assemble(*line), soft_wrap=True, highlight=False)
    return stream.getvalue().rstrip("\n")


def plain(diagnostic: Diagnostic) -> str:
    """The text of a diagnostic after the name of an exception: `Wnnnn: message`, then the other
    lines of `render`."""
    _, *lines = _lines(replace(diagnostic, message=""), None)
    text = "".join("\n" + "".join(text for text, _ in line).rstrip() for line in lines)
    return f"{diagnostic.code}: {diagnostic.message}{text}"


def render_all(diagnostics: Iterable[Diagnostic], color: bool = False, width: int | None = None) -> str:
    """The text of several diagnostics, separated by empty lines."""
    return "\n\n".join(render(diagnostic, color, width) for diagnostic in diagnostics)


def printable(text: str) -> str:
    """`text` with control, bidirectional and other invisible characters as escapes, and tabs as
    four spaces."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    if character == "\t":
        return "    "
    if character == "\n":
        return "\\n"
    import unicodedata  # imported late: few texts need it

    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return f"\\u{{{ord(character):x}}}"
    return character


def _columns(text: str) -> int:
    """The number of terminal columns of `text`."""
    if text.isascii():
        return len(text)
    import unicodedata

    width = 0
    for character in text:
        if not unicodedata.combining(character):
            width += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return width


def _lines(diagnostic: Diagnostic, width: int | None) -> Iterable[list[Piece]]:
    style = _COLORS[diagnostic.severity]
    message = _paragraph(diagnostic.message, width, len(diagnostic.severity) + 9)
    yield [(f"{diagnostic.severity}[{diagnostic.code}]", style), (": " + message[0], "bold")]
    yield from ([("  " + line, "bold")] for line in message[1:])
    span = diagnostic.span
    margin = len(str(span.line)) if span is not None else 1
    if span is not None:
        bar = " " * (margin + 2) + "|"
        name = printable(span.source.name)
        yield [(" " * (margin + 1) + "--> ", _FRAME), (f"{name}:{span.line}:{span.column}", "")]
        room = _WIDTH if width is None else max(min(width - margin - 6, _WIDTH), 40)
        text, before, length = _excerpt(span, room)
        yield [(bar, _FRAME)]
        yield [(f" {span.line} | ", _FRAME), (text, "")]
        yield [(bar + " ", _FRAME), (" " * before, ""), ("^" * length, style)]
    indent = " " * (margin + 2)
    if diagnostic.payload is not None:
        yield from _entry(indent, "payload", diagnostic.payload, width)
    for note in diagnostic.notes:
        yield from _entry(indent, "note", note, width)
    if diagnostic.hint is not None:
        yield from _entry(indent, "hint", diagnostic.hint, width)


def _excerpt(span: Span, room: int) -> tuple[str, int, int]:
    """The source line, the number of columns before the carets, and the number of carets.

    Of a span of several lines the first is shown; of a line longer than `room`, the part around the
    carets.
    """
    line = span.source.line(span.line)
    start = min(max(span.column - 1, 0), len(line))
    end = span.end_column - 1 if span.end_line == span.line else len(line.rstrip())
    end = max(min(end, len(line)), start)
    cut_front = max(0, min(start - 40, len(line) - room)) if len(line) > room else 0
    cut_back = min(len(line), cut_front + room)
    front = ("…" if cut_front else "") + printable(line[cut_front:start])
    marked = printable(line[start : min(end, cut_back)])
    rest = printable(line[min(end, cut_back) : cut_back]) + ("…" if cut_back < len(line) else "")
    return front + marked + rest, _columns(front), max(_columns(marked), 1)


def _entry(indent: str, title: str, text: str, width: int | None) -> Iterable[list[Piece]]:
    first, *rest = _paragraph(text, width, len(indent) + len(title) + 4)
    yield [(f"{indent}= ", _FRAME), (f"{title}: ", "bold"), (first, "")]
    yield from ([(indent + " " * (len(title) + 4) + line, "")] for line in rest)


def _paragraph(text: str, width: int | None, before: int) -> list[str]:
    """The lines of a text that begins after `before` columns, broken between words into at most
    `width` columns."""
    lines = [printable(line) for line in text.split("\n")]
    if width is None:
        return lines
    room = max(width - before, 20)
    return [part for line in lines for part in (in_lines(line, room) if len(line) > room else [line])]


def in_lines(text: str, width: int) -> list[str]:
    """A line as several of at most `width` columns, broken between words and indented like the
    first; lines of an example are indented like the text after `wrong:`."""
    indent = text[: len(text) - len(text.lstrip())]
    example = next((word for word in ("wrong: ", "right: ") if text.startswith(word, len(indent))), "")
    hanging = indent + " " * len(example)
    return textwrap.wrap(
        text.strip(), width, initial_indent=indent, subsequent_indent=hanging, break_on_hyphens=False
    ) or [""]
