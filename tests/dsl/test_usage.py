"""How statements are written, for readers; and texts that are broken between words."""

from __future__ import annotations

import inspect
import itertools
import re

import pytest

from weft.dsl.diagnostics import Diagnostic, in_lines, render
from weft.dsl.signature import filled
from weft.dsl.syntax import language
from weft.dsl.usage import written
from weft.interpreter.session.statement import signatures


@pytest.mark.parametrize(
    ("keyword", "usage"),
    [
        ("unroll", "unroll TARGET [by n]"),
        ("bufferize", "bufferize"),
        (
            "map",
            "map TARGET to SPACE [block|cyclic|block-cyclic(n)] [order grouped(n)|order panels(n)|order hilbert] [vector n]\n"
            "map TARGET like LIKE",
        ),
        ("promote-to-shared", "promote-to-shared OPERAND [transpose] [pad n] [swizzle n] [vector n]"),
        ("transform", "transform { … }"),
    ],
)
def test_a_statement_is_shown_as_the_grammar_has_it(keyword: str, usage: str) -> None:
    assert written(keyword) == usage
    assert signatures()[keyword].page().startswith(f"{usage}\n\n")


def test_every_statement_has_a_usage_of_its_words() -> None:
    words = set(language().spellings.values())
    for keyword in signatures():
        lines = written(keyword).splitlines()
        assert lines and all(line.split()[0] == keyword and "_" not in line for line in lines)
        assert set(re.findall(r"(?<![\w@-])[a-z][a-z-]+(?![\w-])", written(keyword))) - {"op"} <= words


@pytest.mark.parametrize("width", [60, 120])
def test_a_page_fills_its_lines(width: int) -> None:
    """However the docstring is broken: no word is lost, entries begin lines of their own, only the last line of one is short."""
    for keyword, signature in signatures().items():
        doc = inspect.cleandoc(signature.doc)
        page = filled(doc, width)
        assert page.split() == doc.split(), keyword
        codes = [line.strip()[:5] for line in doc.splitlines() if re.match(r"    W\d{4}:", line)]
        assert [line[4:9] for line in page.splitlines() if re.match(r"    W\d{4}:", line)] == codes
        prose = page.partition("Example:")[0].splitlines()
        for line, following in itertools.pairwise(prose):
            words = following.split()
            goes_on = words and line.strip() and following.startswith(" " * 8)
            assert not goes_on or len(line) + 1 + len(words[0]) > width, (keyword, line)


def test_an_example_keeps_its_column() -> None:
    assert in_lines("right: " + "word " * 6, 30) == ["right: word word word word", "       word word"]


def test_lines_are_broken_between_words() -> None:
    text = "    " + "word-of-it " * 20
    lines = in_lines(text, 40)
    assert all(len(line) <= 40 and line.startswith("    word") for line in lines)
    assert " ".join(lines).split() == text.split()
    long = Diagnostic("W0001", "message " * 20, notes=("note " * 40,), hint="hint " * 40)
    shown = render(long, width=60)
    assert max(map(len, shown.splitlines())) <= 60 and shown.count("note") == 41 and shown.count("hint") == 41
    assert len(render(long).splitlines()) == 3
