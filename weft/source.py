"""Which source of Weft this is: what was made by another one is not taken for what this one makes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache

__version__ = "0.1.0"


@cache
def source() -> str:
    """What tells this source of Weft from one that was edited: how many files it has, and when they were changed last."""
    changed = list(_changed(os.path.dirname(os.path.abspath(__file__))))
    return f"{len(changed)} {max(changed)}"


def _changed(folder: str) -> Iterator[int]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir() and entry.name != "__pycache__":
                yield from _changed(entry.path)
            elif entry.name.endswith(".py"):
                yield entry.stat().st_mtime_ns
