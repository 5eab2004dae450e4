"""Compiled kernels, kept by what they were made from: text, options, architecture and compiler version. No CUDA here."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from ..files.writing import write_whole

_memory: dict[str, bytes] = {}


def cached(text: str, options: Sequence[str], version: str, compile_: Callable[[], bytes]) -> bytes:
    """The cubin of `text`, from memory, from disk, or by `compile_`.

    A file that is damaged counts as absent; a folder that cannot be written keeps nothing and stops nobody.
    """
    key = hashlib.sha256("\0".join((text, *options, version)).encode()).hexdigest()
    if key not in _memory:
        found = _read(folder() / key)
        if found is None:
            found = compile_()
            _write(folder() / key, found)
        _memory[key] = found
    return _memory[key]


def folder() -> Path:
    """`$WEFT_CACHE_DIR`, else `weft/kernels` in the user's cache folder."""
    if chosen := os.environ.get("WEFT_CACHE_DIR"):
        return Path(chosen)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "weft" / "kernels"


def _digest(cubin: bytes) -> bytes:
    return hashlib.sha256(cubin).digest()


def _read(path: Path) -> bytes | None:
    """The cubin in a cache file: its digest stands in front of it."""
    try:
        raw = path.read_bytes()
    except OSError:
        return None
    digest, cubin = raw[:32], raw[32:]
    return cubin if _digest(cubin) == digest else None


def _write(path: Path, cubin: bytes) -> None:
    """Write whole or not at all: others may read at the same time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, lambda file: file.write(_digest(cubin) + cubin))
    except OSError:
        return
