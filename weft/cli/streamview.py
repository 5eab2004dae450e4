"""What `weft run --trace` shows in a terminal: the streams, a row each."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from ..runtime.trace.text import Kind, rows
from ..runtime.trace.timeline import Timeline

_STYLES: dict[Kind, str] = {"launch": "cyan", "memory": "green", "idle": "", "label": "dim", "shared": "yellow"}


def streams(shown: Timeline, width: int) -> RenderableType:
    """Rows of blocks `width` characters wide, and what they come to."""
    if not shown.bars:
        return Text("nothing was launched or copied", "dim")
    lines = [Text.assemble(*((piece.text, _STYLES[piece.kind]) for piece in row), no_wrap=True) for row in rows(shown, width)]
    makespan, serial, overlap = shown.summary()
    return Group(*lines, Text(f"{makespan}; {serial}"), Text(overlap), Text(shown.note, "dim"))
