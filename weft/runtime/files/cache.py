"""The cache folder, private to the user, and the seals of its entries.

A seal is a keyed digest; only this user can read the key, which is stored outside the cache. So
other writers of the cache cannot forge an entry. An entry with a wrong seal is recomputed.
"""

from __future__ import annotations

import hmac
import os
import secrets
import stat
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from ...dsl.diagnostics import WeftError, fail

KEY_BYTES = SEAL_BYTES = 32


def folder() -> Path:
    """`$WEFT_CACHE_DIR`, else `weft/kernels` in the user's cache folder."""
    if chosen := os.environ.get("WEFT_CACHE_DIR"):
        return Path(chosen)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "weft" / "kernels"


def state_folder() -> Path:
    """The folder for the user's persistent state: journals, command history, and the key of the
    seals."""
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path("~/.local/state").expanduser()) / "weft"


def place(*parts: str) -> Path | None:
    """The cache folder, or a folder in it, created and private; None if caching is impossible: the
    folder cannot be created, or is a file, or the key cannot be stored.

    Raises:
        WeftError: W0749, for a folder that other users own or may write, or a key that another user
            has placed there.
    """
    made = folder()
    if not _own(made, ours=not os.environ.get("WEFT_CACHE_DIR")):
        return None
    for part in parts:
        made = made / part
        if not _own(made, ours=True):
            return None
    return None if _key(state_folder()) is None else made


def _own(made: Path, *, ours: bool) -> bool:
    """Creates a folder that no other user may enter, or checks that no other user may write an
    existing one. Returns whether it is usable.

    Args:
        ours: it is Weft's own folder; if an older version left it open, its permissions are
            tightened.
    """
    try:
        made.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "geteuid"):
            found = os.stat(made)
            _expect_owner(made, found.st_uid, os.lstat(made).st_uid)
            if ours and not found.st_mode & stat.S_IWOTH and stat.S_IMODE(found.st_mode) != 0o700:
                made.chmod(0o700)
            elif found.st_mode & (stat.S_IWOTH | stat.S_IWGRP):
                raise _not_own(made, "others may write it", f"`chmod 700 {made}`, or {_ELSEWHERE}")
    except OSError:
        return False
    return True


def _expect_owner(made: Path, owner: int, linked: int) -> None:
    me = os.geteuid()
    if owner != me:
        raise _not_own(made, f"user {owner} owns it, and you are user {me}", _ELSEWHERE)
    if linked not in (me, 0):
        raise _not_own(made, f"it is a link that user {linked} has made", _ELSEWHERE)


_ELSEWHERE = "name a folder of your own: `WEFT_CACHE_DIR=…`"


def _not_own(made: Path, why: str, hint: str) -> WeftError:
    return fail("W0749", f"the cache folder {made} is not yours alone: {why}", hint)


def seal(*parts: str | bytes) -> bytes | None:
    """The 32-byte seal of the parts, which only this user's processes can compute; None without a
    key."""
    if (key := _key(state_folder())) is None:
        return None
    made = hmac.new(key, digestmod="sha256")
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        made.update(len(data).to_bytes(8, "little"))
        made.update(data)
    return made.digest()


def is_sealed(given: bytes, *parts: str | bytes) -> bool:
    """Whether this is the seal of the parts."""
    own = seal(*parts)
    return own is not None and hmac.compare_digest(own, given)


@lru_cache(4)
def _key(where: Path) -> bytes | None:
    """The user's key, created at the first request; None if it cannot be stored."""
    path = where / "cache.key"
    try:
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _read_key(path) or _new_key(path)
    except OSError:
        return None


def _read_key(path: Path) -> bytes | None:
    """The stored key; None if there is none, or if other users may have read or written it. Raises
    W0749 for another user's file."""
    with suppress(FileNotFoundError):
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(number, "rb") as file:
            found = os.fstat(number)
            if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
                raise fail(
                    "W0749", f"the key of the cache, {path}, is another user's", "remove it, or set `XDG_STATE_HOME`"
                )
            key = file.read(KEY_BYTES + 1) if stat.S_ISREG(found.st_mode) else b""
        private = os.name == "nt" or not stat.S_IMODE(found.st_mode) & 0o077
        return key if private and len(key) == KEY_BYTES else None
    return None


def _new_key(path: Path) -> bytes | None:
    """Creates a key atomically: if two processes create one, both end up with the later one."""
    written = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    number = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(number, "wb") as file:
        file.write(secrets.token_bytes(KEY_BYTES))
    os.replace(written, path)
    return _read_key(path)
