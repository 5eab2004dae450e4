"""A `Diagnostic` as text: message, place, source line with carets, payload, notes, hint.

The plain form needs nothing; colors are ANSI codes by rich. Control characters in what users wrote are shown, not sent.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable
from dataclasses import replace

from .diagnostics import Diagnostic, Span

Piece = tuple[str, str]
"""Text and its style, as rich names it."""

_COLORS = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}
_FRAME = "blue"
_WIDTH = 140


def render(diagnostic: Diagnostic, color: bool = False, width: int | None = None) -> str:
    """The text of a diagnostic, without a line end at its end; message, notes and hint in lines of at most `width` columns."""
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
    """The text of a diagnostic after the name of an exception: `Wnnnn: message`, then the lines that `render` makes."""
    _, *lines = _lines(replace(diagnostic, message=""), None)
    text = "".join("\n" + "".join(text for text, _ in line).rstrip() for line in lines)
    return f"{diagnostic.code}: {diagnostic.message}{text}"


def render_all(diagnostics: Iterable[Diagnostic], color: bool = False, width: int | None = None) -> str:
    """Several diagnostics, an empty line between them."""
    return "\n\n".join(render(diagnostic, color, width) for diagnostic in diagnostics)


def printable(text: str) -> str:
    """`text` with control, bidirectional and other invisible characters as escapes, and tabs as four spaces."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    if character == "\t":
        return "    "
    if character == "\n":
        return "\\n"
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return f"\\u{{{ord(character):x}}}"
    return character


def _columns(text: str) -> int:
    """How many columns of a terminal `text` takes."""
    if text.isascii():
        return len(text)
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
        yield from _place(span, margin, style)
    indent = " " * (margin + 2)
    if diagnostic.payload is not None:
        yield from _entry(indent, "payload", diagnostic.payload, width)
    for note in diagnostic.notes:
        yield from _entry(indent, "note", note, width)
    if diagnostic.hint is not None:
        yield from _entry(indent, "hint", diagnostic.hint, width)


def _place(span: Span, margin: int, style: str) -> Iterable[list[Piece]]:
    bar = " " * (margin + 2) + "|"
    name = printable(span.source.name)
    yield [(" " * (margin + 1) + "--> ", _FRAME), (f"{name}:{span.line}:{span.column}", "")]
    text, before, length = _excerpt(span)
    yield [(bar, _FRAME)]
    yield [(f" {span.line} | ", _FRAME), (text, "")]
    yield [(bar + " ", _FRAME), (" " * before, ""), ("^" * length, style)]


def _excerpt(span: Span) -> tuple[str, int, int]:
    """The source line, how many columns stand before the carets, and how many carets there are.

    Of a span of several lines the first is shown; of a long line the part around the carets.
    """
    line = span.source.line(span.line)
    start = min(max(span.column - 1, 0), len(line))
    end = span.end_column - 1 if span.end_line == span.line else len(line.rstrip())
    end = max(min(end, len(line)), start)
    cut_front = max(0, start - 40) if len(line) > _WIDTH else 0
    cut_back = min(len(line), cut_front + _WIDTH)
    front = ("…" if cut_front else "") + printable(line[cut_front:start])
    marked = printable(line[start : min(end, cut_back)])
    rest = printable(line[min(end, cut_back) : cut_back]) + ("…" if cut_back < len(line) else "")
    return front + marked + rest, _columns(front), max(_columns(marked), 1)


def _entry(indent: str, title: str, text: str, width: int | None) -> Iterable[list[Piece]]:
    first, *rest = _paragraph(text, width, len(indent) + len(title) + 4)
    yield [(f"{indent}= ", _FRAME), (f"{title}: ", "bold"), (first, "")]
    yield from ([(indent + " " * (len(title) + 4) + line, "")] for line in rest)


def _paragraph(text: str, width: int | None, before: int) -> list[str]:
    """The lines of a text that begins behind `before` columns, broken between words where one has more than `width`."""
    lines = [printable(line) for line in text.split("\n")]
    if width is None:
        return lines
    room = max(width - before, 20)
    return [part for line in lines for part in (in_lines(line, room) if len(line) > room else [line])]


def in_lines(text: str, width: int) -> list[str]:
    """A line in several of at most `width` columns, broken between words, each as far to the right as the first."""
    indent = text[: len(text) - len(text.lstrip())]
    return textwrap.wrap(text.strip(), width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False) or [""]
