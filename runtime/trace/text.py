"""A timeline in characters: a row per stream, as wide as a terminal. No colour is needed to read it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from .svg import clipped
from .timeline import Timed, Timeline

SHOWN = 16
"""Streams; of more, the rest is a number."""

Kind = Literal["launch", "memory", "idle", "label", "shared"]


@dataclass(frozen=True)
class Piece:
    """Characters of one kind, which a report may colour."""

    text: str
    kind: Kind


Row = tuple[Piece, ...]


def rows(shown: Timeline, width: int) -> Iterator[Row]:
    """The streams, where at least two are busy, and the ends of the axis; each `width` characters at most."""
    streams = shown.streams[:SHOWN]
    labels = [f"stream {stream}" for stream in streams]
    indent = max((len(label) for label in (*labels, "overlap")), default=0) + 2
    plot = max(width - indent, 8)
    for stream, label in zip(streams, labels, strict=True):
        yield Piece(label.ljust(indent), "label"), *_cells(shown, stream, plot)
    if len(shown.streams) > SHOWN:
        yield (Piece(f"and {len(shown.streams) - SHOWN} streams more", "label"),)
    if len(shown.streams) > 1:
        yield Piece("overlap".ljust(indent), "label"), Piece(_overlap(shown, plot), "shared")
    last = shown.time(shown.end - shown.begin)
    yield (Piece(" " * indent + "0" + last.rjust(plot - 1), "label"),)


def plain(shown: Timeline, width: int) -> list[str]:
    """The same as lines."""
    return ["".join(piece.text for piece in row).rstrip() for row in rows(shown, width)]


def _cells(shown: Timeline, stream: int, plot: int) -> Row:
    """Bars that are next to each other differ in shade; one that is shorter than a cell still has one, if that is free."""
    found: list[Piece] = []
    at = 0
    bars = sorted((bar for bar in shown.bars if bar.stream == stream), key=lambda bar: (bar.begin, bar.end))
    for number, bar in enumerate(bars):
        first = max(at, _cell(shown, bar.begin, plot))
        last = min(max(_cell(shown, bar.end, plot), first + 1), plot)
        if last <= first:
            continue
        if first > at:
            found.append(Piece(" " * (first - at), "idle"))
        kind: Kind = "launch" if bar.step in shown.launches else "memory"
        found.append(Piece(_block(bar, last - first, "█▓"[number % 2]), kind))
        at = last
    return tuple(found)


def _block(bar: Timed, width: int, shade: str) -> str:
    """The name where there is room for most of it, between two blocks at least."""
    room = width - 4
    name = f" {clipped(bar.name, room)} " if room >= min(len(bar.name), 6) else ""
    left = (width - len(name)) // 2
    return f"{shade * left}{name}{shade * (width - left - len(name))}"


def _overlap(shown: Timeline, plot: int) -> str:
    cells = [" "] * plot
    for begin, end in shown.shared:
        first = min(_cell(shown, begin, plot), plot - 1)
        last = max(_cell(shown, end, plot), first + 1)
        cells[first:last] = "━" * (last - first)
    return "".join(cells)


def _cell(shown: Timeline, time: float, plot: int) -> int:
    span = shown.end - shown.begin
    return round((time - shown.begin) / span * plot) if span > 0 else 0
