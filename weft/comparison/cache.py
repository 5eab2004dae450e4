"""Comparisons that were made before, by all that they depend on; on disk, beside the kernels."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress

from ..dsl.diagnostics import WeftError
from ..runtime.files.cache import is_sealed, place, seal
from ..runtime.files.writing import keep_newest, write_whole
from ..source import __version__, source

MOST_ON_DISK = 4096
"""Of a line each, those that were used last."""


def key_of(*parts: str) -> str:
    """Of the module with its proofs, the payload, and all else that decides what is compared."""
    return hashlib.sha256("\0".join((__version__, source(), *parts)).encode()).hexdigest()


def found(key: str) -> tuple[str, ...] | None:
    """What an equal comparison said of where it was made; None where none was, or another user's is. Raises W0749."""
    if (where := place("compared")) is None:
        return None
    with suppress(OSError, ValueError, KeyError, TypeError):
        path = where / f"{key}.json"
        entry = json.loads(path.read_text(encoding="utf-8"))
        equal = tuple(map(str, entry["equal"]))
        if is_sealed(bytes.fromhex(entry["seal"]), key, *equal):
            path.touch()
            return equal
    return None


def keep(key: str, equal: tuple[str, ...]) -> None:
    """A folder that cannot be written keeps nothing and stops nobody."""
    with suppress(OSError, WeftError):
        if (where := place("compared")) is not None and (own := seal(key, *equal)) is not None:
            text = json.dumps({"equal": equal, "seal": own.hex()})
            write_whole(where / f"{key}.json", lambda file: file.write(text.encode()))
            keep_newest(where, MOST_ON_DISK)
