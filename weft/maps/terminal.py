"""Ownership in a terminal: a grid of numbers, coloured by warp, folded at the terminal's width."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from rich.console import Console
from rich.style import Style
from rich.text import Text

from .cells import Cells, cells, colour, group_of, repeats, summary
from .ownership import NOBODY, Ownership

MOST_ROWS = 64
"""Rows of cells that a terminal shows; the picture has all."""
LISTED = 16


def show(console: Console, shown: Ownership, *, banks: bool = False, thread: int | None = None) -> None:
    """Print one map: what it is, who owns what, and the banks of what it fills."""
    table = cells(shown.owners)
    spelled = " within ".join(reversed(shown.map))
    console.print(Text.assemble((shown.name, "bold"), "  ", (spelled, "cyan"), f"  on {shown.what}"))
    console.print(Text(f"  {summary(shown, table)}"))
    down, across = (", ".join(shown.dims[:-1]) or "–", shown.dims[-1]) if shown.dims else ("–", "–")
    console.print(Text(f"  down {down}, across {across}", "dim"))
    for line in _grid(table, console.width, lambda number: _owner_style(number, shown.space, thread)):
        console.print(line)
    if note := repeats(table):
        console.print(Text(f"  … {note}", "dim"))
    console.print(_legend(shown, console.width))
    if thread is not None:
        console.print(Text(f"  {_owned(shown, thread)}"))
    if banks:
        _show_banks(console, shown)
    console.print()


def _show_banks(console: Console, shown: Ownership) -> None:
    if shown.banks is None:
        return
    table = cells(shown.banks, merge=False)
    console.print(Text("  banks of shared memory, where each element begins"))
    for line in _grid(table, console.width, lambda number: Style(color="black", bgcolor=colour(number // 4))):
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
    if number == NOBODY:
        return Style(dim=True)
    if thread is not None and number != thread:
        return Style(dim=True)
    return Style(color="black", bgcolor=colour(group_of(number, space)), bold=thread is not None)


def _legend(shown: Ownership, width: int) -> Text:
    """Which colour is which warp."""
    owners = np.unique(shown.owners[shown.owners != NOBODY])
    groups = sorted({group_of(int(owner), shown.space) for owner in owners})
    word = {"blocks": "block", "warps": "warp"}.get(shown.space, "warp")
    line = Text("  ")
    fit = max((width - 16) // (len(word) + len(str(groups[-1])) + 4), 1) if groups else 0
    for group in groups[:fit]:
        line.append(f" {word} {group} ", Style(color="black", bgcolor=colour(group)))
        line.append(" ")
    if len(groups) > fit:
        line.append(f"… {word} {groups[-1]}", "dim")
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
