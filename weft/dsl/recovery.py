"""Recovery from a syntax error: computes the text without the wrong statement, which is parsed for
the next error.

Skipped text is replaced by blanks, so that positions stay the same. A statement ends with its line,
or where its brackets close. A wrong header of a block is replaced by a valid one, so that the block
is parsed. Outside of schedules, the skipped text ends before the next line that begins a
declaration.
"""

from __future__ import annotations

import re

from lark import Token

from .records import record
from .syntax_errors import Failure, open_brackets
from .tree import ITEMS

_TOP = re.compile(r"^[ \t]*(schedule|payload|include)\b", re.MULTILINE)
_BLOCKS = {"schedule": "schedule a", "if": "if", "foreach": "if"}
"""The words that begin a block of statements, each with the shortest valid header."""
_BOUNDARIES = frozenset({"_NL", "LBRACE", "RBRACE", "ELSE"})
_SIGNS = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|[][(){}]')
_CONTINUED = re.compile(r"(?:[-+*/%,=<>(\[]|\b(?:and|or|not))\s*$")
_NOT_NEWLINE = re.compile(r"[^\n]")


@record
class Skipped:
    """The text to parse after an error.

    Args:
        text: the text with the wrong part blanked.
        end: the offset up to which text was skipped.
        whole: whether braces were only skipped in pairs, so that the others still match as before.
    """

    text: str
    end: int
    whole: bool = True


def without(failure: Failure, text: str, statements: frozenset[str], top: bool) -> Skipped | None:
    """The text to parse next; None if no further error can be found reliably.

    Args:
        text: the text that was parsed.
        statements: every keyword that begins a statement.
        top: whether the text is a file, and not the body of a schedule.
    """
    if failure.found == "$END":
        return None
    in_block = any(token.type == "LBRACE" for token in open_brackets(failure.tokens))
    start = _start(failure.tokens, failure.position)
    line = text.rfind("\n", 0, start) + 1
    begins = _TOP.match(text, line) if top else None
    if in_block and begins and begins.start(1) == line:
        return Skipped(_blanked(text, 0, line), line)  # a `}` is missing before it
    if (top and not in_block and not begins) or text.startswith("else", failure.position):  # its statement is not known
        following = (
            _TOP.search(text, text.find("\n", failure.position)) if top and "\n" in text[failure.position :] else None
        )
        return Skipped(_blanked(text, 0, following.start()), following.start()) if following else None
    if begins and begins[1] == "schedule":
        return _without_header(text, start, text.find("{", start), "schedule a")
    end = _end(text, start, failure.position, statements)
    depth, opening = _balance(text, start, end)
    word = re.match(r"\w*", text[start:])
    header = _BLOCKS.get(word.group() if word else "")
    if depth == 0 and (header is None or "{" in text[start:end]):
        return Skipped(_blanked(text, start, end), end)
    if depth == 0 and header is not None:  # its `{` is missing
        fits = len(header) + 3 < end - start
        return Skipped(_blanked(text, start, end, f"{header} a{{"), end, False) if fits else None
    if depth != 1 or opening is None:
        return None
    if header is not None:
        return _without_header(text, start, opening, header)
    if text[opening + 1 : end].partition("//")[0].strip():
        return Skipped(_blanked(text, start, end), end, False)
    closed = _closed(text, opening)
    return None if closed is None else Skipped(_blanked(text, start, closed), closed, False)


def _without_header(text: str, start: int, opening: int, header: str) -> Skipped | None:
    """The text with the header of a block replaced by a valid one; the `{` at `opening` remains."""
    if opening < start + len(header) + 3 or text[opening - 1] == "\n":
        return None
    name = "" if header.startswith("schedule") else "a"
    blanked = _blanked(text, start, opening - 1, f"{header}({name}")  # a header may take several lines
    return Skipped(f"{blanked[: opening - 1]}){text[opening:]}", opening + 1)


def _start(tokens: tuple[Token, ...], position: int) -> int:
    """The offset of the statement in which the parse stopped."""
    begun = position
    for token in reversed(tokens):
        if token.type in _BOUNDARIES:
            break
        begun = token.start_pos or 0
    return begun


def _end(text: str, start: int, stopped: int, statements: frozenset[str]) -> int:
    """The end of a statement: the end of a line that leaves no `(` or `[` open and is not
    continued, or of the line before the next statement."""
    at, depth = start, 0
    while True:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        found = list(_SIGNS.finditer(text, at, end))
        depth = max(0, depth + sum((s.group() in "([") - (s.group() in ")]") for s in found if len(s.group()) == 1))
        code = text[at:end] if not found or not found[-1].group().startswith("//") else text[at : found[-1].start()]
        begins = re.match(r"[ \t\r]*(?:([\w?*-]+)|(\}))?", text[end + 1 :])
        word = begins.group(1) if begins else None
        next_begins = bool(begins and begins.group(2)) or word in statements or word in ITEMS or word == "schedule"
        done = end >= stopped and not depth and not _CONTINUED.search(code)
        if end == len(text) or done or next_begins:
            return end
        at = end + 1


def _balance(text: str, start: int, end: int) -> tuple[int, int | None]:
    """The number of braces that are opened and not closed, and the offset of the last of them; -1
    if a brace is closed that is not open."""
    opened: list[int] = []
    for sign in _SIGNS.finditer(text, start, end):
        if sign.group() == "{":
            opened.append(sign.start())
        elif sign.group() == "}":
            if not opened:
                return -1, None
            opened.pop()
    return len(opened), opened[-1] if opened else None


def _closed(text: str, opening: int) -> int | None:
    """The offset after the `}` that closes the `{` at `opening`."""
    depth = 0
    for sign in _SIGNS.finditer(text, opening):
        depth += (sign.group() == "{") - (sign.group() == "}")
        if depth == 0:
            return sign.end()
    return None


def _blanked(text: str, start: int, end: int, header: str = "") -> str:
    """The text with a header and blanks from `start` to `end`."""
    return text[:start] + header + _NOT_NEWLINE.sub(" ", text[start + len(header) : end]) + text[end:]
