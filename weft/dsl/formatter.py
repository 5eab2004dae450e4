"""Formats a schedule: two spaces per level, one space between words, at most one empty line in
succession.

The formatter works on the grammar's tokens and the comments between them, so that comments keep
their places and new statements need no code here. Line breaks inside brackets and after operators
are kept; long calls and lists of parameters get more of them; blocks that are written in one line
stay in it, if it is short enough; all others follow from the syntax.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from lark import Token

from . import tree
from .diagnostics import schedule_text
from .expressions import FUNCTIONS
from .parser import built
from .records import record
from .syntax import reading
from .syntax_errors import BRACKETS, OPERATORS

_SPACES = frozenset({"BLOCKS", "THREADS", "WARPS", "WARPGROUPS", "GRID", "LANES"})
_CALLED = _SPACES | {"NAME", "WORD", "CALLED", "GROUPED", "PANELS", "NOALIAS", "CLUSTER"}
"""Tokens that form a call with a bracket after them: `blocks(y, x)`, `min(a, b)`."""

_OPERAND_ENDS = frozenset({"NAME", "SIZE", "INT", "FLOAT", "STRING", "RPAR", "RSQB", "TRUE", "FALSE"})


def format_text(text: str, name: str) -> str:
    """The formatted text. Formatting is idempotent.

    Raises:
        WeftError: W01xx for a syntax error, W0006 for a text that is too large.
    """
    source = schedule_text(text.removeprefix("\ufeff"), name)
    found = reading(source, "file")
    short = {place for span in _in_one_line(built(source, found).schedules) for place in span}
    pieces = list(_pieces(source.text, [token for token in found.tokens if token.type != "_NL"], short))
    while True:
        lines = _Lines()
        for piece in pieces:
            lines.add(piece)
        formatted = lines.text()
        if not lines.wide:
            return formatted
        pieces = [replace(piece, short=piece.short and id(piece) not in lines.wide) for piece in pieces]


@record
class _Piece:
    """A token or a comment.

    Args:
        newlines: the number of line ends before it.
        unary: whether it is a unary minus; for a comment, whether the statement continues after it.
        column: the column of a comment in the source: a comment after code keeps it if there is
            room.
        short: whether it is in a block that stays on one line, together with its `else`.
    """

    kind: str
    text: str
    newlines: int
    unary: bool = False
    column: int = 0
    short: bool = False


def _in_one_line(items: tuple[tree.Item, ...]) -> Iterator[range]:
    """The source ranges of items with blocks, and of blocks, that are on one line together with
    their `else`."""
    for item in items:
        blocks: tuple[tuple[tree.Item, ...], ...] = ()
        match item:
            case tree.Schedule(body=body) | tree.Foreach(body=body):
                blocks = (body,)
            case tree.If(then=then, otherwise=otherwise):
                blocks = then, otherwise
            case tree.Versions(blocks=blocks) | tree.Alternatives(blocks=blocks):
                pass
        source, span = item.span.source, item.span
        start = source.offset(span.line, span.column)
        chained = source.text[:start].rstrip().endswith("else")
        if blocks and "\n" not in span.text and not chained and not isinstance(item, tree.Schedule):
            yield range(start, start + len(span.text))
        else:
            for block in blocks:
                yield from _in_one_line(block)


def _pieces(text: str, tokens: list[Token], short: set[int]) -> Iterator[_Piece]:
    """The tokens and comments of a text. `short`: the offsets in blocks that stay on one line."""
    end = 0
    before: str | None = None
    for index, token in enumerate(tokens):
        start = token.start_pos or 0
        comments, newlines = _gap(text, end, start)
        yield from comments
        unary = token.type == "MINUS" and before not in _OPERAND_ENDS
        end, before = token.end_pos or 0, token.type
        following = tokens[index + 1] if index + 1 < len(tokens) else token
        closes = token.type == "COMMA" and following.type in ("RPAR", "RSQB")
        if closes and "\n" not in text[end : following.start_pos]:
            continue  # a trailing comma is kept only at the end of a line
        shown = text[start:end].replace("\r\n", "\n")
        shown = " ".join(shown.split()) if token.type == "LOOPS" else shown
        yield _Piece(token.type, shown, newlines, unary, short=start in short)
    yield from _gap(text, end, len(text))[0]


def _gap(text: str, start: int, end: int) -> tuple[list[_Piece], int]:
    """The comments between two tokens, and the number of line ends after the last of them."""
    comments: list[_Piece] = []
    newlines, place = 0, start
    for number, line in enumerate(text[start:end].split("\n")):
        newlines += number > 0
        if comment := line.strip():
            column = place + line.index(comment) - (text.rfind("\n", 0, place) + 1)
            comments.append(_Piece("COMMENT", comment.replace("\r", " "), newlines, column=column))
            newlines = 0
        place += len(line) + 1
    return comments, newlines


WIDTH = 132
"""The columns of a line without its comment; longer calls and lists of parameters are broken."""


@record
class _Line:
    """A line: its pieces with their columns.

    Args:
        level: its indentation.
        listed: whether it is in the brackets of a call, or of parameters.
    """

    level: int
    pieces: tuple[tuple[_Piece, int], ...]
    text: str
    listed: bool

    @property
    def code(self) -> list[tuple[_Piece, int]]:
        return [(piece, at) for piece, at in self.pieces if piece.kind != "COMMENT"]

    @property
    def wide(self) -> bool:
        """Whether it is too long, without its comment."""
        return any(at + len(piece.text) > WIDTH for piece, at in self.code)

    def broken(self) -> Iterator[str]:
        """The line, or several if it is too long and has brackets of a call, or is in them."""
        code = self.code
        if not self.wide:
            yield self.text
        elif (group := self._group(code)) is not None:
            opening, closing = group
            yield self.text[:opening]
            yield from self._filled(code, opening, closing, self.level + 1)
            yield from replace(self, text="  " * self.level + self.text[closing:], pieces=()).broken()
        elif self.listed:
            yield from self._filled(code, 0, len(self.text), self.level)
        else:
            yield self.text

    def _group(self, code: list[tuple[_Piece, int]]) -> tuple[int, int] | None:
        """The columns of the contents of the first brackets of a call."""
        before: _Piece | None = None
        opening, depth = None, 0
        for piece, at in code:
            if opening is None and piece.kind == "LPAR" and _calls(before):
                opening, depth = at + 1, 1
            elif opening is not None:
                depth += (piece.kind in BRACKETS) - (piece.kind in BRACKETS.values())
                if depth == 0:
                    return (opening, at) if at > opening else None
            before = piece
        return None

    def _filled(self, code: list[tuple[_Piece, int]], start: int, end: int, level: int) -> Iterator[str]:
        """The parts between commas from one column to another, as many in a line as fit."""
        ends, depth = list[int](), 0
        for piece, at in code:
            if start <= at < end:
                depth += (piece.kind in BRACKETS) - (piece.kind in BRACKETS.values())
                if piece.kind == "COMMA" and depth <= 0:
                    ends.append(at + 1)
        line = ""
        for first, last in itertools.pairwise((start, *ends, end)):
            part = self.text[first:last].strip()
            if not part:
                continue
            if line and len(line) + 1 + len(part.partition("//")[0].rstrip()) > WIDTH:
                yield line
                line = ""
            line = f"{line} {part}" if line else "  " * level + part
        yield line


def _calls(piece: _Piece | None) -> bool:
    """Whether brackets after a piece are those of a schedule or a payload: its call, or its
    parameters."""
    return piece is not None and (piece.kind == "WORD" or (piece.kind == "CALLED" and piece.text not in FUNCTIONS))


class _Lines:
    """The formatted text, built piece by piece."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.line = ""
        self.pieces: list[tuple[_Piece, int]] = []
        self.calls: list[bool] = []
        self.listed = False
        self.level = 0
        self.last: _Piece | None = None
        self.brackets: list[str] = []
        self.indent = 0
        self.continued = False
        self.kept = True
        """Whether the current line begins at the beginning of a source line."""
        self.wide: set[int] = set()
        """The pieces of lines that are too long, in blocks that would stay in their lines."""

    def text(self) -> str:
        self._end()
        while self.lines and not self.lines[-1]:
            self.lines.pop()
        return "\n".join(self.lines) + "\n" if self.lines else ""

    def add(self, piece: _Piece) -> None:
        closes = piece.kind in BRACKETS.values()
        if closes and self.brackets:
            self.brackets.pop()
            self.calls.pop()
        if self.last is not None and self._breaks(self.last, piece):
            self._end()
            opened = self.last.kind == "LBRACE"
            if piece.newlines > 1 and not opened and piece.kind != "RBRACE" and not self._inside():
                self.lines.append("")
            self.continued = self._continues(self.last)
        if self.line:
            self.line += self._space(piece)
        else:
            self.level, self.listed = self._level(piece), bool(self.calls) and self.calls[-1]
            self.line = "  " * self.level
            self.kept = piece.newlines > 0 or self.last is None
        self.pieces.append((piece, len(self.line)))
        self.line += piece.text
        if piece.kind in BRACKETS:
            self.brackets.append(piece.kind)
            self.calls.append(piece.kind == "LPAR" and _calls(self.last))
        if piece.kind != "COMMENT" or self.last is None or not self._continues(self.last):
            self.last = piece
        else:  # a comment after an operator: the statement continues
            self.last = _Piece("COMMENT", piece.text, piece.newlines, True)

    def _end(self) -> None:
        if self.line:
            line = _Line(self.level, tuple(self.pieces), self.line.rstrip(), self.listed)
            self.wide |= {id(piece) for piece, _ in line.code if piece.short and line.wide}
            self.lines += line.broken()
        self.line, self.pieces = "", []

    def _inside(self) -> bool:
        """Whether the innermost open bracket is `(` or `[`."""
        return bool(self.brackets) and self.brackets[-1] != "LBRACE"

    def _level(self, piece: _Piece) -> int:
        closes = piece.kind in BRACKETS.values()
        return len(self.brackets) + (2 if self.continued and not self._inside() and not closes else 0)

    def _continues(self, last: _Piece) -> bool:
        """Whether a statement continues after `last`, also across a line end."""
        if last.kind == "COMMENT":
            return last.unary
        return last.kind in OPERATORS or last.kind in ("EQUAL", "COMMA")

    def _breaks(self, last: _Piece, piece: _Piece) -> bool:
        """Whether there is a line end between the two."""
        if last.kind == "COMMENT":
            return True
        if piece.kind == "COMMENT":
            return piece.newlines > 0
        if piece.kind == "ELSE" or (last.kind == "LBRACE" and piece.kind == "RBRACE"):
            return False
        if piece.short and last.short and not piece.newlines:
            return False
        return "RBRACE" in (last.kind, piece.kind) or last.kind == "LBRACE" or piece.newlines > 0

    def _space(self, piece: _Piece) -> str:
        """The blanks between the last piece and this one on a line."""
        last = self.last
        if last is None:
            return ""
        if piece.kind == "COMMENT":
            return " " * max(2, piece.column - len(self.line) if self.kept else 0)
        if last.unary and last.kind == "MINUS":
            return ""
        if last.kind in ("LPAR", "LSQB", "DOT", "HASH") or piece.kind in ("RPAR", "RSQB", "COMMA", "COLON", "DOT"):
            return ""
        if last.kind == "LBRACE" and piece.kind == "RBRACE":
            return ""
        if piece.kind == "LPAR" and (last.kind in _CALLED or last.text == "block-cyclic"):
            return ""
        return " "
