"""Ownership drawn as a grid of numbers, colored by warp: folded to the width of a terminal, or
complete in a picture."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from rich.style import Style
from rich.text import Text

from ..dsl.records import record
from ..interpreter.hardware.limits import WARP
from ..output.svg import drawing_of
from .ownership import NO_OWNER, Ownership

_COLORS = (
    "9ecae1 fdd0a2 a1d99b dadaeb fcbba1 c7e9c0 f7b6d2 d9d9d9 c6dbef fdae6b 74c476 bcbddc fb9a99 e5d8bd ccebc5 fed9a6"
)
PALETTE = tuple(f"#{color}" for color in _COLORS.split())
LONGEST = 32
"""A periodic grid of more rows or columns of cells shows one period only."""


@record(eq=False)
class Cells:
    """An array of owners (or of banks) as a grid of cells.

    Args:
        numbers: rows × columns.
        size: the elements of a cell in the rows' and the columns' dimension.
        whole: the array's extent in elements, in both dimensions.
        folded: whether the rest of the array, downwards or to the right, repeats the cells shown.
        leading: the dimensions that the rows enumerate, slowest first.
    """

    numbers: np.ndarray
    size: tuple[int, int]
    whole: tuple[int, int]
    folded: tuple[bool, bool]
    leading: tuple[int, ...]

    def row_label(self, row: int) -> str:
        """The first element of a row of cells, in the leading dimensions."""
        at = np.unravel_index(row * self.size[0], self.leading) if self.leading else (0,)
        return ",".join(str(int(i)) for i in at)

    def column_label(self, column: int) -> str:
        return str(column * self.size[1])


def cells(array: np.ndarray, *, merge: bool = True) -> Cells:
    """The grid of an array of any rank, with the last dimension along a row. `merge`: equal
    neighbours form one cell."""
    leading = array.shape[:-1]
    flat = array.reshape(math.prod(leading), -1)
    rows = _uniform(flat) if merge else 1
    columns = _uniform(flat.T) if merge else 1
    small = flat[::rows, ::columns]
    down, right = (_period(part) if len(part) > LONGEST else len(part) for part in (small, small.T))
    shown = small[:down, :right]
    folded = down < len(small), right < small.shape[1]
    return Cells(shown, (rows, columns), (flat.shape[0], flat.shape[1]), folded, leading)


def _uniform(array: np.ndarray) -> int:
    """The largest n such that the array consists of groups of n equal rows."""
    changes = np.flatnonzero((array[1:] != array[:-1]).any(axis=1)) + 1
    return int(np.gcd.reduce([len(array), *changes.tolist()]))


def _period(array: np.ndarray) -> int:
    """The number of rows after which the array repeats."""
    for period in range(1, len(array) // 2 + 1):
        if len(array) % period == 0 and (array[period:] == array[:-period]).all():
            return period
    return len(array)


def group_of(number: int, space: str) -> int:
    """The number by which a processor is colored: its warp, or its own number if it is a block, a
    warp, a quarter or a warpgroup."""
    return number if space in ("blocks", "warpgroups", "quarters", "warps") else number // WARP


def groups(shown: Ownership) -> tuple[list[int], str]:
    """The groups that own at least one element, and the noun for a group."""
    owners = np.unique(shown.owners[shown.owners != NO_OWNER])
    called = {"blocks": "block", "warpgroups": "warp group"}.get(shown.space, "warp")
    return sorted({group_of(int(n), shown.space) for n in owners}), called


def colour(group: int) -> str:
    return PALETTE[group % len(PALETTE)]


def summary(shown: Ownership, table: Cells) -> str:
    """A line such as `16 × 16 elements, 64 threads, 4 each; a cell is 1 × 4`."""
    owners = np.unique(shown.owners[shown.owners != NO_OWNER])
    unit, space = f"{shown.unit}s", "threads of the grid" if shown.space == "grid" else shown.space
    if shown.space in _INNER and len(shown.map) > 1:
        space = _INNER[shown.space]
    space = space.replace("warpgroups", "warp groups")
    space = space.removesuffix("s") if len(owners) == 1 and shown.space != "grid" else space
    extent = " × ".join(map(str, shown.owners.shape))
    text = f"{extent} {unit}, {len(owners)} {space}"
    counts = np.unique(np.unique(shown.owners[shown.owners != NO_OWNER], return_counts=True)[1])
    if len(counts):
        each = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        text += f", {each} each"
    idle = int((shown.owners == NO_OWNER).sum())
    if idle:
        text += f"; {idle} have no owner"
    if table.size != (1, 1):
        text += f"; a cell is {table.size[0]} × {table.size[1]}"
    return text


def repeats(table: Cells) -> str:
    """The period of the omitted parts in words; empty if nothing is omitted."""
    rows, columns = table.numbers.shape[0] * table.size[0], table.numbers.shape[1] * table.size[1]
    parts = [f"down every {rows} of {table.whole[0]}"] if table.folded[0] else []
    parts += [f"to the right every {columns} of {table.whole[1]}"] if table.folded[1] else []
    return f"repeats {' and '.join(parts)}" if parts else ""


_INNER = {"lanes": "threads", "quarters": "warps"}
"""The nouns for the processors of these spaces in loops that are inside loops over warps or
warpgroups."""
MOST_ROWS = 64
"""Rows of cells shown on a terminal; the picture has all rows."""
LISTED = 16
LEGEND = 100
"""Columns of the picture's legend."""


