"""Listeners for the start of each statement. They let a parent process report the statement during
which compiled code ended the process."""

from __future__ import annotations

from collections.abc import Callable

_listeners: list[Callable[[str], None]] = []


def notify_of_statements(listener: Callable[[str], None]) -> None:
    """Registers `listener` as the only listener: it is invoked with the text of each statement that
    begins, and with an empty text when the statement ends."""
    _listeners[:] = [listener]


def notify(text: str) -> None:
    """Calls the listeners."""
    for listener in _listeners:
        listener(text)
