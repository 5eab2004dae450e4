"""Reading schedules: whatever is wrong with a file becomes a W00xx diagnostic."""

from __future__ import annotations

import os

from .diagnostics import Source, Span, WeftError, fail

MAX_SCHEDULE_BYTES = 1_000_000


def read_source(path: str | os.PathLike[str], *, limit: int | None = None, at: Span | None = None) -> Source:
    """The text of a file. `limit`: refuse more bytes than that. `at`: the place that named the file (an `include`).

    Raises:
        WeftError: W0001 unreadable, W0002 a directory, W0004 binary, W0005 not UTF-8, W0006 too large.
    """
    name = os.fspath(path)
    try:
        if os.path.isdir(name):
            raise fail("W0002", f"`{name}` is a directory", span=at, hint="name a file in it")
        if not os.path.isfile(name) and os.path.exists(name):
            raise fail("W0001", f"`{name}` is no regular file", span=at)
        with open(name, "rb") as file:
            data = file.read() if limit is None else file.read(limit + 1)
            size = os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        raise fail("W0001", f"there is no file `{name}`", span=at) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise fail("W0001", f"`{name}` can't be read: {reason.lower()}", span=at) from error
    if limit is not None and len(data) > limit:
        raise _too_large(name, f"{size:,} bytes", limit, at)
    return Source(name, decode(data, name, at))


def schedule_text(text: str, name: str) -> Source:
    """A schedule's text that is at hand. Raises W0006."""
    if len(text) > MAX_SCHEDULE_BYTES:
        raise _too_large(name, f"{len(text):,} characters", MAX_SCHEDULE_BYTES)
    return Source(name, text)


def _too_large(name: str, size: str, limit: int, at: Span | None = None) -> WeftError:
    hint = "is it the right file? split a schedule with `include`"
    return fail("W0006", f"`{name}` has {size}; a schedule may have {limit:,}", span=at, hint=hint)


def decode(data: bytes, name: str, at: Span | None = None) -> str:
    """`data` as UTF-8 text, without a byte order mark."""
    if b"\0" in data:
        hint = "save it as UTF-8" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else None
        raise fail("W0004", f"`{name}` is binary: byte {data.index(0)} is zero", span=at, hint=hint)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"`{name}` is not UTF-8: byte {data[error.start]:#04x} in line {line}"
        raise fail("W0005", message, span=at, hint="save it as UTF-8") from error