def picture(maps: Sequence[Ownership], *, banks: bool = False, thread: int | None = None) -> str:
    """The maps below one another, as a standalone SVG."""
    lines = [line for shown in maps for line in drawn(shown, None, banks=banks, thread=thread)]
    return drawing_of(lines, max(line.cell_len for line in lines) + 2)


def drawn(shown: Ownership, width: int | None, *, banks: bool = False, thread: int | None = None) -> Iterator[Text]:
    """The lines of one map: its title, the owners, and the banks of the shared memory that it
    fills. `thread`: all other owners are dimmed. Without a width nothing is folded."""
    table = cells(shown.owners)
    mapped = " within ".join(reversed(shown.map))
    yield Text.assemble((shown.name, "bold"), "  ", (mapped, "cyan"), f"  on {shown.what}")
    yield Text(f"  {summary(shown, table)}")
    down, across = (", ".join(shown.dims[:-1]) or "–", shown.dims[-1]) if shown.dims else ("–", "–")
    yield Text(f"  down {down}, across {across}", "dim")
    yield from _grid(table, width, lambda number: _owner_style(number, shown.space, thread))
    yield _legend(shown, width or LEGEND)
    if thread is not None:
        yield Text(f"  {_owned(shown, thread)}")
    if banks and shown.banks is not None:
        yield Text("  banks of shared memory, where each element begins")
        of_banks = cells(shown.banks, merge=False)
        yield from _grid(of_banks, width, lambda number: Style(color="black", bgcolor=colour(number // 4)))
    yield Text()


def _grid(table: Cells, width: int | None, style: Callable[[int], Style]) -> Iterator[Text]:
    """The ruler and the rows of a grid, in as many vertical bands as `width` requires."""
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
                text = "·" if number == NO_OWNER else str(number)
                line.append(f"{text:>{digits}}", style(number))
            yield line
        if shown < rows:
            yield Text(f"  … {rows - shown} more rows (`-o FILE.svg` has all)", "dim")
    if note := repeats(table):
        yield Text(f"  … {note}", "dim")


def _owner_style(number: int, space: str, thread: int | None) -> Style:
    if number == NO_OWNER or (thread is not None and number != thread):
        return Style(dim=True)
    return Style(color="black", bgcolor=colour(group_of(number, space)), bold=thread is not None)


def _legend(shown: Ownership, width: int) -> Text:
    """The color of each warp; if they do not fit, the warps in the middle are left out."""
    there, word = groups(shown)
    line = Text("  ")
    each = len(f" {word} {there[-1]}  ") if there else 1
    if len(there) > (fit := (width - 1) // each):
        fit = max((width - 4) // each, 2)
        there = [*there[: fit - 1], there[-1]]
    for number, group in enumerate(there):
        if number == fit - 1 and group - there[number - 1] > 1:
            line.append("… ", "dim")
        line.append(f" {word} {group} ", Style(color="black", bgcolor=colour(group)))
        line.append(" ")
    return line


def _owned(shown: Ownership, thread: int) -> str:
    """The indices of the elements of one processor."""
    places = [tuple(int(i) for i in place) for place in np.argwhere(shown.owners == thread)]
    word = shown.processor
    if not places:
        return f"{word} {thread} owns nothing"
    listed = " ".join(f"[{', '.join(map(str, place))}]" for place in places[:LISTED])
    more = f" and {len(places) - LISTED} more" if len(places) > LISTED else ""
    return f"{word} {thread} owns {len(places)}: {listed}{more}"
