"""Who is told of each statement that begins: whoever shows last words where compiled code ends the process."""

from __future__ import annotations

from collections.abc import Callable

_listeners: list[Callable[[str], None]] = []


def tell_statements(told: Callable[[str], None]) -> None:
    """Have `told` called with each statement that begins, and with an empty text when it is done: for last words."""
    _listeners[:] = [told]


def tell(text: str) -> None:
    """Tell whoever listens."""
    for told in _listeners:
        told(text)
