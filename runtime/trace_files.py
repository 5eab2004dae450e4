"""The two files of a trace: the timeline in Chrome's format, and its picture beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from ..dsl.diagnostics import fail
from .timeline import Timeline, chrome_trace
from .timeline_svg import picture


def picture_path(trace: Path) -> Path:
    """`out.svg` for `out.json`."""
    return trace.with_suffix(".svg")


def expect_room_for_both(trace: Path, others: Mapping[str, Path | None]) -> None:
    """Refuse a trace that would overwrite its own picture, or one of the `others` that this run reads or writes. Raises W0714.

    Args:
        others: files by what names them; of a folder, all that lies in it.
    """
    if trace.suffix.lower() == ".svg":
        wanted = trace.with_suffix(".json")
        hint = f"`--trace {wanted}` writes the timeline there, and the picture to `{picture_path(wanted)}`"
        raise fail("W0714", f"`{trace}` is where the picture of the trace goes", hint=hint)
    if trace.exists() and not trace.is_file():
        raise fail("W0714", f"`{trace}` is no file, and the picture of the trace goes beside it", hint="name a file")
    for written in (trace, picture_path(trace)):
        for option, other in others.items():
            if other is not None and _same(written, other):
                raise fail("W0714", f"the trace would overwrite `{written}`, which is {option}", hint="name another file")


def _same(one: Path, other: Path) -> bool:
    if other.is_dir():
        return os.path.samefile(one.parent, other)
    if one.exists() and other.exists():
        return os.path.samefile(one, other)
    return os.path.realpath(one) == os.path.realpath(other)


def trace_files(trace: Path, shown: Timeline) -> dict[Path, bytes]:
    """What goes where."""
    text = json.dumps(chrome_trace(shown), indent=1) + "\n"
    return {trace: text.encode(), picture_path(trace): picture(shown).encode()}
