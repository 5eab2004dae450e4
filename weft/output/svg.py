"""Text for a terminal as a picture."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

from rich.console import Console, RenderableType
from rich.terminal_theme import DEFAULT_TERMINAL_THEME

SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 {terminal_width} {terminal_height}" \
width="{terminal_width}">
<style>.{unique_id}-matrix{{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:{char_height}px;line-height:{line_height}px}}
{styles}</style>
<defs>{lines}</defs>
<rect width="{terminal_width}" height="{terminal_height}" fill="#fff"/>
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</svg>
"""


def drawing_of(parts: Iterable[RenderableType], width: int) -> str:
    """The parts below one another as a standalone SVG, which is `width` characters wide."""
    how: dict[str, Any] = {"force_terminal": True, "color_system": "truecolor", "no_color": False, "highlight": False}
    console = Console(record=True, file=io.StringIO(), width=width, **how)
    for part in parts:
        console.print(part)
    return console.export_svg(theme=DEFAULT_TERMINAL_THEME, code_format=SVG)
