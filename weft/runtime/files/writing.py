"""Reading of regular files only, since a pipe or a device may block forever; and output files of a
command: written atomically, never over its inputs, and checked before the work begins."""

from __future__ import annotations

import errno
import io
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from ...dsl.diagnostics import WeftError, fail
from ...dsl.records import record


def open_regular(path: Path | str) -> BinaryIO:
    """Opens a file for reading. Raises `OSError`, also for a file that is not regular, without
    blocking."""
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    mode = os.fstat(number).st_mode
    if not stat.S_ISREG(mode):
        os.close(number)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return os.fdopen(number, "rb")


def reason(error: OSError) -> str:
    """The system's error text, as used in a message."""
    return (error.strerror or str(error)).lower()


KINDS = frozenset({".check", ".cu", ".json", ".mlir", ".npy", ".npz", ".py", ".svg", ".weft"})
"""File endings with a fixed content. An existing file with one is never replaced by content of
another kind."""


@record
class Output:
    """An output file of a command, or a folder, which is replaced as a whole.

    Args:
        name: the option that requests it: `-o`, `--save`.
        path: its place.
        kind: the usual ending of files with this content; empty for a folder.
    """

    name: str
    path: Path
    kind: str = ""


def expect_apart(outputs: Iterable[Output], read: Mapping[Path, str]) -> None:
    """Checks that no output would overwrite an input, another output, or a file of another kind:
    W0714.

    Paths are equal if they lead to the same file, through any notation and any links.

    Args:
        read: the command's inputs, with their descriptions; a folder includes all files in it.
    """
    taken = dict(read)
    for output in outputs:
        for path, name in taken.items():
            if _same(output.path, path):
                lost = path if output.path.is_dir() else output.path
                raise fail(
                    "W0714",
                    f"{output.name} would overwrite `{lost}`, which is {name}",
                    hint=f"name another path than `{lost}`",
                )
        if output.kind and output.path.is_file():
            _expect_kind(output)
        taken[output.path] = output.name


def _same(written: Path, other: Path) -> bool:
    if written.is_dir():
        return any(_is(place, written) for place in (other.parent, Path(os.path.realpath(other)).parent))
    if other.is_dir():
        return any(_is(place, other) for place in (written.parent, Path(os.path.realpath(written)).parent))
    if written.exists() and other.exists():
        return written.is_file() and _is(written, other)
    return os.path.realpath(written) == os.path.realpath(other)


def _is(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and os.path.samefile(one, other)


def _expect_kind(output: Output) -> None:
    for path in (output.path, Path(os.path.realpath(output.path))):
        suffix = path.suffix.lower()
        if suffix in KINDS and suffix != output.kind:
            raise fail(
                "W0714",
                f"{output.name} writes {output.kind}, and would overwrite `{path}`",
                hint=f"name another file, or remove `{path}` first",
            )


def expect_outputs(outputs: Iterable[Output], read: Mapping[Path, str]) -> None:
    """Checks, before the work begins, that outputs can be written and would not overwrite other
    files.

    Args:
        read: the files and folders that the command reads, with their descriptions.

    Raises:
        WeftError: W0054 it can't be written, W0714 it is an input, another output, or a file of
            another kind.
    """
    outputs = tuple(outputs)
    for output in outputs:
        expect_place(output.path)
    expect_apart(outputs, read)


def expect_place(target: Path) -> None:
    """Checks that a file can be written here. Raises W0054."""
    if target.is_dir():
        raise fail("W0054", f"cannot write `{target}`: it is a directory", hint=f"name a file in it, `{target}/…`")
    there = target if target.exists() else target.parent
    if not there.exists():
        raise fail("W0054", f"cannot write `{target}`: the folder `{target.parent}` does not exist")
    if not os.access(there, os.W_OK) or not target.parent.is_dir():
        raise fail("W0054", f"cannot write `{target}`: permission denied or not a folder")


def write_file(target: Path, data: bytes) -> None:
    """Writes a file atomically: to a temporary file in the same folder, which is then renamed.
    Raises W0054."""
    expect_place(target)
    try:
        write_whole(target, lambda file: file.write(data))
    except OSError as error:
        raise unwritable(target, reason(error)) from error


def unwritable(target: Path | str, why: str) -> WeftError:
    """W0054 for a file."""
    return fail("W0054", f"cannot write `{target}`: {why}")


def write_whole(target: Path, write: Callable[[BinaryIO], object]) -> None:
    """Lets `write` fill a temporary file in `target`'s folder, and renames it over `target`; a link
    is kept, and so is a file's mode. Raises the errors of `write` and of the system."""
    if target.exists() and not target.is_file():  # a pipe or a device cannot be replaced, and is not seekable
        whole = io.BytesIO()
        write(whole)
        target.write_bytes(whole.getvalue())
        return
    real = Path(os.path.realpath(target))
    handle, temporary = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        os.chmod(temporary, real.stat().st_mode & 0o777 if real.exists() else 0o666 & ~_umask())
        os.replace(temporary, real)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    """The process's umask; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def keep_newest(folder: Path, most: int) -> None:
    """Removes the oldest entries of a cache until `most` are left. An entry is the set of files
    with its key as the name up to the first dot. Files are moved aside before removal, so that
    other processes find an entry whole or not at all."""
    entries: dict[str, list[Path]] = {}
    for path in folder.iterdir():
        if len(key := path.name.partition(".")[0]) == 64:
            entries.setdefault(key, []).append(path)
    if len(entries) <= most:
        return
    ages: list[tuple[float, str]] = []
    for key, paths in entries.items():
        with suppress(OSError):
            ages.append((max(path.stat().st_mtime for path in paths), key))
    gone = Path(tempfile.mkdtemp(dir=folder, prefix=".gone."))
    for _, key in sorted(ages)[: len(entries) - most]:
        for path in sorted(entries[key], key=lambda one: one.is_dir()):
            with suppress(OSError):
                path.replace(gone / path.name)
    shutil.rmtree(gone, ignore_errors=True)
