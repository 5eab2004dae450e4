"""Files that a run writes: whole, or not at all; and refused before it begins, where that can be known."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from ..dsl.diagnostics import fail


def expect_place(target: Path) -> None:
    """Refuse a place that no file can be written to. Raises W0718."""
    if target.is_dir():
        raise fail("W0718", f"cannot write {target}: it is a directory", hint="name a file")
    if not target.parent.exists():
        raise fail("W0718", f"cannot write {target}: the folder `{target.parent}` does not exist")
    if not target.parent.is_dir() or not os.access(target.parent, os.W_OK):
        raise fail("W0718", f"cannot write {target}: permission denied or not a folder")


def write_file(target: Path, data: bytes) -> None:
    """Write a whole file, or nothing. Raises W0718."""
    try:
        write_whole(target, lambda file: file.write(data))
    except OSError as error:
        raise fail("W0718", f"cannot write {target}: {(error.strerror or str(error)).lower()}") from error


def write_whole(target: Path, write: Callable[[BinaryIO], object]) -> None:
    """Let `write` fill a file beside `target`, and rename it over that. Errors are those of `write` and of the system."""
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    """The process's umask; reading it means setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
