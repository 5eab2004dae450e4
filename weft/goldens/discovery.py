"""Finding goldens: those beside a schedule, those below a folder, the one that is named."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..dsl.diagnostics import WeftError, fail
from ..pipeline import resolve_schedule
from .golden import HEADER, read_golden, suffix_of, text_of

GENERATED = frozenset({"build", "dist", "node_modules", "__pycache__"})
"""Folders that hold copies; so does one with a dot in front, or a virtual environment."""


def golden_paths(file: str) -> list[Path]:
    """The goldens that FILE means: a golden, a schedule, a folder, or a recipe's name. Raises W0901 where there are none."""
    path = Path(file)
    if path.is_dir():
        if not (found := list(below(path))):
            raise fail("W0901", f"there is no golden below `{path}`",
                       hint="`weft golden FILE.weft --update` writes one beside a schedule")  # fmt: skip
        return found
    if suffix_of(path) is not None:
        return [path]
    schedule = resolve_schedule(file)
    if not (found := beside(schedule)):
        raise without_golden(file, schedule)
    return found


def beside(schedule: Path) -> list[Path]:
    """The goldens of a schedule: files that are called like it and, where another one's name fits too, say so."""
    stem = schedule.name.removesuffix(".weft")
    if not schedule.parent.is_dir():
        return []
    named = [p for p in schedule.parent.iterdir() if p.name.startswith(f"{stem}.") and suffix_of(p) and p.is_file()]
    return sorted(p for p in named if _owner(p) in (None, schedule.name))


def below(folder: Path) -> Iterator[Path]:
    """Every golden in a folder and the folders in it, in order of their names."""
    for root, folders, files in os.walk(folder):
        place = Path(root)
        folders[:] = sorted(name for name in folders if not _is_generated(place / name))
        yield from (place / name for name in sorted(files) if is_golden(place / name))


def without_golden(file: str, schedule: Path) -> WeftError:
    """W0901. A recipe named as such is one that is installed: nothing new is written there."""
    if not Path(file).exists():
        hint = f"copy it: `weft golden my-{file}.weft --update` writes a golden beside the copy"
        return fail("W0901", f"the recipe `{file}`, which ships with Weft, has no such golden", hint=hint)
    hint = f"`weft golden {file} --update` writes `{schedule.stem}.golden.mlir` beside it"
    return fail("W0901", f"`{schedule}` has no golden", hint=hint)


def _is_generated(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in GENERATED or (folder / "pyvenv.cfg").exists()


def is_golden(path: Path) -> bool:
    """Whether a file found in a folder is one of ours: it says so, or is called like a schedule beside it."""
    if suffix_of(path) is None or not path.is_file():
        return False
    parts = path.name.split(".")
    stems = [".".join(parts[:count]) for count in range(1, len(parts))]
    return _first_line(path).startswith(HEADER) or any(path.with_name(f"{stem}.weft").is_file() for stem in stems)


def _owner(path: Path) -> str | None:
    """The schedule that a golden says it is of; None where that can't be read."""
    try:
        return read_golden(path).schedule
    except WeftError:
        return None


def _first_line(path: Path) -> str:
    try:
        return text_of(path).partition("\n")[0]
    except WeftError:  # unreadable: whoever reads it next says so
        return HEADER
