"""Golden-IR tests of schedules: the scheduled module, kept beside the schedule, compared whole.

The golden of `gemm.weft` is `gemm.golden.mlir`; further ones with other settings are `gemm.NAME.golden.mlir`. The first
line says how it was made, so that a golden can be checked and made anew by itself:

    // weft golden gemm.weft --set m=64 --set type=f64
"""

from __future__ import annotations

import difflib
import itertools
import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .dsl.diagnostics import WeftError, fail
from .dsl.files import read_source
from .files import resolve_schedule, write_atomically
from .pipeline import Recipe, applied
from .settings import parse_settings

SUFFIX = ".golden.mlir"
HEADER = "// weft golden "

SHOWN_LINES = 30
"""Lines of a diff that a diagnostic shows."""


@dataclass(frozen=True)
class Golden:
    """One golden: where it stands, and the schedule, payload and settings it is of. Paths are relative to it."""

    path: Path
    schedule: Path
    payload: Path | None
    settings: Mapping[str, str]

    @property
    def header(self) -> str:
        words = [self.schedule.name]
        words += ["--payload", str(self.payload)] if self.payload else []
        for name, value in self.settings.items():
            words += ["--set", f"{name}={value}"]
        return HEADER + shlex.join(words)

    def current(self) -> str:
        """What the golden would be today."""
        payload = self.path.parent / self.payload if self.payload else None
        done = applied(Recipe.open(str(self.path.parent / self.schedule), payload, self.settings))
        return f"{self.header}\n{done.text.rstrip()}\n"

    def update(self) -> bool:
        """Write it anew; False where nothing changed."""
        text = self.current()
        if self.path.exists() and read_source(self.path).text == text:
            return False
        write_atomically(self.path, text.encode())
        return True


def compare(golden: Golden) -> None:
    """Raises W0903 with the first differing lines where the golden is not what the schedule makes today."""
    kept, now = read_source(golden.path).text, golden.current()
    if kept == now:
        return
    lines = difflib.unified_diff(kept.splitlines(), now.splitlines(), "golden", "now", lineterm="", n=1)
    shown = list(itertools.islice(lines, SHOWN_LINES))
    raise fail(
        "W0903", f"`{golden.path}` differs", notes=("\n".join(shown),), hint="if the change is meant: `--update`"
    )


def paths_of(schedule: Path) -> list[Path]:
    """The goldens that stand beside a schedule."""
    folder, stem = schedule.parent, schedule.stem
    return sorted([*folder.glob(f"{stem}{SUFFIX}"), *folder.glob(f"{stem}.*{SUFFIX}")])


def goldens(file: str) -> Iterator[Golden]:
    """The goldens of a schedule, or the one golden that `file` is. Raises W0901 where a schedule has none."""
    if file.endswith(SUFFIX):
        yield read_golden(Path(file))
        return
    schedule = resolve_schedule(file)
    if not (found := paths_of(schedule)):
        raise _without(file, schedule)
    yield from map(read_golden, found)


def _without(file: str, schedule: Path) -> WeftError:
    """W0901. A recipe named as such is one that is installed: nothing new is written there."""
    if not Path(file).exists():
        hint = f"copy it: `weft golden my-{file}.weft --update` writes a golden beside the copy"
        return fail("W0901", f"the recipe `{file}`, which ships with Weft, has no such golden", hint=hint)
    hint = f"`weft golden {file} --update` writes `{schedule.stem}{SUFFIX}` beside it"
    return fail("W0901", f"`{schedule}` has no golden", hint=hint)


def new_golden(file: str, name: str | None, settings: Mapping[str, str], payload: Path | None) -> Golden:
    """A golden of a schedule with these settings, whether it exists or not. Raises W0901 for a recipe that ships."""
    schedule = resolve_schedule(file)
    if not Path(file).exists():
        raise _without(file, schedule)
    middle = f".{name}" if name else ""
    path = schedule.with_name(f"{schedule.stem}{middle}{SUFFIX}")
    return Golden(path, Path(schedule.name), payload and _beside(payload, path), settings)


def _beside(payload: Path, golden: Path) -> Path:
    return Path(os.path.relpath(payload, golden.parent))


def read_golden(path: Path) -> Golden:
    """Read how a golden was made from its first line. Raises W0902 for what is no golden."""
    first = read_source(path).text.partition("\n")[0]
    try:
        words = shlex.split(first.removeprefix(HEADER)) if first.startswith(HEADER) else []
    except ValueError:
        words = []
    options = list(zip(words[1::2], words[2::2], strict=False))
    if len(words) % 2 == 0 or any(option not in ("--set", "--payload") for option, _ in options):
        raise fail(
            "W0902",
            f"`{path}` does not begin with how it was made",
            notes=(f"its first line is of the form `{HEADER}FILE --set name=value`",),
        )
    payload = next((Path(value) for option, value in options if option == "--payload"), None)
    settings = parse_settings(value for option, value in options if option == "--set")
    return Golden(path, Path(words[0]), payload, settings)
