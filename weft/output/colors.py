"""Colors that are readable on dark and light backgrounds: the terminal's eight colors, bold and
dim."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from rich.style import Style
from rich.syntax import ANSISyntaxTheme, Syntax
from rich.text import Text

STYLES = {
    "Comment": "dim",
    "Keyword": "magenta",
    "Keyword.Pseudo": "blue",
    "Keyword.Type": "blue",
    "Name.Builtin": "bold blue",
    "Name.Entity": "cyan",
    "Name.Class": "bold",
    "Name.Function": "cyan",
    "Name.Decorator": "cyan",
    "Literal.Number": "cyan",
    "Literal.String": "green",
    "Operator.Word": "magenta",
}
"""Token type of Pygments → style of rich. A type without an entry takes the style of its nearest
ancestor."""

_IR = re.compile(
    r"(?P<comment>//.*)|(?P<string>\"[^\"]*\")|(?P<value>%[\w$.#-]+)|(?P<mark>weft\.\w+)"
    r"|(?P<symbol>@[\w$.:@]+)|(?P<op>(?<![\w.])[a-z_]+\.[a-z_.0-9]+(?=[\s(\[\"{]|$))"
)
_IR_STYLES = {"comment": "dim", "string": "green", "value": "", "mark": "magenta", "symbol": "cyan", "op": "bold blue"}


def statement(text: str) -> Text:
    """A statement or a schedule with colors."""
    out = _syntax().highlight(text)
    out.rstrip()
    return out


def ir(text: str, style: str = "") -> Text:
    """MLIR with colors, on top of `style`."""
    out = Text(text, style)
    for found in _IR.finditer(text):
        if found.lastgroup:
            out.stylize(_IR_STYLES[found.lastgroup], *found.span())
    return out


def cuda(text: str, *, numbered: bool = False) -> Syntax:
    """A kernel's CUDA text with colors."""
    return Syntax(
        text.rstrip(), "cuda", theme="ansi_dark", background_color="default", word_wrap=True, line_numbers=numbered
    )


def wrapped(text: Text, width: int, indent: int) -> Iterator[Text]:
    """`text` in rows of at most `width` columns, broken between words; all but the first are
    indented by `indent`."""
    rest, first = text, True
    while True:
        room = max(width if first else width - indent, 20)
        if rest.cell_len <= room:
            yield rest if first else Text(" " * indent) + rest
            return
        plain = rest.plain[:room]
        space = plain.rfind(" ", len(plain) - len(plain.lstrip()) + 8)
        cut = space + 1 if space > room // 3 else room
        head, rest = rest[:cut], rest[cut:]
        head.rstrip()
        yield head if first else Text(" " * indent) + head
        first = False


@cache
def _syntax() -> Syntax:
    from pygments.token import string_to_tokentype

    from ..dsl.highlighter import WeftLexer

    theme = ANSISyntaxTheme({string_to_tokentype(kind): Style.parse(style) for kind, style in STYLES.items()})
    return Syntax("", WeftLexer(stripnl=False), theme=theme, background_color="default", word_wrap=True)
