"""Ownership as a grid of numbers, coloured by warp: in a terminal, folded at its width; and as a picture, whole."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import DEFAULT_TERMINAL_THEME
from rich.text import Text

from .cells import Cells, cells, colour, group_of, groups, repeats, spelled, summary
from .ownership import NOBODY, Ownership

MOST_ROWS = 64
"""Rows of cells that a terminal shows; the picture has all."""
LISTED = 16
LEGEND = 100
"""Columns of the picture's legend."""

SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {terminal_width} {terminal_height}" width="{terminal_width}">
<style>.{unique_id}-matrix{{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:{char_height}px;line-height:{line_height}px}}
{styles}</style>
<defs>{lines}</defs>
<rect width="{terminal_width}" height="{terminal_height}" fill="#fff"/>
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</svg>
"""


def picture(maps: Sequence[Ownership], *, banks: bool = False, thread: int | None = None) -> str:
    """The maps below one another, as an SVG that stands by itself."""
    lines = [line for shown in maps for line in drawn(shown, None, banks=banks, thread=thread)]
    console = Console(
        record=True, file=io.StringIO(), width=max(line.cell_len for line in lines) + 2, force_terminal=True,
        color_system="truecolor", no_color=False, highlight=False,
    )  # fmt: skip
    for line in lines:
        console.print(line)
    return console.export_svg(theme=DEFAULT_TERMINAL_THEME, code_format=SVG)


def drawn(shown: Ownership, width: int | None, *, banks: bool = False, thread: int | None = None) -> Iterator[Text]:
    """The lines of one map: what it is, who owns what, and the banks of what it fills; `thread`: the others pale. Without a
    width, as wide and as long as it is."""
    table = cells(shown.owners)
    yield Text.assemble((shown.name, "bold"), "  ", (spelled(shown), "cyan"), f"  on {shown.what}")
    yield Text(f"  {summary(shown, table)}")
    down, across = (", ".join(shown.dims[:-1]) or "–", shown.dims[-1]) if shown.dims else ("–", "–")
    yield Text(f"  down {down}, across {across}", "dim")
    yield from _grid(table, width, lambda number: _owner_style(number, shown.space, thread))
    yield _legend(shown, width or LEGEND)
    if thread is not None:
        yield Text(f"  {_owned(shown, thread)}")
    if banks and shown.banks is not None:
        yield Text("  banks of shared memory, where each element begins")
        yield from _grid(cells(shown.banks, merge=False), width, lambda number: Style(color="black", bgcolor=colour(number // 4)))
    yield Text()


def _grid(table: Cells, width: int | None, style: Callable[[int], Style]) -> Iterator[Text]:
    """The ruler and the rows, in as many bands as the width asks for."""
    rows, columns = table.numbers.shape
    shown = rows if width is None else min(rows, MOST_ROWS)
    margin = max(len(table.row_label(row)) for row in range(shown)) + 3
    digits = max(len(str(int(table.numbers.max()))), len(table.column_label(columns - 1)), 1) + 1
    band = columns if width is None else max((width - margin - 1) // digits, 1)
    if columns > band >= 8:
        band -= band % 8
    for first in range(0, columns, band):
        here = range(first, min(first + band, columns))
        yield Text(" " * margin + "".join(f"{table.column_label(column):>{digits}}" for column in here), "dim")
        for row in range(shown):
            line = Text.assemble((f"{table.row_label(row):>{margin - 1}} ", "dim"))
            for column in here:
                number = int(table.numbers[row, column])
                text = "·" if number == NOBODY else str(number)
                line.append(f"{text:>{digits}}", style(number))
            yield line
        if shown < rows:
            yield Text(f"  … {rows - shown} more rows (`-o FILE.svg` has all)", "dim")
    if note := repeats(table):
        yield Text(f"  … {note}", "dim")
def _owner_style(number: int, space: str, thread: int | None) -> Style:
    if number == NOBODY or (thread is not None and number != thread):
        return Style(dim=True)
    return Style(color="black", bgcolor=colour(group_of(number, space)), bold=thread is not None)


def _legend(shown: Ownership, width: int) -> Text:
    """Which colour is which warp."""
    there, word = groups(shown)
    line = Text("  ")
    fit = max((width - 16) // (len(word) + len(str(there[-1])) + 4), 1) if there else 0
    for group in there[:fit]:
        line.append(f" {word} {group} ", Style(color="black", bgcolor=colour(group)))
        line.append(" ")
    if len(there) > fit:
        line.append(f"… {word} {there[-1]}", "dim")
    return line


def _owned(shown: Ownership, thread: int) -> str:
    """What one processor owns, by its indices."""
    places = [tuple(int(i) for i in place) for place in np.argwhere(shown.owners == thread)]
    word = {"blocks": "block", "warps": "warp"}.get(shown.space, "thread")
    if not places:
        return f"{word} {thread} owns nothing"
    listed = " ".join(f"[{', '.join(map(str, place))}]" for place in places[:LISTED])
    more = f" and {len(places) - LISTED} more" if len(places) > LISTED else ""
    return f"{word} {thread} owns {len(places)}: {listed}{more}"
