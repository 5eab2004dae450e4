"""Results of comparisons, cached on disk beside the cached kernels. The key covers everything on
which a comparison depends."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress

from ..dsl.diagnostics import WeftError
from ..runtime.files.cache import is_sealed, place, seal
from ..runtime.files.writing import keep_newest, write_whole
from ..source import __version__, source

MOST_ON_DISK = 4096
"""The number of cached results; each is a line of text, and those used last are kept."""


def key_of(*parts: str) -> str:
    """The cache key: a hash of the module with its proofs, the payload, and all other inputs of the
    comparison."""
    return hashlib.sha256("\0".join((__version__, source(), *parts)).encode()).hexdigest()


def found(key: str) -> tuple[str, ...] | None:
    """The report of a cached comparison with an equal result; None if there is none, or if another
    user wrote it. Raises W0749."""
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
    """Writes a result to the cache; errors of the file system are ignored."""
    with suppress(OSError, WeftError):
        if (where := place("compared")) is not None and (own := seal(key, *equal)) is not None:
            text = json.dumps({"equal": equal, "seal": own.hex()})
            write_whole(where / f"{key}.json", lambda file: file.write(text.encode()))
            keep_newest(where, MOST_ON_DISK)
