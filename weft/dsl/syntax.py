"""Text → Lark's tree and tokens: the grammar, loaded once, and the calls of the parser.

Before parsing, raw texts are blanked and line ends without meaning are dropped; limits keep
recursion over the tree within Python's limit.

Making the parse tables takes longer than a parse. A wheel contains the tables for the Lark version
that it was built with; otherwise Lark caches them beside the compiled Python files, and makes them
again if they are damaged or of another version.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import pickle
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import Literal, cast

import lark
from lark import Lark, Token, Tree
from lark.common import LexerConf
from lark.exceptions import UnexpectedInput
from lark.grammar import Rule
from lark.lexer import BasicLexer, ContextualLexer, PatternRE, PatternStr, TerminalDef
from lark.utils import TextSlice

from .. import grammar
from .diagnostics import Diagnostic, Source, WeftError, fail
from .records import record
from .syntax_errors import BRACKETS, OPERATORS, Failure, Skipped, explain, without

MAX_NESTING = 40
MAX_OPERATORS = 150
MAX_ELSE_IFS = 50
MAX_WORDS = 30_000

_CONTINUES = OPERATORS | {"COMMA", "EQUAL"}
"""A line end after these tokens does not end a statement."""


class LimitError(Exception):
    """The text is nested deeper, or has a longer expression, than the parser supports."""

    def __init__(self, message: str, token: Token) -> None:
        super().__init__(message)
        self.token = token


class OfState(BasicLexer):
    """The terminals that a state of the parser accepts, in the order in which they are tried. Lark
    compiles one pattern of all terminals per state, which takes longer than a parse; here a
    terminal is compiled when the text contains its first letters. Callbacks are not supported."""

    def __init__(self, conf: LexerConf, comparator: object = None) -> None:
        super().__init__(conf, comparator)
        self.callback = {}
        self._ordered: list[tuple[str, TerminalDef]] | None = None

    def match(self, text: TextSlice[str], pos: int) -> tuple[str, str] | None:
        if self._ordered is None:
            self._ordered = [(_spelling(terminal) or "", terminal) for terminal in self.terminals]
        whole = text.text
        for spelling, terminal in self._ordered:
            if whole.startswith(spelling, pos) and (
                found := _compiled(terminal.pattern.to_regexp()).match(whole, pos, text.end)
            ):
                return found.group(), terminal.name
        return None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


class ByTerminal(ContextualLexer):
    """Lark's contextual lexer with compiled terminals that its states share."""

    BasicLexer = OfState

    def __init__(
        self, conf: LexerConf, states: dict[int, Collection[str]], always_accept: Collection[str] = ()
    ) -> None:
        conf.skip_validation = True  # Lark would compile each terminal once more
        super().__init__(conf, states, always_accept)


class Lines:
    """Lark's hook between lexer and parser. It gets one token at a time: the contextual lexer
    cannot look ahead."""

    always_accept = ("_NL",)

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        previous: str | None = None
        open_brackets: list[str] = []
        operators = else_ifs = 0
        for number, token in enumerate(stream):
            kind = token.type
            if number >= MAX_WORDS:
                raise LimitError(f"more than {MAX_WORDS:,} words and signs in one file", token)
            if kind == "_NL":
                operators = else_ifs = 0
                if previous is None or previous in _CONTINUES or (open_brackets and open_brackets[-1] != "LBRACE"):
                    continue
                if previous == "LBRACE":
                    continue
            elif kind in BRACKETS:
                open_brackets.append(kind)
                if len(open_brackets) > MAX_NESTING:
                    raise LimitError(f"brackets nest deeper than {MAX_NESTING}", token)
            elif kind in BRACKETS.values():
                if open_brackets:
                    open_brackets.pop()
            elif kind in OPERATORS:
                operators += 1
                if operators > MAX_OPERATORS:
                    raise LimitError(f"more than {MAX_OPERATORS} operators in one statement", token)
            elif kind == "ELSE":
                else_ifs += 1
                if else_ifs > MAX_ELSE_IFS:
                    raise LimitError(f"more than {MAX_ELSE_IFS} `else` in one `if`", token)
            previous = kind
            yield token


