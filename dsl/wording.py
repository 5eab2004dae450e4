"""Small parts of messages."""

from __future__ import annotations

from collections.abc import Iterable


def alternatives(words: Iterable[str]) -> str:
    """`a`, `b` or `c`."""
    *most, last = list(words) or ["nothing more"]
    return f"{', '.join(most)} or {last}" if most else last


def quoted(words: Iterable[str]) -> str:
    """`a`, `b`, `c`, each in backquotes."""
    return ", ".join(f"`{word}`" for word in words)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A hint, where one of the known words is close."""
    import difflib

    close = difflib.get_close_matches(word[:100], sorted(known), 1, 0.6)
    return f"did you mean `{close[0]}`?" if close else None


def count(number: int, noun: str) -> str:
    """`1 name`, `2 names`, `3 launches`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}{'es' if noun.endswith('ch') else 's'}"
