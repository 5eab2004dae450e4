"""Ownership in a terminal: a grid of numbers, coloured by warp, folded at the terminal's width."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from rich.console import Console
from rich.style import Style
from rich.text import Text

from .cells import Cells, cells, colour, group_of, groups, repeats, spelled, summary
from .ownership import NOBODY, Ownership

MOST_ROWS = 64
"""Rows of cells that a terminal shows; the picture has all."""
LISTED = 16


def show(console: Console, shown: Ownership, *, banks: bool = False, thread: int | None = None) -> None:
    """Print one map: what it is, who owns what, and the banks of what it fills."""
    table = cells(shown.owners)
    console.print(Text.assemble((shown.name, "bold"), "  ", (spelled(shown), "cyan"), f"  on {shown.what}"))
    console.print(Text(f"  {summary(shown, table)}"))
    down, across = (", ".join(shown.dims[:-1]) or "–", shown.dims[-1]) if shown.dims else ("–", "–")
    console.print(Text(f"  down {down}, across {across}", "dim"))
    _show_grid(console, table, lambda number: _owner_style(number, shown.space, thread))
    console.print(_legend(shown, console.width))
    if thread is not None:
        console.print(Text(f"  {_owned(shown, thread)}"))
    if banks and shown.banks is not None:
        console.print(Text("  banks of shared memory, where each element begins"))
        _show_grid(console, cells(shown.banks, merge=False), lambda number: Style(color="black", bgcolor=colour(number // 4)))
    console.print()


def _show_grid(console: Console, table: Cells, style: Callable[[int], Style]) -> None:
    for line in _grid(table, console.width, style):
        console.print(line)
    if note := repeats(table):
        console.print(Text(f"  … {note}", "dim"))


def _grid(table: Cells, width: int, style: Callable[[int], Style]) -> Iterator[Text]:
    """The ruler and the rows, in as many bands as the width asks for."""
    rows, columns = table.numbers.shape
    shown = min(rows, MOST_ROWS)
    margin = max(len(table.row_label(row)) for row in range(shown)) + 3
    digits = max(len(str(int(table.numbers.max()))), len(table.column_label(columns - 1)), 1) + 1
    band = max((width - margin - 1) // digits, 1)
    if columns > band >= 8:
        band -= band % 8
    for first in range(0, columns, band):
        here = range(first, min(first + band, columns))
        yield Text(" " * margin + "".join(f"{table.column_label(column):>{digits}}" for column in here), "dim")
        for row in range(shown):
            line = Text(f"{table.row_label(row):>{margin - 1}} ", "dim")
            for column in here:
                number = int(table.numbers[row, column])
                text = "·" if number == NOBODY else str(number)
                line.append(f"{text:>{digits}}", style(number))
            yield line
        if shown < rows:
            yield Text(f"  … {rows - shown} more rows (`-o FILE.svg` has all)", "dim")


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
