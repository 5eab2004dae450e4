"""A timeline as text: a row of characters per stream, as wide as a terminal, readable without
color; and as two files, in Chrome's format and as a picture."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from ...dsl.diagnostics import fail
from ...dsl.records import record
from ..files.writing import Output, expect_outputs, expect_place
from .svg import clipped, picture
from .timeline import Timed, Timeline, chrome_trace

SHOWN = 16
"""Most streams that are shown; the others are only counted."""

Kind = Literal["launch", "memory", "idle", "label", "shared"]


@record
class Piece:
    """Characters of one kind, which a report may color."""

    text: str
    kind: Kind


Row = tuple[Piece, ...]


def rows(shown: Timeline, width: int) -> Iterator[Row]:
    """The streams, the row with spans in which at least two are busy, and the ends of the axis;
    each at most `width` characters."""
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
    """The rows as plain lines."""
    return ["".join(piece.text for piece in row).rstrip() for row in rows(shown, width)]


def _cells(shown: Timeline, stream: int, plot: int) -> Row:
    """The cells of a stream: adjacent bars differ in shade; a bar shorter than a cell still has
    one, if that is free."""
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
    """A bar with its name, if most of the name fits between at least two block characters."""
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


def picture_path(trace: Path) -> Path:
    """`out.svg` for `out.json`."""
    return trace.with_suffix(".svg")


def outputs(trace: Path) -> tuple[Output, ...]:
    """Both output files, the timeline and its picture. Raises W0714 for a `trace` that has the
    picture's ending or is not a file."""
    if trace.suffix.lower() == ".svg":
        wanted = trace.with_suffix(".json")
        hint = f"`--trace {wanted}` writes the timeline there, and the picture to `{picture_path(wanted)}`"
        raise fail("W0714", f"`{trace}` is the path of the trace's picture", hint=hint)
    if trace.exists() and not trace.is_file():
        raise fail(
            "W0714",
            f"`{trace}` is not a file, and the trace's picture is written next to it",
            hint=f"name a file in it: `--trace {trace}/trace.json`",
        )
    return Output("--trace", trace, ".json"), Output("the picture of --trace", picture_path(trace), ".svg")


def expect_results(save: Path | None, trace: Path | None, inputs: Path | None, read: Mapping[Path, str]) -> None:
    """Checks that a run's output files can be written, and would not overwrite inputs. Raises
    W0054, W0714."""
    written = [] if save is None else [Output("--save", save, ".npz")]
    if trace is not None:
        expect_place(trace)
        written += outputs(trace)
    expect_outputs(written, {**read, **({} if inputs is None else {inputs: "--inputs"})})


def trace_files(trace: Path, shown: Timeline) -> dict[Path, bytes]:
    """The contents of each output file."""
    text = json.dumps(chrome_trace(shown), indent=1) + "\n"
    return {trace: text.encode(), picture_path(trace): picture(shown).encode()}
