"""The two files of a trace: the timeline in Chrome's format, and its picture beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ...dsl.diagnostics import fail
from ..files.writing import Output, expect_outputs, expect_place
from .svg import picture
from .timeline import Timeline, chrome_trace


def picture_path(trace: Path) -> Path:
    """`out.svg` for `out.json`."""
    return trace.with_suffix(".svg")


def outputs(trace: Path) -> tuple[Output, ...]:
    """Both files, for a `trace` that is no folder. Raises W0714 for a place that leaves no room beside it for the picture."""
    if trace.suffix.lower() == ".svg":
        wanted = trace.with_suffix(".json")
        hint = f"`--trace {wanted}` writes the timeline there, and the picture to `{picture_path(wanted)}`"
        raise fail("W0714", f"`{trace}` is where the picture of the trace goes", hint=hint)
    if trace.exists() and not trace.is_file():
        raise fail("W0714", f"`{trace}` is no file, and the picture of the trace goes beside it", hint="name a file")
    return Output("--trace", trace, ".json"), Output("the picture of --trace", picture_path(trace), ".svg")


def expect_results(save: Path | None, trace: Path | None, inputs: Path | None, read: Mapping[Path, str]) -> None:
    """Refuse a run's files where they can't be written, or would overwrite what is read. Raises W0054, W0714."""
    written = [] if save is None else [Output("--save", save, ".npz")]
    if trace is not None:
        expect_place(trace)
        written += outputs(trace)
    expect_outputs(written, {**read, **({} if inputs is None else {inputs: "--inputs"})})


def trace_files(trace: Path, shown: Timeline) -> dict[Path, bytes]:
    """What goes where."""
    text = json.dumps(chrome_trace(shown), indent=1) + "\n"
    return {trace: text.encode(), picture_path(trace): picture(shown).encode()}
