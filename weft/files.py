"""Finding the schedule a user names, and writing what they ask for: whole, or not at all."""

from __future__ import annotations

import difflib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from .dsl.diagnostics import WeftError, fail


def resolve_schedule(name: str) -> Path:
    """The path of a schedule: a path as it stands, or a recipe that ships, by its name. Raises W0050."""
    from .recipes import schedules

    path = Path(name)
    if path.exists() or path.is_symlink():
        return path
    if (shipped := schedules().get(name)) is not None:
        return shipped
    close = difflib.get_close_matches(name, schedules(), 1)
    raise fail(
        "W0050",
        f"there is no file and no recipe `{name}`",
        notes=(f"recipes that ship: {', '.join(schedules())}",),
        hint=f"did you mean `{close[0]}`?" if close else None,
    )


def expect_writable(path: Path) -> None:
    """Refuse an output that can't be written before the work for it begins. Raises W0054."""
    if path.is_dir():
        raise fail("W0054", f"cannot write `{path}`: it is a directory", hint="name a file")
    target = path if path.exists() else path.parent
    if not target.exists():
        raise fail("W0054", f"cannot write `{path}`: the folder `{path.parent}` does not exist")
    if not os.access(target, os.W_OK) or not path.parent.is_dir():
        raise fail("W0054", f"cannot write `{path}`: permission denied or not a folder")


def expect_traceable(trace: Path, others: Mapping[str, Path | None]) -> None:
    """Refuse a place that a trace or its picture can't be written to, or that the run uses otherwise. Raises W0054, W0714.

    Args:
        others: what the run reads and writes, by the option that names it. Of a folder (a bundle), all that lies in it.
    """
    from .runtime.trace_files import expect_room_for_both, picture_path

    expect_writable(trace)
    expect_room_for_both(trace, others)
    expect_writable(picture_path(trace))


def write_atomically(path: Path, data: bytes) -> None:
    """Write a whole file or nothing: beside it first, then renamed over it. Raises W0054."""
    expect_writable(path)
    try:
        if path.exists() and not path.is_file():  # a pipe or a device cannot be replaced
            path.write_bytes(data)
            return
        real = path.resolve()
        handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            os.chmod(name, real.stat().st_mode & 0o777 if real.exists() else 0o666 & ~_umask())
            os.replace(name, real)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise unwritable(path, error) from error


def unwritable(path: Path | str, error: OSError) -> WeftError:
    return fail("W0054", f"cannot write `{path}`: {reason(error)}")


def reason(error: OSError) -> str:
    """`Permission denied` → `permission denied`."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
