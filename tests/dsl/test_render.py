"""Diagnostics as text, in the look of the style guide."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from weft.dsl.diagnostics import Diagnostic, Source, Span, WeftError, printable, render, render_all

LINE = "  let gemm = interchange gemm [0, 0, 2]"


def at(text: str, line: int, column: int, end: int, end_line: int | None = None, name: str = "matmul.weft") -> Span:
    return Span(Source(name, text), line, column, end_line or line, end)


FULL = Diagnostic(
    "W0310",
    "[0, 0, 2] is not a permutation of 3 dimensions",
    at("\n" * 8 + LINE, 9, 31, 40),
    "interchange",
    notes=("first", "second\nof two lines"),
    hint="name each of 0 … 2 once",
    payload="linalg.matmul at payload.mlir:4:8, dimensions (m: parallel, n: parallel, k: reduction)",
)


def test_the_look() -> None:
    assert render(FULL) == (
        "error[W0310]: [0, 0, 2] is not a permutation of 3 dimensions\n"
        "  --> matmul.weft:9:31\n"
        "   |\n"
        " 9 |   let gemm = interchange gemm [0, 0, 2]\n"
        "   |                               ^^^^^^^^^\n"
        "   = payload: linalg.matmul at payload.mlir:4:8, dimensions (m: parallel, n: parallel, k: reduction)\n"
        "   = note: first\n"
        "   = note: second\n"
        "           of two lines\n"
        "   = hint: name each of 0 … 2 once"
    )


def test_wide_line_numbers_and_no_place() -> None:
    text = render(Diagnostic("W0101", "m", at("\n" * 99 + "ab", 100, 2, 3), severity="warning"))
    assert text == "warning[W0101]: m\n    --> matmul.weft:100:2\n     |\n 100 | ab\n     |  ^"
    assert render(Diagnostic("W0001", "m", hint="h")) == "error[W0001]: m\n   = hint: h"


@pytest.mark.parametrize(
    ("line", "column", "end", "shown", "carets"),
    [
        ("\tab", 2, 3, "    ab", "    ^"),
        ("中 ab", 3, 5, "中 ab", "   ^^"),
        ("e\u0301 ab", 4, 6, "e\u0301 ab", "  ^^"),
        ("\x1b[31m x", 7, 8, "\\u{1b}[31m x", "           ^"),
        ("\u202eab", 2, 3, "\\u{202e}ab", "        ^"),
        ("ab", 3, 4, "ab", "  ^"),
        ("ab", 9, 9, "ab", "  ^"),
        ("", 1, 1, "", "^"),
        ("ab\r", 1, 3, "ab", "^^"),
    ],
)
def test_carets_stand_below_what_they_mean(line: str, column: int, end: int, shown: str, carets: str) -> None:
    lines = render(Diagnostic("W0101", "m", at(line, 1, column, end))).split("\n")
    assert lines[3:] == [f" 1 | {shown}".rstrip(), f"   | {carets}"]


def test_of_several_lines_the_first_is_shown() -> None:
    lines = render(Diagnostic("W0101", "m", at("if a {\n}\n", 1, 1, 2, end_line=2))).split("\n")
    assert lines[3:] == [" 1 | if a {", "   | ^^^^^^"]


def test_of_a_long_line_the_part_around_the_carets_is_shown() -> None:
    lines = render(Diagnostic("W0101", "m", at("x" * 500_000 + "!" + "y" * 500_000, 1, 500_001, 500_002))).split("\n")
    assert len(lines[3]) < 160 and lines[3][lines[4].index("^")] == "!"


@pytest.mark.parametrize("column", [3, 60, 150])
def test_on_a_terminal_the_line_fits(column: int) -> None:
    """The part around the carets, whichever part of the line that is, and the carets below it."""
    line = "".join(f"{n:03}" for n in range(60))
    place = Span(Source("x", line), 1, column + 1, 1, column + 4)
    *_, shown, carets = render(Diagnostic("W0001", "m", place), width=80).split("\n")
    assert len(shown) <= 80 and "…" in shown
    start = carets.index("^")
    assert carets[start:] == "^^^" and shown[start : start + 3] == line[column : column + 3]


def test_names_of_files_and_messages_are_shown_not_sent() -> None:
    text = render(Diagnostic("W0001", "a\x1b[2Jb", at("a", 1, 1, 2, name="x\n\x07.weft"), notes=("\u200b",)))
    assert "\x1b" not in text and "\x07" not in text and "\u200b" not in text
    assert "x\\n\\u{7}.weft:1:1" in text
    assert printable("plain ü 中") == "plain ü 中"


def test_color_is_the_same_text_with_styles() -> None:
    import re

    colored = render(FULL, color=True)
    assert "\x1b[1;31merror[W0310]" in colored
    assert [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", colored).split("\n")] == render(FULL).split("\n")


def test_several_are_separated() -> None:
    assert render_all([FULL, FULL]).count("\n\nerror[") == 1


def test_the_plain_form_needs_no_library() -> None:
    code = (
        "import sys; from weft.dsl.diagnostics import Diagnostic, render;"
        "render(Diagnostic('W0001', 'm')); sys.exit(any(m in sys.modules for m in ('rich', 'lark', 'pygments')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_python_shows_of_an_error_is_what_the_command_line_does() -> None:
    """`str(error)`: after `Wnnnn: message` the place, the payload's op, the notes and the hint of each."""
    source = Source("s.weft", "schedule s() {\n  map x to lanes\n}\n")
    full = Diagnostic(
        "W0301", "it is wrong", source.span(17, 14), None, ("because", "of two\nlines"), "do that", "linalg.fill"
    )
    bare = Diagnostic("W0302", "so is this")
    error = WeftError(full, bare)
    first, second = str(error).split("\n\n")
    assert second == "W0302: so is this"
    assert first.split("\n")[0] == "W0301: it is wrong"
    assert first.split("\n")[1:] == render(full).split("\n")[1:]
    assert all(
        part in first
        for part in ("--> s.weft:2:3", "^^^^^^^^^^^^^^", "payload: linalg.fill", "of two", "hint: do that")
    )
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.diagnostics == error.diagnostics
    assert str(WeftError()) == ""
