"""Finding the schedule a user names, and writing what they ask for: whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..dsl.diagnostics import WeftError, fail
from ..dsl.wording import did_you_mean

if TYPE_CHECKING:
    from ..runtime.files.writing import Output


def resolve_schedule(name: str) -> Path:
    """The path of a schedule: a path as it stands, or a recipe that ships, by its name. Raises W0050."""
    from ..recipes import schedules

    path = Path(name)
    if path.exists() or path.is_symlink():
        return path
    if (shipped := schedules().get(name)) is not None:
        return shipped
    notes = (f"recipes that ship: {', '.join(schedules())}",)
    raise fail("W0050", f"there is no file and no recipe `{name}`", notes=notes, hint=did_you_mean(name, schedules()))


def expect_writable(path: Path) -> None:
    """Refuse an output that can't be written before the work for it begins. Raises W0054."""
    if path.is_dir():
        raise fail("W0054", f"cannot write `{path}`: it is a directory", hint="name a file")
    target = path if path.exists() else path.parent
    if not target.exists():
        raise fail("W0054", f"cannot write `{path}`: the folder `{path.parent}` does not exist")
    if not os.access(target, os.W_OK) or not path.parent.is_dir():
        raise fail("W0054", f"cannot write `{path}`: permission denied or not a folder")


def expect_outputs(outputs: Iterable[Output], read: Mapping[Path, str]) -> None:
    """Refuse outputs that can't be written, or that would overwrite what must stay, before the work for them begins.

    Args:
        read: the files and folders that the command reads, and what to call each.

    Raises:
        WeftError: W0054 it can't be written, W0714 it is an input, another output, or a file of another kind.
    """
    from ..runtime.files.writing import expect_apart

    outputs = tuple(outputs)
    for output in outputs:
        expect_writable(output.path)
    expect_apart(outputs, read)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a whole file or nothing: beside it first, then renamed over it. Raises W0054."""
    from ..runtime.files.writing import write_whole

    expect_writable(path)
    try:
        write_whole(path, lambda file: file.write(data))
    except OSError as error:
        raise unwritable(path, error) from error


def unwritable(path: Path | str, error: OSError) -> WeftError:
    return fail("W0054", f"cannot write `{path}`: {reason(error)}")


def reason(error: OSError) -> str:
    """`Permission denied` → `permission denied`."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]
