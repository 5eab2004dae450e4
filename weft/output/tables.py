"""Tables for a terminal, without lines."""

from __future__ import annotations

from rich.table import Column, Table


def columns(*names: str) -> Table:
    """A table with these heads. A head that begins with `>` makes a column of numbers, aligned
    right."""
    heads = (Column(n.lstrip(">"), overflow="fold", justify="right" if n.startswith(">") else "left") for n in names)
    return Table(*heads, box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)


def listing(style: str = "") -> Table:
    """A table without heads: words in this style, and a text for each."""
    return Table.grid(Column(no_wrap=True, style=style), Column(overflow="fold"), padding=(0, 2, 0, 0))
