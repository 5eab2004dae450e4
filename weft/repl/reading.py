"""From keys or a pipe to whole inputs: a command is a line, a statement may take several."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..dsl.diagnostics import WeftError
from ..dsl.parser import parse_items

_CONTINUES = re.compile(r"(?:[,=+*/%<>-]|\b(?:and|or|not))\s*$")
_WORD = re.compile(r"([a-z]+)(?:\s+(.*?))?\s*$", re.DOTALL)
ALIASES = {"exit": "quit", "q": "quit", "s": "step", "n": "next", "h": "help", "u": "undo"}


def command_of(text: str, commands: Iterable[str]) -> tuple[str, str] | None:
    """The command that a line is, and what stands behind it; None where it is a statement."""
    if text.strip() == "?":
        return "help", ""
    found = _WORD.match(text.strip())
    if found is None or "\n" in text.strip():
        return None
    word = found[1] if found[1] in commands else ALIASES.get(found[1], "")
    return (word, (found[2] or "").strip()) if word in commands else None


def incomplete(text: str, commands: Iterable[str]) -> bool:
    """Whether a statement goes on in the next line: a bracket is open, or the line ends with an operator."""
    if not text.strip() or command_of(text, commands) is not None:
        return False
    last = text.rstrip().rpartition("\n")[2]
    if _CONTINUES.search(re.sub(r'("(?:[^"\\]|\\.)*")|//.*', lambda m: m[1] or "", last)):
        return True
    try:
        parse_items(text, "<typed>")
    except WeftError as error:
        return error.diagnostics[0].code == "W0105"
    return False


def pieces(lines: Iterable[str], commands: Iterable[str]) -> Iterator[str]:
    """The inputs in lines that were pasted or piped in, each as soon as it is whole: a command, or whole statements."""
    held = ""
    for line in lines:
        held = f"{held}\n{line.rstrip()}" if held else line.rstrip()
        if not incomplete(held, commands):
            if held.strip():
                yield held
            held = ""
    if held.strip():
        yield held


def state_folder() -> Path:
    """Where the user's programs keep what they remember."""
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path("~/.local/state").expanduser()) / "weft"
