"""A text with edits, and the map from its places to those of the original."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from ..dsl.diagnostics import Source
from ..dsl.records import record


@record
class Edit:
    """A replacement of the text between two offsets `start` and `end` by `text`."""

    start: int
    end: int
    text: str


class Older:
    """A text with edits, and the map from its places to those of the original."""

    def __init__(self, original: Source, edits: Sequence[Edit]) -> None:
        self._original, self._edits = original, sorted(edits, key=lambda e: e.start)
        parts: list[str] = []
        at = shift = 0
        self._starts: list[int] = []
        """The offset in `text` at which each edit begins."""
        for edit in self._edits:
            parts += [original.text[at : edit.start], edit.text]
            at = edit.end
            self._starts.append(edit.start + shift)
            shift += len(edit.text) - (edit.end - edit.start)
        self.source = Source(original.name, "".join([*parts, original.text[at:]]))

    def place(self, line: int, column: int) -> tuple[int, int]:
        """The 1-based line and column in the original for those in `text`; inside an edit, its
        start."""
        at = self.source.offset(line, column)
        if last := bisect_right(self._starts, at):
            edit, start = self._edits[last - 1], self._starts[last - 1]
            at = edit.start if at < start + len(edit.text) else at - start - len(edit.text) + edit.end
        span = self._original.span(at)
        return span.line, span.column
