"""An identifier of Weft's source, so that caches of one source are not used by another."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import cache

__version__ = "0.1.0"


@cache
def source() -> str:
    """A digest of the names, lengths and modification times of Weft's source files, which an edit
    changes. The newest time alone is not enough: a file that is copied or moved here may keep an
    older one."""
    files = sorted(_files(os.path.dirname(os.path.abspath(__file__)), ""))
    return hashlib.sha256(repr(files).encode()).hexdigest()


def _files(folder: str, inside: str) -> Iterator[tuple[str, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            name = f"{inside}/{entry.name}"
            if entry.is_dir() and entry.name != "__pycache__":
                yield from _files(entry.path, name)
            elif entry.name.endswith((".py", ".lark")):
                found = entry.stat()
                yield name, found.st_size, found.st_mtime_ns
