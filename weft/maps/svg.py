"""Ownership as a picture: an SVG that stands by itself, one panel a map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from xml.sax.saxutils import escape

import numpy as np

from .cells import Cells, cells, colour, group_of, groups, repeats, spelled, summary
from .ownership import NOBODY, Ownership

CELL_HEIGHT = 20
LEFT, TOP, RIGHT, BOTTOM = 56, 84, 24, 54
LEGEND = 84
STYLE = (
    "text{font-family:ui-sans-serif,Helvetica,Arial,sans-serif;fill:#222}.t{font-size:16px;font-weight:600}"
    ".s{font-size:12px;fill:#555}.n{font-size:11px;text-anchor:middle}.r{font-size:10px;fill:#555;text-anchor:end}"
    ".c{font-size:10px;fill:#555;text-anchor:middle}rect{stroke:#fff;stroke-width:1}.x{opacity:.25}"
)


def picture(maps: Sequence[Ownership], *, banks: bool = False, thread: int | None = None) -> str:
    """The maps below one another; `banks`: each with the banks of what it fills; `thread`: the others pale."""
    panels: list[_Panel] = []
    for shown in maps:
        panels.append(_ownership_panel(shown, thread))
        if banks and shown.banks is not None:
            panels.append(_bank_panel(shown, shown.banks))
    width, height = max(panel.width for panel in panels), sum(panel.height for panel in panels)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        f"<title>{escape(', '.join(shown.name for shown in maps))}</title>",
        f"<style>{STYLE}</style>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    top = 0
    for panel in panels:
        parts += [f'<g transform="translate(0 {top})">', *panel.parts, "</g>"]
        top += panel.height
    return "\n".join([*parts, "</svg>", ""])


class _Panel:
    """One grid with its title, rulers and legend."""

    def __init__(self, title: str, subtitle: str, table: Cells, dims: tuple[str, ...]) -> None:
        self.table = table
        rows, columns = table.numbers.shape
        digits = max(len(str(int(table.numbers.max()))), len(table.column_label(columns - 1)), 2)
        self.cell = 10 + 7 * digits
        self.width = max(LEFT + columns * self.cell + RIGHT, LEFT + RIGHT + 7 * max(len(title) * 9 // 7, len(subtitle)))
        self.height = TOP + rows * CELL_HEIGHT + BOTTOM
        self.parts = [f'<text class="t" x="16" y="24">{escape(title)}</text>']
        self.parts.append(f'<text class="s" x="16" y="42">{escape(subtitle)}</text>')
        self._rulers(dims)

    def _rulers(self, dims: tuple[str, ...]) -> None:
        rows, columns = self.table.numbers.shape
        down = f"↓ {', '.join(dims[:-1])}   " if len(dims) > 1 else ""
        self.parts.append(f'<text class="s" x="16" y="58">{escape(f"{down}→ {dims[-1]}" if dims else "")}</text>')
        for column in range(columns):
            x = LEFT + column * self.cell + self.cell // 2
            self.parts.append(f'<text class="c" x="{x}" y="{TOP - 5}">{self.table.column_label(column)}</text>')
        for row in range(rows):
            y = TOP + row * CELL_HEIGHT + 14
            self.parts.append(f'<text class="r" x="{LEFT - 6}" y="{y}">{self.table.row_label(row)}</text>')

    def fill(self, colour_of: Callable[[int], str], pale: Callable[[int], bool]) -> None:
        rows, columns = self.table.numbers.shape
        for row in range(rows):
            for column in range(columns):
                number = int(self.table.numbers[row, column])
                x, y = LEFT + column * self.cell, TOP + row * CELL_HEIGHT
                fill, text = ("#f4f4f4", "·") if number == NOBODY else (colour_of(number), str(number))
                cell = (
                    f'<rect x="{x}" y="{y}" width="{self.cell}" height="{CELL_HEIGHT}" fill="{fill}"/>'
                    f'<text class="n" x="{x + self.cell // 2}" y="{y + 14}">{text}</text>'
                )
                self.parts.append(f'<g class="x">{cell}</g>' if pale(number) else cell)

    def legend(self, entries: Sequence[tuple[str, str]], note: str) -> None:
        y = TOP + self.table.numbers.shape[0] * CELL_HEIGHT + 12
        for number, (fill, word) in enumerate(entries):
            x = LEFT + number * LEGEND
            self.parts.append(f'<rect x="{x}" y="{y}" width="14" height="14" fill="{fill}"/>')
            self.parts.append(f'<text class="s" x="{x + 19}" y="{y + 11}">{escape(word)}</text>')
        self.width = max(self.width, LEFT + len(entries) * LEGEND)
        if note:
            self.parts.append(f'<text class="s" x="{LEFT}" y="{y + 32}">… {escape(note)}</text>')


def _ownership_panel(shown: Ownership, thread: int | None) -> _Panel:
    table = cells(shown.owners)
    panel = _Panel(f"{shown.name}: {spelled(shown)}", summary(shown, table), table, shown.dims)
    panel.fill(
        lambda number: colour(group_of(number, shown.space)), lambda number: thread is not None and number != thread
    )
    there, word = groups(shown)
    panel.legend([(colour(group), f"{word} {group}") for group in there[:8]], repeats(table))
    return panel


def _bank_panel(shown: Ownership, banks: np.ndarray) -> _Panel:
    table = cells(banks, merge=False)
    panel = _Panel(f"{shown.name}: banks", "the bank of shared memory in which each element begins", table, shown.dims)
    panel.fill(lambda number: colour(number // 4), lambda _: False)
    entries = [(colour(group), f"{4 * group}–{4 * group + 3}") for group in sorted({int(n) // 4 for n in np.unique(table.numbers)})]
    panel.legend(entries, repeats(table))
    return panel
