"""An ownership as a table of cells: neighbours of one owner are one cell, and what repeats is there once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .ownership import NOBODY, Ownership

WARP = 32
PALETTE = (
    "#9ecae1", "#fdd0a2", "#a1d99b", "#dadaeb", "#fcbba1", "#c7e9c0", "#f7b6d2", "#d9d9d9",
    "#c6dbef", "#fdae6b", "#74c476", "#bcbddc", "#fb9a99", "#e5d8bd", "#ccebc5", "#fed9a6",
)  # fmt: skip
LONGEST = 32
"""Rows or columns of cells up to which a repeated part is shown as often as it is there."""


@dataclass(frozen=True, eq=False)
class Cells:
    """What is shown of an array of owners (or of banks).

    Args:
        numbers: rows × columns.
        size: elements of a cell, along the rows' and the columns' dimension.
        whole: the array's extent in elements, both ways.
        folded: the array goes on like this, downwards and to the right.
        leading: the dimensions that rows count, slowest first.
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
    """Lay out an array of any rank: the last dimension along a row, all others down. `merge`: equal neighbours as one cell."""
    leading = array.shape[:-1]
    flat = array.reshape(math.prod(leading), -1)
    rows = _uniform(flat) if merge else 1
    columns = _uniform(flat.T) if merge else 1
    small = flat[::rows, ::columns]
    down, right = (_period(part) if len(part) > LONGEST else len(part) for part in (small, small.T))
    shown = small[:down, :right]
    return Cells(shown, (rows, columns), (flat.shape[0], flat.shape[1]), (down < len(small), right < small.shape[1]), leading)


def _uniform(array: np.ndarray) -> int:
    """The greatest number of rows such that each group of as many is the same row again and again."""
    changes = np.flatnonzero((array[1:] != array[:-1]).any(axis=1)) + 1
    return int(np.gcd.reduce([len(array), *changes.tolist()]))


def _period(array: np.ndarray) -> int:
    """After how many rows the array repeats."""
    for period in range(1, len(array) // 2 + 1):
        if len(array) % period == 0 and (array[period:] == array[:-period]).all():
            return period
    return len(array)


def group_of(number: int, space: str) -> int:
    """What a processor is coloured by: its warp, or itself where it is a block or a warp."""
    return number if space in ("blocks", "warps") else number // WARP


def groups(shown: Ownership) -> tuple[list[int], str]:
    """The groups that own anything, and what one is called."""
    owners = np.unique(shown.owners[shown.owners != NOBODY])
    return sorted({group_of(int(n), shown.space) for n in owners}), "block" if shown.space == "blocks" else "warp"


def spelled(shown: Ownership) -> str:
    """Its maps, the innermost first."""
    return " within ".join(reversed(shown.map))


def colour(group: int) -> str:
    return PALETTE[group % len(PALETTE)]


def summary(shown: Ownership, table: Cells) -> str:
    """`16 × 16 elements, 64 threads of 64; a cell is 1 × 4 elements`."""
    owners = np.unique(shown.owners[shown.owners != NOBODY])
    unit, space = f"{shown.unit}s", "threads of the grid" if shown.space == "grid" else shown.space
    if shown.space == "lanes" and len(shown.map) > 1:
        space = "threads"
    space = space.removesuffix("s") if len(owners) == 1 and shown.space != "grid" else space
    extent = " × ".join(map(str, shown.owners.shape))
    text = f"{extent} {unit}, {len(owners)} {space}"
    counts = np.unique(np.unique(shown.owners[shown.owners != NOBODY], return_counts=True)[1])
    if len(counts):
        each = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        text += f", {each} each"
    idle = int((shown.owners == NOBODY).sum())
    if idle:
        text += f"; {idle} are nobody's"
    if table.size != (1, 1):
        text += f"; a cell is {table.size[0]} × {table.size[1]}"
    return text


def repeats(table: Cells) -> str:
    """What is left out because it repeats, in words; empty if nothing is."""
    rows, columns = table.numbers.shape[0] * table.size[0], table.numbers.shape[1] * table.size[1]
    parts = [f"down every {rows} of {table.whole[0]}"] if table.folded[0] else []
    parts += [f"to the right every {columns} of {table.whole[1]}"] if table.folded[1] else []
    return f"repeats {' and '.join(parts)}" if parts else ""
