"""What happens to the text between reader and parser: raw text is blanked, idle line ends go.

Limits stand here too: they keep every later walk over the tree well inside Python's recursion limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lark import Token

MAX_NESTING = 40
MAX_OPERATORS = 150
MAX_ELSE_IFS = 50
MAX_WORDS = 30_000

OPERATORS = frozenset({"OR", "AND", "NOT", "COMPARE", "PLUS", "MINUS", "STAR", "SLASH", "PERCENT"})
_OPENERS = {"LPAR", "LSQB", "LBRACE"}
_CLOSERS = {"RPAR", "RSQB", "RBRACE"}
_CONTINUES = OPERATORS | {"COMMA", "EQUAL"}
"""After these a line end can't end a statement."""


class LimitError(Exception):
    """The text nests deeper, or holds a longer expression, than any schedule a person writes."""

    def __init__(self, message: str, token: Token) -> None:
        super().__init__(message)
        self.message = message
        self.token = token


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
            elif kind in _OPENERS:
                open_brackets.append(kind)
                if len(open_brackets) > MAX_NESTING:
                    raise LimitError(f"brackets nest deeper than {MAX_NESTING}", token)
            elif kind in _CLOSERS:
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
_RAW = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|[{}]')
_NOT_NEWLINE = re.compile(r"[^\n]")


def blank_raw_texts(text: str) -> tuple[str, int | None]:
    """Replace what stands between the braces of every `transform { … }` by blanks, so that a regular terminal can match it.

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
    for found in _RAW.finditer(text, opening):
        if found.group() == "{":
            depth += 1
        elif found.group() == "}":
            depth -= 1
            if depth == 0:
                return found.end()
    return None
