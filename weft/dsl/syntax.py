"""Text → Lark's tree and its tokens: the grammar, loaded once, and the drive through it.

Before the parser, raw text is blanked and idle line ends go; limits keep walks over the tree inside Python's recursion.

Making the parse tables takes longer than a parse. A wheel brings them along, for the Lark that it was built with; else
Lark keeps them beside the compiled Python files, and makes them anew where they are damaged, or of other versions.
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
from .recovery import Skipped, without
from .syntax_errors import BRACKETS, OPERATORS, Failure, explain

MAX_NESTING = 40
MAX_OPERATORS = 150
MAX_ELSE_IFS = 50
MAX_WORDS = 30_000

_CONTINUES = OPERATORS | {"COMMA", "EQUAL"}
"""After these a line end can't end a statement."""


class LimitError(Exception):
    """The text nests deeper, or holds a longer expression, than any schedule a person writes."""

    def __init__(self, message: str, token: Token) -> None:
        super().__init__(message)
        self.token = token


class OfState(BasicLexer):
    """The terminals that a state of the parser accepts, the first that matches. Lark makes one pattern of all of them,
    for each state, slower than a parse; here a terminal is compiled where a text has its first letters. No callbacks.
    """

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
    """Lark's contextual lexer, whose states share what is compiled."""

    BasicLexer = OfState

    def __init__(
        self, conf: LexerConf, states: dict[int, Collection[str]], always_accept: Collection[str] = ()
    ) -> None:
        conf.skip_validation = True  # each terminal is compiled once more
        super().__init__(conf, states, always_accept)


class Lines:
    """Lark's hook between lexer and parser. It sees one token at a time: the contextual lexer can't look ahead."""

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
    """Blank what stands between the braces of every `transform { … }`, so that a regular terminal can match it.

    Positions stay as they are. The second value is where a `{` stands that is never closed.
    """
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
    """The position after the `}` that closes the `{` at `opening`; MLIR's comments and strings don't count."""
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
        parser: Lark's.
        spellings: terminal name → its text, for terminals that have one.
        statements: the keywords that begin a statement.
    """

    parser: Lark
    spellings: dict[str, str]
    statements: frozenset[str]


@cache
def language() -> Language:
    """The grammar's parser, and what its tokens and statements are called; built once."""
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
        edit_terminals=_end_keyword_at_word_end,  # not among what Lark compares the tables by
        cache=cache,
    )


GRAMMAR, TABLES = "weft.lark", "weft.lark.tables"


def ship_tables() -> None:
    """Write the tables beside the grammar: for a wheel."""
    data = _made(False).memo_serialize([TerminalDef, Rule])
    with open(_beside(TABLES), "wb") as file:
        file.write(_key() + pickle.dumps(data, protocol=4))


def _shipped() -> Lark | None:
    """The parser of the tables that a wheel brought; None where there are none, or others are needed."""
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
    """Of what grammar and Lark the tables are."""
    with open(_beside(GRAMMAR), "rb") as file:
        return hashlib.sha256(file.read() + lark.__version__.encode()).digest()


def _beside(name: str) -> str:
    return os.path.join(grammar.__path__[0], name)


def tables() -> str:
    """Where the parse tables are kept; empty where Python keeps no compiled files."""
    try:
        compiled = importlib.util.cache_from_source(grammar.__file__ or "")
    except NotImplementedError:
        return ""
    return os.path.join(os.path.dirname(compiled), TABLES)


_WORD_END = r"(?!\w|-[A-Za-z])"


def _end_keyword_at_word_end(terminal: TerminalDef) -> TerminalDef:
    """Keep a keyword from matching the beginning of a longer word (`block` in `blocky`).

    A keyword then goes before a name wherever the grammar accepts both.
    """
    if isinstance(terminal.pattern, PatternStr):
        text = terminal.pattern.value
        if re.search(r"\w$", text):
            terminal.pattern = PatternRE(re.escape(text) + _WORD_END, raw=text)
        terminal.priority = int(re.match(r"\w", text) is not None)
    return terminal


def _spelling(terminal: TerminalDef) -> str | None:
    """The text of a terminal that has but one."""
    pattern = terminal.pattern
    if isinstance(pattern, PatternStr):
        return pattern.value
    return pattern.raw if pattern.value.endswith(_WORD_END) else None


MOST_ERRORS = 20
MOST_CHARACTERS = 1_000_000
"""How many characters are parsed, over all that is parsed again behind an error."""


@record
class ParsedText:
    """What a parse found.

    Args:
        tree: of the text without what is wrong; None where the parse had to stop.
        tokens: line ends that separate nothing and comments are not among them.
        errors: W01xx, as they were found.
    """

    tree: Tree | None
    tokens: tuple[Token, ...]
    errors: tuple[Diagnostic, ...]


def in_order(errors: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Errors of one text by their places in it."""
    return sorted(errors, key=lambda error: (error.span.line, error.span.column) if error.span else (0, 0))


def reading(source: Source, start: Start) -> ParsedText:
    """Parse `source`, and parse it again without what was wrong, for at most 20 errors.

    What is wrong within what was skipped is not reported: it may follow from the first error there.
    """
    text, unclosed = blank_raw_texts(source.text)
    errors: list[Diagnostic] = []
    if unclosed is not None:  # what comes after it cannot be told apart from it
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
    """Whether an error may be one only because of another: on its line, or of braces after some were skipped."""
    lines = {other.span.line for other in before if other.span is not None}
    if error.span is None or not before:
        return False
    of_braces = error.code == "W0105" or error.message.endswith("closes nothing")
    outside = error.message.startswith("expected `include`") or error.message.endswith("found `else`")
    text = here.text.rfind("\nschedule", 0, error.span.source.offset(error.span.line, error.span.column))
    same = any(error.span.source.offset(line, 1) >= text for line in lines)
    return error.span.line in lines or (of_braces and not here.whole) or (outside and same)


def _parsed(source: Source, text: str, start: Start) -> tuple[Tree, tuple[Token, ...]] | Failure:
    """The tree and the tokens of a text, or where its parse stopped. Raises W0107."""
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
            tokens.pop()  # yielded, but not eaten
        return Failure(source, error, tuple(tokens), frozenset(run.accepts()), lang.spellings)


def accepted(text: str, start: Start) -> frozenset[str]:
    """The terminals that may stand behind a text; none where the text itself cannot be."""
    run = language().parser.parse_interactive(text, start)
    try:
        for _ in run.iter_parse():
            pass
    except (UnexpectedInput, LimitError):
        return frozenset()
    return frozenset(run.accepts())