_SKIP = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|\b(?:if|in)[ \t]+transform\b|(?<![\w.-])transform[ \t\r\n]*(\{)')
BRACES = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|[{}]')
_NOT_NEWLINE = re.compile(r"[^\n]")


def blank_raw_texts(text: str) -> tuple[str, int | None]:
    """The text with the contents of every `transform { … }` blanked, so that a regular terminal
    matches them; positions stay the same. The second value is the offset of a `{` that is never
    closed."""
    if "transform" not in text:
        return text, None
    pieces: list[str] = []
    done = 0
    while found := _SKIP.search(text, done):
        pieces.append(text[done : found.end()])
        done = found.end()
        if found.group(1) is None:
            continue
        end = raw_end(text, found.start(1))
        if end is None:
            return text, found.start(1)
        pieces.append(_NOT_NEWLINE.sub(" ", text[done : end - 1]))
        done = end - 1
    pieces.append(text[done:])
    return "".join(pieces), None


def raw_end(text: str, opening: int) -> int | None:
    """The offset after the `}` that closes the `{` at `opening`; braces in MLIR's comments and
    strings do not count."""
    depth = 0
    for found in BRACES.finditer(text, opening):
        if found.group() == "{":
            depth += 1
        elif found.group() == "}":
            depth -= 1
            if depth == 0:
                return found.end()
    return None


Start = Literal["file", "body"]


@record
class Language:
    """The loaded grammar.

    Args:
        parser: Lark's parser.
        spellings: terminal name → its text, for terminals with a fixed text.
        statements: the keywords that begin a statement.
    """

    parser: Lark
    spellings: dict[str, str]
    statements: frozenset[str]


@cache
def language() -> Language:
    """The grammar's parser, with the texts of its tokens and the statements' keywords; built once."""
    parser = load()
    spellings = {terminal.name: text for terminal in parser.terminals if (text := _spelling(terminal))}
    first = {rule.expansion[0].name for rule in parser.rules if rule.origin.name == "statement"}
    return Language(parser, spellings, frozenset(spellings[name] for name in first))


def load() -> Lark:
    """Lark's parser of the grammar."""
    if (found := _shipped()) is not None:
        return found
    place = "" if sys.dont_write_bytecode else tables()
    if place:
        with contextlib.suppress(OSError):
            os.makedirs(os.path.dirname(place), exist_ok=True)
    return _made(place or False)


def _made(cache: str | bool) -> Lark:
    return Lark.open(
        _beside(GRAMMAR),
        parser="lalr",
        start=["file", "body"],
        propagate_positions=True,
        maybe_placeholders=False,
        postlex=Lines(),
        _plugins={"ContextualLexer": ByTerminal},
        edit_terminals=_end_keyword_at_word_end,  # Lark's comparison of tables does not include it
        cache=cache,
    )


GRAMMAR, TABLES = "weft.lark", "weft.lark.tables"


def ship_tables() -> None:
    """Writes the tables beside the grammar, for a wheel."""
    data = _made(False).memo_serialize([TerminalDef, Rule])
    with open(_beside(TABLES), "wb") as file:
        file.write(_key() + pickle.dumps(data, protocol=4))


def _shipped() -> Lark | None:
    """The parser from the tables of a wheel; None if there are none, or they do not fit this
    grammar and Lark."""
    try:
        with open(_beside(TABLES), "rb") as file:
            kept = file.read()
        key = _key()
        if not kept.startswith(key):
            return None
        data, memo = pickle.loads(kept[len(key) :])
        return Lark._load_from_dict(
            data, memo, postlex=Lines(), propagate_positions=True, _plugins={"ContextualLexer": ByTerminal}
        )
    except (OSError, pickle.PickleError, EOFError):
        return None


def _key() -> bytes:
    """A key of the grammar and the Lark version."""
    with open(_beside(GRAMMAR), "rb") as file:
        return hashlib.sha256(file.read() + lark.__version__.encode()).digest()


def _beside(name: str) -> str:
    return os.path.join(grammar.__path__[0], name)


def tables() -> str:
    """The file of the parse tables; empty if Python writes no compiled files."""
    try:
        compiled = importlib.util.cache_from_source(grammar.__file__ or "")
    except NotImplementedError:
        return ""
    return os.path.join(os.path.dirname(compiled), TABLES)


_WORD_END = r"(?!\w|-[A-Za-z])"


def _end_keyword_at_word_end(terminal: TerminalDef) -> TerminalDef:
    """Keeps a keyword from matching the beginning of a longer word (`block` in `blocky`).

    A keyword has precedence over a name in every state that accepts both.
    """
    if isinstance(terminal.pattern, PatternStr):
        text = terminal.pattern.value
        if re.search(r"\w$", text):
            terminal.pattern = PatternRE(re.escape(text) + _WORD_END, raw=text)
        terminal.priority = int(re.match(r"\w", text) is not None)
    return terminal


def _spelling(terminal: TerminalDef) -> str | None:
    """The text of a terminal with a fixed text."""
    pattern = terminal.pattern
    if isinstance(pattern, PatternStr):
        return pattern.value
    return pattern.raw if pattern.value.endswith(_WORD_END) else None


MOST_ERRORS = 20
MOST_CHARACTERS = 1_000_000
"""The maximal number of characters that are parsed, including the repeated parses after errors."""


@record
class ParsedText:
    """The result of a parse.

    Args:
        tree: the tree of the text without its wrong parts; None if the parse had to stop.
        tokens: the tokens without comments and without line ends that separate nothing.
        errors: the W01xx, in the order of detection.
    """

    tree: Tree | None
    tokens: tuple[Token, ...]
    errors: tuple[Diagnostic, ...]


def in_order(errors: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Errors of one text by their places in it."""
    return sorted(errors, key=lambda error: (error.span.line, error.span.column) if error.span else (0, 0))


def reading(source: Source, start: Start) -> ParsedText:
    """Parses `source`, and again without the part that was wrong, for at most 20 errors.

    Errors within skipped text are not reported: they may follow from the error before.
    """
    text, unclosed = blank_raw_texts(source.text)
    errors: list[Diagnostic] = []
    if unclosed is not None:  # where the raw text ends is not known
        errors = [Diagnostic("W0105", "this `{` is never closed", source.span(unclosed), hint="close it with `}`")]
        text = text[: text.rfind("\n", 0, unclosed) + 1]
    statements, parsed = language().statements, 0
    here = Skipped(text, 0)
    while True:
        try:
            found = _parsed(source, here.text, start)
        except WeftError as limit:
            return ParsedText(None, (), (*errors, *limit.diagnostics))
        if not isinstance(found, Failure):
            return ParsedText(None if unclosed is not None else found[0], found[1], tuple(errors))
        if found.position < here.end or (unclosed is not None and found.found == "$END"):
            return ParsedText(None, found.tokens, tuple(errors))
        error = explain(found, statements)
        if not _follows(error, errors, here):
            errors.insert(len(errors) - (unclosed is not None), error)
        parsed += len(here.text)
        following = without(found, here.text, statements, start == "file")
        most = len(errors) == MOST_ERRORS or parsed > MOST_CHARACTERS
        if following is None or following.end <= here.end or most:
            return ParsedText(None, found.tokens, tuple(errors))
        here = replace(following, whole=following.whole and here.whole)


def _follows(error: Diagnostic, before: list[Diagnostic], here: Skipped) -> bool:
    """Whether an error probably follows from another: it is on the same line, or about braces after
    a brace was skipped."""
    lines = {other.span.line for other in before if other.span is not None}
    if error.span is None or not before:
        return False
    of_braces = error.code == "W0105" or error.message.endswith("closes nothing")
    outside = error.message.startswith("expected `include`") or error.message.endswith("found `else`")
    text = here.text.rfind("\nschedule", 0, error.span.source.offset(error.span.line, error.span.column))
    same = any(error.span.source.offset(line, 1) >= text for line in lines)
    return error.span.line in lines or (of_braces and not here.whole) or (outside and same)


def _parsed(source: Source, text: str, start: Start) -> tuple[Tree, tuple[Token, ...]] | Failure:
    """The tree and the tokens of a text, or the place where its parse stopped. Raises W0107."""
    lang = language()
    tokens: list[Token] = []
    run = lang.parser.parse_interactive(text, start)
    try:
        for token in run.iter_parse():
            tokens.append(token)
        return cast(Tree, run.feed_eof(tokens[-1] if tokens else None)), tuple(tokens)
    except LimitError as error:
        at = error.token
        hint = "split it: several statements, or several schedules, `schedule part(…)` for a part"
        raise fail("W0107", str(error), span=source.span(at.start_pos or 0, len(at)), hint=hint) from None
    except UnexpectedInput as error:
        if tokens and getattr(error, "token", None) is tokens[-1]:
            tokens.pop()  # the lexer returned it, the parser did not accept it
        return Failure(source, error, tuple(tokens), frozenset(run.accepts()), lang.spellings)


def accepted(text: str, start: Start) -> frozenset[str]:
    """The terminals that the parser accepts after a text; none if the text itself is wrong."""
    run = language().parser.parse_interactive(text, start)
    try:
        for _ in run.iter_parse():
            pass
    except (UnexpectedInput, LimitError):
        return frozenset()
    return frozenset(run.accepts())
