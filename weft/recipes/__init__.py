"""What ships: schedules (`*.weft`, one folder per subject) and the builders of their payloads.

Data alone: nothing is imported from the other rooms.

A file `recipes/<subject>/<name>.weft` is found as `<name>`; a `recipes/<subject>/payload.py` gives `BUILDERS`. A folder
without one has what several recipes include.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from .builder import Builder

FOLDER = Path(__file__).parent


def shortened(text: str) -> str:
    """`text` with the paths of what ships as `recipes/…`, wherever Weft is installed."""
    return text.replace(f"{FOLDER}{os.sep}", f"recipes{os.sep}")


@cache
def schedules() -> Mapping[str, Path]:
    """The schedules that ship, by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*/*.weft")) if path.with_name("payload.py").exists()}


@cache
def builders() -> Mapping[str, Builder]:
    """The payload builders that ship, by the name a schedule writes: `payload matmul(m = 512)`."""
    subjects = [path.parent.name for path in sorted(FOLDER.glob("*/payload.py"))]
    found = [importlib.import_module(f"{__name__}.{subject}.payload").BUILDERS for subject in subjects]
    return {builder.name: builder for builders in found for builder in builders}
