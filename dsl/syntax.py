"""Text → Lark's tree and its tokens: the grammar, loaded once, and the drive through it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal, cast

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput

from .diagnostics import Source, Span, WeftError, fail
from .grammar_cache import load
from .lines import LimitError, blank_raw_texts
from .syntax_errors import Failure, explain

Start = Literal["file", "body"]


@dataclass(frozen=True)
class Language:
    """The loaded grammar.

    Args:
        parser: Lark's.
        spellings: terminal name → its text, for terminals that have one.
        statements: the keywords that begin a statement, with the names of the fields each can have.
    """

    parser: Lark
    spellings: dict[str, str]
    statements: dict[str, tuple[str, ...]]


@cache
def language() -> Language:
    parser, spellings = load()
    statements: dict[str, tuple[str, ...]] = {}
    for rule in parser.rules:
        if rule.origin.name == "statement":
            keyword = spellings[rule.expansion[0].name]
            names = [symbol.name for symbol in rule.expansion[1:] if not symbol.is_term]
            statements[keyword] = tuple(dict.fromkeys((*statements.get(keyword, ()), *names)))
    return Language(parser, spellings, statements)


def keywords() -> frozenset[str]:
    """The keywords that the grammar can begin a statement with; the registry may know fewer."""
    return frozenset(language().statements)


def read(source: Source, start: Start) -> tuple[Tree, tuple[Token, ...]]:
    """Parse `source`; its tokens come along (line ends that separate nothing and comments are not among them).

    Raises:
        WeftError: W01xx at the first thing that can't be.
    """
    masked, unclosed = blank_raw_texts(source.text)
    if unclosed is not None:
        raise fail("W0105", "this `{` is never closed", span=span_at(source, unclosed, 1))
    lang = language()
    tokens: list[Token] = []
    run = lang.parser.parse_interactive(masked, start)
    try:
        for token in run.iter_parse():
            tokens.append(token)
        tree = run.feed_eof(tokens[-1] if tokens else None)
    except LimitError as error:
        at = error.token
        hint = "write it in smaller pieces, a line or a schedule each"
        raise fail("W0107", error.message, span=span_at(source, at.start_pos or 0, len(at)), hint=hint) from None
    except UnexpectedInput as error:
        if tokens and getattr(error, "token", None) is tokens[-1]:
            tokens.pop()  # yielded, but not eaten
        failure = Failure(source, error, tuple(tokens), frozenset(run.accepts()), lang.spellings)
        raise WeftError(explain(failure, frozenset(lang.statements))) from None
    return cast(Tree, tree), tuple(tokens)


def accepted(text: str, start: Start) -> frozenset[str]:
    """The terminals that may stand behind a text; none where the text itself cannot be."""
    run = language().parser.parse_interactive(text, start)
    try:
        for _ in run.iter_parse():
            pass
    except (UnexpectedInput, LimitError):
        return frozenset()
    return frozenset(run.accepts())


def span_at(source: Source, position: int, length: int) -> Span:
    """The span of `length` characters of one line, from an offset."""
    line = source.text.count("\n", 0, position) + 1
    column = position - (source.text.rfind("\n", 0, position) + 1) + 1
    return Span(source, line, column, line, column + length)
