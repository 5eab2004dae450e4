"""Comparisons that were made before, by all that they depend on; on disk, beside the kernels."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path

from .. import __version__
from ..dsl.diagnostics import WeftError
from ..runtime.files.writing import keep_newest, write_whole
from ..runtime.run.cupy_device import folder
from ..source import source

MOST_ON_DISK = 4096
"""Of a line each, those that were used last."""


def key_of(*parts: str) -> str:
    """Of the module with its proofs, the payload, and all else that decides what is compared."""
    return hashlib.sha256("\0".join((__version__, source(), *parts)).encode()).hexdigest()


def found(key: str) -> tuple[str, ...] | None:
    """What an equal comparison said of where it was made."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        place = _place(key)
        said = json.loads(place.read_text(encoding="utf-8"))["equal"]
        place.touch()
        return tuple(map(str, said))
    return None


def keep(key: str, equal: tuple[str, ...]) -> None:
    """A folder that cannot be written keeps nothing and stops nobody."""
    with suppress(OSError, WeftError):
        place = _place(key)
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, lambda file: file.write(json.dumps({"equal": equal}).encode()))
        keep_newest(place.parent, MOST_ON_DISK)


def _place(key: str) -> Path:
    return folder() / "compared" / f"{key}.json"
