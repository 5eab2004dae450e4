"""The built-in schedules (`*.weft`, one folder per subject) and the builders of their payloads.

This package is data: it imports no other part of Weft.

A file `recipes/<subject>/<name>.weft` is the recipe `<name>`; a `recipes/<subject>/payload.py`
defines `BUILDERS`. A folder without one contains schedules that several recipes include. `rest` is
of no subject: it schedules any program.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from .builder import Builder

FOLDER = Path(__file__).parent

REST = "rest"
"""The schedule of a program for which none is given."""


def shortened(text: str) -> str:
    """`text` with the paths of built-in files shortened to `recipes/…`, for any place of
    installation."""
    return text.replace(f"{FOLDER}{os.sep}", f"recipes{os.sep}")


@cache
def schedules() -> Mapping[str, Path]:
    """The built-in schedules by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*/*.weft")) if path.with_name("payload.py").exists()}


@cache
def files() -> Mapping[str, Path]:
    """All schedule files, by folder and name: `matmul/simt`; those of no subject by their name,
    `rest`."""
    found = sorted((*FOLDER.glob("*.weft"), *FOLDER.glob("*/*.weft")))
    return {path.relative_to(FOLDER).with_suffix("").as_posix(): path for path in found}


@cache
def builders() -> Mapping[str, Builder]:
    """The built-in payload builders, by the name in a schedule: `payload matmul(m = 512)`."""
    subjects = [path.parent.name for path in sorted(FOLDER.glob("*/payload.py"))]
    found = [importlib.import_module(f"{__name__}.{subject}.payload").BUILDERS for subject in subjects]
    return {builder.name: builder for builders in found for builder in builders}
